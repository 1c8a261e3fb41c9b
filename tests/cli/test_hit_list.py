"""Hits as they are printed: place, score, and the query's words marked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from localcrag.cited_text import place
from localcrag.cli.hit_list import marked, print_hits, snippet
from localcrag.types import Hit
from tests.crag.values import passage


def test_the_words_of_the_query_are_marked_whatever_their_case() -> None:
    assert (
        marked("Tea and a teapot", ["tea"]) == "\x1b[33m\x1b[1mTea\x1b[0m and a \x1b[33m\x1b[1mtea\x1b[0mpot"
    )
    assert marked("a+b", ["a+b"]) != "a+b" == marked("a+b", [])


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (("/a/fees.xlsx", 2, "Tariffs", (14, 14)), "/a/fees.xlsx, sheet Tariffs, row 14"),
        (("/a/fees.ods", 2, "Tariffs", (2, 9)), "/a/fees.ods, sheet Tariffs, rows 2–9"),
        (("/a/fees.xlsx", 2), "/a/fees.xlsx, sheet 2"),
        (("/a/cells.csv", None, "", (120, 120)), "/a/cells.csv, row 120"),
        (("/a/talk.PPTX", 3), "/a/talk.PPTX, slide 3"),
        (("/a/leaflet.pdf", 3), "/a/leaflet.pdf, page 3"),
        (("https://example.org/a", None), "https://example.org/a"),
    ],
)
def test_the_place_is_named_as_the_file_counts(given: tuple[Any, ...], shown: str) -> None:
    assert place(*given) == shown


def test_a_snippet_begins_near_the_first_word_of_the_query() -> None:
    text = "nothing of note. " * 40 + "Lavender needs sun. " + "nothing at all. " * 40
    shown, terms = snippet(text, "is lavender sunny?")
    assert shown.startswith("…") and shown.endswith("…") and "Lavender needs sun." in shown
    assert terms == ["lavender", "sunny"]


def test_what_is_no_terminal_gets_no_colour_and_no_control_characters(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_hits("water", [Hit(passage("little \x1b[31mwater\x07", id="a"), 0.5)])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and lines[0].startswith("1. ") and "0.5000" in lines[0]
    assert lines[1] == "   little [31mwater"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colours_can_be_declined(
    name: str, value: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("click._compat.should_strip_ansi", lambda *_: False)  # as at a terminal
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda stream, color=None: color is False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    hits = [Hit(passage("water", id="a"), 0.5)]
    print_hits("water", hits)
    assert "\x1b[" in capsys.readouterr().out
    monkeypatch.setenv(name, value)
    print_hits("water", hits)
    assert "\x1b[" not in capsys.readouterr().out


def test_a_working_directory_that_is_gone_does_no_harm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert place("/a/b.txt", 2) == "/a/b.txt, page 2"
