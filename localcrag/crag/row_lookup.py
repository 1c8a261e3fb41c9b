"""Looking a cell up: the row of a table that holds what a question names.

"What does E21 mean?" shares one word with the row "Code: E21 · What to do: change the filter", and to a judge
that reads sentences such a row says little. But no other row has the cell E21, and nothing else is asked
for: that is how people look a cell up. So a row counts for more if one of its cells is named as a whole by
the question, if the rest of what is asked stands in the row, in its column names or above the table, and if
no other row does so as well. A cell is also named by its day in other words ("2 June", 02.06.2025), by its
unit ("kilometres", km), and by a number within its range ("for 20", 18–25; "for three years", 2 to 5 years).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from math import inf

from localcrag.calibration.scale import log_odds, sigmoid
from localcrag.crag.calendar_dates import are_shared, dates_of, without_dates
from localcrag.crag.query_terms import IN_WORDS, WORD_PATTERN, figures_of, is_english, stem, terms
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.strip_context import headings_above
from localcrag.crag.refinement.strip_kinds import cells_of, is_row, named_cell
from localcrag.crag.table_answers.table_conditions import is_akin
from localcrag.crag.table_answers.table_values import respelled
from localcrag.crag.table_answers.table_vocabulary import QUANTITY_WORDS
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
DENIAL_WEIGHT = -4.0
"""What the log-odds of a row gain if it says no to what is asked of every row, as "Lift needed: no" does."""
HEADER_ONLY_WEIGHT = -2.0
"""What they gain if all that is asked are names of its columns, which all rows of its table have as well."""
MIN_ALIKE_ROWS = 3
"""How many rows with the same columns a passage then has."""
_DENIALS = frozenset({"no", "false", "nein", "non", "none", "keine", "-", "–", "—", "✗"})
_NEGATION = re.compile(r"\b(?:not?|without|never|kein\w*|nicht|pas|sans)\b|n['’]t\b", re.IGNORECASE)
MAX_MISSING_SHARE, MAX_MISSING_OF_SINGLED_OUT = 0.34, 0.5
"""The share of what is asked that may be missing, a cell that is named counts as one thing; and the same if
two cells are named, or one by its code ("F-08") and the row has the quantity that is asked for."""
_CODE = re.compile(r"(?=\S*\d)(?=\S*[^\W\d_])[\w./-]+")
"""A cell that is the code of one thing."""
_HOW = re.compile(r"\bhow (long|far|high|tall|heavy|deep|wide|big|large|fast|hot|warm|loud)\b", re.IGNORECASE)
_ABOUT_OF_HOW = {
    "long": "length", "far": "length", "high": "height", "tall": "height", "heavy": "weight", "deep": "depth",
    "wide": "width", "big": "size", "large": "size", "fast": "speed", "hot": "temperature",
    "warm": "temperature", "loud": "sound",
}  # fmt: skip
"""The quantity that a question asks for by "how long" and the like."""
_WORD_JOINER = re.compile(r"[-_/.]")
_LIGHT_TERMS = terms(
    "against between during happen happened into mean means need needed needs onto over through under until "
    "use used within"
)
"""Words between the names in a question that stand in no cell: neither a thing nor what is asked of it."""
_LIGHT_GERMAN_TERMS = terms(
    "am auf aus bei beim bis das dem den der die ein eine einem einen einer eines es für hat hatte hatten im "
    "ist kostet mit nach sind um und viel viele vom von wann war waren was welche welchem welchen welcher "
    "welches wer wie wird wo wurde wurden zu zum zur"
)
"""Such words of a question in German."""
_INDEX = re.compile(r"\d+[-.)] ?(?=[^\W\d])")
"""The number in front of a name in a cell: "33-Snowdon"."""
_SIZE_OF_THING = re.compile(r"\(?(?<!\w)\d[\d.,x×–-]*(?: ?(?:%|°C?|[^\W\d]{1,3}\b))?\)?")
"""What the name of a row says of size: "Rope 60 m" is the rope."""
_RANGE = re.compile(
    r"\D{0,3}(?P<low>\d+(?:[.,]\d+)?) ?(?:–|—|-|to|bis) ?(?P<high>\d+(?:[.,]\d+)?)"
    r"(?:\s?(?P<unit>[^\W\d]{1,12}))?"
)
"""A cell that says from which number to which a row holds: "18–25"."""
_BOUND = re.compile(
    r"(?:(?P<below>up to|at most|under|below|less than|<|≤|bis(?: zu)?|unter|höchstens)"
    r"|(?:more than|over|above|at least|from|>|≥|ab|über|mehr als|mindestens)) ?"
    r"(?P<bound>\d+(?:[.,]\d+)?) ?(?P<unit>[^\W\d]{1,12})?",
    re.IGNORECASE,
)
"""A cell that says up to which number a row holds, or from which on: "More than 5 years"."""
_MEASURE = re.compile(
    rf"(?<![\w.,])(?P<number>\d+(?:[.,]\d+)?|{'|'.join(IN_WORDS)})[ -](?P<unit>[^\W\d]{{1,12}})",
    re.IGNORECASE,
)
"""A number with its unit in a question: "three years"."""


@dataclass(frozen=True, slots=True)
class _Match:
    """How a row answers to a question: the share of what is asked that is missing, and what it would tell.

    ``told`` are the cells of the columns that the question names; the whole row if it names none.
    """

    at: int
    missing: float
    told: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a question asks: its words and dates for comparison, the figures, and the words that are light.

    ``measures`` are its numbers that have a unit, each with the number and the unit as words. ``how`` is the
    word that asks for a quantity, as in "how long", with the names of columns that tell it.
    """

    words: frozenset[str]
    figures: frozenset[str]
    light: frozenset[str]
    measures: tuple[tuple[float, frozenset[str]], ...] = ()
    how: tuple[str, frozenset[str]] = ("", frozenset())

    @staticmethod
    def of(question: str) -> _Asked:
        figures = figures_of(question)
        words = _terms(without_dates(question)) | dates_of(question)
        light = _LIGHT_TERMS if is_english(question) else _LIGHT_TERMS | _LIGHT_GERMAN_TERMS
        how = ("", frozenset[str]())
        if match := _HOW.search(question):
            how = stem(match[1]), QUANTITY_WORDS[_ABOUT_OF_HOW[match[1].lower()]]
        return _Asked(frozenset(words), frozenset(figures), frozenset(light), tuple(_measures(question)), how)

    def has(self, value: str) -> bool:
        """Whether a cell says no more than the question does."""
        dates = dates_of(value)
        others = figures_of(without_dates(value))
        is_same_day = all(are_shared({date}, self.figures) for date in dates)
        return is_same_day and others <= self.figures and _terms(without_dates(value)) <= self.words

    def named_by(self, column: str, value: str) -> set[str]:
        """The words of the question that name a cell as a whole, or lie within its range; none otherwise.

        A number that stands in the name of the column itself names no cell: of pump "HX-65" it is the type.
        """
        bare = _INDEX.sub("", value, count=1)
        if self.has(bare) and not _terms(bare) <= _terms(column):
            same_days = {word for word in self.words & self.figures if are_shared({word}, dates_of(bare))}
            return _terms(without_dates(bare)) | same_days
        return self._within(column, value)

    def within_name_of(self, column: str) -> set[str]:
        """The numbers of the question that lie within the range in a column's name, "Grades 5-7"."""
        between = _RANGE.search(column)
        if between is None or not _terms(column[: between.start("low")]) & self.words:
            return set()
        low, high = float(between["low"].replace(",", ".")), float(between["high"].replace(",", "."))
        return {word for word in self.words if word.isdecimal() and low <= float(word) <= high}

    def _within(self, column: str, value: str) -> set[str]:
        """The numbers of the question, with their units, that lie within the range that a cell names.

        A number is meant if its unit is that of the cell, or if the question names the column.
        """
        bounds = _bounds(value)
        if bounds is None:
            return set()
        low, high, unit = bounds
        found = {
            word
            for number, words in self.measures
            if low <= number <= high and unit in words
            for word in words
        }
        if _RANGE.fullmatch(value) and _terms(column) & self.words:
            found |= {word for word in self.words if word.isdecimal() and low <= float(word) <= high}
        return found


