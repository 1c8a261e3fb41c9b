"""A question over a table that the language model reads as a query (:mod:`..table_queries`).

The model is shown the columns of a table and what the question says of its cells, and writes a query that can
name nothing else. Code computes what it asks for, over all rows, and shows it as such.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from localcrag.crag.answering.aggregation import has_rows
from localcrag.crag.answering.document_tables import document_of
from localcrag.crag.answering.empty_results import answer_of_none
from localcrag.crag.answering.query_answers import answer_of, is_lookup, lists_rows
from localcrag.crag.doubts.one_of_rows import asks_over_table
from localcrag.crag.refinement.strip_kinds import is_row
from localcrag.crag.state import ComputedAnswer, QuestionState
from localcrag.crag.table_answers.list_questions import asks_for_list
from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.crag.table_answers.united_tables import whole_table
from localcrag.crag.table_queries.missing_conditions import (
    names_of_counted,
    read_over_rows,
    unasked_sex,
    uncounted_blanks,
    with_conditions,
    without_kind,
    without_mention,
)
from localcrag.crag.table_queries.query_doubts import (
    chooses_among_alike,
    computes_each_row,
    counts_by_heading,
    counts_one_name,
    counts_untold,
    gives_what_it_asks,
    guesses_column,
    is_of_other_things,
    measures_another,
    orders_against_change,
    passes_over_column,
    pays_nothing_back,
    ranks_by_another_verb,
    ranks_one_row,
    ranks_rows_of_groups,
    reads_every_period,
    reads_every_row,
    repeats_name,
    takes_examples_for_all,
    takes_whole_for_part,
)
from localcrag.crag.table_queries.query_grammar import query_pattern
from localcrag.crag.table_queries.query_prompt import narrowed, query_prompt
from localcrag.crag.table_queries.query_repairs import repaired, surely_repaired, with_items_of_lists
from localcrag.crag.table_queries.query_results import result_of
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import SaidValues, said_values
from localcrag.crag.table_queries.table_query import QueryError, TableQuery, parsed_query
from localcrag.errors import ConstraintError, ContextOverflow
from localcrag.filters import And, Membership, Not, matches
from localcrag.protocols import QueryModel
from localcrag.types import Passage, Strip

MAX_TABLES = 2
"""The most tables that the model reads for one question."""
LIKELY = 0.65
"""The probability of a query from which on no other table is read."""
TRUSTED = 0.8
"""The probability, on a fitted scale, of a query that is taken as it is. Of 31 such over files of packages
27 gave what was asked for; words of the question would have made one of them worse, and none better."""
WEIGHT_OF_TEXT = 1.5
"""How much more a query weighs that asks for a text of its table, beside one over another table."""
LEAST_READ = 0.003
"""The probability that the model must give a query for it to be written to its end; on the fitted scale of
the larger model that is 0.008."""
MAX_LOOKED_AT, MAX_FOUND_ELSEWHERE = 6, 12
"""The most passages whose tables are looked at, and that are searched for in other documents."""
_HAVING = re.compile(
    r"^(\W*(?:which|what) (?:\w+ ){0,2}?\w+) (?:have|has|got|have got|offer) (?:an? )?", re.IGNORECASE
)
"""How a question asks for things that have something."""


@dataclass(frozen=True, slots=True)
class QueriedTable:
    """A query over a table, what it gives, and the probability that the model gives it.

    ``is_whole`` says that the model's own query passes over no cell or column of the table that the question
    says; ``table`` is the table that it was read over.
    """

    query: TableQuery
    answer: ComputedAnswer
    probability: float
    is_whole: bool = True
    table: ParsedTable | None = None


def queried(state: QuestionState, model: QueryModel, kept: Sequence[Strip]) -> QueriedTable | None:
    """What the likeliest query over a table of the best passages gives; None if none answers.

    The next table is read only if the query over the one before is not likely. If none is, and the question
    goes over the rows of some table, those of other documents are searched for: the rows of one table are
    many passages alike, behind which another may not be found. It is to be checked, and has a cell that the
    question says, which the tables that were found first have not.

    Args:
        state: the question and its adapters.
        model: the model that writes the query.
        kept: the strips that were found; the tables of those that are rows come first, the best first.
    """
    seen = set[str]()
    best = _likeliest(state, model, _tables(state, _found(state, kept), seen))
    is_settled = best is not None and (best.probability >= LIKELY or bool(best.query.conditions))
    if not is_settled and asks_over_table(state.question):
        other = _likeliest(state, model, _tables(state, _elsewhere(state, seen), seen))
        is_likelier = other is not None and (best is None or _weight(other) > _weight(best))
        if other is not None and is_likelier and other.query.conditions:
            return replace(other, is_whole=False)
    return best


def is_read_alike(model: QueryModel, question: str, read: QueriedTable) -> bool:
    """Whether another model's query over the same table gives the same answer."""
    other = read_query(model, question, read.table) if read.table is not None else None
    answered = answered_by(other) if other is not None else None
    return answered is not None and answered.answer.text == read.answer.text


