"""Scripted stand-ins for the language model and the evaluator, for tests of what uses them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import regex

from localcrag.errors import ConstraintError, ContextOverflow
from localcrag.types import (
    Choice,
    FinishReason,
    Prompt,
    RemovableText,
    Thresholds,
    Tokens,
    UntrustedText,
    WrittenLine,
)

T = TypeVar("T")

Chooser = Callable[[str, Sequence[str]], Sequence[float] | Mapping[str, float] | Exception]
"""(text of the prompt, options) → a probability per option, in order or by option; or an error."""
Teller = Callable[[str], str | Exception]
"""Text of the prompt → the reply, or an error."""


def text_of(prompt: Prompt, *, removed: bool = False) -> str:
    """A prompt as one text: system, then user, data included; what is taken back only where asked for."""
    user = "".join(
        part if isinstance(part, str) else part.text for part in prompt.user if removed or _seen(part)
    )
    return f"{prompt.system}\n\n{user}".strip()


def _seen(part: str | UntrustedText) -> bool:
    return not (isinstance(part, RemovableText) and part.removed)


def words(text: str) -> list[str]:
    """What this model calls tokens: words with the space before them."""
    return re.findall(r"\s*\S+", text)


class ScriptedModel:
    """A :class:`~localcrag.protocols.LanguageModel` that says what the test tells it to.

    ``choose`` is a rule; ``lines``, ``streams`` and ``objects`` are rules too, or lists of replies
    given one after the other (an exception in a list is raised). ``asked`` keeps the text of every
    prompt with the call it came by. Constraints are checked as the real model's are.
    """

    name = "scripted"

    def __init__(
        self,
        *,
        choose: Chooser | None = None,
        lines: Teller | Sequence[str | Exception] = (),
        streams: Teller | Sequence[str | Exception] = (),
        objects: Callable[[str], object] | Sequence[object] = (),
        context: int = 4096,
        trained: bool = True,
    ) -> None:
        self.context, self.trained = context, trained
        self.tokens = Tokens()
        self.last_finish = FinishReason.STOP
        self.asked: list[tuple[str, str]] = []
        self.closed = False
        self._choose = choose or _evenly
        self._lines, self._streams, self._objects = _rule(lines), _rule(streams), _rule(objects)

    def count(self, prompt: Prompt) -> int:
        return len(words(text_of(prompt, removed=True)))

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        if not options or "" in options or len(set(options)) != len(options):
            raise ConstraintError(f"Options must be distinct and not empty, not {list(options)}.")
        texts = [self._take("choose", prompt, 1) for prompt in prompts]
        return [self._chosen(text, options) for text in texts]

    def line(self, prompt: Prompt, *, max_tokens: int = 48) -> str:
        reply = str(_raised(self._lines(self._take("line", prompt, max_tokens))))
        text = "".join(self._limited(words(reply), max_tokens)).strip()
        if not text or len(text.splitlines()) != 1:
            raise ConstraintError("The model wrote no line.")
        return text

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        reply = _raised(self._objects(self._take("object", prompt, max_tokens)))
        if not isinstance(reply, schema):
            raise ConstraintError(f"The model's JSON is no {schema.__name__}.")
        size = len(re.findall(r"\w+", repr(reply)))
        if size > max_tokens:
            raise ConstraintError(f"The text does not hold its constraint after {max_tokens} tokens.")
        self.tokens += Tokens(0, size)
        return reply

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        pieces = words(str(_raised(self._streams(self._take("stream", prompt, 1)))))
        if pattern is not None and len(pieces) >= max_tokens:
            pieces = _whole(pieces[:max_tokens], pattern)
            max_tokens = len(pieces)
        said = ""
        for piece in self._limited(pieces, max_tokens):
            said += piece
            yield piece
        if pattern is not None and re.fullmatch(pattern, said) is None:
            raise ConstraintError("The text does not hold its constraint.")

    def close(self) -> None:
        self.closed = True

    def _take(self, call: str, prompt: Prompt, room: int) -> str:
        text, count = text_of(prompt), self.count(prompt)
        if count + room > self.context:
            raise ContextOverflow(f"{count} tokens do not fit the context of {self.context}.")
        self.tokens += Tokens(count)
        self.asked.append((call, text))
        return text

    def _limited(self, pieces: Sequence[str], max_tokens: int) -> Iterator[str]:
        self.last_finish = FinishReason.LENGTH if len(pieces) >= max_tokens else FinishReason.STOP
        for piece in pieces[:max_tokens]:
            self.tokens += Tokens(0, 1)
            yield piece

    def _chosen(self, text: str, options: Sequence[str]) -> Choice | Exception:
        given = self._choose(text, options)
        if isinstance(given, Exception):
            return given
        weights = [given.get(o, 0.0) for o in options] if isinstance(given, Mapping) else list(given)
        shares = tuple(weight / sum(weights) for weight in weights)
        return Choice(options[shares.index(max(shares))], shares)


class ScriptedEvaluator:
    """An :class:`~localcrag.protocols.Evaluator` whose scores are a rule of (query, text)."""

    name = "scripted evaluator"
    multilingual = False

    def __init__(self, score: Callable[[str, str], float], thresholds: Thresholds | None = None) -> None:
        self._score = score
        self.thresholds = thresholds or Thresholds()
        self.tokens = Tokens()
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.closed = False

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((query, tuple(texts)))
        self.tokens += Tokens(sum(len(words(query)) + len(words(text)) for text in texts))
        return [min(1.0, max(0.0, self._score(query, text))) for text in texts]

    def load(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True


def _evenly(_text: str, options: Sequence[str]) -> Sequence[float]:
    return [1.0] * len(options)


def _rule(replies: Callable[[str], object] | Sequence[object]) -> Callable[[str], object]:
    if callable(replies):
        return replies
    queue = list(replies)

    def next_reply(text: str) -> object:
        if not queue:
            raise AssertionError(f"the script has no more replies; asked: {text[:200]!r}")
        return queue.pop(0)

    return next_reply


def _whole(pieces: list[str], pattern: str) -> list[str]:
    """As much of a text that was cut off as matches; all of it if nothing does."""
    ends = (end for end in range(len(pieces), 0, -1) if re.fullmatch(pattern, "".join(pieces[:end])))
    return pieces[: next(ends, len(pieces))]


def _raised(reply: object) -> object:
    if isinstance(reply, Exception):
        raise reply
    return reply


@dataclass
class ScriptedQueries:
    """A model that writes given queries over tables, by a part of the question, if the pattern allows it.

    As the real one does, it raises ConstraintError for a text that does not match, or is not likely enough.
    """

    queries: dict[str, tuple[str, float]]
    tokens: Tokens = field(default_factory=Tokens)
    prompts: list[Prompt] = field(default_factory=list)

    def write_line(
        self, prompt: Prompt, pattern: str, *, max_tokens: int = 96, least: float = 0.0
    ) -> WrittenLine:
        """The first query whose key is in the prompt and that the pattern allows; NONE without one."""
        self.prompts.append(prompt)
        self.tokens += Tokens(10, 5)
        said = "".join(each if isinstance(each, str) else each.text for each in prompt.user)
        asked = [written for part, written in self.queries.items() if part in said] or [("NONE", 0.9)]
        for text, probability in asked:
            if regex.fullmatch(pattern, text) and probability >= least:
                return WrittenLine(text, probability, 5)
        raise ConstraintError("The pattern allows no token of this vocabulary here.")
