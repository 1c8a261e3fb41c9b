"""The probabilities of options, from the log-probabilities that a server gives.

Most servers give the probabilities that the model had before the constraint, of the likeliest tokens and of
the one that was taken:

1. One request allows all options. If each begins with another character, one token decides, and the
   probabilities of all tokens at its place that decide for an option are added up. An option that none of
   them begins is less probable than the last of them; if that is next to nothing, it is neglected.
2. Otherwise each option is asked for by itself: the server must write it, and the product of the
   probabilities of its tokens, up to where no other option is left, is its weight.

Some servers give the probabilities after the constraint instead. The first way is the same; by the second
every option would have probability 1, so it is not gone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from localcrag.errors import ConstraintError
from localcrag.model_server.chat_replies import ServedReply, TokenScore
from localcrag.types import Choice

NEGLIGIBLE_SHARE = 0.01
"""The share of probability that an option which was not seen could have at most, if it is neglected."""

Ask = Callable[[Sequence[str], int], ServedReply]
"""Asks for one of some options in at most so many tokens; 0: as many as the longest needs."""
Said = Callable[[bytes], bytes]
"""The beginning of an option that the bytes of a reply have said."""


def scored_choice(options: Sequence[str], ask: Ask, said: Said, *, masked: bool) -> Choice:
    """The choice between options, with the probability of each.

    Args:
        options: the options, distinct and not empty.
        ask: asks the server.
        said: reads what the server says.
        masked: whether its probabilities are those after the constraint.

    Raises ConstraintError if the probabilities are all zero, or cannot be had.
    """
    if len({option[0] for option in options}) == len(options):
        reply = ask(options, 1)
        if not said(_written(reply.scores)):
            reply = ask(options, 0)
        weights = _deciding_weights(options, reply.scores, said, masked=masked)
        if weights is not None:
            return _choice(options, weights)
    if masked:
        raise ConstraintError(
            "The model server cannot score options that begin alike, since it gives probabilities after the "
            "constraint.",
            hint="start it so that it gives raw log-probabilities",
        )
    return _choice(options, _forced_weights(options, ask, said))


def _written(scores: Sequence[TokenScore]) -> bytes:
    """The bytes of tokens."""
    return b"".join(score.piece for score in scores)


def _choice(options: Sequence[str], weights: Mapping[str, float]) -> Choice:
    """The likeliest option with the normalised weights of all. Raises ConstraintError."""
    total = sum(weights.values())
    if not total > 0:
        raise ConstraintError("The choice has no probability at all.", hint="Use another model.")
    probabilities = tuple(weights[option] / total for option in options)
    return Choice(options[probabilities.index(max(probabilities))], probabilities)


def _left(options: Sequence[str], beginning: bytes) -> tuple[str, ...]:
    """The options that begin with these bytes."""
    return tuple(option for option in options if option.encode().startswith(beginning))


def _deciding_weights(
    options: Sequence[str], scores: Sequence[TokenScore], said: Said, *, masked: bool
) -> Mapping[str, float] | None:
    """The weights of the options by the first token that says a part of one.

    None if that token does not decide, or the probability of an option that was not seen matters.
    """
    before = b""
    for score in scores:
        if said(before + score.piece):
            break
        before += score.piece
    else:
        return None
    weights = dict.fromkeys(options, 0.0)
    for piece, logprob in score.rivals:
        beginning = said(before + piece)
        left = _left(options, beginning) if beginning else ()
        if len(left) == 1:
            weights[left[0]] += math.exp(logprob)
    total = sum(weights.values())
    last = 0.0 if masked else math.exp(min(logprob for _, logprob in score.rivals))
    unseen = not all(weights.values())
    return None if not total or (unseen and last > NEGLIGIBLE_SHARE * total) else weights


def _forced_weights(options: Sequence[str], ask: Ask, said: Said) -> Mapping[str, float]:
    """The weight of each option by a request of its own; see above.

    If an option is the beginning of another, what goes on to that one is taken from its weight.
    """
    weights: dict[str, float] = {}
    ends: dict[str, frozenset[bytes]] = {}
    for option in options:
        scores = ask([option], 0).scores
        weights[option], ends[option] = _path(option, options, scores, said)
    for option in sorted(options, key=len, reverse=True):
        longer = [other for other in options if option.encode() in ends[other]]
        weights[option] = max(0.0, weights[option] - sum(weights[other] for other in longer))
    return weights


def _path(
    option: str, options: Sequence[str], scores: Sequence[TokenScore], said: Said
) -> tuple[float, frozenset[bytes]]:
    """The probability of the tokens of an option up to where it is decided, and the beginnings on the way.

    Raises ConstraintError if the tokens do not spell it.
    """
    written, logprob = b"", 0.0
    ends: set[bytes] = set()
    for score in scores:
        written += score.piece
        beginning = said(written)
        if option not in _left(options, beginning):
            break
        logprob += score.logprob
        if len(_left(options, beginning)) == 1 or beginning == option.encode():
            return math.exp(logprob), frozenset(ends)
        ends.add(beginning)
    raise ConstraintError(
        "The log-probabilities of the model server are not those of what it wrote.",
        hint="Use another server.",
    )
