"""Countries and states that a question names, in columns that hold their codes: CN for "Chinese cities".

"Dutch" is NL, NLD or, among Olympic teams, NED; a column is one of codes if nearly all its cells are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set

from localcrag.crag.table_answers.place_names import PlaceCodes, place_codes
from localcrag.crag.table_answers.table_values import roots
from localcrag.crag.table_queries.derived_words import cells_of_word

_MIN_CODES, _MIN_CODED_SHARE = 2, 0.8
"""The fewest different cells of a column of codes, and the share of them that must be codes of one kind."""
_LENGTHS = (2, 3)
_BETWEEN_CODES = re.compile(r"[,;/|] ?| ")
"""What parts the codes of a cell that lists several."""


def places_said(words: Sequence[str], cells: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Where a question names a place of which a column has the code: the first word, how many, and the cell.

    Args:
        words: the words of the question, as they are written.
        cells: the different cells of the column; nothing is found in one that has no codes of one kind.
    """
    held = _single_codes(cells)
    codes = _kind_of(held)
    if codes is None:
        return
    at = 0
    while at < len(words):
        length, cell = _place_at(words, at, codes)
        if cell in held:
            yield at, length, cell
        at += length


def _place_at(words: Sequence[str], at: int, codes: PlaceCodes) -> tuple[int, str]:
    """How many words name a place that begins at one, and its code; one word and "" if none does."""
    if not words[at][:1].isupper():
        return 1, ""
    for length in range(min(codes.longest, len(words) - at), 0, -1):
        if code := codes.by_words.get(roots(" ".join(words[at : at + length]))):
            return length, code
    names = cells_of_word(words[at], tuple(codes.by_name))
    return 1, codes.by_name[names[0]] if names else ""


def _single_codes(cells: Sequence[str]) -> set[str]:
    """The codes of a column, some of whose cells may list several, "IT,FR"; none of any other column."""
    held = set[str]()
    for cell in cells:
        codes = _BETWEEN_CODES.split(cell)
        if not all(len(code) in _LENGTHS and code.isupper() for code in codes):
            return set()
        held.update(codes)
    return held


def _kind_of(held: Set[str]) -> PlaceCodes | None:
    """The kind that the codes of a column are of; None if they are of none."""
    if len(held) < _MIN_CODES:
        return None
    best = max(place_codes(), key=lambda kind: len(held & kind.codes))
    return best if len(held & best.codes) >= _MIN_CODED_SHARE * len(held) else None
