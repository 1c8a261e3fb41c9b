"""What a question says of the cells and columns of a table and a query leaves out.

A query that passes over a word of the question which is a cell of the table ("of the **EU** in **2020**")
answers another question. Such conditions are found without the language model, by the cells alone. So are
columns that a question names and a query does not ask for ("at the Olympic **competition**").
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from localcrag.crag.questions.query_terms import STOP_WORDS
from localcrag.crag.table_answers.table_values import WORD, is_missing, root, roots, word_list
from localcrag.crag.table_answers.table_vocabulary import QUANTITY_WORDS, SUPERLATIVES
from localcrag.crag.table_queries.derived_words import cells_of_word
from localcrag.crag.table_queries.query_grammar import MAX_CONDITIONS
from localcrag.crag.table_queries.query_table import QueryColumn, QueryTable
from localcrag.crag.table_queries.said_values import SaidValues
from localcrag.crag.table_queries.table_query import Condition, TableQuery

_YEAR = re.compile(r"1[5-9]\d\d|20\d\d")
COUNTED = re.compile(r"\bhow many (?:different |distinct |of the )?([^\W\d_]+)", re.IGNORECASE)
"""How a question names what is counted."""
_SHARE_OF = re.compile(
    r"\b(?:share|percentage|per ?cent|proportion|fraction|%) of (?:the |all |our )?"
    r"(?P<whole>(?:[\w-]+ ){1,4})",
    re.IGNORECASE,
)
"""How a question names that of which a share is asked for, by its first words."""
_OF_TABLE = re.compile(
    r"\b(?:in|of|on|from|among|according to) (?:the|our|this|that|my) (?:[\w'’-]+ ){0,5}"
    r"(?:list|table|ranking|data ?set|data|file|(?:spread)?sheet|register|figures|statistics|survey)\b",
    re.IGNORECASE,
)
"""How a question names the table that it means: "in the 2022 airport ranking"."""
_MARKS = frozenset({"1", "0", "y", "n", "yes", "no", "true", "false"})
YEARS = range(1500, 2101)
"""The numbers that are years if all those of a column are."""
MIN_ALIKE = 2
"""How many rows on average have the same cell in a column whose name asks for one."""
MIN_NAMES_SHARE = 0.9
"""The share of the cells of a column that differ if they are names."""
_MIN_CHARACTERS = 2
_FORM_WORDS = frozenset(
    map(
        root,
        word_list(
            "how many much number total sum average mean share count most least more less highest lowest"
        ),
    )
) | frozenset(map(root, (*STOP_WORDS, *SUPERLATIVES)))
"""Words of questions that stand for what is computed, and not for what of."""
_SAY_LITTLE = frozenset({"yes", "no", "none", "true", "false"})
"""Cells of many columns, whose words a question has for other reasons."""


def missing_conditions(query: TableQuery, table: QueryTable, said: SaidValues) -> tuple[Condition, ...]:
    """The conditions that a question says and a query has not.

    A cell counts if it stands in one column alone, which the query does not name, no name of the table or of
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
    found = [
        *_cells(table, said, named, used, asked),
        *_years(table, said, named | used | {str(query.limit)}, asked),
    ]
    return tuple(found)


def uncounted_blanks(query: TableQuery, table: QueryTable, question: str) -> tuple[Condition, ...]:
    """That rows have a cell in the column of what is counted, if some have none and a query counts all.

    "How many ages does the Cretaceous have?" does not count the rows of the Cretaceous and its epochs.
    """
    counted = COUNTED.search(question)
    if counted is None or not _counts_rows(query):
        return ()
    names = {roots(counted[1]), roots(counted[1].removesuffix("s"))}
    return tuple(
        Condition(column.name, "IS NOT NULL")
        for column in table.columns.values()
        if roots(column.name) in names and any(map(is_missing, column.cells))
    )


def passes_over_column(query: TableQuery, table: QueryTable, question: str) -> bool:
    """Whether a question has the name of a column of several rows alike that a query does not ask for.

    A column of which all cells differ has what the rows are, and a question names these for that. The words
    of the table, of a column that the query has and of its conditions are there for other reasons.
    """
    conditions = (value for condition in query.conditions for value in condition.values)
    used = {each for name in (*table.names, *query.columns, *conditions) for each in roots(name)}
    asked = {*roots(_OF_TABLE.sub(" ", question))} - used
    others = [column for column in table.columns.values() if column.name not in query.columns]
    return any(
        (words := {*roots(column.name)})
        and words <= asked
        and MIN_ALIKE * len(column.distinct) <= len(column.filled)
        for column in others
    )


