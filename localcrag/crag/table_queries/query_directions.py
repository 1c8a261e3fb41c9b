"""What follows from the words of a question alone: which end comes first, and what is less than what.

The northernmost has the highest latitude, the youngest the latest day of birth, and what fell between two
years is less in the later one. A model that is sure of a query may still take the wrong end.
"""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import replace

from localcrag.crag.table_answers.column_merit import takes_time
from localcrag.crag.table_answers.table_values import root, roots, word_list
from localcrag.crag.table_answers.table_vocabulary import QUANTITY_WORDS
from localcrag.crag.table_queries.query_doubts import asks_for_rise, has_gains_and_losses
from localcrag.crag.table_queries.query_table import YEAR_IN_NAME, QueryTable
from localcrag.crag.table_queries.table_query import ColumnExpression, Condition, TableQuery

_COMPASS = re.compile(
    r"\b(?:(?:furthest|farthest|most) (?:to the )?(?P<way>north|south|east|west)"
    r"|(?P<most>north|south|east|west)ernmost)\b",
    re.IGNORECASE,
)
_LATITUDES = frozenset(map(root, word_list("latitude latitud lat")))
_LONGITUDES = frozenset(map(root, word_list("longitude longitud lon lng long")))
_HEMISPHERE = re.compile(
    r"\b(?P<way>north|south|east|west) of (?:the )?(?:equator|greenwich|(?:prime |zero |null )?meridian)\b",
    re.IGNORECASE,
)
_OLD = re.compile(r"\b(?:(?P<old>oldest|eldest)|youngest)\b", re.IGNORECASE)
_PACE = re.compile(r"\b(?:(?P<slow>slowest)|fastest|quickest)\b", re.IGNORECASE)
_MOST = re.compile(r"\bmost\b", re.IGNORECASE)
_AGE = frozenset(map(root, word_list("age ages")))
_DEATH = frozenset(map(root, word_list("died death deceased dod end ended until")))
_COMPARED = re.compile(
    r"\b(?:(?P<more>more than|over|above|at least|exceed(?:s|ing)?)|less than|fewer than|under|below|at most)"
    r" [€$£]?(?P<number>\d+(?:,\d{3})*(?:\.\d+)?)(?![\d.,]*\d)",
    re.IGNORECASE,
)
_DENIED = re.compile(r"\b(?:no|not|never|without|neither|except)\b|n['’]t\b", re.IGNORECASE)
"""How a question compares with a number, and how it denies something."""
_RANKS = frozenset(map(root, word_list("rank place position pos standing seed grade born year date")))
"""Words in the names of columns of which less is more."""
_REVERSED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}


