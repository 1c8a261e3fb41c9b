"""Other looks of a table, so that no question over it is known by heart: names of columns in another style,
and columns of other tables among its own."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from localcrag.crag.table_answers.table_values import roots
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.table_query import ColumnExpression, Target, parsed_query

MAX_STRANGE = 3
"""The most columns of another table that are put among those of one."""
MAX_COLUMNS = 14
"""The most columns of a table that gets others."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VOWELS = re.compile(r"(?<=\w)[aeiou]")
_MIN_SHORTENED, _SHORT = 6, 4


def restyled_names(names: Sequence[str], rng: random.Random) -> dict[str, str]:
    """Each name of a column in one style that all have, as exports write them; none if two become one.

    Names with other letters than those of English keep all as they are.
    """
    if not all(name.isascii() and _WORD.search(name) for name in names):
        return {}
    join = rng.choice((_snake, _snake, _camel, _pascal, _upper, _plain))
    shorten = rng.choice((_whole, _whole, _first_letters, _consonants))
    made = {name: join([shorten(word.lower()) for word in _WORD.findall(name)]) for name in names}
    return made if len(set(made.values())) == len(made) else {}


def renamed(table: QueryTable, names: Mapping[str, str]) -> QueryTable:
    """A table with other names of its columns."""
    columns = {names[name]: replace(column, name=names[name]) for name, column in table.columns.items()}
    return replace(table, columns=columns)


def renamed_query(text: str, names: Mapping[str, str]) -> str:
    """A query with other names of the columns; without one as it is."""
    query = parsed_query(text)
    if query is None:
        return text

    def of(target: Target) -> Target:
        each = target.expression
        if each is None:
            return target
        other = names[each.other] if each.other else ""
        return replace(target, expression=ColumnExpression(names[each.column], each.operator, other))

    conditions = tuple(
        replace(each, column=names[each.column], other=names[each.other] if each.other else "")
        for each in query.conditions
    )
    return str(
        replace(
            query,
            targets=tuple(map(of, query.targets)),
            conditions=conditions,
            group=names[query.group] if query.group else "",
            key=of(query.key) if query.key else None,
        )
    )


def with_strange_columns(
    table: QueryTable, other: QueryTable, questions: Sequence[str], rng: random.Random
) -> QueryTable:
    """A table with a few columns of another one among its own, none of whose words it or a question has."""
    known = {root for text in (*table.columns, *table.names, *questions) for root in roots(text)}
    free = [column for name, column in other.columns.items() if known.isdisjoint(roots(name))]
    count = min(len(free), rng.randint(1, MAX_STRANGE), max(0, MAX_COLUMNS - len(table.columns)))
    columns = list(table.columns.items())
    for column in rng.sample(free, count):
        columns.insert(rng.randint(1, len(columns)), (column.name, column))
    return replace(table, columns=dict(columns))


def _snake(words: Sequence[str]) -> str:
    return "_".join(words)


def _camel(words: Sequence[str]) -> str:
    return words[0] + "".join(word.capitalize() for word in words[1:])


def _pascal(words: Sequence[str]) -> str:
    return "".join(word.capitalize() for word in words)


def _upper(words: Sequence[str]) -> str:
    return "_".join(words).upper()


def _plain(words: Sequence[str]) -> str:
    return " ".join(words).capitalize()


def _whole(word: str) -> str:
    return word


def _first_letters(word: str) -> str:
    return word if len(word) < _MIN_SHORTENED else word[:_SHORT]


def _consonants(word: str) -> str:
    return word if len(word) < _MIN_SHORTENED else _VOWELS.sub("", word)[:_SHORT]
