"""A table and a question as the language model reads them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set

from localcrag.crag import prompts
from localcrag.crag.table_answers.table_values import roots
from localcrag.crag.table_queries.query_table import YEAR_IN_NAME, QueryTable
from localcrag.crag.table_queries.said_values import ALWAYS_SAID, SaidValues
from localcrag.crag.table_queries.table_query import quoted
from localcrag.types import Prompt

MAX_COLUMNS = 24
"""The most columns that a model is shown."""
MAX_NAMES = 3
_MAX_NAME_CHARACTERS = 80
NOTHING_SAID = "-"


def narrowed(table: QueryTable, question: str, said: SaidValues) -> QueryTable:
    """The table with the columns that a question may ask about, in order.

    Of columns that are named after years ("2001", "pcgdp2001") those are left out that the question does not
    say, if it says one of them; of very many columns those that have the fewest words of it, but not the
    first one, nor that which names the rows.
    """
    words = set(roots(question))
    unasked = _of_other_years(table.columns, words)
    if unasked:
        table = table.with_columns([name for name in table.columns if name not in unasked])
    if len(table.columns) <= MAX_COLUMNS:
        return table
    always = {next(iter(table.columns)), table.label}

    def nearness(name: str) -> tuple[bool, bool, int]:
        return (name in said.cells or name in always, name in said.parts, len(words & set(roots(name))))

    ranked = sorted(table.columns, key=nearness, reverse=True)
    kept = set(ranked[:MAX_COLUMNS])
    return table.with_columns([name for name in table.columns if name in kept])


def _of_other_years(names: Iterable[str], words: Set[str]) -> set[str]:
    """The columns that differ from one of a year that a question says in nothing but their year."""
    kinds: dict[str, dict[str, str]] = {}
    for name in names:
        years = YEAR_IN_NAME.findall(name)
        if len(years) == 1:
            kinds.setdefault(YEAR_IN_NAME.sub("", name).strip(), {})[name] = years[0]
    asked = (years for years in kinds.values() if not words.isdisjoint(years.values()))
    return {name for years in asked for name, year in years.items() if year not in words}


def query_prompt(table: QueryTable, question: str, said: SaidValues) -> Prompt:
    """The prompt that asks for a query over a table."""
    return prompts.table_query(question, described(table), said_line(said, table.columns))


def described(table: QueryTable) -> str:
    """The names of a table, its number of rows, and a line for each of its columns."""
    names = ", ".join(name[:_MAX_NAME_CHARACTERS] for name in table.names[:MAX_NAMES])
    lines = [f"Table: {names} ({table.size} rows)"]
    lines += [f"{quoted(name)} {column.described()}" for name, column in table.columns.items()]
    return "\n".join(lines)


def said_line(said: SaidValues, columns: Collection[str]) -> str:
    """What a question says of the cells of the columns that are shown."""
    found = [line for column, line in said.by_column() if column in columns]
    found += [number for number in said.numbers if number not in ALWAYS_SAID]
    found += [*said.periods, *said.times]
    return "; ".join(found) or NOTHING_SAID
