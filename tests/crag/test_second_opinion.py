"""What becomes of an answer if the chat model doubts or denies that the evidence answers."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from localcrag.crag import prompts
from localcrag.crag.prompt_layout import IndependentLayout
from localcrag.errors import ContextOverflow
from localcrag.types import Answer, Mode, Status, Strip
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
    opinion: float | Exception, *, graded: float = SURE, says: str = WRITTEN, **options: object
) -> tuple[Answer, ScriptedModel]:
    """The answer of a model of this opinion about evidence that the evaluator graded so."""

    def choose(prompt: str, _: Sequence[str]) -> list[float]:
        if isinstance(opinion, Exception):
            raise opinion
        return [opinion, 1 - opinion]

    model = ScriptedModel(choose=choose, streams=lambda _: says, trained=False)
    judge = ScriptedEvaluator(lambda _, text: graded)
    world = World(DOCUMENTS, model, judge, by_evaluator=True)
    wanted = {"second_opinion": True, "corrections": (), **options}
    return answer(world.with_options(**wanted).run(QUESTION)), model


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
    found, _ = asked(0.9, graded=graded, says=prompts.NOT_IN_EVIDENCE, mode=Mode.WRITE)
    assert found.status is status
    assert ("5 mg" in found.text) is (status is Status.UNSURE)


def test_the_question_about_the_evidence_goes_on_as_the_one_for_an_answer() -> None:
    [hit] = hits("The ferry leaves at nine.")
    strip = Strip(hit.passage, 0, len(hit.passage.text), hit.passage.text, 0.9)
    evidence = IndependentLayout().evidence([strip])
    about, writing = (text_of(made(QUESTION, evidence)) for made in (prompts.answerable, prompts.answer))
    same = about[: about.index("Can this")]
    assert same and writing.startswith(same)
