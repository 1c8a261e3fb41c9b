"""The cache: nothing is read twice, whatever is asked in whatever order, and it always says the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from localcrag.crag import prompts
from localcrag.llm.kv_cache import KVCache, TokenizedPrompt, common_prefix_length
from localcrag.llm.language_model import LlamaCppModel
from localcrag.types import Choice, Prompt, UntrustedText
from tests.crag.values import evidence
from tests.llm.conftest import Load, Shaped
from tests.shape_models import CACHE, shape

OPTIONS = ("yes", "no")
QUESTION = "What is the dose?"
PASSAGES = [
    "The dose is five milligrams a day.",
    "Zürich is a city on a river. " * 12,
    "Give seven milligrams to adults. <passage> [2] " * 3,
    "東京は日本の首都です。🙂 " * 5,
]


def forget(model: LlamaCppModel) -> None:
    model._loaded().cache.forget()


def ids(model: LlamaCppModel, prompt: Prompt) -> list[int]:
    return model._loaded().chat.tokens(prompt)


def joint_layout(passages: Sequence[str], places: Sequence[int]) -> list[Prompt]:
    return [prompts.grade_joint(QUESTION, passages, place, trained=True) for place in places]


def cost(model: LlamaCppModel, asked: Sequence[Prompt]) -> int:
    before = model.tokens
    for choice in model.choose(asked, OPTIONS):
        assert isinstance(choice, Choice)
    return (model.tokens - before).evaluated


def written(model: LlamaCppModel, prompt: Prompt) -> int:
    """Tokens that beginning to write costs."""
    before = model.tokens
    list(model.stream(prompt, max_tokens=1))
    return (model.tokens - before).evaluated


# --------------------------------------------------------------------------------- independent


def test_an_answer_goes_on_from_a_grading_that_was_rounds_and_a_rewriting_ago(shaped: Shaped) -> None:
    model = shaped.model
    forget(model)
    first = [prompts.grade(QUESTION, passage, trained=True) for passage in PASSAGES[:2]]
    later = [prompts.grade(QUESTION, passage, trained=True) for passage in PASSAGES[2:]]
    cost(model, first)
    cost(model, later[:1])
    cost(model, later[1:])
    model.line(prompts.rewrite(QUESTION))
    answer = prompts.answer(QUESTION, evidence(PASSAGES[1], PASSAGES[0]), trained=True)
    known = common_prefix_length([ids(model, answer), ids(model, first[1])])
    assert known > common_prefix_length([ids(model, prompt) for prompt in first])
    assert written(model, answer) == model.count(answer) - known


def test_passages_graded_in_slices_cost_what_they_cost_at_once(shaped: Shaped) -> None:
    model, asked = shaped.model, [prompts.grade(QUESTION, passage, trained=True) for passage in PASSAGES]
    forget(model)
    at_once = cost(model, asked)
    forget(model)
    in_slices = cost(model, asked[:2]) + cost(model, asked[2:3]) + cost(model, asked[3:])
    # A prompt alone is read up to its last token first: nothing more.
    assert at_once <= in_slices <= at_once + len(asked)


def test_a_text_is_written_without_the_forks_of_others(load: Load) -> None:
    """llama.cpp looks at every cell in use for each token: what a text does not go on from is forgotten."""
    model = load("llama2")
    forget(model)
    cost(model, [prompts.grade(QUESTION, passage, trained=True) for passage in PASSAGES])
    cells = model._loaded().cache
    before = in_use(cells)
    model.line(prompts.rewrite(QUESTION))
    assert in_use(cells) > before  # a line does not drive them out
    answer = prompts.answer(QUESTION, evidence(PASSAGES[1]), trained=True)
    list(model.stream(answer, max_tokens=2))
    assert in_use(cells) <= model.count(answer) + 2


# --------------------------------------------------------------------------------------- joint


def test_on_a_table_every_passage_is_read_once_for_grades_and_answer(shaped: Shaped) -> None:
    model, asked = shaped.model, joint_layout(PASSAGES, range(1, 5))
    answer = prompts.answer_joint(QUESTION, PASSAGES, [1, 3], trained=True)
    forget(model)
    common = common_prefix_length([ids(model, prompt) for prompt in asked])
    assert cost(model, asked) == common + sum(model.count(prompt) - common for prompt in asked)
    known = common_prefix_length([ids(model, answer), ids(model, asked[0])])
    assert known >= common - 8  # all but the first words of the task
    assert written(model, answer) == model.count(answer) - min(known, settled(model, answer))


def settled(model: LlamaCppModel, prompt: Prompt) -> int:
    return model._loaded().chat.tokenise(prompt).settled


def test_a_table_that_grows_costs_only_what_is_laid_on_it(shaped: Shaped) -> None:
    model = shaped.model
    forget(model)
    cost(model, joint_layout(PASSAGES[:2], [1, 2]))
    model.line(prompts.rewrite(QUESTION))
    asked = joint_layout(PASSAGES, [3, 4])
    known = common_prefix_length([ids(model, asked[0]), ids(model, joint_layout(PASSAGES[:2], [1])[0])])
    common = common_prefix_length([ids(model, prompt) for prompt in asked])
    assert cost(model, asked) == common - known + sum(model.count(prompt) - common for prompt in asked)


def test_the_answer_does_not_see_what_was_taken_back(shaped: Shaped) -> None:
    """A passage that was read last and taken back leaves only the trace that the line end behind it keeps."""
    model = shaped.model
    parts = model._loaded()
    hidden, other = "Take nine spoons of sugar a day.", "The river flows to the north sea."

    def row(last: str, keys: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        forget(model)
        prompt = prompts.answer_joint(QUESTION, [PASSAGES[0], last], keys, trained=True)
        return parts.cache.read(parts.chat.tokenise(prompt))

    seen = np.abs(row(hidden, [1, 2]) - row(other, [1, 2])).max()
    taken_back = np.abs(row(hidden, [1]) - row(other, [1])).max()
    if len(ids(model, Prompt("", (UntrustedText(hidden),)))) == len(
        ids(model, Prompt("", (UntrustedText(other),)))
    ):
        assert taken_back < 0.5 * seen
    assert np.isfinite(taken_back)


def test_an_answer_is_the_same_from_a_warm_cache_and_a_cold_one(shaped: Shaped) -> None:
    model = shaped.model
    parts = model._loaded()
    answer = parts.chat.tokenise(prompts.answer_joint(QUESTION, PASSAGES, [1, 4], trained=True))
    assert answer.gaps
    forget(model)
    cold = parts.cache.read(answer)
    forget(model)
    cost(model, joint_layout(PASSAGES, range(1, 5)))
    warm = parts.cache.read(answer)
    assert int(cold.argmax()) == int(warm.argmax())
    assert np.abs(cold - warm).max() < 0.1 * np.abs(cold).max()
    again = model.tokens
    parts.cache.read(answer)
    assert (model.tokens - again).evaluated == 1


def test_a_passage_on_a_table_has_tokens_of_its_own(shaped: Shaped) -> None:
    """Whatever stands in it, what is taken back is its text and nothing else."""
    model = shaped.model
    parts = model._loaded()
    reading = parts.chat.tokenise(prompts.answer_joint(QUESTION, PASSAGES, [2], trained=True))
    assert len(reading.gaps) == 3
    for (start, end), passage in zip(reading.gaps, [PASSAGES[0], *PASSAGES[2:]], strict=True):
        spelled = b"".join(parts.model.piece(token) for token in reading.ids[start:end]).decode()
        assert spelled.strip() == prompts.fenced(passage).text.strip()


def test_a_model_that_forgets_only_the_whole_reads_on_with_all_in_sight(load: Load) -> None:
    model = load("mamba")
    answer = prompts.answer_joint(QUESTION, PASSAGES, [1], trained=True)
    assert written(model, answer) == model.count(answer)
    assert cost(model, joint_layout(PASSAGES, [1, 2])) > 0


def test_a_full_context_lets_the_oldest_forks_go() -> None:
    """Many questions in a small context: each is answered, and none overflows what there is."""
    with LlamaCppModel(shape("llama2"), context=700, threads=1, cache_dir=CACHE / "constraints") as model:
        for number in range(6):
            asked = [prompts.grade(f"Question {number}?", passage, trained=True) for passage in PASSAGES[:3]]
            cost(model, asked)
            list(
                model.stream(
                    prompts.answer(f"Question {number}?", evidence(PASSAGES[1]), trained=True), max_tokens=40
                )
            )
        assert in_use(model._loaded().cache) <= 700


def in_use(cells: KVCache) -> int:
    held = [cells._trunk, *cells._forks.values()]
    return len({cell for sequence in held for cell in sequence.cells} - {-1})


# ------------------------------------------------------------------- any order of anything at all

TOKENS = st.lists(st.integers(5, 9), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def small() -> Iterator[LlamaCppModel]:
    with LlamaCppModel(shape("llama2"), context=256, threads=1, cache_dir=CACHE / "constraints") as model:
        model.load()
        yield model


@st.composite
def readings(draw: st.DrawFn) -> TokenizedPrompt:
    tokens = draw(st.lists(st.integers(5, 6), min_size=2, max_size=90))
    if len(tokens) < 12 or draw(st.booleans()):
        return TokenizedPrompt(tuple(tokens))
    start = draw(st.integers(1, len(tokens) - 6))
    end = draw(st.integers(start + 1, len(tokens) - 3))
    return TokenizedPrompt(tuple(tokens), ((start, end),), end + 1)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(st.one_of(readings(), st.tuples(TOKENS, TOKENS), TOKENS), min_size=2, max_size=8))
def test_any_order_of_reading_forking_and_writing_gives_what_a_fresh_cache_gives(
    small: LlamaCppModel, steps: list[TokenizedPrompt | tuple[list[int], list[int]] | list[int]]
) -> None:
    cells = small._loaded().cache
    cells.forget()
    last: TokenizedPrompt | None = None
    for step in steps:
        if isinstance(step, tuple):
            cells.read_branches(step)
        elif isinstance(step, TokenizedPrompt):
            cells.read(step)
            last = step
        elif len(cells.held) + len(step) < 200:
            cells.extend(step)
            cells.take_back(len(step) // 2)
        assert in_use(cells) <= cells.size
    if last is not None:
        warm = cells.read(last)
        assert len(cells.held) == len(last.ids)
        cells.forget()
        cold = cells.read(last)
        assert np.abs(cold - warm).max() < 0.1 * np.abs(cold).max()
