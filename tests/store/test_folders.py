"""Knowledge bases by name: made, opened, refused, damaged, removed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from localcrag.errors import EmbeddingMismatch, StoreError, UnknownKnowledgeBase, UsageError
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.store.row_reads import Facet
from localcrag.types import MetaValue
from tests.store.conftest import EMBEDDER, item


def test_nothing_is_made_before_the_first_is_created(tmp_path: Path) -> None:
    bases = KnowledgeBases(tmp_path / "home")
    assert bases.names() == []
    with pytest.raises(UnknownKnowledgeBase, match="'papers'") as caught:
        bases.open("papers")
    assert "localcrag ingest" in caught.value.hint
    assert not (tmp_path / "home").exists()


def test_an_unknown_name_is_answered_with_the_known_and_the_near(bases: KnowledgeBases) -> None:
    for name in ("papers", "mail"):
        bases.create(name, "m", 4)
    with pytest.raises(UnknownKnowledgeBase) as caught:
        bases.open("paper")
    assert caught.value.hint == "did you mean 'papers'? there are: mail, papers"
    with pytest.raises(UnknownKnowledgeBase) as caught:
        bases.remove("zzz")
    assert caught.value.hint == "there are: mail, papers"


@pytest.mark.parametrize("name", ["", ".", "..", ".hidden", "a/b", "a b", "x" * 65, "é", "a\n", "../kb"])
def test_names_that_cannot_be(bases: KnowledgeBases, name: str) -> None:
    for attempt in (bases.open, bases.remove, lambda name: bases.create(name, "m", 4)):
        with pytest.raises(UsageError):
            attempt(name)


@pytest.mark.parametrize("name", ["a", "x" * 64, "A.b_c-1", "1"])
def test_names_that_can_be(bases: KnowledgeBases, name: str) -> None:
    bases.create(name, "m", 4)
    assert bases.names() == [name]


def test_creating_again_opens_what_is_there(bases: KnowledgeBases) -> None:
    bases.create("kb", "hash", 64).replace([item("/a", "text")])
    assert set(bases.create("kb", "hash", 64).indexed()) == {"/a"}
    assert [path.name for path in bases.open("kb").folder.parent.iterdir()] == ["kb"]


def test_another_embedding_model_is_refused_before_anything_is_loaded(bases: KnowledgeBases) -> None:
    bases.create("kb", "minilm", 384)
    for model, dimension in (("bge", 384), ("minilm", 768)):
        for attempt in (bases.open, bases.create):
            with pytest.raises(EmbeddingMismatch, match="made with the embedding model minilm") as caught:
                attempt("kb", model, dimension)
            assert "set model.embedding to minilm" in caught.value.hint
    assert bases.record("kb").embedding_model == "minilm"
    bases.open("kb", "minilm", 384)


def test_removed_is_gone_whole(bases: KnowledgeBases, lance: LanceStore) -> None:
    lance.replace([item("/a", "text")])
    bases.remove("kb")
    assert bases.names() == []
    assert list(lance.folder.parent.iterdir()) == []
    with pytest.raises(UnknownKnowledgeBase, match="removed meanwhile"):
        lance.info()


def test_what_a_killed_removal_left_is_swept(bases: KnowledgeBases, lance: LanceStore) -> None:
    leftover = lance.folder.parent / ".removed-old-0"
    leftover.mkdir()
    assert bases.names() == ["kb"]
    bases.create("other", "m", 4)
    assert not leftover.exists()


def _truncate(folder: Path, pattern: str) -> None:
    for path in folder.rglob(pattern):
        if path.is_file():
            path.write_bytes(path.read_bytes()[:3])


DAMAGES: dict[str, Callable[[Path], object]] = {
    "no record": lambda folder: (folder / "kb.json").unlink(),
    "an empty record": lambda folder: (folder / "kb.json").write_text(""),
    "another record": lambda folder: (folder / "kb.json").write_text('{"name": 3}'),
    "a list for a record": lambda folder: (folder / "kb.json").write_text("[1]"),
    "no table": lambda folder: (folder / "lance" / "passages.lance").rename(folder / "gone"),
    "cut data": lambda folder: _truncate(folder / "lance" / "passages.lance" / "data", "*"),
    "cut versions": lambda folder: _truncate(folder / "lance" / "documents.lance" / "_versions", "*"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_folder_is_one_line_and_what_to_do(
    bases: KnowledgeBases, lance: LanceStore, damage: str, capfd: pytest.CaptureFixture[str]
) -> None:
    lance.replace([item("/a", "text one"), item("/b", "text two")])
    DAMAGES[damage](lance.folder)
    with pytest.raises(StoreError) as caught:
        damaged = bases.open("kb", "hash", 64)
        damaged.indexed()
        damaged.search("text", EMBEDDER.encode(["text"])[0], k=3)
    assert "\n" not in str(caught.value)
    assert "localcrag kb check kb" in caught.value.hint and "localcrag kb remove kb" in caught.value.hint
    assert capfd.readouterr().err == ""
    bases.remove("kb")
    bases.create("kb", "hash", 64).replace([item("/a", "text")])


def test_another_layout_is_refused(bases: KnowledgeBases, lance: LanceStore) -> None:
    (lance.folder / "checksums.json").unlink()
    record = lance.folder / "kb.json"
    record.write_text(json.dumps({**json.loads(record.read_text()), "layout": 99}))
    with pytest.raises(StoreError, match="layout 99"):
        bases.open("kb")


def test_a_damaged_note_or_list_does_no_harm(lance: LanceStore) -> None:
    lance.replace([item("/a", "text")])
    (lance.folder / "unfinished.json").write_text("{")
    (lance.folder / "unused-texts.json").write_text('{"a": 1}')
    assert lance.indexed()["/a"].hash
    lance.replace([item("/b", "text")])
    lance.optimize()
    assert lance.info().documents == 2


def test_facets_count_documents(lance: LanceStore) -> None:
    lance.replace(
        [item(f"/{n}", "one", "two", meta={"team": "xy"[n % 2], "n": n}, paged=True) for n in range(5)]
    )
    assert lance.facets("team") == [Facet("x", 3), Facet("y", 2)]
    assert lance.facets("n", limit=2) == [Facet(0.0, 1), Facet(1.0, 1)]
    assert lance.facets("page") == [Facet(1, 5), Facet(2, 5)]
    assert [facet.value for facet in lance.facets("source")] == [f"/{n}" for n in range(5)]
    with pytest.raises(UsageError, match="no field 'nope'"):
        lance.facets("nope")


def test_documents_come_out_as_they_went_in(lance: LanceStore) -> None:
    written = [
        item(f"/{n:02}", "first", "second", paged=n % 2 == 0, meta={"n": n, "odd key": "v"})
        for n in range(25)
    ]
    lance.replace(written)
    assert list(lance.documents()) == [document for document, *_ in written]


@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), pytest.param(10**400, id="beyond floats"), None, ["x"]]
)
@pytest.mark.parametrize("key", ["year", "odd key"])
def test_meta_that_cannot_be_kept_is_refused(lance: LanceStore, key: str, value: MetaValue) -> None:
    with pytest.raises(StoreError, match=f"meta key '{key}' cannot hold .*, which /b gives it") as caught:
        lance.replace([item("/a", "text", meta={key: 1}), item("/b", "text", meta={key: value})])
    assert "finite number" in caught.value.hint
    assert lance.indexed() == {} and lance.info().fields == ("source", "title", "page", "heading")


def test_the_size_is_that_of_the_folder(lance: LanceStore) -> None:
    before = lance.info().size
    lance.replace([item("/a", "some text " * 1000)])
    assert before < lance.info().size
    assert lance.info().embedding_model == "hash"


def test_names_and_records_need_no_heavy_library(bases: KnowledgeBases, lance: LanceStore) -> None:
    code = """if True:
        import sys
        from pathlib import Path
        from localcrag.store.knowledge_bases import KnowledgeBases
        store = KnowledgeBases(Path(sys.argv[1])).open("kb", "hash", 64)
        print({"lancedb", "numpy", "pyarrow", "torch"} & set(sys.modules))
    """
    home = lance.folder.parent.parent
    done = subprocess.run([sys.executable, "-c", code, str(home)], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_the_index_leaves_the_catalogue_client_alone_and_in_working_order(bases: KnowledgeBases) -> None:
    code = """if True:
        import sys
        import localcrag.store.tables
        assert "lance_namespace_urllib3_client.api" not in sys.modules
        import lance_namespace_urllib3_client as client
        print(client.ApiClient.__name__, hasattr(client, "nothing"))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "ApiClient False\n"


@pytest.mark.skipif(os.name == "nt", reason="there permissions are another matter")
def test_knowledge_bases_are_their_owners_alone(bases: KnowledgeBases, lance: LanceStore) -> None:
    assert lance.folder.parent.stat().st_mode & 0o077 == 0
