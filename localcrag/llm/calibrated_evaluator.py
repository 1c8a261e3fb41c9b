"""What all evaluators in GGUF files have in common: their numbers calibrated, counted and remembered."""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from localcrag.calibration.scale import Scale
from localcrag.errors import ModelError
from localcrag.llm.lazy_model import LazyModel
from localcrag.llm.model_file_checks import require_evaluator
from localcrag.types import Thresholds, Tokens

if TYPE_CHECKING:
    from localcrag.calibration.calibration_file import Calibration
    from localcrag.llm.pair_readers import PairReader


class LoadedEvaluator(Protocol):
    """A loaded evaluator."""

    @property
    def context(self) -> PairReader:
        """What computes the numbers."""
        ...

    def pairs(self, query: str, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of the pair of the query with each text. Raises ModelError."""
        ...

    def close(self) -> None:
        """Free its memory."""
        ...


class PairFrame(NamedTuple):
    """The special tokens before the query, between query and text, and after the text."""

    before: list[int]
    between: list[int]
    after: list[int]


def joined_pair(query: list[int], text: list[int], frame: PairFrame, window: int) -> list[int]:
    """One pair as token ids; if it is longer than the window, first the text is cut, then the query."""
    before, between, after = frame
    room = window - len(before) - len(between) - len(after)
    query = query[: max(room // 2, room - len(text))]
    return [*before, *query, *between, *text[: room - len(query)], *after]


E = TypeVar("E", bound=LoadedEvaluator)


class CalibratedEvaluator(LazyModel[E]):
    """An :class:`~localcrag.protocols.Evaluator` over one GGUF file, which is loaded on first use.

    A pair that is longer than the model's window loses the end of its text, then of its query.
    Calls may come from several threads; one at a time is served.

    Attributes:
        calibration: the calibration to use in place of the numbers in the file's metadata, or None.
    """

    multilingual = False

    def __init__(self, path: Path | str) -> None:
        super().__init__(path, require_evaluator)
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
                loaded = self._loaded()
                pairs = loaded.pairs(query, [texts[at] for at in fresh])
                for at, number in zip(fresh, loaded.context.rank(pairs), strict=True):
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
