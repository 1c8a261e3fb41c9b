"""Sources are kept relative to their roots: the mapping, and documents that were moved."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.errors import DamagedKnowledgeBase, UsageError
from localcrag.filters import matches, parse
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.store.lance_store import LanceStore
from localcrag.store.source_roots import NOWHERE, SourceRoot, SourceRoots, moved_path
from localcrag.types import Skipped, SourcePlace
from tests.store.conftest import EMBEDDER, asked, item

_FOLDERS = st.lists(st.sampled_from(["a", "b", "@1", "c d"]), max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)


@given(st.lists(_FOLDERS, max_size=4), st.lists(st.tuples(_FOLDERS, _FOLDERS), max_size=3), _FOLDERS)
def test_what_is_kept_is_shown_as_it_was(
    folders: list[str], moves: list[tuple[str, str]], folder: str
) -> None:
    roots = SourceRoots()
    for added in folders:
        roots = roots.with_folder(added, [])
    for old, new in moves:
        roots = roots.relocated(old, new)
    for source in (f"{folder}/x.md".replace("//", "/"), "https://a/b", "text:note"):
        kept = roots.kept(source)
        assert kept == NOWHERE or roots.shown(kept) == source


def test_a_source_is_kept_relative_to_the_innermost_root() -> None:
    roots = SourceRoots().with_folder("/p/2024", []).with_folder("/p", ["@1/a.md"])
    assert [roots.kept(source) for source in ("/p/2024/a.md", "/p/b.md", "/q/c.md", "text:note")] == [
        "@1/a.md",
        "@2/b.md",
        "/q/c.md",
        "text:note",
    ]
    assert roots.with_folder("/p/2025", []) == roots


def test_a_folder_with_documents_of_an_earlier_version_is_no_root() -> None:
    assert SourceRoots().with_folder("/p", ["/p/a.md"]) == SourceRoots()
    assert SourceRoots().with_folder("/q", ["/p/a.md"]).roots == (SourceRoot("@1/", "/q"),)


def test_a_number_of_lost_roots_is_not_given_again() -> None:
    assert SourceRoots().with_folder("/p", ["@4/a.md"]).roots == (SourceRoot("@5/", "/p"),)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with documents of two roots, with questions, and one that no root holds."""
    home = tmp_path_factory.mktemp("made")
    store = KnowledgeBases(home).create("kb", EMBEDDER.name, EMBEDDER.dimension)
    store.add_roots(["/p/one", "/p/it's"])
    first = item("/p/one/a.md", "the lighthouse keeper", "the dose of the drug")
    store.replace([first, item("/p/one/deep/b.md", "a harbour wall"), item("/p/it's/c.md", "a rope")])
    store.replace([item("text:note", "a written note")])
    store.add_questions([asked(first[2][1], "how much of it?")])
    store.optimize()
    return home


@pytest.fixture
def rooted(made: Path, tmp_path: Path, bases: KnowledgeBases) -> LanceStore:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    return bases.open("kb")


def _sources(store: LanceStore, text: str) -> set[str]:
    return {hit.passage.source for hit in store.search(text, EMBEDDER.encode([text])[0], k=9)}


def test_no_table_has_the_place_of_a_root(rooted: LanceStore) -> None:
    for name in ("passages", "documents", "questions"):
        table = getattr(rooted._tables, name)
        kept = set(table.search().select(["source"]).to_arrow()["source"].to_pylist())
        assert not any(source.startswith("/p") for source in kept)
    assert set(rooted.indexed()) == {"/p/one/a.md", "/p/one/deep/b.md", "/p/it's/c.md", "text:note"}
    assert rooted.places() == [SourcePlace("/p/it's", 1), SourcePlace("/p/one", 2)]


def test_documents_that_were_moved_are_shown_where_they_are(rooted: LanceStore) -> None:
    rooted.record_skips([Skipped("/p/one/scan.pdf", "no text")], ())
    assert rooted.relocate("/p/one", "/q") == 2
    assert set(rooted.indexed()) == {"/q/a.md", "/q/deep/b.md", "/p/it's/c.md", "text:note"}
    hit = rooted.search("lighthouse", EMBEDDER.encode(["lighthouse"])[0], k=1)[0].passage
    assert hit.source == "/q/a.md"
    assert [passage.source for passage in rooted.neighbours(hit)] == ["/q/a.md"]
    assert rooted.text(hit.document, None, source="/q/a.md").startswith("the lighthouse")
    assert [passage.source for passage in rooted.passages({"/q/a.md": hit.document}, limit=1)] == ["/q/a.md"]
    assert next(rooted.documents()).source == "/p/it's/c.md"
    assert {facet.value for facet in rooted.facets("source", limit=9)} == set(rooted.indexed())
    assert {passage.source for passage in rooted.questionless()} == set(rooted.indexed())
    assert rooted.remove(["/p/one/a.md"]) == 0 and rooted.remove(["/q/a.md"]) == 1