def _likeliest(state: QuestionState, model: QueryModel, tables: Iterable[ParsedTable]) -> QueriedTable | None:
    """What the likeliest query over some tables gives, of which none is read behind a likely one."""
    best: QueriedTable | None = None
    is_over_rows = asks_over_table(state.question)
    for table in tables:
        read = read_query(model, state.question, table)
        if read is not None and (scale := state.adapters.query_scale):
            likely = scale(read.probability)
            read = replace(read, probability=likely, is_trusted=likely >= TRUSTED)
        if read is None or (answered := answered_by(read)) is None:
            continue
        is_list = lists_rows(answered.query, answered.answer.computation, state.question)
        if is_over_rows and is_lookup(answered.query) and not is_list and answered.probability < LIKELY:
            continue
        if best is None or _weight(answered) > _weight(best):
            best = replace(answered, table=table)
        if best.probability >= LIKELY:
            break
    return best


def _weight(read: QueriedTable) -> float:
    """How much a query weighs against one over another table: more if it asks for a text of its table."""
    has_text = any(each.are_texts for each in read.query.conditions)
    return read.probability * (WEIGHT_OF_TEXT if has_text else 1.0)


def answered_by(read: ReadQuery) -> QueriedTable | None:
    """What a query gives, with the conditions that it passed over if any row meets these; None if nothing.

    If no row meets its own, it goes without those that name the table, or what is listed. One that is trusted
    is taken as it is, but for what the question leaves no doubt of.
    """
    if read.is_trusted and (trusted := _as_it_is(read)):
        return trusted
    over_rows = read_over_rows(
        repaired(read.query, read.table, read.question), read.table, read.question, read.said
    )
    if over_rows is None or _is_none(over_rows[0], read.table, read.question):
        return None
    own, passed_over = over_rows
    if read.probability < LIKELY and is_of_other_things(own, read.table, read.question, read.said):
        return None
    missing = (
        *passed_over,
        *uncounted_blanks(own, read.table, read.question),
        *unasked_sex(own, read.table, read.question),
    )
    is_whole = own == read.query and not missing and not _is_doubtful(own, read)
    completed = with_conditions(own, missing) if missing else None
    if ranks_one_row(completed or own, read.table):
        return None
    others = without_mention(own, read.question), without_kind(own, read.question)
    for query in filter(None, (completed, own, *others)):
        if (answer := _answer(query, read.table)) is not None:
            return QueriedTable(query, answer, read.probability, is_whole and query == own)
    none = answer_of_none(own, read.table) if read.probability >= LIKELY else None
    return QueriedTable(own, none, read.probability, is_whole) if none is not None else None


def _as_it_is(read: ReadQuery) -> QueriedTable | None:
    """What the model's own query gives, from the end that the question means; None if nothing."""
    query = surely_repaired(read.query, read.table, read.question)
    is_none = _is_none(query, read.table, read.question)
    is_none = is_none or counts_one_name(query, read.table) or ranks_one_row(query, read.table)
    answer = None if is_none else _answer(query, read.table)
    if answer is None:
        return None
    is_whole = query == read.query and not _is_doubtful(query, read)
    return QueriedTable(query, answer, read.probability, is_whole)


def _is_none(query: TableQuery, table: QueryTable, question: str) -> bool:
    """Whether a query answers no question."""
    is_vain = gives_what_it_asks(query) or repeats_name(query) or computes_each_row(query, table)
    return is_vain or reads_every_row(query, table, question) or reads_every_period(query, table)


def _answer(query: TableQuery, table: QueryTable) -> ComputedAnswer | None:
    """What a query gives; None if it gives nothing, or the table does not have what it asks for."""
    try:
        return answer_of(query, result_of(query, table), table)
    except QueryError:
        return None


