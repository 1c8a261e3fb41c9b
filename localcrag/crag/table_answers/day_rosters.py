"""Who is where on a day, by a roster: a table with a column for each day, and a row for each person.

"Who is working at Mill Lane on Saturday 16 May?" is answered by the cells of the column "Sat 16" that say so,
in words or by a code with its initials ("ML 8-14"). Every word of the question must be accounted for; what
stands in the cells in part only makes the answer one to be checked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from localcrag.crag.questions.calendar_dates import (
    MONTHS,
    are_shared,
    dates_of,
    is_day,
    weekday_numbers,
    without_days,
)
from localcrag.crag.questions.query_terms import figures_asked, figures_of
from localcrag.crag.table_answers.code_legends import meanings_of
from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.crag.table_answers.table_columns import RowCondition, content
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.table_values import (
    WORD,
    ColumnKind,
    ColumnValues,
    is_missing,
    root,
    roots,
    word_list,
)
from localcrag.crag.table_answers.table_vocabulary import FUNCTION_WORDS, PERSONS
from localcrag.types import Aggregate, Passage

MIN_DAYS = 3
"""The fewest columns of days that a roster has."""
_ASKS_WHO = re.compile(r"\W*(?:who(?: all| else)?\b|which (?P<what>[^\W\d_]+))", re.IGNORECASE)
_WEEKDAY = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b[.,]?(?: the\b)?", re.IGNORECASE
)
_BARE_DAY = re.compile(r"\b\d{1,2}(?:st|nd|rd|th)?\b")
_WORKING = frozenset(map(root, word_list("work working duty shift shifts there in rota roster scheduled")))
"""Words that say no more of someone than that it is their day."""
_AWAY = frozenset(
    word_list("off free leave holiday holidays vacation away absent sick ill closed frei urlaub krank")
)
"""What a cell says of someone who is not there."""
_ANY_PERSON = frozenset(map(root, word_list("person people colleague employee staff"))) | PERSONS
_SHORT_CODE = re.compile(r"[A-Z]{1,3}\d?")
"""A cell that says nothing without a legend."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True, slots=True)
class RosterQuestion:
    """A question for who is where on a day: its days as figures, and what else it says.

    ``beside`` are passages that may have a legend of the codes of a roster.
    """

    days: frozenset[str]
    said: tuple[str, ...]
    beside: Sequence[Passage] = ()

    def matches(self, tables: Sequence[ParsedTable]) -> Iterator[TableMatch]:
        """How the rosters among the tables of a document answer."""
        for table in tables:
            if (match := self._match(table)) is not None:
                yield match

    def _match(self, table: ParsedTable) -> TableMatch | None:
        column = _column_of_day(table, self.days)
        if not column or not _may_be_in(table, self.days):
            return None
        cells = [cell.strip() for cell in table.cells(column)]
        found = _meant(self.said, cells, table, self.beside)
        if found is None:
            return None
        shown, rows, loose = found
        names = table.cells(table.columns[0])
        if not rows or len(set(names)) < len(names):
            return None
        condition = RowCondition(column, f"{table.header(column)} has {shown}", frozenset(rows))
        question = TableQuestion([], Aggregate.COUNT, asking="who", listing=True)
        values = ColumnValues(ColumnKind.TEXT)
        return TableMatch(table, question, table.rows, 0, "", values, table.columns[0], (condition,), loose)


def roster_question(question: str) -> RosterQuestion | None:
    """What a question for who is where on one day says; None for another question."""
    asking = _ASKS_WHO.match(question)
    if asking is None or (asking["what"] and root(asking["what"]) not in _ANY_PERSON):
        return None
    rest = question[asking.end() :]
    days = frozenset(figure for figure in figures_asked(rest) if is_day(figure))
    if len(dates_of(rest)) > 1 or not days:
        return None
    rest = _WEEKDAY.sub(" ", without_days(rest))
    rest = rest if dates_of(question) else _BARE_DAY.sub(" ", rest, count=1)
    if re.search(r"\b(?:not|or|and|except|no|nobody|never)\b|n['’]t\b", rest, re.IGNORECASE):
        return None
    return RosterQuestion(days, tuple(WORD.findall(rest)))


def _column_of_day(table: ParsedTable, days: frozenset[str]) -> str:
    """The column of one of some days, in a table with others of days; "" if there is none, or several."""
    dated = {
        column: found
        for column in table.columns[1:]
        if (found := {figure for figure in figures_of(table.header(column)) if is_day(figure)})
    }
    known = {year for name in table.names for year in _YEAR.findall(name)}
    full = {f"{year}{day}" for day in days if day.startswith("-") for year in known if len(known) == 1}
    wanted = days.union(*(weekday_numbers(day) for day in full))
    columns = [column for column, found in dated.items() if are_shared(found, wanted)]
    return columns[0] if len(columns) == 1 and len(dated) >= MIN_DAYS else ""


