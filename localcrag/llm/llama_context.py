"""The working memory of a llama.cpp model: it reads tokens, and gives logits or ranks.

A :class:`Context` is freed by ``close()``, at the latest when it is collected. Ctrl-C ends a computation
within one graph node: it runs in a helper thread while the caller waits for it.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from localcrag.background import check_interruption
from localcrag.errors import ContextOverflow, ModelError
from localcrag.llm.llama_backend import (
    INTERRUPT_POLL_SECONDS,
    Row,
    error_lines,
    last_errors,
    llama,
    made_apart,
)
from localcrag.llm.llama_model import Model


@dataclass(frozen=True, slots=True)
class ContextSize:
    """The size of a context.

    Attributes:
        cells: the tokens that all sequences hold together.
        sequences: the number of sequences.
        batch: the most tokens handed to llama.cpp at once.
        step: the most tokens that it computes at once.
        threads: the threads of a computation.
        outputs: the most tokens of a batch whose output is wanted.
        rank: whether the output is the number of a reranker in place of logits.
    """

    cells: int
    sequences: int
    batch: int
    step: int
    threads: int
    outputs: int
    rank: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """Tokens to read into a sequence.

    Attributes:
        sequence: the number of the sequence.
        start: the position of the first token.
        tokens: the token ids.
        output: whether the logits after the last token are wanted.
    """

    sequence: int
    start: int
    tokens: Sequence[int]
    output: bool = False


class Context:
    """A model's working memory (KV cache), which reads tokens and gives logits.

    Args:
        model: the loaded model.
        room: the size of the memory; ModelError is raised if there is too little.

    Attributes:
        handle: llama.cpp's pointer.
        room: the size that was asked for.
        cells: the number of cells.
        evaluated: the tokens read since it was made.
    """

    def __init__(self, model: Model, room: ContextSize) -> None:
        self._abort = ctypes.create_string_buffer(b"0")
        self._stop = ctypes.cast(ctypes.CDLL(None).atoi, llama.ggml_abort_callback)
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="llama")
        params = self._params(room)
        self.handle = made_apart(
            self._pool,
            lambda: llama.llama_init_from_model(model.handle, params),
            llama.llama_free,
            end=lambda: None,
        )
        if not self.handle:
            raise ModelError(
                f"llama.cpp cannot make a context of {room.cells} tokens{last_errors()}.",
                hint="Ask for a smaller context, or close other programs.",
            )
        self._batch = llama.llama_batch_init(room.batch, 0, 1)
        self._free = weakref.finalize(self, _free_context, self.handle, self._batch, self._pool)
        self._memory = llama.llama_get_memory(self.handle)
        self._vocabulary, self.room = model.size, room
        if model.adapter is not None:
            self._use(model.adapter)
        self.cells: int = min(llama.llama_n_ctx(self.handle), room.cells)  # llama.cpp rounds up
        self.evaluated = 0

    def _params(self, room: ContextSize) -> llama.llama_context_params:
        """llama.cpp's parameters for a context of this size."""
        params: llama.llama_context_params = llama.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = room.cells, room.batch, room.step
        params.n_seq_max, params.kv_unified = room.sequences, True
        # Without a bound on outputs, the graph is planned for a row of logits per token of a step.
        params.n_outputs_max = params.n_outputs_max_per_seq = room.outputs
        params.n_threads = params.n_threads_batch = room.threads
        params.swa_full = True  # a sliding window's cells stay, so that sequences can be copied and cut
        params.abort_callback = self._stop
        params.abort_callback_data = ctypes.cast(self._abort, ctypes.c_void_p)
        if room.rank:
            params.embeddings, params.pooling_type = True, llama.LLAMA_POOLING_TYPE_RANK
        return params

    def _use(self, adapter: Any) -> None:
        """Compute with an adapter at its full scale. Raises ModelError."""
        adapters = (llama.llama_adapter_lora_p_ctypes * 1)(adapter)
        scales = (ctypes.c_float * 1)(1.0)
        if llama.llama_set_adapters_lora(self.handle, adapters, 1, scales):
            self.close()
            raise ModelError(f"llama.cpp cannot use the adapter{last_errors()}.", hint="Take --adapter none.")

    def close(self) -> None:
        """Free the memory, after the computation under way."""
        self._free()

    # ---------------------------------------------------------------------------------- memory

    def clear(self) -> None:
        """Forget all sequences."""
        llama.llama_memory_clear(self._memory, False)

    def copy(self, source: int, target: int) -> None:
        """Copy the sequence ``source`` to the empty sequence ``target``; attention cells are shared."""
        llama.llama_memory_seq_cp(self._memory, source, target, -1, -1)

    def cut(self, sequence: int, start: int = -1, end: int = -1) -> bool:
        """Forget the positions [start, end) of a sequence, by default all of them.

        Returns False if the model can only forget the whole sequence.
        """
        return bool(llama.llama_memory_seq_rm(self._memory, sequence, start, end))

    # --------------------------------------------------------------------------------- reading

    def read(self, spans: Sequence[Span]) -> list[Row]:
        """Read spans in as few batches as fit; returns the logits of each that wants an output, in order.

        Raises ContextOverflow, ModelError.
        """
        rows: list[Row] = []
        for batch in self._batches(spans):
            self._decode(batch)
            for at, (*_, output) in enumerate(batch):
                if output:
                    row = llama.llama_get_logits_ith(self.handle, at)
                    rows.append(np.ctypeslib.as_array(row, (self._vocabulary,)).copy())
        return rows

    def rank(self, spans: Sequence[Span]) -> list[float]:
        """The reranker's number for each span, each a sequence of its own; together they must fit one step.

        Raises ContextOverflow, ModelError.
        """
        self._read_whole(spans)
        return [float(llama.llama_get_embeddings_seq(self.handle, span.sequence)[0]) for span in spans]

    def _read_whole(self, spans: Sequence[Span]) -> None:
        """Read spans in one step, each as a sequence of its own, with an output for every token."""
        self.clear()
        self._decode(
            [(t, span.start + i, span.sequence, True) for span in spans for i, t in enumerate(span.tokens)]
        )

    def _batches(self, spans: Iterable[Span]) -> Iterator[list[tuple[int, int, int, bool]]]:
        """The tokens of the spans in batches of (token, position, sequence, output)."""
        batch: list[tuple[int, int, int, bool]] = []
        outputs = 0
        for span in spans:
            last = len(span.tokens) - 1
            for i, token in enumerate(span.tokens):
                output = span.output and i == last
                if len(batch) == self.room.batch or outputs + output > self.room.outputs:
                    yield batch
                    batch, outputs = [], 0
                batch.append((token, span.start + i, span.sequence, output))
                outputs += output
        if batch:
            yield batch

    def _decode(self, tokens: Sequence[tuple[int, int, int, bool]]) -> None:
        """Compute one batch of (token, position, sequence, output). Raises ContextOverflow, ModelError."""
        batch = self._batch
        batch.n_tokens = len(tokens)
        for i, (token, position, sequence, output) in enumerate(tokens):
            batch.token[i] = token
            batch.pos[i] = position
            batch.n_seq_id[i] = 1
            batch.seq_id[i][0] = sequence
            batch.logits[i] = output
        error_lines.clear()
        code = self._interruptible()
        if code == 1:
            raise ContextOverflow(
                f"The context of {self.cells} tokens has no room for {len(tokens)} more.",
                hint="Ask for a larger context.",
            )
        if code != 0:
            raise ModelError(
                f"llama.cpp failed to read {len(tokens)} tokens (code {code}){last_errors()}.",
                hint="Ask for a smaller context, or close other programs.",
            )
        self.evaluated += len(tokens)

    def _interruptible(self) -> int:
        """Run llama_decode in a helper thread; an interrupt of the caller ends it and is passed on.

        llama.cpp calls its abort callback between graph nodes. A Python callback could swallow the
        interrupt, so the callback is C's ``atoi`` on a string that is "0" until the computation must end.
        """
        try:
            work = self._pool.submit(llama.llama_decode, self.handle, self._batch)
            while True:
                try:
                    return int(work.result(timeout=INTERRUPT_POLL_SECONDS))
                except TimeoutError:
                    check_interruption()
        except BaseException:
            # The interrupt may have come before submit returned, so the thread itself is waited for.
            self._abort.value = b"1"
            self._pool.submit(int).result()
            self._abort.value = b"0"
            raise


def _free_context(handle: object, batch: object, pool: ThreadPoolExecutor) -> None:
    """Free a context once its computation has ended."""
    pool.shutdown(wait=True)
    llama.llama_batch_free(batch)
    llama.llama_free(handle)
