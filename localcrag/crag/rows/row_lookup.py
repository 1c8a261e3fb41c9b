"""Looking a cell up: the row of a table that holds what a question names.

"What does E21 mean?" shares one word with the row "Code: E21 · What to do: change the filter", and to a judge
that reads sentences such a row says little. But no other row has the cell E21, and nothing else is asked
for: that is how people look a cell up. So a row counts for more if one of its cells is named as a whole by
the question, if the rest of what is asked stands in the row, in its column names or above the table, and if
no other row does so as well. A cell is also named by its day in other words ("2 June", 02.06.2025), by its
unit ("kilometres", km; 3 kW, 3000 W), and by a number, a day or a day of the week within its range ("for 20",
18–25; "for three years", 2 to 5 years; "on Wednesday", Mon–Fri).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from localcrag.calibration.scale import log_odds, sigmoid
from localcrag.crag.questions.calendar_dates import dates_of, day_of
from localcrag.crag.questions.query_terms import WORD_PATTERN, stem
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.reported_codes import reported_rows
from localcrag.crag.refinement.strip_context import headings_above, intro_of_table
from localcrag.crag.refinement.strip_kinds import cells_of, is_row, named_cell
from localcrag.crag.rows.named_cells import CellQuery, bounds_of, terms_within
from localcrag.crag.table_answers.column_abbreviations import words_in_full
from localcrag.crag.table_answers.table_conditions import is_akin
from localcrag.types import Strip

COMPLETE_WEIGHT = 4.0
"""What the log-odds of a row gain if all that is asked is found in it and above it."""
INCOMPLETE_WEIGHT = 2.5
"""What they gain if little of it is missing."""
SINGLED_OUT_WEIGHT = 3.9
"""What they gain if half of it is missing, but two of its cells are named, as a place and a day are."""
MAX_INCOMPLETE = 0.5
"""The probability up to which such a row is raised: what is missing may be the very thing that is asked for
("What did buoy 7 cost?"), so that it is shown, and to be checked."""
MIN_COMPLETE = 0.3
"""The least probability of a row that holds all that is asked: it is shown, and to be checked, however little
a row is like the sentences that a judge knows."""
DENIAL_WEIGHT = -4.0
"""What the log-odds of a row gain if it says no to what is asked of every row, as "Lift needed: no" does."""
HEADER_ONLY_WEIGHT = -2.0
"""What they gain if all that is asked are names of its columns, which all rows of its table have as well."""
OTHER_KEY_SHARE = 0.8
"""The share of the probability of a row with a named first cell that others of its table have at most."""
MIN_ALIKE_ROWS = 3
"""How many rows with the same columns a passage then has."""
_DENIALS = frozenset({"no", "false", "nein", "non", "none", "keine", "-", "–", "—", "✗"})
_NEGATION = re.compile(r"\b(?:not?|without|never|kein\w*|nicht|pas|sans)\b|n['’]t\b", re.IGNORECASE)
MAX_MISSING_SHARE, MAX_MISSING_OF_SINGLED_OUT = 0.34, 0.5
"""The share of what is asked that may be missing, a cell that is named counts as one thing; and the same if
two cells are named, or one by its code ("F-08") and the row has the quantity that is asked for, or the row
begins with the day of the question, which has its year."""
NEARLY_NAMED_SHARE = 0.33
"""How much is missing if the only cells that are named are named but for a word, or by the day of a date."""
UNTOLD_SHARE = 0.1
"""How much is missing at least if words of what is told before a question stand nowhere in the row. A row
that is named by a code is complete all the same."""
_CODE = re.compile(r"(?=\S*\d)(?=\S*[^\W\d_])[\w./-]+")
"""A cell that is the code of one thing."""
_ON_DUTY = terms_within("call duty standby oncall Bereitschaft Dienst astreinte guardia")
"""Words for being the one to turn to on a day: the duty phone is with who is on call."""
_SIZE_OF_THING = re.compile(r"\(?(?<!\w)\d[\d.,x×–-]*(?: ?(?:%|°C?|[^\W\d]{1,3}\b))?\)?")
"""What the name of a row says of size: "Rope 60 m" is the rope."""


@dataclass(frozen=True, slots=True)
class _Match:
    """How a row answers to a question: the share of what is asked that is missing, and what it would tell.

    ``told`` are the cells of the columns that the question names; the whole row if it names none.
    ``by_code`` tells whether a code of the question is one of its cells, and ``by_key`` whether its first one
    is what the question names.
    """

    at: int
    missing: float
    told: tuple[str, ...]
    by_code: bool
    by_key: bool


def looked_up(question: str, found: Sequence[Strip]) -> dict[int, float]:
    """What the log-odds of a strip gain since it is the row that holds what the question names.

    Several rows may hold it if they tell the same of the columns that are asked for; then it is the first
    of them. If they tell different things, it is the one whose first cell is what the question names: 65
    points, and not the row in which 65 is the number of another column. If none does, it is the row of the
    code that something shows by the question. Measured on 278 questions that people asked of a table and one
    of its rows answers (FeTaQA), among the rows of that table: one was chosen for 155 of them, the right one
    for 154.

    Args:
        question: the question.
        found: the strips to choose from, of one passage or of several.

    Returns:
        The gain by the index of the strip: for one row, or for none, and for rows that say no or only have
        columns of the names that are asked about.
    """
    asked = CellQuery.of(question)
    gains = dict.fromkeys(_named_by_headers(found, asked), HEADER_ONLY_WEIGHT)
    gains |= {at: DENIAL_WEIGHT for at, strip in enumerate(found) if _denies(strip, question, asked.words)}
    matches = [match for at, strip in enumerate(found) if (match := _match(at, strip, asked)) is not None]
    if not matches:
        return gains | dict.fromkeys(reported_rows(found, question), SINGLED_OUT_WEIGHT)
    least = min(match.missing for match in matches)
    best = [match for match in matches if match.missing == least]
    if len({match.told for match in best}) > 1:
        best = [match for match in best if match.by_key]
        if len({match.told for match in best}) != 1:
            return gains
    weight = INCOMPLETE_WEIGHT if least <= MAX_MISSING_SHARE else SINGLED_OUT_WEIGHT
    is_complete = not least or (best[0].by_code and least <= UNTOLD_SHARE)
    return gains | {best[0].at: COMPLETE_WEIGHT if is_complete else weight}


def with_named_key_first(
    question: str, found: Sequence[Strip], scores: Sequence[float], gains: Mapping[int, float]
) -> list[float]:
    """The probabilities, lowered those of rows of a table of which another row is named by its first cell.

    They are not if their first cell has a word of the question as well.

    Args:
        question: the question.
        found: the strips, of one passage or of several.
        scores: their probabilities.
        gains: what the rows that are looked up gain (:func:`looked_up`).
    """
    asked, most = CellQuery.of(question), dict[tuple[str, tuple[str, ...]], float]()
    for at in (at for at, gain in gains.items() if gain > 0):
        columns, values = zip(*map(named_cell, cells_of(found[at])), strict=True)
        if asked.named_by(columns[0], values[0]):
            most[found[at].passage.document, columns] = OTHER_KEY_SHARE * scores[at]
    lowered = list(scores)
    for at, strip in enumerate(found) if most else ():
        if is_row(strip):
            columns, values = zip(*map(named_cell, cells_of(strip)), strict=True)
            if not terms_within(values[0]) & asked.words:
                lowered[at] = min(scores[at], most.get((strip.passage.document, columns), 1.0))
    return lowered


def raised(p: float, gain: float) -> float:
    """The probability of a row with its gain in log-odds; one that is incomplete is bounded."""
    if not gain:
        return p
    higher = sigmoid(log_odds(p) + gain)
    if gain >= COMPLETE_WEIGHT:
        return max(higher, MIN_COMPLETE)
    return higher if gain < 0 else max(p, min(higher, MAX_INCOMPLETE))


def is_one_of_many(question: str, strip: Strip) -> bool:
    """Whether a strip is a row that the question does not name among all its like.

    It names a row by a word of its first cell, or by the whole of another one: its name after its number. The
    first cell is also named by its quantity in another unit, or a range, and a row by a day that it holds on.
    """
    if not is_row(strip):
        return False
    (column, first), *others = map(named_cell, cells_of(strip))
    query = CellQuery.of(question)
    if query.named_by(column, first) or query.days_of(strip):
        return False
    asked = terms_within(question)
    names = (terms_within(value) for _, value in others if any(map(str.isalpha, value)))
    return not terms_within(first) & asked and not any(name and name <= asked for name in names)


def tells_no_count(question: str, strip: Strip) -> bool:
    """Whether a row is neither named by the whole of a cell, nor has a number in a column that is asked for.

    "How many inspections were made in 2016?" is told by no row of one of them.
    """
    if not is_row(strip):
        return False
    cells, asked = list(map(named_cell, cells_of(strip))), terms_within(question)
    for column, value in cells:
        held = terms_within(value)
        if any(map(str.isalpha, value)) and held and held <= asked:
            return False
        if value[:1].isdigit() and not held <= asked and terms_within(column) <= asked:
            return False
    return True


def is_one_of_several(question: str, strip: Strip, others_found: Sequence[Strip] = ()) -> bool:
    """Whether a row is named by cells that another row has as well, and not by a first one of its own.

    "The last train to Ostheim" names each row of a train that goes there. The other row is one of its
    passage, or one of its document among those that were found.
    """
    if not is_row(strip):
        return False
    told, asked = cells_of(strip), terms_within(question)
    cells = list(map(named_cell, told))
    named = {
        f"{column}: {value}" for column, value in cells if (held := terms_within(value)) and held <= asked
    }
    if not named:
        return False
    near = (row for row in others_found if row.passage.document == strip.passage.document)
    rows = [
        set(cells_of(row))
        for row in (*strips(strip.passage), *near)
        if is_row(row) and row.start != strip.start
    ]
    if terms_within(cells[0][1]) & asked and not any(told[0] in row for row in rows):
        return False
    return any(named <= row for row in rows)


def _denies(strip: Strip, question: str, asked: Set[str]) -> bool:
    """Whether a row that the question does not name says no in a column that it names."""
    if not is_row(strip) or _NEGATION.search(question):
        return False
    cells = list(map(named_cell, cells_of(strip)))
    if any((held := terms_within(value)) and held <= asked for _, value in cells):
        return False
    words = _stems(question)
    return any(
        value.strip().casefold() in _DENIALS and (named := _stems(column)) and named <= words
        for column, value in cells
    )


def _named_by_headers(found: Sequence[Strip], asked: CellQuery) -> Iterator[int]:
    """The places of rows of which a question names columns alone, as do many other rows of their passage.

    A "garage" is no answer to what the garage costs if it is a column of repairs.
    """
    words = asked.words - asked.light
    alike: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for at, strip in enumerate(found) if words else ():
        if is_row(strip):
            columns, values = zip(*map(named_cell, cells_of(strip)), strict=True)
            said = terms_within(f"{' '.join(values)} {headings_above(strip)} {strip.passage.title}")
            if words <= terms_within(" ".join(columns)) and words.isdisjoint(said):
                alike.setdefault((strip.passage.id, columns), []).append(at)
    for rows in alike.values():
        if len(rows) >= MIN_ALIKE_ROWS:
            yield from rows


def _stems(text: str) -> set[str]:
    """All words of a text for comparison, also those that carry no meaning in a question."""
    return {stem(word) for word in WORD_PATTERN.findall(text)}


def _match(at: int, strip: Strip, asked: CellQuery) -> _Match | None:
    """How a strip answers to a question; None if it is no row, or names nothing of it."""
    if not asked.words or not is_row(strip):
        return None
    cells = list(map(named_cell, cells_of(strip)))
    named = [held for column, value in cells if (held := asked.named_by(column, value))]
    if not named and bounds_of(cells[0][1]) is None:
        label = asked.named_by("", _SIZE_OF_THING.sub(" ", cells[0][1]))
        named = [label] if label else []
    if days := asked.days_of(strip) - set[str]().union(*named):
        named.append(days)
    near = [held for _, value in cells if not named and (held := asked.nearly_named_by(value))]
    named += near
    if not named or len(named) == len(cells):
        return None
    held = set[str]().union(*named)
    told = terms_within(f"{strip.text} {headings_above(strip)} {intro_of_table(strip)} {strip.passage.title}")
    told |= set[str]().union(*(asked.within_name_of(column) for column, _ in cells))
    columns = set[str]().union(*(_terms_of_name(column) for column, _ in cells))
    missing = {
        word
        for word in asked.words - told - held - asked.light
        if not any(is_akin(word, column) for column in columns)
    }
    if days and not told.isdisjoint(_ON_DUTY):
        missing -= _ON_DUTY
    how, quantity = asked.how
    tells_quantity = not quantity.isdisjoint(columns)
    missing -= {how} if tells_quantity else set()
    untold = missing & asked.told
    things = len(named) + len(asked.words - held - (asked.light - told) - untold)
    share = (len(missing - untold) + NEARLY_NAMED_SHARE * bool(near)) / things
    share = max(share, UNTOLD_SHARE) if untold else share
    is_coded = tells_quantity and any(
        _CODE.fullmatch(value) and asked.named_by(column, value) for column, value in cells
    )
    is_singled_out = len(named) > 1 or is_coded or _is_of_day(cells[0], held)
    if share > (MAX_MISSING_OF_SINGLED_OUT if is_singled_out else MAX_MISSING_SHARE):
        return None
    said = [value for column, value in cells if _terms_of_name(column) & asked.words and not asked.has(value)]
    by_code = not held.isdisjoint(asked.codes)
    by_key = bool(asked.named_by(*cells[0]))
    return _Match(at, share, tuple(said) or (strip.text,), by_code, by_key)


def _terms_of_name(column: str) -> set[str]:
    """The terms of the name of a column, and those that it abbreviates: cylinders of "cyl"."""
    return terms_within(f"{column} {words_in_full(column)}")


def _is_of_day(first: tuple[str, str], held: Set[str]) -> bool:
    """Whether the first cell of a row is a day, one with its year that is among the words of a question."""
    days = dates_of(first[1])
    return len(days) == 1 and any(map(day_of, days)) and days <= held
