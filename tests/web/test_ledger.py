from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
from filelock import FileLock

from localcrag.errors import LedgerError
from localcrag.web.ledger import Ledger

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "state" / "egress.jsonl")


def test_what_is_recorded_is_read_back(ledger: Ledger) -> None:
    assert ledger.entries() == [] and not ledger.path.parent.exists()
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    ledger.record("query", "grey heron “height”\nünïcode", "How tall is it?")
    ledger.record("page", "https://a.example/x")
    first, second = ledger.entries()
    assert (first.kind, first.target, first.question) == (
        "query",
        "grey heron “height”\nünïcode",
        "How tall is it?",
    )
    assert (second.kind, second.target, second.question) == ("page", "https://a.example/x", "")
    assert before <= first.when <= second.when <= datetime.now(UTC)


def test_one_json_object_a_line_for_the_owner_alone(ledger: Ledger) -> None:
    ledger.record("url", "https://a.example/x", "q")
    (line,) = ledger.path.read_text().splitlines()
    assert json.loads(line).keys() == {"when", "kind", "target", "question"}
    assert stat.S_IMODE(ledger.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ledger.path.parent.stat().st_mode) == 0o700


def test_limit_and_since(ledger: Ledger) -> None:
    for number in range(5):
        ledger.record("query", str(number))
    entries = ledger.entries()
    assert [e.target for e in ledger.entries(limit=2)] == ["3", "4"]
    assert ledger.entries(limit=0) == [] and len(ledger.entries(limit=99)) == 5
    assert ledger.entries(since=entries[-1].when)[-1].target == "4"
    assert ledger.entries(since=entries[-1].when + timedelta(seconds=1)) == []


def test_a_half_written_last_line_is_left_out_and_spoils_nothing(ledger: Ledger) -> None:
    ledger.record("query", "one")
    with ledger.path.open("ab") as file:
        file.write('{"when": "2026-01-01T00:00:00+00:00", "kind": "query", "target": "ü'.encode()[:-1])
    assert [e.target for e in ledger.entries()] == ["one"]
    ledger.record("query", "two")
    assert [e.target for e in ledger.entries()] == ["one", "two"]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        "null",
        "7",
        '"text"',
        "{}",
        '{"when": 7, "kind": "query", "target": "x", "question": ""}',
        '{"when": "2026-01-01T00:00:00", "kind": "query", "target": "x", "question": ""}',
        '{"when": "2026-01-01T00:00:00+00:00", "kind": "query", "target": null, "question": ""}',
        "[" * 100_000,
    ],
)
def test_other_damaged_lines_are_left_out(ledger: Ledger, line: str) -> None:
    ledger.record("query", "one")
    with ledger.path.open("a") as file:
        file.write(line + "\n")
    ledger.record("query", "two")
    assert [e.target for e in ledger.entries(since=datetime(2020, 1, 1, tzinfo=UTC))] == ["one", "two"]


@pytest.mark.usefixtures("every_processor")
def test_processes_append_at_once_without_tearing_lines(ledger: Ledger) -> None:
    code = (
        "import sys; from pathlib import Path; from localcrag.web.ledger import Ledger\n"
        "ledger = Ledger(Path(sys.argv[1]))\n"
        "for n in range(60): ledger.record('query', sys.argv[2] * 5000, str(n))"
    )
    command = [sys.executable, "-c", code, str(ledger.path)]
    processes = [subprocess.Popen([*command, name], cwd=ROOT) for name in "abcd"]
    assert [process.wait(240) for process in processes] == [0] * 4
    entries = ledger.entries()
    assert len(entries) == 240 == len(ledger.path.read_bytes().splitlines())
    for name in "abcd":
        theirs = [e for e in entries if e.target == name * 5000]
        assert [e.question for e in theirs] == [str(n) for n in range(60)]


def test_it_is_on_the_disk_before_record_returns(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[bytes] = []
    real = os.fsync

    def spy(descriptor: int) -> None:
        real(descriptor)
        synced.append(ledger.path.read_bytes())

    monkeypatch.setattr(os, "fsync", spy)
    ledger.record("query", "heron")
    assert len(synced) == 1 and b"heron" in synced[0]


def test_a_ledger_that_cannot_be_written_is_an_error_with_a_hint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path in (tmp_path, tmp_path / "file" / "egress.jsonl"):
        with pytest.raises(LedgerError, match="nothing was sent") as error:
            Ledger(path).record("query", "heron")
        assert error.value.hint and len(str(error.value).splitlines()) == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_stops_the_sending(tmp_path: Path) -> None:
    path = tmp_path / "egress.jsonl"
    path.symlink_to("/dev/full")
    with pytest.raises(LedgerError, match="No space left"):
        Ledger(path).record("query", "heron")


def test_an_unknown_kind_is_a_defect_of_the_caller(ledger: Ledger) -> None:
    with pytest.raises(ValueError, match="telemetry"):
        ledger.record("telemetry", "x")
    assert not ledger.path.exists()


def test_surrogates_from_a_broken_file_name_are_recorded(ledger: Ledger) -> None:
    ledger.record("url", "http://a.example/\udcff")
    assert ledger.entries()[0].target.startswith("http://a.example/")


def test_a_writer_waits_for_its_turn(ledger: Ledger) -> None:
    ledger.record("query", "first")
    with FileLock(ledger.path.with_suffix(".lock")):
        writer = Thread(target=ledger.record, args=("query", "second"))
        writer.start()
        writer.join(0.2)
        assert writer.is_alive() and len(ledger.entries()) == 1
    writer.join(120)
    assert [e.target for e in ledger.entries()] == ["first", "second"]
