"""Lines, objects and streams: always within their constraint, in whole characters, with an end."""

from __future__ import annotations

import gc
import re
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import pytest

from localcrag.crag import prompts
from localcrag.errors import ConstraintError, ContextOverflow, ModelError
from localcrag.llm.constraints import pattern_of_schema
from localcrag.llm.decoding import is_looping
from localcrag.llm.language_model import LlamaCppModel
from localcrag.llm.speculative import PromptLookup
from localcrag.llm.structured_output import read_record, schema_of
from localcrag.types import Choice, FinishReason, Prompt, UntrustedText
from tests.llm.conftest import Load, Shaped
from tests.shape_models import CACHE, shape

ASKED = Prompt("You help.", ("Question: ", UntrustedText("What is the dose of Zürich 東京?"), "\nAnswer."))
CITED = r"([^\[\]]|\[(1|2)\])+"


@dataclass(frozen=True)
class Step:
    """A step of a plan."""

    tool: Literal["search", "answer"]
    done: bool


class Mood(StrEnum):
    GOOD = "good"
    BAD = "bad"


@dataclass(frozen=True)
class Plan:
    """As an agent would write it."""

    number: Literal[1, 2]
    mood: Mood
    sure: bool
    step: Step


@pytest.fixture(scope="module")
def wild() -> Iterator[LlamaCppModel]:
    """A model that writes at random, so that its texts hold a bit of everything."""
    path = shape("llama2")
    with LlamaCppModel(
        path, context=512, threads=1, temperature=2.0, seed=5, cache_dir=CACHE / "constraints"
    ) as m:
        yield m


# --------------------------------------------------------------------------- on every vocabulary


def test_every_vocabulary_writes_strictly_one_line(shaped: Shaped) -> None:
    line = shaped.model.line(ASKED, max_tokens=10)
    assert line and line == line.strip()
    assert re.fullmatch(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]+", line)


def test_every_vocabulary_writes_valid_objects(shaped: Shaped) -> None:
    plan = shaped.model.object(ASKED, Plan, max_tokens=120)
    assert isinstance(plan, Plan) and isinstance(plan.step, Step)
    assert plan.number in (1, 2) and plan.mood in Mood and plan.step.tool in ("search", "answer")
    assert isinstance(plan.sure, bool) and isinstance(plan.step.done, bool)


def test_every_vocabulary_cites_only_keys_that_exist(shaped: Shaped) -> None:
    text = "".join(shaped.model.stream(ASKED, pattern=CITED, max_tokens=20))
    assert text
    assert set(re.findall(r"\[[^\]]*\]?", text)) <= {"[1]", "[2]"}


def test_every_vocabulary_can_be_made_to_cite(shaped: Shaped) -> None:
    text = "".join(shaped.model.stream(ASKED, pattern=r"(It is so \[(1|2)\]\. ){2}", max_tokens=60))
    assert re.fullmatch(r"It is so \[[12]\]\. It is so \[[12]\]\. ", text)
    assert shaped.model.last_finish is FinishReason.STOP


def test_every_vocabulary_streams_whole_characters(shaped: Shaped) -> None:
    spoken = "Zürich, 東京, 🙂"
    pieces = list(shaped.model.stream(ASKED, pattern=re.escape(spoken), max_tokens=60))
    assert "".join(pieces) == spoken
    assert all("\ufffd" not in piece for piece in pieces)


def test_free_text_holds_no_control_tokens(shaped: Shaped) -> None:
    parts = shaped.model._loaded()
    text = "".join(shaped.model.stream(ASKED, max_tokens=8))
    assert text and shaped.model.last_finish in (FinishReason.LENGTH, FinishReason.STOP)
    barred = [token for token in parts.model.unwritable if token not in parts.model.endings]
    assert not parts.writable[barred].any()
    assert parts.writable[list(parts.model.endings)].all()


def test_qwen3_can_never_open_a_thought(load: Load) -> None:
    parts = load("qwen3")._loaded()
    tags = [
        token for token, text in parts.model.user_defined if text in ("<think>", "</think>", "<tool_call>")
    ]
    assert len(tags) == 3
    assert not parts.writable[tags].any()


# ------------------------------------------------------------------------------------- in detail


def test_random_lines_are_lines(wild: LlamaCppModel) -> None:
    lines = {wild.line(ASKED, max_tokens=12) for _ in range(1)} | {
        wild.line(Prompt("", (str(i),)), max_tokens=12) for i in range(12)
    }
    assert len(lines) == 13
    for line in lines:
        assert line.strip() == line != "" and len(line.splitlines()) == 1


def test_random_streams_cite_only_what_exists(wild: LlamaCppModel) -> None:
    texts = ["".join(wild.stream(Prompt("", (str(i),)), pattern=CITED, max_tokens=30)) for i in range(8)]
    for text in texts:
        assert re.fullmatch(CITED, text)
    assert len(set(texts)) == 8


