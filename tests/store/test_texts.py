"""The stored text comes back whole, however its rows divide it."""

from __future__ import annotations

import json
from dataclasses import replace

import pyarrow as pa
import pytest

from localcrag.store import arrow_rows, table_schemas, tables
from localcrag.store.box_cells import read_boxes, written_boxes
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.types import READING, Block, BlockKind, FieldValue, Page, WordBox
from tests.store.conftest import EMBEDDER, Item, item

LONG = "Größe und Maß. " * 40


def test_a_long_page_is_kept_in_parts_and_comes_back_whole(
    lance: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_rows, "TEXT_PART_CHARACTERS", 100)
    lance.replace([item("/long", LONG, "end"), item("/paged", LONG, "", "x" * 200, paged=True)])
    lance.optimize()
    assert lance._tables.texts.count_rows() == 7 + 6 + 1 + 2
    assert max(len(row["text"]) for row in lance._tables.texts.search().to_list()) == 100
    long, paged = lance.documents()
    assert long.pages == (Page(None, f"{LONG}\nend"),)
    assert paged.pages == (Page(1, LONG), Page(2, ""), Page(3, "x" * 200))
    assert lance.text(long.hash, None) == f"{LONG}\nend"
    assert [lance.text(paged.hash, n) for n in (1, 2, 3)] == [LONG, "", "x" * 200]


def test_pages_that_share_a_number_and_readings_that_differ_are_not_mixed(
    lance: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_rows, "TEXT_PART_CHARACTERS", 5)

    def unnumbered(source: str, *texts: str) -> Item:
        document, entry, passages, vectors = item(source, *texts, hash="same")
        return replace(document, pages=tuple(Page(None, text) for text in texts)), entry, passages, vectors

    lance.replace([unnumbered("/a", "first page", "second page"), unnumbered("/b", "another reading")])
    assert lance.text("same", None, source="/a") == "first page"
    assert lance.text("same", None, source="/b") == "another reading"
    assert [len(document.pages) for document in lance.documents()] == [2, 1]


def test_a_knowledge_base_of_the_first_layout_goes_on_as_it_was(
    bases: KnowledgeBases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_rows, "TEXT_PART_CHARACTERS", 100)
    first = pa.schema([field for field in table_schemas.TEXTS_SCHEMA if field.name != "part"])
    with monkeypatch.context() as patch:
        patch.setattr(tables, "TEXTS_SCHEMA", first)
        made = bases.create("old", EMBEDDER.name, EMBEDDER.dimension)
    (made.folder / "checksums.json").unlink()
    record = made.folder / "kb.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "layout": 1}))
    old = bases.open("old", EMBEDDER.name, EMBEDDER.dimension)
    old.replace([item("/long", LONG), item("/paged", LONG, "two", paged=True)])
    assert old._tables.texts.count_rows() == 3
    long, paged = old.documents()
    assert old.text(long.hash, None) == LONG
    assert [old.text(paged.hash, n) for n in (1, 2)] == [LONG, "two"]
    old.optimize()
    assert json.loads(record.read_text())["layout"] == 1


def recognised(source: str, text: str, *boxes: WordBox) -> Item:
    """A document of one page whose words were recognised."""
    document, entry, passages, vectors = item(source, text)
    [page] = document.pages
    return replace(document, pages=(replace(page, boxes=boxes),)), entry, passages, vectors


BOXES = (WordBox(0, 5, 0.1234, 0.2, 0.3, 0.25), WordBox(6, 9, 0, 0.5, 1, 0.75))


def test_the_boxes_of_recognised_words_come_back_with_the_text(
    lance: LanceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow_rows, "TEXT_PART_CHARACTERS", 5)
    lance.replace([recognised("/scan", "Größe und Maß", *BOXES), item("/text", "Größe und Maß")])
    scan, text = lance.documents()
    assert (scan.pages[0].boxes, text.pages[0].boxes) == (BOXES, ())
    moved = tuple(replace(box, left=0.01) for box in BOXES)
    lance.replace([recognised("/scan", "Größe und Maß", *moved)])
    assert next(lance.documents()).pages[0].boxes == moved


def test_boxes_beyond_the_picture_end_at_its_edge_and_damaged_ones_are_left_out() -> None:
    beyond = WordBox(0, 1, -0.2, 0, 1.3, 0.5)
    assert read_boxes(written_boxes([beyond])) == (replace(beyond, left=0, right=1),)
    assert read_boxes(f"7 x-1:2 {written_boxes(BOXES)} 1-2:3") == BOXES


