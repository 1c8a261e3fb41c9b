"""Which cells of a wide row are shown: not the numbers of columns that a question does not ask for.

"Food Code: A010 · Food Name: Ragi · … · Iron (Fe): 0.00462 · …" answers a question for iron better than all
of seventeen cells. Words may answer though they are in another column than it names ("remark: not before
noon"), so they stay, but in a very wide row, of which nobody reads all. The citation is of the whole row.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from localcrag.crag.refinement.strip_kinds import named_cell
from localcrag.crag.rows.named_cells import CellQuery, column_terms_asked, terms_within
from localcrag.crag.table_answers.column_abbreviations import words_in_full
from localcrag.crag.table_answers.table_values import UNITS, root, roots

MIN_WIDE_CELLS, MIN_WIDE_CHARACTERS = 9, 160
"""A row with fewer cells, or shorter than that, is shown as a whole."""
MIN_VERY_WIDE_CELLS, LEADING_CELLS = 17, 3
"""The fewest cells of a row of which words are left out as well, and how many of its first ones stay."""
MAX_ASKED_CELLS = 4
"""The most cells that a question asks for; if more have its words, those count that have most of them, and if
these are too many as well, all of the row is shown."""
_COUNTED = re.compile(r"\bhow (?:many|much) (?P<what>[^\W\d_]+)", re.IGNORECASE)
"""How a question names what it asks for an amount of, before anything else that it says."""
_UNIT_IN_NAME = re.compile(r"[(\[](?P<unit>[^()\[\]]{1,8})[)\]]\s*$")
"""The unit at the end of the name of a column: "Mean cycle power (W)"."""
_LETTERS = {"watt": "w", "volt": "v", "ampere": "a", "amp": "a", "ohm": "ω", "newton": "n", "joule": "j"}
"""Units that are a letter in the names of columns."""
OMISSION = "…"
"""What stands in the place of cells that are left out."""
_WORD = re.compile(r"[^\W\d_]{3}")
_WHEN = re.compile(
    r"\b(?:when|what (?:time|day|date|year)|which (?:day|date|year)|how (?:old|long|recent)|wann|seit|quand"
    r"|cuándo|until|since|from (?:when|what|which))\b",
    re.I,
)
"""How a question asks for a day, which stands in a column of any name."""


def shown_cells(cells: Sequence[str], question: str) -> list[str]:
    """The cells of a row, those that are left out as one "…" each run; all of them unless some are asked for.

    The first cell, those with words and those whose value the question has are always shown; of those with
    words in a very wide row only the first few.
    """
    if len(cells) < MIN_WIDE_CELLS or sum(map(len, cells)) < MIN_WIDE_CHARACTERS:
        return list(cells)
    query, asked = CellQuery.of(question), column_terms_asked(question)
    most_words = LEADING_CELLS if len(cells) >= MIN_VERY_WIDE_CELLS else len(cells)
    units = {_LETTERS.get(word, word) for word in roots(question)} & (UNITS | {*_LETTERS.values()})
    counted = {root(match["what"]) for match in _COUNTED.finditer(question)}
    initials = _initials_of(question)
    kept, words_of = {0}, dict[int, int]()
    for at, (column, value) in enumerate(map(named_cell, cells)):
        has_words = _WORD.search(value) is not None
        if query.named_by(column, value) or (has_words and at < most_words):
            kept.add(at)
        else:
            shared = asked & (terms_within(column) | terms_within(words_in_full(column)))
            shared |= {column} & initials
            is_counted = not counted.isdisjoint(roots(column))
            if count := len(shared) + _is_in_units(column, units) + MAX_ASKED_CELLS * is_counted:
                words_of[at] = count
    wanted = set(words_of)
    if len(wanted) > MAX_ASKED_CELLS:
        wanted = {at for at, count in words_of.items() if count == max(words_of.values())}
    if not 0 < len(wanted) <= MAX_ASKED_CELLS or _WHEN.search(question):
        return list(cells)
    shown: list[str] = []
    for at, cell in enumerate(cells):
        if at in kept or at in wanted:
            shown.append(cell)
        elif shown[-1:] != [OMISSION]:
            shown.append(OMISSION)
    return shown


def _initials_of(question: str) -> set[str]:
    """The first letters of two and three words of a question side by side: "OG", original gravity."""
    words = re.findall(r"[^\W\d_]+", question)
    runs = (words[at : at + length] for length in (2, 3) for at in range(len(words) - length + 1))
    return {"".join(word[0] for word in run).upper() for run in runs}


def _is_in_units(column: str, units: Set[str]) -> bool:
    """Whether the name of a column has one of some units behind it."""
    found = _UNIT_IN_NAME.search(column)
    return found is not None and not units.isdisjoint(roots(found["unit"]))
