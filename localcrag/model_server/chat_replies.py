"""The replies of a chat server, read from their JSON into values; whatever is of another form is refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import msgspec

from localcrag.errors import ModelServerError
from localcrag.types import FinishReason

T = TypeVar("T")
_FINISHES = {"length": FinishReason.LENGTH, "stop": FinishReason.STOP}


@dataclass(frozen=True, slots=True)
class TokenScore:
    """One token of a reply.

    Attributes:
        piece: its bytes.
        logprob: the logarithm of its probability.
        rivals: the likeliest tokens at its place, itself among them, each with the logarithm of its
            probability.
    """

    piece: bytes
    logprob: float
    rivals: tuple[tuple[bytes, float], ...]


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The tokens of an exchange: of the prompt, those of it that were read before, and those written."""

    prompt: int
    cached: int
    written: int


@dataclass(frozen=True, slots=True)
class ServedReply:
    """A whole reply; ``scores`` is empty and ``usage`` None if the server did not give them."""

    text: str
    finish: FinishReason
    scores: tuple[TokenScore, ...]
    usage: TokenUsage | None


@dataclass(frozen=True, slots=True)
class ServedPiece:
    """A piece of a streamed reply; ``finish`` is None before the end."""

    text: str
    finish: FinishReason | None
    usage: TokenUsage | None


# --------------------------------------------------------------------------- what stands in the JSON


class _Rival(msgspec.Struct):
    token: str
    logprob: float
    octets: list[int] | None = msgspec.field(default=None, name="bytes")

    @property
    def piece(self) -> bytes:
        """The bytes of the token."""
        given = self.octets
        return bytes(given) if given and all(0 <= byte < 256 for byte in given) else self.token.encode()


class _Token(_Rival):
    top_logprobs: list[_Rival] = []


class _Scores(msgspec.Struct):
    content: list[_Token] | None = None


class _Message(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    message: _Message = msgspec.field(default_factory=_Message)
    delta: _Message = msgspec.field(default_factory=_Message)
    finish_reason: str | None = None
    logprobs: _Scores | None = None


class _Details(msgspec.Struct):
    cached_tokens: int | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: int
    completion_tokens: int = 0
    prompt_tokens_details: _Details | None = None


class _Timings(msgspec.Struct):
    cache_n: int = 0


class _Completion(msgspec.Struct):
    choices: list[_Choice]
    usage: _Usage | None = None
    timings: _Timings | None = None


def chat_reply(body: bytes) -> ServedReply:
    """The reply in the body of a response. Raises ModelServerError if it is no chat completion."""
    found = decoded(body, _Completion)
    if not found.choices:
        raise unreadable("it has no choice")
    choice = found.choices[0]
    return ServedReply(
        text=choice.message.content or "",
        finish=_FINISHES.get(choice.finish_reason or "", FinishReason.STOP),
        scores=tuple(map(_score, (choice.logprobs and choice.logprobs.content) or ())),
        usage=_usage(found),
    )


def chat_piece(body: bytes) -> ServedPiece:
    """The piece in one event of a stream. Raises ModelServerError if it is none."""
    found = decoded(body, _Completion)
    choice = found.choices[0] if found.choices else _Choice()
    ended = choice.finish_reason
    return ServedPiece(
        text=choice.delta.content or "",
        finish=_FINISHES.get(ended, FinishReason.STOP) if ended else None,
        usage=_usage(found),
    )


def decoded(body: bytes, kind: type[T]) -> T:
    """A JSON text as an instance of a type. Raises ModelServerError."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise unreadable(" ".join(str(error).split())[:120]) from error


def unreadable(why: str) -> ModelServerError:
    """The error for a reply of another form."""
    return ModelServerError(
        f"the model server did not answer like one: {why}",
        hint="is it an OpenAI-compatible chat server, and its version recent?",
    )


def _score(token: _Token) -> TokenScore:
    """A token with its probabilities. Raises ModelServerError if they are none."""
    rivals: dict[bytes, float] = {token.piece: token.logprob}
    for rival in token.top_logprobs:
        rivals[rival.piece] = max(rival.logprob, rivals.get(rival.piece, -math.inf))
    _require_probabilities(list(rivals.values()))
    return TokenScore(token.piece, token.logprob, tuple(rivals.items()))


def _require_probabilities(logprobs: Sequence[float]) -> None:
    """Raise ModelServerError unless the logarithms can be those of different tokens at one place."""
    if any(math.isnan(each) or each > 1e-3 for each in logprobs) or sum(map(math.exp, logprobs)) > 1.01:
        raise unreadable("its log-probabilities are no probabilities")


def _usage(found: _Completion) -> TokenUsage | None:
    """The counts of tokens, of which those read before are at most those of the prompt."""
    usage = found.usage
    if usage is None or usage.prompt_tokens < 1:
        return None
    details = usage.prompt_tokens_details
    cached = (details.cached_tokens if details else None) or (found.timings.cache_n if found.timings else 0)
    return TokenUsage(
        usage.prompt_tokens, max(0, min(cached, usage.prompt_tokens)), max(0, usage.completion_tokens)
    )