def test_a_knowledge_base_that_kept_no_boxes_is_read_and_gets_them(
    bases: KnowledgeBases, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pa.schema([field for field in table_schemas.TEXTS_SCHEMA if field.name != "boxes"])
    with monkeypatch.context() as patch:
        patch.setattr(tables, "TEXTS_SCHEMA", before)
        patch.setattr(tables, "LATE_TEXT_COLUMNS", pa.schema([]))
        old = bases.create("old", EMBEDDER.name, EMBEDDER.dimension)
        old.replace([recognised("/before", "Größe und Maß", *BOXES)])
    assert [document.pages[0].boxes for document in old.documents()] == [()]
    old.replace([recognised("/now", "Größe und Maß sind neu", *BOXES)])
    assert [document.pages[0].boxes for document in old.documents()] == [(), BOXES]


def structured(source: str, text: str) -> Item:
    """A document of one passage with a heading and a paragraph."""
    document, entry, [passage], vectors = item(source, text)
    end = text.index("\n")
    blocks = (Block(BlockKind.HEADING, 0, end, 2), Block(BlockKind.PARAGRAPH, end + 2, len(text)))
    [page] = document.pages
    document = replace(document, pages=(replace(page, blocks=blocks),))
    return document, entry, [replace(passage, blocks=blocks)], vectors


def test_a_passage_keeps_its_blocks(lance: LanceStore) -> None:
    made = structured("/a", "Fees\n\nA boat costs 75.")
    lance.replace([made, item("/b", "flat")])
    found = {p.source: p for p in lance.questionless()}
    assert found["/a"] == made[2][0] and found["/b"].blocks == ()
    [hit] = lance.search("boat", EMBEDDER.encode(["boat"])[0], k=1)
    assert hit.passage.blocks == made[2][0].blocks


def test_a_table_without_blocks_gets_them_with_the_next_write(
    bases: KnowledgeBases, monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = [field for field in table_schemas._PASSAGE_FIELDS if field.name != "blocks"]
    with monkeypatch.context() as patch:
        patch.setattr(table_schemas, "_PASSAGE_FIELDS", fields)
        patch.setattr(arrow_rows, "READING", 1)
        made = bases.create("old", EMBEDDER.name, EMBEDDER.dimension)
        made._tables.add_late_columns = lambda: None  # type: ignore[method-assign]
        made.replace([item("/a", "flat text", meta={"team": "x"})])
    made._tables.documents.drop_columns(["own", "left_out"])
    old = bases.open("old", EMBEDDER.name, EMBEDDER.dimension)
    assert "blocks" not in old._tables.passages.schema.names
    assert [entry.reading for entry in old.indexed().values()] == [1]
    [hit] = old.search("flat", EMBEDDER.encode(["flat"])[0], k=1)
    assert hit.passage.blocks == ()
    entry = old.indexed()["/a"]
    assert (entry.own, entry.left_out, entry.given) == ((), 0.0, {"team": "x"}), "all of them were given"
    assert [document.own for document in old.documents()] == [()]
    new = structured("/b", "Fees\n\nA boat costs 75.")
    old.replace([new])
    assert {p.source: p.blocks for p in old.questionless()} == {"/a": (), "/b": new[2][0].blocks}
    assert {entry.source: entry.reading for entry in old.indexed().values()} == {"/a": 1, "/b": READING}


def test_fields_that_only_documents_give_cannot_make_columns_without_end(
    bases: KnowledgeBases, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MAX_OWN_FIELD_COLUMNS", 3)
    store = bases.create("kb", EMBEDDER.name, EMBEDDER.dimension)
    for name in "ab":
        meta: dict[str, FieldValue] = {f"{name}{number}": "x" for number in range(5)}
        document, entry, passages, vectors = item(f"/{name}", "text", meta={**meta, f"given_{name}": 1})
        own = tuple(meta)
        store.replace([(replace(document, own=own), replace(entry, own=own), passages, vectors)])
    assert store.info().fields[4:] == ("a0", "a1", "a2", "given_a", "given_b")
    assert store.indexed()["/b"].meta["b4"] == "x", "what cannot be compared is kept all the same"
    assert store.indexed()["/b"].own == ("b0", "b1", "b2", "b3", "b4")