def test_only_a_part_of_a_root_was_moved_and_something_else_took_its_place(rooted: LanceStore) -> None:
    rooted.relocate("/p/one/deep", "/archive")
    rooted.replace([item("/p/one/deep/new.md", "an anchor")])
    assert set(rooted.indexed()) == {
        *("/p/one/a.md", "/archive/b.md", "/p/one/deep/new.md", "/p/it's/c.md", "text:note")
    }
    rooted.relocate("/p", "/r")
    assert "/r/one/deep/new.md" in rooted.indexed() and "/archive/b.md" in rooted.indexed()


def test_an_earlier_knowledge_base_is_read_and_moved_as_it_is(lance: LanceStore) -> None:
    lance.replace([item("/old/a.md", "a lighthouse"), item("/old/sub/b.md", "a harbour")])
    lance.add_roots(["/old", "/new"])
    assert lance.places() == [SourcePlace("/old", 2)]
    assert lance.relocate("/old", "/moved") == 2
    assert set(lance.indexed()) == {"/moved/a.md", "/moved/sub/b.md"}
    lance.replace([item("/old/a.md", "another one"), item("/moved/a.md", "a changed lighthouse")])
    assert set(lance.indexed()) == {"/moved/a.md", "/moved/sub/b.md", "/old/a.md"}
    assert _sources(lance, "changed") >= {"/moved/a.md"}


@pytest.mark.parametrize(
    "written",
    [
        'source = "/p/one/a.md"',
        'source != "/p/one/a.md"',
        'source in ("/p/it\'s/c.md", "text:note")',
        'source startswith "/p/one/d"',
        'source startswith "/p/"',
        'source contains "e/de"',
        'not source contains "one"',
        'source contains "@1/"',
        'source > "/p/one/b" and source < "u"',
        'not (source <= "/p/one/a.md" or title = "c.md")',
    ],
)
def test_a_filter_compares_sources_as_they_are_shown(rooted: LanceStore, written: str) -> None:
    rooted.relocate("/p/one/deep", "/p/one/depths")
    filter, held = parse(written), rooted.passages
    passages = held({source: entry.hash for source, entry in rooted.indexed().items()}, limit=9)
    expected = {passage.source for passage in passages if matches(filter, passage)}
    assert rooted.matching(filter) == expected
    found = rooted.search("a", EMBEDDER.encode(["a"])[0], k=9, filter=filter)
    assert {hit.passage.source for hit in found} == expected


def test_documents_cannot_be_moved_upon_each_other(rooted: LanceStore) -> None:
    rooted.replace([item("/p/it's/a.md", "another one")])
    with pytest.raises(UsageError, match=r"would be two documents"):
        rooted.relocate("/p/one", "/p/it's")
    with pytest.raises(UsageError, match="no document was read from /nowhere") as error:
        rooted.relocate("/nowhere", "/q")
    assert "/p/it's, /p/one" in error.value.hint
    assert "/p/one/a.md" in rooted.indexed()


def test_another_process_that_reads_sees_the_move(rooted: LanceStore, bases: KnowledgeBases) -> None:
    other = bases.open("kb")
    assert "/p/one/a.md" in other.indexed()
    rooted.relocate("/p/one", "/q")
    assert "/q/a.md" in other.indexed() and other.is_current


def test_damaged_roots_are_noticed_and_rebuilt(rooted: LanceStore, bases: KnowledgeBases) -> None:
    path = rooted.folder / "roots.json"
    path.write_text(path.read_text().replace("/p/one", "/p/two"))
    with pytest.raises(DamagedKnowledgeBase, match="the folders that the documents"):
        rooted.indexed()
    assert [problem.what for problem in bases.check("kb")] == ["roots.json is damaged"]
    assert bases.repair("kb") == ["roots.json"]
    assert "/p/one/a.md" in bases.open("kb").indexed() and not list(bases.check("kb"))


def test_roots_that_are_lost_can_be_named_again(rooted: LanceStore, bases: KnowledgeBases) -> None:
    (rooted.folder / "roots.json").write_text("{}")
    (rooted.folder / "checksums.json").unlink()
    assert "@1 FOLDER" in bases.repair("kb")[0]
    store = bases.open("kb")
    assert "@1/a.md" in store.indexed()
    store.relocate("@1", "/p/one")
    store.relocate("@2", "/p/it's")
    assert set(store.indexed()) == {"/p/one/a.md", "/p/one/deep/b.md", "/p/it's/c.md", "text:note"}
    assert not list(bases.check("kb"))


def test_problems_and_lost_documents_are_named_by_their_places(
    rooted: LanceStore, bases: KnowledgeBases, tmp_path: Path, found: Callable[[str], list[str]]
) -> None:
    rooted._tables.texts.delete("true")
    problems = [problem.source for problem in bases.check("kb") if problem.source]
    assert "/p/one/a.md" in problems
    bases.repair("kb")
    with pytest.raises(DamagedKnowledgeBase, match=r"/p/one/a\.md"):
        bases.open("kb").require_whole()
    assert "@1/a.md" in json.loads((rooted.folder / "lost.json").read_text())


def test_a_path_after_a_move() -> None:
    assert moved_path("/a/b/c", "/a/b", "/x") == "/x/c" and moved_path("/a/bc", "/a/b", "/x") == "/a/bc"
    assert moved_path("/a", "/", "/x") == "/x/a" and moved_path("/a/b", "/a/b", "/") == "/"
