"""Ingestion on a real Ray cluster on loopback: of its two nodes that work, one is killed."""

from __future__ import annotations

import importlib.util
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

if importlib.util.find_spec("ray") is None:
    pytest.skip("Ray is not installed: localcrag[cluster]", allow_module_level=True)

import localcrag
from localcrag.cluster import cluster_reader, ray_cluster
from localcrag.cluster.node_work import NodeResult
from localcrag.cluster.ray_cluster import LOOPBACK_VARIABLES, QUIET_VARIABLES, RayNodes
from localcrag.errors import ClusterError
from localcrag.events import Degraded, Discovered, Ingested, Progressed
from localcrag.settings import ModelSettings, Settings
from tests.tiny_encoder import tiny_encoder

STORE_BYTES = 100 << 20
WORKING_NODES = ("127.0.0.2", "127.0.0.3")
PROMPT_HEALTH_CHECKS = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 300,
    "health_check_failure_threshold": 3,
}
VARIABLES = (
    QUIET_VARIABLES
    | LOOPBACK_VARIABLES
    | {
        "RAY_AUTH_MODE": "disabled",
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster whose head has no processor, with two nodes that have one each; ``raylets`` by address."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in VARIABLES.items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        node = {"object_store_memory": STORE_BYTES, "include_dashboard": False}
        head = {"num_cpus": 0, "node_ip_address": "127.0.0.1", "_system_config": PROMPT_HEALTH_CHECKS}
        made = Cluster(initialize_head=True, head_node_args=node | head)
        made.raylets = {
            place: made.add_node(wait=False, num_cpus=1, node_ip_address=place, **node).all_processes[
                "raylet"
            ][0]
            for place in WORKING_NODES
        }
        made.wait_for_nodes()
        yield made
        made.shutdown()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings with a tiny embedding model in a folder."""
    return Settings(
        home=tmp_path / "home", model=ModelSettings(embedding=str(tiny_encoder(tmp_path / "tiny")))
    )


def notes(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        lines = (f"Valve {number} opens at {number * line} bar on day {line}." for line in range(1, 13))
        (folder / f"{number:02}.md").write_text(f"# Pump {number}\n\n" + "\n\n".join(lines))
    return folder


def rows(base: localcrag.KnowledgeBase) -> tuple[list[str], Any]:
    """The identifiers of all passages, which say document and place, and their vectors."""
    kept = base._store()._tables.passages.search().select(["id", "vector"]).to_arrow().sort_by("id")
    return kept["id"].to_pylist(), np.array(kept["vector"].to_pylist())


def test_a_node_that_dies_loses_nothing_and_nothing_is_indexed_twice(
    cluster: Any,
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    from ray._private import ray_constants

    monkeypatch.setattr(cluster_reader, "MIN_BATCH_BYTES", 1)
    monkeypatch.setattr(ray_constants, "ENABLE_RAY_CLUSTER", True)  # as if Ray had been imported before
    folder = notes(tmp_path / "notes", 24)
    took = RayNodes.next_result
    killed: list[str] = []

    def next_result(self: RayNodes, seconds: float) -> Any:
        """Kill the node that has done the first task, and go on when the head has noticed."""
        done = took(self, seconds)
        if done and not killed:
            assert isinstance(done[1], NodeResult)
            [place] = [place for place in WORKING_NODES if f"({place})" in done[1].node]
            killed.append(place)
            os.kill(cluster.raylets[place].process.pid, signal.SIGKILL)
            while place in self.addresses:
                time.sleep(0.1)
        return done

    monkeypatch.setattr(RayNodes, "next_result", next_result)
    base = localcrag.open("together", settings=settings)
    events = []
    for event in base.stream_ingestion(folder, cluster=cluster.address):
        if isinstance(event, Discovered):  # the nodes see another file here than the driver did
            os.utime(folder / "05.md", ns=(1, 1))
        events.append(event)
    sources = sorted(event.source for event in events if isinstance(event, Progressed))
    assert killed and sources == [str(path.resolve()) for path in sorted(folder.iterdir())]
    assert capfd.readouterr().out == "", "standard output is for the report"
    notices = [event.reason for event in events if isinstance(event, Degraded)]
    assert f"({killed[0]}) was lost" in notices[0] and "does not have 1 of the files" in notices[1]
    alone = localcrag.open("alone", settings=settings)
    report = alone.ingest(folder)
    done = events[-1]
    assert isinstance(done, Ingested)
    assert (done.report.added, done.report.passages) == (24, report.passages)
    (ids, vectors), (expected, wanted) = rows(base), rows(alone)
    assert ids == expected
    np.testing.assert_allclose(vectors, wanted, atol=1e-4)
    assert base.ingest(folder, cluster=cluster.address).unchanged == 24


def test_a_model_that_a_node_does_not_have_is_one_line_and_the_command_goes_on(
    cluster: Any, settings: Settings, tmp_path: Path
) -> None:
    folder, model = notes(tmp_path / "notes", 2), tmp_path / "tiny"
    base = localcrag.open("kb", settings=settings)
    events = base.stream_ingestion(folder, cluster=cluster.address)
    with pytest.raises(ClusterError) as caught:
        for event in events:
            if isinstance(event, Discovered):
                model.rename(tmp_path / "away")
    assert f") cannot work: no embedding model '{model}' on this machine" in str(caught.value)
    assert "the node " in str(caught.value) and "(127.0.0." in str(caught.value)
    assert caught.value.hint.endswith("then run the same command again, which goes on")
    (tmp_path / "away").rename(model)
    assert base.ingest(folder, cluster=cluster.address).added == 2


def test_a_head_that_is_gone_is_one_line(
    cluster: Any, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = RayNodes.submit

    def submit(self: RayNodes, task: Any) -> Any:
        monkeypatch.setattr(ray_cluster, "_LOOK_SECONDS", 0)
        monkeypatch.setattr(ray_cluster, "_answers", lambda _: False)
        return send(self, task)

    monkeypatch.setattr(RayNodes, "submit", submit)
    base = localcrag.open("kb", settings=settings)
    with pytest.raises(ClusterError, match=f"the cluster at {cluster.address} does not answer any more"):
        base.ingest(notes(tmp_path / "notes", 2), cluster=cluster.address)
