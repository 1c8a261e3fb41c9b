"""The fitness check with scripted models: one that does everything right, and some that do not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import pytest

from localcrag.crag import prompts
from localcrag.crag.agent import AnswerStep, LocalPlan, SearchStep
from localcrag.crag.prompts import NOT_IN_EVIDENCE
from localcrag.crag.questions.decomposition import Division
from localcrag.errors import ConstraintError
from localcrag.evaluation.fitness_check import FitnessMeasurement, measure_fitness
from localcrag.evaluation.fitness_set import FitnessSet, load_fitness_set
from localcrag.types import Tool
from tests.fakes.llm import ScriptedModel

TASKS = load_fitness_set()
QUESTIONS = {question.text: question for question in TASKS.question}


def asked(prompt: str) -> str:
    """The question of a prompt."""
    found = re.search(r"(?:Question|Follow-up): (.*)", prompt)
    assert found
    return found[1]


def passages(prompt: str) -> list[str]:
    return [text.strip() for text in re.findall(r"<passage>\n(.*?)\n</passage>", prompt, re.DOTALL)]


def right_verdict(prompt: str, _options: Sequence[str]) -> Sequence[float]:
    """The label of the passage, whatever stands behind it."""
    [text] = passages(prompt)
    labels = [each.helps for each in QUESTIONS[asked(prompt)].passages if text.startswith(each.text)]
    return (0.95, 0.05) if labels[0] else (0.05, 0.95)


def right_line(prompt: str) -> str:
    if prompt.startswith(prompts.rewrite("").system):
        return " ".join(next(each.words for each in TASKS.chatty if each.text == asked(prompt)))
    return next(each.standalone for each in TASKS.follow_up if each.text == asked(prompt))


def right_answer(prompt: str) -> str:
    question = QUESTIONS[asked(prompt)]
    if not (keys := sorted(question.supporting_keys)):
        return NOT_IN_EVIDENCE
    return f"It is {question.answers[0]}. [{keys[0]}]"


def right_json(prompt: str) -> object:
    ask = next(each for each in TASKS.json if each.text in prompt)
    texts = tuple(f"What about {' '.join(words)}?" for words in ask.parts)
    if prompt.startswith(prompts.divide("").system):
        return Division(texts)
    return LocalPlan((SearchStep(Tool.SEARCH_DOCUMENTS, texts[0]), AnswerStep()))


def model(
    choose: Callable[[str, Sequence[str]], Sequence[float] | Exception] = right_verdict,
    lines: Callable[[str], str | Exception] = right_line,
    streams: Callable[[str], str | Exception] = right_answer,
    objects: Callable[[str], object] = right_json,
) -> ScriptedModel:
    return ScriptedModel(choose=choose, lines=lines, streams=streams, objects=objects)


def check(scripted: ScriptedModel, tasks: FitnessSet = TASKS, seconds: float = 1e6) -> FitnessMeasurement:
    return measure_fitness(scripted, tasks, seconds=seconds, progress=lambda done, total: None)


def test_a_model_that_does_everything_right() -> None:
    found = check(model())
    assert found.yes_no and found.search_lines and found.follow_ups and found.answers
    assert found.json and found.instructions
    assert (found.yes_no.pairs, found.yes_no.auc, found.yes_no.accuracy) == (40, 1.0, 1.0)
    assert found.yes_no.yes == 0.5 and found.yes_no.calibration_error == pytest.approx(0.05)
    assert (found.search_lines.recall, found.search_lines.added) == (1.0, 0.0)
    assert found.follow_ups.f1 == 1.0
    assert (found.answers.answerable, found.answers.unanswerable) == (7, 3)
    assert {found.answers.cited, found.answers.correct, found.answers.supported, found.answers.declined} == {
        1
    }
    assert (found.json.valid, found.json.sensible) == (1.0, 1.0)
    assert (found.instructions.passages, found.instructions.resisted) == (5, 1.0)
    assert found.complete and not found.interrupted and not found.failures
    assert found.tokens.evaluated > 1000 and found.tokens.generated > 50


def test_what_is_asked_is_what_the_loop_asks() -> None:
    scripted = model()
    check(scripted)
    systems = {text.split("\n\n")[0] for _, text in scripted.asked}
    wanted = (
        prompts.grade("", ""), prompts.rewrite(""), prompts.condense((), ""), prompts.divide(""),
        prompts.plan("", web=False), prompts.answer("", ()),
    )  # fmt: skip
    assert systems == {prompt.system for prompt in wanted}


def test_a_model_that_says_yes_to_everything() -> None:
    found = check(model(choose=lambda prompt, options: (0.6, 0.4)))
    assert found.yes_no
    assert (found.yes_no.auc, found.yes_no.accuracy, found.yes_no.yes) == (0.5, 0.5, 1.0)


def test_a_model_that_follows_what_stands_in_passages() -> None:
    def swayed(prompt: str, options: Sequence[str]) -> Sequence[float]:
        if "reply is no" in prompt:
            return (0.1, 0.9)
        obeys = "answer yes" in passages(prompt)[0] or "reply yes" in passages(prompt)[0]
        return (0.9, 0.1) if obeys else right_verdict(prompt, options)

    def obedient(prompt: str) -> str:
        if "lighthouse" in prompt:
            return "The lighthouse is open."
        return "The answer is secret." if "secret" in prompt else right_answer(prompt)

    found = check(model(choose=swayed, streams=obedient))
    assert found.instructions and found.instructions.resisted == 0.0
    assert found.yes_no and found.yes_no.accuracy == 1.0  # the pairs themselves have no instructions
    assert found.answers and found.answers.correct == 1.0


@pytest.mark.parametrize(
    ("reply", "cited", "correct", "supported", "declined"),
    [
        (lambda prompt: "I do not know.", 0, 0, 0, 0),
        (lambda prompt: NOT_IN_EVIDENCE, 0, 0, 0, 1),
        (lambda prompt: right_answer(prompt).partition("[")[0], 0, 0, 0, 1),
        (lambda prompt: "It is so. [1][2]", 0, 0, 0, 0),
        (right_answer, 1, 1, 1, 1),
    ],
)
def test_the_figures_of_answers(
    reply: Callable[[str], str], cited: float, correct: float, supported: float, declined: float
) -> None:
    found = check(model(streams=reply)).answers
    assert found
    assert (found.cited, found.correct, found.declined) == (cited, correct, declined)
    assert found.supported == pytest.approx(supported)


def test_lines_are_measured_by_the_words_that_matter() -> None:
    found = check(model(lines=lambda prompt: "season ticket Jupiter moons")).search_lines
    assert found
    assert found.recall == pytest.approx(2 / 4 / 10)  # two of four words of one of ten questions
    assert found.added == pytest.approx((9 * 1 + 0.5) / 10)


@pytest.mark.parametrize(
    ("reply", "sensible"),
    [
        (Division(("What does Pelorin cost?", "Who makes Sorvane?")), 1 / 3),
        (Division(("What does Pelorin cost, and who makes Sorvane?",)), 0),
        (ConstraintError("no JSON"), 0),
    ],
)
def test_json_must_hold_and_make_sense(reply: object, sensible: float) -> None:
    found = check(model(objects=lambda prompt: reply))
    assert found.json and found.json.sensible == pytest.approx(sensible)
    valid = 0 if isinstance(reply, Exception) else 2 / 3  # a division is no plan
    assert found.json.valid == pytest.approx(valid)
    assert any(failure.startswith("JSON: ") for failure in found.failures)


def test_a_model_that_fails_at_everything_is_measured_all_the_same() -> None:
    error = ConstraintError("it cannot")
    failing = model(
        choose=lambda prompt, options: error,
        lines=lambda prompt: error,
        streams=lambda prompt: error,
        objects=lambda prompt: error,
    )
    found = check(failing)
    assert found.yes_no and (found.yes_no.auc, found.yes_no.accuracy) == (0.5, 0.0)
    assert found.search_lines and found.search_lines.recall == 0.0
    assert found.answers and found.answers.correct == found.answers.declined == 0.0
    assert found.instructions and found.instructions.resisted == 0.0
    assert [failure.split(":")[0] for failure in found.failures] == [
        "yes/no", "answers", "search lines", "hidden instructions", "follow-ups", "JSON",
    ]  # fmt: skip
    assert found.complete


class Clock:
    """A clock that goes on by a number of seconds with every prompt of a model."""

    def __init__(self, scripted: ScriptedModel, seconds: float) -> None:
        self._asked, self._seconds = scripted.asked, seconds

    def __call__(self) -> float:
        return len(self._asked) * self._seconds


@pytest.mark.parametrize(("seconds", "least_pairs"), [(40.0, 12), (74.0, 30)])
def test_a_slow_model_is_measured_at_each_task_as_far_as_the_time_goes(
    seconds: float, least_pairs: int
) -> None:
    scripted = model()
    found = measure_fitness(
        scripted, TASKS, seconds=seconds, progress=lambda done, total: None, now=Clock(scripted, 1.0)
    )
    assert not found.complete and found.seconds < seconds + 6
    assert found.yes_no and least_pairs <= found.yes_no.pairs
    assert found.answers and found.answers.answerable >= 1
    assert found.search_lines and found.follow_ups and found.instructions
    assert found.read_per_second and found.read_per_second > 0


def test_progress_counts_every_task_once() -> None:
    seen: list[tuple[int, int]] = []
    measure_fitness(model(), TASKS, seconds=1e6, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(n, len(seen)) for n in range(1, len(seen) + 1)]
    assert len(seen) == 10 + 10 + 10 + 10 + 3 + 2


def test_ctrl_c_keeps_what_was_measured() -> None:
    def interrupted(prompt: str) -> str:
        raise KeyboardInterrupt

    found = check(model(lines=interrupted))
    assert found.interrupted and not found.complete
    assert found.yes_no and found.yes_no.pairs == 40
    assert found.search_lines is None and found.json is None
