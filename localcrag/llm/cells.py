"""What each sequence of a context holds, so that nothing is read twice.

Sequence 0 keeps the last prompt: the next one goes on from their common beginning. Other sequences
are forks of it. Bookkeeping and cache are changed together; where an interrupt or an error falls
between the two, the next use starts from an empty cache.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from localcrag.llm.runtime import Context, Row, Span


class Cells:
    """The cells of one context, by sequence: 0 is the trunk, 1 and up are forks."""

    def __init__(self, context: Context, *, forgets_only_whole: bool) -> None:
        self._context, self._forgets_only_whole = context, forgets_only_whole
        self._trunk: list[int] = []
        self._broken = False
        self.epoch = 0
        """Changes whenever the trunk is made to hold something else than what was extended."""
        self.extended = 0
        """Tokens read by :meth:`extend`: those that the model wrote itself."""

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
        return tuple(self._trunk)

    def hold(self, tokens: Sequence[int]) -> None:
        """Make the trunk hold exactly these tokens; only what it does not hold yet is read."""
        self._hold(tokens, output=False)

    def read(self, tokens: Sequence[int]) -> Row:
        """The same, and the logits after the last token, shape (vocabulary,)."""
        return self._hold(tokens, output=True)[0]

    def extend(self, tokens: Sequence[int]) -> Row:
        """Read further tokens into the trunk; the logits after the last."""
        with self._together():
            rows = self._context.read([Span(0, len(self._trunk), tokens, output=True)])
            self._trunk += tokens
            self.extended += len(tokens)
        return rows[0]

    def branches(self, suffixes: Sequence[Sequence[int]]) -> list[Row]:
        """Read suffixes of the trunk side by side, each into a fork (1, 2, …) of its own.

        Returns the logits after each suffix's last token. The forks stay until :meth:`prune`.
        """
        with self._together():
            for fork in range(1, len(suffixes) + 1):
                self._context.cut(fork)
                self._context.copy(0, fork)
            start = len(self._trunk)
            return self._context.read(
                [Span(i, start, s, output=True) for i, s in enumerate(suffixes, start=1)]
            )

    def twigs(self, twigs: Sequence[tuple[int, int, Sequence[int]]]) -> list[Row]:
        """Read tokens at the end of forks, take them back, and return the logits after each.

        A twig is (fork, the length of the fork's suffix, tokens). Not for models that forget only
        the whole of a sequence: read a longer branch instead.
        """
        with self._together():
            start = len(self._trunk)
            rows = self._context.read(
                [Span(f, start + length, tokens, output=True) for f, length, tokens in twigs]
            )
            for fork, length, _ in twigs:
                self._context.cut(fork, start + length)
            return rows

    def prune(self) -> None:
        """Forget the forks; the trunk stays."""
        with self._together():
            for fork in range(1, self.forks + 1):
                self._context.cut(fork)

    def _hold(self, tokens: Sequence[int], *, output: bool) -> list[Row]:
        self.epoch += 1
        with self._together():
            common = common_beginning([self._trunk, tokens])
            if output:
                common = min(common, len(tokens) - 1)
            if common < len(self._trunk) and not self._cut_trunk(common):
                common = 0
            del self._trunk[common:]
            fresh = tokens[common:]
            rows = self._context.read([Span(0, common, fresh, output=output)]) if fresh else []
            self._trunk += fresh
            return rows

    def _cut_trunk(self, length: int) -> bool:
        if not self._forgets_only_whole and self._context.cut(0, length):
            return True
        self._context.clear()
        return False

    @contextmanager
    def _together(self) -> Iterator[None]:
        if self._broken:
            self._context.clear()
            self._trunk.clear()
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
