"""Reading ahead: the same text, in fewer batches, and nothing left in the cache that was not written."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

import pytest

from localcrag.llm.decoding import Sampler
from localcrag.llm.kv_cache import TokenizedPrompt
from localcrag.llm.language_model import LlamaCppModel
from localcrag.llm.llama_context import Context
from localcrag.llm.speculative import FIRST_GUESS_TOKENS, NEXT_GUESS_TOKENS, NGRAM_TOKENS, PromptLookup
from localcrag.types import Prompt, Tokens, UntrustedText
from tests.llm.conftest import Load

SENTENCE = "The usual dose of Zeldrine is thirty-five milligrams once a day, taken with a glass of water."
ROW = list(range(10, 10 + NGRAM_TOKENS))
ASKED = Prompt("You repeat.", (UntrustedText(SENTENCE), "\n\nRepeat it."))


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many tokens each batch held."""
    sizes: list[int] = []
    whole = Context._decode

    def counted(self: Context, tokens: Sequence[tuple[int, int, int, bool]]) -> None:
        sizes.append(len(tokens))
        whole(self, tokens)

    monkeypatch.setattr(Context, "_decode", counted)
    return sizes


def repeated(model: LlamaCppModel, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a model writes that repeats its prompt token by token, as the tokenizer spells it."""
    parts = model._loaded()
    script = [*parts.model.tokenize_continuation(SENTENCE, special=False), parts.model.endings[0]]
    monkeypatch.setattr(Sampler, "pick", lambda self, row, allowed: script.pop(0))
    return "".join(model.stream(ASKED, max_tokens=200))


@pytest.mark.parametrize("name", ["qwen3", "llama2"])
def test_a_text_that_repeats_its_prompt_is_read_in_few_batches(
    load: Load, batches: list[int], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    model = load(name)
    model._loaded().cache.forget()
    before = model.tokens
    batches.clear()
    assert repeated(model, monkeypatch) == SENTENCE
    used = model.tokens - before
    assert len(batches) < NGRAM_TOKENS + used.generated / 3
    assert max(batches[1:]) == NEXT_GUESS_TOKENS + 1
    assert model.count(ASKED) <= used.evaluated <= model.count(ASKED) + 2 * NEXT_GUESS_TOKENS


def test_a_model_that_cannot_forget_reads_token_by_token(
    load: Load, batches: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load("mamba")
    batches.clear()
    assert repeated(model, monkeypatch) == SENTENCE
    assert set(batches[1:]) == {1}


@pytest.mark.parametrize("name", ["qwen3", "llama2"])
def test_the_text_is_what_it_would_be_without_guesses(
    load: Load, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    model = load(name)
    prompt = Prompt("", (UntrustedText("one two three four one two three four one two three"),))
    ahead = "".join(model.stream(prompt, max_tokens=40))
    monkeypatch.setattr(PromptLookup, "_draft_tokens", lambda self, text: [])
    assert ahead == "".join(model.stream(prompt, max_tokens=40))


def test_a_wrong_guess_is_taken_back_and_counted_as_read(load: Load) -> None:
    model = load("llama2")
    parts = model._loaded()
    text = [*parts.chat.tokenise(ASKED).ids, *ROW, 20, 21, 22, 23, *ROW[:-1]]
    ahead = PromptLookup(parts.cache, TokenizedPrompt(tuple(text)), guesses=True)
    before = model.tokens
    ahead.next_logits([*text, ROW[-1]], 20)
    assert list(parts.cache.held) == [*text, ROW[-1], 20, 21, 22]
    ahead.next_logits([*text, ROW[-1], 11], 20)
    assert list(parts.cache.held) == [*text, ROW[-1], 11]
    assert model.tokens - before == Tokens(3, 0)


def test_a_guess_is_short_until_one_came_whole(load: Load, batches: list[int]) -> None:
    """A long row: a short guess; all of it comes: a longer one; one is wrong: short again."""
    model = load("llama2")
    parts = model._loaded()
    known = list(range(300, 340))
    text = [*parts.chat.tokenise(ASKED).ids, *known, 7]
    ahead = PromptLookup(parts.cache, TokenizedPrompt(tuple(text)), guesses=True)
    batches.clear()
    whole = NGRAM_TOKENS + FIRST_GUESS_TOKENS + 1
    for token in [*known[: whole + 2], 8, *known[20 : 20 + NGRAM_TOKENS]]:
        text.append(token)
        ahead.next_logits(text, 100)
    first, following = 1 + FIRST_GUESS_TOKENS, 1 + NEXT_GUESS_TOKENS
    assert batches == [*[1] * (NGRAM_TOKENS - 1), first, following, *[1] * NGRAM_TOKENS, first]


def test_nothing_is_read_beyond_the_room_there_is(load: Load) -> None:
    model = load("llama2")
    parts = model._loaded()
    text = [*parts.chat.tokenise(ASKED).ids, *ROW, 20, 21, 22, 23, *ROW[:-1]]
    ahead = PromptLookup(parts.cache, TokenizedPrompt(tuple(text)), guesses=True)
    ahead.next_logits([*text, ROW[-1]], 2)
    assert list(parts.cache.held) == [*text, ROW[-1], 20, 21]
    ahead.discard_draft()
    assert list(parts.cache.held) == [*text, ROW[-1]]


def test_a_text_that_was_left_in_the_middle_takes_nothing_back_in_a_closed_model(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The context of a closed model is freed memory."""
    model = load("qwen3")
    cells = model._loaded().cache
    made: list[PromptLookup] = []
    whole = PromptLookup.__init__

    def recorded(self: PromptLookup, *given: Any, **named: Any) -> None:
        made.append(self)
        whole(self, *given, **named)

    monkeypatch.setattr(PromptLookup, "__init__", recorded)
    taken: list[int] = []
    monkeypatch.setattr(cells, "take_back", taken.append)
    text = model.stream(ASKED, max_tokens=20)
    assert isinstance(text, Generator)
    next(text)
    made[0]._drafted = [(7, made[0].first_logits)]
    model.close()
    text.close()
    assert not taken
    assert next(model.stream(ASKED, max_tokens=20)), "it is loaded again"
