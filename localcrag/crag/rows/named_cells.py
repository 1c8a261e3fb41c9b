"""Which cells of a row a question names: as a whole, by a day or a quantity, or within a range."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

from localcrag.crag.questions.calendar_dates import (
    MONTHS,
    WEEKDAYS,
    are_shared,
    dates_of,
    day_of,
    month_of,
    readings_of,
    without_days,
)
from localcrag.crag.questions.codes import codes_of
from localcrag.crag.questions.quarters import with_quarters_apart
from localcrag.crag.questions.query_terms import (
    IN_WORDS,
    WORD_PATTERN,
    figures_asked,
    figures_of,
    is_english,
    stem,
    terms,
    terms_asked_for,
)
from localcrag.crag.questions.told_stories import told_around
from localcrag.crag.refinement.calendar_spans import holds_on, months_in, months_of_row, weekdays_in
from localcrag.crag.refinement.readable_names import ABBREVIATION_BORDER, CAPITAL_BORDER
from localcrag.crag.refinement.strip_kinds import cells_of, named_cell
from localcrag.crag.table_answers.table_values import respelled
from localcrag.crag.table_answers.table_vocabulary import QUANTITY_WORDS
from localcrag.crag.table_answers.unit_scales import Quantity, quantities_of
from localcrag.types import Strip

_HOW = re.compile(r"\bhow (long|far|high|tall|heavy|deep|wide|big|large|fast|hot|warm|loud)\b", re.IGNORECASE)
_ABOUT_OF_HOW = {
    "long": "length", "far": "length", "high": "height", "tall": "height", "heavy": "weight", "deep": "depth",
    "wide": "width", "big": "size", "large": "size", "fast": "speed", "hot": "temperature",
    "warm": "temperature", "loud": "sound",
}  # fmt: skip
"""The quantity that a question asks for by "how long" and the like."""
MAX_SHORT_NAME = 2
"""The length of names of days that are words of other meanings in a sentence: "so", "do"."""
_OTHER_WORDS = frozenset({"may", "march", "mar", "sat", "sun", "wed", "mars", "di", "mi"})
"""Names of days and months that are other words if they are written in lower case."""
MIN_NEARLY_NAMED_TERMS = 4
"""The fewest words of a cell that is named if one of them is missing: "V-belt for drive Rasant 46"."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_WORD_JOINER = re.compile(r"[-_/.]")
_NAME_JOINER = re.compile(rf"{_WORD_JOINER.pattern}|{CAPITAL_BORDER}|{ABBREVIATION_BORDER}")
_LIGHT_TERMS = terms(
    "against anybody between during happen happened into keep kept mean means need needed needs "
    "nobody onto over through under until use used within list listed row table"
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
MIN_INITIALS, MAX_INITIALS = 2, 4
"""The letters of an abbreviation in the name of a column."""
_ABBREVIATION = re.compile(rf"(?<![A-Z])[A-Z]{{{MIN_INITIALS},{MAX_INITIALS}}}(?=[A-Z][a-z]|[_ ]|$)")
"""An abbreviation in front of a word of a column's name, or at its end: "OCAuthorities", "mean TD"."""
_UNIT_OF_COLUMN = re.compile(r"(?:[(\[]|\bin |[_ ])([^\W\d_]{1,6})[)\]]?$")
"""The unit at the end of the name of a column: "Load (W)", "load_kw"."""
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
_BOUND_BEHIND = re.compile(
    r"(?P<bound>\d+(?:[.,]\d+)?) ?(?P<unit>[^\W\d]{1,12}?)?"
    r"(?:\+| (?:or|and|oder|und) (?:(?P<below>less|fewer|under|below|younger|weniger|darunter)"
    r"|more|over|above|older|mehr|darüber))",
    re.IGNORECASE,
)
"""The same with what it says behind the number: "150 kg or more"."""
_COSTS = terms("price cost fee fare charge")
"""Words that ask what something costs."""
_MEASURE = re.compile(
    rf"(?<![\w.,])(?P<number>\d+(?:[.,]\d+)?|{'|'.join(IN_WORDS)})[ -](?P<unit>[^\W\d]{{1,12}})",
    re.IGNORECASE,
)
"""A number with its unit in a question: "three years"."""


@dataclass(frozen=True, slots=True)
class CellQuery:
    """What a question says that may name cells: its words and dates for comparison, and its figures.

    ``light`` are words that are no matter if they are missing. ``measures`` are its numbers that have a unit,
    each with the number and the unit as words, and ``quantities`` those whose unit is known. ``told`` are
    words of what is told before the question is asked, and ``codes`` its codes. ``how`` is the word that asks
    for a quantity, as in "how long", with the names of columns that tell it. ``weekdays`` and
    ``months`` are those it names, each with the words for it, and ``dated`` the days of the week and the
    months of its dates. ``initials`` are those of its words that follow one another, each with their terms.
    """

    words: frozenset[str]
    figures: frozenset[str]
    light: frozenset[str]
    measures: tuple[tuple[float, frozenset[str]], ...] = ()
    how: tuple[str, frozenset[str]] = ("", frozenset())
    quantities: tuple[tuple[Quantity, frozenset[str]], ...] = ()
    weekdays: dict[int, set[str]] = field(default_factory=dict)
    months: dict[int, set[str]] = field(default_factory=dict)
    dated: tuple[dict[int, set[str]], dict[int, set[str]]] = field(default_factory=lambda: ({}, {}))
    told: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    initials: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @staticmethod
    def of(question: str) -> CellQuery:
        """What a question says."""
        undated = without_days(question)
        dates = dates_of(question)
        written = {question[start:end] for start, end, days in readings_of(question) if len(days) > 1}
        light = _LIGHT_TERMS if is_english(question) else _LIGHT_TERMS | _LIGHT_GERMAN_TERMS
        how = ("", frozenset[str]())
        if match := _HOW.search(question):
            how = stem(match[1]), QUANTITY_WORDS[_ABOUT_OF_HOW[match[1].lower()]]
        return CellQuery(
            frozenset(terms_within(undated) | dates | written),
            frozenset(figures_asked(question)),
            frozenset(light),
            tuple(_measures(question)),
            how,
            tuple(_quantities(question)),
            _by_number(_named_in(undated, WEEKDAYS)),
            _by_number(_named_in(undated, MONTHS)),
            (
                _by_number((day.isoweekday(), date) for date in dates if (day := day_of(date))),
                _by_number((int(date[-5:-3]), date) for date in dates),
            ),
            frozenset(_told(undated)),
            frozenset(terms(" ".join(codes_of(question)))),
            _initials(question),
        )

    def has(self, value: str) -> bool:
        """Whether a cell says no more than the question does."""
        is_same = all(are_shared({each}, self.figures) for each in figures_of(value))
        return is_same and terms_within(without_days(value)) <= self.words

    def named_by(self, column: str, value: str) -> set[str]:
        """The words of the question that name a cell as a whole, or lie within its range; none otherwise.

        A number that stands in the name of the column itself names no cell: of pump "HX-65" it is the type.
        """
        bare = _INDEX.sub("", value, count=1)
        if self.has(bare) and not terms_within(bare) <= terms_within(column):
            figures = figures_of(bare)
            same_days = {word for word in self.words & self.figures if are_shared({word}, figures)}
            return terms_within(without_days(bare)) | same_days
        return self._within(column, value)

    def nearly_named_by(self, value: str) -> set[str]:
        """The words of the question that name a cell of many words but for one; none otherwise.

        A date of the question nearly names a cell with its day of the week or its month.
        """
        weekdays, months = self.dated
        found = {word for number in weekdays_in(value) for word in weekdays.get(number, ())}
        found |= {word for number in months_in(value) for word in months.get(number, ())}
        parts = terms(_WORD_JOINER.sub(" ", respelled(value)))
        missing = parts - self.words
        is_long = len(parts) >= MIN_NEARLY_NAMED_TERMS
        if is_long and len(missing) == 1 and not any(map(str.isdigit, "".join(missing))):
            found |= parts & self.words
        return found

    def days_of(self, row: Strip) -> set[str]:
        """The dates of the question on which a row holds, by its span of days or its calendar week.

        Of a row that stands for a month it is the words for that month.
        """
        days = {day for day in self.words & self.figures if holds_on(row, (day,))}
        return days.union(*map(self._month_words, months_of_row(row) & self.figures))

    def within_name_of(self, column: str) -> set[str]:
        """The words of the question that a column's name has in another form.

        They are numbers within its range, "Grades 5-7", and words that it abbreviates: "original
        classification" of "OCAuthorities".
        """
        found = self._within_range_of(column)
        for short in _ABBREVIATION.finditer(column):
            if long := self.initials.get(short[0]):
                found |= long | (terms(column[short.end() :]) & self.words)
        return found

    def _within_range_of(self, column: str) -> set[str]:
        """The numbers of the question that lie within the range in a column's name."""
        between = _RANGE.search(column)
        if between is None or not terms_within(column[: between.start("low")]) & self.words:
            return set()
        low, high = float(between["low"].replace(",", ".")), float(between["high"].replace(",", "."))
        return {word for word in self.words if word.isdecimal() and low <= float(word) <= high}

    def _month_words(self, month: str) -> set[str]:
        """The words of the question for a month of a year, which it may name without the year."""
        words = self.months.get(int(month[5:]), set()) if month else set()
        if month in self.figures:
            return words | ({month[:4]} & self.words)
        return set() if any(map(_YEAR.fullmatch, self.words)) else words

    def _within(self, column: str, value: str) -> set[str]:
        """The words of the question for what lies within the range that a cell names, or is its quantity.

        A number is meant if its unit is that of the cell, or if the question names the column.
        """
        found = {word for number in weekdays_in(value) for word in self.weekdays.get(number, ())}
        found |= {word for number in months_in(value) for word in self.months.get(number, ())}
        found |= self._month_words(month_of(value))
        if self.quantities and (own := _own_quantity(column, value)):
            found |= {word for quantity, words in self.quantities if quantity == own for word in words}
        bounds = bounds_of(value)
        if bounds is None:
            return found
        low, high, unit = bounds
        found |= {
            word
            for number, words in self.measures
            if low <= number <= high and unit in words
            for word in words
        }
        found |= {
            word for quantity, words in self.quantities if _is_between(quantity, bounds) for word in words
        }
        if _RANGE.fullmatch(value) and terms_within(column) & self.words:
            found |= {word for word in self.words if word.isdecimal() and low <= float(word) <= high}
        return found


def _initials(question: str) -> dict[str, frozenset[str]]:
    """The initials of words of a question that follow one another, in capitals, with the terms of these."""
    words = WORD_PATTERN.findall(question)
    runs = (
        words[at : at + count]
        for count in range(MIN_INITIALS, MAX_INITIALS + 1)
        for at in range(len(words) - count + 1)
    )
    return {
        "".join(word[0].upper() for word in run): frozenset(terms(" ".join(run)))
        for run in runs
        if all(word[0].isalpha() for word in run)
    }


def _told(question: str) -> set[str]:
    """The terms of what is told around a question that are not in what it asks."""
    story = told_around(question)
    asked = question.removeprefix(story) if question.startswith(story) else ""
    return terms_within(story) - terms_within(asked)


def _named_in(text: str, numbers: Mapping[str, int]) -> Iterator[tuple[int, str]]:
    """The days of the week or the months in a text by their numbers, with the word for each."""
    for word in WORD_PATTERN.findall(text):
        low = word.lower()
        name = low if low in numbers else low.removesuffix("s")
        if len(name) > MAX_SHORT_NAME and name in numbers and (low not in _OTHER_WORDS or word[0].isupper()):
            yield numbers[name], stem(word)


def _by_number(pairs: Iterable[tuple[int, str]]) -> dict[int, set[str]]:
    """The words by their number."""
    found = defaultdict[int, set[str]](set)
    for number, word in pairs:
        found[number].add(word)
    return found


def _quantities(question: str) -> Iterator[tuple[Quantity, frozenset[str]]]:
    """The quantities of a question, with the words for each."""
    for (start, end), quantity in quantities_of(question).items():
        yield quantity, frozenset(terms_within(question[start:end]))


def own_quantities(row: Strip) -> set[Quantity]:
    """The quantities that cells of a row consist of."""
    cells = (_own_quantity(*named_cell(cell)) for cell in cells_of(row))
    return {quantity for quantity in cells if quantity}


def _own_quantity(column: str, value: str) -> Quantity | None:
    """The quantity that a cell consists of, its unit in the cell or in its column's name; None if none."""
    unit = _UNIT_OF_COLUMN.search(column)
    text = f"{value.strip()} {unit[1]}" if unit and value.strip()[-1:].isdigit() else value.strip()
    return quantities_of(text).get((0, len(text)))


def _is_between(quantity: Quantity, bounds: tuple[float, float, str]) -> bool:
    """Whether a quantity lies between bounds in another unit of its kind."""
    low, high, unit = bounds
    per_unit = quantities_of(f"1 {unit}").values()
    return any(kind == quantity[0] and low <= quantity[1] / step <= high for kind, step in per_unit)


def _measures(question: str) -> Iterator[tuple[float, frozenset[str]]]:
    """The numbers of a question that have a unit, with the words for both."""
    for match in _MEASURE.finditer(question):
        said = match["number"].casefold()
        number = IN_WORDS.get(said, said).replace(",", ".")
        if number[0].isdigit():
            yield float(number), frozenset({stem(said), stem(match["unit"])})


def bounds_of(value: str) -> tuple[float, float, str] | None:
    """The numbers from which to which a cell holds, and the term of their unit; None if it says none."""
    if between := _RANGE.fullmatch(value):
        low, high = (float(between[bound].replace(",", ".")) for bound in ("low", "high"))
        return low, high, stem(between["unit"] or "")
    if limit := _BOUND.fullmatch(value) or _BOUND_BEHIND.fullmatch(value):
        bound = float(limit["bound"].replace(",", "."))
        return (
            (-inf, bound, stem(limit["unit"] or ""))
            if limit["below"]
            else (bound, inf, stem(limit["unit"] or ""))
        )
    return None


def terms_within(text: str) -> set[str]:
    """The terms of a text, those within joined words ("north_marsh", "MeltingPoint") as well."""
    text = with_quarters_apart(respelled(text))
    return terms(text) | terms(_NAME_JOINER.sub(" ", text))


def column_terms_asked(question: str) -> set[str]:
    """The terms of a question that may name a column; if it asks for a price, all words for one.

    "Men" is the word that a column `men_employed` has, which is read as "man".
    """
    asked = terms_asked_for(question)
    asked |= terms_within(" ".join(asked))
    return asked | QUANTITY_WORDS["price"] if asked & _COSTS else asked
