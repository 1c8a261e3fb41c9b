"""An ingestion notices what is gone and what was moved; what was moved is not embedded again."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag.documents import LocalCorpus
from localcrag.errors import PruneRefused
from localcrag.events import MovedSource
from localcrag.ingestion import Ingestion, Prune
from localcrag.types import IngestReport, MovedDocument
from tests.documents.conftest import tokenizer_file
from tests.fakes.documents import ScriptedFile
from tests.fakes.store import HashEmbedder, MemoryStore
from tests.test_ingestion import counts, file, ingest


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    ingest(
        store,
        file("/d/a.md", "one\n\ntwo"),
        file("/d/b.md", "three"),
        file("/e/c.md", "four"),
        targets=("/d", "/e"),
    )
    return store


def test_the_same_bytes_in_another_place_are_the_same_document(store: MemoryStore) -> None:
    vectors = store._held["/d/a.md"].vectors
    report = ingest(store, file("/d/sub/a.md", "one\n\ntwo", mtime_ns=7), file("/d/b.md", "three"))
    assert counts(report) == (0, 0, 2, 0) and report.passages == 0
    assert report.moved == (MovedDocument("/d/a.md", "/d/sub/a.md"),)
    assert store._held["/d/sub/a.md"].vectors is vectors
    assert store.indexed()["/d/sub/a.md"].mtime_ns == 7 and "/d/a.md" not in store.indexed()
    again = ingest(store, file("/d/sub/a.md", "one\n\ntwo", mtime_ns=7), file("/d/b.md", "three"))
    assert (again.moved, again.gone) == ((), ())


def test_the_fields_that_are_given_now_are_read_anew(store: MemoryStore) -> None:
    report = ingest(store, file("/d/sub/a.md", "one\n\ntwo"), file("/d/b.md", "three"), meta={"team": "x"})
    assert counts(report) == (0, 2, 0, 0) and len(report.moved) == 1
    assert store.indexed()["/d/sub/a.md"].meta == {"team": "x"}


def test_a_new_name_that_is_the_title_is_embedded_with_it(store: MemoryStore) -> None:
    report = ingest(store, file("/d/z.md", "one\n\ntwo"), file("/d/b.md", "three"))
    assert counts(report) == (0, 1, 1, 0)
    assert report.moved == (MovedDocument("/d/a.md", "/d/z.md"),)
    assert store.indexed()["/d/z.md"].title == "z.md" and "/d/a.md" not in store.indexed()


@pytest.mark.parametrize(
    "new",
    [file("/d/x/a.md", "one\n\nTWO"), file("/d/x/a.txt", "one\n\ntwo")],
    ids=["other bytes", "another ending"],
)
def test_anything_else_is_new(store: MemoryStore, new: ScriptedFile) -> None:
    report = ingest(store, new, file("/d/b.md", "three"))
    assert (report.added, report.moved) == (1, ())
    assert "/d/a.md" in store.indexed(), "what is gone is kept"


def test_a_copy_is_not_moved(store: MemoryStore) -> None:
    report = ingest(
        store, file("/d/a.md", "one\n\ntwo"), file("/d/x/a.md", "one\n\ntwo"), file("/d/b.md", "three")
    )
    assert (report.added, report.unchanged, report.moved, report.gone) == (1, 2, (), ())


def test_of_several_with_the_same_bytes_each_is_moved_once() -> None:
    store = MemoryStore()
    ingest(store, file("/d/1/a.md", "x"), file("/d/1/b.md", "x"))
    report = ingest(store, file("/d/2/a.md", "x"), file("/d/2/b.md", "x"), file("/d/2/c.md", "x"))
    assert {(move.former[-4:], move.source[-4:]) for move in report.moved} == {
        ("a.md", "a.md"),
        ("b.md", "b.md"),
    }
    assert report.added == 1 and len(store.indexed()) == 3


def real(tmp_path: Path, store: MemoryStore, *targets: str, prune: Prune = False) -> tuple[IngestReport, int]:
    """The report of an ingestion of real files, and how many documents were moved by its events."""
    ingestion = Ingestion("kb", LocalCorpus(tokenizer_file()), HashEmbedder(), store)
    *events, last = ingestion.run([str(tmp_path / target) for target in targets], prune=prune)
    return last.report, sum(isinstance(event, MovedSource) for event in events)  # type: ignore[attr-defined]


def test_real_files_that_were_moved(tmp_path: Path) -> None:
    store = MemoryStore()
    for name, text in {"d/a.md": "# Title\n\nOne.", "d/b.md": "Two.", "d/c.md": "Three."}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    real(tmp_path, store, "d")
    (tmp_path / "e").mkdir()
    (tmp_path / "d" / "a.md").rename(tmp_path / "e" / "renamed.md")  # its title is in it
    (tmp_path / "d" / "b.md").rename(tmp_path / "e" / "b.md")
    (tmp_path / "d" / "c.md").unlink()
    report, moved = real(tmp_path, store, "e")
    assert (moved, report.unchanged, report.passages, report.gone) == (2, 2, 0, ())
    report, _ = real(tmp_path, store, "e", "d")
    assert report.gone == (str(tmp_path / "d" / "c.md"),)
    assert report.to_dict()["gone"] == list(report.gone) and report.gone[0] in store.indexed()
    with pytest.raises(PruneRefused):
        real(tmp_path, store, "d", prune=True)
    report, _ = real(tmp_path, store, "d", "e", prune="empty")
    assert (report.removed, report.gone) == (1, ())


def test_a_folder_that_was_emptied_by_a_move_can_be_pruned(tmp_path: Path) -> None:
    store = MemoryStore()
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.md").write_text("One.")
    real(tmp_path, store, "d")
    (tmp_path / "e").mkdir()
    (tmp_path / "d" / "a.md").rename(tmp_path / "e" / "a.md")
    report, moved = real(tmp_path, store, "d", "e", prune=True)
    assert (moved, report.removed, len(store.indexed())) == (1, 0, 1)


def test_a_text_is_never_gone() -> None:
    corpus = LocalCorpus(tokenizer_file())
    assert not corpus.is_gone("text:note") and not corpus.is_gone("https://example.org/a")
    assert corpus.is_gone("/nowhere/at/all.md") and not corpus.is_gone(str(Path(__file__)))
