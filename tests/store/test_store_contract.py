"""What every PassageStore does, the real one and the fake."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from localcrag.errors import FilterError, StoreError
from localcrag.filters import parse
from localcrag.protocols import PassageStore
from localcrag.store.knowledge_bases import KnowledgeBases
from localcrag.types import Hit, Meta, Passage
from tests.fakes.store import MemoryStore
from tests.store.conftest import EMBEDDER, asked, item


@pytest.fixture(params=["lance", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> PassageStore:
    if request.param == "memory":
        return MemoryStore(name="kb")
    return KnowledgeBases(tmp_path).create("kb", EMBEDDER.name, EMBEDDER.dimension)


def ask(store: PassageStore, text: str, k: int = 8, filter: str | None = None) -> list[Hit]:
    return store.search(text, EMBEDDER.encode([text])[0], k=k, filter=parse(filter) if filter else None)


def test_an_empty_store_holds_and_finds_nothing(store: PassageStore) -> None:
    info = store.info()
    assert (info.name, info.documents, info.passages, info.dimension) == ("kb", 0, 0, EMBEDDER.dimension)
    assert info.fields == ("source", "title", "page", "heading")
    assert store.indexed() == {}
    assert ask(store, "anything") == []
    assert store.remove(["/a"]) == 0
    store.optimize()


def test_a_passage_comes_back_as_it_was_written(store: PassageStore) -> None:
    meta: Meta = {"team": "x", "year": 2024, "ratio": 0.5, "final": True, "odd key": "kept", "big": 2**60 + 1}
    written = item(
        "/docs/o'neil.txt", 'A "quoted" text.', "Zwölf Boxkämpfer 漢字 \0 end", meta=meta, heading="Doses"
    )
    store.replace([written])
    for optimized in (False, True):
        hit = ask(store, "Boxkämpfer")[0]
        assert hit.passage == written[2][1]
        assert dict(hit.passage.meta) == meta
        assert [type(value) for value in hit.passage.meta.values()] == [
            type(value) for value in meta.values()
        ]
        assert hit.similarity == pytest.approx(
            float(EMBEDDER.encode(["Boxkämpfer"])[0] @ written[3][1]), abs=1e-5
        )
        if not optimized:
            store.optimize()
    assert store.indexed() == {"/docs/o'neil.txt": written[1]}
    assert store.info().fields == (
        "source",
        "title",
        "page",
        "heading",
        "big",
        "final",
        "ratio",
        "team",
        "year",
    )


def test_the_best_comes_first_and_no_more_than_k(store: PassageStore) -> None:
    store.replace([item(f"/{n}", f"filler number{n} about gardens and rivers") for n in range(30)])
    store.replace([item("/wanted", "the dose of paracetamol is four grams")])
    hits = ask(store, "what is the dose of paracetamol", k=5)
    assert len(hits) == 5
    assert hits[0].passage.source == "/wanted"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.passage.id for hit in hits}) == 5


def test_title_and_heading_are_searched_too(store: PassageStore) -> None:
    store.replace([item(f"/{n}", f"plain words {n}") for n in range(5)])
    store.replace([item("/zymurgy.txt", "of something else"), item("/b", "and this", heading="Fermentation")])
    assert ask(store, "zymurgy")[0].passage.source == "/zymurgy.txt"
    assert ask(store, "fermentation")[0].passage.text == "and this"


def test_a_changed_document_replaces_the_old_one(store: PassageStore) -> None:
    store.replace([item("/a", "alpha one", "alpha two", "alpha three"), item("/b", "beta one")])
    changed = item("/a", "gamma one")
    store.replace([changed])
    assert sorted(hit.passage.text for hit in ask(store, "alpha beta gamma")) == ["beta one", "gamma one"]
    assert store.indexed()["/a"] == changed[1]
    assert store.info().passages == 2
    store.replace([item("/a", "delta one", "delta two")])
    assert store.info().passages == 3


def test_the_same_document_twice_is_held_once(store: PassageStore) -> None:
    for _ in range(3):
        store.replace([item("/a", "one", "two")])
    assert (store.info().documents, store.info().passages) == (1, 2)


def test_removed_documents_are_gone(store: PassageStore) -> None:
    store.replace([item(f"/{n}", f"word{n} text") for n in range(12)])
    assert store.remove(["/3", "/5", "/unknown"]) == 2
    assert set(store.indexed()) == {f"/{n}" for n in range(12)} - {"/3", "/5"}
    assert {hit.passage.source for hit in ask(store, "word3 word5 text", k=50)}.isdisjoint({"/3", "/5"})


def test_two_sources_with_the_same_content(store: PassageStore) -> None:
    first, second = item("/a", "shared text"), item("/b", "shared text")
    assert first[0].hash == second[0].hash
    store.replace([first, second])
    assert {hit.passage.source for hit in ask(store, "shared")} == {"/a", "/b"}
    store.remove(["/a"])
    store.optimize()
    store.optimize()
    assert [hit.passage.source for hit in ask(store, "shared")] == ["/b"]
    assert store.text(second[0].hash, None) == "shared text"


def test_the_same_bytes_read_differently(store: PassageStore) -> None:
    store.replace([item("/a.md", "Title"), item("/b.txt", "# Title", hash=item("/a.md", "Title")[0].hash)])
    hash = store.indexed()["/a.md"].hash
    assert store.text(hash, None, source="/a.md") == "Title"
    assert store.text(hash, None, source="/b.txt") == "# Title"


def test_offsets_count_in_the_stored_text(store: PassageStore) -> None:
    plain, paged = (
        item("/plain", "first line", "second line"),
        item("/paged", "page one", "page two", paged=True),
    )
    store.replace([plain, paged])
    for document, _, passages, _ in (plain, paged):
        for passage in passages:
            assert store.text(document.hash, passage.page)[passage.start : passage.end] == passage.text
    with pytest.raises(StoreError):
        store.text(paged[0].hash, 3)
    with pytest.raises(StoreError):
        store.text("no such hash", None)


def test_neighbours_are_of_the_same_document(store: PassageStore) -> None:
    written = item("/a", "zero", "one", "two", "three")
    store.replace([written, item("/b", "zero", "one", "two")])
    passages = written[2]
    assert store.neighbours(passages[0]) == [passages[1]]
    assert store.neighbours(passages[2]) == [passages[1], passages[3]]
    assert store.neighbours(item("/a", "older text")[2][0]) == []


def test_the_first_passages_of_documents_come_in_order(store: PassageStore) -> None:
    first, second = item("/a", "zero", "one", "two"), item("/b'c", "zero", "one")
    store.replace([second, first, item("/d", "zero")])
    hashes = {"/b'c": second[0].hash, "/a": first[0].hash}
    assert store.passages(hashes, limit=9) == [*first[2], *second[2]]
    assert store.passages(hashes, limit=2) == [*first[2][:2], *second[2]]
    assert store.passages({"/a": "another hash", "/unknown": "x"}, limit=9) == []
    assert store.passages({}, limit=9) == []


def test_filters_choose_before_ranking(store: PassageStore) -> None:
    store.replace(
        [item(f"/x{n}", f"common words {n}", meta={"team": "x", "year": 2000 + n}) for n in range(60)]
    )
    store.replace([item("/y", "common words of one", "page two", meta={"team": "y"}, paged=True)])
    hits = ask(store, "common words", filter='team = "y"')
    assert {hit.passage.source for hit in hits} == {"/y"}
    assert [hit.passage.page for hit in ask(store, "words", filter="page >= 2")] == [2]
    assert [hit.passage.source for hit in ask(store, "words", filter="year in (2007, 1)")] == ["/x7"]
    assert len(ask(store, "words", k=100, filter='not team = "x" and source startswith "/y"')) == 2


def test_a_filter_on_what_is_not_there(store: PassageStore) -> None:
    store.replace([item("/a", "text", meta={"team": "x"})])
    with pytest.raises(FilterError, match="no field 'taem'") as caught:
        ask(store, "text", filter='page < 3 and taem = "x"')
    assert "team" in caught.value.hint
    assert "column 14" in str(caught.value)
    with pytest.raises(FilterError, match="'team' is text, and 3 is a number"):
        ask(store, "text", filter="team = 3")


def test_a_field_may_have_another_type_in_each_document(store: PassageStore) -> None:
    store.replace([item("/a", "text", meta={"year": 2024})])
    store.replace([item("/b", "text", meta={"year": "2024-06-01"}), item("/c", "text", meta={"year": True})])
    store.replace([item("/d", "text", meta={"year": ("early", "late")})])

    def found(filter: str) -> set[str]:
        return {hit.passage.source for hit in ask(store, "text", filter=filter)}

    assert found("year > 2000") == {"/a"} and found("year = true") == {"/c"}
    assert found("year > 2024-01-01") == {"/b"} and found('year = "late"') == {"/d"}
    assert found('year != "late"') == {"/a", "/b", "/c"}
    assert store.indexed()["/d"].meta == {"year": ("early", "late")}
    assert store.info().fields[-1] == "year"


@pytest.mark.parametrize(
    "query", ["", " \n ", "the of and", "'\"(+- AND OR NOT :*~^", "\0", "word " * 200_000, "漢字"]
)
def test_any_text_can_be_searched_for(store: PassageStore, query: str) -> None:
    store.replace([item("/a", "some text"), item("/b", "漢字 text")])
    assert len(ask(store, query)) == 2


def test_vectors_of_a_wrong_shape_are_refused(store: PassageStore) -> None:
    document, entry, passages, vectors = item("/a", "text")
    with pytest.raises(ValueError, match="shape"):
        store.replace([(document, entry, passages, vectors[:, :10])])
    assert store.indexed() == {}


@pytest.mark.usefixtures("every_processor")
def test_threads_may_search_while_one_writes(store: PassageStore) -> None:
    store.replace([item(f"/{n}", f"word{n} text") for n in range(20)])
    with ThreadPoolExecutor(4) as pool:
        searches = [pool.submit(ask, store, f"word{n}", 3) for n in range(20)]
        for n in range(20, 25):
            store.replace([item(f"/{n}", f"late{n} text")])
        assert [search.result()[0].passage.source for search in searches] == [f"/{n}" for n in range(20)]
    assert ask(store, "late24")[0].passage.source == "/24"


# ------------------------------------------------------------------------------ questions


def sources(hits: list[Hit]) -> list[str]:
    return [hit.passage.source for hit in hits]


def test_questions_lead_back_to_their_passage(store: PassageStore) -> None:
    filler = [item(f"/{n}", f"filler number{n} about gardens and rivers") for n in range(60)]
    wanted = item("/wanted", "take two grams after meals", meta={"year": 2024, "odd key": "kept"})
    store.replace([*filler, wanted])
    query = "how much paracetamol is allowed"
    assert "/wanted" not in sources(ask(store, query, k=3))
    passage = wanted[2][0]
    store.add_questions([asked(passage, "How much paracetamol is allowed?", "What dose may be taken?")])
    for optimized in (False, True):
        hits = ask(store, query, k=3)
        assert hits[0].passage == passage
        assert sources(hits).count("/wanted") == 1
        own = float(EMBEDDER.encode([query])[0] @ wanted[3][0])
        assert hits[0].similarity == pytest.approx(own, abs=1e-5), "the cosine is that of the passage"
        if not optimized:
            store.optimize()
    assert (store.info().questions, store.info().passages) == (2, 61)


def test_passages_without_questions_are_listed_in_order_until_they_have_some(store: PassageStore) -> None:
    assert list(store.questionless()) == []
    second, first = item("/b", "beta one"), item("/a", "alpha one", "alpha two", "alpha three")
    store.replace([second, first])
    assert list(store.questionless()) == [*first[2], *second[2]]
    store.add_questions([asked(first[2][1], "What is alpha two?")])
    assert list(store.questionless()) == [first[2][0], first[2][2], *second[2]]


def test_questions_may_be_added_while_the_passages_are_gone_through(store: PassageStore) -> None:
    store.replace([item("/a", *(f"word{n} text" for n in range(30)))])
    seen: list[Passage] = []
    for passage in store.questionless():
        store.add_questions([asked(passage, f"What of {passage.text}?")])
        seen.append(passage)
    assert [passage.ordinal for passage in seen] == list(range(30))
    assert list(store.questionless()) == []


def test_questions_of_a_passage_replace_those_it_had(store: PassageStore) -> None:
    written = item("/a", "alpha one", "alpha two")
    store.replace([written, item("/b", "beta one")])
    first, second = written[2]
    store.add_questions([asked(first, "Old one?", "Kept?"), asked(second, "Of the second?")])
    store.add_questions([asked(first, "Kept?", "New one?", "Newer?")])
    assert store.info().questions == 4


def test_questions_go_with_their_document(store: PassageStore) -> None:
    a, b, c = item("/a", "alpha one"), item("/b", "beta one"), item("/c", "gamma one")
    store.replace([a, b, c])
    store.add_questions([asked(x[2][0], "Where do zebras live?") for x in (a, b, c)])
    store.replace([item("/a", "alpha changed")])
    assert store.remove(["/b"]) == 1
    assert store.info().questions == 1
    assert [p.source for p in store.questionless()] == ["/a"]
    hits = ask(store, "zebras live")
    assert (hits[0].passage.source, {hit.passage.text for hit in hits}) == (
        "/c",
        {"gamma one", "alpha changed"},
    )


def test_a_question_for_a_text_that_changed_meanwhile_is_not_kept(store: PassageStore) -> None:
    old, kept = item("/a", "old text", hash="same"), item("/b", "beta one")
    store.replace([old, kept])
    changed = item("/a", "another text", hash="same")
    assert old[2][0].id == changed[2][0].id, "an id tells where a passage stands, not what it says"
    store.replace([changed])
    store.add_questions([asked(old[2][0], "Zebras?"), asked(kept[2][0], "Beta?")])
    store.add_questions([asked(item("/gone", "text")[2][0], "Gone?")])
    assert store.info().questions == 1
    assert list(store.questionless()) == changed[2]


def test_a_filter_on_a_question_is_one_on_its_passage(store: PassageStore) -> None:
    x = item("/x", "first words", meta={"team": "x"})
    y = item("/y", "other words", "page two words", meta={"team": "y"}, paged=True, heading="Doses")
    store.replace([x, y])
    store.add_questions([asked(p, "Where do zebras live?") for p in [*x[2], *y[2]]])
    late = item("/z", "late words", meta={"team": "x", "year": 2024})
    store.replace([late])
    store.add_questions([asked(late[2][0], "Where do zebras live?")])
    assert sources(ask(store, "zebras", filter='team = "x"')) == ["/x", "/z"]
    assert [hit.passage.page for hit in ask(store, "zebras", filter="page >= 2")] == [2]
    assert sources(ask(store, "zebras", filter="year > 2000")) == ["/z"]
    assert sources(ask(store, "zebras", filter='year != 2024 and heading = "Doses"')) == ["/y", "/y"]
    with pytest.raises(FilterError, match="no field 'lexical'"):
        ask(store, "zebras", filter='lexical = "x"')


def test_question_vectors_of_a_wrong_shape_are_refused(store: PassageStore) -> None:
    written = item("/a", "text")
    store.replace([written])
    with pytest.raises(ValueError, match="shape"):
        store.add_questions([(written[2][0], ["One?", "Two?"], EMBEDDER.encode(["One?"]))])
    assert store.info().questions == 0


def test_a_passage_given_no_question_stays_without(store: PassageStore) -> None:
    written = item("/a", "text")
    store.replace([written])
    store.add_questions([])
    store.add_questions([asked(written[2][0])])
    assert list(store.questionless()) == written[2]
