"""Of the rows of a table and the entries of a log or a diary, those that the question is about.

The rows of a table read alike to a judge. That only one of them has the year asked about, or the name, says
more than its probability: the rows with most terms of the question are kept, and of entries that begin with
their day those of the day of the question.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set

from localcrag.crag.questions.calendar_dates import are_shared, dates_of, day_of, months_asked
from localcrag.crag.questions.query_terms import (
    IN_WORDS,
    ORDINALS,
    figures_asked,
    figures_of,
    terms_asked_for,
)
from localcrag.crag.refinement.calendar_spans import tells_figure, weekdays_in
from localcrag.crag.refinement.knowledge_strips import span, strip_at, strips
from localcrag.crag.refinement.strip_context import headings_above
from localcrag.crag.refinement.strip_kinds import cells_of, column_names, first_cell, is_row, named_cell
from localcrag.crag.rows.named_cells import CellQuery, bounds_of, own_quantities, terms_within
from localcrag.crag.rows.told_ranges import NUMBER, asked_numbers, is_within_range
from localcrag.crag.table_answers.row_states import says_done
from localcrag.crag.table_answers.unit_scales import quantities_of
from localcrag.types import BlockKind, Strip

MIN_UNNAMED_ROWS = 2
"""How many rows that a question does not name give way to one that it names in part."""
COMPARED_COLUMNS = 2
"""The first columns of a row by whose names its table is known: a row has no cell where it is empty."""
_TOTAL_TERMS = terms_within("total totals sum subtotal average mean overall all other others")
"""Words of the names of rows that are about others."""
MAX_DAY_CHARACTERS = 24
"""The characters at its start in which an entry has its day: "Sat 8 June.", "2025-02-13 01:00:02 INFO"."""

_ORDINAL = re.compile(rf"\b(?:(\d+)(?:st|nd|rd|th)|{'|'.join(ORDINALS.split())})\b")
_ROW_NUMBER = re.compile(r"\d+(?:\.\d+)*(?:[-.)]? |-)(?=[^\W\d])")
"""The number in front of the name of a row: "2 Levelling"."""
_PARTICIPLE = re.compile(r"\b[^\W\d_]{3,}ed\b", re.IGNORECASE)
_UNIT_BEHIND = re.compile(r"[ -]?([^\W\d_]+)")
_NEXT = re.compile(r"\b(?:next|still (?:due|open)|nächste[rnms]?|prochaine?s?|próxim[oa]s?)\b", re.IGNORECASE)
"""How a question asks for what is to come."""


def narrowed_to_rows(window: Strip, question: str) -> list[Strip]:
    """The rows of a window that have most of the question's terms in their cells; other windows as they are.

    What helps of several rows is one of them; a window is left as it is if no term tells its rows apart.
    """
    rows = [
        strip_at(window.passage, block.start, block.end, window.score)
        for block in window.passage.blocks
        if block.kind is BlockKind.ROW and window.start <= block.start and block.end <= window.end
    ]
    if len(rows) < 2:
        return [window]
    figures = figures_asked(question)
    count = len(rows)
    rows = [row for row in rows if tells_figure(row, figures)] or rows
    if len(of_range := _of_the_range(rows, question)) < count:
        return of_range
    held = [terms_within(row.text) for row in rows]
    asked = terms_asked_for(question) | _ordinals(question)
    telling = (asked & set[str]().union(*held)) - held[0].intersection(*held)
    nearest = _nearest(rows, telling) if telling else rows
    spelled = _spelled_as_asked(nearest, question)
    return spelled if telling or len(spelled) < count else [window]


def without_other_rows(kept: Sequence[Strip], question: str) -> list[Strip]:
    """The strips without those rows of a table that have fewer of the question's terms than another one.

    In another passage that is one which has all of these terms, and more.

    If a row has the very date of the question, or holds on it or on its day of the week ("Sundays only"), no
    row without it is kept; nor one that a number of the question is not within the range of, if another one
    has that: "15-21 kg" for 17 kg, or that has not the quantity of the question, as 3000 W is 3 kW.
    """
    figures = figures_asked(question)
    dated = {span(strip) for strip in kept if is_row(strip) and tells_figure(strip, figures)}
    dated = dated or _on_weekday(kept, question)
    rows_by_passage = defaultdict[str, list[Strip]](list)
    for strip in kept:
        if is_row(strip) and (not dated or span(strip) in dated):
            rows_by_passage[strip.passage.id].append(strip)
    asked = terms_asked_for(question) | _ordinals(question)
    found = [
        row
        for rows in rows_by_passage.values()
        for row in _spelled_as_asked(_nearest(_of_the_range(rows, question), asked), question)
    ]
    nearest = set(map(span, _undominated(found, asked)))
    left = [strip for strip in kept if not is_row(strip) or span(strip) in nearest]
    return _without_done(left) if _NEXT.search(question) else left


def _undominated(rows: Sequence[Strip], asked: Set[str]) -> list[Strip]:
    """The rows without those of which another one of their table has all of the terms asked for, and more."""
    told = [terms_within(row.text) & asked for row in rows]
    tables = [(row.passage.document, _columns(row)) for row in rows]
    known = list(zip(tables, told, strict=True))
    return [
        row
        for row, (table, own) in zip(rows, known, strict=True)
        if not any(other == table and own < more for other, more in known)
    ]


def _on_weekday(kept: Sequence[Strip], question: str) -> set[tuple[str, int, int]]:
    """The rows with a cell of days of the week among which is the one that a question names; none otherwise.

    There are none if rows of several documents were kept, as those of another one may not tell their days.
    """
    asked = set(CellQuery.of(question).weekdays)
    rows = [strip for strip in kept if is_row(strip)]
    if len(asked) != 1 or len({row.passage.document for row in rows}) > 1:
        return set()
    return {
        span(row) for row in rows if any(asked & weekdays_in(named_cell(cell)[1]) for cell in cells_of(row))
    }


def with_row_in_range(kept: Sequence[Strip], question: str) -> list[Strip]:
    """The strips; in the place of rows whose ranges a number of the question is not in, the row with it.

    Of "up to 50" and "over 200" none is what 120 litres cost, but the row "51 to 200" between them is.
    """
    numbers = asked_numbers(question)
    told = list(map(_values_of, kept))
    if not numbers or any(is_within_range(question, *at, text) for at in numbers for text in told):
        return list(kept)
    others = defaultdict[str, list[Strip]](list)
    for strip in kept:
        if is_row(strip) and _limits(strip) is not None:
            others[strip.passage.id].append(strip)
    left = list(kept)
    for rows in others.values():
        columns = {first_cell(row)[0] for row in rows}
        own = _with_unit_of(rows, numbers, question)
        between = [
            row
            for row in strips(rows[0].passage)
            if is_row(row)
            and _limits(row) is not None
            and first_cell(row)[0] in columns
            and any(is_within_range(question, *at, cells_of(row)[0]) for at in own)
        ]
        if len(between) == 1:
            (row,) = between
            at = left.index(rows[0])
            best = max(strip.score for strip in rows)
            left = [strip for strip in left if strip not in rows]
            left.insert(at, strip_at(row.passage, row.start, row.end, best))
    return left


def _values_of(strip: Strip) -> str:
    """The text of a strip; of a row without names of columns that are ranges: "eGFR 15–30" is of all rows."""
    if not is_row(strip):
        return strip.text
    cells = map(named_cell, cells_of(strip))
    return " · ".join(value if NUMBER.search(column) else f"{column}: {value}" for column, value in cells)


def _with_unit_of(
    rows: Sequence[Strip], numbers: Sequence[tuple[int, int]], question: str
) -> list[tuple[int, int]]:
    """Those of the numbers of a question that have a unit of the first cells of rows; all if none has.

    Of "75 kg with an eGFR of 20" the weight is the one that rows for weights are of.
    """
    units = set[str]().union(*(terms_within(" ".join(first_cell(row))) for row in rows))
    behind = [_UNIT_BEHIND.match(question, end) for _, end in numbers]
    own = [
        at
        for at, unit in zip(numbers, behind, strict=True)
        if unit is not None and terms_within(unit[1]) & units
    ]
    return own or list(numbers)


def with_named_row(kept: Sequence[Strip], question: str) -> list[Strip]:
    """The strips; in the place of rows that a question does not name, the one of their table that it does.

    "Which lime for the levelling coat?" names the row "2 Levelling" as a whole, and "4 Top coat" only in
    part. A row that is named in part takes the place of several rows of which none is. None takes that of a
    more probable one that speaks of it: "stronger than greedy".
    """
    asked, left = CellQuery.of(question), list(kept)
    tables = defaultdict[tuple[str, tuple[str, ...]], list[Strip]](list)
    for strip in kept:
        if is_row(strip):
            tables[strip.passage.id, _columns(strip)].append(strip)
    for (_, columns), rows in tables.items():
        every = [row for row in strips(rows[0].passage) if is_row(row) and _columns(row) == columns]
        said = terms_within(f"{' '.join(columns)} {headings_above(rows[0])} {rows[0].passage.title}")
        named = [row for row in every if _is_named(question, asked, row)]
        if not named and len(rows) >= MIN_UNNAMED_ROWS:
            named = [row for row in every if _first_terms(row) & asked.words - said]
        spans = set(map(span, named))
        others = [row for row in rows if span(row) not in spans]
        if len(named) != 1 or not others or any(_has_named_cell(asked, row) for row in others):
            continue
        (row,) = named
        said_by_row = len(_first_terms(row) & asked.words)
        if any(len(_first_terms(other) & asked.words) > said_by_row for other in others):
            continue
        own = max((each.score for each in rows if span(each) == span(row)), default=0.0)
        if any(other.score > own and _first_terms(row) <= terms_within(other.text) for other in others):
            continue
        at = left.index(rows[0])
        left = [strip for strip in left if strip not in rows]
        left.insert(at, strip_at(row.passage, row.start, row.end, max(strip.score for strip in rows)))
    return left


def _columns(row: Strip) -> tuple[str, ...]:
    """The names of the first columns of a row."""
    return column_names(row)[:COMPARED_COLUMNS]


def _first_terms(row: Strip) -> set[str]:
    """The terms of a row's first cell, without the number in front of its name."""
    return terms_within(_ROW_NUMBER.sub("", first_cell(row)[1], count=1))


