"""What a reader makes of strips of which the evaluator is not sure, and what becomes of the answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from localcrag.calibration.scale import Scale
from localcrag.crag import prompts
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.reader import read_evidence
from localcrag.crag.state import Finding, Query, QuestionState
from localcrag.errors import ConstraintError
from localcrag.events import Degraded, Event, EvidenceRead, Measured, observed, result_of
from localcrag.types import Answer, Mode, Prompt, Status, Tokens, WrittenLine
from tests.crag.values import evidence
from tests.crag.world import World, answer, of
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel, text_of

DOCUMENTS = {
    "/leaflet.txt": "The dose of Zeldrine is 5 mg a day. Nothing else is known of it. It is sold in shops. "
    "The box is green. Zeldrine is kept in a cool place.",
    "/letter.txt": "Zeldrine was found in 1928 by accident.",
}
QUESTION = "What is the dose of Zeldrine?"
SAID = "The dose of Zeldrine is 5 mg."
SURE, UNSURE = 0.9, 0.44


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
    reader: ScriptedReader,
    *,
    graded: float = UNSURE,
    question: str = QUESTION,
    scale: Scale | None = None,
    **options: Any,
) -> tuple[Answer, list[Event]]:
    """The answer to a question whose passages and strips the evaluator judges so, and its events."""
    judge = ScriptedEvaluator(lambda _, text: graded if "5 mg" in text else graded / 4)
    model = ScriptedModel(streams=lambda _: "The dose of Zeldrine is 5 mg a day. [1]")
    world = World(DOCUMENTS, model, judge, by_evaluator=True)
    world.with_options(**{"mode": Mode.QUOTE, "corrections": (), **options})
    adapters = replace(world.adapters, reader=reader, reader_scale=scale, web=None)
    events = list(Pipeline(adapters, world.options).run(Query(question)))
    return answer(events), events


def after_reading(
    reader: ScriptedReader, scores: Sequence[float], *, sure: bool
) -> tuple[list[Finding], list[Event]]:
    """A finding of strips of these scores after it was read, and the events of that."""
    world = World(DOCUMENTS, ScriptedModel()).with_options(mode=Mode.QUOTE)
    adapters = replace(world.adapters, reader=reader)
    state = QuestionState(adapters, world.options, QUESTION, QUESTION, None)
    items = zip(evidence(*DOCUMENTS.values()), scores, strict=False)
    strips = tuple(replace(item.strip, score=score) for item, score in items)
    events: list[Event] = []
    steps = observed(read_evidence(state, [Finding(state, strips, sure)]), events.append)
    return result_of(steps), events


@pytest.mark.parametrize(
    ("probability", "status", "speaks"),
    [(0.97, Status.ANSWERED, True), (0.9, Status.UNSURE, False), (0.05, Status.UNSURE, False)],
)
def test_an_unsure_answer_becomes_sure_if_it_is_nearly_certain(
    probability: float, status: Status, speaks: bool
) -> None:
    found, events = asked(ScriptedReader(probability))
    assert found.status is status
    [read] = of(EvidenceRead, events)
    assert read.probability == pytest.approx(probability) and read.said == (SAID if speaks else "")
    if speaks:
        assert found.text.startswith(f"{SAID} [1]\n\nThe dose of Zeldrine is 5 mg a day.")
        [citation] = found.citations
        assert citation.quote.startswith("The dose of Zeldrine is 5 mg a day.")
        for mark in found.marks:
            assert found.text[mark.start : mark.end] == "[1]"
    assert any(event.stage == "read" and event.tokens.generated for event in of(Measured, events))


@pytest.mark.parametrize(
    ("probability", "score", "sure"), [(0.3, 0.4, False), (0.6, 0.4, True), (0.3, 0.6, True)]
)
def test_an_answer_that_is_sure_by_its_passage_alone_is_doubted_if_the_reader_finds_none(
    probability: float, score: float, sure: bool
) -> None:
    reader = ScriptedReader(probability)
    [read], events = after_reading(reader, [score], sure=True)
    assert read.sure is sure and len(read.strips) == 1 and not read.said
    assert bool(reader.asked) is (score == 0.4), "a strip that surely answers needs no reader"
    assert any("P = 0.30" in event.reason for event in of(Degraded, events)) is not sure


def test_its_prompt_is_that_of_a_written_answer_with_the_strips_of_the_question() -> None:
    reader = ScriptedReader(0.97)
    asked(reader)
    assert len(reader.asked) == 2, "whether they answer, and what"
    for shown in reader.asked:
        assert QUESTION in shown and "5 mg a day" in shown
        assert shown.endswith(f'say only: "{prompts.NOT_IN_EVIDENCE}"')


@pytest.mark.parametrize(
    "says", ["The dose of Zeldrine is 7 mg. [{}]", "It was prescribed by Dr. Miller. [{}]"]
)
def test_what_its_evidence_does_not_bear_out_is_not_shown(says: str) -> None:
    found, events = asked(ScriptedReader(0.97, says))
    assert found.status is Status.UNSURE and found.text.startswith("The dose of Zeldrine is 5 mg a day.")
    assert of(EvidenceRead, events)[0].said == ""


@pytest.mark.parametrize(("other", "sure"), [(0.3, False), (0.35, True)])
def test_a_strip_that_the_evaluator_holds_to_be_far_less_probable_makes_no_answer_sure(
    other: float, sure: bool
) -> None:
    reader = ScriptedReader(0.97, "Zeldrine was found in 1928. [2]")
    [read], _ = after_reading(reader, [0.44, other], sure=False)
    assert read.sure is sure and [strip.score for strip in read.strips] == (
        [other] if sure else [0.44, other]
    )


def test_it_is_asked_only_where_its_word_may_count() -> None:
    """Not of sure strips, nor where rules object or a model writes the answer."""
    for options in (
        {"graded": SURE},
        {"mode": Mode.WRITE},
        {"question": "What is the dose of Zeldrine for a child of 12 kg?"},
    ):
        reader = ScriptedReader(0.05)
        asked(reader, **options)
        assert not reader.asked, options


def test_one_that_fails_is_reported_and_the_answer_is_as_it_was() -> None:
    found, _ = asked(ScriptedReader(0.97, ConstraintError("the mask broke")))
    assert found.status is Status.UNSURE and "5 mg a day" in found.text
    assert any("the mask broke" in reason for reason in found.degraded)


def test_its_probability_is_on_its_scale() -> None:
    found, events = asked(ScriptedReader(0.97), scale=Scale(bias=-3))
    assert of(EvidenceRead, events)[0].probability == pytest.approx(0.617, abs=1e-3)
    assert found.status is Status.UNSURE
