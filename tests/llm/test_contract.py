"""What every LanguageModel and every Evaluator must do: the real ones and the scripted ones."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

from localcrag.errors import ConstraintError, ContextOverflow
from localcrag.llm.evaluator import GgufEvaluator
from localcrag.llm.evaluator_by_language import EvaluatorByLanguage
from localcrag.llm.multilingual_evaluator import MultilingualEvaluator
from localcrag.protocols import Evaluator, LanguageModel
from localcrag.types import Choice, FinishReason, Prompt, RemovableText, Tokens, UntrustedText
from tests.fakes.llm import ScriptedEvaluator, ScriptedModel
from tests.small_e5_package import upper_part, use_small_package

OPTIONS = ("yes", "no")


def prompt(text: str = "The sky is blue.") -> Prompt:
    return Prompt(
        "You judge passages.", ("Question: what colour?\n\n", UntrustedText(text), "\n\nAnswer yes or no.")
    )


@dataclass(frozen=True)
class Plan:
    """An object for the model to write."""

    wanted: bool


@pytest.fixture(params=["llama.cpp", "served", "scripted"])
def model(request: pytest.FixtureRequest) -> LanguageModel:
    if request.param == "served":
        served: LanguageModel = request.getfixturevalue("served")
        return served
    if request.param == "scripted":
        return ScriptedModel(
            choose=lambda text, options: {"yes": 9.0, "no": 1.0} if "blue" in text else {"no": 1.0},
            lines=lambda text: "sky colour",
            streams=lambda text: "blue, I [1] think, and then some more words",
            objects=lambda text: Plan(True),
            context=2048,
        )
    load: Callable[[str], LanguageModel] = request.getfixturevalue("load")
    return load("llama2")


def test_a_choice_is_one_of_the_options_with_probabilities_that_sum_to_one(model: LanguageModel) -> None:
    choices = model.choose([prompt(), prompt("Grass is green."), prompt("x")], OPTIONS)
    assert len(choices) == 3
    for choice in choices:
        assert isinstance(choice, Choice)
        assert choice.text in OPTIONS
        assert sum(choice.probabilities) == pytest.approx(1.0)
        assert choice.probabilities[OPTIONS.index(choice.text)] == max(choice.probabilities)


@pytest.mark.parametrize("removed", [False, True])
def test_what_is_taken_back_takes_its_room_all_the_same(model: LanguageModel, removed: bool) -> None:
    text = RemovableText("The sky is blue.", removed=removed)
    asked = Prompt("", ("Two texts:\n", text, "\nand\n", UntrustedText("The grass is green.")))
    assert model.count(asked) > model.count(Prompt("", asked.user[2:]))
    assert "".join(model.stream(asked, max_tokens=4))


def test_the_order_of_the_options_does_not_change_the_choice(model: LanguageModel) -> None:
    (forward,), (backward,) = model.choose([prompt()], ("yes", "no")), model.choose([prompt()], ("no", "yes"))
    assert isinstance(forward, Choice) and isinstance(backward, Choice)
    assert forward.probabilities == pytest.approx(tuple(reversed(backward.probabilities)), abs=1e-2)


def test_choosing_for_nothing_gives_nothing(model: LanguageModel) -> None:
    assert model.choose([], OPTIONS) == []


@pytest.mark.parametrize("options", [(), ("yes", ""), ("yes", "yes")])
def test_options_must_be_distinct_and_not_empty(model: LanguageModel, options: tuple[str, ...]) -> None:
    with pytest.raises(ConstraintError, match="distinct"):
        model.choose([prompt()], options)


def test_a_line_is_one_line(model: LanguageModel) -> None:
    line = model.line(prompt(), max_tokens=8)
    assert line == line.strip() != ""
    assert len(line.splitlines()) == 1


def test_an_object_is_of_its_class(model: LanguageModel) -> None:
    assert model.object(prompt(), Plan) in (Plan(True), Plan(False))


def test_an_object_that_does_not_fit_is_an_error(model: LanguageModel) -> None:
    with pytest.raises(ConstraintError):
        model.object(prompt(), Plan, max_tokens=1)


def test_a_stream_ends_at_its_bound_and_says_so(model: LanguageModel) -> None:
    text = "".join(model.stream(prompt(), max_tokens=5))
    assert text
    assert model.last_finish in (FinishReason.LENGTH, FinishReason.STOP)


def test_a_stream_holds_its_pattern(model: LanguageModel) -> None:
    pattern = r"([^\[\]]|\[1\])+"
    assert re.fullmatch(pattern, "".join(model.stream(prompt(), pattern=pattern, max_tokens=12)))


def test_a_prompt_that_cannot_fit_is_refused(model: LanguageModel) -> None:
    long = prompt("far too long " * 2000)
    calls: list[Callable[[], object]] = [
        lambda: model.choose([prompt(), long], OPTIONS),
        lambda: model.line(long),
        lambda: model.object(long, Plan),
        lambda: list(model.stream(long)),
    ]
    for call in calls:
        with pytest.raises(ContextOverflow, match=str(model.context)):
            call()


def test_tokens_are_counted(model: LanguageModel) -> None:
    before = model.tokens
    model.choose([prompt("Something never said before.")], OPTIONS)
    chosen = model.tokens
    list(model.stream(prompt("Nor this."), max_tokens=4))
    streamed = model.tokens - chosen
    assert (chosen - before).evaluated > 0 and (chosen - before).generated == 0
    assert streamed.evaluated > 0 and 0 < streamed.generated <= 4
    assert model.count(prompt()) > 5


# ------------------------------------------------------------------------------------- evaluators


@pytest.fixture
def multilingual_evaluator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Evaluator]:
    values = use_small_package(tmp_path, monkeypatch, layers=2)
    with MultilingualEvaluator(upper_part(tmp_path / "upper.gguf", values, 1), tmp_path / "cache") as made:
        yield made


@pytest.fixture
def evaluator_by_language(
    ctranslate_evaluator: GgufEvaluator, multilingual_evaluator: MultilingualEvaluator
) -> Evaluator:
    return EvaluatorByLanguage(ctranslate_evaluator, multilingual_evaluator)


@pytest.fixture(
    params=[
        "llama_evaluator",
        "ctranslate_evaluator",
        "multilingual_evaluator",
        "evaluator_by_language",
        "scripted",
    ]
)
def judge(request: pytest.FixtureRequest) -> Evaluator:
    if request.param == "scripted":
        return ScriptedEvaluator(lambda query, text: len(set(query.split()) & set(text.split())) / 10)
    real: Evaluator = request.getfixturevalue(request.param)
    return real


TEXTS = ["the sky is blue", "grass", "", "the sky " * 400, "blue\nsky"]


def test_scores_are_probabilities_in_the_order_of_the_texts(judge: Evaluator) -> None:
    scores = judge.score("what is blue", TEXTS)
    assert len(scores) == len(TEXTS)
    assert all(0 <= score <= 1 for score in scores)
    for text, score in zip(TEXTS, scores, strict=True):
        assert judge.score("what is blue", [text]) == pytest.approx([score], abs=5e-3)
    assert any(a != pytest.approx(b, abs=1e-3) for a, b in pairwise(scores))


def test_nothing_to_score_gives_nothing(judge: Evaluator) -> None:
    before = judge.tokens
    assert judge.score("what", []) == []
    assert judge.tokens == before


def test_scoring_counts_tokens(judge: Evaluator) -> None:
    before = judge.tokens
    judge.score("what is blue", ["the sky"])
    assert (judge.tokens - before).evaluated > 0
    assert (judge.tokens - before) == Tokens((judge.tokens - before).evaluated, 0)


def test_texts_in_other_languages_are_judged_too(judge: Evaluator) -> None:
    scores = judge.score("Wie hoch ist die Gebühr?", ["Die Gebühr für ein Boot beträgt 75 Euro.", "船"])
    assert all(0 <= score <= 1 for score in scores)
    assert isinstance(judge.multilingual, bool)


def test_thresholds_are_ordered(judge: Evaluator) -> None:
    assert 0 <= judge.thresholds.lower <= judge.thresholds.upper <= 1
