"""Every kind of file of a knowledge base, damaged in every way: an error, never a result that hides it."""

from __future__ import annotations

import json
import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from localcrag.errors import DamagedKnowledgeBase, StoreError
from localcrag.store import checksums
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.types import Hit, Mending, Skipped
from tests.store.conftest import EMBEDDER, Item, asked, item

NAME = "kb"
QUERY = "filter of pump 3"
KINDS: dict[str, str] = {
    "the record": "kb.json",
    "the newest manifest of the documents": "lance/documents.lance/_versions/*.manifest",
    "the newest manifest of the texts": "lance/texts.lance/_versions/*.manifest",
    "the newest manifest of the passages": "lance/passages.lance/_versions/*.manifest",
    "the rows of the documents": "lance/documents.lance/data/*.lance",
    "the rows of the texts": "lance/texts.lance/data/*.lance",
    "the rows of the passages": "lance/passages.lance/data/*.lance",
    "the rows of the questions": "lance/questions.lance/data/*.lance",
    "deleted rows": "lance/passages.lance/_deletions/*",
    "a key index": "lance/texts.lance/_indices/*/page_data.lance",
    "words of the full-text index": "lance/passages.lance/_indices/*/part_*_tokens.lance",
    "postings of the full-text index": "lance/passages.lance/_indices/*/part_*_invert.lance",
    "lengths of the full-text index": "lance/passages.lance/_indices/*/part_*_docs.lance",
    "the head of the full-text index": "lance/passages.lance/_indices/*/metadata.lance",
}


def _flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    chance = random.Random(len(content))
    for _ in range(3):
        content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    _overwritten(path, content)


def _overwritten(path: Path, content: bytes | bytearray) -> None:
    before = path.stat()
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # as a failing disk would leave it


