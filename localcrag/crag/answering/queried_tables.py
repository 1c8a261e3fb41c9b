"""A question over a table that the language model reads as a query (:mod:`..table_queries`).

The model is shown the columns of a table and what the question says of its cells, and writes a query that can
name nothing else. Code computes what it asks for, over all rows, and shows it as such.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from localcrag.crag.answering.aggregation import has_rows, table_passages
from localcrag.crag.answering.query_answers import answer_of
from localcrag.crag.refinement.strip_kinds import is_row
from localcrag.crag.state import ComputedAnswer, QuestionState
from localcrag.crag.table_answers.parsed_tables import ParsedTable, tables_of
from localcrag.crag.table_queries.missing_conditions import (
    counts_one_name,
    missing_conditions,
    passes_over_column,
    repeats_name,
    takes_whole_for_part,
    uncounted_blanks,
    with_conditions,
)
from localcrag.crag.table_queries.query_grammar import query_pattern
from localcrag.crag.table_queries.query_prompt import narrowed, query_prompt
from localcrag.crag.table_queries.query_results import result_of
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import SaidValues, said_values
from localcrag.crag.table_queries.table_query import QueryError, TableQuery, parsed_query
from localcrag.errors import ConstraintError, ContextOverflow
from localcrag.filters import matches
from localcrag.protocols import QueryModel
from localcrag.types import Passage, Strip

MAX_TABLES = 2
"""The most tables that the model reads for one question."""
MAX_LOOKED_AT = 6
"""The most passages whose tables are looked at."""


@dataclass(frozen=True, slots=True)
class QueriedTable:
    """A query over a table, what it gives, and the probability that the model gives it.

    ``is_whole`` says that the model's own query passes over no cell or column of the table that the question
    says.
    """

    query: TableQuery
    answer: ComputedAnswer
    probability: float
    is_whole: bool = True


def queried(state: QuestionState, model: QueryModel, kept: Sequence[Strip]) -> QueriedTable | None:
    """What a query over the first table of the best passages gives that answers; None if none does.

    Args:
        state: the question and its adapters.
        model: the model that writes the query.
        kept: the strips that were found; the tables of those that are rows come first, the best first.
    """
    for table in _tables(state, kept):
        read = read_query(model, state.question, table)
        if read is not None and (answered := answered_by(read)) is not None:
            return answered
    return None


def answered_by(read: ReadQuery) -> QueriedTable | None:
    """What a query gives, with the conditions that it passed over if any row meets these; None if nothing."""
    if counts_one_name(read.query, read.table) or repeats_name(read.query):
        return None
    missing = (
        *missing_conditions(read.query, read.table, read.said),
        *uncounted_blanks(read.query, read.table, read.question),
    )
    is_whole = (
        not missing
        and not passes_over_column(read.query, read.table, read.question)
        and not takes_whole_for_part(read.query, read.question)
    )
    completed = with_conditions(read.query, missing) if missing else None
    for query in filter(None, (completed, read.query)):
        try:
            answer = answer_of(query, result_of(query, read.table), read.table)
        except QueryError:
            continue
        if answer is not None:
            return QueriedTable(query, answer, read.probability, is_whole)
    return None


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """The query that a model reads a question as, its probability, and the table and cells it was shown."""

    question: str
    query: TableQuery
    probability: float
    table: QueryTable
    said: SaidValues


def read_query(model: QueryModel, question: str, table: ParsedTable) -> ReadQuery | None:
    """The query that a model reads a question as; None if it says that the table does not answer."""
    whole = QueryTable.of_parsed(table)
    said = said_values(question, whole)
    shown = narrowed(whole, question, said)
    try:
        written = model.write_line(query_prompt(shown, question, said), query_pattern(shown, said))
        query = parsed_query(written.text)
        alike = sum(p for text, p in written.others if _are_alike(parsed_query(text), query))
    except (ConstraintError, ContextOverflow, QueryError):
        return None
    if query is None:
        return None
    return ReadQuery(question, query, min(1.0, written.probability + alike), shown, said)


def _are_alike(one: TableQuery | None, other: TableQuery | None) -> bool:
    """Whether two queries ask for the same, with their conditions in any order."""
    if one is None or other is None or set(one.conditions) != set(other.conditions):
        return False
    return replace(one, conditions=()) == replace(other, conditions=())


def _tables(state: QuestionState, kept: Sequence[Strip]) -> Iterator[ParsedTable]:
    """The tables of the rows that are kept, and of the best passages, the best first, each once.

    None through which the filter of the question cuts.
    """
    ranked = sorted(state.grades, key=lambda grade: -(grade.confidence or 0.0))
    rows = sorted((strip for strip in kept if is_row(strip)), key=lambda strip: -strip.score)
    passages = [strip.passage for strip in rows] + [grade.hit.passage for grade in ranked[:MAX_LOOKED_AT]]
    seen: set[tuple[str, tuple[str, ...]]] = set()
    documents: dict[str, list[ParsedTable]] = {}
    for passage in passages:
        if not has_rows(passage):
            continue
        if passage.source not in documents:
            documents[passage.source] = tables_of(table_passages(state, passage.source, passage.document))
        table = _table_of(documents[passage.source], passage)
        if table is None or (passage.source, table.columns) in seen:
            continue
        seen.add((passage.source, table.columns))
        if state.filter is None or all(matches(state.filter, row.strip.passage) for row in table.rows):
            yield table
        if len(seen) == MAX_TABLES:
            return


def _table_of(tables: Sequence[ParsedTable], passage: Passage) -> ParsedTable | None:
    """The table that most rows of a passage are of, or whose row goes on in it, if none begins there."""
    begun = [[row.strip.passage.ordinal for row in table.rows] for table in tables]
    here = [ordinals.count(passage.ordinal) for ordinals in begun]
    last = [max((each for each in ordinals if each < passage.ordinal), default=-1) for ordinals in begun]
    best = max(range(len(tables)), key=lambda at: (here[at], last[at]), default=None)
    return tables[best] if best is not None and (here[best] or last[best] >= 0) else None
