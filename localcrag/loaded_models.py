"""The models of one configuration: found by name, loaded on first use, shared by the whole process."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.calibration.scale import Fusion, moved, rescaled
from localcrag.settings import ModelSettings
from localcrag.types import GraderKind, Thresholds

if TYPE_CHECKING:
    from localcrag.calibration.calibration_file import Calibration, Calibrations
    from localcrag.embedding.embedder import SentenceTransformerEmbedder
    from localcrag.llm.evaluator import LlamaCppEvaluator
    from localcrag.llm.language_model import LlamaCppModel

NO_EVALUATOR = "none"
"""The value of the setting ``model.evaluator`` if there is no evaluator."""
GRADERS_WITHOUT_EVALUATOR = (GraderKind.YESNO, GraderKind.RUBRIC)
"""The graders that use only the language model."""


@dataclass(frozen=True)
class LoadedModels:
    """The models of one configuration, each loaded on first use.

    ``home`` is the home folder of localcrag, with its models, caches and calibrations.
    """

    settings: ModelSettings
    home: Path

    @cached_property
    def embedder(self) -> SentenceTransformerEmbedder:
        """The embedding model."""
        from localcrag.embedding.embedder import SentenceTransformerEmbedder

        verified = self.home / "cache" / "verified.json"
        return SentenceTransformerEmbedder(self.settings.embedding, cache=verified)

    @cached_property
    def language_file(self) -> Path:
        """The GGUF file of the language model. Raises ModelNotFound."""
        return self._file(self.settings.language)

    @cached_property
    def language(self) -> LlamaCppModel:
        """The language model. Raises ModelNotFound."""
        from localcrag.llm.language_model import LlamaCppModel

        return LlamaCppModel(
            self.language_file,
            context=self.settings.context,
            threads=self.settings.threads or None,
            gpu_layers=self.settings.gpu_layers,
            cache_dir=self.home / "cache" / "constraints",
        )

    @cached_property
    def evaluator_file(self) -> Path:
        """The GGUF file of the evaluator. Raises ModelNotFound."""
        return self._file(self.settings.evaluator)

    @property
    def judges(self) -> bool:
        """Whether the configuration has an evaluator."""
        return self.settings.evaluator != NO_EVALUATOR

    @cached_property
    def evaluator(self) -> LlamaCppEvaluator | None:
        """The evaluator with its calibration, or None. Raises ModelNotFound, ModelFileError."""
        if not self.judges:
            return None
        from localcrag.llm.evaluator import LlamaCppEvaluator

        evaluator = LlamaCppEvaluator(self.evaluator_file)
        evaluator.calibration = self.calibration(GraderKind.EVALUATOR)
        return evaluator

    @property
    def fusion(self) -> tuple[Fusion, Thresholds] | None:
        """The fusion of language model and evaluator with its thresholds, or None if none was fitted.

        A fusion fitted to the user's own questions takes precedence over that in the file of the language
        model. It is converted from the evaluator's scale that it was fitted on to the scale in use.
        """
        if self.evaluator is None:
            return None
        if fitted := self.calibration(GraderKind.FUSED):
            fusion, scale, thresholds = Fusion(*fitted.weights), fitted.scale, fitted.thresholds
        elif own := self._fusion_of_file(self.evaluator.name):
            (fusion, thresholds), scale = own, self.evaluator.own_scale
        else:
            return None
        return rescaled(fusion, scale, self.evaluator.scale), thresholds

    @property
    def band(self) -> Thresholds | None:
        """The band of the cascade on the evaluator's P; None if none was fitted for these two models.

        It is converted from the evaluator's scale that it was fitted on to the scale in use.
        """
        if self.evaluator is None or (fitted := self.calibration(GraderKind.CASCADE)) is None:
            return None
        return moved(fitted.thresholds, fitted.scale, self.evaluator.scale)

    def _fusion_of_file(self, evaluator: str) -> tuple[Fusion, Thresholds] | None:
        """The fusion in the file of the language model, if it is for the evaluator of that name."""
        from localcrag.llm.gguf import read_metadata

        info = read_metadata(self.language_file)
        weights = info.numbers("localcrag.fusion.weights")
        if len(weights) != 4 or info.value("localcrag.fusion.evaluator", "") != evaluator:
            return None
        upper, lower = info.number("localcrag.crag.upper", 0.5), info.number("localcrag.crag.lower", 0.5)
        return Fusion(*weights), Thresholds(upper, lower)

    # ------------------------------------------------------------------------------ calibration

    def calibration(self, judge: GraderKind) -> Calibration | None:
        """The calibration of a judge with these models by the user's own questions, or None."""
        return self._calibrations.find(judge, _fingerprints(self.files(judge)))

    def calibrations(self) -> list[Calibration]:
        """All calibrations of judges with these models."""
        judges = [kind for kind in GraderKind if self.judges or kind in GRADERS_WITHOUT_EVALUATOR]
        return [fitted for fitted in map(self.calibration, judges) if fitted]

    def files(self, judge: GraderKind) -> list[Path]:
        """The model files that a judge uses: the evaluator's before the language model's."""
        if judge in GRADERS_WITHOUT_EVALUATOR:
            return [self.language_file]
        return [self.evaluator_file, *([self.language_file] if judge is not GraderKind.EVALUATOR else [])]

    def keep(self, fitted: Sequence[Calibration]) -> None:
        """Store calibrations of these models; the next grades use them."""
        self._calibrations.put(fitted)
        self._recalibrate()

    def forget(self) -> list[Calibration]:
        """Remove every calibration of a judge that uses one of these models; returns those removed."""
        files = [self.language_file, *([self.evaluator_file] if self.judges else [])]
        removed = self._calibrations.forget(_fingerprints(files))
        self._recalibrate()
        return removed

    @property
    def _calibrations(self) -> Calibrations:
        """The file of calibrations."""
        from localcrag.calibration.calibration_file import Calibrations

        return Calibrations(self.home)

    def _recalibrate(self) -> None:
        """Give the evaluator the calibration that is stored for it now."""
        if self.evaluator:
            self.evaluator.calibration = self.calibration(GraderKind.EVALUATOR)

    @cached_property
    def small(self) -> bool:
        """Whether the language model is the embedded one, which cannot write answers."""
        from localcrag.llm.registry import embedded_folder

        return self.language_file.parent == embedded_folder()

    def check(self) -> None:
        """Check the model files without loading them. Raises ModelNotFound, ModelFileError."""
        _ = self.language.info, self.evaluator and self.evaluator.info

    def close(self) -> None:
        """Free the memory of the language model and the evaluator; the next use loads them again."""
        for model in (vars(self).get("language"), vars(self).get("evaluator")):
            if model is not None:
                model.close()

    def warm(self, *others: Callable[[], object], answering: bool) -> None:
        """Load the models in parallel, and run ``others`` at the same time.

        Args:
            others: further work to do at the same time; its errors are raised.
            answering: load the language model too, which a search does not need.
        """
        work: list[Callable[[], object]] = [partial(self._load_llama, answering), self.embedder.warm, *others]
        with ThreadPoolExecutor(len(work)) as pool:
            loads = [pool.submit(load) for load in work]
        for load in loads:
            load.result()

    def _load_llama(self, answering: bool) -> None:
        """Load the evaluator, and the language model if an answer is needed, one after the other."""
        if answering:
            self.language.load()
        if self.evaluator:
            self.evaluator.load()

    def _file(self, name: str) -> Path:
        """The GGUF file of a model, by its name or path. Raises ModelNotFound."""
        from localcrag.llm.registry import Registry

        return Registry(self.home).resolve(name)


@lru_cache(maxsize=2)
def models_for(settings: ModelSettings, home: Path) -> LoadedModels:
    """The models of a configuration; the last two configurations keep their object."""
    return LoadedModels(settings, home)


def _fingerprints(files: Sequence[Path]) -> Iterator[str]:
    """The fingerprint of each model file, computed when it is needed.

    Raises ModelNotFound, ModelFileError.
    """
    from localcrag.llm.gguf import fingerprint

    return map(fingerprint, files)