def _is_named(question: str, asked: CellQuery, row: Strip) -> bool:
    """Whether a question has the whole name in the first cell of a row, which is no total.

    A verb names no row: "if a line isn't repaired in time" does not ask for the row "Repair".
    """
    name, value = _first_terms(row), first_cell(row)[1].casefold()
    told = _PARTICIPLE.sub(lambda word: word[0] if word[0].casefold() in value else "", question)
    is_name = any(map(str.isalpha, "".join(name))) and not name <= _TOTAL_TERMS
    return is_name and name <= asked.words and not name & (terms_within(question) - terms_within(told))


def _has_named_cell(asked: CellQuery, row: Strip) -> bool:
    """Whether a question names a row by any of its cells as a whole, or by a day that it holds on."""
    cells = map(named_cell, cells_of(row))
    return bool(asked.days_of(row)) or any(asked.named_by(column, value) for column, value in cells)


def _limits(row: Strip) -> tuple[float, float, str] | None:
    """From which number to which a row holds by its first cell; None if it says none."""
    return bounds_of(first_cell(row)[1])


def of_the_entry(cut: Sequence[Strip], question: str) -> list[Strip]:
    """The strips without those of entries of another day, or another version, than the question names.

    An entry is a line of a log or a paragraph of a diary that begins with its day, which holds up to the next
    one in its block, or what stands below a heading with a day or a version. All strips are kept if no entry
    has what the question names.
    """
    asked = figures_of(question)
    if not asked:
        return list(cut)
    day, block = set[str](), None
    days: list[set[str]] = []
    for strip in cut:
        within = next((b for b in strip.passage.blocks if b.start <= strip.start < b.end), None)
        own = set() if is_row(strip) else dates_of(strip.text[:MAX_DAY_CHARACTERS])
        day = own or (day if within is not None and within == block else set())
        block = within
        days.append(day | figures_of(headings_above(strip)))
    if not any(are_shared(day, asked) for day in days):
        return list(cut)
    return [strip for strip, day in zip(cut, days, strict=True) if not day or are_shared(day, asked)]


