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

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from localcrag.calibration.scale import Scale
from localcrag.errors import ModelError
from localcrag.llm.ctranslate_bert import converted, is_plain_bert
from localcrag.llm.lazy_model import LazyModel
from localcrag.llm.model_file_checks import require_evaluator
from localcrag.llm.pair_readers import (
    MAX_STEP_PAIRS,
    CTranslatePairReader,
    LlamaPairReader,
    PairReader,
    has_ctranslate,
)
from localcrag.made_once import read_or_remade
from localcrag.types import Thresholds, Tokens

if TYPE_CHECKING:
    from localcrag.calibration.calibration_file import Calibration
    from localcrag.llm.llama_backend import Model

_MIN_STEP_TOKENS, _MAX_WINDOW_TOKENS = 512, 4096
"""A step holds at least so many tokens, and a pair at most so many, whatever the model's window is."""


class GgufEvaluator(LazyModel["_LoadedEvaluator"]):
    """An :class:`~localcrag.protocols.Evaluator` over one GGUF file, which is loaded on first use.

    A pair that is longer than the model's window loses the end of its text, then of its query.
    Calls may come from several threads; one at a time is served.

    Args:
        path: the GGUF file of a cross-encoder with rank pooling.
        threads: the threads of a computation; None for :func:`~localcrag.llm.llama_backend.default_threads`.
        gpu_layers: the number of layers to put on a GPU; with any, llama.cpp computes.
        cache: the folder in which what is converted for CTranslate2 is kept; None for llama.cpp.

    Attributes:
        calibration: the calibration to use in place of the numbers in the file's metadata, or None.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        threads: int | None = None,
        gpu_layers: int = 0,
        cache: Path | None = None,
    ) -> None:
        super().__init__(path, require_evaluator)
        self._threads, self._gpu_layers, self._cache = threads, gpu_layers, cache
        self.calibration: Calibration | None = None
        self._earlier_tokens = 0
        self._score_memory = _ScoreMemory(0)

    @property
    def scale(self) -> Scale:
        """The temperature and bias in use: those of the calibration, else of the file."""
        return self.calibration.scale if self.calibration else self.own_scale

    @property
    def own_scale(self) -> Scale:
        """``localcrag.evaluator.temperature`` and ``.bias`` of the file's metadata, by default 1 and 0."""
        info = self.info
        return Scale(
            info.number("localcrag.evaluator.temperature", 1.0), info.number("localcrag.evaluator.bias", 0.0)
        )

    @property
    def thresholds(self) -> Thresholds:
        """The thresholds of the CRAG action: those of the calibration, else of the file's metadata.

        The keys there are ``localcrag.crag.upper`` and ``localcrag.crag.lower``, by default 0.5.
        """
        if self.calibration:
            return self.calibration.thresholds
        info = self.info
        return Thresholds(info.number("localcrag.crag.upper", 0.5), info.number("localcrag.crag.lower", 0.5))

    @property
    def tokens(self) -> Tokens:
        """The tokens read since the evaluator was made."""
        return Tokens(self._earlier_tokens + (self._resident.context.evaluated if self._resident else 0))

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """The probability that each text answers the query, in [0, 1].

        Raises ModelNotFound, ModelFileError, ModelError.
        """
        if not texts:
            return []
        scale = self.scale
        return [scale.of(number) for number in self.numbers(query, texts)]

    def numbers(self, query: str, texts: Sequence[str]) -> list[float]:
        """The model's raw number for each text, before calibration. Raises as :meth:`score` does."""
        with self._lock:
            found = self._score_memory.recall(query, texts)
            fresh = [at for at, number in enumerate(found) if number is None]
            if fresh:
                model, context, window = self._loaded()
                pairs = _Pairs(model, window).of(query, [texts[at] for at in fresh])
                for at, number in zip(fresh, context.rank(pairs), strict=True):
                    found[at] = number
            numbers = [math.nan if number is None else number for number in found]
            if not all(map(math.isfinite, numbers)):
                raise ModelError(
                    f"{self._path.name} gave a score that is no number.", hint="Use another evaluator."
                )
            self._score_memory.keep(query, [texts[at] for at in fresh], [numbers[at] for at in fresh])
        return numbers

    def remember(self, pairs: int) -> None:
        """Keep the numbers of the last ``pairs`` pairs, from now on and until the evaluator is closed.

        A pair whose number is kept is not read again and costs no tokens.
        """
        with self._lock:
            if self._score_memory.size != pairs:
                self._score_memory = _ScoreMemory(pairs)

    def _prepare_close(self) -> None:
        self._earlier_tokens = self.tokens.evaluated
        self._score_memory = _ScoreMemory(self._score_memory.size)

    def _load(self) -> _LoadedEvaluator:
        from localcrag.llm.llama_backend import Model, default_threads

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


class _ScoreMemory:
    """The numbers of the last ``size`` pairs asked for, by a digest; no text is kept."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._numbers: OrderedDict[bytes, float] = OrderedDict()

    def recall(self, query: str, texts: Sequence[str]) -> list[float | None]:
        """The number of each pair, None if it is not known."""
        if not self._numbers:
            return [None] * len(texts)
        keys = list(self._keys(query, texts))
        for key in self._numbers.keys() & keys:
            self._numbers.move_to_end(key)
        return [self._numbers.get(key) for key in keys]

    def keep(self, query: str, texts: Sequence[str], numbers: Sequence[float]) -> None:
        """Keep the numbers of these pairs, and drop those that were asked for longest ago."""
        if not self.size:
            return
        self._numbers.update(zip(self._keys(query, texts), numbers, strict=True))
        while len(self._numbers) > self.size:
            self._numbers.popitem(last=False)

    def _keys(self, query: str, texts: Sequence[str]) -> Iterator[bytes]:
        """The digest of each pair."""
        asked = blake2b(query.encode("utf-8", "surrogatepass"), digest_size=16)
        asked = blake2b(asked.digest(), digest_size=16)  # of fixed length, so that no two pairs coincide
        for text in texts:
            key = asked.copy()
            key.update(text.encode("utf-8", "surrogatepass"))
            yield key.digest()


class _Pairs:
    """Puts a query and a text together as token ids, at most ``window`` of them."""

    def __init__(self, model: Model, window: int) -> None:
        self._model, self._window = model, window
        self._template = model.template("rerank")

    def of(self, query: str, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of the pair of the query with each text. Raises ModelError."""
        asked = self._model.tokenize(query.strip(), special=False)
        return [self._pair(asked, self._model.tokenize(text.strip(), special=False)) for text in texts]

    def _pair(self, query: list[int], text: list[int]) -> list[int]:
        """One pair; if it is too long, first the text is cut, then the query."""
        before, between, after = self._frame()
        room = self._window - len(before) - len(between) - len(after)
        query = query[: max(room // 2, room - len(text))]
        return [*before, *query, *between, *text[: room - len(query)], *after]

    def _frame(self) -> tuple[list[int], list[int], list[int]]:
        """The special tokens before the query, between query and text, and after the text."""
        model = self._model
        if self._template:
            return self._template_frame()
        if model.wordpiece:  # [CLS] query [SEP] text [SEP], as BERT was trained, whatever the flags say
            return [model.first], [model.separator], [model.separator]
        end = [model.last if model.last >= 0 else model.separator] if model.ends_text else []
        between = [*end, *([model.separator] if model.separates else [])]
        return ([model.bos] if model.bos is not None else []), between, end

    def _template_frame(self) -> tuple[list[int], list[int], list[int]]:
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
        first, second, third = (
            self._model.tokenize(piece, special=True) for piece in (before, between, after)
        )
        return first, second, third
