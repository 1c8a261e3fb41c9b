"""The KV cache: the tokens that each of its sequences holds, so that no prefix is read twice.

Sequence 0, the trunk, holds the prompt that is being read or continued. Every other sequence is a fork:
it keeps one graded prompt, or a former trunk, as long as there is room; the oldest is forgotten first. A
new prompt continues the sequence that shares the longest prefix with it. So an answer that begins with a
passage continues the grading of that passage, and the passages of a question stay cached while it is
rewritten (the idea of SGLang's RadixAttention, arXiv 2312.07104, section 3, for the prompts of one
question). The record kept here and llama.cpp's cache are changed together; if an interrupt or an error
falls between the two, the next use starts from an empty cache.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, islice

from localcrag.llm.llama_backend import Row
from localcrag.llm.llama_context import Context, Span

Gaps = tuple[tuple[int, int], ...]
"""Positions [start, end) whose tokens were read and then forgotten, in order."""


@dataclass(frozen=True, slots=True)
class TokenizedPrompt:
    """A prompt as tokens, some of which may be forgotten again.

    Attributes:
        ids: the token ids.
        gaps: the positions to forget, once the first ``settled`` tokens are read; the rest of the prompt is
            read without attention to them.
        settled: the number of tokens to read before the gaps are forgotten.
    """

    ids: tuple[int, ...]
    gaps: Gaps = ()
    settled: int = 0


_MIN_KEPT_TOKENS = 64
"""A trunk that holds at least so many tokens that no fork holds is kept as a fork when it is replaced."""
_FORGOTTEN_CELL = -1
"""The cell number of a position in a gap."""


@dataclass(slots=True)
class _Sequence:
    """The tokens of a sequence by position, and the number of the cell of each."""

    tokens: list[int] = field(default_factory=list)
    cells: list[int] = field(default_factory=list)
    gaps: Gaps = ()

    def copy(self) -> _Sequence:
        """A copy that shares the cells."""
        return _Sequence(self.tokens.copy(), self.cells.copy(), self.gaps)

    def cut(self, length: int) -> None:
        """Drop the tokens from position ``length`` on."""
        del self.tokens[length:], self.cells[length:]
        self.gaps = tuple(gap for gap in self.gaps if gap[1] <= length)

    def forget_gaps(self, gaps: Gaps) -> None:
        """Record that the cells in these gaps are forgotten; their tokens stay listed."""
        for start, end in gaps:
            self.cells[start:end] = [_FORGOTTEN_CELL] * (end - start)
        self.gaps = gaps

    def prefix_length(self, tokens: Sequence[int], gaps: Gaps = ()) -> int:
        """The number of tokens at the beginning that this sequence holds with the same gaps."""
        common = common_prefix_length([self.tokens, tokens])
        if self.gaps == gaps:
            return common
        return min([common, *(start for start, _ in (*self.gaps, *gaps))])


class KVCache:
    """The sequences of one context: 0 is the trunk, 1 and above are forks.

    Args:
        context: the working memory of a loaded model.
        forgets_only_whole: whether a sequence can only be forgotten whole, as in a recurrent model. Then
            no fork outlives the reading of the next prompt, and gaps are not forgotten.
    """

    def __init__(self, context: Context, *, forgets_only_whole: bool) -> None:
        self._context, self._forgets_only_whole = context, forgets_only_whole
        self._trunk = _Sequence()
        self._forks: dict[int, _Sequence] = {}
        self._free = context.cells
        self._cell_numbers = count()
        self._broken = False
        self.epoch = 0
        """A number that changes whenever the trunk is made to hold another prompt."""
        self.extended = 0
        """The tokens read by :meth:`extend` and not taken back: those that the model wrote itself."""

    @property
    def forks(self) -> int:
        """The most forks that there can be at once."""
        return self._context.room.sequences - 1

    @property
    def size(self) -> int:
        """The number of cells."""
        return self._context.cells

    @property
    def held(self) -> Sequence[int]:
        """The tokens that the trunk holds."""
        return tuple(self._trunk.tokens)

    def forget(self) -> None:
        """Forget all sequences."""
        self.epoch += 1
        self._clear()

    def abandon(self) -> None:
        """Tell a text in progress, before the context is closed, that it must take nothing back in it."""
        self.epoch += 1

    def hold(self, tokens: Sequence[int]) -> None:
        """Make the trunk hold exactly these tokens; only those that no sequence holds are read."""
        self._hold(tokens, (), output=False)

    def read(self, prompt: TokenizedPrompt, *, alone: bool = False) -> Row:
        """Make the trunk hold the prompt; returns the logits after its last token, shape (vocabulary,).

        ``alone`` forgets all forks once the trunk has taken over the longest prefix: for each token that
        is written, llama.cpp looks at every cell in use, of whichever sequence, so a long text is written
        faster without them. A model that can only forget whole sequences still attends to the gaps.
        """
        gaps = () if self._forgets_only_whole else prompt.gaps
        if self._broken:
            self.forget()
        if gaps and not (
            self._trunk.gaps == gaps and self._trunk.prefix_length(prompt.ids, gaps) >= prompt.settled
        ):
            self._hold(prompt.ids[: prompt.settled], (), output=False, alone=alone)
            self._forget_gaps(gaps)
        return self._hold(prompt.ids, gaps, output=True, alone=alone)[0]

    def extend(self, tokens: Sequence[int]) -> list[Row]:
        """Read further tokens into the trunk; returns the logits after each, shape (vocabulary,)."""
        with self._consistent_change():
            start = len(self._trunk.tokens)
            self._make_room(len(tokens))
            rows = self._context.read([Span(0, start + i, [t], output=True) for i, t in enumerate(tokens)])
            self._record_tokens(self._trunk, tokens)
            self.extended += len(tokens)
        return rows

    def take_back(self, count: int) -> None:
        """Forget the last ``count`` tokens of the trunk, which were read by :meth:`extend`."""
        with self._consistent_change():
            self._cut_trunk(len(self._trunk.tokens) - count)
            self.extended -= count

    def read_branches(self, suffixes: Sequence[Sequence[int]]) -> list[tuple[int, Row]]:
        """Read continuations of the trunk side by side, each into a fork of it.

        Returns the number of each fork, and the logits after its last token, shape (vocabulary,).
        """
        with self._consistent_change():
            if self._forgets_only_whole:
                self._prune(len(self._forks))
            needed = sum(map(len, suffixes))
            self._prune(len(self._forks) + len(suffixes) - self.forks)
            self._make_room(needed)
            start = len(self._trunk.tokens)
            forks = list(islice(self._unused_sequences(), len(suffixes)))
            for fork in forks:
                self._fork(fork)
            spans = [
                Span(fork, start, suffix, output=True) for fork, suffix in zip(forks, suffixes, strict=True)
            ]
            rows = self._context.read(spans)
            for fork, suffix in zip(forks, suffixes, strict=True):
                self._record_tokens(self._forks[fork], suffix)
            return list(zip(forks, rows, strict=True))

    def peek(self, peeks: Sequence[tuple[int, Sequence[int]]]) -> list[Row]:
        """Read tokens at the end of forks and forget them again; returns the logits after each peek.

        A peek is (fork, tokens). It is not possible in models that can only forget whole sequences: read
        longer branches there instead.
        """
        with self._consistent_change():
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
        """Make the trunk hold these tokens; returns the last one's logits if ``output``, else nothing."""
        self.epoch += 1
        with self._consistent_change():
            self._switch_to_longest_prefix(tokens, gaps)
            if alone:
                self._prune(len(self._forks))
            common = self._trunk.prefix_length(tokens, gaps)
            if output:
                common = min(common, len(tokens) - 1)
            common = self._cut_trunk(common)
            fresh = tokens[common:]
            if not fresh:
                return []
            self._make_room(len(fresh))
            rows = self._context.read([Span(0, common, fresh, output=output)])
            self._record_tokens(self._trunk, fresh)
            return rows

    def _switch_to_longest_prefix(self, tokens: Sequence[int], gaps: Gaps) -> None:
        """Make the sequence with the longest common prefix the trunk, and keep the old trunk as a fork."""
        if self._forgets_only_whole:
            self._prune(len(self._forks))
            return
        here = self._trunk.prefix_length(tokens, gaps)
        there = {fork: sequence.prefix_length(tokens, gaps) for fork, sequence in self._forks.items()}
        best = max(there, key=there.__getitem__, default=0)
        better = best != 0 and there[best] > here
        self._keep_trunk(here, spare=best if better else 0)
        if better:
            self._context.cut(0)
            self._context.copy(best, 0)
            self._trunk = self._forks[best].copy()

    def _keep_trunk(self, common: int, *, spare: int) -> None:
        """Keep the trunk as a fork before it is cut to ``common`` tokens, if much of it is in no fork.

        If all forks are in use, the oldest one but ``spare`` is forgotten.
        """
        elsewhere = max((fork.prefix_length(self._trunk.tokens) for fork in self._forks.values()), default=0)
        if len(self._trunk.tokens) - max(common, elsewhere) < _MIN_KEPT_TOKENS:
            return
        if len(self._forks) == self.forks:
            self._forget_fork(next(fork for fork in self._forks if fork != spare))
        self._fork(next(self._unused_sequences()))

    def _forget_gaps(self, gaps: Gaps) -> None:
        """Forget these positions of the trunk."""
        with self._consistent_change():
            for start, end in gaps:
                self._context.cut(0, start, end)
            self._trunk.forget_gaps(gaps)

    def _cut_trunk(self, length: int) -> int:
        """Forget the trunk from a position on; returns how many tokens are left: 0 if it cannot be cut."""
        if length < len(self._trunk.tokens):
            if self._forgets_only_whole or not self._context.cut(0, length):
                self._clear()
                return 0
            self._trunk.cut(length)
        return length

    # -------------------------------------------------------------------------------- the forks

    def _unused_sequences(self) -> Iterator[int]:
        """The numbers that no fork has."""
        return (number for number in range(1, self.forks + 1) if number not in self._forks)

    def _fork(self, number: int) -> None:
        """Copy the trunk to the fork of this number."""
        self._context.copy(0, number)
        self._forks[number] = self._trunk.copy()

    def _forget_fork(self, number: int) -> None:
        """Forget the fork of this number."""
        self._context.cut(number)
        del self._forks[number]

    def _prune(self, number: int) -> None:
        """Forget so many of the oldest forks, none if the number is negative."""
        for fork in list(self._forks)[: max(0, number)]:
            self._forget_fork(fork)

    def _make_room(self, needed: int, sparing: Collection[int] = ()) -> None:
        """Take so many cells, if necessary by forgetting the oldest forks that are not in ``sparing``."""
        self._free -= needed
        while self._free < 0:
            used = {cell for held in (self._trunk, *self._forks.values()) for cell in held.cells}
            self._free = self.size - len(used - {_FORGOTTEN_CELL}) - needed
            oldest = next((fork for fork in self._forks if fork not in sparing), None)
            if self._free >= 0 or oldest is None:
                return
            self._forget_fork(oldest)

    def _record_tokens(self, sequence: _Sequence, tokens: Sequence[int]) -> None:
        """Add tokens that were read to the record of a sequence, each in a new cell."""
        sequence.tokens += tokens
        sequence.cells += (next(self._cell_numbers) for _ in tokens)

    def _clear(self) -> None:
        """Empty the context and the record of it."""
        self._context.clear()
        self._trunk, self._forks, self._free = _Sequence(), {}, self.size

    @contextmanager
    def _consistent_change(self) -> Iterator[None]:
        """Change cache and record in the block; the next change empties both if this one fails."""
        if self._broken:
            self._clear()
        self._broken = True
        yield
        self._broken = False


def common_prefix_length(lists: Sequence[Sequence[int]]) -> int:
    """The number of items at the beginning that all the lists have in common."""
    shortest = min(map(len, lists))
    for i in range(shortest):
        if any(other[i] != lists[0][i] for other in lists[1:]):
            return i
    return shortest