def measures_another(query: TableQuery, table: QueryTable, question: str) -> bool:
    """Whether a query measures by a column of numbers that a question does not say, and it says another one.

    "How many died of disease?" is not told by the column "wounds" beside "disease".
    """
    asked = {*roots(_OF_TABLE.sub(" ", question))}
    parts = [
        target.expression for target in (*query.targets, *filter(None, [query.key])) if target.expression
    ]
    measured = {name for part in parts for name in part.columns if table.columns[name].is_number}
    unsaid = [name for name in measured if asked.isdisjoint(roots(name))]
    others = (column.name for column in table.columns.values() if column.is_number)
    return bool(unsaid) and any(
        name not in query.columns and (words := {*roots(name)}) and words <= asked for name in others
    )


def is_of_other_things(query: TableQuery, table: QueryTable, question: str, said: SaidValues) -> bool:
    """Whether a question has no word of a table but those of its own form, and a query measures all its rows.

    "The maximum number of books that a collection can hold" is not the highest of any column.
    """
    is_measured = query.targets[0].function not in ("", "COUNT", "SHARE")
    named = {each for name in (*table.names, *table.columns) for each in roots(name)}
    words = {*roots(question)} - _FORM_WORDS
    meant = {each for word in WORD.findall(question.casefold()) for each in _meant_by(word)}
    is_of_all = not (query.conditions or query.group or said.cells or said.parts)
    return is_measured and is_of_all and named.isdisjoint(words | meant)


def _meant_by(superlative: str) -> frozenset[str]:
    """The words for columns that a superlative means; none for other words."""
    about = SUPERLATIVES.get(superlative, ("", ""))[1]
    return QUANTITY_WORDS.get(about, frozenset()) | ({root(about)} if about else frozenset())


def takes_whole_for_part(query: TableQuery, question: str) -> bool:
    """Whether a query gives the share of the rows of which a question asks for the share of a part.

    "What share of the stage IV patients died?" asks for no share of stage IV among all patients, but what it
    asks for is more than a query can say.
    """
    asked = _SHARE_OF.search(question)
    if asked is None or query.targets[0].function != "SHARE":
        return False
    whole = {*roots(asked["whole"])}
    said = [{*roots(f"{each.column} {' '.join(each.values)}")} - _MARKS for each in query.conditions]
    return any(words and words <= whole for words in said)


def counts_one_name(query: TableQuery, table: QueryTable) -> bool:
    """Whether a query counts the one row of a name: that is 1, whatever of it a question asks for."""
    of_names = (
        condition.operator == "="
        and len(column.distinct) > max(1, MIN_NAMES_SHARE * len(column.filled))
        and sum(cell in condition.values for cell in column.cells) == 1
        for condition in query.conditions
        if (column := table.columns.get(condition.column)) is not None and not column.is_ordered
    )
    return _counts_rows(query) and any(of_names)


def _counts_rows(query: TableQuery) -> bool:
    """Whether a query gives the number of the rows that meet its conditions."""
    target = query.targets[0]
    return not query.group and target.function == "COUNT" and target.expression is None


def without_mention(query: TableQuery, question: str) -> TableQuery | None:
    """A query without the conditions whose words only name the table in its question; None if it has none.

    "How many of the German country list use the euro?" asks for no country that is Germany.
    """
    mention = _OF_TABLE.search(question)
    words = WORD.findall(mention[0]) if mention else []
    said = {root(each) for word in words for each in (word, *_named_by(word, query))}
    kept = tuple(each for each in query.conditions if not {*roots(" ".join(each.values))} <= said)
    return replace(query, conditions=kept) if kept and len(kept) < len(query.conditions) else None


def _named_by(word: str, query: TableQuery) -> list[str]:
    """The values of a query that a word is derived from: "German" of Germany."""
    return [cell for each in query.conditions for cell in cells_of_word(word, each.values)]


def repeats_name(query: TableQuery) -> bool:
    """Whether a condition asks for the name of its column, which no question means: airports in "Airport"."""
    return any(
        condition.operator == "LIKE" and {*roots(condition.values[0])} <= {*roots(condition.column)}
        for condition in query.conditions
    )


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
    table: QueryTable, said: SaidValues, named: set[str], used: set[str], asked: set[str]
) -> Iterator[Condition]:
    by_words: dict[tuple[str, ...], list[str]] = {}
    for column, cells in said.cells.items():
        for cell in cells:
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
        return int(year) in values and all(value in YEARS for value in values)
    return column.kind == "date" and any(str(value).startswith(year) for value in values)
