"""Constrained choice: the probability of each of a few options, for many prompts at once.

The common prefix of the prompts is read once, and their suffixes are read side by side in forks of it.
A vocabulary mask leaves, of each prompt's logits, the few tokens that can begin one of the options. A
softmax over these tokens gives their probabilities, and a token that decides for an option adds its
probability to that option. If several options begin with a token, it is read as well, and its
probability is divided among them by the logits after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from localcrag.errors import ConstraintError
from localcrag.llm.constraints import Constraint, Walk
from localcrag.llm.kv_cache import KVCache, common_prefix_length
from localcrag.llm.llama_backend import Row
from localcrag.llm.llama_model import Model
from localcrag.types import Choice

RESERVED_CELLS_PER_PROMPT = 32
"""Cells kept free per prompt for reading options that share their first tokens."""

TokenPath = tuple[int, ...]
"""The tokens of the beginning of an option."""


class ChoiceOptions:
    """The options of a choice, as a model's vocabulary spells them.

    Args:
        texts: the options, distinct and not empty; else ConstraintError is raised.
        constraint: the compiled pattern of a choice between the options.
        model: the loaded model, for its vocabulary.
    """

    def __init__(self, texts: Sequence[str], constraint: Constraint, model: Model) -> None:
        if not texts or "" in texts or len(set(texts)) != len(texts):
            raise ConstraintError(f"Options must be distinct and not empty, not {list(texts)}.")
        self.texts = tuple(texts)
        self.constraint = constraint
        self._raw = [text.encode() for text in texts]
        self._model = model
        self._trails = frozenset(self._spellings())

    def _spellings(self) -> Iterator[TokenPath]:
        """Every proper prefix of the tokenizer's own spelling of an option, with and without a space."""
        for text in self.texts:
            for written in (text, f" {text}"):
                ids = self._model.tokenize_continuation(written, special=False)
                yield from (tuple(ids[:length]) for length in range(1, len(ids)))

    def begin(self, path: TokenPath) -> Walk:
        """The constraint's state after these tokens. Raises ConstraintError."""
        return Walk(self.constraint, path)

    def still_open(self, path: TokenPath) -> list[int]:
        """The indices of the options that begin with these tokens."""
        said = self._said(path)
        return [i for i, raw in enumerate(self._raw) if raw.startswith(said)]

    def said_in_full(self, path: TokenPath) -> int:
        """The index of the option that these tokens spell. Raises ConstraintError if they spell none."""
        said = self._said(path)
        if said not in self._raw:
            raise ConstraintError(f"The choice ended in {said!r}, which is no option.")
        return self._raw.index(said)

    def worth_reading(self, path: TokenPath) -> bool:
        """Whether the tokenizer itself would write this undecided path; others are left out of the choice."""
        return path in self._trails and self._said(path) != b""

    def _said(self, path: TokenPath) -> bytes:
        """The bytes of these tokens, without the space that a reply may begin with."""
        return b"".join(map(self._model.piece, path)).removeprefix(b" ")


