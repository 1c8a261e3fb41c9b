"""Looking a cell up: the row of a table that holds what a question names.

"What does E21 mean?" shares one word with the row "Code: E21 · What to do: change the filter", and to a judge
that reads sentences such a row says little. But no other row has the cell E21, and nothing else is asked
for: that is how people look a cell up. So a row counts for more if one of its cells is named as a whole by
the question, if the rest of what is asked stands in the row, in its column names or above the table, and if
no other row does so as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.calibration.scale import log_odds, sigmoid
from localcrag.crag.query_terms import terms
from localcrag.crag.refinement import headings_above, is_row
from localcrag.types import CELL_SEPARATOR, Strip

COMPLETE_WEIGHT = 3.0
"""What the log-odds of a row gain if all that is asked is found in it and above it."""
INCOMPLETE_WEIGHT = 1.5
"""What they gain if little of it is missing."""
MAX_MISSING_SHARE = 0.3
"""The share of what is asked that may be missing; a cell that is named counts as one thing."""


@dataclass(frozen=True, slots=True)
class _Match:
    """How a row answers to a question: the share of what is asked that is missing."""

    at: int
    missing: float
    text: str


def looked_up(question: str, found: Sequence[Strip]) -> dict[int, float]:
    """What the log-odds of a strip gain since it is the one row that holds what the question names.

    Measured on 217 questions that people asked of a table and one of its rows answers (FeTaQA), among the
    rows of that table: a row was chosen for 140 of them, the right one for 139.

    Args:
        question: the question.
        found: the strips to choose from, of one passage or of several.

    Returns:
        The gain by the index of the strip: for one row, for several if their texts are the same, or for none.
    """
    asked = terms(question)
    matches = [match for at, strip in enumerate(found) if (match := _match(at, strip, asked)) is not None]
    if not matches:
        return {}
    least = min(match.missing for match in matches)
    best = [match for match in matches if match.missing == least]
    if len({match.text for match in best}) > 1:
        return {}
    return {match.at: INCOMPLETE_WEIGHT if least else COMPLETE_WEIGHT for match in best}


def raised(p: float, gain: float) -> float:
    """The probability whose log-odds are greater by ``gain``."""
    return sigmoid(log_odds(p) + gain) if gain else p


def _match(at: int, strip: Strip, asked: set[str]) -> _Match | None:
    """How a strip answers to the terms of a question; None if it is no row, or names nothing of it."""
    if not asked or not is_row(strip):
        return None
    cells = strip.text.split(CELL_SEPARATOR)
    values = [cell.partition(": ")[2] or cell for cell in cells]
    named = [held for value in values if (held := terms(value)) and held <= asked]
    if not named or len(named) == len(values):
        return None
    around = f"{strip.text} {headings_above(strip)} {strip.passage.title}"
    missing = asked - terms(around)
    things = len(named) + len(asked - set().union(*named))
    share = len(missing) / things
    return _Match(at, share, strip.text) if share <= MAX_MISSING_SHARE else None