def _may_be_in(table: ParsedTable, days: frozenset[str]) -> bool:
    """Whether the months and years in the names of a table are those of the days, as far as both tell."""
    said = {word.lower() for name in table.names for word in re.findall(r"[^\W\d_]+", name)}
    months = {MONTHS[word] for word in said if word in MONTHS and len(word) > 2}
    years = {year for name in table.names for year in _YEAR.findall(name)}
    dates = [day for day in days if not day.startswith("~")]
    fits = all(not months or len(months) > 1 or int(day[-5:-3]) in months for day in dates)
    return fits and all(day.startswith("-") or len(years) != 1 or day[:4] in years for day in dates)


def _meant(
    said: Sequence[str], cells: Sequence[str], table: ParsedTable, beside: Sequence[Passage]
) -> tuple[str, list[int], bool] | None:
    """What the cells that are meant have, their rows, and whether that is to be checked.

    None if a word is not accounted for.
    """
    names = {word for name in table.names for word in (*roots(name), *content(name))}
    open_places = [
        at for at, word in enumerate(said) if word.lower() not in FUNCTION_WORDS or word.lower() == "off"
    ]
    for length in range(len(open_places), 0, -1):
        for first in range(len(open_places) - length + 1):
            places = open_places[first : first + length]
            rest = [said[at] for at in open_places if at not in places]
            if places[-1] - places[0] >= length or not all(root(w) in _WORKING | names for w in rest):
                continue
            words = [said[at] for at in places]
            for is_code in (False, True):
                shown = "".join(word[0] for word in words) if is_code else " ".join(words)
                rows = [at for at, cell in enumerate(cells) if _begins(cell, shown, exact=is_code)]
                if not rows and not is_code and (code := _code_of(words, cells, table, beside)):
                    return code, [at for at, cell in enumerate(cells) if cell == code], True
                if rows and (not is_code or _is_one_code(shown, words, table)):
                    return shown if is_code else cells[rows[0]], rows, is_code
    if not any(root(said[at]) in _WORKING for at in open_places):
        return None
    if not all(root(said[at]) in _WORKING | names for at in open_places):
        return None
    timed = [at for at, cell in enumerate(cells) if any(map(str.isdigit, cell))]
    there = [at for at, cell in enumerate(cells) if not is_missing(cell) and cell.casefold() not in _AWAY]
    if not timed and all(_SHORT_CODE.fullmatch(cells[at]) for at in there):
        return None
    return ("a time", timed, True) if timed else ("an entry", there, True)


def _code_of(
    words: Sequence[str], cells: Sequence[str], table: ParsedTable, beside: Sequence[Passage]
) -> str:
    """The code in a column that a legend beside the table explains with some words; "" if there is none."""
    codes = {cell for cell in cells if _SHORT_CODE.fullmatch(cell)}
    of_rows = (row.strip.passage for row in table.rows)
    passages = list({passage.id: passage for passage in (*of_rows, *beside)}.values())
    told = meanings_of(table, "", codes, passages) if codes else ()
    said = {root(word) for word in words}
    found = {
        code
        for code, meaning in told
        if said == {root(word) for word in meaning if not word[0].isdigit()} - _WORKING
    }
    return found.pop() if len(found) == 1 else ""


def _begins(cell: str, text: str, *, exact: bool) -> bool:
    """Whether a cell is a text, or begins with it before figures: "ML 8-14"."""
    if not exact:
        words = WORD.findall(cell)
        cell = " ".join(word for word in words if word.lower() not in FUNCTION_WORDS or word.lower() == "off")
    own, given = (cell, text) if exact else (cell.casefold(), text.casefold())
    return re.fullmatch(rf"{re.escape(given)}(?:[ ,]*\d.*)?", own) is not None


def _is_one_code(code: str, words: Sequence[str], table: ParsedTable) -> bool:
    """Whether a code is short for names, and no other code of the table begins as it does."""
    if not all(word[0].isupper() for word in words):
        return False
    found = {
        match[0]
        for column in table.columns[1:]
        for cell in table.cells(column)
        if (match := re.match(r"[A-Z]{1,4}(?![^\W\d_])", cell.strip()))
    }
    return not any(other != code and other.startswith(code) for other in found)