def _measures(question: str) -> Iterator[tuple[float, frozenset[str]]]:
    """The numbers of a question that have a unit, with the words for both."""
    for match in _MEASURE.finditer(question):
        said = match["number"].casefold()
        number = IN_WORDS.get(said, said).replace(",", ".")
        if number[0].isdigit():
            yield float(number), frozenset({stem(said), stem(match["unit"])})


def _bounds(value: str) -> tuple[float, float, str] | None:
    """The numbers from which to which a cell holds, and the term of their unit; None if it says none."""
    if between := _RANGE.fullmatch(value):
        low, high = (float(between[bound].replace(",", ".")) for bound in ("low", "high"))
        return low, high, stem(between["unit"] or "")
    if limit := _BOUND.fullmatch(value):
        bound = float(limit["bound"].replace(",", "."))
        return (
            (-inf, bound, stem(limit["unit"] or ""))
            if limit["below"]
            else (bound, inf, stem(limit["unit"] or ""))
        )
    return None


def looked_up(question: str, found: Sequence[Strip]) -> dict[int, float]:
    """What the log-odds of a strip gain since it is the row that holds what the question names.

    Several rows may hold it if they tell the same of the columns that are asked for; then it is the first
    of them. Measured on 278 questions that people asked of a table and one of its rows answers (FeTaQA),
    among the rows of that table: one was chosen for 155 of them, the right one for 154.

    Args:
        question: the question.
        found: the strips to choose from, of one passage or of several.

    Returns:
        The gain by the index of the strip: for one row, or for none, and for rows that say no or only have
        columns of the names that are asked about.
    """
    asked = _Asked.of(question)
    gains = dict.fromkeys(_named_by_headers(found, asked), HEADER_ONLY_WEIGHT)
    gains |= {at: DENIAL_WEIGHT for at, strip in enumerate(found) if _denies(strip, question, asked.words)}
    matches = [match for at, strip in enumerate(found) if (match := _match(at, strip, asked)) is not None]
    if not matches:
        return gains
    least = min(match.missing for match in matches)
    best = [match for match in matches if match.missing == least]
    if len({match.told for match in best}) > 1:
        return gains
    weight = INCOMPLETE_WEIGHT if least <= MAX_MISSING_SHARE else SINGLED_OUT_WEIGHT
    return gains | {best[0].at: weight if least else COMPLETE_WEIGHT}