def of_the_day(cut: Sequence[Strip], question: str) -> list[Strip]:
    """The strips without rows of other days, of documents with rows of the one day that a question names.

    It names the day with its year, or a month of which a table has one row: to a judge, who reads days in
    pieces, the rows of a week or a year are all alike.
    """
    days = set(filter(day_of, dates_of(question))) or months_asked(question)
    if len(days) != 1:
        return list(cut)
    told = {span(strip) for strip in cut if is_row(strip) and tells_figure(strip, days)}
    documents = {strip.passage.document for strip in cut if span(strip) in told}
    return [
        strip
        for strip in cut
        if not is_row(strip) or span(strip) in told or strip.passage.document not in documents
    ]


def _of_the_range(rows: Sequence[Strip], question: str) -> list[Strip]:
    """The rows with most numbers of the question, in figures or within a range; all if no range has one.

    A quantity is also that of a row which has it in another unit.
    """
    asked = quantities_of(question).values()
    held = [sum(quantity in own_quantities(row) for quantity in asked) for row in rows] if asked else [0]
    if max(held):
        return [row for row, count in zip(rows, held, strict=True) if count == max(held)]
    numbers = asked_numbers(question)
    within = [{at for at in numbers if is_within_range(question, *at, row.text)} for row in rows]
    if not any(within):
        return list(rows)
    figures = [set(NUMBER.findall(row.text)) for row in rows]
    shared = [
        sum(at in ranges or question[slice(*at)] in said for at in numbers)
        for ranges, said in zip(within, figures, strict=True)
    ]
    return [row for row, count in zip(rows, shared, strict=True) if count == max(shared)]


