"""What becomes of an answer if the chat model doubts or denies that the evidence answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from localcrag.crag import prompts
from localcrag.crag.prompt_layout import IndependentLayout
from localcrag.crag.second_opinion import PASSAGES_BELIEVED
from localcrag.errors import ContextOverflow
from localcrag.events import Corrected, Event, PassagesRead, Rewritten
from localcrag.types import Answer, CorrectionKind, Mode, Status, Strip
from tests.crag.values import hits
from tests.crag.world import World, answer
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel, text_of

DOCUMENTS = {
    "/leaflet.txt": "The dose of Zeldrine is 5 mg a day.",
    "/letter.txt": "Children take a dose of 5 mg of Zeldrine too.",
}
QUESTION = "What is the dose of Zeldrine?"
WRITTEN = "The dose of Zeldrine is 5 mg a day. [1]"
SURE, PROBABLE = 0.9, 0.4


def asked(
    opinion: float | Exception, *, graded: float = SURE, says: str = WRITTEN, **options: Any
) -> tuple[Answer, ScriptedModel]:
    """The answer of a model of this opinion about evidence that the evaluator graded so."""
    events, model = asked_for_events(opinion, graded=graded, says=says, **options)
    return answer(events), model


def asked_for_events(
    opinion: float | Exception,
    *,
    graded: float | Callable[[str, str], float] = SURE,
    says: str = WRITTEN,
    documents: Mapping[str, str] = DOCUMENTS,
    **options: Any,
) -> tuple[list[Event], ScriptedModel]:
    """The events of such an answer; ``graded`` may depend on the question and the text."""

    def choose(prompt: str, _: Sequence[str]) -> list[float]:
        if isinstance(opinion, Exception):
            raise opinion
        return [opinion, 1 - opinion]

    model = ScriptedModel(choose=choose, streams=lambda _: says, trained=False)
    judge = ScriptedEvaluator(graded if callable(graded) else lambda _, text: graded)
    world = World(documents, model, judge, by_evaluator=True)
    wanted = {"second_opinion": True, "corrections": (), **options}
    return world.with_options(**wanted).run(QUESTION), model


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    ("opinion", "graded", "status"),
    [
        (0.9, SURE, Status.ANSWERED),
        (0.7, SURE, Status.UNSURE),
        (0.2, SURE, Status.UNSURE),
        (0.9, PROBABLE, Status.UNSURE),
        (0.7, PROBABLE, Status.UNSURE),
        (0.2, PROBABLE, Status.NOT_FOUND),
    ],
)
def test_a_doubt_makes_an_answer_unsure_and_a_denial_takes_what_was_unsure(
    mode: Mode, opinion: float, graded: float, status: Status
) -> None:
    found, _ = asked(opinion, graded=graded, mode=mode)
    assert found.status is status
    assert any("P = 0.20" in reason for reason in found.degraded) is (opinion == 0.2)


@pytest.mark.parametrize(
    ("opinion", "brought"), [(0.9, False), (PASSAGES_BELIEVED, False), (0.6, True), (0.2, True)]
)
def test_what_the_evaluator_is_not_sure_of_the_model_reads_whole_before_anything_is_corrected(
    opinion: float, brought: bool
) -> None:
    events, model = asked_for_events(opinion, graded=PROBABLE, corrections=(CorrectionKind.NEIGHBOURS,))
    [read] = [event for event in events if isinstance(event, PassagesRead)]
    assert read == PassagesRead(2, opinion)
    assert any(isinstance(event, Rewritten | Corrected) for event in events) is brought
    [shown] = [text for call, text in model.asked if call == "choose"]
    assert all(text in shown for text in DOCUMENTS.values())


def test_an_answer_from_passages_that_the_model_read_cites_the_sentences_that_bear_it_out() -> None:
    filler = "Nothing else is known of it. It is sold in shops. The box is green."
    text = f"{filler} The dose of Zeldrine is 5 mg a day. {filler}"
    events, model = asked_for_events(
        0.9,
        graded=lambda question, strip: 0.4 if question == QUESTION else 0.9 if "5 mg" in strip else 0.1,
        documents={"/leaflet.txt": text},
    )
    found = answer(events)
    assert (found.status, found.text) == (Status.UNSURE, WRITTEN)
    [citation] = found.citations
    assert "5 mg" in citation.quote == text[citation.start : citation.end]
    assert len(citation.quote) < len(text)
    [written] = [prompt for call, prompt in model.asked if call == "stream"]
    assert text in written and prompts.NOT_IN_EVIDENCE not in written


def test_a_quotation_needs_nothing_read() -> None:
    events, _ = asked_for_events(0.9, graded=PROBABLE, mode=Mode.QUOTE)
    assert not any(isinstance(event, PassagesRead) for event in events)


def test_what_the_model_wrote_from_passages_and_does_not_hold_is_quoted_instead() -> None:
    found, _ = asked(0.9, graded=PROBABLE, says="The dose of Zeldrine is 7 mg a day. [1]")
    assert found.status is Status.UNSURE
    assert "5 mg" in found.text and "7 mg" not in found.text


def test_the_model_is_asked_once_and_what_it_read_is_the_beginning_of_the_answers_prompt() -> None:
    _, model = asked(0.9)
    [opinion], [written] = (
        [text for call, text in model.asked if call == name] for name in ("choose", "stream")
    )
    shared = opinion[: opinion.index("Can this question")]
    assert written.startswith(shared) and QUESTION in shared


def test_a_model_that_is_not_to_be_asked_is_not_asked() -> None:
    found, model = asked(0.2, second_opinion=False)
    assert found.status is Status.ANSWERED
    assert not any(call == "choose" for call, _ in model.asked)


def test_without_an_opinion_the_answer_stands_and_it_is_said() -> None:
    found, _ = asked(ContextOverflow("it does not fit", hint="raise model.context"))
    assert (found.status, found.text) == (Status.ANSWERED, WRITTEN)
    assert any("no opinion" in reason for reason in found.degraded)


@pytest.mark.parametrize(("graded", "status"), [(SURE, Status.UNSURE), (0.3, Status.NOT_FOUND)])
def test_what_the_model_declines_is_quoted_if_a_strip_surely_answers(graded: float, status: Status) -> None:
    declining = prompts.NOT_IN_EVIDENCE
    found, _ = asked(0.9, graded=graded, says=declining, mode=Mode.WRITE, second_opinion=False)
    assert found.status is status
    is_quoted = status is Status.UNSURE
    assert ("5 mg" in found.text) is is_quoted
    assert any("the evidence is quoted instead" in reason for reason in found.degraded) is is_quoted


def test_the_question_about_the_evidence_goes_on_as_the_one_for_an_answer() -> None:
    [hit] = hits("The ferry leaves at nine.")
    strip = Strip(hit.passage, 0, len(hit.passage.text), hit.passage.text, 0.9)
    evidence = IndependentLayout().evidence([strip])
    about, writing = (text_of(made(QUESTION, evidence)) for made in (prompts.answerable, prompts.answer))
    same = about[: about.index("Can this")]
    assert same and writing.startswith(same)
