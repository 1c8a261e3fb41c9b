"""Rows that are about what a question asks for, and have no column that tells it.

"name: Lesotho · capital: Maseru · …" of sixty columns looks like the answer to every question about Lesotho,
and a row of a single bridge like the answer to "how many bridges are there?".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localcrag.crag.doubts.one_of_rows import COUNT_ASKED
from localcrag.crag.doubts.sureness import SURE_STRIP
from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import cells_of, is_row, named_cell
from localcrag.crag.rows.named_cells import CellQuery, column_terms_asked, terms_within
from localcrag.crag.table_answers.column_abbreviations import words_in_full
from localcrag.types import Strip

MAX_CELLS = 16
"""The most cells of a row that a reader takes in at a glance."""
MIN_CELLS = 4
"""The fewest cells of a row of which a question may be expected to name one."""
_THING_ASKED = re.compile(
    r"\b(?:which|what|how (?:deep|high|tall|wide|heavy|fast|large|big|old|far))\b", re.I
)
"""How a question asks for what a column names: its kind, or a measure."""
_AMOUNT_ASKED = re.compile(r"\bhow (?:much|many)\b", re.I)
_AGE_ASKED = re.compile(r"\bhow old\b", re.I)
_OF_AGE = terms_within(
    "age ages aged old birth birthday birthdate born dob year years date day since built founded established "
    "opened made started installed bought joined hired"
)
"""Words in the name of a column from which an age is known."""
_NAMELESS = re.compile(r"column \d+\s*")
"""How a column is called whose name is not known."""
_WITH_UNIT = re.compile(r"\d[\d.,]*\s?[^\W\d]{2}")
"""A number with what it counts: "40 persons"."""
_COUNTING = frozenset({"num", "no", "nr", "n", "number", "count", "total", "anzahl", "nombre"})
"""Words of the name of a column that say that it has numbers."""


def is_wide_without_column(question: str, shown: Sequence[Strip]) -> bool:
    """Whether the best strip is a wide row, and the question names none of its columns.

    A column whose value the question has names the row, and is not what is asked for.
    """
    best = _best_row(shown)
    if best is None or len(cells_of(best)) <= MAX_CELLS:
        return False
    words = terms(question) | column_terms_asked(question)
    return not any(terms_within(column) & words for column, _ in _others(question, best))


def is_doubted_without_column(question: str, shown: Sequence[Strip]) -> bool:
    """Whether the best strip is a row that is not sure, and has no column or number that is asked for.

    Of columns without names none tells that its number is the one that is asked for.
    """
    best = _best_row(shown)
    if best is not None and _lacks_age(question, best):
        return True
    if best is None or best.score >= SURE_STRIP:
        return False
    others = list(_others(question, best))
    if _AMOUNT_ASKED.search(question) and all(_NAMELESS.fullmatch(column) for column, _ in others):
        return True
    return _lacks_asked_column(question, best, others) or _lacks_asked_number(question, others)


def _best_row(shown: Sequence[Strip]) -> Strip | None:
    """The best strip, if it is a row."""
    best = best_strip(shown)
    return best if best is not None and is_row(best) else None


def _lacks_asked_column(question: str, row: Strip, others: Sequence[tuple[str, str]]) -> bool:
    """Whether a question asks which or what something of a row is, and names no column of it.

    The words that name the row do not count: "the Drug Court" names no column `Court ID`. ``others`` are the
    cells that do not name it.
    """
    cells = cells_of(row)
    if len(cells) < MIN_CELLS or _THING_ASKED.search(question) is None:
        return False
    told = {value for _, value in others}
    naming = " ".join(value for _, value in map(named_cell, cells) if value not in told)
    left = column_terms_asked(question) - terms(naming)
    return not any(terms_within(column) & left for column, _ in others)


def _lacks_age(question: str, row: Strip) -> bool:
    """Whether a question asks how old something is, and a row has no column of ages, days or years."""
    columns = (f"{column} {words_in_full(column)}" for column, _ in map(named_cell, cells_of(row)))
    return _AGE_ASKED.search(question) is not None and terms_within(" ".join(columns)).isdisjoint(_OF_AGE)


def _lacks_asked_number(question: str, others: Sequence[tuple[str, str]]) -> bool:
    """Whether a question asks how many there are, and the cells that do not name a row have no number of it.

    A number of it stands in a column that the question names, or before what it counts: "40 persons".
    """
    if COUNT_ASKED.search(question) is None:
        return False
    asked = terms(question)
    for column, value in others:
        words = terms_within(column.rpartition(".")[2]) - _COUNTING
        if _WITH_UNIT.match(value) or (value[:1].isdigit() and words and words <= asked):
            return False
    return True


def _others(question: str, row: Strip) -> Iterator[tuple[str, str]]:
    """The cells of a row that a question does not name it by, each with its column, also in full."""
    asked = CellQuery.of(question)
    for column, value in map(named_cell, cells_of(row)):
        if not asked.named_by(column, value):
            yield f"{column} {words_in_full(column)}", value
