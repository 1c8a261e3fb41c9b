"""Codes that something shows by a question, and the rows of tables that they are looked up in.

"The handset says 34, what now?" shares one number with the row "Code: 34 · Remedy: open the door", and is
asked of nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_kinds import cells_of, is_row, named_cell
from localcrag.types import CELL_SEPARATOR, BlockKind, Passage, Strip

_REPORTED = re.compile(
    r"\b(?:says?|said|show(?:s|ed|ing)?|display(?:s|ed|ing)?|reads|report(?:s|ed|ing)?|flash(?:es|ed|ing)?"
    r"|blink(?:s|ed|ing)?|throws?|threw|error|fault|alarm|zeigt|meldet|fehler|störung)"
    r"(?: (?:me|us|an?|the|error|fault|alarm|message|code|number|fehler|code|nummer))*"
    r" (?P<code>(?=[^\W_]*\d)[^\W_]+(?:[./-][^\W_]+)*)(?!\w| ?[%°€$£]|[.,:]\d)",
    re.IGNORECASE,
)
"""How a question says that something shows a code: "the handset says 34", "fault code E-21"."""
_CODE_COLUMNS = terms("code error fault message display alarm number no Fehler Meldung Störung")
"""Words in the name of a column of such codes."""
_CODE = re.compile(r"(?=\S*\d)(?=\S*[^\W\d_])[\w./-]+")
"""A cell that is a code by its letters and digits."""


def reported_codes(question: str) -> frozenset[str]:
    """The codes that something shows by a question, for comparison without regard to case."""
    return frozenset(match["code"].casefold() for match in _REPORTED.finditer(question))


def reported_rows(found: Sequence[Strip], question: str) -> list[int]:
    """The place of the one row whose first cell is the one code that something shows; none otherwise.

    Whatever else "The pump shows E21, what do I turn?" asks, the row "Code: E21" is all there is about it. A
    mere number is one in a column of codes.
    """
    codes = reported_codes(question)
    rows = [
        at
        for at, strip in enumerate(found if len(codes) == 1 else ())
        if is_row(strip) and len(cells_of(strip)) > 1 and _is_of_code(cells_of(strip)[0], codes)
    ]
    return rows if len(rows) == 1 else []


def has_reported_row(passage: Passage, codes: Set[str]) -> bool:
    """Whether a passage has a row whose first cell is one of some codes."""
    rows = (block for block in passage.blocks if block.kind is BlockKind.ROW)
    texts = (passage.text_between(block.start, block.end) for block in rows)
    return any(_is_of_code(text.partition(CELL_SEPARATOR)[0], codes) for text in texts)


def _is_of_code(cell: str, codes: Set[str]) -> bool:
    """Whether a cell, with the name of its column, is one of some codes."""
    column, value = named_cell(cell)
    if value.strip().casefold() not in codes:
        return False
    return bool(_CODE.fullmatch(value.strip()) or terms(column) & _CODE_COLUMNS)
