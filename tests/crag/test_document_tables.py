"""The documents of one question: each is read and parsed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

from localcrag.crag.answering.computed_rows import own_mark
from localcrag.crag.answering.document_tables import MAX_PASSAGES, document_of, documents_of
from localcrag.crag.state import QuestionState
from localcrag.crag.table_answers.parsed_tables import ParsedTable, once_per_table, tables_of
from localcrag.types import Passage
from tests.crag.test_aggregation import passages

FEES = ["Vehicle: Car · Fee: 60 EUR", "Vehicle: Van · Fee: 80 EUR"]
BOATS = ["Boat: Auk · Berths: 4", "Boat: Tern · Berths: 6"]


class Store:
    """The passages of some files, and which of them were read."""

    def __init__(self, **files: list[Passage]) -> None:
        self.files = {name: [replace(p, source=name) for p in found] for name, found in files.items()}
        self.read: list[str] = []

    def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
        self.read += documents
        return [p for name in sorted(documents) for p in self.files.get(name, [])[:limit]]


def asked(store: Store, question: str = "") -> QuestionState:
    state = SimpleNamespace(adapters=SimpleNamespace(store=store), documents={}, question=question)
    return cast(QuestionState, state)


def test_a_document_is_read_and_parsed_once() -> None:
    """The searches of a question, the rules and the query go over the same tables."""
    store = Store(fees=passages(FEES), boats=passages(BOATS))
    state = asked(store)
    (fees,) = documents_of(state, {"fees": "h"})
    both = documents_of(state, {"fees": "h", "boats": "h"})
    assert [document.tables[0].columns[0] for document in both] == ["Boat", "Vehicle"]
    assert document_of(state, store.files["fees"][0]).tables[0] is fees.tables[0] is both[1].tables[0]
    assert store.read == ["fees", "boats"]


def test_a_question_over_months_goes_over_their_cells() -> None:
    """It names none of them, so that each cell is a row."""
    store = Store(
        rain=passages(["Year: 2018 · Jan: 31 · Feb: 20 · Mar: 52", "Year: 2019 · Jan: 40 · Feb: 9 · Mar: 7"])
    )
    read = [
        documents_of(asked(store, question), {"rain": "h"})[0].tables[0]
        for question in ("Which month was the driest?", "Which year had the driest February?", "rain of 2018")
    ]
    assert [len(table.rows) for table in read] == [6, 2, 2]


def test_documents_that_cannot_be_computed_over_have_no_tables() -> None:
    """Those with the mark that answers set, of too many passages, and those that are gone."""
    marked = passages([*FEES, f"Vehicle: {own_mark(1)} · Fee: 1 EUR"])
    long = passages(FEES) * (MAX_PASSAGES + 1)
    found = documents_of(
        asked(Store(marked=marked, long=long)), dict.fromkeys(("marked", "long", "gone"), "h")
    )
    assert [(document.passages, document.tables) for document in found] == [((), ())] * 3


def test_what_is_found_out_about_a_table_is_kept_with_it() -> None:
    """A second table with the same rows is another one."""
    seen = list[ParsedTable]()

    @once_per_table
    def rows_of(table: ParsedTable) -> int:
        seen.append(table)
        return len(table.rows)

    (first,), (second,) = (tables_of(passages(FEES)) for _ in range(2))
    assert [rows_of(table) for table in (first, first, second)] == [2, 2, 2]
    assert len(seen) == 2
