"""What a question says of the cells of a table and a query leaves out, or has too much.

A query that passes over a word of the question which is a cell of the table ("of the **EU** in **2020**")
answers another question. Such conditions are found without the language model, by the cells alone; so are
those that only name the table ("of the **German** country list").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from localcrag.crag.table_answers.list_questions import kind_listed
from localcrag.crag.table_answers.spelled_values import SEX_WORDS, SEXES, SPELLINGS_OF_SEX
from localcrag.crag.table_answers.table_values import WORD, is_missing, root, roots
from localcrag.crag.table_queries.derived_words import cells_of_word
from localcrag.crag.table_queries.query_doubts import (
    OF_TABLE,
    counts_one_name,
    counts_rows,
    is_of_one_name,
    is_of_one_row,
)
from localcrag.crag.table_queries.query_grammar import MAX_CONDITIONS
from localcrag.crag.table_queries.query_table import QueryColumn, QueryTable
from localcrag.crag.table_queries.said_values import SaidValues
from localcrag.crag.table_queries.table_query import Condition, TableQuery

_COUNTED = re.compile(r"\bhow many (?:different |distinct |of the )?([^\W\d_]+)", re.IGNORECASE)
"""How a question names what is counted."""
_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
_MIN_CHARACTERS = 2
_SAY_LITTLE = frozenset({"yes", "no", "none", "true", "false"})
"""Cells of many columns, whose words a question has for other reasons."""


def missing_conditions(query: TableQuery, table: QueryTable, said: SaidValues) -> tuple[Condition, ...]:
    """The conditions that a question says and a query has not.

    A cell counts if it stands in one column alone, beside those that a query only lists the cells of, which
    the query does not name, no name of the table or of
    a column has one of its words, and the conditions of the query lack one; a year, if one column of years
    has it, or without such a column one of days.

    Args:
        query: the query.
        table: the table as the model was shown it.
        said: what the question says of its cells.
    """
    named = {each for name in (*table.names, *table.columns) for each in roots(name)}
    used = {each for condition in query.conditions for value in condition.values for each in roots(value)}
    asked = {*query.columns}
    listed = {*query.selected} if query.reads_cells else set[str]()
    found = [
        *_cells(table, said, named, used, asked, listed),
        *_years(table, said, named | used | {str(query.limit)}, asked),
    ]
    return tuple(found)


def read_over_rows(
    query: TableQuery, table: QueryTable, question: str, said: SaidValues
) -> tuple[TableQuery, tuple[Condition, ...]] | None:
    """A query over several rows, and the conditions that it passes over; None if it counts the row of a name.

    What names the table, or is the name of one row, was taken for a condition where one row is counted or put
    in order: "How many economics journals are of Elsevier?" asks for no "Economic Journal".
    """
    if query.key and not query.group:
        query = _without_common_words(without_names(query, table), table)
    if not counts_one_name(query, table):
        return query, missing_conditions(query, table, said)
    of_all = without_mention(query, question)
    if of_all is not None and not counts_one_name(of_all, table):
        return of_all, ()
    of_all = without_names(query, table)
    names = {each.column for each in query.conditions if each not in of_all.conditions}
    missing = [each for each in missing_conditions(of_all, table, said) if each.column not in names]
    return (of_all, tuple(missing)) if missing else None


def without_names(query: TableQuery, table: QueryTable) -> TableQuery:
    """A query without the conditions that hold for one row each, by its name."""
    return replace(query, conditions=tuple(c for c in query.conditions if not is_of_one_name(c, table)))


def _without_common_words(query: TableQuery, table: QueryTable) -> TableQuery:
    """A query without conditions that one row has a word in small letters: one row is not put in order."""
    words = (each for each in query.conditions if each.operator == "LIKE" and each.values[0].islower())
    dropped = [each for each in words if is_of_one_row(each, table)]
    return replace(query, conditions=tuple(each for each in query.conditions if each not in dropped))


def uncounted_blanks(query: TableQuery, table: QueryTable, question: str) -> tuple[Condition, ...]:
    """That rows have a cell in the column of what is counted, if some have none and a query counts all.

    "How many ages does the Cretaceous have?" does not count the rows of the Cretaceous and its epochs.
    """
    names = names_of_counted(question) if counts_rows(query) else set()
    return tuple(
        Condition(column.name, "IS NOT NULL")
        for column in table.columns.values()
        if roots(column.name) in names and any(map(is_missing, column.cells))
    )


def names_of_counted(question: str) -> set[tuple[str, ...]]:
    """The names, in words for comparison, that a column of what a question counts may have."""
    counted = _COUNTED.search(question)
    return {roots(counted[1]), roots(counted[1].removesuffix("s"))} if counted else set()


def without_mention(query: TableQuery, question: str) -> TableQuery | None:
    """A query without the conditions whose words only name the table in its question; None if it has none.

    "How many of the German country list use the euro?" asks for no country that is Germany.
    """
    mention = OF_TABLE.search(question)
    words = WORD.findall(mention[0]) if mention else []
    said = {root(each) for word in words for each in (word, *_named_by(word, query))}
    kept = tuple(each for each in query.conditions if not {*roots(" ".join(each.values))} <= said)
    return replace(query, conditions=kept) if kept and len(kept) < len(query.conditions) else None


def without_kind(query: TableQuery, question: str) -> TableQuery | None:
    """A query for a list without the conditions that only name what is listed; None if it has none.

    "Which municipalities have more than 500,000 people?" asks for cities and towns as well.
    """
    kind = {each for word in kind_listed(question) for each in roots(word)} if query.reads_cells else set()
    kept = tuple(
        each for each in query.conditions if not each.are_texts or not {*roots(" ".join(each.values))} <= kind
    )
    return replace(query, conditions=kept) if kept and len(kept) < len(query.conditions) else None


def _named_by(word: str, query: TableQuery) -> list[str]:
    """The values of a query that a word is derived from: "German" of Germany."""
    return [cell for each in query.conditions for cell in cells_of_word(word, each.values)]


def unasked_sex(query: TableQuery, table: QueryTable, question: str) -> tuple[Condition, ...]:
    """That rows are of women, or of men, if a question names these and one column has the sex of each."""
    named = {SPELLINGS_OF_SEX[each] for each in {*roots(question)} & SEXES}
    columns = [column for column in table.columns.values() if _tells_sex(column)]
    if len(named) != 1 or len(columns) != 1 or columns[0].name in query.columns:
        return ()
    (spellings,) = named
    cells = [cell for cell in columns[0].distinct if cell.casefold() in spellings]
    return (Condition(columns[0].name, "=", (cells[0],), are_texts=True),) if len(cells) == 1 else ()


def _tells_sex(column: QueryColumn) -> bool:
    """Whether a column has the sex of persons, by its name or since its cells say it in full."""
    said = {cell.casefold() for cell in column.distinct}
    every = {each for spellings in SPELLINGS_OF_SEX.values() for each in spellings if len(each) > 1}
    return bool(SEX_WORDS & {*roots(column.name)}) or bool(said and said <= every)


def with_conditions(query: TableQuery, conditions: tuple[Condition, ...]) -> TableQuery | None:
    """A query with further conditions, which take the place of parts of them; None if these are too many.

    "Marine fish" in a column takes the place of "fish" in another one.
    """
    added = [set(roots(value)) for condition in conditions for value in condition.values]
    kept = (
        each
        for each in query.conditions
        if each.operator != "LIKE" or not any(set(roots(each.values[0])) < words for words in added)
    )
    every = (*kept, *conditions)
    return replace(query, conditions=every) if len(every) <= MAX_CONDITIONS else None


def _cells(
    table: QueryTable, said: SaidValues, named: set[str], used: set[str], asked: set[str], listed: set[str]
) -> Iterator[Condition]:
    by_words: dict[tuple[str, ...], list[str]] = {}
    for column, cells in said.cells.items():
        for cell in cells if column not in listed else ():
            by_words.setdefault(roots(cell), []).append(column)
    for column, cells in said.cells.items():
        if column not in table.columns or column in asked:
            continue
        told = tuple(
            cell
            for cell in cells
            if len(cell) >= _MIN_CHARACTERS
            and len(by_words[roots(cell)]) == 1
            and cell.casefold() not in _SAY_LITTLE
            and named.isdisjoint(words := roots(cell))
            and not used.issuperset(words)
        )
        if told:
            operator = "=" if len(told) == 1 else "IN"
            yield Condition(column, operator, told, are_texts=True)


def _years(table: QueryTable, said: SaidValues, known: set[str], asked: set[str]) -> Iterator[Condition]:
    years = [period for period in said.periods if _YEAR.fullmatch(period)]
    if len(years) != 1 or years[0] in known:
        return
    having = [column for column in table.columns.values() if _has_year(column, years[0])]
    having = [column for column in having if column.is_number] or having
    if len(having) == 1 and having[0].name not in asked:
        if having[0].is_number:
            yield Condition(having[0].name, "=", (years[0],))
        else:
            yield Condition(having[0].name, "LIKE", (years[0],), are_texts=True)


def _has_year(column: QueryColumn, year: str) -> bool:
    """Whether a column of years or days has a year."""
    values = [value for value in column.typed.values if value is not None]
    if column.is_number:
        return column.has_years and int(year) in values
    return column.kind == "date" and any(str(value).startswith(year) for value in values)
