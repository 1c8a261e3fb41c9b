"""The one filter for all that is printed, and every command with hostile names and texts."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from localcrag.cli.safe_output import json_text, one_line, plain
from localcrag.conversations import SqliteThreads
from localcrag.types import JsonValue, Turn
from tests.cli.conftest import Run

BIDIRECTIONAL = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"
CONTROLS = "".join(map(chr, (*range(9), *range(11, 32), *range(127, 160)))) + "\u2028\u2029"
TAGS = "".join(map(chr, range(0xE0000, 0xE0080)))
HIDDEN = "\u200b\u2060\ufeff\u00ad"
FORBIDDEN = set(BIDIRECTIONAL + CONTROLS + TAGS + HIDDEN)
EVIL = "a\x1b]0;PWNED\x07b\u202ec\u2066d\u061ce\u2028f\x9b2Jg\U000e0041h\u200bi"
QUESTION = "When does the Zeldrine library open?"


def test_control_characters_become_blanks_and_what_hides_or_reorders_is_left_out() -> None:
    assert plain(EVIL) == "a ]0;PWNED bcde f 2Jghi"
    assert not FORBIDDEN & set(plain("x".join(sorted(FORBIDDEN)))) and plain("a\tb\nc") == "a\tb\nc"
    assert one_line("a\tb\nc") == "a b c" and plain("\udcff") == "\ufffd"


@pytest.mark.parametrize("text", ["می‌خواهم", "क्‍ष", "👩‍👧", "é 字 – “x”", "é\u0301"])
def test_what_scripts_and_emoji_need_stays(text: str) -> None:
    assert plain(text) == text == one_line(text)


def test_a_joiner_behind_ascii_hides_nothing() -> None:
    assert plain("[\u200d1] pass\u200cword") == "[1] password"


def test_json_is_escaped_and_has_the_same_value(monkeypatch: pytest.MonkeyPatch) -> None:
    value: JsonValue = {EVIL: [EVIL, "\udcff é می‌خواهم", 1, None]}
    text = json_text(value)
    assert json.loads(text) == value and not FORBIDDEN & set(text) and "é می‌خواهم" in text
    assert "\\udb40\\udc41" in text
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(io.BytesIO(), "ascii"))
    assert json_text(value).isascii() and json.loads(json_text(value)) == value


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder whose names and texts are hostile."""
    folder = tmp_path / "docs"
    folder.mkdir()
    text = f"# Hours [7] {EVIL}\n\nThe Zeldrine library opens at nine [42]{EVIL} and【7】 closes at six.\n"
    (folder / "open \u202efdp\x1b[31m[7]\x9b.md").write_text(text, "utf-8")
    (folder / "broken\u2066\x1b[2J\u2028.pdf").write_bytes(b"%PDF-1.4 nothing")
    return folder


def test_no_command_prints_them(fresh: Run, fresh_home: Path, hostile: Path) -> None:
    store = SqliteThreads(fresh_home / "threads.db")
    store.open("evil")
    store.append("evil", [Turn("user", EVIL), Turn("assistant", f"{EVIL} [7]")])
    commands: list[tuple[list[str], str]] = [
        (["ingest", str(hostile), "--meta", f"team={EVIL}"], ""),
        (["ingest", str(hostile), "--reread", "--json"], ""),
        (["ingest", str(hostile), "--reread", "--jsonl"], ""),
        (["kb", "list"], ""),
        (["kb", "show"], ""),
        (["kb", "show", "--json"], ""),
        (["kb", "export"], ""),
        (["search", "Zeldrine", "library"], ""),
        (["search", QUESTION, "--json"], ""),
        (["ask", *QUESTION.split(), "--trace", "--show-evidence"], ""),
        (["ask", QUESTION, "--json"], ""),
        (["ask", QUESTION, "--jsonl"], ""),
        (["chat"], f"{QUESTION}\n/sources\n/trace\n/nothing{EVIL}\n"),
        (["threads", "list"], ""),
        (["threads", "show", "evil"], ""),
        (["threads", "export", "evil"], ""),
        (["threads", "show", "evil", "--json"], ""),
        (["ask", QUESTION, "--kb", EVIL], ""),
        (["ask", QUESTION, f"--{EVIL}"], ""),
        (["ask", QUESTION, "--mode", EVIL], ""),
        (["ingest", f"/no/{EVIL}"], ""),
        (["config"], ""),
    ]
    for command, typed in commands:
        done = fresh(*command, stdin=typed)
        seen = done.out + done.err
        assert seen and not FORBIDDEN & set(seen), (command, seen)
        if "--json" in command and "ask" in command:
            assert_exact(json.loads(done.out))
        elif "--jsonl" in command and "ask" in command:
            assert_exact(json.loads(done.out.splitlines()[-1]))
        elif "ask" in command or "chat" in command:
            assert "[7]" not in seen and "[42]" not in seen and "【" not in seen


def assert_exact(answer: Any) -> None:
    """The JSON of an answer has the text of the document, and the places of its citations."""
    assert "[42]" in answer["answer"] and "【7】" in answer["answer"]
    assert [answer["answer"][mark["start"] : mark["end"]] for mark in answer["marks"]] == ["[1]"]


@pytest.mark.parametrize("arguments", [["search", "dose"], ["search", "dose", "--json"]])
def test_an_encoding_that_lacks_characters_ends_no_command(home: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "localcrag", "--home", str(home), *arguments],
        capture_output=True,
        env={**os.environ, "LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert done.returncode == 0 and not done.stderr and done.stdout.isascii()
    if "--json" in arguments:
        assert json.loads(done.stdout)["hits"]


def test_a_report_of_an_ingestion_fits_forty_columns(
    fresh: Run, hostile: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = fresh("ingest", str(hostile)).err.splitlines()
    assert "       1 added" in lines and "       1 skipped" in lines