def raised(p: float, gain: float) -> float:
    """The probability of a row with its gain in log-odds; one that is incomplete is bounded."""
    if not gain:
        return p
    higher = sigmoid(log_odds(p) + gain)
    return higher if gain >= COMPLETE_WEIGHT or gain < 0 else max(p, min(higher, MAX_INCOMPLETE))


def is_one_of_many(question: str, strip: Strip) -> bool:
    """Whether a strip is a row that the question does not name among all its like.

    It names a row by a word of its first cell, or by the whole of another one: its name after its number.
    """
    if not is_row(strip):
        return False
    (_, first), *others = map(named_cell, cells_of(strip))
    asked = _terms(question)
    names = (_terms(value) for _, value in others if any(map(str.isalpha, value)))
    return not _terms(first) & asked and not any(name and name <= asked for name in names)


def is_one_of_several(question: str, strip: Strip, others_found: Sequence[Strip] = ()) -> bool:
    """Whether a row is named by cells that another row has as well, and not by its first one.

    "The last train to Ostheim" names each row of a train that goes there. The other row is one of its
    passage, or one of its document among those that were found.
    """
    if not is_row(strip):
        return False
    (_, first), *others = map(named_cell, cells_of(strip))
    asked = _terms(question)
    if _terms(first) & asked:
        return False
    named = [f"{column}: {value}" for column, value in others if (held := _terms(value)) and held <= asked]
    near = (row for row in others_found if row.passage.document == strip.passage.document)
    rows = (row for row in (*strips(strip.passage), *near) if is_row(row) and row.start != strip.start)
    return bool(named) and any(set(named) <= set(cells_of(row)) for row in rows)


