"""Reader of CSV and TSV, row by row, each with the headers.

Lines before the table that begin with "#" are notes about it; the last of them is its header if it has as
many cells as the longest of the first rows. Further such lines are notes too, which stand below the table.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, takewhile

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.html_values import without_markup
from localcrag.documents.readers.csv_header import is_number, proven_header
from localcrag.documents.readers.csv_records import are_parted_by_blanks, has_no_header
from localcrag.documents.table_grid import GridRow
from localcrag.documents.table_rows import TableLine, add_lines, bounded_rows, grid_lines, row_text
from localcrag.types import BlockKind, Page

_SAMPLE_CHARACTERS = 8 * 1024
_DELIMITERS = ",;\t|"
_MAX_LOOKED_AT = 50
"""Rows that decide whether there is a header, and lines below a note that decide whether it is one."""
_NOTE = re.compile(r"#(?!\d)[#\s]*")
"""How a note begins; "#12" is the number of a row."""
_QUOTED_NAMES = re.compile(r'"[^"]*"(?: +"[^"]*")+')
"""A header of quoted names that blanks part, as R writes it."""


def read_rows(text: str, limits: Limits) -> Page:
    """CSV or TSV as a page, one block per row, numbered as in the file.

    Raises UnreadableError if it exceeds ``limits.text``.
    """
    csv.field_size_limit(limits.data)
    file = io.StringIO(text, newline="")
    notes = list(takewhile(_NOTE.match, file))
    start = sum(map(len, notes))
    dialect = _dialect(text[start : start + _SAMPLE_CHARACTERS])
    file.seek(start)
    if notes and _is_header(notes[-1], list(islice(file, _MAX_LOOKED_AT)), dialect):
        start -= len(_unmarked(notes.pop()))
    file.seek(start)
    later: list[str] = []

    def rows() -> Iterator[GridRow]:
        for number, row in enumerate(csv.reader(file, dialect), len(notes) + 1):
            if start and row and _NOTE.match(row[0]):
                later.append(" ".join(row))
            elif any(row):
                yield GridRow(number, [" ".join(without_markup(cell).split()) for cell in row])

    made = BlockText(limits)
    made.add(BlockKind.PARAGRAPH, _joined(notes))
    each = bounded_rows(rows())
    first = list(islice(each, _MAX_LOOKED_AT))
    if has_no_header([row.cells for row in first]):
        add_lines(made, (TableLine(row.number, row_text(row.cells, ()), False) for row in chain(first, each)))
    else:
        header, below = proven_header(chain(first, each))
        add_lines(made, grid_lines(below, header))
    made.add(BlockKind.PARAGRAPH, _joined(later))
    return made.page()


class _Blanks(csv.excel):
    """Cells that one blank or more part."""

    delimiter = " "
    skipinitialspace = True


class _Bars(csv.excel):
    delimiter = "|"


class _Semicolons(csv.excel):
    delimiter = ";"


_STRICT_DIALECTS = {each.delimiter: each for each in (_Bars, _Semicolons)}


def _are_numbers_below_a_line(lines: Sequence[str]) -> bool:
    """Whether all lines have as many words, and all but the first nothing but numbers."""
    cells = [line.split() for line in lines]
    return len(set(map(len, cells))) == 1 < len(cells[0]) and all(
        is_number(cell) for row in cells[1:] for cell in row
    )


def _joined(notes: Iterable[str]) -> str:
    """Notes as one text, without their marks."""
    return " ".join(filter(None, (_unmarked(note).strip() for note in notes)))


def _unmarked(note: str) -> str:
    """A note without the mark in front of it."""
    return _NOTE.sub("", note, count=1)


def _is_header(note: str, first: Sequence[str], dialect: type[csv.Dialect]) -> bool:
    """Whether a note is the header of the rows below it: it has as many cells as the longest, and several."""
    header = next(csv.reader([note.rstrip("\r\n")], dialect), [])
    return len(header) == max(map(len, csv.reader(first, dialect)), default=0) > 1


def _dialect(sample: str) -> type[csv.Dialect]:
    """The CSV dialect: the separator is guessed, and only ``"`` quotes, since an apostrophe is a letter.

    Tabs separate if all lines have some, and the first one more than of others: cells are full of commas. So
    do bars or semicolons of which all lines have as many. Blanks may stand before a cell that is quoted as a
    whole.
    """
    lines = [line for line in sample.split("\n")[:-1] if line.strip()]
    if lines and all("\t" in line for line in lines):
        counts = {lines[0].count(each): each for each in _DELIMITERS}
        if counts[max(counts)] == "\t":
            return csv.excel_tab
    for delimiter, strict in _STRICT_DIALECTS.items():
        parts = {line.count(delimiter) for line in lines}
        if len(lines) > 1 == len(parts) and min(parts) > 1:
            return strict
    if lines and _QUOTED_NAMES.fullmatch(lines[0].rstrip()):
        return _Blanks
    try:
        dialect = csv.Sniffer().sniff(sample.replace("'", ""), _DELIMITERS)
    except csv.Error:
        if any(each in sample for each in _DELIMITERS):
            return csv.excel_tab if sample.count("\t") > sample.count(",") else csv.excel
        return _Blanks if _are_numbers_below_a_line(lines) or are_parted_by_blanks(lines) else csv.excel
    dialect.doublequote = True
    quoted = re.compile(
        rf'{re.escape(dialect.delimiter)} +"[^"\n]*"[ \r]*(?:{re.escape(dialect.delimiter)}|$)', re.M
    )
    dialect.skipinitialspace = quoted.search(sample) is not None
    return dialect
