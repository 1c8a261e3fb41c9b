"""The merged cells of a sheet of XLSX, which openpyxl gives only of sheets that it holds in memory.

They stand behind all rows in the file, so the part is run through once for them before its rows are read.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from localcrag.documents.table_grid import Merge, MergedCells

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_BEGIN = re.compile(rb"<(?:\w+:)?mergeCells[\s>]")
_MAX_BEGIN_BYTES = 64
_REFERENCE = re.compile(
    rb"<(?:\w+:)?mergeCell\s[^<>]*?ref\s*=\s*[\"']([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})[\"']"
)
_CHUNK_BYTES = 1024 * 1024
_MAX_TAIL_BYTES = 8 * 1024 * 1024
"""Bytes of the list of merged cells that are read."""
_MAX_MERGES = 100_000


def merges_of(container: zipfile.ZipFile, sheet: Worksheet) -> MergedCells:
    """The merged cells of a sheet."""
    with container.open(sheet._worksheet_path) as part:
        return MergedCells(_merges(_tail(part)))


def _tail(part: IO[bytes]) -> bytes:
    """A part of a workbook from the list of merged cells on; b"" if it has none."""
    last = b""
    while chunk := part.read(_CHUNK_BYTES):
        begin = _BEGIN.search(last + chunk)
        if begin is not None:
            return (last + chunk)[begin.start() :] + part.read(_MAX_TAIL_BYTES)
        last = chunk[-_MAX_BEGIN_BYTES:]
    return b""


def _merges(tail: bytes) -> Iterator[Merge]:
    for number, found in enumerate(_REFERENCE.finditer(tail)):
        if number == _MAX_MERGES:
            return
        left, top, right, bottom = (_column(found[1]), int(found[2]), _column(found[3]), int(found[4]))
        if left <= right and top <= bottom:
            yield Merge(left, top, right - left + 1, bottom - top + 1)


def _column(letters: bytes) -> int:
    """The number of a column from 0: A is 0, AA is 26."""
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number - 1