def _denies(strip: Strip, question: str, asked: Set[str]) -> bool:
    """Whether a row that the question does not name says no in a column that it names."""
    if not is_row(strip) or _NEGATION.search(question):
        return False
    cells = list(map(named_cell, cells_of(strip)))
    if any((held := _terms(value)) and held <= asked for _, value in cells):
        return False
    words = _stems(question)
    return any(
        value.strip().casefold() in _DENIALS and (named := _stems(column)) and named <= words
        for column, value in cells
    )


def _named_by_headers(found: Sequence[Strip], asked: _Asked) -> Iterator[int]:
    """The places of rows of which a question names columns alone, as do many other rows of their passage.

    A "garage" is no answer to what the garage costs if it is a column of repairs.
    """
    words = asked.words - asked.light
    alike: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for at, strip in enumerate(found) if words else ():
        if is_row(strip):
            columns, values = zip(*map(named_cell, cells_of(strip)), strict=True)
            said = _terms(f"{' '.join(values)} {headings_above(strip)} {strip.passage.title}")
            if words <= _terms(" ".join(columns)) and words.isdisjoint(said):
                alike.setdefault((strip.passage.id, columns), []).append(at)
    for rows in alike.values():
        if len(rows) >= MIN_ALIKE_ROWS:
            yield from rows


def _stems(text: str) -> set[str]:
    """All words of a text for comparison, also those that carry no meaning in a question."""
    return {stem(word) for word in WORD_PATTERN.findall(text)}


def _match(at: int, strip: Strip, asked: _Asked) -> _Match | None:
    """How a strip answers to a question; None if it is no row, or names nothing of it."""
    if not asked.words or not is_row(strip):
        return None
    cells = list(map(named_cell, cells_of(strip)))
    named = [held for column, value in cells if (held := asked.named_by(column, value))]
    if not named and _bounds(cells[0][1]) is None:
        label = asked.named_by("", _SIZE_OF_THING.sub(" ", cells[0][1]))
        named = [label] if label else []
    if not named or len(named) == len(cells):
        return None
    held = set[str]().union(*named)
    told = _terms(f"{strip.text} {headings_above(strip)} {strip.passage.title}")
    told |= set[str]().union(*(asked.within_name_of(column) for column, _ in cells))
    columns = set[str]().union(*(_terms(column) for column, _ in cells))
    missing = {
        word
        for word in asked.words - told - held - asked.light
        if not any(is_akin(word, column) for column in columns)
    }
    how, quantity = asked.how
    tells_quantity = not quantity.isdisjoint(columns)
    missing -= {how} if tells_quantity else set()
    things = len(named) + len(asked.words - held - (asked.light - told))
    share = len(missing) / things
    is_coded = tells_quantity and any(
        _CODE.fullmatch(value) and asked.named_by(column, value) for column, value in cells
    )
    if share > (MAX_MISSING_OF_SINGLED_OUT if len(named) > 1 or is_coded else MAX_MISSING_SHARE):
        return None
    said = [value for column, value in cells if _terms(column) & asked.words and not asked.has(value)]
    return _Match(at, share, tuple(said) or (strip.text,))


def _terms(text: str) -> set[str]:
    """The terms of a text, those within joined words ("north_marsh", "bird-counts") as well."""
    text = respelled(text)
    return terms(text) | terms(_WORD_JOINER.sub(" ", text))
