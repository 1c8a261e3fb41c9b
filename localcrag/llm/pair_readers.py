"""What computes an evaluator's number for pairs of token ids: llama.cpp, or CTranslate2 where it can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from localcrag.bert_network import BertNetwork
from localcrag.errors import ModelError
from localcrag.llm.ctranslate_bert import CLASSIFIER

if TYPE_CHECKING:
    from localcrag.llm.llama_context import Context

MAX_STEP_PAIRS = 32
"""The most pairs that llama.cpp reads side by side in one step."""
_SHARED_STEP_TOKENS = 256
"""The most tokens of pairs that share a step. llama.cpp computes the attention of all tokens of a step to
all others and then masks those of another pair: two pairs of 250 tokens side by side took 1.11 times the
processor time of one after the other, while pairs of 30 tokens are slower (1.6 times) unless at least four
share a step."""
_RUNTIME_PACKAGES = ("ctranslate2", "gguf")


class PairReader(Protocol):
    """Computes one raw number for each pair."""

    @property
    def evaluated(self) -> int:
        """The tokens read so far."""
        ...

    def rank(self, pairs: Sequence[Sequence[int]]) -> list[float]:
        """The number of each pair of token ids, in order. Raises ModelError."""
        ...

    def close(self) -> None:
        """Free the memory."""
        ...


class LlamaPairReader:
    """A :class:`PairReader` over a context of llama.cpp with rank pooling."""

    def __init__(self, context: Context) -> None:
        self._context = context

    @property
    def evaluated(self) -> int:
        """The tokens read so far."""
        return self._context.evaluated

    def rank(self, pairs: Sequence[Sequence[int]]) -> list[float]:
        """The number of each pair, in order. Raises ModelError."""
        from localcrag.llm.llama_context import Span

        numbers = [0.0] * len(pairs)
        for step in _steps(pairs):
            spans = [Span(sequence, 0, list(pairs[at])) for sequence, at in enumerate(step)]
            for at, number in zip(step, self._context.rank(spans), strict=True):
                numbers[at] = number
        return numbers

    def close(self) -> None:
        """Free the memory."""
        self._context.close()


class CTranslatePairReader:
    """A :class:`PairReader` over an evaluator that :mod:`.ctranslate_bert` converted.

    Args:
        folder: what was converted; ModelError is raised if it cannot be loaded.
        threads: the pairs that are computed at a time.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        import numpy as np

        self.evaluated = 0
        try:
            self._network = BertNetwork(folder, threads)
            *weights, self._bias = np.load(folder / CLASSIFIER)
        except (RuntimeError, OSError, ValueError) as error:
            raise ModelError(f"{folder} is damaged.", hint="Remove it: it is made again.") from error
        self._weights = np.array(weights)

    def rank(self, pairs: Sequence[Sequence[int]]) -> list[float]:
        """The number of each pair, in order."""
        self.evaluated += sum(map(len, pairs))
        return self._network.each(pairs, self._number)

    def close(self) -> None:
        """End the threads and free the memory."""
        self._network.close()

    def _number(self, output: Any) -> float:
        import numpy as np

        return float(np.asarray(output.pooler_output)[0] @ self._weights + self._bias)


def has_ctranslate() -> bool:
    """Whether all that :mod:`.ctranslate_bert` and :class:`CTranslatePairReader` need is installed."""
    return all(find_spec(name) is not None for name in _RUNTIME_PACKAGES)


def _steps(pairs: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """The indices of the pairs of each step of llama.cpp, by length: one pair, or several short ones."""
    step: list[int] = []
    used = 0
    for number in sorted(range(len(pairs)), key=lambda at: len(pairs[at])):
        if step and (len(step) == MAX_STEP_PAIRS or used + len(pairs[number]) > _SHARED_STEP_TOKENS):
            yield step
            step, used = [], 0
        step.append(number)
        used += len(pairs[number])
    if step:
        yield step
