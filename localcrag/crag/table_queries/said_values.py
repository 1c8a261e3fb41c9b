"""What a question says that may stand in the cells of a table: cells, words of them, numbers and days.

The language model may compare a column with nothing else, so that no value is made up.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from localcrag.crag.questions.calendar_dates import MONTHS
from localcrag.crag.questions.quarters import quarters_of
from localcrag.crag.questions.query_terms import STOP_WORDS
from localcrag.crag.questions.word_runs import WordPlaces, longest_run, places_of
from localcrag.crag.table_answers.table_values import WORD, root, roots
from localcrag.crag.table_queries.coded_places import places_said
from localcrag.crag.table_queries.derived_words import cells_of_word
from localcrag.crag.table_queries.query_table import QueryColumn, QueryTable
from localcrag.crag.table_queries.table_query import literal, quoted

MAX_PER_COLUMN = 4
"""The most cells of a column that a question may say."""
MAX_PARTS = 2
"""The most words or runs of words of longer cells that a question may say, of one column."""
_OF_AMOUNT = frozenset(("most", "least", "fewest"))
"""Words that ask which has the greatest or the smallest number."""
MAX_SMALL_FIGURES = 2
ALWAYS_SAID = ("0", "1")
"""Numbers that need not be said: "free", "without a single slip", and the marks of yes and no."""
HALF_OF_HUNDRED = "50"
"""What "half" is in a column of per cent."""
_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
_NUMBER_WORDS = {word: number for number, word in enumerate(_SMALL.split())} | {
    "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
    "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100, "thousand": 1000,
    "million": 1_000_000, "dozen": 12, "half": 0.5, "once": 1, "twice": 2,
}  # fmt: skip
_FACTORS = {
    "hundred": 100,
    "thousand": 1000,
    "million": 1_000_000,
    "billion": 1_000_000_000,
    "k": 1000,
    "m": 1_000_000,
}
_NUMBER = re.compile(r"(?<![\w.,])-?\d+(?:,\d{3})*(?:\.\d+)?(?:(?=\D|$))", re.ASCII)
_SMALLER_UNITS = {
    "hour": 60,
    "hours": 60,
    "hrs": 60,
    "ton": 1000,
    "tons": 1000,
    "tonnes": 1000,
    "tonne": 1000,
    "kilometres": 1000,
    "kilometers": 1000,
}
"""How many of a smaller unit that a column may be in are one of a unit that a question says."""
_FACTOR_BEHIND = re.compile(r"\s?(hundred|thousand|million|billion|[km])\b", re.IGNORECASE)
_RANGE = re.compile(r"\b(\d+) (?:and|to|until|till|through) (\d+)\b")
"""A range in words, which a cell has with a dash: "between 1911 and 1920", "from 5 to 10"."""
_YEAR = re.compile(r"(?<![\d.,-])(1[5-9]\d\d|20\d\d)s?(?![\d-])")
_MONTH_NAME = "|".join(sorted((name for name in MONTHS if len(name) > 2), key=len, reverse=True))
_DAY = re.compile(
    rf"\b(?:(?P<d1>\d{{1,2}})(?:st|nd|rd|th)?\.? (?:of )?)?(?P<month>{_MONTH_NAME})\b\.?"
    r"(?:(?: the)? (?P<d2>\d{1,2})(?:st|nd|rd|th)?(?!\d))?(?:,? (?P<year>\d{4}))?",
    re.IGNORECASE,
)
_MONTH_COLUMNS = frozenset(map(root, ("month", "mon", "mth", "mo", "mm")))
_MONTH_NUMBERS = frozenset(map(Decimal, range(1, 13)))
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d\d)(?:-(\d\d))?(?!\d)")
_DOTTED = re.compile(r"(?<!\d)(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)")
_POSSESSIVE = re.compile(r"['’]s$")
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d)(?![\d:])")
_HOUR = re.compile(r"(?<![\d:])(\d{1,2})(?::(\d\d))?\s?(am|pm|o'clock)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SaidValues:
    """What a question says of a table.

    ``cells`` are whole cells by their column, ``parts`` words that stand in longer cells of a column.
    ``numbers`` are plain numbers, ``days`` what dates may be compared with, ``periods`` what they may have in
    them ("2020", "2020-03", "-03-"), ``times`` times of day.
    """

    cells: dict[str, tuple[str, ...]]
    parts: dict[str, tuple[str, ...]]
    numbers: tuple[str, ...]
    days: tuple[str, ...]
    periods: tuple[str, ...]
    times: tuple[str, ...]

    def by_column(self) -> Iterator[tuple[str, str]]:
        """Each column of which cells are said, with these as conditions of a query."""
        for column in dict.fromkeys((*self.cells, *self.parts)):
            said = [f"= {literal(cell)}" for cell in self.cells.get(column, ())]
            said += [f"LIKE {literal(part)}" for part in self.parts.get(column, ())]
            yield column, f"{quoted(column)} {', '.join(said)}"


def said_values(question: str, table: QueryTable) -> SaidValues:
    """What a question says of a table."""
    plain = _RANGE.sub(r"\1-\2", question)
    found = [(match[0], root(match[0])) for match in WORD.finditer(plain)]
    quarters = quarters_of(question)
    cells: dict[str, tuple[str, ...]] = {}
    parts: dict[str, tuple[str, ...]] = {}
    for name, column in table.columns.items():
        if column.is_ordered:
            continue
        whole, within = _said_of(column, [word for word, _ in found], [each for _, each in found])
        if quarters:
            whole += tuple(
                cell for cell in column.distinct if cell not in whole and quarters & quarters_of(cell)
            )
        if whole:
            cells[name] = whole
        if within:
            parts[name] = within
    days, periods = _days(question)
    numbers = [*_numbers(question, _largest(table))]
    if any(map(_has_months, table.columns.values())):
        numbers += _months(question)
    return SaidValues(
        cells, parts, tuple(dict.fromkeys(numbers)), tuple(days), tuple(periods), tuple(_times(question))
    )


def _has_months(column: QueryColumn) -> bool:
    """Whether a column holds the numbers of months, and is named after them."""
    values = {value for value in column.typed.values if value is not None}
    is_named = not _MONTH_COLUMNS.isdisjoint(roots(column.name))
    return is_named and column.is_number and bool(values) and values <= _MONTH_NUMBERS


def _months(question: str) -> Iterator[str]:
    """The numbers of the months that a question names: 11 of "November"."""
    for match in _DAY.finditer(question):
        if not _is_common_word(match["month"]):
            yield str(MONTHS[match["month"].lower()])


def _said_of(
    column: QueryColumn, words: Sequence[str], said: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The cells of a column that a question says, longest first, and the words of longer cells."""
    whole: list[tuple[int, int, str]] = []
    runs: dict[tuple[int, int], int] = {}
    places = places_of(said)
    for cell, own in column.roots.items():
        if not own or not any(each in places for each in own):
            continue
        start = _run_at(said, places, own)
        if start is not None and not _is_empty(words[start : start + len(own)]):
            whole.append((-len(own), start, cell))
            continue
        for first, length in _shared_runs(said, places, own):
            if not _is_empty(words[first : first + length]):
                runs[first, length] = runs.get((first, length), 0) + 1
    named, spelled = {*roots(column.name)}, {start for minus, start, _ in whole if minus == -1}
    for at, word in enumerate(words):
        if at in spelled:
            continue  # "Caen" is no other name with an ending
        if not named.isdisjoint(said[at + 1 : at + 2]):
            continue  # "Mexican states" are all of them, and not the state of Mexico
        whole += [(-1, at, cell) for cell in cells_of_word(word, column.distinct)]
    whole += [(-length, at, cell) for at, length, cell in places_said(words, column.distinct)]
    whole.sort()
    kept: list[tuple[int, int, str]] = []
    for minus, start, cell in whole:
        is_within = any(
            begin <= start and start - minus <= begin - other for other, begin, _ in kept if other < minus
        )
        if not is_within:
            kept.append((minus, start, cell))
    taken = {at for minus, start, _ in kept for at in range(start, start - minus)}
    free = sorted(runs, key=lambda run: (-run[1], runs[run], run[0]))
    shown: list[tuple[int, int]] = []
    for first, length in free:
        span = set(range(first, first + length))
        if not span <= taken and not any(span <= set(range(b, b + n)) for b, n in shown):
            shown.append((first, length))
    shown = [run for run in shown if not _is_small_number(words[run[0] : run[0] + run[1]])]
    texts = [_plain(words[first : first + length]) for first, length in sorted(shown[:MAX_PARTS])]
    ordered = sorted(kept[:MAX_PER_COLUMN], key=lambda each: each[1])
    return tuple(cell for _, _, cell in ordered), tuple(dict.fromkeys(texts))


