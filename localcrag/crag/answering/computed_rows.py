"""The text of an answer that is computed over rows: its figures, and the citations of the rows it names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from pathlib import PurePath

from localcrag.crag.answering.bracketed_numbers import disarmed
from localcrag.crag.refinement.knowledge_strips import span
from localcrag.crag.refinement.strip_kinds import is_unnamed
from localcrag.crag.table_answers.parsed_tables import ParsedRow
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_values import Value, usual_digits
from localcrag.types import Aggregate, CitationMark, Computation, Strip

MAX_NAMED_ROWS = 8
"""The most rows that a count or a total names and cites."""
MAX_TIES = 5
"""The most rows or groups that may share the first place."""
_AVERAGE_DIGITS = 2
"""The digits of an average after those of its values."""
MARK_OPENING, _CLOSING = "\ue000", "\ue001"
OWN_MARK = re.compile(f"{MARK_OPENING}([0-9]+){_CLOSING}")
_SAME_MARKS = re.compile(f"({MARK_OPENING}[0-9]+{_CLOSING})(?:\\1)+")
"""A citation while the text is made; see :func:`own_mark`."""
_TO_DECIMAL_COMMA = str.maketrans(".,", ",.")
_NUMBER = re.compile(r"[+-]?\d(?:[\d.,' \u00a0\u202f]*\d)?")


@dataclass(frozen=True, slots=True)
class ComputedRows:
    """What was computed: its value, the sentence that says it, and the rows that it names."""

    value: str
    text: str
    rows: tuple[ParsedRow, ...]


def in_place(ordered: Sequence[Value], place: int) -> int | None:
    """Where the value in a place of an order is, from 0; None without one, or if values share a place."""
    first = ordered[: place + 1]
    return place - 1 if len(ordered) >= place and len(set(first)) == len(first) else None


def own_mark(key: int) -> str:
    """A citation while the text is made, in characters that no such table has; see :func:`cited_text`."""
    return f"{MARK_OPENING}{key}{_CLOSING}"


def cited_text(made: str) -> tuple[str, tuple[CitationMark, ...]]:
    """The text with its citations, and their places; what looks like one in a cell gets other brackets."""
    text, marks = "", list[CitationMark]()
    for at, part in enumerate(OWN_MARK.split(made)):
        if at % 2:
            marks.append(CitationMark(int(part), len(text), len(text) + len(f"[{part}]")))
            text += f"[{part}]"
        else:
            text += disarmed(part)
    return text, tuple(marks)


def are_few(strips: Iterable[Strip], most: int = MAX_NAMED_ROWS) -> bool:
    """Whether all strips can be cited, each once."""
    return len(set(map(span, strips))) <= most


def each_cited_once(made: str, strips: Sequence[Strip]) -> tuple[str, tuple[Strip, ...]]:
    """A text while it is made, and its strips, without one that is there twice.

    Several rows of a table in long form are one row of its document (:mod:`..table_answers.long_tables`).

    Args:
        made: the text with its citations, see :func:`own_mark`.
        strips: what they cite, in order.
    """
    known = list(dict.fromkeys(map(span, strips)))
    if len(known) == len(strips):
        return made, tuple(strips)
    keys = [known.index(span(strip)) + 1 for strip in strips]
    renumbered = OWN_MARK.sub(lambda found: own_mark(keys[int(found[1]) - 1]), made)
    once = _SAME_MARKS.sub(r"\1", renumbered)
    return once, tuple(strips[keys.index(key)] for key in range(1, len(known) + 1))


def below_header(header: str, listed: str) -> str:
    """What is listed behind the name of its column, if that has one."""
    return f"{header}: {listed}" if header and not is_unnamed(header) else listed


def rows_of(computation: Computation) -> str:
    """Of how many rows of which file something was computed, in words; of a table in long form, of cells."""
    name = PurePath(computation.source).name or computation.source
    return f"{count_of(computation.rows, computation.counted)} of {name}"


def count_of(number: int, noun: str) -> str:
    """A number of things in words: "1 row", "1,200 rows"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def amount_of(match: TableMatch, rows: Sequence[int]) -> Decimal:
    """The total or the average of some rows of a match, or their number.

    What is counted are the different values of the column that is asked for, if one is.
    """
    if match.question.operation is Aggregate.COUNT:
        cells = {match.rows[at].cells.get(match.entity, "") for at in rows}
        return Decimal(len(cells) if match.entity else len(rows))
    values = [value for at in rows if isinstance(value := match.values.values[at], Decimal)]
    total = sum(values, Decimal(0))
    return total / len(values) if match.question.operation is Aggregate.AVERAGE and values else total


def figure_of(match: TableMatch, rows: Sequence[int], amount: Decimal | None = None) -> str:
    """The total or the average of some rows as the cells of its column are written, or their number.

    Args:
        match: how the table answers.
        rows: the places of the rows.
        amount: what is written in the place of that, as the cells of these rows are: a difference.
    """
    amount = amount_of(match, rows) if amount is None else amount
    if not match.column:
        return f"{amount:,f}"
    shown = f"{amount:,f}"
    if match.question.operation is Aggregate.AVERAGE:
        digits = usual_digits(match.values.values[at] for at in rows) + _AVERAGE_DIGITS
        mean = amount.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP)
        shown = f"{mean:,f}".rstrip("0").rstrip(".")
    if match.values.decimal_comma:
        shown = shown.translate(_TO_DECIMAL_COMMA)
    return _NUMBER.sub(shown, match.rows[rows[0]].cells[match.column], count=1)
