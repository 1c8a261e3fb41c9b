"""The steps of correction, each by itself: what it searches for, and what it brings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from localcrag.crag import prompts
from localcrag.crag.correction import (
    HYPOTHESIS_TOKENS,
    MAX_PAGE_PASSAGES,
    add_neighbours,
    corrections_for,
    search_hypothesis,
    search_near,
    search_phrasings,
    search_rewritten,
    search_web,
)
from localcrag.crag.questions.rewrite_check import is_refusal_foreseen
from localcrag.crag.state import PipelineOptions, QuestionState
from localcrag.errors import ConstraintError, OfflineError
from localcrag.events import Corrected, Degraded, Event, PageRead, Retrieved, Rewritten, WebAsked
from localcrag.filters import parse
from localcrag.types import CorrectionKind, Grade, Hit, Origin, Verdict, WebPolicy, WebResult
from tests.crag.values import drained
from tests.crag.world import Script, World, answer, of
from tests.fakes.llm import text_of
from tests.fakes.store import HashEmbedder

DOCUMENTS = {
    "/leaflet.txt": "The dose of Zeldrine is 5 mg a day.\n\nThe rest is kept in a cool place.",
    "/advice.txt": "How much a patient may take is for the doctor to say.\n\nMost swallow 5 mg at noon.",
}
LOST = "how much may a patient take?"
MADE_UP = "The usual dose of Zeldrine is 10 mg a day."
RESULTS = [WebResult(f"https://example.org/{n}", f"Page {n}", f"snippet {n}") for n in range(3)]


Pages = Mapping[str, str]


def asking(
    script: Script, *, question: str = LOST, where: str = "", pages: Pages | None = None, **options: object
) -> tuple[World, QuestionState]:
    """A world, and an inquiry in it whose question was searched for."""
    world = World(DOCUMENTS, script.model(), found={"": RESULTS}, pages=pages or {})
    world.with_options(**({"passages": 1} | options))
    asked = QuestionState(world.adapters, world.options, question, question, parse(where) if where else None)
    asked.mark_tried([question])
    return world, asked


def texts(hits: list[Hit]) -> list[str]:
    return [hit.passage.text for hit in hits]


def graded(asked: QuestionState, *words: str) -> None:
    """As if a search had brought the passages that hold these words, graded ever lower."""
    for rank, word in enumerate(words):
        store = asked.adapters.store
        [hit, *_] = store.search(word, np.zeros(64, np.float32), k=1)
        asked.mark_seen([hit])
        asked.grades.append(Grade(hit, Verdict.NO, 0.4 - rank / 10))


# ------------------------------------------------------------------------------ HyDE


def test_the_middle_of_question_and_supposed_passage_is_searched_for_with_the_questions_words() -> None:
    searched: list[tuple[str, np.ndarray]] = []
    world, asked = asking(Script(hyde=MADE_UP))
    inner = world.store.search

    def search(text: str, vector: np.ndarray, **rest: object) -> list[Hit]:
        searched.append((text, vector))
        return inner(text, vector, **rest)  # type: ignore[arg-type]

    world.store.search = search  # type: ignore[method-assign]
    drained(search_hypothesis(asked))
    [(text, vector)] = searched
    both = HashEmbedder().encode([LOST, MADE_UP]).sum(axis=0)
    assert text == LOST
    assert vector == pytest.approx(both / np.linalg.norm(both))


def test_a_supposed_passage_leads_to_a_real_one_and_is_no_evidence() -> None:
    _, asked = asking(Script(hyde=MADE_UP), question="which portion should people have?")
    events, hits = drained(search_hypothesis(asked))
    assert texts(hits) == ["The dose of Zeldrine is 5 mg a day."]
    assert events == [
        Rewritten(CorrectionKind.HYDE, (MADE_UP,)),
        Retrieved("which portion should people have?", tuple(hits)),
        Corrected(CorrectionKind.HYDE, MADE_UP, tuple(hits)),
    ]


def test_what_was_supposed_before_is_not_searched_for_again() -> None:
    _, asked = asking(Script(hyde=MADE_UP))
    drained(search_hypothesis(asked))
    events, hits = drained(search_hypothesis(asked))
    assert (events, hits) == ([Rewritten(CorrectionKind.HYDE, ())], [])


def test_the_supposed_passage_is_longer_than_a_search_line_and_bounded() -> None:
    _, asked = asking(Script(hyde="word " * 500))
    events, _ = drained(search_hypothesis(asked))
    assert of(Rewritten, events)[0].queries == (" ".join(["word"] * HYPOTHESIS_TOKENS),)
    assert HYPOTHESIS_TOKENS > 48


def test_hyde_obeys_the_filter_and_brings_nothing_twice() -> None:
    _, asked = asking(
        Script(hyde=MADE_UP), where='source = "/advice.txt"', question="which portion should people have?"
    )
    _, hits = drained(search_hypothesis(asked))
    assert [hit.passage.source for hit in hits] == ["/advice.txt"]
    _, again = drained(search_near(asked, "Another supposed passage."))
    assert again == []


# ------------------------------------------------------------------------------ other words


def test_a_rewritten_line_is_searched_for_and_graded_against_the_question() -> None:
    world, asked = asking(Script(rewrite="patient dose of zeldrine"))
    events, hits = drained(search_rewritten(asked))
    assert texts(hits) == ["The dose of Zeldrine is 5 mg a day."]
    assert [type(event) for event in events] == [Rewritten, Retrieved, Corrected]
    assert world.model.asked == [("line", text_of(prompts.rewrite(LOST)))]


def test_no_line_is_asked_for_of_which_the_last_clause_alone_would_be_left() -> None:
    world, asked = asking(Script(rewrite="what now"), question="It rattles and the current drops, what now?")
    assert drained(search_rewritten(asked)) == ([], []) and world.model.asked == []


@pytest.mark.parametrize(
    ("question", "foreseen"),
    [
        ("The pump rattles and the current drops to 40 A. What now?", True),
        ("Two clerks read the same file and are far apart, from what gap on is it settled?", True),
        ("Hi, sorry to bother you. How many beds does the clinic have?", False),
        ("When do the plants arrive? I have to warn the porter about it", False),
        ("Which kit is it, and what does it cost?", False),
        ("what now", False),
        ("", False),
    ],
)
def test_what_a_line_would_be_refused_for_is_foreseen(question: str, foreseen: bool) -> None:
    assert is_refusal_foreseen(question) is foreseen


def test_a_small_model_is_not_asked_for_a_line_if_the_question_has_nothing_to_leave_out() -> None:
    talk = "hello, I wondered about this: how much may a patient take?"
    world, asked = asking(Script(search="patient take"), extractive=True)
    assert drained(search_rewritten(asked)) == ([], []) and world.model.asked == []
    world, asked = asking(Script(search="patient take"), extractive=True, question=talk)
    drained(search_rewritten(asked))
    assert len(world.model.asked) == 1, "talk may be left out"


def test_each_wording_is_asked_for_with_those_already_tried() -> None:
    world, asked = asking(Script(phrasings=("first wording", "second wording")), phrasings=2)
    drained(search_phrasings(asked))
    assert [text for _, text in world.model.asked] == [
        text_of(prompts.phrasing(LOST, [LOST])),
        text_of(prompts.phrasing(LOST, [LOST, "first wording"])),
    ]


def test_as_many_wordings_are_asked_for_as_the_options_say() -> None:
    _, asked = asking(Script(phrasings=tuple(f"wording {n}" for n in "abcde")), phrasings=4)
    events, _ = drained(search_phrasings(asked))
    assert of(Rewritten, events)[0].queries == tuple(f"wording {n}" for n in "abcd")


# ------------------------------------------------------------------------------ neighbours


def test_the_neighbours_of_the_best_two_are_brought_and_no_others() -> None:
    _, asked = asking(Script(), passages=6)
    graded(asked, "noon", "cool")
    events, hits = drained(add_neighbours(asked))
    assert set(texts(hits)) == {
        "How much a patient may take is for the doctor to say.",
        "The dose of Zeldrine is 5 mg a day.",
    }
    assert events == [Corrected(CorrectionKind.NEIGHBOURS, LOST, tuple(hits))]


def test_a_third_passage_has_no_neighbours_to_bring() -> None:
    _, asked = asking(Script(), passages=6)
    graded(asked, "doctor", "noon", "cool")
    assert texts(drained(add_neighbours(asked))[1]) == []


def test_a_failed_grade_is_no_good_hit() -> None:
    _, asked = asking(Script())
    [hit] = asked.adapters.store.search("noon", np.zeros(64, np.float32), k=1)
    asked.grades.append(Grade(hit, Verdict.ERROR, None, "broken"))
    assert drained(add_neighbours(asked)) == ([Corrected(CorrectionKind.NEIGHBOURS, LOST, ())], [])


# ------------------------------------------------------------------------------ the web


def web(script: Script, pages: Mapping[str, str], **options: object) -> tuple[World, list[Event], list[Hit]]:
    world, asked = asking(script, pages=pages, web_policy=WebPolicy.AUTO)
    asked.options = world.with_options(**options).options
    return world, *drained(search_web(asked))


def test_the_best_passages_of_all_pages_are_brought() -> None:
    pages = {
        "https://example.org/0": "Nothing here.\n\nA patient may take how much he likes.",
        "https://example.org/1": "Nothing there.",
        "https://example.org/2": "How much? A patient may take a lot.\n\nNor here.",
    }
    _, events, hits = web(Script(rewrite="patient dose"), pages, passages=2)
    assert {hit.passage.source for hit in hits} == {"https://example.org/0", "https://example.org/2"}
    assert all(hit.passage.origin is Origin.WEB and "may take" in hit.passage.text for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert [event.url for event in of(PageRead, events)] == [result.url for result in RESULTS]


def test_a_page_without_text_brings_nothing() -> None:
    _, events, hits = web(Script(rewrite="patient dose"), {result.url: " \n" for result in RESULTS})
    assert hits == [] and len(of(PageRead, events)) == 3


def test_of_a_long_page_only_the_beginning_is_looked_at() -> None:
    long = "\n\n".join(f"paragraph {n}" for n in range(MAX_PAGE_PASSAGES)) + "\n\nhow much may a patient take"
    _, _, hits = web(Script(rewrite="patient dose"), {RESULTS[0].url: long}, passages=99, web_results=1)
    assert len(hits) == MAX_PAGE_PASSAGES
    assert not any("patient" in text for text in texts(hits))


def test_two_pages_of_one_text_are_one_passage() -> None:
    _, _, hits = web(
        Script(rewrite="patient dose"), {result.url: "the same" for result in RESULTS}, passages=9
    )
    assert texts(hits) == ["the same"]


def test_no_more_results_are_asked_for_than_the_options_say() -> None:
    world, events, _ = web(Script(rewrite="patient dose"), {}, web_results=2)
    assert world.fetcher.fetched == [result.url for result in RESULTS[:2]]
    assert of(WebAsked, events) == [WebAsked("patient dose", True, 2)]


def test_a_line_of_no_words_is_not_sent() -> None:
    world, asked = asking(Script(rewrite="!!"), question="?!", web_policy=WebPolicy.AUTO)
    events, hits = drained(search_web(asked))
    reason = "there is no word to search the web for"
    assert events == [WebAsked("!!", False, 0, reason), Degraded("web search", reason)]
    assert (world.search.queries, hits) == ([], [])


def test_what_was_read_as_a_snippet_is_a_word_in_the_answer() -> None:
    world, _ = asking(
        Script(rewrite="patient dose"), pages={RESULTS[0].url: "a page"}, web_policy=WebPolicy.AUTO
    )
    found = answer(world.with_options(corrections=()).run(LOST))
    assert found.degraded == tuple(
        f"web page: {result.url}: the server answered with status 404; only its snippet was read"
        for result in RESULTS[1:]
    )


@pytest.mark.parametrize("missing", ["web", "fetcher"])
def test_without_a_search_or_a_fetcher_there_is_no_web(missing: str) -> None:
    _, asked = asking(Script(rewrite=ConstraintError("not asked")), web_policy=WebPolicy.AUTO)
    asked.adapters = replace(asked.adapters, **{missing: None})  # type: ignore[arg-type]
    assert drained(search_web(asked)) == ([], [])


def test_an_offline_fetcher_degrades() -> None:
    world, asked = asking(Script(rewrite="patient dose"), web_policy=WebPolicy.AUTO)

    def fetch(_results: object) -> None:
        raise OfflineError("localcrag is offline")

    world.fetcher.fetch = fetch  # type: ignore[method-assign,assignment]
    events, hits = drained(search_web(asked))
    assert of(Degraded, events) == [Degraded("web page", "localcrag is offline")]
    assert hits == []


def test_default_corrections_are_the_local_ones_in_the_order_of_their_cost() -> None:
    assert PipelineOptions().corrections == (
        CorrectionKind.REWRITE,
        CorrectionKind.PHRASINGS,
        CorrectionKind.HYDE,
        CorrectionKind.NEIGHBOURS,
    )


FOREIGN = "Quelle est la dose maximale que le patient peut prendre ?"


def test_a_model_of_english_alone_writes_no_search_for_a_question_in_another_language() -> None:
    _, asked = asking(Script(), question=FOREIGN, english_only=True)
    assert corrections_for(asked) == (CorrectionKind.NEIGHBOURS,)
    _, asked = asking(Script(), question="Welche Dosis hat Frau Berg?", english_only=True)
    assert corrections_for(asked) == (CorrectionKind.NEIGHBOURS,), "too short for its language to be sure"
    for question, english_only in ((FOREIGN, False), (LOST, True)):
        _, asked = asking(Script(), question=question, english_only=english_only)
        assert corrections_for(asked) == PipelineOptions().corrections


def test_the_loop_asks_a_model_of_english_alone_for_no_other_search_in_another_language() -> None:
    script = Script(rewrite="patient dose", phrasings=("which dose?",), hyde="A dose.")
    world, _ = asking(script)
    list(world.with_options(english_only=True, divide=False).run(FOREIGN))
    assert [kind for kind, _ in world.model.asked if kind == "line"] == []


def test_a_model_of_english_alone_writes_no_web_query_in_another_language() -> None:
    world, asked = asking(
        Script(rewrite="the dose"), question=FOREIGN, english_only=True, web_policy=WebPolicy.AUTO
    )
    drained(search_web(asked))
    assert world.search.queries == [FOREIGN] and world.model.asked == []


# ------------------------------------------------------------------------- lines that may not be searched

ASSERTS = "The planet Jupiter has 11 moons."


def test_a_line_that_asserts_is_not_searched_and_that_is_said() -> None:
    world, asked = asking(Script(rewrite="A patient may take one."))
    events, hits = drained(search_rewritten(asked))
    assert events == [Degraded("rewrite", "“A patient may take one.” was refused: it is a statement")]
    assert hits == [] and world.search.queries == []


def test_a_line_that_is_the_question_was_tried_and_is_no_statement() -> None:
    """A question that does not begin as one, and has a verb, would else be taken for an assertion."""
    question = "In which year was the pump made?"
    world, asked = asking(Script(rewrite=question.rstrip("?")), question=question)
    events, hits = drained(search_rewritten(asked))
    assert of(Degraded, events) == [] and of(Rewritten, events)[0].queries == ()
    assert hits == [] and world.search.queries == []


def test_a_wording_that_asserts_is_left_out_and_those_before_it_are_searched() -> None:
    _, asked = asking(Script(phrasings=("which portion is right?", ASSERTS)), phrasings=3)
    events, _ = drained(search_phrasings(asked))
    assert of(Rewritten, events)[0].queries == ("which portion is right?",)
    [degraded] = of(Degraded, events)
    assert degraded.reason.startswith(f"“{ASSERTS}” was refused: it has the number 11")


def test_a_supposed_passage_that_is_the_prompt_is_not_searched_with() -> None:
    _, asked = asking(Script(hyde=f"Question: {LOST}"))
    events, hits = drained(search_hypothesis(asked))
    assert (events, hits) == (
        [Degraded("hyde", "the hypothetical passage was refused: it repeats the label 'Question:'")],
        [],
    )


@pytest.mark.parametrize("line", [ASSERTS, f"User: {LOST}", "the moons of a planet", "patient dose 500 mg"])
def test_what_may_not_be_searched_is_not_sent_to_the_web_and_the_question_is(line: str) -> None:
    world, events, _ = web(Script(rewrite=line), {})
    assert world.search.queries == [LOST]
    assert any(d.part == "rewrite" and "was refused" in d.reason for d in of(Degraded, events))