def _plain(words: Sequence[str]) -> str:
    """Words as they may stand in a cell, without the "'s" of the last one."""
    return _POSSESSIVE.sub("", " ".join(words))


def _is_empty(words: Sequence[str]) -> bool:
    """Whether words say nothing: all are stop words ("US" in capitals is none), or single small letters.

    So are those that ask for the most or the least, unless they have a capital: Most is a town.
    """
    return all(
        word in _OF_AMOUNT
        or (word.lower() in STOP_WORDS and not (word.isupper() and len(word) > 1))
        or (len(word) == 1 and word.islower() and word != "x")
        for word in words
    )


def _is_small_number(words: Sequence[str]) -> bool:
    """Whether words are a number alone, of two figures at most, which says little of a longer cell."""
    return len(words) == 1 and words[0].isdigit() and len(words[0]) <= MAX_SMALL_FIGURES


def _run_at(said: Sequence[str], places: WordPlaces, own: Sequence[str]) -> int | None:
    """Where all words of a cell stand one after the other, if they do."""
    for start in places.get(own[0], ()):
        if tuple(said[start : start + len(own)]) == tuple(own):
            return start
    return None


def _shared_runs(said: Sequence[str], places: WordPlaces, own: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The longest runs of words that a question and a cell share: where each begins, and its length."""
    at = 0
    while at < len(own):
        best = longest_run(said, places, own, at)
        if best[0]:
            yield best[1], best[0]
        at += max(1, best[0])


def _largest(table: QueryTable) -> Decimal:
    """The largest number of the columns of a table that do not say to be in thousands or millions."""
    numbers = [column for column in table.columns.values() if column.is_number]
    full = [column for column in numbers if _FACTORS.keys().isdisjoint(WORD.findall(column.name.lower()))]
    values = [value for column in full for value in column.typed.values if isinstance(value, Decimal)]
    return max(map(abs, values), default=Decimal(0))


def _numbers(question: str, largest: Decimal) -> Iterator[str]:
    """The numbers of a question, in figures and words, as plain numbers, each once.

    "50 million" is no 50 where ``largest``, the largest number of the table, is as much.
    """
    found: list[str] = []
    for match in _NUMBER.finditer(question):
        plain = match[0].replace(",", "")
        factor = _FACTOR_BEHIND.match(question, match.end())
        value = float(plain) * _FACTORS[factor[1].lower()] if factor else 0.0
        if not factor or value > largest:
            found.append(plain)
        if factor:
            found.append(f"{value:.0f}" if value == int(value) else f"{value}")
    words = [word.lower() for word in WORD.findall(question)]
    for at, word in enumerate(words):
        if word in _SMALLER_UNITS and at:
            before = words[at - 1]
            count = 1 if before in ("an", "a") else _NUMBER_WORDS.get(before, 0)
            if before in ("an", "a") and words[max(0, at - 2)] == "half":
                count = 0.5
            count = int(before) if before.isdigit() else count
            if count:
                found.append(f"{count * _SMALLER_UNITS[word]:g}")
        if word in _NUMBER_WORDS:
            value = _NUMBER_WORDS[word]
            found.append(str(value))
            if word == "half":
                found.append(HALF_OF_HUNDRED)
            following = next((each for each in words[at + 1 :] if each not in ("a", "of")), "")
            if following in _FACTORS and len(following) > 1:
                found.append(f"{value * _FACTORS[following]:.0f}")
            elif value in range(20, 100, 10) and 0 < _NUMBER_WORDS.get(following, 0) < 10:
                found.append(str(value + _NUMBER_WORDS[following]))
        elif re.fullmatch(r"\d+[km]", word):
            found.append(str(int(word[:-1]) * _FACTORS[word[-1]]))
    yield from dict.fromkeys((*found, *ALWAYS_SAID))


def _days(question: str) -> tuple[list[str], list[str]]:
    """What dates may be compared with, and what they may have in them."""
    days: list[str] = []
    periods: list[str] = []

    def add(year: int | None, month: int | None = None, day: int | None = None) -> None:
        if year and month and day:
            days.append(f"{year:04}-{month:02}-{day:02}")
            periods.append(days[-1])
        elif year and month:
            last = calendar.monthrange(year, month)[1]
            after = (year + month // 12, month % 12 + 1)
            days.extend(
                (
                    f"{year:04}-{month:02}-01",
                    f"{year:04}-{month:02}-{last:02}",
                    f"{after[0]:04}-{after[1]:02}-01",
                )
            )
            periods.append(f"{year:04}-{month:02}")
        elif year:
            days.extend((f"{year:04}-01-01", f"{year:04}-12-31", f"{year + 1:04}-01-01"))
            periods.append(f"{year:04}")
        elif month and day:
            periods.append(f"-{month:02}-{day:02}")
        elif month:
            periods.append(f"-{month:02}-")

    years = [int(match[1]) for match in _YEAR.finditer(question)]
    for match in _ISO.finditer(question):
        if 1 <= int(match[2]) <= 12:
            add(int(match[1]), int(match[2]), int(match[3]) if match[3] else None)
    for match in _DOTTED.finditer(question):
        if 1 <= int(match[2]) <= 12 and 1 <= int(match[1]) <= 31:
            add(int(match[3]), int(match[2]), int(match[1]))
    for match in _DAY.finditer(question):
        number = MONTHS[match["month"].lower()]
        day = int(match["d1"] or match["d2"] or 0)
        if day > 31 or _is_common_word(match["month"]):
            continue
        add(int(match["year"]) if match["year"] else None, number, day or None)
        if not match["year"]:
            for year in years:
                add(year, number, day or None)
    for year in years:
        add(year)
    return list(dict.fromkeys(days)), list(dict.fromkeys(periods))


def _is_common_word(month: str) -> bool:
    """Whether the name of a month may be another word, as it is written."""
    return month in ("may", "mar", "sep", "dec", "jan")


def _times(question: str) -> Iterator[str]:
    """The times of day of a question, in 24 hours."""
    found = [f"{int(match[1]):02}:{match[2]}" for match in _TIME.finditer(question)]
    for match in _HOUR.finditer(question):
        hour = int(match[1]) % 12 if match[3].lower() in ("am", "pm") else int(match[1])
        hour += 12 if match[3].lower() == "pm" else 0
        if hour < 24:
            found.append(f"{hour:02}:{match[2] or '00'}")
    lowered = question.lower()
    found += [time for word, time in (("noon", "12:00"), ("midnight", "00:00")) if word in lowered]
    yield from dict.fromkeys(found)
