"""Knowledge bases that move: folders that are elsewhere, other names, copies, archives, and forgetting."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import localcrag
from localcrag.errors import UnknownKnowledgeBase, UsageError
from localcrag.knowledge_base import threads
from localcrag.plain_answer import link

FACTS = {
    "a.md": "The lighthouse of Skagen was built in 1747.",
    "sub/b.md": "The harbour of Hirtshals is deep.",
    "sub/c.txt": "Ropes are made of hemp.",
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents in ``papers``, and a home that has read them."""
    folder = tmp_path_factory.mktemp("made")
    for name, text in FACTS.items():
        (folder / "papers" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "papers" / name).write_text(text)
    base = localcrag.open("kb", home=folder / "home")
    base.ingest(folder / "papers", metadata={"team": "x"})
    base.ingest_text("A note on anchors.", name="note")
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    """The same in a folder of its own: the documents were moved there with the home."""
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    localcrag.open("kb", home=tmp_path / "home").relocate(None, tmp_path / "papers")
    return tmp_path


@pytest.fixture
def base(folder: Path) -> localcrag.KnowledgeBase:
    return localcrag.open("kb", home=folder / "home")


def test_a_folder_that_was_moved_needs_no_ingestion(base: localcrag.KnowledgeBase, folder: Path) -> None:
    (folder / "papers").rename(folder / "archive")
    done = base.relocate(folder / "papers", folder / "archive")
    assert (done.documents, done.missing) == (3, 0)
    report = base.ingest(folder / "archive")
    assert (report.added, report.changed, report.unchanged, report.passages) == (0, 0, 3, 0)
    answer = base.ask("When was the lighthouse of Skagen built?")
    assert Path(answer.citations[0].source).read_text() == FACTS["a.md"]
    assert link(answer.citations[0]) == (folder / "archive" / "a.md").as_uri()
    assert base.info().places == (localcrag.SourcePlace(str(folder / "archive"), 3),)


def test_a_link_in_the_old_place_does_not_mislead(base: localcrag.KnowledgeBase, folder: Path) -> None:
    (folder / "papers").rename(folder / "archive")
    (folder / "papers").symlink_to(folder / "archive")
    assert base.relocate(folder / "papers", folder / "archive").documents == 3


def test_a_part_of_a_folder_may_have_moved(base: localcrag.KnowledgeBase, folder: Path) -> None:
    (folder / "elsewhere").mkdir()
    done = base.relocate(folder / "papers" / "sub", folder / "elsewhere")
    assert (done.documents, done.missing) == (2, 2), "their files are not there yet"


def test_a_folder_must_exist_and_the_old_one_be_known(base: localcrag.KnowledgeBase, folder: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        base.relocate(folder / "papers", folder / "nowhere")
    with pytest.raises(UsageError, match="no document was read from"):
        base.relocate(folder / "home", folder)
    (folder / "more").mkdir()
    (folder / "more" / "d.md").write_text("Tar is black.")
    base.ingest(folder / "more")
    with pytest.raises(UsageError, match="2 folders"):
        base.relocate(None, folder)


def test_conversations_go_on_with_the_new_name(base: localcrag.KnowledgeBase) -> None:
    store = threads(base.settings)
    for name, kb in (("one", "kb"), ("two", "other")):
        store.open(name)
        store.set_kb(name, kb)
    base.rename("renamed")
    assert base.name == "renamed" and base.info().documents == 4
    assert {thread.name: thread.kb for thread in store.threads()} == {"one": "renamed", "two": "other"}
    with pytest.raises(UnknownKnowledgeBase):
        localcrag.open("kb", home=base.settings.home).info()


def test_an_archive_answers_elsewhere(base: localcrag.KnowledgeBase, folder: Path) -> None:
    base.archive(folder / "kb.tar.gz")
    other = localcrag.import_archive(folder / "kb.tar.gz", "there", home=folder / "other")
    assert [hit.passage.text for hit in other.search("lighthouse", k=1)] == [FACTS["a.md"]]
    assert [document.meta["team"] for document in other.documents(filter='team = "x"')] == ["x"] * 3
    base.copy("copied")
    assert localcrag.open("copied", home=folder / "home").info().documents == 4


@pytest.mark.parametrize(
    ("named", "filter", "left"),
    [
        (["papers/a.md"], None, 3),
        (["papers/sub"], None, 2),
        (["papers"], None, 1),
        (["papers/*.md"], None, 3),
        (["papers/**/*.md"], None, 2),
        (["papers/s*"], None, 2),
        (["text:note"], None, 3),
        ([], 'team = "x"', 1),
        (["papers/sub"], 'source contains "b.md"', 3),
        (["papers/none", "", "https://example.org"], None, 4),
        ([], None, 4),
    ],
)
def test_documents_are_forgotten_by_folder_glob_and_filter(
    base: localcrag.KnowledgeBase,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    named: list[str],
    filter: str | None,
    left: int,
) -> None:
    monkeypatch.chdir(folder)
    shutil.rmtree(folder / "papers")  # what is forgotten may be gone
    assert base.forget(named, filter=filter) == 4 - left
    assert len(base.documents()) == left


def test_a_name_that_holds_a_wildcard_is_itself(base: localcrag.KnowledgeBase, folder: Path) -> None:
    for name in ("x[1].md", "x1.md"):
        (folder / "papers" / name).write_text(f"Something of {name}.")
    base.ingest(folder / "papers")
    assert base.sources(str(folder / "papers" / "x[1].md")) == [str(folder / "papers" / "x[1].md")]