def _ordinals(question: str) -> set[str]:
    """The numbers of the ordinals of a question: the row of the second dose has a "2"."""
    low = question.casefold()
    return {IN_WORDS[found[0]] if found[0] in IN_WORDS else found[1] for found in _ORDINAL.finditer(low)}


def _without_done(kept: Sequence[Strip]) -> list[Strip]:
    """The strips without rows that say of themselves that they are done, if their document has others."""
    done = [
        is_row(strip) and any(says_done(named_cell(cell)[1]) for cell in cells_of(strip)) for strip in kept
    ]
    pairs = list(zip(kept, done, strict=True))
    others = {strip.passage.document for strip, is_done in pairs if is_row(strip) and not is_done}
    return [strip for strip, is_done in pairs if not is_done or strip.passage.document not in others]


def _nearest(rows: Sequence[Strip], asked: Set[str]) -> list[Strip]:
    """The rows that have most of the terms asked for; all of them if none has any."""
    shared = [len(terms_within(row.text) & asked) for row in rows]
    most = max(shared)
    return [row for row, count in zip(rows, shared, strict=True) if count == most]


def _spelled_as_asked(rows: Sequence[Strip], question: str) -> list[Strip]:
    """The rows without those that have a cell of the question in another case, if one has it as it stands.

    The escapes %c and %C are two things.
    """
    values = [{cell.rpartition(": ")[2].strip() for cell in cells_of(row)} for row in rows]
    named = {value for of_row in values for value in of_row if _stands_in(question, value)}
    folded = set(map(str.casefold, named))
    spelled = [
        row
        for row, of_row in zip(rows, values, strict=True)
        if all(value in named or value.casefold() not in folded for value in of_row)
    ]
    return spelled or list(rows)


def _stands_in(question: str, value: str) -> bool:
    """Whether the value of a cell stands in a question as it is written, between spaces or punctuation."""
    at = question.find(value) if value else -1
    end = at + len(value)
    return at >= 0 and not question[max(0, at - 1) : at].isalnum() and not question[end : end + 1].isalnum()
