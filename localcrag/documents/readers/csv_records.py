"""Files of rows of which none is a header, and texts that are such files under other names.

That the first row is one like the others shows in a column that goes on from it: of codes, of names in the
order of the alphabet, or of countries. A word that names columns in it ("name", "code") speaks against that.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import pairwise
from unicodedata import normalize

from localcrag.documents.readers.csv_header import is_number

_MIN_ROWS, _MIN_SORTED = 8, 15
"""The fewest rows of a file of which all are alike, and of names in order."""
_MIN_COLUMNS, _MIN_PAIRS, _MAX_PAIR_CHARACTERS = 3, 15, 80
"""The fewest columns of such a file; of pairs that tabs part, the fewest lines and the most characters."""
_SAMPLE_LINES = 400
_MIN_ORDERED_SHARE = 0.95
"""The share of the names of a column in order that stand behind a lower one."""
_MIN_NUMBERS_SHARE = 0.9
"""The share of the cells of a column that are numbers, in a text that is a file of rows."""
_CODE = re.compile(r"[A-Z]{2,4}")
_LOWER_NAME = re.compile(r"[a-z][a-z0-9]*(?:[ _.-][a-z0-9]+)*")
"""A name as programs write those of columns."""
_NAMES = (
    "abbreviation abbr airport area author capital category city class code company continent country "
    "county currency date department description district first iata icao id index iso ioc key kind label "
    "language last lat latitude lon longitude month name names nation nationality no nr number party "
    "place population position price province rank region sex species state station status surname team "
    "title town type unit value year"
)
_COLUMN_WORDS = frozenset(_NAMES.split())
"""Words of names of columns."""


def has_no_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of some rows is one as the others are, and no header.

    Args:
        rows: the cells of the first rows of a file.
    """
    if len(rows) < _MIN_ROWS or len(set(map(len, rows))) > 1 or not all(rows[0]):
        return False
    if any(map(_names_column, rows[0])):
        return False
    columns = list(zip(*rows, strict=True))
    return any(_are_codes(column) or _are_in_order(column) for column in columns)


def as_rows(text: str) -> str | None:
    """A text that is a file of rows, as CSV is read; None if it is another text.

    Each line has as many cells: three or more, some of them numbers, or two short ones that a tab parts. Of
    words that only blanks part, two are numbers, and one blank is left between them. Lines that begin with
    "#" are notes.
    """
    lines = text.split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES]
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    if len(lines) < _MIN_ROWS:
        return None
    if len(lines) >= _MIN_PAIRS and all(map(_is_pair, lines)):
        return text
    for delimiter in "\t|;,":
        parts = lines[0].count(delimiter)
        if parts < _MIN_COLUMNS - 1 or any(line.count(delimiter) < parts for line in lines):
            continue
        rows = _rows(lines, delimiter)
        if len(set(map(len, rows))) == 1:
            are_rows = any(_are_numbers(column[1:]) for column in zip(*rows, strict=True))
            return text if are_rows else None
    if are_parted_by_blanks(lines):
        return "\n".join(" ".join(line.split()) for line in text.split("\n"))
    return None


def are_parted_by_blanks(lines: Sequence[str]) -> bool:
    """Whether lines have as many words each, three at least, of which two are numbers in all of them."""
    rows = [line.split() for line in lines]
    if len(lines) < _MIN_PAIRS or len(set(map(len, rows))) > 1 or len(rows[0]) < _MIN_COLUMNS:
        return False
    return sum(_are_numbers(column[1:]) for column in zip(*rows, strict=True)) > 1


def _is_pair(line: str) -> bool:
    """Whether a line is two short cells that a tab parts."""
    return (
        len(line) <= _MAX_PAIR_CHARACTERS
        and all(map(str.strip, parts := line.split("\t")))
        and len(parts) == 2
    )


def _rows(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The cells of lines; none if one of them is no line of such a file."""
    try:
        return list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        return []


def _are_numbers(cells: Sequence[str]) -> bool:
    return sum(is_number(cell.strip()) for cell in cells) >= _MIN_NUMBERS_SHARE * len(cells)


def _names_column(cell: str) -> bool:
    """Whether a cell may be the name of a column: it has a word for one, or is written as programs do."""
    words = re.findall(r"[a-z]+", cell.casefold())
    return bool(_LOWER_NAME.fullmatch(cell)) or not _COLUMN_WORDS.isdisjoint(words)


def _are_codes(column: Sequence[str]) -> bool:
    """Whether the cells of a column are codes of one length in capitals, each another one."""
    is_of_codes = all(map(_CODE.fullmatch, column)) and len(set(map(len, column))) == 1
    return is_of_codes and len(set(column)) == len(column)


def _are_in_order(column: Sequence[str]) -> bool:
    """Whether the cells of a column are names in the order of the alphabet, from the first one on."""
    names = [_folded(cell) for cell in column]
    if len(names) < _MIN_SORTED or len(set(names)) < len(names) or not all(n[:1].isalpha() for n in names):
        return False
    in_order = [low < high for low, high in pairwise(names)]
    return names[0][0] == names[1][0] and in_order[0] and sum(in_order) >= _MIN_ORDERED_SHARE * len(in_order)


def _folded(name: str) -> str:
    """A name as lists are ordered: its letters and figures, without capitals and accents."""
    return "".join(filter(str.isalnum, normalize("NFKD", name.casefold())))
