"""The formulas of a sheet of XLSX without a stored result, as programs write them that do not compute.

openpyxl gives such a cell as an empty one, so the part is run through once for them.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

_WITHOUT_RESULT = re.compile(
    rb"<c(\s[^<>]*+)>\s*+<f[^<>]*+>(?:[^<]*+</f>)?+\s*+(?:<v\s*+/>|<v>\s*+</v>)?+\s*+</c>"
)
_IS_TEXT = re.compile(rb"\st=[\"']str[\"']")
"""A formula whose result is an empty text has a type."""
_PLACE = re.compile(rb"\sr=[\"']([A-Z]{1,3}\d{1,7})[\"']")
_CELL = b"<c "
_CHUNK_BYTES = 1024 * 1024
_MAX_CELL_BYTES = 64 * 1024


def unstored_note(container: zipfile.ZipFile, sheet: Worksheet) -> str:
    """What is said of the formulas of a sheet without a stored result; "" if there are none."""
    with container.open(sheet._worksheet_path) as part:
        places = _places(part)
        first = next(places, None)
        if first is None:
            return ""
        count = 1 + sum(1 for _ in places)
    formulas = "1 formula" if count == 1 else f"{count:,} formulas"
    return f"{formulas} without a stored result" + (f", the first in cell {first}" if first else "")


def _places(part: IO[bytes]) -> Iterator[str]:
    """The names of the cells, as D2; "" for one without a name."""
    last = b""
    while chunk := part.read(_CHUNK_BYTES):
        text = last + chunk
        end = text.rfind(_CELL, max(0, len(text) - _MAX_CELL_BYTES))
        end = end if end >= 0 and len(chunk) == _CHUNK_BYTES else len(text)
        for found in _WITHOUT_RESULT.finditer(text, 0, end) if b"<f" in text else ():
            if not _IS_TEXT.search(found[1]):
                place = _PLACE.search(found[1])
                yield place[1].decode() if place else ""
        last = text[end:]