def _is_doubtful(query: TableQuery, read: ReadQuery) -> bool:
    """Whether a query passes over what the question says of its columns, its parts or its measure."""
    return (
        is_of_other_things(query, read.table, read.question, read.said)
        or passes_over_column(query, read.table, read.question)
        or counts_untold(query, read.table, read.question, read.said)
        or counts_by_heading(query, read.table, names_of_counted(read.question))
        or takes_whole_for_part(query, read.question)
        or measures_another(query, read.table, read.question)
        or pays_nothing_back(query, read.table, read.question)
        or ranks_by_another_verb(query, read.table, read.question)
        or orders_against_change(query, read.table, read.question)
        or ranks_rows_of_groups(query, read.table)
        or guesses_column(query, read.table)
        or chooses_among_alike(query, read.table, read.question)
        or takes_examples_for_all(query, read.question)
    )


@dataclass(frozen=True, slots=True)
class ReadQuery:
    """The query that a model reads a question as, its probability, and the table and cells it was shown.

    ``is_trusted`` says that it is so likely that nothing in it is mended.
    """

    question: str
    query: TableQuery
    probability: float
    table: QueryTable
    said: SaidValues
    is_trusted: bool = False


def read_query(model: QueryModel, question: str, table: ParsedTable) -> ReadQuery | None:
    """The query that a model reads a question as; None if it says that the table does not answer.

    If it says so of what rows "have", of which a cell says a part, it is asked which are "with" that.
    """
    whole = QueryTable.of_parsed(table)
    said = said_values(question, whole)
    read = _read_as(model, question, question, whole, said)
    with_it = _HAVING.sub(r"\1 are with ", question)
    if read is None and said.parts and with_it != question:
        return _read_as(model, with_it, question, whole, said)
    return read


def _read_as(
    model: QueryModel, wording: str, question: str, whole: QueryTable, said: SaidValues
) -> ReadQuery | None:
    """The query that a model reads the wording of a question as."""
    shown = narrowed(whole, question, said)
    try:
        prompt, pattern = query_prompt(shown, wording, said), query_pattern(shown, said)
        written = model.write_line(prompt, pattern, least=LEAST_READ)
        query = parsed_query(written.text)
        alike = sum(p for text, p in written.others if _are_alike(parsed_query(text), query))
    except (ConstraintError, ContextOverflow, QueryError):
        return None
    if query is None:
        return None
    query = with_items_of_lists(query, shown)
    return ReadQuery(question, query, min(1.0, written.probability + alike), shown, said)


def _are_alike(one: TableQuery | None, other: TableQuery | None) -> bool:
    """Whether two queries ask for the same, with their conditions in any order."""
    if one is None or other is None or set(one.conditions) != set(other.conditions):
        return False
    return replace(one, conditions=()) == replace(other, conditions=())


def _found(state: QuestionState, kept: Sequence[Strip]) -> list[Passage]:
    """The passages of the rows that are kept, and the best passages, the best first."""
    ranked = sorted(state.grades, key=lambda grade: -(grade.confidence or 0.0))
    rows = sorted((strip for strip in kept if is_row(strip)), key=lambda strip: -strip.score)
    return [strip.passage for strip in rows] + [grade.hit.passage for grade in ranked[:MAX_LOOKED_AT]]


def _elsewhere(state: QuestionState, seen: Collection[str]) -> Iterator[Passage]:
    """The passages that a search finds in other documents."""
    others = Not(Membership("source", tuple(seen))) if seen else None
    parts = tuple(each for each in (state.filter, others) if each is not None)
    filter = And(parts) if len(parts) > 1 else next(iter(parts), None)
    (vector,) = state.adapters.embedder.encode_questions([state.question])
    hits = state.adapters.store.search(state.question, vector, k=MAX_FOUND_ELSEWHERE, filter=filter)
    yield from (hit.passage for hit in hits)


def _tables(state: QuestionState, passages: Iterable[Passage], looked_at: set[str]) -> Iterator[ParsedTable]:
    """The first tables of some passages, each once; their sources are added to those looked at.

    If the question goes over rows, those with one header in a document are one table. None through which the
    filter of the question cuts.
    """
    is_over_rows = asks_over_table(state.question) or asks_for_list(state.question)
    seen: set[tuple[str, tuple[str, ...]]] = set()
    for passage in passages:
        if not has_rows(passage):
            continue
        looked_at.add(passage.source)
        tables = document_of(state, passage).tables
        table = _table_of(tables, passage)
        if table is None or (passage.source, table.columns) in seen:
            continue
        seen.add((passage.source, table.columns))
        if is_over_rows:
            table = whole_table(state.question, table, tables)
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