WAYS: dict[str, Callable[[Path], object]] = {
    "missing": lambda path: path.unlink(),
    "empty": lambda path: path.write_bytes(b""),
    "cut off": lambda path: os.truncate(path, path.stat().st_size // 2),
    "zeros": lambda path: _overwritten(path, bytes(path.stat().st_size)),
    "noise": lambda path: _overwritten(path, random.Random(1).randbytes(path.stat().st_size)),
    "flipped bits": _flipped,
}


def documents() -> list[Item]:
    return [
        item(f"/pump{n}", f"The filter of pump {n} is cleaned every {n} weeks.", f"Pump {n} is blue.")
        for n in range(1, 6)
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose knowledge base has questions, deleted rows and skipped documents."""
    home = tmp_path_factory.mktemp("whole")
    store = KnowledgeBases(home).create(NAME, EMBEDDER.name, EMBEDDER.dimension)
    made = [*documents(), item("/gone", "This document is forgotten.")]
    store.replace(made)
    store.add_questions([asked(made[0][2][0], "When is it cleaned?")])
    store.optimize()
    store.remove(["/gone"])
    store.record_skips([Skipped("https://x/scan.pdf", "no text layer")], ())
    return home


@pytest.fixture
def home(whole: Path, tmp_path: Path) -> Path:
    """A copy of it, which may be damaged."""
    shutil.copytree(whole, tmp_path / "home")
    return tmp_path / "home"


def folder_of(home: Path) -> Path:
    return home / "knowledge" / NAME


def searched(home: Path) -> list[Hit]:
    """The hits of a search whose stored texts were read, as a question does it."""
    store = KnowledgeBases(home).open(NAME)
    store.require_whole()
    hits = store.search(QUERY, EMBEDDER.encode([QUERY])[0], k=20)
    for hit in hits:
        passage = hit.passage
        text = store.text(passage.document, passage.page, source=passage.source)
        assert text[passage.start : passage.end] == passage.text
    return hits


def read_again(home: Path) -> LanceStore:
    """What ``ingest --reread`` does after the repair: all documents are written whose hash is not known."""
    store = KnowledgeBases(home).open(NAME)
    held = store.indexed()
    store.replace([made for made in documents() if held.get(made[0].source) != made[1]])
    store.optimize()
    return store


def problems(home: Path) -> list[str]:
    return [f"{problem.what}: {problem.hint}" for problem in KnowledgeBases(home).check(NAME)]


def test_a_copy_is_whole(home: Path) -> None:
    assert problems(home) == []
    assert len(searched(home)) == 10
    assert KnowledgeBases(home).repair(NAME) == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_an_error(home: Path, kind: str, way: str) -> None:
    WAYS[way](min(folder_of(home).glob(KINDS[kind])))  # of manifests, the newest comes first
    with pytest.raises(DamagedKnowledgeBase, match=f"{NAME!r} is damaged") as caught:
        searched(home)
    assert "\n" not in str(caught.value) and f"localcrag kb check {NAME}" in caught.value.hint


def test_what_is_open_notices_damage_too_and_then_the_repair(home: Path) -> None:
    store = KnowledgeBases(home).open(NAME)
    assert store.search(QUERY, EMBEDDER.encode([QUERY])[0], k=3)
    [texts] = folder_of(home).glob(KINDS["the rows of the texts"])
    os.truncate(texts, 100)
    with pytest.raises(DamagedKnowledgeBase):
        store.require_whole()
    KnowledgeBases(home).repair(NAME)
    assert not store.is_current, "its handles are of the tables before"


@pytest.mark.parametrize(
    ("kind", "way"), [(kind, list(WAYS)[place % len(WAYS)]) for place, kind in enumerate(KINDS)]
)
def test_a_damaged_file_is_named_and_rebuilt(
    home: Path, kind: str, way: str, capfd: pytest.CaptureFixture[str]
) -> None:
    WAYS[way](min(folder_of(home).glob(KINDS[kind])))
    found = problems(home)
    assert found and all("localcrag" in line and "\n" not in line for line in found)
    bases = KnowledgeBases(home)
    assert bases.repair(NAME)
    lost = [problem for problem in bases.check(NAME) if problem.source]
    if lost:
        with pytest.raises(DamagedKnowledgeBase, match="to be read again") as caught:
            searched(home)
        assert f"localcrag ingest --reread --kb {NAME}" in caught.value.hint
    read_again(home)
    assert problems(home) == []
    assert len(searched(home)) == 10
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("kind", ["a key index", "postings of the full-text index"])
def test_a_damaged_index_needs_no_document_again(home: Path, kind: str) -> None:
    min(folder_of(home).glob(KINDS[kind])).unlink()
    bases = KnowledgeBases(home)
    assert [problem.mending for problem in bases.check(NAME)] == [Mending.COMPACT]
    assert bases.repair(NAME) == ["the search indexes"]
    assert problems(home) == [] and len(searched(home)) == 10


@pytest.mark.parametrize("kind", ["the newest manifest of the documents", "the rows of the documents"])
def test_the_documents_are_listed_again_from_their_passages(home: Path, kind: str) -> None:
    before = KnowledgeBases(home).open(NAME).indexed()
    min(folder_of(home).glob(KINDS[kind])).write_bytes(b"")
    KnowledgeBases(home).repair(NAME)
    held = KnowledgeBases(home).open(NAME).indexed()
    assert {source: entry.hash for source, entry in held.items()} == {
        source: entry.hash for source, entry in before.items()
    }
    assert problems(home) == [] and len(searched(home)) == 10


def test_only_the_document_whose_passages_were_hit_is_lost(home: Path) -> None:
    [rows] = folder_of(home).glob(KINDS["the rows of the passages"])
    content = rows.read_bytes()
    assert content.count(b"Pump 2 is blue") == 1
    rows.write_bytes(content.replace(b"Pump 2 is blue", b"Pump 2 is bloe"))
    bases = KnowledgeBases(home)
    bases.repair(NAME)
    assert [problem.source for problem in bases.check(NAME)] == ["/pump2"]
    bases.open(NAME).remove(["/pump2"])  # given up
    assert problems(home) == [] and len(searched(home)) == 8


@pytest.mark.parametrize("table", ["documents", "texts", "passages"])
def test_a_whole_table_may_be_gone(home: Path, table: str) -> None:
    shutil.rmtree(folder_of(home) / "lance" / f"{table}.lance")
    with pytest.raises(DamagedKnowledgeBase):
        searched(home)
    KnowledgeBases(home).repair(NAME)
    read_again(home)
    assert problems(home) == [] and len(searched(home)) == 10


def test_what_cannot_be_rebuilt_says_so(home: Path) -> None:
    shutil.rmtree(folder_of(home) / "lance")
    with pytest.raises(DamagedKnowledgeBase, match="both the documents and the passages") as caught:
        KnowledgeBases(home).repair(NAME)
    assert f"localcrag kb remove {NAME}" in caught.value.hint


LISTS = ["skipped.json", "unfinished.json", "unused-texts.json", "lost.json", "checksums.json"]


@pytest.mark.parametrize(("name", "way"), [*zip(LISTS, list(WAYS)[1:], strict=True)])
def test_a_damaged_list_is_found_and_made_anew(home: Path, name: str, way: str) -> None:
    path = folder_of(home) / name
    if not path.exists():
        path.write_text('["/a", "/b"]')
    WAYS[way](path)
    assert any(name in line for line in problems(home))
    KnowledgeBases(home).repair(NAME)
    assert problems(home) == [] and len(searched(home)) == 10


def test_what_was_skipped_is_not_hidden_by_a_damaged_list(home: Path) -> None:
    store = KnowledgeBases(home).open(NAME)
    assert len(store.skipped()) == 1
    (folder_of(home) / "skipped.json").write_text("")
    with pytest.raises(StoreError, match="skipped is damaged"):
        store.skipped()


def test_bits_that_flip_without_a_trace_are_found_before_there_is_no_answer(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = KnowledgeBases(home).open(NAME)
    store.warm()  # the copy is read, and its times are recorded
    compared = checksums._compared
    monkeypatch.setattr(  # as if no time of any file told of it
        checksums,
        "_compared",
        lambda folder, record, thorough, tell: (
            compared(folder, record, thorough, tell) if thorough else ([], [])
        ),
    )
    _flipped(min(folder_of(home).glob(KINDS["postings of the full-text index"])))
    store.require_whole()
    with pytest.raises(DamagedKnowledgeBase, match="another content"):
        store.require_whole(thorough=True)


@pytest.fixture
def old(home: Path) -> Iterator[Path]:
    """A knowledge base of a version that recorded no checksums."""
    (folder_of(home) / "checksums.json").unlink()
    yield home


def test_without_checksums_it_opens_and_the_next_write_records_them(old: Path) -> None:
    assert problems(old) == [] and len(searched(old)) == 10
    store = KnowledgeBases(old).open(NAME)
    store.replace([item("/new", "something new")])
    store.optimize()
    assert checksums.recorded(folder_of(old)) is not None
    assert problems(old) == []


@pytest.mark.parametrize(
    "kind", ["the rows of the texts", "the rows of the passages", "postings of the full-text index"]
)
@pytest.mark.parametrize("way", ["missing", "zeros"])
def test_without_checksums_what_cannot_be_read_is_an_error_too(old: Path, kind: str, way: str) -> None:
    WAYS[way](min(folder_of(old).glob(KINDS[kind])))
    with pytest.raises(StoreError):
        searched(old)
    assert problems(old)
    KnowledgeBases(old).repair(NAME)
    read_again(old)
    assert problems(old) == [] and len(searched(old)) == 10


def test_a_write_that_is_under_way_is_not_taken_for_damage(home: Path) -> None:
    folder = folder_of(home)
    reader = KnowledgeBases(home).open(NAME)
    checksums.record_files(folder, cleaning=True)
    for path in folder.glob("lance/passages.lance/_indices/*/*"):
        path.unlink()  # as if they were of a version that is no longer needed
    reader.require_whole()
    checksums.record_files(folder)
    reader.require_whole()


def test_a_damaged_list_of_checksums_hides_nothing_from_the_next_check(home: Path) -> None:
    path = folder_of(home) / "checksums.json"
    content = json.loads(path.read_text())
    content["content"]["files"]["kb.json"][0] += 1
    path.write_text(json.dumps(content))
    assert len(searched(home)) == 10, "a list that is damaged itself accuses no file"
    assert [line.partition(":")[0] for line in problems(home)] == ["checksums.json is damaged"]
