"""Labels against documents: what a right hit is."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag.evaluation.labels import NOTHING, Labels, label
from localcrag.evaluation.question_set import Question
from localcrag.evaluation.text_overlap import normalised
from tests.evaluation.values import citation, held, passage

DOCUMENTS = [held("/docs/de/leaflet.pdf", "Zeldrine"), held("/docs/en/leaflet.pdf"), held("/docs/Notes.md")]


def gold(**labels: object) -> Labels | None:
    labelled, unknown = label([Question(3, "q", **labels)], DOCUMENTS)  # type: ignore[arg-type]
    assert not unknown
    return labelled[0].gold


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        ("/docs/Notes.md", {"/docs/Notes.md"}),
        ("notes.md", {"/docs/Notes.md"}),
        ("Notes", {"/docs/Notes.md"}),
        ("zeldrine", {"/docs/de/leaflet.pdf"}),
        ("leaflet.pdf", {"/docs/de/leaflet.pdf", "/docs/en/leaflet.pdf"}),
        ("en/leaflet.pdf", {"/docs/en/leaflet.pdf"}),
        ("./docs/Notes.md", {"/docs/Notes.md"}),
    ],
)
def test_a_document_by_path_name_or_title(name: str, sources: set[str]) -> None:
    found = gold(sources=(name,), answerable=True)
    assert found is not None
    assert found.sources == (frozenset(sources),)


def test_a_relative_path_is_one_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    documents = [held(str(tmp_path / "sub" / "a.txt")), held("/elsewhere/sub/a.txt")]
    [found], unknown = label([Question(1, "q", sources=("sub/a.txt",))], documents)
    assert found.gold == Labels((frozenset({str(tmp_path / "sub" / "a.txt")}),))
    assert not unknown


def test_a_document_that_is_not_held_is_named() -> None:
    labelled, [unknown] = label([Question(3, "q", sources=("notes.md", "absent.md"))], DOCUMENTS)
    assert not labelled
    assert (unknown.line, unknown.reason) == (3, "the knowledge base has no document 'absent.md'")


@pytest.mark.parametrize("name", ["~$x.docx", "~no-such-user/x.docx", "x" * 5000, "x/" * 5000])
def test_a_name_that_can_be_no_path_is_not_held(name: str) -> None:
    labelled, [unknown] = label([Question(3, "q", sources=(name,))], DOCUMENTS)
    assert not labelled
    assert unknown.reason == f"the knowledge base has no document {name!r}"


def test_a_name_that_begins_like_a_home_is_found_where_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    document = held(str(tmp_path / "~$x" / "a.txt"))
    [found], unknown = label([Question(1, "q", sources=("~$x/a.txt",))], [document])
    assert found.gold == Labels((frozenset({document.source}),))
    assert not unknown


def test_what_is_not_answerable_has_no_right_hit_whatever_its_source() -> None:
    found = gold(sources=("notes.md",), answerable=False)
    assert found == NOTHING
    assert not NOTHING.found(passage("text", "/docs/Notes.md"))


def test_without_labels_nothing_is_known() -> None:
    assert gold(answers=("x",), answerable=True) is None


def test_every_passage_of_the_document_is_right_where_no_passage_is_named() -> None:
    found = Labels((frozenset({"/a.txt"}), frozenset({"/b.txt"})))
    assert found.items == 2
    assert found.found(passage("anything", "/b.txt")) == {1}
    assert not found.found(passage("anything", "/c.txt"))


def test_a_passage_must_be_in_the_document_on_the_page_and_overlap() -> None:
    found = Labels((frozenset({"/a.txt"}),), (normalised("the dose is 35 mg"),), page=2)
    assert found.found(passage("We say: the dose is 35 mg.", "/a.txt", 2)) == {0}
    assert not found.found(passage("We say: the dose is 35 mg.", "/a.txt", 1))
    assert not found.found(passage("We say: the dose is 35 mg.", "/b.txt", 2))
    assert not found.found(passage("We say: the dose is 20 mg.", "/a.txt", 2))


def test_ranks_are_the_best_over_the_lists() -> None:
    found = Labels(passages=(normalised("alpha beta"), normalised("gamma"), normalised("delta")))
    first = [passage("x"), passage("y"), passage("alpha beta")]
    second = [passage("x"), passage("alpha beta and gamma")]
    assert found.ranks([first, second]) == (2, 2, None)


def test_a_citation_points_at_what_answers_where_its_quote_is_of_the_passage() -> None:
    found = Labels((frozenset({"/a.txt"}),), (normalised("It is old. The dose is 35 mg. Take it."),))
    assert found.cited(citation("The dose is 35 mg."))
    assert not found.cited(citation("The dose is 35 mg.", "/b.txt"))
    assert not found.cited(citation("Something else entirely."))
