"""The whole way from library and command line: ingestion, questions, the ledger, offline, no secrets."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

import localcrag
from localcrag import egress
from localcrag.cli import doctor
from localcrag.cli.main import main
from localcrag.errors import ObjectStorageError, OfflineError, UsageError
from localcrag.knowledge_base import KnowledgeBase
from localcrag.serve.mcp_api.mcp_access import McpAccess
from localcrag.settings import load
from tests.object_storage.fault_proxy import FaultProxy
from tests.object_storage.object_server import WRITER


def ledger(home: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (home / "egress.jsonl").read_text().splitlines()]


def test_it_is_ingested_asked_and_shown_and_no_secret_is_written(
    address: str, tmp_path: Path, proxy: FaultProxy
) -> None:
    document = tmp_path / "leave.md"
    document.write_text("# Leave\n\nUnused leave expires on 31 March of the next year.\n")
    home, other = tmp_path / "home", tmp_path / "other"
    with localcrag.open(address, home=home) as kb:
        assert kb.ingest(document).added == 1
        assert kb.ingest(document).unchanged == 1
    with egress.offline(), localcrag.open(address, home=other) as kb:  # a server on this machine
        answer = kb.ask("When does unused leave expire?", mode="quote")
        assert "31 March" in answer.text
        assert kb.info().documents == 1
        with pytest.raises(UsageError):
            kb.rename("leave")
    for folder, first in ((home, "open"), (other, "open")):
        lines = [line for line in ledger(folder) if line["kind"] == "objects"]
        assert lines[0]["target"] == f"{first} {address} at {proxy.url}"
    assert any(line["target"].startswith("put ") for line in ledger(home))
    assert any(line["target"].startswith("get ") for line in ledger(other))
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert written
    assert not [path for path in written if WRITER[1].encode() in path.read_bytes()]


def test_one_on_object_storage_and_one_of_this_machine_are_searched_as_one(
    address: str, tmp_path: Path
) -> None:
    localcrag.open(address, home=tmp_path).ingest_text("Leave expires on 31 March.", name="leave")
    localcrag.open("local", home=tmp_path).ingest_text("Trains are booked in second class.", name="travel")
    with localcrag.open([address, "local"], home=tmp_path) as both:
        assert {hit.passage.source for hit in both.search("leave trains", evaluator="none")} == {
            "text:leave",
            "text:travel",
        }


def test_offline_refuses_a_server_elsewhere_before_anything_is_sent(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://s3.example.org")
    with egress.offline(), pytest.raises(OfflineError, match=r"s3\.example\.org was refused"):
        localcrag.open(address, home=tmp_path).info()
    assert not (tmp_path / "egress.jsonl").exists()


def test_what_cannot_be_recorded_is_not_sent(address: str, tmp_path: Path, proxy: FaultProxy) -> None:
    (tmp_path / "egress.jsonl").mkdir()
    with pytest.raises(localcrag.LocalCragError, match="nothing was sent"):
        localcrag.open(address, home=tmp_path).info()
    assert not proxy.seen


def test_commands_list_show_check_and_remove_it(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    localcrag.open(address, home=tmp_path).ingest_text("Leave expires on 31 March.", name="leave")

    def run(*arguments: str) -> tuple[int, str]:
        code = main(["--home", str(tmp_path), *arguments])
        shown = capfd.readouterr()
        return code, shown.out + shown.err

    monkeypatch.setenv("LOCALCRAG_KB", address)
    for arguments, said in (
        (["kb", "list"], f"{address}"),
        (["kb", "show", address], "1 document, 1 passage,"),
        (["kb", "check", address], "is whole"),
        (["kb", "compact", address], "MB now"),
        (["kb", "remove", "--yes", address], "Removed"),
    ):
        code, output = run(*arguments)
        assert (code, said in output) == (0, True), output
    localcrag.open(address, home=tmp_path).ingest_text("Leave expires on 31 March.", name="leave")
    monkeypatch.setattr(doctor, "CHECKS", {"object storage": doctor._check_object_storage})
    code, output = run("doctor")
    assert code == 0 and f"ok     knowledge base {address}: 0.0 MB of files are listed" in output
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "")
    assert run("doctor")[0] == 1
    code, output = run("kb", "show", address)
    assert code == 1
    assert "no keys for the object storage" in output
    assert os.environ["AWS_ACCESS_KEY_ID"] not in output
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another-secret")
    code, output = run("ask", "--kb", address, "When?")
    assert code == 1
    assert "does not take the keys (SignatureDoesNotMatch)" in output
    assert "clock" in output
    assert "another-secret" not in output
    assert "Traceback" not in output


def test_a_bucket_that_is_not_there_is_named_with_what_to_do(tmp_path: Path) -> None:
    base = localcrag.open("s3://not-there/papers", home=tmp_path)
    for attempt in (base.info, lambda: base.ingest_text("One.", name="one")):
        with pytest.raises(ObjectStorageError, match="there is no bucket not-there at http://127") as caught:
            attempt()
        assert "make it" in caught.value.hint


@pytest.mark.parametrize("named", ["s3://kbs/other", "S3://kbs/other", "local+s3://kbs/other"])
def test_a_client_of_a_door_cannot_name_an_address(named: str, address: str, tmp_path: Path) -> None:
    def refused(name: str) -> KnowledgeBase:
        raise AssertionError(f"{name} was opened")

    access = McpAccess(replace(load(home=tmp_path), kb=address), refused, refused)
    with pytest.raises(UsageError, match="is not served here"):
        access.held(named)
    with pytest.raises(AssertionError, match=address):  # that of the settings
        access.held(address)