def test_random_objects_are_read_back(wild: LlamaCppModel) -> None:
    plans = {wild.object(Prompt("", (str(i),)), Plan, max_tokens=200) for i in range(8)}
    assert len(plans) > 1


def test_the_same_seed_writes_the_same(wild: LlamaCppModel) -> None:
    first = "".join(wild.stream(ASKED, max_tokens=12))
    assert first == "".join(wild.stream(ASKED, max_tokens=12))


def test_a_stream_cut_off_inside_a_citation_leaves_it_out(load: Load) -> None:
    model, pattern = load("llama2"), r"(word \[123456789\] ){1,5}"
    cut = []
    for length in range(22, 38):
        cut.append("".join(model.stream(ASKED, pattern=pattern, max_tokens=length)))
        assert model.last_finish is FinishReason.LENGTH
    assert all(re.fullmatch(pattern, text) for text in cut)
    assert len(set(cut)) < len(cut) / 4


def test_a_pattern_that_cannot_be_finished_in_time_is_an_error(load: Load) -> None:
    with pytest.raises(ConstraintError, match="length") as caught:
        list(load("llama2").stream(ASKED, pattern="(abcdefgh ){40}", max_tokens=6))
    assert caught.value.hint
    assert load("llama2").last_finish is FinishReason.LENGTH


def test_a_pattern_that_is_none_is_an_error(load: Load) -> None:
    with pytest.raises(ConstraintError, match="cannot be compiled"):
        list(load("llama2").stream(ASKED, pattern="(unclosed"))


def test_a_text_that_fails_the_last_check_is_an_error(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("localcrag.llm.constraints.Constraint.holds", lambda self, text: False)
    model = load("llama2")
    with pytest.raises(ConstraintError, match="does not hold"):
        model.line(ASKED, max_tokens=4)
    with pytest.raises(ConstraintError, match="does not hold"):
        list(model.stream(ASKED, pattern="(yes|no)"))


def test_an_object_cut_off_is_an_error(load: Load) -> None:
    with pytest.raises(ConstraintError, match="does not hold"):
        load("llama2").object(ASKED, Plan, max_tokens=5)


class Opaque:
    """What JSON has no form for."""


@dataclass(frozen=True)
class Odd:
    """A class that no model can write."""

    value: Opaque


def test_a_class_without_a_schema_is_an_error(load: Load) -> None:
    with pytest.raises(ConstraintError, match="Odd"):
        load("llama2").object(ASKED, Odd)


@dataclass(frozen=True)
class Everything:
    """Every kind of field that may be asked for."""

    text: str
    count: int
    share: float
    yes: bool
    steps: tuple[Step, ...]
    words: list[str]
    note: str | None = None


def test_every_kind_of_field_makes_a_pattern_and_comes_back() -> None:
    text = (
        '{"text": "a \\"b\\" ü", "count": 3, "share": 0.5, "yes": true, '
        '"steps": [{"tool": "search", "done": false}], "words": ["x", "y"], "note": null}'
    )
    record = read_record(text, Everything)
    assert record == Everything('a "b" ü', 3, 0.5, True, (Step("search", False),), ["x", "y"], None)
    assert re.fullmatch(pattern_of_schema(schema_of(Everything)), text)
    assert not re.fullmatch(pattern_of_schema(schema_of(Everything)), text.replace(', "note": null', ""))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"tool": "search"}',
        '{"tool": "run", "done": true}',
        '{"tool": "search", "done": "yes"}',
        "[]",
    ],
)
def test_what_is_not_exactly_the_class_is_refused(text: str) -> None:
    with pytest.raises(ConstraintError, match="Step"):
        read_record(text, Step)


def test_a_full_context_ends_a_stream_and_says_so() -> None:
    with LlamaCppModel(shape("llama2"), context=256, threads=1, temperature=2.0) as model:
        prompt = Prompt("", (UntrustedText("word " * 200),))
        list(model.stream(prompt, max_tokens=500))
        assert model.last_finish is FinishReason.CONTEXT
        with pytest.raises(ContextOverflow, match="256"):
            list(model.stream(Prompt("", (UntrustedText("word " * 240),))))
        with pytest.raises(ContextOverflow, match="256"):
            model.line(prompt, max_tokens=100)


def test_a_model_that_repeats_itself_is_stopped(load: Load) -> None:
    text = "".join(load("llama2").stream(ASKED, max_tokens=400))
    assert load("llama2").last_finish is FinishReason.REPEAT
    assert len(text) < 2000


def test_what_a_loop_is() -> None:
    assert is_looping([7] * 24)
    assert not is_looping([7] * 23)
    assert is_looping([1, 2, 3, *[4, 5, 6, 7] * 6])
    assert is_looping(list(range(40)) * 3)
    assert not is_looping(list(range(40)) * 2)
    assert not is_looping([1, 2] * 11 + [1, 2, 9])


