"""The retrieval evaluator: a small cross-encoder GGUF with rank pooling.

It is computed by llama.cpp, or by CTranslate2 if that is installed and the model is a plain BERT
(:mod:`.ctranslate_bert`), which is some three times as fast.

It reads a query and a text together and gives one raw number; ``sigmoid(number / temperature + bias)``
is the probability that the text answers the query. Temperature, bias and the thresholds of the
CRAG action (arXiv 2401.15884, section 4.2) come from a calibration on the user's own questions if there
is one, else from the file's metadata if they are there. Any public reranker GGUF can be used: the pair is
put together as llama.cpp's own server does it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from localcrag.errors import ModelError
from localcrag.llm.calibrated_evaluator import CalibratedEvaluator, PairFrame, joined_pair
from localcrag.llm.ctranslate_bert import converted, is_plain_bert
from localcrag.llm.pair_readers import (
    MAX_STEP_PAIRS,
    CTranslatePairReader,
    LlamaPairReader,
    PairReader,
    has_ctranslate,
)
from localcrag.made_once import read_or_remade

if TYPE_CHECKING:
    from localcrag.llm.llama_model import Model

_MIN_STEP_TOKENS, _MAX_WINDOW_TOKENS = 512, 4096
"""A step holds at least so many tokens, and a pair at most so many, whatever the model's window is."""


class GgufEvaluator(CalibratedEvaluator["_LoadedEvaluator"]):
    """An evaluator that is whole in its file.

    Args:
        path: the GGUF file of a cross-encoder with rank pooling.
        threads: the threads of a computation; None for :func:`~localcrag.llm.llama_backend.default_threads`.
        gpu_layers: the number of layers to put on a GPU; with any, llama.cpp computes.
        cache: the folder in which what is converted for CTranslate2 is kept; None for llama.cpp.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        threads: int | None = None,
        gpu_layers: int = 0,
        cache: Path | None = None,
    ) -> None:
        super().__init__(path)
        self._threads, self._gpu_layers, self._cache = threads, gpu_layers, cache

    def _load(self) -> _LoadedEvaluator:
        from localcrag.llm.llama_backend import default_threads
        from localcrag.llm.llama_model import Model

        model = Model(self.info.path, gpu_layers=self._gpu_layers)
        window = min(self.info.context_train or 2 * _MIN_STEP_TOKENS, _MAX_WINDOW_TOKENS)
        threads = self._threads or default_threads()
        return _LoadedEvaluator(model, self._reader(model, window, threads), window)

    def _reader(self, model: Model, window: int, threads: int) -> PairReader:
        """What computes the numbers. Raises ModelError."""
        if self._cache and not self._gpu_layers and has_ctranslate() and is_plain_bert(self.info):
            with suppress(OSError):  # without a place to keep what is converted, llama.cpp judges
                return self._ctranslate_reader(self._cache, threads)
        from localcrag.llm.llama_context import Context, ContextSize

        step = max(_MIN_STEP_TOKENS, window)  # without a causal mask one step must hold a whole pair
        room = ContextSize(
            cells=step,
            sequences=MAX_STEP_PAIRS,
            batch=step,
            step=step,
            threads=threads,
            outputs=step,
            rank=True,
        )
        return LlamaPairReader(Context(model, room))

    def _ctranslate_reader(self, cache: Path, threads: int) -> CTranslatePairReader:
        """The converted evaluator; one that is damaged is made again. Raises OSError, ModelError."""
        return read_or_remade(
            lambda: converted(self.info, cache),
            lambda folder: CTranslatePairReader(folder, threads),
            damaged=ModelError,
        )


class _LoadedEvaluator(NamedTuple):
    """A loaded evaluator; ``window`` is the most tokens of a pair."""

    model: Model
    context: PairReader
    window: int

    def pairs(self, query: str, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of the pair of the query with each text. Raises ModelError."""
        return _Pairs(self.model, self.window).of(query, texts)

    def close(self) -> None:
        """Free its memory."""
        self.context.close()
        self.model.close()


class _Pairs:
    """Puts a query and a text together as token ids, at most ``window`` of them."""

    def __init__(self, model: Model, window: int) -> None:
        self._model, self._window = model, window
        self._template = model.template("rerank")

    def of(self, query: str, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of the pair of the query with each text. Raises ModelError."""
        asked = self._model.tokenize(query.strip(), special=False)
        frame = self._frame()
        return [
            joined_pair(asked, self._model.tokenize(text.strip(), special=False), frame, self._window)
            for text in texts
        ]

    def _frame(self) -> PairFrame:
        """The special tokens before the query, between query and text, and after the text."""
        model = self._model
        if self._template:
            return self._template_frame()
        if model.wordpiece:  # [CLS] query [SEP] text [SEP], as BERT was trained, whatever the flags say
            return PairFrame([model.first], [model.separator], [model.separator])
        end = [model.last if model.last >= 0 else model.separator] if model.ends_text else []
        between = [*end, *([model.separator] if model.separates else [])]
        return PairFrame([model.bos] if model.bos is not None else [], between, end)

    def _template_frame(self) -> PairFrame:
        """The tokens around query and text in the ``rerank`` template of a generative reranker.

        Raises ModelError if the template lacks a placeholder.
        """
        before, found, rest = self._template.partition("{query}")
        between, also, after = rest.partition("{document}")
        if not (found and also):
            raise ModelError(
                "The evaluator's rerank template has no places for query and document.",
                hint="Use another evaluator.",
            )
        pieces = (self._model.tokenize(piece, special=True) for piece in (before, between, after))
        return PairFrame(*pieces)
