"""Labelled questions over tables: each table with its cells, its questions, and the query of each."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import regex

from localcrag.crag.table_answers.table_values import roots
from localcrag.crag.table_queries.query_grammar import query_pattern
from localcrag.crag.table_queries.query_results import result_of
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import SaidValues, said_values
from localcrag.crag.table_queries.table_query import (
    NO_QUERY,
    Condition,
    QueryError,
    parsed_query,
)

from .data import Record, read_jsonl

OWN_TABLES = Path(__file__).parent / "asked_tables"
"""Tables with questions that were made for this; some are questions about tables of FeTaQA."""
FETAQA = "qa/answers/fetaqa.jsonl.zst"


@dataclass(frozen=True)
class TableQuestions:
    """A table with its questions, each with the text of its query."""

    key: str
    table: QueryTable
    questions: tuple[tuple[str, str], ...]


HELD_OUT_TABLES = 12
"""One table of so many is kept away from training."""


def is_held_out(key: str) -> bool:
    """Whether a table is one of those that the model is measured on."""
    return hashlib.sha256(f"table/{key}".encode()).digest()[0] % HELD_OUT_TABLES == 0


class LabelError(ValueError):
    """A question cannot be learnt from; the message says why."""


def read_tables(data: Path, folder: Path = OWN_TABLES) -> Iterator[TableQuestions]:
    """The tables of a folder with the questions that can be learnt from.

    Those that only name a table of FeTaQA are read with the one of the data folder, if that has it. Raises
    DataError.
    """
    known = {record["id"]: record for record in read_jsonl(file)} if (file := data / FETAQA).exists() else {}
    for file in sorted(folder.glob("*.jsonl")):
        for record in read_jsonl(file):
            table = _table_of(record, known)
            if table is None:
                continue
            questions = tuple(_learnable(table, record["questions"]))
            if questions:
                yield TableQuestions(record["key"], table, questions)


def _table_of(record: Record, known: Mapping[str, Record]) -> QueryTable | None:
    """The table of a record; None if it names one that is not there."""
    if "rows" in record:
        names = [record["name"], Path(record["file"]).stem]
        return QueryTable.of_cells(names, record["columns"], record["rows"])
    given = known.get(record["fetaqa"])
    if given is None:
        return None
    header, *rows = given["table"]
    return QueryTable.of_cells([given["title"], given["section"]], header, rows)


def _learnable(table: QueryTable, written: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The questions whose query holds on the table."""
    for question, query in written:
        try:
            yield question, labelled(table, question, query)
        except LabelError:
            continue


def labelled(table: QueryTable, question: str, text: str) -> str:
    """The query of a question as the model is to write it. Raises LabelError."""
    try:
        query = parsed_query(text)
        if query is None:
            return NO_QUERY
        said = said_values(question, table)
        plain = replace(query, conditions=tuple(_plain(each, table, said) for each in query.conditions))
        result = result_of(plain, table)
    except QueryError as error:
        raise LabelError(str(error)) from error
    if not result.lines or not any(result.lines[0].texts):
        raise LabelError("empty result: is each value spelled as in its cell, each column of one kind?")
    if not regex.fullmatch(query_pattern(table, said), str(plain)):
        raise LabelError(f"a value cannot be found from the question ({_shown(said)})")
    return str(plain)


def _plain(condition: Condition, table: QueryTable, said: SaidValues) -> Condition:
    """A condition in the spelling of the table and of the question."""
    column = table.columns.get(condition.column)
    if column is None or not condition.are_texts:
        return condition
    if column.is_number and condition.operator != "LIKE":
        return replace(condition, are_texts=False)
    name, values = condition.column, condition.values
    parts = {roots(part): part for part in said.parts.get(name, ())}
    if condition.operator == "LIKE":
        return replace(condition, values=tuple(parts.get(roots(value), value) for value in values))
    spelled = {cell.casefold(): cell for cell in column.distinct}
    values = tuple(spelled.get(value.casefold(), value) for value in values)
    reachable = {*said.cells.get(name, ()), *column.listed}
    if condition.operator == "=" and values[0] not in reachable:
        for own, part in parts.items():
            if _cells_with(own, [column.roots[cell] for cell in column.distinct]) == 1 and _has(
                own, column.roots.get(values[0], ())
            ):
                return Condition(name, "LIKE", (part,), are_texts=True)
    return replace(condition, values=values)


def _cells_with(words: Sequence[str], cells: Sequence[Sequence[str]]) -> int:
    return sum(_has(words, cell) for cell in cells)


def _has(words: Sequence[str], cell: Sequence[str]) -> bool:
    return any(tuple(cell[at : at + len(words)]) == tuple(words) for at in range(len(cell)))


def _shown(said: SaidValues) -> str:
    found = [*(line for _, line in said.by_column()), *said.numbers, *said.days, *said.periods, *said.times]
    return f"found: {'; '.join(found)}"
