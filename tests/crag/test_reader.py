"""What a reader makes of the strips of an answer that is not sure, and what becomes of the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from localcrag.calibration.scale import Scale
from localcrag.crag import prompts
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.state import Query
from localcrag.errors import ConstraintError
from localcrag.events import Event, EvidenceRead, Measured
from localcrag.types import Answer, Mode, Prompt, Status, Tokens, WrittenLine
from tests.crag.world import World, answer, of
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel, text_of

DOCUMENTS = {
    "/leaflet.txt": "The dose of Zeldrine is 5 mg a day.\n\nIt is kept in a cool place.",
    "/letter.txt": "Zeldrine was found in 1928 by accident.",
}
QUESTION = "What is the dose of Zeldrine?"
SAID = "The dose of Zeldrine is 5 mg."
SURE, UNSURE = 0.9, 0.4


@dataclass
class ScriptedReader:
    """A model that finds the strips to answer so probably, and says this; {} is the key of the "5 mg"."""

    probability: float
    says: str | Exception = SAID + " [{}]"
    tokens: Tokens = field(default_factory=Tokens)
    asked: list[str] = field(default_factory=list)

    def write_line(self, prompt: Prompt, pattern: str, *, max_tokens: int = 96) -> WrittenLine:
        self.asked.append(text_of(prompt))
        self.tokens += Tokens(20, 5)
        if isinstance(self.says, Exception):
            raise self.says
        if re.fullmatch(pattern, prompts.NOT_IN_EVIDENCE):
            return WrittenLine(prompts.NOT_IN_EVIDENCE, 1 - self.probability, 5)
        passages = self.asked[-1].split("</passage>")
        key = next((at for at, text in enumerate(passages, 1) if "5 mg" in text), 1)
        written = self.says.format(key)
        assert re.fullmatch(pattern, written), "it writes in the form of an answer"
        return WrittenLine(written, 0.5, 9)


def asked(
    reader: ScriptedReader, *, graded: float = UNSURE, question: str = QUESTION, **options: Any
) -> tuple[Answer, list[Event]]:
    """The answer to a question whose strips the evaluator judges so, and its events."""
    judge = ScriptedEvaluator(lambda _, text: graded if "5 mg" in text else graded / 4)
    model = ScriptedModel(streams=lambda _: "The dose of Zeldrine is 5 mg a day. [1]")
    world = World(DOCUMENTS, model, judge, by_evaluator=True)
    world.with_options(**{"mode": Mode.QUOTE, "corrections": (), **options})
    adapters = replace(world.adapters, reader=reader, web=None)
    events = list(Pipeline(adapters, world.options).run(Query(question)))
    return answer(events), events


@pytest.mark.parametrize(
    ("probability", "status", "speaks"),
    [(0.95, Status.ANSWERED, True), (0.6, Status.UNSURE, True), (0.05, Status.NOT_FOUND, False)],
)
def test_its_word_makes_an_unsure_answer_sure_or_takes_it(
    probability: float, status: Status, speaks: bool
) -> None:
    found, events = asked(ScriptedReader(probability))
    assert found.status is status
    [read] = of(EvidenceRead, events)
    assert read.probability == pytest.approx(probability) and read.said == (SAID if speaks else "")
    if speaks:
        assert found.text.startswith(f"{SAID} [1]\n\nThe dose of Zeldrine is 5 mg a day. [1]")
        assert [citation.quote for citation in found.citations] == ["The dose of Zeldrine is 5 mg a day."]
        for mark in found.marks:
            assert found.text[mark.start : mark.end] == "[1]"
    assert any(event.stage == "read" and event.tokens.generated for event in of(Measured, events))


def test_its_prompt_is_that_of_a_written_answer_with_the_strips_of_the_question() -> None:
    reader = ScriptedReader(0.95)
    asked(reader)
    for shown in reader.asked:
        assert QUESTION in shown and "5 mg a day" in shown
        assert shown.endswith(f'say only: "{prompts.NOT_IN_EVIDENCE}"')


@pytest.mark.parametrize(
    "says", ["The dose of Zeldrine is 7 mg. [{}]", "It was prescribed by Dr. Miller. [{}]"]
)
def test_what_its_evidence_does_not_bear_out_is_not_shown(says: str) -> None:
    found, events = asked(ScriptedReader(0.95, says))
    assert found.status is Status.UNSURE and found.text.startswith("The dose of Zeldrine is 5 mg a day.")
    assert of(EvidenceRead, events)[0].said == ""


def test_a_reason_to_check_stays_one() -> None:
    found, _ = asked(ScriptedReader(0.95), question="What is the dose of Zeldrine for a child of 12 kg?")
    assert found.status is Status.UNSURE and found.text.startswith(SAID)


def test_it_is_asked_only_where_the_answer_would_be_a_quotation_that_is_not_sure() -> None:
    for reader, options in (
        (ScriptedReader(0.05), {"graded": SURE}),
        (ScriptedReader(0.05), {"mode": Mode.WRITE}),
    ):
        found, _ = asked(reader, **options)
        assert not reader.asked and found.status is not Status.NOT_FOUND


def test_one_that_fails_is_reported_and_the_answer_is_as_it_was() -> None:
    found, _ = asked(ScriptedReader(0.95, ConstraintError("the mask broke")))
    assert found.status is Status.UNSURE and "5 mg a day" in found.text
    assert any("the mask broke" in reason for reason in found.degraded)


def test_its_probability_is_on_its_scale() -> None:
    judge = ScriptedEvaluator(lambda _, text: UNSURE if "5 mg" in text else 0.1)
    world = World(DOCUMENTS, ScriptedModel(), judge, by_evaluator=True)
    world.with_options(mode=Mode.QUOTE, corrections=())
    adapters = replace(world.adapters, reader=ScriptedReader(0.95), reader_scale=Scale(bias=-3), web=None)
    events = list(Pipeline(adapters, world.options).run(Query(QUESTION)))
    assert of(EvidenceRead, events)[0].probability == pytest.approx(0.486, abs=1e-3)
    assert answer(events).status is Status.UNSURE
