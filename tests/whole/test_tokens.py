"""What a question costs in tokens: exact, the same on every machine, and the reason for both layouts.

The setting is eight passages of some 250 tokens, of which two help, behind a real vocabulary; the model's
weights are random, so its verdicts are computed in full and then replaced by the right ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from localcrag.crag import prompts
from localcrag.crag.judges.graders import CascadeGrader, Grader, YesNoGrader
from localcrag.crag.pipeline import Pipeline
from localcrag.crag.prompt_layout import JointLayout, JointPassages
from localcrag.crag.state import Adapters, PipelineOptions, Query
from localcrag.events import Graded
from localcrag.llm.kv_cache import common_prefix_length
from localcrag.llm.language_model import LlamaCppModel
from localcrag.types import Choice, Grounding, Layout, Prompt, StripKind, Thresholds
from tests.crag.values import evidence
from tests.crag.world import World, answer, of
from tests.fakes.llm import ScriptedEvaluator, text_of
from tests.shape_models import CACHE, SHAPES, made, shape

QUESTION = "What is the dose of Zeldrine?"
HELPS = "The dose of Zeldrine is {} mg a day. " + "Take it with a glass of water in the morning. " * 22
OTHER = "Report {} of the harbour office. " + "The ships of the northern line arrived late in spring. " * 20
TEXTS = [(HELPS if number in (2, 5) else OTHER).format(number).strip() for number in range(8)]
BOUNDS = Thresholds(0.7, 0.3)
WRITTEN = 16


class Labelled(LlamaCppModel):
    """Reads and decides as ever; then the verdict is the right one. It says that it knows the prompts."""

    @property
    def trained(self) -> bool:
        return True

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        for choice in super().choose(prompts, options):
            assert isinstance(choice, Choice)
        return [self._label(prompt) for prompt in prompts]

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        """Reads and writes as ever; then the answer declines, since random words hold no form."""
        for _ in super().stream(prompt, max_tokens=max_tokens):
            pass
        yield prompts.NOT_IN_EVIDENCE

    def _label(self, prompt: Prompt) -> Choice:
        passages = text_of(prompt).split("<passage>\n")[1:]
        task = text_of(prompt).split("Does passage [")
        asked = passages[int(task[1].split("]")[0]) - 1] if len(task) > 1 else passages[-1]
        return Choice("yes", (0.9, 0.1)) if "Zeldrine" in asked else Choice("no", (0.1, 0.9))


@pytest.fixture(scope="module")
def model() -> Iterator[Labelled]:
    shape("qwen3")  # skips where no vocabulary can be had
    path = made(replace(SHAPES["qwen3"], name="mini-qwen3", context=8192), CACHE / "shapes")
    with Labelled(path, context=4096, threads=1, cache_dir=CACHE / "constraints") as loaded:
        yield loaded


def asked(model: Labelled, grader: Grader, **changes: object) -> tuple[int, list[str]]:
    """Tokens that the language model read for the question, and the passages in the order of grading."""
    model._loaded().cache.forget()
    world = World({f"/{n}.txt": text for n, text in enumerate(TEXTS)}, model)  # type: ignore[arg-type]
    options = PipelineOptions(
        passages=8, strips=StripKind.NONE, grounding=Grounding.OFF, answer_tokens=WRITTEN
    )
    parts: Adapters = replace(world.adapters, grader=grader)
    before = model.tokens
    events = list(Pipeline(parts, replace(options, **changes)).run(Query(QUESTION)))  # type: ignore[arg-type]
    order = [event.grade.hit.passage.text for event in of(Graded, events)]
    assert sum("Zeldrine" in text for text in order) == 2
    assert answer(events).action == "correct"
    return (model.tokens - before).evaluated, order


def plain(model: Labelled, texts: Sequence[str]) -> int:
    """Tokens of one prompt over all these passages: what retrieval without any correction costs."""
    return model.count(prompts.answer(QUESTION, evidence(*texts), trained=True))


def ids(model: Labelled, prompt: Prompt) -> list[int]:
    return model._loaded().chat.tokens(prompt)


def guessed(model: Labelled) -> int:
    """Tokens that reading ahead may have read for nothing, at most."""
    return WRITTEN * 8


def test_independent_reads_the_beginning_once_and_one_kept_passage_twice(model: Labelled) -> None:
    cost, order = asked(model, YesNoGrader(model, BOUNDS))
    gradings = [ids(model, prompts.grade(QUESTION, text, trained=True)) for text in order]
    kept = [text for text in order if "Zeldrine" in text]
    writing = ids(model, prompts.answer(QUESTION, evidence(*kept), trained=True))
    common = common_prefix_length(gradings)
    known = max(common_prefix_length([writing, grading]) for grading in gradings)
    exact = common + sum(len(grading) - common for grading in gradings) + len(writing) - known
    assert exact <= cost <= exact + guessed(model)
    apart = sum(map(len, gradings)) + len(writing)
    assert cost < 0.8 * apart


def test_joint_reads_every_passage_once(model: Labelled) -> None:
    cost, order = asked(model, YesNoGrader(model, BOUNDS), layout=Layout.JOINT)
    assert cost <= 1.15 * plain(model, order)


def test_a_cascade_costs_the_language_model_what_the_evaluator_leaves_it(model: Labelled) -> None:
    """The evaluator is sure of one passage that helps and of five that do not, and unsure of two."""
    sure = {TEXTS[2]: 0.95, TEXTS[5]: 0.5, TEXTS[0]: 0.5}
    evaluator = ScriptedEvaluator(
        lambda _, text: next((p for held, p in sure.items() if text.endswith(held)), 0.02)
    )
    grader = CascadeGrader(YesNoGrader(model, BOUNDS), evaluator, Thresholds(0.8, 0.2), BOUNDS)
    independent, order = asked(model, grader)
    joint, _ = asked(model, grader, layout=Layout.JOINT)
    assert independent <= 0.65 * plain(model, order)
    assert joint <= 0.65 * plain(model, order)


@pytest.mark.parametrize("layout", list(Layout))
def test_passages_that_are_not_graded_cost_nothing(model: Labelled, layout: Layout) -> None:
    everything, order = asked(model, YesNoGrader(model, BOUNDS), layout=layout)
    last = max(place for place, text in enumerate(order) if "Zeldrine" in text)
    slices = 2 * (last // 2 + 1)
    enough, graded = asked(model, YesNoGrader(model, BOUNDS), layout=layout, enough=2)
    assert len(graded) <= slices
    left = [model.count(prompts.grade(QUESTION, text, trained=True)) for text in order[len(graded) :]]
    assert enough < everything - 0.6 * sum(left) or not left


def test_the_table_and_the_answer_share_all_but_the_task(model: Labelled) -> None:
    joint = JointPassages([item.strip.passage for item in evidence(*TEXTS)])
    writing = JointLayout(joint, trained=True).answer(QUESTION, [evidence(*TEXTS)[2]])
    grading = prompts.grade_joint(QUESTION, joint.texts, 1, trained=True)
    known = common_prefix_length([ids(model, writing), ids(model, grading)])
    assert known > len(ids(model, grading)) - 40
