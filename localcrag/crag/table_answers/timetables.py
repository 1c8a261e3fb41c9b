"""When to leave, by a timetable: a table with a column of times for each stop, and a row for each trip.

"I have to be at Tarnow central before seven on a Monday, when do I get on at Fernhollow school?" joins a
direction, in which one stop stands before the other, the day of the week, a bound on the time at one stop and
the time at the other. Names of stops may be shortened if only one is meant, and what else a question tells is
not held against the table, so that its answer is one to be checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import time
from decimal import Decimal
from itertools import pairwise

from localcrag.crag.questions.calendar_dates import MONTHS, WEEKDAYS
from localcrag.crag.questions.query_terms import IN_WORDS
from localcrag.crag.refinement.calendar_spans import weekdays_in
from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.crag.table_answers.table_columns import RowCondition, content
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.table_values import (
    WORD,
    ColumnKind,
    ColumnValues,
    column_values,
    root,
    roots,
    word_list,
)
from localcrag.types import Aggregate

MIN_STOPS, MIN_TRIPS = 2, 2
"""The fewest stops and trips of a timetable."""
_NIGHT_ENDS = 4 * 60
"""Minutes after midnight up to which a trip may be one of the evening before."""
_VEHICLE = (
    r"(?:bus|coach|train|tram|ferry|boat|shuttle|connection|trip|flight|metro|underground|service)(?:es|s)?"
)
_FIRST_OR_LAST = re.compile(
    rf"\b(?P<which>first|earliest|next|last|latest)(?: [\w-]+)?? {_VEHICLE}"
    r"(?=\W*$| (?:to|from|home|back|on|in|at|of|out|for|that|which|i|we|you|before|after|between|there"
    r"|tonight|leav\w*|go(?:es|ing)?|depart\w*|runs?|running|stops?)\b)",
    re.IGNORECASE,
)
"""How a question asks for the first or the last trip, and for nothing else of it: no "last bus strike"."""
_WHEN_TO_GO = re.compile(
    r"\b(?:when|what time|which \w+)\b(?=.*\b(?:get on|board|leave|depart|catch|take|go|start|set off"
    r"|get (?:the|a))\b)|\bwhich (?:bus|train|tram|ferry|coach|boat)\b",
    re.IGNORECASE | re.DOTALL,
)
_BOUND = re.compile(
    rf"\b(?P<sign>before|by|no later than|until|after|from)\b (?:about |around )?"
    rf"(?P<hour>\d{{1,2}}|noon|midday|{'|'.join(IN_WORDS)})(?:[:.](?P<minute>\d\d))?(?![\w:])"
    r"(?: ?o['’]clock)?(?: ?(?P<half>[ap])\.?m\b)?(?! (?:minutes?|stops?|days?|euros?|may|june|july))",
    re.IGNORECASE,
)
_LATE = re.compile(r"\b(?:evening|night|afternoon|tonight)\b", re.IGNORECASE)
_TO = re.compile(
    r"(?:\b(?:to|into|towards?|reach|(?:be|arrive|arriving|being|get|getting|there) (?:at|in))|[→>])"
    r"(?: the)?\W*$",
    re.IGNORECASE,
)
_NEGATION = re.compile(r"\b(?:not|never|without|except|or)\b|n['’]t\b", re.IGNORECASE)
_WORKDAYS, _WEEKEND = frozenset(range(1, 6)), frozenset((6, 7))
_PARENTHESIS = re.compile(r"\(([^()]*)\)")
_NAMES = frozenset(word_list("i i'm i'd i've i'll"))


@dataclass(frozen=True, slots=True)
class TripQuestion:
    """A question for a trip by a timetable.

    ``days`` are the days of the week that it names, ``sign`` and ``bound`` its bound on the time in minutes,
    "<" or ">", or "" if it has none, and ``which`` is "first" or "last" if it asks for such a trip, or "".
    """

    text: str
    days: frozenset[int]
    sign: str
    bound: int
    which: str

    def matches(self, tables: Sequence[ParsedTable]) -> Iterator[TableMatch]:
        """How the timetables among the tables of a document answer."""
        for table in tables:
            if (match := self._match(table)) is not None:
                yield match

    def _match(self, table: ParsedTable) -> TableMatch | None:
        stops = _stops(table)
        trips = tuple(row for row in table.rows if any(row.cells.get(stop) for stop in stops))
        table = replace(table, rows=trips)
        named = _named_stops(self.text, stops, table)
        if named is None or (direction := self._direction(stops, named)) is None:
            return None
        origin, destination = direction
        minutes = {stop: _minutes(table, stop) for stop in direction if stop}
        conditions = [] if not destination else [_served(table, destination, minutes[destination])]
        if (days := self._on_days(table, stops)) is None:
            return None
        conditions += days
        latest = self.which == "last" or (self.sign == "<" and self.which != "first")
        if self.sign:
            at = destination if self.sign == "<" and destination else origin
            fitting = [
                row
                for row, value in enumerate(minutes[at])
                if value is not None and (value <= self.bound if self.sign == "<" else value >= self.bound)
            ]
            shown = f"{self.bound // 60:02}:{self.bound % 60:02}"
            words = f"{table.header(at)} {'by' if self.sign == '<' else 'from'} {shown}"
            conditions.append(RowCondition(at, words, frozenset(fitting)))
        values = tuple(None if value is None else Decimal(value) for value in minutes[origin])
        question = TableQuestion(
            [],
            Aggregate.LATEST if latest else Aggregate.EARLIEST,
            highest=latest,
            superlative="latest" if latest else "earliest",
            asking="when",
        )
        column = ColumnValues(ColumnKind.TIME, values)
        return TableMatch(table, question, table.rows, 0, origin, column, "", tuple(conditions), loose=True)

    def _direction(self, stops: Sequence[str], named: Sequence[tuple[str, int]]) -> tuple[str, str] | None:
        """The stop to get on and that to arrive at, "" if none is named; None if this is the other way."""
        to = [stop for stop, at in named if _TO.search(self.text[:at])]
        others = [stop for stop, _ in named if stop not in to]
        if len(named) > 2 or len(to) > 1 or (not others and len(stops) < MIN_STOPS):
            return None
        if not others:
            return None
        origin, destination = others[0], (to or others[1:] or [""])[0]
        if stops.index(origin) == len(stops) - 1:
            return None
        if destination and stops.index(origin) > stops.index(destination):
            return None
        return origin, destination

    def _on_days(self, table: ParsedTable, stops: Sequence[str]) -> list[RowCondition] | None:
        """The condition on the days of the week; None if the table or the question says none alone."""
        for column in table.columns:
            cells = table.cells(column)
            runs = [weekdays_in(cell) for cell in cells]
            if not all(runs):
                continue
            if not self.days:
                return None
            rest = self.text.casefold()
            for stop in stops:
                rest = rest.replace(table.header(stop).casefold(), " ")
            asked = set(_words(rest))
            rows = [
                at
                for at, (run, cell) in enumerate(zip(runs, cells, strict=True))
                if self.days <= run
                and all(set(_words(limit)) <= asked for limit in _PARENTHESIS.findall(cell))
            ]
            shown = " or ".join(dict.fromkeys(cells[at] for at in rows))
            return [RowCondition(column, f"{table.header(column)} = {shown}", frozenset(rows))]
        return None if self.days else []


def trip_question(question: str) -> TripQuestion | None:
    """What a question for a trip by a timetable says; None for another question."""
    which, bound = _FIRST_OR_LAST.search(question), _bound_in(question)
    if _NEGATION.search(question) or not (which or (bound and _WHEN_TO_GO.search(question))):
        return None
    word = which["which"].lower() if which else ""
    sign, minutes = bound or ("", 0)
    if word == "next" and sign != ">":
        return None
    is_last = word in ("last", "latest")
    asked = "last" if is_last else "first" if word or sign == ">" else ""
    return TripQuestion(question, _days_of(question), sign, minutes, asked)


def _bound_in(question: str) -> tuple[str, int] | None:
    """The sign and the minutes of the one bound on a time; None if there is none, or several."""
    found = [
        match for match in _BOUND.finditer(question) if match["sign"].lower() != "from" or match["minute"]
    ]
    if len(found) != 1:
        return None
    (match,) = found
    said = match["hour"].lower()
    hour = 12 if said in ("noon", "midday") else int(IN_WORDS.get(said, said))
    half = (match["half"] or "").lower()
    is_late = half == "p" or (not half and _LATE.search(question) is not None)
    hour += 12 if is_late and hour < 12 else 0
    sign = ">" if match["sign"].lower() in ("after", "from") else "<"
    return (sign, hour * 60 + int(match["minute"] or 0)) if hour < 24 else None


def _days_of(question: str) -> frozenset[int]:
    """The days of the week that a question names."""
    words = _words(question)
    days = {WEEKDAYS[word] for word in words if word in WEEKDAYS and len(word) > 5}
    days |= {WEEKDAYS[word[:-1]] for word in words if word.endswith("days") and word[:-1] in WEEKDAYS}
    days |= _WORKDAYS if {"weekday", "weekdays", "workday", "workdays"} & set(words) else set()
    days |= _WEEKEND if {"weekend", "weekends"} & set(words) else set()
    return frozenset(days)


def _words(text: str) -> list[str]:
    return [word.lower() for word in WORD.findall(text)]


def _stops(table: ParsedTable) -> list[str]:
    """The columns of times of a timetable, in order; none if the times of a row do not follow each other."""
    stops = [column for column in table.columns if column_values(table.cells(column)).kind is ColumnKind.TIME]
    if len(stops) < MIN_STOPS or len(table.rows) < MIN_TRIPS:
        return []
    columns = [_minutes(table, stop) for stop in stops]
    for row in zip(*columns, strict=True):
        times = [value for value in row if value is not None]
        if any(before > after for before, after in pairwise(times)):
            return []
    return stops


def _minutes(table: ParsedTable, stop: str) -> list[int | None]:
    """The minutes of a column of times since midnight; of a trip of the evening they go on after midnight."""
    values = column_values(table.cells(stop)).values
    found: list[int | None] = []
    for row, value in zip(table.rows, values, strict=True):
        at = value.hour * 60 + value.minute if isinstance(value, time) else None
        first = next((cell for cell in row.cells.values() if re.fullmatch(r"\d\d?:\d\d", cell.strip())), "")
        is_late = bool(first) and int(first.split(":")[0]) >= 20
        found.append(at + 24 * 60 if at is not None and at < _NIGHT_ENDS and is_late else at)
    return found


def _served(table: ParsedTable, stop: str, minutes: Sequence[int | None]) -> RowCondition:
    rows = frozenset(at for at, value in enumerate(minutes) if value is not None)
    return RowCondition(stop, f"it goes to {table.header(stop)}", rows)


def _named_stops(text: str, stops: Sequence[str], table: ParsedTable) -> list[tuple[str, int]] | None:
    """The stops that a text names with the place of each, in its order; None if it names another place.

    A stop may be named by its first word if no other one has it.
    """
    found: dict[str, int] = {}
    rest = text
    for stop in sorted(stops, key=len, reverse=True):
        named = re.escape(table.header(stop))
        if match := re.search(rf"\b{named}\b", rest, re.IGNORECASE):
            found[stop] = match.start()
            rest = f"{rest[: match.start()]}{' ' * len(match[0])}{rest[match.end() :]}"
    for match in WORD.finditer(rest):
        word = match[0]
        fitting = [stop for stop in stops if root(word) in content(table.header(stop))]
        if word[0].isupper() and len(fitting) == 1 and fitting[0] not in found:
            found[fitting[0]] = match.start()
        elif word[0].isupper() and match.start() and not _is_known(word, table, stops):
            return None
    return sorted(found.items(), key=lambda each: each[1]) if found else None


def _is_known(word: str, table: ParsedTable, stops: Sequence[str]) -> bool:
    """Whether a capitalised word is no place: a day, a month, "I", or part of the table's names."""
    low = word.lower()
    named = {each for name in table.names for each in roots(name)}
    is_time = low in WEEKDAYS or low.removesuffix("s") in WEEKDAYS or low in MONTHS
    is_stop = any(root(word) in content(table.header(stop)) for stop in stops)
    return is_time or low in _NAMES or (root(word) in named and not is_stop)
