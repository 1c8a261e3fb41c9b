"""The documents of one question whose tables it may be about, each read and parsed once.

A question is put to a table by rules, then with words left out, and as a query. A sheet of 10,000 rows takes
a second to parse.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from localcrag.crag.answering.computed_rows import MARK_OPENING
from localcrag.crag.doubts.one_of_rows import asks_over_cells
from localcrag.crag.state import QuestionState
from localcrag.crag.table_answers.long_tables import as_asked
from localcrag.crag.table_answers.parsed_tables import DocumentTables, tables_of
from localcrag.types import Passage

MAX_PASSAGES = 20_000
"""The most passages of a document whose tables are looked at."""


def documents_of(state: QuestionState, hashes: Mapping[str, str]) -> list[DocumentTables]:
    """Documents with their tables, in the order of their sources.

    Args:
        state: the question, which keeps what was read.
        hashes: the hashes of the documents, by source.
    """
    unread = {source: document for source, document in hashes.items() if source not in state.documents}
    passages = state.adapters.store.passages(unread, limit=MAX_PASSAGES + 1) if unread else []
    found = {source: list(group) for source, group in groupby(passages, key=lambda passage: passage.source)}
    for source in unread:
        state.documents[source] = _read(state.question, found.get(source, []))
    return [state.documents[source] for source in sorted(hashes)]


def document_of(state: QuestionState, passage: Passage) -> DocumentTables:
    """The document that a passage is of."""
    return documents_of(state, {passage.source: passage.document})[0]


def _read(question: str, passages: Sequence[Passage]) -> DocumentTables:
    """A document; without passages if they are too many, or one has the mark that answers set."""
    if len(passages) > MAX_PASSAGES or any(MARK_OPENING in passage.text for passage in passages):
        return DocumentTables((), ())
    tables = tables_of(passages)
    if asks_over_cells(question):
        tables = [as_asked(question, table) for table in tables]
    return DocumentTables(tuple(passages), tuple(tables))
