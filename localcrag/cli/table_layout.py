"""Rows and lines in the width of the terminal; a pipe gets them as they are, with tabs between the cells."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from itertools import zip_longest

import click

from localcrag.cli.line_wrapping import MIN_COLUMNS, columns, line_spans
from localcrag.cli.safe_output import one_line

GAP_COLUMNS = 2
"""The columns between two cells side by side, and those that a continued line is indented by."""
CELL_SEPARATOR = " · "
"""What stands between the cells of a row that does not fit on a line."""


def print_rows(rows: Sequence[Sequence[str]]) -> None:
    """Print the rows of a table on stdout, each with a name in its first cell."""
    for line in table_lines([[one_line(cell) for cell in row] for row in rows], terminal_columns()):
        click.echo(line)


def print_wrapped(text: str) -> None:
    """Print one line on stdout, wrapped between words on a terminal; what continues it is indented."""
    for line in stdout_lines(text):
        click.echo(line)


def stdout_lines(text: str, hanging: int = GAP_COLUMNS) -> list[str]:
    """The lines of a text on stdout; those that continue it are indented by ``hanging`` columns."""
    width = terminal_columns()
    return [one_line(text)] if width is None else list(wrapped_lines(one_line(text), width, hanging))


def terminal_columns() -> int | None:
    """The columns of the terminal that stdout is; None if it is none."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def table_lines(rows: Sequence[Sequence[str]], width: int | None) -> Iterator[str]:
    """The lines of a table.

    In ``width`` columns its cells stand side by side if all rows fit; else each row begins with its first
    cell, and the others follow on lines of their own. Without a width there is a tab between two cells.
    """
    if width is None:
        yield from ("\t".join(row) for row in rows)
        return
    widths = [max(map(columns, cells)) for cells in zip_longest(*rows, fillvalue="")]
    if sum(widths) + GAP_COLUMNS * (len(widths) - 1) <= width:
        for row in rows:
            padded = [cell + " " * (size - columns(cell)) for cell, size in zip(row, widths, strict=False)]
            yield (" " * GAP_COLUMNS).join(padded).rstrip()
        return
    for first, *others in rows:
        yield from wrapped_lines(first, width)
        below = CELL_SEPARATOR.join(filter(None, others))
        yield from wrapped_lines(" " * GAP_COLUMNS + below, width) if below else ()


def wrapped_lines(text: str, width: int, hanging: int = GAP_COLUMNS) -> Iterator[str]:
    """The lines of a text in ``width`` columns.

    A line that continues it is indented as its beginning is, or by ``hanging`` columns if that is not. A word
    that is wider stays whole.
    """
    indent = len(text) - len(text.lstrip(" ")) or hanging
    spans = line_spans(text, max(width, MIN_COLUMNS), hanging=indent)
    for number, (start, end) in enumerate(spans):
        yield " " * (indent if number else 0) + text[start:end]