class _PendingChoice:
    """The choice for one prompt while its probabilities are collected.

    ``open`` holds the paths that are not decided, each with its probability; ``error`` ends the choice.
    """

    def __init__(self, options: ChoiceOptions) -> None:
        self._options = options
        self._masses = np.zeros(len(options.texts))
        self.open: list[tuple[TokenPath, float]] = [((), 1.0)]
        self.error: ConstraintError | None = None

    def add_logits(self, row: Row) -> None:
        """Divide the first open path's probability by the logits after it, of shape (vocabulary,)."""
        path, mass = self.open.pop(0)
        try:
            self._divide(path, mass, row)
        except ConstraintError as error:
            self.error = error
            self.open.clear()

    def _divide(self, path: TokenPath, mass: float, row: Row) -> None:
        """Divide the probability ``mass`` of a path by its logits. Raises ConstraintError."""
        options = self._options
        decided: list[tuple[int, int]] = []
        undecided: list[int] = []
        for token in map(int, np.flatnonzero(options.begin(path).allowed())):
            if token in options.constraint.endings:
                decided.append((token, options.said_in_full(path)))
                continue
            remaining = options.still_open((*path, token))
            if len(remaining) == 1:
                decided.append((token, remaining[0]))
            elif options.worth_reading((*path, token)):
                undecided.append(token)
        tokens = [token for token, _ in decided] + undecided
        if not tokens:
            raise ConstraintError(f"The vocabulary cannot spell {' or '.join(options.texts)}.")
        shares = mass * _softmax(row[tokens])
        for (_, option), share in zip(decided, shares, strict=False):
            self._masses[option] += share
        for token, share in zip(undecided, shares[len(decided) :], strict=True):
            self.open.append(((*path, token), float(share)))

    def result(self) -> Choice | Exception:
        """The likeliest option with the probabilities of all, normalised; or the error that ended it."""
        total = float(self._masses.sum())
        if self.error is not None or not total > 0:
            return self.error or ConstraintError("The choice has no probability at all.")
        probabilities = self._masses / total
        best = int(np.argmax(probabilities))
        return Choice(self._options.texts[best], tuple(float(p) for p in probabilities))


def _softmax(logits: Row) -> npt.NDArray[np.float64]:
    """The softmax of some logits. Raises ConstraintError unless all are finite."""
    if not np.isfinite(logits).all():
        raise ConstraintError("The model gave logits that are no numbers.")
    exponents = np.exp(logits.astype(np.float64) - float(logits.max()))
    shares: npt.NDArray[np.float64] = exponents / exponents.sum()
    return shares


@dataclass(frozen=True, slots=True)
class _Suffix:
    """A prompt of a round: its index, and its tokens after the common prefix."""

    prompt: int
    tokens: Sequence[int]


def choose(
    cache: KVCache, prompts: Sequence[Sequence[int]], options: ChoiceOptions, *, take_back: bool
) -> list[Choice | Exception]:
    """Choose one of the options for each prompt.

    Args:
        cache: the cache that the prompts are read into.
        prompts: token ids, none of them empty.
        options: the options, the same for all prompts.
        take_back: whether the model can forget the end of a sequence (recurrent models cannot).

    Returns the choices in the order of the prompts; a ConstraintError stands in place of a choice that
    failed.
    """
    common = min(common_prefix_length(prompts), min(map(len, prompts)) - 1)
    choices = [_PendingChoice(options) for _ in prompts]
    cache.hold(prompts[0][:common])
    for suffixes in _rounds(prompts, common, cache):
        read = cache.read_branches([suffix.tokens for suffix in suffixes])
        forks = {suffix.prompt: fork for suffix, (fork, _) in zip(suffixes, read, strict=True)}
        rows, waiting = [row for _, row in read], suffixes
        while waiting:
            for suffix, row in zip(waiting, rows, strict=True):
                choices[suffix.prompt].add_logits(row)
            waiting = [suffix for suffix in suffixes if choices[suffix.prompt].open]
            paths = [choices[suffix.prompt].open[0][0] for suffix in waiting]
            if take_back:
                peeks = [(forks[suffix.prompt], path) for suffix, path in zip(waiting, paths, strict=True)]
                rows = cache.peek(peeks) if peeks else []
            else:
                longer = [[*suffix.tokens, *path] for suffix, path in zip(waiting, paths, strict=True)]
                rows = [row for _, row in cache.read_branches(longer)] if longer else []
    return [choice.result() for choice in choices]


def _rounds(prompts: Sequence[Sequence[int]], common: int, cache: KVCache) -> Iterator[list[_Suffix]]:
    """The suffixes of the prompts, in order, in rounds that fit the forks and the cells of the cache."""
    suffixes: list[_Suffix] = []
    used = common
    for number, prompt in enumerate(prompts):
        need = len(prompt) - common + RESERVED_CELLS_PER_PROMPT
        if suffixes and (len(suffixes) == cache.forks or used + need > cache.size):
            yield suffixes
            suffixes, used = [], common
        suffixes.append(_Suffix(number, prompt[common:]))
        used += need
    yield suffixes
