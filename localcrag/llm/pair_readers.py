"""What computes an evaluator's number for pairs of token ids: llama.cpp, or ONNX Runtime where it can."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from localcrag.errors import ModelError
from localcrag.llm.onnx_graph import IDS, NUMBER, POSITIONS

if TYPE_CHECKING:
    from localcrag.llm.llama_context import Context

MAX_STEP_PAIRS = 32
"""The most pairs that llama.cpp reads side by side in one step."""
_SHARED_STEP_TOKENS = 256
"""The most tokens of pairs that share a step. llama.cpp computes the attention of all tokens of a step to
all others and then masks those of another pair: two pairs of 250 tokens side by side took 1.11 times the
processor time of one after the other, while pairs of 30 tokens are slower (1.6 times) unless at least four
share a step."""
_ERRORS_ONLY = 3
"""ONNX Runtime's level of what it writes to stderr."""
_RUNTIME_PACKAGES = ("onnxruntime", "onnx", "gguf")


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


class OnnxPairReader:
    """A :class:`PairReader` over a graph of :mod:`.onnx_graph`.

    Each pair is computed by itself on one thread, several at a time: so its number does not depend on the
    pairs beside it, whose largest values would change how it is quantised, and no thread waits for another.

    Args:
        file: the ONNX file; ModelError is raised if it cannot be loaded.
        threads: the pairs that are computed at a time.
    """

    def __init__(self, file: Path, threads: int) -> None:
        from onnxruntime.capi import onnxruntime_pybind11_state as runtime
        from onnxruntime.capi.onnxruntime_inference_collection import InferenceSession

        runtime.disable_telemetry_events()
        self.evaluated = 0
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        failures = (runtime.Fail, runtime.InvalidGraph, runtime.InvalidProtobuf, runtime.NoSuchFile)
        try:
            self._session = InferenceSession(file, options, providers=["CPUExecutionProvider"])
        except failures as error:
            raise ModelError(f"{file} is damaged.", hint="Remove it: it is made again.") from error
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="evaluator") if threads > 1 else None

    def rank(self, pairs: Sequence[Sequence[int]]) -> list[float]:
        """The number of each pair, in order."""
        self.evaluated += sum(map(len, pairs))
        if self._threads is None:
            return list(map(self._number, pairs))
        order = sorted(range(len(pairs)), key=lambda at: -len(pairs[at]))  # the long ones are begun first
        running = {at: self._threads.submit(self._number, pairs[at]) for at in order}
        try:
            return [running[at].result() for at in range(len(pairs))]
        finally:
            for future in running.values():
                future.cancel()

    def close(self) -> None:
        """End the threads."""
        if self._threads:
            self._threads.shutdown(cancel_futures=True)

    def _number(self, pair: Sequence[int]) -> float:
        import numpy as np

        ids = np.array([pair], np.int64)
        [numbers] = self._session.run([NUMBER], {IDS: ids, POSITIONS: np.arange(len(pair))[None]})
        return float(np.asarray(numbers)[0, 0])


def has_onnx_runtime() -> bool:
    """Whether all that :mod:`.onnx_graph` and :class:`OnnxPairReader` need is installed."""
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
