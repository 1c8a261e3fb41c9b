"""Which cluster is meant, what may be reached, and what the command says if there is none."""

from __future__ import annotations

import importlib.util
import socket
from pathlib import Path

import pytest

import localcrag
from localcrag import egress
from localcrag.cluster.cluster_address import AUTO_CLUSTER, ClusterAddress, wanted_cluster
from localcrag.errors import ClusterError, OfflineError, UsageError
from localcrag.web.ledger import Ledger
from tests.cli.conftest import Run, runner


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    return runner(tmp_path / "home", monkeypatch)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.txt"
    path.write_text("The valve opens at 3 bar.")
    return path


@pytest.fixture
def with_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of Ray is needed before the head of a cluster answers."""
    monkeypatch.setattr("localcrag.cluster.ray_cluster.require_ray", lambda: None)
    monkeypatch.setattr("localcrag.cluster.cluster_ingestion.require_ray", lambda: None)


@pytest.mark.parametrize("text", ["10.0.0.5:6379", "head:1", "head.example.org:6379", "[::1]:6379"])
def test_an_address_is_a_host_and_a_port(text: str) -> None:
    assert str(wanted_cluster(text)) == str(ClusterAddress.parse(text)) == text


@pytest.mark.parametrize(
    "text", ["papers", "papers/2024:1", "10.0.0.5", "head:0", "head:70000", "", "::1:6379"]
)
def test_anything_else_is_none(text: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a cluster"):
        wanted_cluster(text)


def test_without_an_address_the_environment_names_it_or_it_is_of_this_machine() -> None:
    assert wanted_cluster(AUTO_CLUSTER, {}) is None
    assert wanted_cluster(AUTO_CLUSTER, {"RAY_ADDRESS": "head:6379"}) == ClusterAddress("head", 6379)
    assert wanted_cluster("other:1", {"RAY_ADDRESS": "head:6379"}) == ClusterAddress("other", 1)
    with pytest.raises(UsageError, match="Ray client") as caught:
        wanted_cluster(AUTO_CLUSTER, {"RAY_ADDRESS": "ray://head:10001"})
    assert "ray start" in caught.value.hint


def test_a_document_behind_the_option_is_no_address(run: Run, notes: Path) -> None:
    done = run("ingest", "--cluster", str(notes))
    assert done.code == 2 and "is not the address of a cluster" in done.err
    assert "write --cluster behind the documents" in done.err


def test_without_ray_one_line_says_what_to_install(
    run: Run, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *a: None if name == "ray" else found(name, *a)
    )
    done = run("ingest", str(notes), "--cluster")
    assert (done.code, done.err) == (
        2,
        'Error: Ray is not installed\nHint: pip install "localcrag[cluster]"\n',
    )


@pytest.mark.usefixtures("with_ray")
def test_offline_no_address_outside_is_asked_and_nothing_is_recorded(notes: Path, tmp_path: Path) -> None:
    base = localcrag.open("kb", home=tmp_path / "home")
    with egress.offline(), pytest.raises(OfflineError, match=r"10\.0\.0\.5"):
        base.ingest(notes, cluster="10.0.0.5:6379")
    assert base.ledger.entries() == []


@pytest.mark.usefixtures("with_ray")
def test_where_no_cluster_answers_one_line_says_so_after_the_record(
    run: Run, notes: Path, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        place = f"127.0.0.1:{free.getsockname()[1]}"
    done = run("ingest", str(notes), "--cluster", place)
    assert done.code == 1 and done.err.startswith(
        f"Error: no cluster answers at {place}\nHint: start it there"
    )
    [entry] = Ledger(tmp_path / "home" / "egress.jsonl").entries()
    assert (entry.kind, entry.target) == ("cluster", f"{place} (1 documents, 25 bytes)")


def test_other_versions_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    utils = pytest.importorskip("ray._private.utils", reason="Ray is not installed: localcrag[cluster]")
    from localcrag.cluster.ray_cluster import refusal

    theirs = {"ray_version": "2.40.0", "python_version": "3.10.1"}
    with pytest.raises(RuntimeError) as caught:
        utils.check_version_info(theirs, "this machine", raise_on_mismatch=True)
    error = refusal(ClusterAddress("head", 6379), caught.value)
    assert isinstance(error, ClusterError)
    assert str(error).startswith(
        "the cluster at head:6379 runs Ray 2.40.0 on Python 3.10.1, and this machine"
    )
