"""What each sequence of a KV cache holds, so that nothing is read twice.

Sequence 0, the trunk, holds the prompt that is being read or written on. Every other sequence is a
fork: it keeps the end of one graded prompt, or a trunk that had to give way, as long as there is
room; the oldest goes first. A new prompt goes on from the sequence that has most of its beginning.
So an answer that begins with a passage goes on from the grading of that passage, and the passages of
a question outlive the rewriting of it (the idea of SGLang's prefix tree, arXiv 2312.07104, section 3,
for the prompts of one question). Bookkeeping and cache are changed together; if an interrupt or an
error falls between the two, the next use starts from an empty cache.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, islice

from localcrag.llm.llama_backend import Context, Row, Span

Gaps = tuple[tuple[int, int], ...]
"""Positions [start, end) whose tokens were read and then forgotten, in order."""


@dataclass(frozen=True, slots=True)
class TokenizedPrompt:
    """A prompt as tokens. Once the first ``settled`` of them are read, those in ``gaps`` are forgotten,
    and the rest is read without sight of them.
    """

    ids: tuple[int, ...]
    gaps: Gaps = ()
    settled: int = 0


_MIN_TOKENS_WORTH_KEEPING = 64
"""Tokens that only the trunk holds, from which on it is kept as a fork when it gives way."""
_TAKEN_BACK = -1


@dataclass(slots=True)
class _Sequence:
    """Tokens by position, and the number of the cell that each lies in."""

    tokens: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    gaps: Gaps = ()

    def copy(self) -> _Sequence:
        return _Sequence(self.tokens.copy(), self.cells.copy(), self.gaps)

    def cut(self, length: int) -> None:
        del self.tokens[length:], self.cells[length:]
        self.gaps = tuple(gap for gap in self.gaps if gap[1] <= length)

    def open(self, gaps: Gaps) -> None:
        for start, end in gaps:
            self.cells[start:end] = [_TAKEN_BACK] * (end - start)
        self.gaps = gaps

    def beginning(self, tokens: Sequence[int], gaps: Gaps = ()) -> int:
        """How many of the tokens, with these gaps, are here already."""
        common = common_beginning([self.tokens, tokens])
        if self.gaps == gaps:
            return common
        return min([common, *(start for start, _ in (*self.gaps, *gaps))])


class KVCache:
    """The cells of one context, by sequence: 0 is the trunk, 1 and up are forks."""

    def __init__(self, context: Context, *, forgets_only_whole: bool) -> None:
        self._context, self._forgets_only_whole = context, forgets_only_whole
        self._trunk = _Sequence()
        self._forks: dict[int, _Sequence] = {}
        self._free = context.cells
        self._numbers = count()
        self._broken = False
        self.epoch = 0
        """Changes whenever the trunk is made to hold something else than what was extended."""
        self.extended = 0
        """Tokens read by :meth:`extend` and not taken back: those that the model wrote itself."""

    @property
    def forks(self) -> int:
        """How many forks there can be at once."""
        return self._context.room.sequences - 1

    @property
    def size(self) -> int:
        return self._context.cells

    @property
    def held(self) -> Sequence[int]:
        """The tokens that the trunk holds."""
        return tuple(self._trunk.tokens)

    def forget(self) -> None:
        """Empty everything."""
        self.epoch += 1
        self._clear()

    def abandon(self) -> None:
        """The context is about to be closed: whoever was writing has nothing to take back in it."""
        self.epoch += 1

    def hold(self, tokens: Sequence[int]) -> None:
        """Make the trunk hold exactly these tokens; only what is not held yet is read."""
        self._hold(tokens, (), output=False)

    def read(self, prompt: TokenizedPrompt, *, alone: bool = False) -> Row:
        """Make the trunk hold the prompt; the logits after its last token, shape (vocabulary,).

        ``alone`` forgets the forks that it does not go on from: llama.cpp looks at every cell in use for
        each token that is written, whosever it is, so a long text is written faster without them. A model
        that forgets only the whole of a sequence keeps sight of what lies in the gaps.
        """
        gaps = () if self._forgets_only_whole else prompt.gaps
        if self._broken:
            self.forget()
        if gaps and not (
            self._trunk.gaps == gaps and self._trunk.beginning(prompt.ids, gaps) >= prompt.settled
        ):
            self._hold(prompt.ids[: prompt.settled], (), output=False, alone=alone)
            self._open(gaps)
        return self._hold(prompt.ids, gaps, output=True, alone=alone)[0]

    def extend(self, tokens: Sequence[int]) -> list[Row]:
        """Read further tokens into the trunk; the logits after each."""
        with self._together():
            start = len(self._trunk.tokens)
            self._make_room(len(tokens))
            rows = self._context.read([Span(0, start + i, [t], output=True) for i, t in enumerate(tokens)])
            self._note(self._trunk, tokens)
            self.extended += len(tokens)
        return rows

    def take_back(self, count: int) -> None:
        """Forget the last tokens of the trunk, which were not what the model wrote."""
        with self._together():
            self._cut_trunk(len(self._trunk.tokens) - count)
            self.extended -= count

    def read_branches(self, suffixes: Sequence[Sequence[int]]) -> list[tuple[int, Row]]:
        """Read suffixes of the trunk side by side; each one's fork, and the logits after its last token."""
        with self._together():
            if self._forgets_only_whole:
                self._prune(len(self._forks))
            needed = sum(map(len, suffixes))
            self._prune(len(self._forks) + len(suffixes) - self.forks)
            self._make_room(needed)
            start = len(self._trunk.tokens)
            seats = list(islice(self._unused(), len(suffixes)))
            for fork in seats:
                self._fork(fork)
            spans = [
                Span(fork, start, suffix, output=True) for fork, suffix in zip(seats, suffixes, strict=True)
            ]
            rows = self._context.read(spans)
            for fork, suffix in zip(seats, suffixes, strict=True):
                self._note(self._forks[fork], suffix)
            return list(zip(seats, rows, strict=True))

    def peek(self, peeks: Sequence[tuple[int, Sequence[int]]]) -> list[Row]:
        """Read tokens at the end of forks, take them back, and return the logits after each.

        A peek is (fork, tokens). Not for models that forget only the whole of a sequence: read a
        longer branch instead.
        """
        with self._together():
            ends = [len(self._forks[fork].tokens) for fork, _ in peeks]
            needed = sum(len(tokens) for _, tokens in peeks)
            self._make_room(needed, sparing={fork for fork, _ in peeks})
            rows = self._context.read(
                [
                    Span(fork, end, tokens, output=True)
                    for (fork, tokens), end in zip(peeks, ends, strict=True)
                ]
            )
            for (fork, _), end in zip(peeks, ends, strict=True):
                self._context.cut(fork, end)
            self._free += needed
            return rows

    # -------------------------------------------------------------------------------- the trunk

    def _hold(self, tokens: Sequence[int], gaps: Gaps, *, output: bool, alone: bool = False) -> list[Row]:
        self.epoch += 1
        with self._together():
            self._go_on_from_best(tokens, gaps)
            if alone:
                self._prune(len(self._forks))
            common = self._trunk.beginning(tokens, gaps)
            if output:
                common = min(common, len(tokens) - 1)
            common = self._cut_trunk(common)
            fresh = tokens[common:]
            if not fresh:
                return []
            self._make_room(len(fresh))
            rows = self._context.read([Span(0, common, fresh, output=output)])
            self._note(self._trunk, fresh)
            return rows

    def _go_on_from_best(self, tokens: Sequence[int], gaps: Gaps) -> None:
        """Make the sequence that has most of the tokens' beginning the trunk, and keep what it was."""
        if self._forgets_only_whole:
            self._prune(len(self._forks))
            return
        here = self._trunk.beginning(tokens, gaps)
        there = {fork: sequence.beginning(tokens, gaps) for fork, sequence in self._forks.items()}
        best = max(there, key=there.__getitem__, default=0)
        better = best != 0 and there[best] > here
        self._keep_trunk(here, spare=best if better else 0)
        if better:
            self._context.cut(0)
            self._context.copy(best, 0)
            self._trunk = self._forks[best].copy()

    def _keep_trunk(self, common: int, *, spare: int) -> None:
        """Before all but the trunk's beginning goes: keep it as a fork, where much of it is nowhere else."""
        elsewhere = max((fork.beginning(self._trunk.tokens) for fork in self._forks.values()), default=0)
        if len(self._trunk.tokens) - max(common, elsewhere) < _MIN_TOKENS_WORTH_KEEPING:
            return
        if len(self._forks) == self.forks:
            self._forget_fork(next(fork for fork in self._forks if fork != spare))
        self._fork(next(self._unused()))

    def _open(self, gaps: Gaps) -> None:
        with self._together():
            for start, end in gaps:
                self._context.cut(0, start, end)
            self._trunk.open(gaps)

    def _cut_trunk(self, length: int) -> int:
        """Forget the trunk from a position on; returns how many tokens are left, 0 where it cannot be cut."""
        if length < len(self._trunk.tokens):
            if self._forgets_only_whole or not self._context.cut(0, length):
                self._clear()
                return 0
            self._trunk.cut(length)
        return length

    # ------------------------------------------------------------------------------- the others

    def _unused(self) -> Iterator[int]:
        """The sequences that are no forks."""
        return (number for number in range(1, self.forks + 1) if number not in self._forks)

    def _fork(self, number: int) -> None:
        self._context.copy(0, number)
        self._forks[number] = self._trunk.copy()

    def _forget_fork(self, number: int) -> None:
        self._context.cut(number)
        del self._forks[number]

    def _prune(self, number: int) -> None:
        """Forget the oldest forks."""
        for fork in list(self._forks)[: max(0, number)]:
            self._forget_fork(fork)

    def _make_room(self, needed: int, sparing: Collection[int] = ()) -> None:
        """See that so many cells are free, if need be by forgetting the oldest forks."""
        self._free -= needed
        while self._free < 0:
            used = {cell for held in (self._trunk, *self._forks.values()) for cell in held.cells}
            self._free = self.size - len(used - {_TAKEN_BACK}) - needed
            oldest = next((fork for fork in self._forks if fork not in sparing), None)
            if self._free >= 0 or oldest is None:
                return
            self._forget_fork(oldest)

    def _note(self, sequence: _Sequence, tokens: Sequence[int]) -> None:
        sequence.tokens += tokens
        sequence.cells += (next(self._numbers) for _ in tokens)

    def _clear(self) -> None:
        self._context.clear()
        self._trunk, self._forks, self._free = _Sequence(), {}, self.size

    @contextmanager
    def _together(self) -> Iterator[None]:
        if self._broken:
            self._clear()
        self._broken = True
        yield
        self._broken = False


def common_beginning(lists: Sequence[Sequence[int]]) -> int:
    """How many items all the lists begin with in common."""
    shortest = min(map(len, lists))
    for i in range(shortest):
        if any(other[i] != lists[0][i] for other in lists[1:]):
            return i
    return shortest
