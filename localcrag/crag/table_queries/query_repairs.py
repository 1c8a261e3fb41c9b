"""Repairs of a query by the words of its question, where the model took one column or cell for another."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

from localcrag.crag.table_answers.column_merit import is_better_high
from localcrag.crag.table_answers.parsed_tables import ROW
from localcrag.crag.table_answers.table_totals import RATES, STATE_WORDS, adds_up_over_days
from localcrag.crag.table_answers.table_values import UNITS, WORD, root, roots, word_list
from localcrag.crag.table_answers.table_vocabulary import NAMING_WORDS, QUANTITY_WORDS, SUPERLATIVES
from localcrag.crag.table_queries.derived_words import cells_of_word
from localcrag.crag.table_queries.query_directions import directed
from localcrag.crag.table_queries.query_doubts import (
    MIN_ALIKE,
    guesses_column,
    ranks_rows_of_groups,
    reads_every_period,
    unnamed_numbers,
)
from localcrag.crag.table_queries.query_results import rows_of
from localcrag.crag.table_queries.query_table import YEAR_IN_NAME, QueryTable
from localcrag.crag.table_queries.table_query import (
    COMPARING,
    ColumnExpression,
    Condition,
    TableQuery,
    Target,
)

MAX_UNNAMED = 4
"""The most columns without a name that are looked up together."""
_CONTRAST = re.compile(r"\b(?:rather than|instead of) (?:the |an? )?(?P<what>[\w-]+)", re.IGNORECASE)
_LEFT_OUT = re.compile(
    r"\b(?:leaving (?:out|aside)|except(?:ing)?(?: for)?|exclud(?:ing|ed)|apart from|other than|not counting"
    r"|ignoring) (?:the |all |any |those )?(?P<what>[^,;:?()]+?)(?: (?:ones?|rows?|entries))?"
    r"(?=$|[,;:?()]| (?:which|what|how|who)\b)",
    re.IGNORECASE,
)
"""How a question says which rows do not count."""
_LISTING = re.compile(r"[,;/|]")
"""What parts the items of a list in a cell."""
_NAME = re.compile(r"(?<=\w )[A-Z][\w-]+")
"""A word with a capital that does not begin the question."""
_PERIOD_ASKED = re.compile(r"\b(?:which|what) (?P<period>year|month)\b", re.IGNORECASE)
_TIME_ASKED = re.compile(
    r"\b(?:which|what) (?:(?:is|was) the )?(?:[\w-]+ )?(?P<unit>day|date|year)\b", re.IGNORECASE
)
_PERCENT = re.compile(r"(?<![\w.])(\d+(?:[.,]\d+)?) ?(?:%|per ?cent\b)", re.IGNORECASE)
_ON_AVERAGE = re.compile(r"\b(?:on average|average|mean)\b", re.IGNORECASE)
_IN_TOTAL = re.compile(
    r"\b(?:in total|in all|total|altogether|all together|overall|combined|(?:across|over) all)\b",
    re.IGNORECASE,
)
"""Words for what a group has on average, and for all that it has."""
_MOST = re.compile(r"\b(?:the )?(?:most|fewest|least)\b(?! of (?:the|all)\b)", re.IGNORECASE)
_OF_ONE = re.compile(r"\b(?:ever|on record|single|in (?:an?|one|any))\b", re.IGNORECASE)
"""How a question asks who has the most, and what says that it is the most at one time."""
_MUCH = re.compile(r"\bhow (?:much|many)\b", re.IGNORECASE)
_HOURS = frozenset(map(root, word_list("hours minutes")))
_MEAN_MUCH = frozenset({"newest"})
"""Superlatives that mean one column or another: hired last, or born last."""
_AGES = frozenset(map(root, word_list("age ages born birthday birthdate dob")))
"""Words for columns of how old persons are."""


def repaired(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query with each of the repairs of this module that it needs; the query itself if it needs none."""
    query = with_named_flag(without_contrast(query, question), table, question)
    query = with_asked_period(with_asked_time(query, table, question), table, question)
    query = with_meant_measure(with_groups(query, table, question), table, question)
    query = with_merit(with_said_measure(query, table, question), table, question)
    return surely_repaired(query, table, question)