def alike(found: Sequence[Choice | Exception], expected: Sequence[Choice | Exception]) -> None:
    """The same choices; how much the cache held of a prompt moves a probability by some thousandths."""
    for one, other in zip(found, expected, strict=True):
        assert isinstance(one, Choice) and isinstance(other, Choice)
        assert one.text == other.text
        assert one.probabilities == pytest.approx(other.probabilities, abs=0.01)


def test_a_stream_goes_on_after_other_calls_came_between(load: Load) -> None:
    model = load("llama2")
    undisturbed = "".join(model.stream(ASKED, max_tokens=10))
    parts = model._loaded()
    prompt = parts.chat.tokens(ASKED)
    pieces = []
    for piece in model.stream(ASKED, max_tokens=10):
        assert list(parts.cache.held[: len(prompt)]) == prompt
        pieces.append(piece)
        model.choose([prompts.grade("q", "p")], ("yes", "no"))
    assert "".join(pieces) == undisturbed


def test_an_abandoned_stream_leaves_the_model_usable(load: Load) -> None:
    model = load("llama2")
    expected = model.choose([prompts.grade("q", "p")], ("yes", "no"))
    stream = model.stream(ASKED, max_tokens=10)
    next(stream)
    del stream
    alike(model.choose([prompts.grade("q", "p")], ("yes", "no")), expected)


def test_a_model_closed_while_it_writes_says_so() -> None:
    model = LlamaCppModel(shape("llama2"), context=512, threads=1)
    stream = model.stream(ASKED, max_tokens=10)
    next(stream)
    model.close()
    with pytest.raises(ModelError, match="closed"):
        next(stream)
    model.load()
    assert model.tokens.generated == 1
    model.close()


def test_generated_tokens_are_counted_once(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PromptLookup, "_draft_tokens", lambda self, text: [])
    model = load("llama2")
    model._loaded().cache.forget()
    before = model.tokens
    list(model.stream(ASKED, max_tokens=7))
    used = model.tokens - before
    assert (used.evaluated, used.generated) == (model.count(ASKED), 7)


def test_an_answer_goes_on_from_what_is_read_already(load: Load) -> None:
    model = load("llama2")
    first, second = prompts.grade("q", "one passage"), prompts.grade("q", "another passage")
    model.choose([first], ("yes", "no"))
    before = model.tokens
    list(model.stream(second, max_tokens=1))
    assert (model.tokens - before).evaluated < model.count(second) // 2


@pytest.fixture
def uncollected() -> Iterator[None]:
    """No garbage collection: Hypothesis has a callback in it, in which an interrupt would be swallowed."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("uncollected")
def test_ctrl_c_ends_a_computation_and_harms_nothing() -> None:
    with LlamaCppModel(shape("qwen3"), context=2048, threads=1, cache_dir=CACHE / "constraints") as model:
        long = [prompts.grade("What is it?", "many words of some length " * 250)]
        short = [prompts.grade("What is it?", "few words")]
        expected = model.choose(short, ("yes", "no"))
        timer = threading.Timer(0.05, signal.raise_signal, [signal.SIGINT])
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            while True:
                model.choose(long, ("yes", "no"))
                model._loaded().cache.forget()
        timer.join()
        alike(model.choose(short, ("yes", "no")), expected)


@pytest.mark.usefixtures("uncollected")
def test_an_interrupt_tells_llama_cpp_to_stop(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    context = load("llama2")._loaded().context
    told: list[bytes] = []

    def endless(*_: object) -> int:
        timer.start()  # the computation has begun
        until = time.monotonic() + 240
        while context._abort.value == b"0" and time.monotonic() < until:
            time.sleep(0.01)
        told.append(context._abort.value)
        return 2

    monkeypatch.setattr("localcrag.llm.llama_backend.llama.llama_decode", endless)
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    with pytest.raises(KeyboardInterrupt):
        load("llama2").choose([prompts.grade("q", "interrupted")], ("yes", "no"))
    timer.join()
    assert told == [b"1"] and context._abort.value == b"0"


def test_llama_cpp_stops_when_told(load: Load) -> None:
    model = load("llama2")
    expected = model.choose([prompts.grade("q", "p")], ("yes", "no"))
    model._loaded().cache.forget()
    model._loaded().context._abort.value = b"1"
    with pytest.raises(ModelError, match="code 2"):
        model.choose([prompts.grade("q", "p")], ("yes", "no"))
    model._loaded().context._abort.value = b"0"
    alike(model.choose([prompts.grade("q", "p")], ("yes", "no")), expected)


@pytest.mark.usefixtures("every_processor")
def test_calls_from_several_threads_go_through_one_by_one(load: Load) -> None:
    model = load("llama2")
    asked = [prompts.grade("q", f"passage {i}") for i in range(4)]
    expected = [model.choose([prompt], ("yes", "no")) for prompt in asked]
    found: dict[int, Sequence[Choice | Exception]] = {}

    def work(i: int) -> None:
        found[i] = model.choose([asked[i]], ("yes", "no"))

    threads = [threading.Thread(target=work, args=[i]) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        alike(found[i], expected[i])