def directed(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query with the ends that the words of a question mean; the query itself if it has them."""
    query = with_compass(with_direction(query, question), table, question)
    query = with_pace(with_age(query, table, question), table, question)
    query = with_hemisphere(query, table, question)
    return with_comparison(with_loss(query, table, question), question)


def with_compass(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query in the order of the latitude or the longitude if a question asks what lies furthest there."""
    asked = _COMPASS.search(question)
    if asked is None or not query.ordering_column:
        return query
    way = (asked["way"] or asked["most"]).casefold()
    words = _LATITUDES if way in ("north", "south") else _LONGITUDES
    named = _measured(table, words)
    if len(named) != 1 or query.key is None:
        return query
    key = replace(query.key, expression=ColumnExpression(named[0]))
    return replace(query, key=key, is_descending=way in ("north", "east"))


def with_hemisphere(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query in which what lies north of the equator, or east of Greenwich, has more than 0 degrees."""
    asked = _HEMISPHERE.search(question)
    if asked is None:
        return query
    way = asked["way"].casefold()
    named = _measured(table, _LATITUDES if way in ("north", "south") else _LONGITUDES)
    meant = (">", ">=") if way in ("north", "east") else ("<", "<=")

    def told(condition: Condition) -> Condition:
        is_of_zero = condition.column in named and condition.values == ("0",)
        is_wrong = is_of_zero and condition.operator in _REVERSED and condition.operator not in meant
        return replace(condition, operator=_REVERSED[condition.operator]) if is_wrong else condition

    return replace(query, conditions=tuple(map(told, query.conditions)))


def with_age(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query in which the oldest come first by the day or year in which they began, or by their age."""
    asked = _OLD.findall(question)
    if len(asked) != 1 or not query.ordering_column or query.key is None or query.key.function:
        return query
    column = table.columns[query.ordering_column]
    is_old, words = bool(asked[0]), {*roots(column.name)}
    if words & _AGE:
        return replace(query, is_descending=is_old)
    is_beginning = (column.kind == "date" or column.has_years) and not words & _DEATH
    return replace(query, is_descending=not is_old) if is_beginning else query


def with_pace(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query in which the slowest come first by the time that they take, or last by their speed."""
    asked = _PACE.findall(question)
    if len(asked) != 1 or not query.ordering_column or query.key is None or query.key.function:
        return query
    header, is_slow = table.columns[query.ordering_column].name, bool(asked[0])
    if takes_time(header):
        return replace(query, is_descending=is_slow)
    has_speed = not QUANTITY_WORDS["speed"].isdisjoint(roots(header))
    return replace(query, is_descending=not is_slow) if has_speed else query


def with_loss(query: TableQuery, table: QueryTable, question: str) -> TableQuery:
    """A query in which what lost or fell most has the lowest number of a column of gains and losses."""
    if query.key is None or not query.ordering_column or query.key.function not in ("", "SUM"):
        return query
    if _MOST.search(question) is None or asks_for_rise(question) is not False:
        return query
    has_losses = has_gains_and_losses(table, [query.ordering_column])
    return replace(query, is_descending=False) if has_losses else query


def with_comparison(query: TableQuery, question: str) -> TableQuery:
    """A query that compares with a number of a question as that says: "more than 2500 km away".

    It stays as it is if the number stands there twice, or the question denies something; and of ranks, where
    more is less.
    """
    said = {found["number"].replace(",", ""): found for found in _COMPARED.finditer(question)}
    if _DENIED.search(question):
        return query

    def told(condition: Condition) -> Condition:
        found = said.get(condition.values[0]) if len(condition.values) == 1 else None
        if found is None or condition.operator not in _REVERSED or {*roots(condition.column)} & _RANKS:
            return condition
        is_once = len(re.findall(rf"(?<![\d.,]){re.escape(found['number'])}(?![\d.,]*\d)", question)) == 1
        is_wrong = is_once and (condition.operator[0] == ">") is not (found["more"] is not None)
        return replace(condition, operator=_REVERSED[condition.operator]) if is_wrong else condition

    return replace(query, conditions=tuple(map(told, query.conditions)))


def _measured(table: QueryTable, words: Set[str]) -> list[str]:
    """The columns of numbers that are named by one of some words."""
    return [
        column.name for column in table.columns.values() if column.is_number and words & {*roots(column.name)}
    ]


def with_direction(query: TableQuery, question: str) -> TableQuery:
    """A query in which what fell between two years is less in the later one, and what rose is more.

    It compares two columns whose names differ in their year alone, "pcgdp1990" and "pcgdp2000".
    """
    rose = asks_for_rise(question)
    if rose is None:
        return query

    def told(condition: Condition) -> Condition:
        first, second = _year_apart(condition.column), _year_apart(condition.other)
        if condition.operator not in ("<", ">") or first[0] != second[0] or not (first[1] and second[1]):
            return condition
        is_less_later = (condition.operator == "<") is (first[1] > second[1])
        return (
            replace(condition, operator=_REVERSED[condition.operator]) if is_less_later is rose else condition
        )

    return replace(query, conditions=tuple(map(told, query.conditions)))


def _year_apart(column: str) -> tuple[str, str]:
    """The name of a column without its year, and the year; "" for a name with none or two."""
    years = YEAR_IN_NAME.findall(column)
    return (YEAR_IN_NAME.sub("", column), years[0]) if len(years) == 1 else (column, "")
