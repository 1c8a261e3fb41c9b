"""Ingest and ask, as commands of their own, where there is no network at all but loopback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documents.builders import pdf

PAGES = (("About herons.",), ("The grey heron nests in tall trees beside the river Ousk.",))
NAMESPACE = [
    "unshare",
    "--net",
    "--map-root-user",
    "sh",
    "-c",
    'ip link set lo up 2>/dev/null; exec "$@"',
    "sh",
]


def without_network() -> list[str]:
    """What runs a command in a network namespace of its own; [] where the system does not allow one."""
    if shutil.which("unshare") is None:
        return []
    return NAMESPACE if subprocess.run([*NAMESPACE, "true"], capture_output=True).returncode == 0 else []


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("herons")
    (folder / "herons.pdf").write_bytes(pdf(*PAGES))
    (folder / "storks.md").write_text(
        "# Storks\n\nStorks build their nests on chimneys in the village of Arn.\n"
    )
    return folder


@pytest.mark.parametrize("isolated", [True, False], ids=["no network", "--offline"])
def test_ingest_and_ask_need_no_network(folder: Path, tmp_path: Path, isolated: bool) -> None:
    prefix = without_network() if isolated else []
    if isolated and not prefix:
        pytest.skip("this system allows no network namespace")
    flags = ["--home", str(tmp_path / "home"), *([] if isolated else ["--offline"])]
    command = [*prefix, sys.executable, "-m", "localcrag", *flags]
    ingested = subprocess.run([*command, "ingest", str(folder), "--json"], capture_output=True, text=True)
    assert ingested.returncode == 0, ingested.stderr
    assert json.loads(ingested.stdout)["added"] == 2
    asked = subprocess.run(
        [*command, "ask", "Where does the grey heron nest?", "--json"], capture_output=True, text=True
    )
    assert asked.returncode == 0, asked.stderr
    answer = json.loads(asked.stdout)
    assert answer["status"] == "answered"
    assert "in tall trees" in answer["answer"]
    assert (Path(answer["citations"][0]["source"]).name, answer["citations"][0]["page"]) == ("herons.pdf", 2)
    assert not (tmp_path / "home" / "egress.jsonl").exists()


def test_the_namespace_really_has_no_network() -> None:
    prefix = without_network()
    if not prefix:
        pytest.skip("this system allows no network namespace")
    program = "import socket; socket.create_connection(('192.0.2.1', 9), 2)"
    done = subprocess.run([*prefix, sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode != 0 and "unreachable" in done.stderr


def test_offline_the_web_and_addresses_are_refused(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "localcrag", "--home", str(tmp_path / "home"), "--offline"]
    done = subprocess.run(
        [*command, "ingest", "https://example.org/a.html", "--json"], capture_output=True, text=True
    )
    assert done.returncode == 1
    [skipped] = json.loads(done.stdout)["skipped"]
    assert skipped["source"] == "https://example.org/a.html" and "offline" in skipped["reason"]
    assert not (tmp_path / "home" / "egress.jsonl").exists()
