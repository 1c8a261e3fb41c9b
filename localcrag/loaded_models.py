"""The models of one configuration: found by name, loaded on first use, shared by the whole process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, fields
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.calibration.scale import Fusion, StripFusion, moved, rescaled
from localcrag.configured_models import MULTILINGUAL, ConfiguredModels, teacher_of
from localcrag.events import Advanced
from localcrag.model_address import ModelAddress
from localcrag.settings import ModelSettings
from localcrag.types import GraderKind, Thresholds

if TYPE_CHECKING:
    from localcrag.calibration.calibration_file import Calibration, Calibrations
    from localcrag.embedding.embedder import SentenceTransformerEmbedder
    from localcrag.embedding.multilingual_embedder import MultilingualEmbedder
    from localcrag.embedding.static_embedder import StaticEmbedder
    from localcrag.fitness.fitness_result import FitnessResult
    from localcrag.fitness.fitness_results_folder import FitnessResults
    from localcrag.llm.evaluator import GgufEvaluator
    from localcrag.llm.evaluator_by_language import EvaluatorByLanguage
    from localcrag.llm.gguf import GgufInfo
    from localcrag.llm.language_model import LlamaCppModel
    from localcrag.llm.multilingual_evaluator import MultilingualEvaluator
    from localcrag.model_server.served_model import ServedModel

GRADERS_WITHOUT_EVALUATOR = (GraderKind.YESNO, GraderKind.RUBRIC)
"""The graders that use only the language model."""


@dataclass(frozen=True)
class LoadedModels(ConfiguredModels):
    """The models of one configuration, each loaded on first use."""

    @cached_property
    def embedder(self) -> SentenceTransformerEmbedder | MultilingualEmbedder | StaticEmbedder:
        """The embedding model."""
        if self.settings.embedding == MULTILINGUAL:
            from localcrag.embedding.multilingual_embedder import MultilingualEmbedder

            return MultilingualEmbedder(self.home / "cache" / "models", threads=self.settings.threads or None)
        from localcrag.embedding.embedder import SentenceTransformerEmbedder

        teacher = teacher_of(self.settings.embedding)
        embedder = SentenceTransformerEmbedder(
            teacher or self.settings.embedding,
            cache=self.home / "cache",
            threads=self.settings.threads or None,
        )
        if teacher is None:
            return embedder
        from localcrag.embedding.static_embedder import StaticEmbedder

        return StaticEmbedder(embedder, self.home / "cache" / "models")

    @property
    def teacher(self) -> SentenceTransformerEmbedder | None:
        """The model that a static embedding model is distilled from; None for any other."""
        from localcrag.embedding.static_embedder import StaticEmbedder

        return self.embedder.teacher if isinstance(self.embedder, StaticEmbedder) else None

    @property
    def token_vectors(self) -> Path | None:
        """The file of the token vectors of a static embedding model; None for any other.

        Raises ModelNotFound, ModelFileError.
        """
        from localcrag.embedding.static_embedder import StaticEmbedder

        return self.embedder.file if isinstance(self.embedder, StaticEmbedder) else None

    def distil(self) -> Iterator[Advanced]:
        """Make the token vectors of a static embedding model, if it is one and they do not exist yet.

        Yields how many tokens are done. Raises ModelNotFound, ModelFileError, ModelError.
        """
        from localcrag.embedding.static_embedder import StaticEmbedder

        if isinstance(self.embedder, StaticEmbedder):
            for done, total in self.embedder.prepare():
                yield Advanced("distilling", done, total)

    @cached_property
    def language(self) -> LlamaCppModel | ServedModel:
        """The language model with its adapter, or that on a server. Raises ModelNotFound, SettingsError."""
        return self._served_model() if self.is_served else self._local_model()

    def _local_model(self) -> LlamaCppModel:
        """The language model in this process. Raises ModelNotFound."""
        from localcrag.llm.language_model import LlamaCppModel
        from localcrag.llm.registry import Registry

        entry = Registry(self.home).find(self.settings.language)
        return LlamaCppModel(
            self.language_file,
            adapter=self.adapter_file,
            base_sha256=entry.sha256 if entry else "",
            context=self.settings.context,
            threads=self.settings.threads or None,
            gpu_layers=self.settings.gpu_layers,
            cache_dir=self.home / "cache" / "constraints",
        )

    def _served_model(self) -> ServedModel:
        """The language model on a server, which is not connected to yet. Raises SettingsError."""
        from localcrag.model_server.served_model import ServedModel
        from localcrag.model_server.server_connection import API_KEY_VARIABLE, ServerConnection
        from localcrag.web.ledger import LEDGER_FILE_NAME, Ledger

        self._require_no_adapter()
        connection = ServerConnection(
            ModelAddress.parse(self.settings.language),
            Ledger(self.home / LEDGER_FILE_NAME).record,
            servers=self.settings.servers,
            seconds=self.settings.server_timeout,
            key=os.environ.get(API_KEY_VARIABLE, ""),
        )
        return ServedModel(connection, context=self.settings.context)

    @cached_property
    def query_model(self) -> LlamaCppModel | None:
        """The model that writes queries over tables, or None. Raises ModelNotFound, ModelFileError."""
        from localcrag.llm.query_writers import writer_of_queries

        return writer_of_queries(self.queries, self.home, self.settings) if self.queries else None

    @cached_property
    def other_query_model(self) -> LlamaCppModel | None:
        """The smaller model for such queries, if there are two. Raises ModelNotFound, ModelFileError."""
        from localcrag.llm.query_writers import writer_of_queries

        other = self.other_queries
        return writer_of_queries(other, self.home, self.settings) if other else None

    @cached_property
    def evaluator(self) -> GgufEvaluator | MultilingualEvaluator | EvaluatorByLanguage | None:
        """The evaluator with its calibration, or None. Raises ModelNotFound, ModelFileError."""
        if not self.judges:
            return None
        evaluator = self._evaluator_for_all_languages()
        evaluator.calibration = self.calibration(GraderKind.EVALUATOR)
        return evaluator

    def _evaluator_for_all_languages(self) -> GgufEvaluator | MultilingualEvaluator | EvaluatorByLanguage:
        """The evaluator, with that for other languages if there is one. Raises ModelNotFound."""
        evaluator = self._evaluator_of(self.evaluator_file)
        if self.multilingual_evaluator_file is None:
            return evaluator
        from localcrag.llm.evaluator_by_language import EvaluatorByLanguage

        return EvaluatorByLanguage(evaluator, self._evaluator_of(self.multilingual_evaluator_file))

    def _evaluator_of(self, file: Path) -> GgufEvaluator | MultilingualEvaluator:
        """The evaluator of a file, whole or the upper part of one. Raises ModelNotFound, ModelFileError."""
        from localcrag.llm.evaluator import GgufEvaluator
        from localcrag.llm.gguf import read_metadata
        from localcrag.llm.multilingual_evaluator import MultilingualEvaluator, is_upper_part

        cache = self.home / "cache" / "models"
        if is_upper_part(read_metadata(file)):
            return MultilingualEvaluator(file, cache)
        return GgufEvaluator(file, cache=cache)

    @property
    def fusion(self) -> tuple[Fusion, Thresholds] | None:
        """The fusion of language model and evaluator with its thresholds, or None if none was fitted.

        A fusion fitted to the user's own questions takes precedence over that in the file of the language
        model, or of its adapter if it has one. It is converted from the evaluator's scale that it was fitted
        on to the scale in use.
        """
        if self.evaluator is None or self.missing:
            return None
        if fitted := self.calibration(GraderKind.FUSED):
            fusion, scale, thresholds = Fusion(*fitted.weights), fitted.scale, fitted.thresholds
        elif own := self._fusion_of_file():
            (fusion, thresholds), scale = own, self.evaluator.own_scale
        else:
            return None
        return rescaled(fusion, scale, self.evaluator.scale), thresholds

    @property
    def strip_fusion(self) -> StripFusion | None:
        """The fusion of both models about strips, in the file of the adapter or the language model, or None.

        The scale of strips is the evaluator's own: one that fits the user's own questions changes it little.
        """
        if self.evaluator is None or self.missing or self.calibration(GraderKind.FUSED):
            return None
        info = self._fitted_metadata
        weights = info.numbers("localcrag.strips.weights") if info else ()
        return StripFusion(*weights) if len(weights) == len(fields(StripFusion)) else None

    @property
    def fusion_band(self) -> Thresholds | None:
        """The band of the evaluator's P within which the fusion needs the language model; None for all.

        It is that in the file of the language model or its adapter, converted from the evaluator's own scale
        to the scale in use; a fusion that was fitted to the user's own questions has none.
        """
        if self.evaluator is None or self.missing or self.calibration(GraderKind.FUSED):
            return None
        info = self._fitted_metadata
        if info is None or not (upper := info.number("localcrag.fusion.band.upper", 0.0)):
            return None
        bounds = Thresholds(upper, info.number("localcrag.fusion.band.lower", 0.0))
        return moved(bounds, self.evaluator.own_scale, self.evaluator.scale)

    @property
    def band(self) -> Thresholds | None:
        """The band of the cascade on the evaluator's P; None if none was fitted for these two models.

        It is converted from the evaluator's scale that it was fitted on to the scale in use.
        """
        if self.evaluator is None or (fitted := self.calibration(GraderKind.CASCADE)) is None:
            return None
        return moved(fitted.thresholds, fitted.scale, self.evaluator.scale)

    @property
    def _fitted_metadata(self) -> GgufInfo | None:
        """The metadata of the adapter, else of the language model, if what it holds fits this evaluator."""
        from localcrag.llm.gguf import read_metadata

        if self.is_served:
            return None
        info = read_metadata(self.adapter_file or self.language_file)
        fitted_with = info.value("localcrag.fusion.evaluator", "")
        return info if self.evaluator and fitted_with == self.evaluator.name else None

    def _fusion_of_file(self) -> tuple[Fusion, Thresholds] | None:
        """The fusion with this evaluator in the file of the adapter, else of the language model, or None."""
        info = self._fitted_metadata
        weights = info.numbers("localcrag.fusion.weights") if info else ()
        if info is None or len(weights) != 4:
            return None
        upper, lower = info.number("localcrag.crag.upper", 0.5), info.number("localcrag.crag.lower", 0.5)
        return Fusion(*weights), Thresholds(upper, lower)

    # ------------------------------------------------------------------------------ calibration

    def calibration(self, judge: GraderKind) -> Calibration | None:
        """The calibration of a judge with these models by the user's own questions, or None."""
        return self._calibrations.find(judge, self.fingerprints(judge))

    def calibrations(self) -> list[Calibration]:
        """All calibrations of judges with these models."""
        if self.missing:
            judges = [GraderKind.EVALUATOR] if self.judges else []
        else:
            judges = [kind for kind in GraderKind if self.judges or kind in GRADERS_WITHOUT_EVALUATOR]
        return [fitted for fitted in map(self.calibration, judges) if fitted]

    def fingerprints(self, judge: GraderKind) -> Iterator[str]:
        """Those of the models that a judge uses: the evaluator, the language model, its adapter.

        Each is computed when it is needed. Raises ModelNotFound, ModelFileError, ModelServerError.
        """
        if judge not in GRADERS_WITHOUT_EVALUATOR:
            yield from _fingerprints([self.evaluator_file])
        if judge is not GraderKind.EVALUATOR:
            yield from self._language_fingerprints()

    def keep(self, fitted: Sequence[Calibration]) -> None:
        """Store calibrations of these models; the next grades use them."""
        self._calibrations.put(fitted)
        self._recalibrate()

    def forget(self) -> list[Calibration]:
        """Remove every calibration of a judge that uses one of these models; returns those removed."""
        language = [] if self.missing else self.language_fingerprints
        removed = self._calibrations.forget([*language, *_fingerprints(self.evaluator_files())])
        self._recalibrate()
        return removed

    @property
    def _calibrations(self) -> Calibrations:
        """The file of calibrations."""
        from localcrag.calibration.calibration_file import Calibrations

        return Calibrations(self.home)

    # ---------------------------------------------------------------------------------- fitness

    @property
    def fitness(self) -> FitnessResult | None:
        """What a fitness check measured of the language model; None if it was never checked."""
        return self.fitness_results.find(self._language_fingerprints())

    @property
    def fitness_results(self) -> FitnessResults:
        """The folders of the results of fitness checks."""
        from localcrag.fitness.fitness_results_folder import FitnessResults
        from localcrag.llm.registry import embedded_folder

        return FitnessResults(self.home, embedded_folder())

    @property
    def language_fingerprints(self) -> tuple[str, ...]:
        """The fingerprints of the language model and its adapter: of files, or as their server tells it."""
        return tuple(self._language_fingerprints())

    def _language_fingerprints(self) -> Iterator[str]:
        """Those fingerprints; no file is looked for before the first is asked for."""
        if self.is_served:
            yield self._served_fingerprint
        else:
            yield from _fingerprints(self.language_files())

    @property
    def _served_fingerprint(self) -> str:
        """The identity of the model on a server. Raises ModelServerError."""
        from localcrag.model_server.served_model import ServedModel

        assert isinstance(self.language, ServedModel)
        return self.language.profile.fingerprint

    # ---------------------------------------------------------------------------------- loading

    def _recalibrate(self) -> None:
        """Give the evaluator the calibration that is stored for it now."""
        if self.evaluator:
            self.evaluator.calibration = self.calibration(GraderKind.EVALUATOR)

    def check(self) -> None:
        """Check the model files without loading them, and probe a model server.

        Raises ModelNotFound, ModelFileError, ModelServerError.
        """
        if not self.missing:
            self.language.check()
        _ = self.evaluator and self.evaluator.info

    def close(self) -> None:
        """Free the memory of the language model and the evaluator; the next use loads them again."""
        names = ("language", "query_model", "other_query_model", "evaluator", "embedder")
        for model in map(vars(self).get, names):
            if model is not None and hasattr(model, "close"):
                model.close()

    def warm(self, *others: Callable[[], object], answering: bool) -> None:
        """Load what a search needs in parallel, and run ``others`` at the same time.

        Args:
            others: further work to do at the same time; its errors are raised.
            answering: begin to load the language model too, which a search does not need. Its file is checked
                at once; what uses it first waits until it is loaded, and gets the errors of that. One on a
                server is connected to at once.
        """
        work: list[Callable[[], object]] = [self.embedder.warm, *others]
        in_background = answering and not self.is_served and not self.missing
        if in_background:
            work.append(self.language.check)
        elif answering and not self.missing:
            work.append(self.language.load)
        # llama.cpp tells its errors by messages of the process, so it loads one model after the other.
        llama = ThreadPoolExecutor(1, "llama")
        with ThreadPoolExecutor(len(work)) as pool:
            loads: list[Future[object]] = [llama.submit(self._load_evaluator), *map(pool.submit, work)]
            if in_background:
                llama.submit(self.language.load)
            llama.shutdown(wait=False)
        for load in loads:
            load.result()

    def _load_evaluator(self) -> None:
        """Load the evaluator, if there is one."""
        if self.evaluator:
            self.evaluator.load()


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