def surely_repaired(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query with what the words of a question leave no doubt of, however sure the model is of it."""
    query = within_period(with_share(directed(query, table, question), table, question), table, question)
    query = with_summed_groups(without_left_out(query, table, question), table, question)
    query = with_filled_names(with_summed_cells(query, table, question), table, question)
    return with_unnamed(with_named_group(query), table)


def with_named_group(query: TableQuery) -> TableQuery:
    """A query that names each group by what its rows have in common, and not by other cells of these."""
    first, *others = query.targets
    if not query.group or query.period or first.function or first.expression is None:
        return query
    named = Target("", ColumnExpression(query.group))
    return query if first == named or named in others else replace(query, targets=(named, *others))


def without_left_out(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query that leaves out the rows of a cell which a question excepts: "leaving out the cancelled ones".

    It takes the place of whatever else the query asks of that column.
    """
    left = _LEFT_OUT.search(question)
    words = {*roots(left["what"])} if left else set()
    found = [
        Condition(column.name, "!=", (cell,), are_texts=True)
        for column in table.columns.values()
        if words and not column.is_ordered
        for cell in column.distinct
        if (own := {*roots(cell)}) and own <= words
    ]
    if len(found) != 1 or found[0] in query.conditions:
        return query
    kept = tuple(each for each in query.conditions if each.column != found[0].column)
    return replace(query, conditions=(*kept, *found))


def with_filled_names(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query that lists the names of its rows, and not other texts of them that some of them lack.

    "Which elements are liquid?" asks for no "alternate_names", which few have.
    """
    said = query.targets[0].expression
    if len(query.targets) != 1 or not query.reads_cells or said is None or said.column == table.label:
        return query
    own = {*roots(said.column)} - NAMING_WORDS
    is_asked = bool(own) and not own.isdisjoint(roots(question))
    label, listed = table.columns[table.label], table.columns[said.column]
    rows = [] if is_asked or listed.is_ordered else rows_of(query, table)
    lacks_some = any(not listed.cells[at].strip() and label.cells[at].strip() for at in rows)
    named = Target("", ColumnExpression(label.name))
    return replace(query, targets=(named,)) if len(rows) > 1 and lacks_some else query


def with_items_of_lists(query: TableQuery, table: QueryTable) -> TableQuery:
    """A query for the cells that list a value among others, too: "Couscous" and "Couscous, Tagine"."""

    def told(condition: Condition) -> Condition:
        column = table.columns.get(condition.column)
        is_text = condition.operator == "=" and condition.are_texts and len(condition.values) == 1
        if column is None or column.is_ordered or not is_text:
            return condition
        value = condition.values[0].casefold()
        listing = (cell for cell in column.distinct if cell.casefold() != value)
        is_listed = any(value in map(str.strip, _LISTING.split(cell.casefold())) for cell in listing)
        return replace(condition, operator="LIKE") if is_listed else condition

    return replace(query, conditions=tuple(map(told, query.conditions)))


def within_period(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query for the days of a year, or of a month, without the first day of the next one.

    "Which contracts expire in 2024?" asks for none of 1 January 2025, of which it says nothing.
    """
    said = {*YEAR_IN_NAME.findall(question)}

    def told(condition: Condition) -> Condition:
        if condition.operator != "BETWEEN" or table.columns[condition.column].kind != "date":
            return condition
        try:
            first, last = map(date.fromisoformat, condition.values)
        except ValueError:
            return condition
        is_next = last.day == 1 == first.day and last > first and last.isoformat() not in question
        is_unsaid = last.month == 1 == first.month and str(last.year) not in said
        is_month = (last.year, last.month) == (first.year + first.month // 12, first.month % 12 + 1)
        if not is_next or not (is_unsaid or is_month):
            return condition
        return replace(condition, values=(condition.values[0], (last - timedelta(1)).isoformat()))

    return replace(query, conditions=tuple(map(told, query.conditions)))


def with_share(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query that compares shares with 0.85 where a question says "85 %", and no cell is above 1."""
    said = {each.replace(",", "") for each in _PERCENT.findall(question)}

    def scaled(condition: Condition) -> Condition:
        values = table.columns[condition.column].typed.values if condition.operator in COMPARING else ()
        are_shares = bool(values) and all(
            isinstance(v, Decimal) and 0 <= v <= 1 for v in values if v is not None
        )
        if not are_shares or not said.issuperset(condition.values):
            return condition
        return replace(condition, values=tuple(f"{Decimal(value) / 100:f}" for value in condition.values))

    return replace(query, conditions=tuple(map(scaled, query.conditions)))


def with_unnamed(query: TableQuery, table: QueryTable) -> TableQuery:
    """A query that looks up a column of numbers without a name, with all such: which it is, nobody knows."""
    unnamed = unnamed_numbers(table)
    if not query.reads_cells or len(unnamed) > MAX_UNNAMED or not guesses_column(query, table):
        return query
    return replace(query, targets=tuple(Target("", ColumnExpression(name)) for name in unnamed))


def with_named_flag(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query with the column of marks that a question names, in the place of one that it does not.

    Of the columns "asia" and "africa" that hold 0 or 1, "African" names the latter.
    """
    flags = [column.name for column in table.columns.values() if {*column.filled} == {"0", "1"}]
    named = [name for name in flags if _is_said(name, question)]
    wrong = {each.column for each in query.conditions if each.column in flags and each.column not in named}
    if len(named) != 1 or named[0] in query.columns or len(wrong) != 1:
        return query
    return replace(
        query,
        conditions=tuple(
            replace(each, column=named[0]) if each.column in wrong else each for each in query.conditions
        ),
    )


def with_meant_measure(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query in the order of the one column that a superlative means, in the place of one that nobody says.

    "Which nation sent the youngest squad?" means the column "Age", and not "MarketValue".
    """
    key, measure = query.key, query.ordering_column
    if key is None or not measure:
        return query
    words = _words(question)
    kinds = {SUPERLATIVES[word][1] for word in words if word in SUPERLATIVES and word not in _MEAN_MUCH}
    kinds -= {"", "time", "merit", "length"}
    if len(kinds) != 1 or not {*roots(question)}.isdisjoint(roots(measure)):
        return query
    (kind,) = kinds
    meant = QUANTITY_WORDS[kind] | {root(kind)} | (_AGES if kind == "age" else frozenset())
    if meant & {*roots(measure)}:
        return query
    ordered = [each.name for each in table.columns.values() if each.is_ordered]
    columns = [name for name in ordered if meant & {*roots(name)}]
    if len(columns) != 1 or columns[0] in query.columns:
        return query
    return replace(query, key=replace(key, expression=ColumnExpression(columns[0])))


def with_said_measure(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query that measures by the column of numbers whose name a question writes as a name.

    "Where did Nader get the most votes?" is in the order of "NADER", and not of "BUSH", of which it says
    nothing.
    """
    words, names = {*roots(question)}, {*roots(" ".join(_NAME.findall(question)))}
    targets = (*query.targets, *filter(None, [query.key]))
    measures = [
        target.expression for target in targets if target.expression and not target.expression.operator
    ]
    unsaid = {each.column for each in measures if words.isdisjoint(roots(each.column))}
    unsaid = {name for name in unsaid if table.columns[name].is_number}
    others = (column.name for column in table.columns.values() if column.is_number)
    said = [
        name for name in others if name not in query.columns and {*roots(name)} and {*roots(name)} <= names
    ]
    if len(unsaid) != 1 or len(said) != 1:
        return query

    def told(target: Target) -> Target:
        is_other = target.expression is not None and target.expression.columns == (*unsaid,)
        return replace(target, expression=ColumnExpression(said[0])) if is_other else target

    return replace(query, targets=tuple(map(told, query.targets)), key=told(query.key) if query.key else None)


def with_asked_time(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query for the one column of days, or of years, if a question asks which one and it does for neither.

    "Which was the coldest day?" is not told by the number of the station.
    """
    asked = _TIME_ASKED.search(question)
    target = query.targets[0]
    if asked is None or target.function or target.expression is None or query.group or not query.key:
        return query
    is_day = asked["unit"].lower() in ("day", "date")
    times = [
        column.name
        for column in table.columns.values()
        if (column.kind == "date" if is_day else column.has_years)
    ]
    asks_time = any(
        table.columns[each].kind == "date" or table.columns[each].has_years
        for each in target.expression.columns
    )
    if len(times) != 1 or asks_time:
        return query
    return replace(query, targets=(Target(expression=ColumnExpression(times[0])), *query.targets[1:]))


def with_asked_period(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query by the year, or the month, of a column of dates, if a question asks which one.

    Months are those of one year: of several "May" would be one of each.
    """
    asked = _PERIOD_ASKED.search(question)
    if asked is None or not query.group or table.columns[query.group].kind != "date":
        return query
    years = {value.year for value in table.columns[query.group].typed.values if isinstance(value, date)}
    period = asked["period"].lower()
    return replace(query, period=period) if period == "year" or len(years) == 1 else query


def with_groups(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query by groups, if a question asks which of them has the most on average, or in total.

    The best row of a column of things that have several rows each is not that of the thing. A column that is
    an average or a total by its name has one for each row.
    """
    measure, target = query.ordering_column, query.targets[0].expression
    functions = [name for name, words in (("AVG", _ON_AVERAGE), ("SUM", _IN_TOTAL)) if words.search(question)]
    if not measure or target is None or query.targets[0].function or query.group or len(functions) != 1:
        return query
    column = table.columns[target.column]
    are_several = MIN_ALIKE * len(column.distinct) <= len(column.filled)
    is_told = _ON_AVERAGE.search(measure) or _IN_TOTAL.search(measure)
    if target.operator or is_told or not are_several or not table.columns[measure].is_number:
        return query
    key = Target(functions[0], ColumnExpression(measure))
    return replace(query, targets=query.targets[:1], group=target.column, key=key)


def with_summed_groups(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query for the sums of groups, if a question asks which has the most of what adds up over their rows.

    "Which courier covered the most kilometres?" is not told by the longest of all trips; which trip was the
    longest is. Nor is the most of several months told by one of them.
    """
    measure, target = query.ordering_column, query.targets[0].expression
    is_of_all = _MOST.search(question) is not None and _OF_ONE.search(question) is None
    if not (ranks_rows_of_groups(query, table) and measure and target and is_of_all):
        return query
    words = {*roots(measure)}
    is_of_cells = table.counted != ROW and not words & (RATES | STATE_WORDS)
    if not (is_of_cells or adds_up_over_days(words, {table.columns[measure].typed.unit, *words & UNITS})):
        return query
    key = Target("SUM", ColumnExpression(measure))
    return replace(query, targets=query.targets[:1], group=target.column, key=key)


def with_summed_cells(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query for the sum of the cells of a row, if a question asks how much there is of what adds up.

    "How many hours did Bert work?" is told by none of the days of the week that are columns.
    """
    target = query.targets[0]
    if not reads_every_period(query, table) or not _MUCH.search(question) or len(query.targets) > 1:
        return query
    words = {*roots(target.expression.column)} if target.expression else set()
    is_flow = words & _HOURS or adds_up_over_days(words, {table.columns[[*table.columns][-1]].typed.unit})
    return replace(query, targets=(replace(target, function="SUM"),)) if is_flow else query


def with_merit(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query with the best or the worst first: the worst infant mortality is the highest, and no rating is.

    It stays as it is in the order of a column of which it is not clear whether more is better, as the best
    price is: to whom?
    """
    said, measure = {*_words(question)} & {"best", "worst"}, query.ordering_column
    if len(said) != 1 or not measure:
        return query
    column = table.columns[measure]
    numbers = [value for value in column.typed.values if isinstance(value, Decimal)]
    is_high = is_better_high(column.name, table.names, numbers)
    if is_high is None or (said == {"best"} and not is_high):
        return query
    return replace(query, is_descending=is_high is (said == {"best"}))


def without_contrast(query: TableQuery, question: str) -> TableQuery:
    """A query without the cells that a question only sets others apart from: "mass rather than volume"."""
    contrast = {each for match in _CONTRAST.finditer(question) for each in roots(match["what"])}

    def told(condition: Condition) -> Condition:
        kept = tuple(value for value in condition.values if not {*roots(value)} <= contrast)
        if condition.operator != "IN" or not 0 < len(kept) < len(condition.values):
            return condition
        return replace(condition, operator="IN" if len(kept) > 1 else "=", values=kept)

    return replace(query, conditions=tuple(map(told, query.conditions))) if contrast else query


def _is_said(column: str, question: str) -> bool:
    """Whether a question has the name of a column, or a word that is derived from it: "African"."""
    words = (match[0] for match in WORD.finditer(question))
    return {*roots(column)} <= {*roots(question)} or any(cells_of_word(word, [column]) for word in words)


def _words(question: str) -> list[str]:
    return [match[0].casefold() for match in WORD.finditer(question)]
