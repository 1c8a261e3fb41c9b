"""What each sequence of a context holds, so that nothing is read twice.

Sequence 0, the trunk, keeps the last prompt: the next one goes on from their common beginning. Other
sequences are forks of it; they are kept until the next prompt comes, and where one of them has more
of that prompt's beginning than the trunk, it becomes the trunk. So an answer that begins with a
passage goes on from the grading of that passage (the idea of SGLang's prefix tree, arXiv 2312.07104,
section 3, for the prompts of one question). Bookkeeping and cache are changed together; where an
interrupt or an error falls between the two, the next use starts from an empty cache.
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
        self._forks: list[Sequence[int]] = []
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
        return tuple(self._trunk)

    def hold(self, tokens: Sequence[int]) -> None:
        """Make the trunk hold exactly these tokens; only what it does not hold yet is read."""
        self._hold(tokens, output=False)

    def read(self, tokens: Sequence[int]) -> Row:
        """The same, and the logits after the last token, shape (vocabulary,)."""
        return self._hold(tokens, output=True)[0]

    def extend(self, tokens: Sequence[int]) -> list[Row]:
        """Read further tokens into the trunk; the logits after each."""
        with self._together():
            start = len(self._trunk)
            spans = [Span(0, start + i, [token], output=True) for i, token in enumerate(tokens)]
            rows = self._context.read(spans)
            self._trunk += tokens
            self.extended += len(tokens)
        return rows

    def take_back(self, count: int) -> None:
        """Forget the last tokens of the trunk, which were not what the model wrote."""
        with self._together():
            if not self._cut_trunk(len(self._trunk) - count):
                self._trunk.clear()
            else:
                del self._trunk[-count:]
            self.extended -= count

    def branches(self, suffixes: Sequence[Sequence[int]]) -> list[Row]:
        """Read suffixes of the trunk side by side, each into a fork (1, 2, …) of its own.

        Returns the logits after each suffix's last token. The forks of an earlier call are gone.
        """
        with self._together():
            self._prune()
            for fork in range(1, len(suffixes) + 1):
                self._context.copy(0, fork)
            start = len(self._trunk)
            rows = self._context.read(
                [Span(i, start, s, output=True) for i, s in enumerate(suffixes, start=1)]
            )
            self._forks = list(suffixes)
            return rows

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

    def _hold(self, tokens: Sequence[int], *, output: bool) -> list[Row]:
        self.epoch += 1
        with self._together():
            self._adopt(tokens)
            self._prune()
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

    def _adopt(self, tokens: Sequence[int]) -> None:
        """Let the fork that has most of the tokens' beginning be the trunk, if it has more than the trunk."""
        start = len(self._trunk)
        if self._forgets_only_whole or list(tokens[:start]) != self._trunk:
            return
        rest = tokens[start:]
        shared = [common_beginning([suffix, rest]) for suffix in self._forks]
        if not any(shared):
            return
        best = max(range(len(shared)), key=shared.__getitem__)
        self._context.cut(0)
        self._context.copy(best + 1, 0)
        self._trunk += self._forks[best]

    def _prune(self) -> None:
        """Forget the forks; the trunk stays."""
        for fork in range(1, len(self._forks) + 1):
            self._context.cut(fork)
        self._forks = []

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
            self._forks = []
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
