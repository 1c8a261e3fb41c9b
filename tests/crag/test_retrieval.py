"""Retrieval: what is searched, what is reranked, and in which order it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from localcrag.crag.retrieval import (
    Retriever,
    distinct,
    evaluator_weight,
    fuse,
    rerank,
    standardized,
    with_codes,
    with_named_figures,
    with_names,
    with_other_document,
)
from localcrag.events import Event, Reranked, Retrieved, result_of
from localcrag.filters import parse
from localcrag.types import Hit, Passage
from tests.crag.test_row_lookup import table
from tests.crag.values import passage
from tests.crag.world import store_of
from tests.fakes.llm import ScriptedEvaluator
from tests.fakes.store import HashEmbedder, MemoryStore


def hit(text: str, score: float) -> Hit:
    return Hit(passage(text, id=text), score)


def run(retriever: Retriever, *queries: str) -> tuple[list[Event], list[Hit]]:
    steps, events = retriever.search(queries, "the question"), []
    while True:
        try:
            events.append(next(steps))
        except StopIteration as stop:
            return events, stop.value


def test_the_evaluator_may_overturn_the_search_and_the_search_breaks_ties() -> None:
    found = [hit("a", 1.0), hit("b", 0.9), hit("c", 0.8)]
    best_last = ScriptedEvaluator(lambda _, text: {"a": 0.1, "b": 0.1, "c": 0.9}[text])
    assert [h.passage.text for h in rerank("q", found, best_last, 3)] == ["c", "a", "b"]
    undecided = ScriptedEvaluator(lambda *_: 0.5)
    assert [h.passage.text for h in rerank("q", found, undecided, 3)] == ["a", "b", "c"]


def test_an_evaluator_that_holds_nothing_to_be_relevant_weighs_no_more_than_the_cosine() -> None:
    cosines = {"a": 0.9, "b": 0.8, "c": 0.1}
    found = [Hit(passage(text, id=text), 1.0, cosine) for text, cosine in cosines.items()]

    def order(best: float) -> list[str]:
        evaluator = ScriptedEvaluator(lambda _, text: {"a": best / 4, "b": best / 5, "c": best}[text])
        return [h.passage.text for h in rerank("q", found, evaluator, 3)]

    assert order(0.6) == ["c", "a", "b"]
    assert order(0.03) == ["a", "b", "c"]
    weights = [evaluator_weight(p) for p in (0.0, 0.03, 0.25, 0.4, 0.5, 0.9)]
    assert weights == pytest.approx([0.5, 0.5, 0.5, 0.8, 1.0, 1.0])


def test_where_the_evaluator_is_undecided_the_cosine_outweighs_how_they_were_found() -> None:
    undecided = ScriptedEvaluator(lambda *_: 0.5)
    found = [
        Hit(passage(text, id=text), 1.0, cosine) for text, cosine in (("a", 0.1), ("b", 0.2), ("c", 0.9))
    ]
    best = rerank("q", found, undecided, 3)
    assert [h.passage.text for h in best] == ["c", "a", "b"]
    z = [
        0.5 * c + 0.3 * f for c, f in zip(standardized([0.1, 0.2, 0.9]), standardized([3, 2, 1]), strict=True)
    ]
    assert best[0].score == pytest.approx(z[2], abs=0.01)


def test_a_cosine_that_is_not_known_is_neither_an_advantage_nor_the_opposite() -> None:
    undecided = ScriptedEvaluator(lambda *_: 0.5)
    cosines = (0.1, None, 0.9)
    found = [Hit(passage(str(n), id=str(n)), 1.0, cosine) for n, cosine in enumerate(cosines)]
    assert [h.passage.text for h in rerank("q", found, undecided, 3)] == ["2", "1", "0"]


def test_standardized_values_have_mean_0_and_deviation_1() -> None:
    assert standardized([1.0, 2.0, 3.0]) == pytest.approx([-1.2247, 0.0, 1.2247], abs=1e-4)
    assert standardized([5.0, 5.0]) == [0.0, 0.0]


def test_ranked_lists_are_fused_by_reciprocal_rank() -> None:
    a, b, c = hit("a", 9.0), hit("b", 8.0), hit("c", 7.0)
    fused = fuse([[a, b], [b, c]])
    assert [h.passage.text for h in fused] == ["b", "a", "c"]
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)


def test_copies_of_one_text_are_one_hit() -> None:
    assert distinct([hit("same  text", 3.0), hit("same text", 2.0), hit("other", 1.0)]) == [
        hit("same  text", 3.0),
        hit("other", 1.0),
    ]


def test_with_an_evaluator_a_wider_search_is_narrowed() -> None:
    store = store_of({f"/{n}.txt": f"word {n}" for n in range(10)})
    evaluator = ScriptedEvaluator(lambda _, text: 0.9 if text.endswith("word 7") else 0.1)
    events, hits = run(Retriever(store, HashEmbedder(), evaluator, passages=3, candidates=8), "word 1")
    assert [type(event) for event in events] == [Retrieved, Reranked]
    assert evaluator.asked[0][0] == "the question"
    assert hits[0].passage.text == "word 7"
    assert len(hits) == 3


def test_candidates_are_judged_until_one_of_them_is_relevant() -> None:
    found = [hit(text, 1.0 / rank) for rank, text in enumerate("abcdefgh", 1)]

    def judged(relevant: str) -> tuple[list[tuple[str, ...]], list[str]]:
        evaluator = ScriptedEvaluator(lambda _, text: 0.9 if text == relevant else 0.1)
        best = rerank("q", found, evaluator, 3)
        return [texts for _, texts in evaluator.asked], [h.passage.text for h in best]

    first, best = judged("b")
    assert first == [("a", "b", "c")]
    assert best == ["b", "a", "c"]
    second, best = judged("e")
    assert second == [("a", "b", "c"), ("d", "e", "f")]
    assert best[0] == "e" and len(best) == 6
    everything, best = judged("none of them")
    assert everything == [("a", "b", "c"), ("d", "e", "f"), ("g", "h")]
    assert len(best) == 8


def test_without_one_the_search_stands() -> None:
    store = store_of({f"/{n}.txt": f"word {n}" for n in range(10)})
    events, hits = run(Retriever(store, HashEmbedder(), None, passages=3, candidates=8), "word 1")
    assert [type(event) for event in events] == [Retrieved]
    assert hits == list(events[0].hits) and hits[0].passage.text == "word 1"  # type: ignore[attr-defined]


def test_a_similarity_is_to_the_question_or_not_known() -> None:
    """A fusion was fitted on that one: it is to grade a passage alike, whichever search found it."""
    store = store_of({f"/{n}.txt": f"word {n} of the question" for n in range(4)})
    retriever = Retriever(store, HashEmbedder(), ScriptedEvaluator(lambda *_: 0.9), passages=2, candidates=4)
    vectors = HashEmbedder().encode(["another line"])
    for steps in (
        retriever.search(["word 3"], "the question"),
        retriever.search(["word 1", "word 2"], "the question"),
        retriever.search(["the question"], "the question", vectors=vectors),
    ):
        assert [hit.similarity for hit in result_of(steps)] == [None, None]
    for hit in result_of(retriever.search(["the question"], "the question")):
        asked, held = HashEmbedder().encode(["the question", hit.passage.text])
        assert hit.similarity == pytest.approx(float(asked @ held), abs=1e-6)


def test_a_step_of_none_is_one() -> None:
    found = [hit("a", 2.0), hit("b", 1.0)]
    assert len(rerank("q", found, ScriptedEvaluator(lambda *_: 0.1), 0)) == 2


def test_a_figure_that_the_question_names_is_among_the_best() -> None:
    best, other = [hit("version: 15.04", 1.0), hit("version: 7.04", 0.9)], hit("version: 23.04", 0.1)
    found = [*best, hit("version: 123.04", 0.2), other]
    assert with_named_figures(best, found, "What is Ubuntu 23.04?") == [best[0], other]
    assert with_named_figures(best, found, "What is Ubuntu 15.04?") == best
    assert with_named_figures(best, found, "What is Ubuntu 99.04?") == best
    day = hit("Datum: 02.06.2025", 0.1)
    assert with_named_figures(best, [*best, day], "Who came on 2 June?") == [best[0], day]
    station = [hit("station: 8443 · day: 14-APR-14", 1.0), hit("station: 8443 · day: 20-JUN-13", 0.9)]
    other_day = hit("station: 8443 · day: 21-JUN-13", 0.1)
    found = with_named_figures(station, [*station, other_day], "How warm was station 8443 on 21 June 2013?")
    assert found == [station[0], other_day]
    dated, month = hit("2025", 0.5), hit("month: 2025-07 · duty: 12", 0.1)
    assert with_named_figures([dated], [dated, month], "duty for July 2025") == [month]
    assert with_named_figures([dated], [day, dated], "duty for July 2025") == [dated]


def test_a_code_that_the_question_names_is_among_the_best() -> None:
    best, other = [hit("E15 of the pump", 1.0), hit("the desk", 0.9)], hit("SNAP CRC: load it again", 0.1)
    found = [*best, hit("snap the lid", 0.2), other]
    assert with_codes(best, found, "The desk shows SNAP CRC, what now?") == [best[0], other]
    assert with_codes(best, found, "The pump shows E15, what now?") == best
    assert with_codes(best, found, "The desk shows E99, what now?") == best


def test_one_document_does_not_take_all_places_if_another_was_found_before_the_last() -> None:
    log = [hit(f"FV2 temperature {n}", 1.0 - n / 10) for n in range(4)]
    other = replace(hit("crash_c = 0.5", 0.75), passage=passage("crash_c = 0.5", source="/fermenter.toml"))
    best = log[:3]
    assert with_other_document(best, [log[0], log[1], other, *log[2:]]) == [log[0], log[1], other]
    assert with_other_document(best, [*log[:3], other]) == best, "which was found behind all of them"
    assert with_other_document([log[0], other], [log[0], log[1], other]) == [log[0], other]
    assert with_other_document(best[:1], [other, *log]) == best[:1], "a single one stays"


def test_a_code_that_no_hit_has_is_searched_for() -> None:
    texts = {f"/{n}.txt": f"the desk shows what it shows before the show {n}" for n in range(9)}
    store = store_of({**texts, "/faults.txt": "CRC"})
    evaluator = ScriptedEvaluator(lambda *_: 0.1)
    retriever = Retriever(store, HashEmbedder(), evaluator, passages=2, candidates=3)
    asked = "the desk shows what before the show, CRC"
    assert "CRC" in [found.passage.text for found in result_of(retriever.search([asked], asked))]


def test_a_name_that_the_question_spells_is_among_the_best() -> None:
    best, other = [hit("MIT License", 1.0), hit("a license", 0.9)], hit("Silver: PostgreSQL License", 0.1)
    found = [*best, hit("postgresql license", 0.2), other]
    assert with_names(best, found, "How good is the PostgreSQL License?") == [best[0], other]
    assert with_names(best, found, "How good is the MIT License?") == best
    assert with_names(best, found, "How good is the Vim License?") == best
    texts = {f"/{n}.txt": f"how good is the license before the license {n}" for n in range(9)}
    store = store_of({**texts, "/silver.txt": "PostgreSQL License"})
    retriever = Retriever(store, HashEmbedder(), ScriptedEvaluator(lambda *_: 0.1), passages=2, candidates=3)
    asked = "how good is the license before the PostgreSQL License"
    texts_found = [each.passage.text for each in result_of(retriever.search([asked], asked))]
    assert "PostgreSQL License" in texts_found


def test_a_version_that_no_search_finds_is_looked_for_in_the_best_documents() -> None:
    """To a search by words "5.6.1" is a five, a six and a one."""
    made = replace(passage("Made 5.6.1 release", source="/log"), document="1", id="made")
    fixed = replace(passage("* 5.6 was made, and 1 more", source="/log"), document="1", id="fixed")

    class Log(MemoryStore):
        def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
            assert documents == {"/log": "1"}
            return [fixed, made]

    retriever = Retriever(Log(), HashEmbedder(), ScriptedEvaluator(lambda *_: 0.1), passages=2, candidates=3)

    def ids(question: str) -> list[str]:
        return [each.passage.id for each in result_of(retriever.best([Hit(fixed, 0.3)], question))]

    assert ids("When did 5.6.1 come out?") == ["made"]
    assert ids("When did 5.6.2 come out?") == ["fixed"]


def test_the_part_of_a_table_that_has_the_day_is_among_the_best() -> None:
    """A search by words does not find the rows of a day: they have none of the question's words."""
    first, last = (
        replace(
            table(*(f"From: {day} · First: {who}" for day, who in rows)),
            id=name,
            source="/turns.csv",
            document="1",
        )
        for name, rows in (
            ("a", (("30 March", "Ada"), ("6 April", "Ben"))),
            ("b", (("13 April", "Cleo"), ("20 April", "Dan"))),
        )
    )  # fmt: skip

    class Turns(MemoryStore):
        def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
            assert documents == {"/turns.csv": "1"}
            return [first, last]

    retriever = Retriever(
        Turns(), HashEmbedder(), ScriptedEvaluator(lambda *_: 0.1), passages=2, candidates=4
    )
    found = [hit("duty phone", 0.3), Hit(first, 0.2)]

    def ids(question: str) -> set[str]:
        return {hit.passage.id for hit in result_of(retriever.best(found, question))}

    assert "b" in ids("Who has the duty phone on 15/04/26?")
    log = replace(passage("The log of 15 April 2026."), id="c", source="/log.txt", document="2")
    asked = "Who has the duty phone on 15/04/26?"
    of_three = replace(retriever, passages=3).best([*found, Hit(log, 0.1)], asked)
    assert result_of(of_three)[-1].passage.id == "b", "a log is no row of the table"
    assert "b" not in ids("Who has the duty phone on 1 April?") | ids("Who has the duty phone?")
    refused = parse('source = "/other.csv"')
    assert "b" not in {each.passage.id for each in result_of(retriever.best(found, "On 15 April?", refused))}


def test_the_row_of_a_code_that_something_shows_is_among_the_best() -> None:
    first, last = (
        replace(
            table(*(f"Code: {code} · Remedy: call {code}" for code in codes), heading=""),
            id=name,
            source="/manual.pdf",
            document="1",
        )
        for name, codes in (("a", (3, 8)), ("b", (34, 38)))
    )

    class Manuals(MemoryStore):
        def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
            assert "/manual.pdf" in documents
            return [first, last]

    evaluator = ScriptedEvaluator(lambda *_: 0.1)
    retriever = Retriever(Manuals(), HashEmbedder(), evaluator, passages=2, candidates=4)
    found = [hit("the handset", 0.3), Hit(first, 0.2)]

    def ids(question: str) -> set[str]:
        return {each.passage.id for each in result_of(retriever.best(found, question))}

    assert "b" in ids("The handset says 34, what now?")
    for other in ("The handset says 8, what now?", "The handset says 35, what now?", "Where are the 34?"):
        assert "b" not in ids(other)
    refused = parse('source = "/other.csv"')
    steps = retriever.best(found, "The handset says 34, what now?", refused)
    assert "b" not in {each.passage.id for each in result_of(steps)}
