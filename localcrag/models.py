"""The models of one configuration: found by name, loaded on first use, shared by the whole process."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.crag.grade import Fusion
from localcrag.settings import ModelSettings
from localcrag.types import Thresholds

if TYPE_CHECKING:
    from localcrag.index.embedder import SentenceTransformerEmbedder
    from localcrag.llm.engine import LlamaCppModel
    from localcrag.llm.evaluator import LlamaCppEvaluator

NO_EVALUATOR = "none"


@dataclass(frozen=True)
class Models:
    """The models of one configuration, each loaded on first use."""

    settings: ModelSettings
    home: Path

    @cached_property
    def embedder(self) -> SentenceTransformerEmbedder:
        from localcrag.index.embedder import SentenceTransformerEmbedder

        verified = self.home / "cache" / "verified.json"
        return SentenceTransformerEmbedder(self.settings.embedding, cache=verified)

    @cached_property
    def language_file(self) -> Path:
        return self._file(self.settings.language)

    @cached_property
    def language(self) -> LlamaCppModel:
        from localcrag.llm.engine import LlamaCppModel

        return LlamaCppModel(
            self.language_file,
            context=self.settings.context,
            threads=self.settings.threads or None,
            gpu_layers=self.settings.gpu_layers,
            cache_dir=self.home / "cache" / "constraints",
        )

    @property
    def judges(self) -> bool:
        """Whether there is an evaluator."""
        return self.settings.evaluator != NO_EVALUATOR

    @cached_property
    def evaluator(self) -> LlamaCppEvaluator | None:
        if not self.judges:
            return None
        from localcrag.llm.evaluator import LlamaCppEvaluator

        return LlamaCppEvaluator(self._file(self.settings.evaluator))

    @cached_property
    def fusion(self) -> tuple[Fusion, Thresholds] | None:
        """How the model's grade joins the evaluator's, where that was fitted for these two models."""
        from localcrag.llm.gguf import read_metadata

        info = read_metadata(self.language_file)
        weights = info.numbers("localcrag.fusion.weights")
        if self.evaluator is None or len(weights) != 4:
            return None
        upper, lower = info.number("localcrag.crag.upper", 0.5), info.number("localcrag.crag.lower", 0.5)
        return Fusion(*weights), Thresholds(upper, lower)

    @cached_property
    def small(self) -> bool:
        """Whether the language model is the embedded one, which cannot write answers."""
        from localcrag.llm.registry import embedded_folder

        return self.language_file.parent == embedded_folder()

    def warm(self, *others: Callable[[], object], answering: bool) -> None:
        """Load what a search needs, or an answer, side by side, together with ``others``."""
        work: list[Callable[[], object]] = [partial(self._load_llama, answering), self.embedder.warm, *others]
        with ThreadPoolExecutor(len(work)) as pool:
            loads = [pool.submit(load) for load in work]
        for load in loads:
            load.result()

    def _load_llama(self, answering: bool) -> None:
        if answering:
            self.language.load()
        if self.evaluator:
            self.evaluator.load()

    def _file(self, name: str) -> Path:
        from localcrag.llm.registry import Registry

        return Registry(self.home).resolve(name)


@lru_cache(maxsize=2)
def models_for(settings: ModelSettings, home: Path) -> Models:
    """The models of a configuration, the same object for the same configuration."""
    return Models(settings, home)
