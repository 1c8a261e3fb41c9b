"""Tables in the width of the terminal."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from localcrag.cli.line_wrapping import columns
from localcrag.cli.main import main
from localcrag.cli.table_layout import stdout_lines, table_lines
from tests.cli.conftest import Run

ROWS = [("papers", "12 documents", "0.4 MB"), ("旅行記", "3 documents", "12.0 MB", "page < 9")]


def test_a_pipe_gets_tabs() -> None:
    assert list(table_lines(ROWS, None)) == [
        "papers\t12 documents\t0.4 MB",
        "旅行記\t3 documents\t12.0 MB\tpage < 9",
    ]


def test_cells_stand_side_by_side_if_they_fit() -> None:
    first, second = table_lines(ROWS, 60)
    assert first == "papers  12 documents  0.4 MB"
    assert second == "旅行記  3 documents   12.0 MB  page < 9"


def test_a_row_is_a_paragraph_if_they_do_not() -> None:
    lines = list(table_lines(ROWS, 30))
    assert lines[:2] == ["papers", "  12 documents · 0.4 MB"]
    assert lines[2:] == ["旅行記", "  3 documents · 12.0 MB · page", "  < 9"]
    assert max(map(columns, lines)) <= 30
    assert list(table_lines([], 30)) == []


def test_a_continued_line_is_indented(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "24")
    with redirect_stdout(Screen()):
        assert stdout_lines("ok  models: all that is needed", 4) == ["ok  models: all that is", "    needed"]
    with redirect_stdout(io.StringIO()):
        assert stdout_lines("ok  models: all that is needed", 4) == ["ok  models: all that is needed"]


class Screen(io.StringIO):
    """A terminal, as far as a command looks."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    "command", [["kb", "list"], ["kb", "show"], ["models", "list"], ["threads", "list"], ["docs"]]
)
def test_forty_columns_are_enough(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.chdir(home)
    if command[0] == "threads":
        run("chat", "--thread", "Dose of the tablets, of the drops, and of the syrup", stdin="")
    with redirect_stdout(Screen()) as screen:
        main(["--home", str(home), *command])
    lines = screen.getvalue().splitlines()
    whole = [line for line in lines if len(line.split()) == 1 or "/" in line]  # a path is not broken
    assert lines and max(columns(line) for line in lines if line not in whole) <= 40
