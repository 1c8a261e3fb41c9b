"""What is computed for groups of rows, and the share of a part of them, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal

from localcrag.crag.answering.computed_rows import (
    MAX_NAMED_ROWS,
    MAX_TIES,
    ComputedRows,
    amount_of,
    are_few,
    count_of,
    figure_of,
    in_place,
    own_mark,
)
from localcrag.crag.table_answers.parsed_tables import ParsedRow
from localcrag.crag.table_answers.rank_wording import place_words
from localcrag.crag.table_answers.row_groups import Grouping, RowShare
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.types import Aggregate

MAX_LISTED_GROUPS = 12
"""The most groups that are listed; of more, those with the most."""
_SHARE_DIGITS = Decimal("0.1")


def grouped_rows(match: TableMatch, grouping: Grouping, counted: Sequence[int]) -> ComputedRows | None:
    """The group with the most or the least, or all of them.

    None if no row is in a group, or if too many groups share the first place.
    """
    groups: dict[str, list[int]] = {}
    for at in counted:
        if label := grouping.labels[at]:
            groups.setdefault(label, []).append(at)
    if not groups:
        return None
    if grouping.highest is None:
        return _all_groups(match, grouping, groups)
    if len(groups) < 2:
        return None
    amounts = {label: amount_of(match, rows) for label, rows in groups.items()}
    best = (max if grouping.highest else min)(amounts.values())
    chosen = [label for label, amount in amounts.items() if amount == best]
    if grouping.is_compared:
        return _compared(match, grouping, groups, chosen)
    if grouping.count != 1:
        return _first_groups(match, grouping, groups, amounts)
    if grouping.place > 1:
        ordered = _ordered(grouping, amounts)
        at_place = in_place([amounts[label] for label in ordered], grouping.place)
        chosen = [] if at_place is None else [ordered[at_place]]
    if not chosen or len(chosen) > MAX_TIES or len(chosen) == len(groups):
        return None
    lines, rows = list[str](), list[ParsedRow]()
    for label in chosen:
        most = _measure(match, highest=grouping.highest, ending="est")
        said = f"{label} has the {place_words(grouping.place)}{most}"
        lines.append(_line(match, said, groups[label], rows, MAX_NAMED_ROWS // len(chosen)))
    return ComputedRows(figure_of(match, groups[chosen[0]]), "\n".join(lines), tuple(rows))


def _ordered(grouping: Grouping, amounts: Mapping[str, Decimal]) -> list[str]:
    """The groups from the end of the order that is asked for."""
    return sorted(amounts, key=amounts.__getitem__, reverse=bool(grouping.highest))


def _first_groups(
    match: TableMatch, grouping: Grouping, groups: dict[str, list[int]], amounts: Mapping[str, Decimal]
) -> ComputedRows | None:
    """The groups with the most or the least, in order; None if they are too many, or share the last place."""
    ordered = _ordered(grouping, amounts)
    count = min(grouping.count or len(ordered), len(ordered))
    if count > MAX_LISTED_GROUPS or (
        count < len(ordered) and amounts[ordered[count - 1]] == amounts[ordered[count]]
    ):
        return None
    lines, rows = list[str](), list[ParsedRow]()
    for label in ordered[:count]:
        lines.append(_line(match, label, groups[label], rows, max(1, MAX_NAMED_ROWS // count)))
    most = _measure(match, highest=bool(grouping.highest), ending="est")
    value = "; ".join(f"{label}: {figure_of(match, groups[label])}" for label in ordered[:count])
    return ComputedRows(value, "\n".join((f"The {most} by {grouping.by}:", *lines)), tuple(rows))


def _line(
    match: TableMatch, said: str, places: Sequence[int], rows: list[ParsedRow], most: int = MAX_NAMED_ROWS
) -> str:
    """What was computed of a group, with its rows cited, which are added to ``rows``; of many the first."""
    named = places if are_few((match.rows[at].strip for at in places), most) else places[:1]
    keys = "".join(own_mark(len(rows) + place + 1) for place in range(len(named)))
    rows += [match.rows[at] for at in named]
    cells = f", of {count_of(len(places), match.table.counted)}"
    over = "" if match.question.operation is Aggregate.COUNT else cells
    first = " (the first of them)" if len(named) < len(places) else ""
    return f"{said}: {figure_of(match, places)}{over} {keys}{first}"


def _measure(match: TableMatch, *, highest: bool, ending: str) -> str:
    """What a group has the most of: "highest total of Cost", "most rows"; with "er" what it has more of."""
    operation = match.question.operation
    if operation is Aggregate.COUNT:
        noun = match.table.header(match.entity) if match.entity else "rows"
        word = {True: ("most", "more"), False: ("fewest", "fewer")}[highest][ending == "er"]
        return f"{word} {noun}" if not match.entity else f"{word} of {noun}"
    return f"{'high' if highest else 'low'}{ending} {operation} of {match.table.header(match.column)}"


def _compared(
    match: TableMatch, grouping: Grouping, groups: dict[str, list[int]], chosen: Sequence[str]
) -> ComputedRows:
    """The one of two groups that has more, or less, and the other one; or that they are equal."""
    lines, rows = list[str](), list[ParsedRow]()
    ordered = [*chosen, *(label for label in groups if label not in chosen)]
    for place, label in enumerate(ordered):
        said = label
        if len(chosen) == 1 and not place:
            article = "" if match.question.operation is Aggregate.COUNT else "the "
            said = f"{label} has {article}{_measure(match, highest=bool(grouping.highest), ending='er')}"
        lines.append(_line(match, said, groups[label], rows, MAX_NAMED_ROWS // 2))
    if len(chosen) == 1:
        first, second = (amount_of(match, groups[label]) for label in ordered[:2])
        lines.append(f"The difference is {figure_of(match, groups[chosen[0]], abs(first - second))}.")
    text = "\n".join(lines if len(chosen) == 1 else ["Both have the same.", *lines])
    value = f"{chosen[0]}: {figure_of(match, groups[chosen[0]])}" if len(chosen) == 1 else "the same"
    return ComputedRows(value, text, tuple(rows))


def _all_groups(match: TableMatch, grouping: Grouping, groups: dict[str, list[int]]) -> ComputedRows:
    """All groups with their sums or numbers, those with the most first; periods are in their order.

    Of too many they are the ones with the most.
    """
    amounts = {label: amount_of(match, rows) for label, rows in groups.items()}
    ordered = sorted(groups, key=lambda label: -amounts[label])[:MAX_LISTED_GROUPS]
    if grouping.order and len(groups) <= MAX_LISTED_GROUPS:
        ordered = sorted(groups, key=lambda label: grouping.order.get(label, ""))
    operation = match.question.operation
    noun = match.table.header(match.column or match.entity) or "rows"
    lines = [f"{str(operation).capitalize()} of {noun} by {grouping.by}:"]
    for key, label in enumerate(ordered, 1):
        lines.append(f"{label}: {figure_of(match, groups[label])} {own_mark(key)}")
    if others := len(groups) - len(ordered):
        lines.append(f"and {others:,} more with {'less' if match.column else 'fewer'}")
    value = "; ".join(f"{label}: {figure_of(match, groups[label])}" for label in ordered)
    return ComputedRows(value, "\n".join(lines), tuple(match.rows[groups[label][0]] for label in ordered))


def share_of(match: TableMatch, share: RowShare, counted: Sequence[int]) -> ComputedRows | None:
    """The share of a part of the rows, with both numbers; None if the whole is nothing, or mixes signs."""
    part = [at for at in counted if at in share.rows]
    values = [amount_of(match, [at]) for at in counted]
    whole = amount_of(match, counted)
    if not part or whole <= 0 or min(values) < 0:
        return None
    percent = (100 * amount_of(match, part) / whole).quantize(_SHARE_DIGITS, ROUND_HALF_UP)
    value = f"{percent:f} %"
    named = part if are_few(match.rows[at].strip for at in part) else part[:1]
    keys = "".join(own_mark(key) for key in range(1, len(named) + 1))
    first = " (the first of them)" if len(named) < len(part) else ""
    of_what = f" of {match.table.header(match.column)}" if match.column else ""
    noun = "" if match.column else " rows"
    figures = f"{figure_of(match, part)} of {figure_of(match, counted)}{noun}{of_what}"
    text = f"{value}: {figures} where {' and '.join(share.words)} {keys}{first}"
    return ComputedRows(value, text, tuple(match.rows[at] for at in named))
