"""The answer that a query over a table gives, in words, with the rows that it names as citations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from localcrag.crag.answering.computed_rows import (
    MAX_NAMED_ROWS,
    MAX_TIES,
    are_few,
    below_header,
    cited_text,
    count_of,
    each_cited_once,
    own_mark,
    rows_of,
)
from localcrag.crag.state import ComputedAnswer
from localcrag.crag.table_answers.list_questions import asks_for_list
from localcrag.crag.table_answers.rank_wording import place_words
from localcrag.crag.table_answers.table_values import TEMPORAL
from localcrag.crag.table_queries.query_results import QueryResult, ResultLine
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.table_query import COMPARING, Condition, TableQuery, Target
from localcrag.types import Aggregate, Computation, Strip

MAX_LINES = 30
"""The most rows or groups that are listed, all of them named and cited."""
_AGGREGATES = {
    "COUNT": Aggregate.COUNT,
    "SUM": Aggregate.TOTAL,
    "AVG": Aggregate.AVERAGE,
    "MIN": Aggregate.LOWEST,
    "MAX": Aggregate.HIGHEST,
    "SHARE": Aggregate.SHARE,
}
_OPERATORS = {"=": "is", "!=": "is not", "LIKE": "has", "<": "<", "<=": "≤", ">": ">", ">=": "≥"}


def answer_of(query: TableQuery, result: QueryResult, table: QueryTable) -> ComputedAnswer | None:
    """The answer of a result; None if it has no line, too many groups, or one place that too many share.

    Of very many rows that meet its conditions the first are named.

    Args:
        query: the query.
        result: what it gives over the table.
        table: a table that was parsed from a document.
    """
    if not result.lines or not any(map(any, (line.texts for line in result.lines))):
        return None
    if result.all_share or (result.ties >= MAX_TIES and query.limit == 1):
        return None
    if len(result.lines) > MAX_LINES and not is_lookup(query):
        return None
    named: list[int] = []
    lines = list(_lines(query, result, table, named))
    if not named:
        return None
    strips = tuple(table.rows[at].strip for at in named)
    computation = _computation(query, result, table, strips[0])
    told = "\n".join(lines)
    made, strips = each_cited_once(f"{told}\n\n{_explained(query, computation)}", strips)
    text, marks = cited_text(made)
    return ComputedAnswer(computation, text, strips, marks)


def is_lookup(query: TableQuery) -> bool:
    """Whether a query only reads cells of the rows that its conditions tell."""
    return bool(query.conditions) and query.reads_cells


def lists_rows(query: TableQuery, computed: Computation, question: str) -> bool:
    """Whether a query gives cells of all rows that meet its conditions, as a question asks for.

    That is a question for the things of a kind, or a query for the rows on one side of a number that are
    several.
    """
    if not is_lookup(query):
        return False
    is_compared = any(each.operator in COMPARING for each in query.conditions)
    return asks_for_list(question) or (is_compared and computed.rows > 1)


def operation_of(query: TableQuery, table: QueryTable) -> Aggregate:
    """What a query computes."""
    key = query.key
    if query.group:
        of = key if key and key.function else next((t for t in query.targets if t.function), None)
        return _AGGREGATES[of.function] if of else Aggregate.LIST
    if query.targets[0].function:
        return _AGGREGATES[query.targets[0].function]
    if key is None or key.expression is None:
        return Aggregate.LIST
    is_temporal = table.columns[key.expression.column].typed.kind in TEMPORAL
    if is_temporal and not key.expression.operator:
        return Aggregate.LATEST if query.is_descending else Aggregate.EARLIEST
    return Aggregate.HIGHEST if query.is_descending else Aggregate.LOWEST


def _lines(query: TableQuery, result: QueryResult, table: QueryTable, named: list[int]) -> Iterator[str]:
    """The lines of the answer; the rows that they cite are added to ``named``."""
    if query.group:
        yield from _group_lines(query, result, table, named)
    elif query.targets[0].function:
        yield _total_line(query, result.lines[0], table, named)
    elif query.key:
        yield from _ranked_lines(query, result, table, named)
    else:
        yield from _listed_lines(query, result, table, named)


def _group_lines(
    query: TableQuery, result: QueryResult, table: QueryTable, named: list[int]
) -> Iterator[str]:
    most = max(1, MAX_NAMED_ROWS // len(result.lines))
    for line in result.lines:
        shown = [f"{line.texts[0]}"]
        shown += [f"{_name(t)} {text}" for t, text in zip(query.targets[1:], line.texts[1:], strict=True)]
        if query.key and line.key and str(query.key) not in map(str, query.targets):
            shown.append(f"{_name(query.key)} {line.key}")
        told = ": ".join([shown[0], ", ".join(shown[1:])] if shown[1:] else shown)
        yield f"{told} {_cited(line.rows, table, named, most)}"


def _total_line(query: TableQuery, line: ResultLine, table: QueryTable, named: list[int]) -> str:
    target, rows = query.targets[0], line.rows
    if target.function == "COUNT":
        column = target.expression.column if target.expression else table.label
        first: dict[str, int] = {}
        for at in rows:
            cell = " ".join(table.columns[column].cells[at].split()) or f"row {at + 1}"
            first.setdefault(cell.casefold() if target.distinct else f"{at}", at)
        shown = list(first.values())[:MAX_NAMED_ROWS]
        if len({table.shown_cell(column, at) for at in shown}) == 1 < len(shown):
            return f"{line.texts[0]} {_cited(rows, table, named)}"
        names = [f"{table.shown_cell(column, at)} {_mark(at, named)}" for at in shown]
        more = f" and {len(first) - len(shown):,} more" if len(first) > len(shown) else ""
        listed = below_header(column, f"{', '.join(names)}{more}")
        return f"{line.texts[0]} – {listed}" if names else line.texts[0]
    also = "".join(f", {_name(t)} {text}" for t, text in zip(query.targets[1:], line.texts[1:], strict=True))
    if target.function in ("MIN", "MAX"):
        label = table.label
        who = (
            f" ({', '.join(table.shown_cell(label, at) for at in rows[:MAX_TIES])})"
            if label not in _columns(target)
            else ""
        )
        said = _in_time(_name(target)) if _is_temporal(target, table) else _name(target)
        return f"The {said}: {line.texts[0]}{who}{also} {_cited(rows, table, named, MAX_TIES)}"
    return f"The {_name(target)}: {line.texts[0]}{also} {_cited(rows, table, named)}"


def _ranked_lines(
    query: TableQuery, result: QueryResult, table: QueryTable, named: list[int]
) -> Iterator[str]:
    assert query.key is not None
    superlative = f"the {place_words(query.offset + 1)}{operation_of(query, table)} {_name(query.key)}"
    for line in result.lines:
        told = _shown(query, line, table)
        who = ", ".join(filter(None, told))
        label = table.shown_cell(table.label, line.rows[0])
        is_named = label in told
        beside = "" if is_named or not label else f" ({label})"
        if str(query.key) in map(str, query.targets):
            said = superlative.removeprefix("the ")
            yield f"{said[0].upper()}{said[1:]}: {line.key}{beside} {_mark(line.rows[0], named)}"
        elif query.limit == 1:
            yield f"{who} has {superlative}: {line.key}{beside} {_mark(line.rows[0], named)}"
        else:
            yield f"{who}: {_name(query.key)} {line.key}{beside} {_mark(line.rows[0], named)}"


def _listed_lines(
    query: TableQuery, result: QueryResult, table: QueryTable, named: list[int]
) -> Iterator[str]:
    """One line of cells for each row; names alone stand in one line, with the number that is compared."""
    columns = [_name(target) for target in query.targets]
    label, lines = table.label, result.lines[:MAX_LINES]
    left = len(result.lines) - len(lines)
    more = f" and {left:,} more" if left else ""
    if len(lines) > 1 and len(columns) == 1:
        told = [_shown(query, line, table)[0] for line in lines]
        by_rows = len(set(told)) < len(told) or label not in columns
        if not by_rows or len(set(told)) == 1 or is_name(query, table):
            first: dict[str, int] = {}
            for text, line in zip(told, lines, strict=True):
                first.setdefault(text, line.rows[0])
            others = _columns_beside(query, table) if len(first) == len(lines) else []
            listed = ", ".join(
                f"{text}{_beside(table, others, at)} {_mark(at, named)}" for text, at in first.items() if text
            )
            yield below_header(columns[0], f"{listed}{more}")
            return
    for line in lines:
        row = line.rows[0]
        who = table.shown_cell(label, row)
        cells = ", ".join(f"{name} {text}" for name, text in zip(columns, line.texts, strict=True) if text)
        if len(columns) == 1:
            cells = below_header(columns[0], _shown(query, line, table)[0])
        beside = f" ({who})" if who and label not in columns else ""
        yield f"{cells}{beside} {_mark(row, named)}"
    if more:
        yield more.strip()


def _columns_beside(query: TableQuery, table: QueryTable) -> list[str]:
    """What is shown beside each cell of a list: the names of codes, and the one column that is compared."""
    if len(query.selected) != 1:
        return []
    (listed,) = query.selected
    compared = {each.column for each in query.conditions if each.operator in COMPARING} - {listed}
    columns = [table.naming_beside(listed), *(compared if len(compared) == 1 else ())]
    return list(dict.fromkeys(filter(None, columns)))


def _beside(table: QueryTable, columns: Sequence[str], at: int) -> str:
    """The cells of a row in parentheses; "" without any."""
    cells = [cell for column in columns if (cell := table.shown_cell(column, at))]
    return f" ({', '.join(cells)})" if cells else ""


def _shown(query: TableQuery, line: ResultLine, table: QueryTable) -> list[str]:
    """What the targets of a query of cells give for a row, the names of persons whole."""
    chosen = {column for target in query.targets for column in _columns(target)}
    is_part = not chosen >= {*table.name_parts}
    return [
        table.shown_cell(target.expression.column, line.rows[0])
        if is_part and target.expression and target.expression.columns[0] in table.name_parts
        else text
        for target, text in zip(query.targets, line.texts, strict=True)
    ]


def is_name(query: TableQuery, table: QueryTable) -> bool:
    """Whether a query asks for cells of a column of texts."""
    expression = query.targets[0].expression
    return (
        expression is not None and not expression.operator and not table.columns[expression.column].is_ordered
    )


def _computation(query: TableQuery, result: QueryResult, table: QueryTable, strip: Strip) -> Computation:
    of = next((t for t in (*query.targets, *filter(None, [query.key])) if t.function and t.expression), None)
    of = of or query.key or query.targets[0]
    column = str(of.expression).replace('"', "") if of.expression else ""
    left = (
        [f"{count_of(result.without_value, 'row')} without a value of {column}"]
        if result.without_value and column
        else []
    )
    left += [f"{count_of(table.totals, 'row')} of totals"] if table.totals else []
    return Computation(
        operation=operation_of(query, table),
        column=column,
        value="; ".join(dict.fromkeys(_value(query, line) for line in result.lines[:MAX_LINES])),
        conditions=tuple(map(condition_words, query.conditions)),
        rows=max(1, len(result.rows) - result.without_value),
        table_rows=table.size + table.totals,
        left_out=tuple(left),
        source=strip.passage.source,
        page=strip.passage.page,
        counted=table.counted,
    )


def _value(query: TableQuery, line: ResultLine) -> str:
    """What a line gives; of an order what is compared, as that of a maximum is its value."""
    texts = [text for text in line.texts if text]
    if query.key:
        return line.key
    return ": ".join(texts) if query.group else ", ".join(texts)


def condition_words(condition: Condition) -> str:
    """A condition in words."""
    column = condition.column
    match condition.operator:
        case "IS NULL":
            return f"{column} is empty"
        case "IS NOT NULL":
            return f"{column} is not empty"
        case "IN":
            return f"{column} is {' or '.join(condition.values)}"
        case "BETWEEN":
            return f"{column} is between {' and '.join(condition.values)}"
        case operator:
            return f"{column} {_OPERATORS[operator]} {condition.other or condition.values[0]}"


def _explained(query: TableQuery, computation: Computation) -> str:
    """The sentence that says how the answer was computed, or where it was looked up."""
    where = f" where {' and '.join(computation.conditions)}" if computation.conditions else ""
    left = f"; left out: {', '.join(computation.left_out)}" if computation.left_out else ""
    if is_lookup(query):
        file = PurePath(computation.source).name or computation.source
        return f"(Looked up in {file}{where}.)"
    column = f", column {computation.column}" if computation.column else ""
    by = f", by {f'the {query.period} of ' if query.period else ''}{query.group}" if query.group else ""
    return f"(Computed from {rows_of(computation)}{where}{column}{by}{left}.)"


def _name(target: Target) -> str:
    """A target in words: "Price", "total of Price", "rows"."""
    column = str(target.expression).replace('"', "") if target.expression else "rows"
    words = {
        "SUM": "total of ",
        "AVG": "average of ",
        "MIN": "lowest ",
        "MAX": "highest ",
        "COUNT": "",
        "SHARE": "share of ",
    }
    return f"{words.get(target.function, '')}{column}"


def _is_temporal(target: Target, table: QueryTable) -> bool:
    """Whether a target is of the cells of one column of dates or times."""
    columns = _columns(target)
    return len(columns) == 1 and table.columns[columns[0]].typed.kind in TEMPORAL


def _in_time(name: str) -> str:
    """The name of the most or the least of a column, for dates: "latest", not "highest"."""
    return name.replace("highest ", "latest ", 1).replace("lowest ", "earliest ", 1)


def _columns(target: Target) -> Sequence[str]:
    return target.expression.columns if target.expression else ()


def _mark(at: int, named: list[int]) -> str:
    """The citation of a row."""
    if at not in named:
        named.append(at)
    return own_mark(named.index(at) + 1)


def _cited(rows: Sequence[int], table: QueryTable, named: list[int], most: int = MAX_NAMED_ROWS) -> str:
    """The citations of some rows; of many that of the first."""
    shown = rows if are_few(map(table.strip_of, rows), most) else rows[:1]
    first = " (the first of them)" if len(shown) < len(rows) else ""
    return "".join(_mark(at, named) for at in shown) + first
