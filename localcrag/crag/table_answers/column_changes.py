"""What changes most from one column of a table to another.

"Which fee rises most, in per cent, from 2025 to 2026?" asks for the most of a column that the table does not
have. The change becomes a column of its own, which is then asked for as any other one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal

from localcrag.crag.table_answers.parsed_tables import ParsedRow, ParsedTable
from localcrag.crag.table_answers.question_words import ColumnChange, noun_phrase, take, tokens_of
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.table_values import ColumnKind, column_values, roots
from localcrag.crag.table_answers.table_vocabulary import FUNCTION_WORDS, NEGATIONS
from localcrag.types import Aggregate

_RISES = (
    r"rises?|rose|risen|rising|increase[sd]?|increasing|grows?|grew|grown|growing"
    r"|goes up|go up|went up|gone up|climb(?:s|ed)?|gain(?:s|ed)?"
)
_FALLS = (
    r"falls?|fell|fallen|falling|drop(?:s|ped)?|decrease[sd]?|decreasing|declined?s?"
    r"|goes down|go down|went down|gone down|shr[aiu]nks?|s[aiu]nks?|los(?:es?|t)"
)
_MOST = r"(?:by )?(?:the )?(?:most|strongest|fastest|biggest|largest|greatest|highest|steepest|sharpest)"
_VERB = re.compile(
    rf"\b(?:(?:has|have|had|will|is|are|was|were|did) )?(?:(?P<rise>{_RISES})|(?P<fall>{_FALLS})) {_MOST}\b",
    re.IGNORECASE,
)
_NOUN = re.compile(
    rf"\b(?:has|have|had|shows?|showed|saw|sees?|got|gets|with|made|makes) {_MOST}"
    r"(?: percentage| relative)? (?:(?P<rise>rise|increase|growth|gain)"
    r"|(?P<fall>fall|drop|decrease|decline|loss))"
    r"(?: in(?= (?:per ?cent|%)))?\b",
    re.IGNORECASE,
)
"""How a question asks for what changes most, by a verb and by a noun."""
_BETWEEN = re.compile(
    r"\b(?:from (?P<first>[\w-]+) (?:to|until|till) (?P<last>[\w-]+)"
    r"|between (?P<one>[\w-]+) and (?P<other>[\w-]+))\b",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"\b(?:(?:in|by) )?(?:per ?cent(?:age)?(?: terms| points)?|proportionally|relatively|in relative terms)\b"
    r"|(?:\bin )?%",
    re.IGNORECASE,
)
_POINTS = re.compile(r"percentage points", re.IGNORECASE)
_ASKING = re.compile(r"(?:which|what|whose)\b", re.IGNORECASE)


def change_question(question: str) -> TableQuestion | None:
    """The form of a question for what changes most from one column to another; None for another question."""
    changed = _VERB.search(question) or _NOUN.search(question)
    between = _BETWEEN.search(question)
    if not changed or not between or not _ASKING.match(question.strip()) or _POINTS.search(question):
        return None
    is_share = _SHARE.search(question) is not None or " percentage" in changed[0] or " relative" in changed[0]
    rest = question
    for pattern in (_VERB, _NOUN, _BETWEEN, _SHARE):
        rest = pattern.sub(" ", rest, count=1)
    tokens = tokens_of(rest)
    if not tokens or NEGATIONS & {token.low for token in tokens}:
        return None
    take(tokens, 0, 1)
    subject = noun_phrase(tokens, 1)
    if not subject:
        return None
    for token in tokens:
        token.used = token.used or token.low in FUNCTION_WORDS
    rises = changed["rise"] is not None
    first, last = between["first"] or between["one"], between["last"] or between["other"]
    return TableQuestion(
        tokens,
        Aggregate.HIGHEST if rises else Aggregate.LOWEST,
        subject,
        highest=rises,
        superlative=f"greatest {'rise' if rises else 'fall'}",
        asking="which",
        change=ColumnChange(first, last, is_share),
    )


def with_changes(tables: Sequence[ParsedTable], change: ColumnChange) -> list[ParsedTable]:
    """The tables with two columns for what changed, each with a column of its change."""
    return [changed for table in tables if (changed := _with_change(table, change)) is not None]


def _with_change(table: ParsedTable, change: ColumnChange) -> ParsedTable | None:
    """The table with a column of a change; None if it has not just two columns of it."""
    pairs = [
        (column, other)
        for column in table.columns
        for other in table.columns
        if column != other and _is_pair(table.header(column), table.header(other), change)
    ]
    numeric = [
        pair for pair in pairs if all(column_values(table.cells(c)).kind is ColumnKind.NUMBER for c in pair)
    ]
    if len(numeric) != 1:
        return None
    values = [column_values(table.cells(column)) for column in numeric[0]]
    if values[0].unit != values[1].unit:
        return None
    name = f"{'Change in %' if change.is_share else 'Change'} from {change.first} to {change.last}"
    rows = tuple(
        ParsedRow({**row.cells, name: _changed(before, after, change)}, row.strip)
        for row, before, after in zip(table.rows, values[0].values, values[1].values, strict=True)
    )
    return replace(table, columns=(*table.columns, name), rows=rows)


def _is_pair(header: str, other: str, change: ColumnChange) -> bool:
    """Whether the names of two columns differ only in what the change is from and to."""
    first, last = roots(change.first), roots(change.last)
    words, others = roots(header), roots(other)
    if len(first) != 1 or len(last) != 1 or words.count(first[0]) != 1:
        return False
    return tuple(last[0] if word == first[0] else word for word in words) == others


def _changed(before: object, after: object, change: ColumnChange) -> str:
    """A change in figures; "" if one of its numbers is missing, or it has no share."""
    if not isinstance(before, Decimal) or not isinstance(after, Decimal) or (change.is_share and before <= 0):
        return ""
    if not change.is_share:
        return f"{after - before:+f}"
    share = (100 * (after - before) / before).quantize(Decimal("0.01"), ROUND_HALF_UP)
    return f"{f'{share:+f}'.rstrip('0').rstrip('.')} %"
