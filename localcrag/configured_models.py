"""The models that a configuration names, and their files, none of which is loaded."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.calibration.scale import Scale
from localcrag.errors import ModelNotFound, ModelNotInstalled, SettingsError
from localcrag.model_address import is_model_address
from localcrag.settings import ModelSettings

if TYPE_CHECKING:
    from localcrag.llm.model_entry import ModelEntry

NO_EVALUATOR = "none"
"""The value of the setting ``model.evaluator`` if there is no evaluator."""
MULTILINGUAL = "multilingual"
"""The value of the setting ``model.embedding`` for the model of many languages."""
STATIC = "static"
"""The value of the setting ``model.embedding`` for token vectors that are distilled from the installed model;
``static:MODEL`` for those of another one."""
ANY_QUERIES, NO_QUERIES = "auto", "none"
"""The values of the setting ``model.queries`` for the first adapter whose base is installed, and for none."""
QUERIES_SCALE_KEY = "localcrag.queries.scale"
"""The key, in an adapter that reads questions over tables, of the scale of its probabilities."""
NO_ADAPTER, ADAPTER_OF_MODEL = "none", "auto"
"""The values of the setting ``model.adapter`` for no adapter, and for the one that came for the model."""
DEFAULT_EVALUATOR = ModelSettings().evaluator
"""The evaluator beside which another one is used for other languages."""
MULTILINGUAL_EVALUATOR = "localcrag-multilingual-evaluator-v2"
"""The embedded evaluator for other languages than English."""
DEFAULT_LANGUAGE_MODEL = ModelSettings().language
"""The language model without which questions are answered by the evaluator alone, if it is not installed."""
SMALL_MODEL_BYTES = 600_000_000
"""The size of a file with a billion weights, at some five bits each; a smaller one is seldom fit to write."""


@dataclass(frozen=True)
class ConfiguredModels:
    """The models of one configuration by their files, which are found on first use.

    ``home`` is the home folder of localcrag, with its models, caches and calibrations.
    """

    settings: ModelSettings
    home: Path

    @property
    def is_served(self) -> bool:
        """Whether the language model is on a server, and has no file here."""
        return is_model_address(self.settings.language)

    @cached_property
    def language_file(self) -> Path:
        """The GGUF file of the language model. Raises ModelNotFound, also for one on a server."""
        return self._file(self.settings.language)

    @cached_property
    def adapter_file(self) -> Path | None:
        """The GGUF file of the language model's adapter; None if there is none. Raises ModelNotFound."""
        from localcrag.llm.registry import Registry

        wanted = self.settings.adapter
        if self.is_served:
            self._require_no_adapter()
            return None
        if wanted == ADAPTER_OF_MODEL:
            entry = Registry(self.home).adapter_for(self.settings.language)
            return self._file(entry.name) if entry else None
        return None if wanted == NO_ADAPTER else self._file(wanted)

    def language_files(self) -> list[Path]:
        """The GGUF files of the language model: its own, and its adapter's; none if it is on a server.

        Raises ModelNotFound.
        """
        if self.is_served:
            return []
        return [self.language_file, *([self.adapter_file] if self.adapter_file else [])]

    @property
    def is_small(self) -> bool:
        """Whether the language model has less than a billion weights or so. Raises ModelNotFound."""
        files = self.language_files()
        return bool(files) and files[0].stat().st_size < SMALL_MODEL_BYTES

    @cached_property
    def missing(self) -> ModelNotInstalled | None:
        """The error of the language model if it is the default one, and its package is not installed.

        Then questions are answered by the evaluator alone. A model that the user named is not done
        without: the error is raised where the model is needed.
        """
        if self.settings.language != DEFAULT_LANGUAGE_MODEL:
            return None
        try:
            _ = self.language_file
        except ModelNotInstalled as error:
            return error
        return None

    @property
    def judges(self) -> bool:
        """Whether the configuration has an evaluator."""
        return self.settings.evaluator != NO_EVALUATOR

    @cached_property
    def evaluator_file(self) -> Path:
        """The GGUF file of the evaluator. Raises ModelNotFound."""
        return self._file(self.settings.evaluator)

    @cached_property
    def multilingual_evaluator_file(self) -> Path | None:
        """The GGUF file of the evaluator for other languages than English; None if it is not used.

        It goes with the default evaluator, if the package with its lower layers is installed. Raises
        ModelNotFound.
        """
        from localcrag.e5_conversion import is_installed

        with_default = self.settings.evaluator == DEFAULT_EVALUATOR
        return self._file(MULTILINGUAL_EVALUATOR) if with_default and is_installed() else None

    def evaluator_files(self) -> list[Path]:
        """The GGUF files of the evaluators; none if there is none. Raises ModelNotFound."""
        if not self.judges:
            return []
        other = self.multilingual_evaluator_file
        return [self.evaluator_file, *([other] if other else [])]

    @cached_property
    def queries(self) -> ModelEntry | None:
        """The adapter that reads questions over tables; None for none, or if its base is not installed.

        Raises ModelNotFound for a name that is not that of such an adapter, ModelFileError.
        """
        return next(iter(self._installed_queries), None)

    @cached_property
    def other_queries(self) -> ModelEntry | None:
        """The adapter of a smaller base, which is asked for its word where the first is not sure.

        None without a second one, or if an adapter was named. Raises ModelNotFound, ModelFileError.
        """
        is_any = self.settings.queries == ANY_QUERIES
        return next(iter(self._installed_queries[1:]), None) if is_any else None

    @cached_property
    def _installed_queries(self) -> list[ModelEntry]:
        """The adapters that were asked for and whose base is installed, that of the largest base first."""
        from localcrag.llm.model_entry import Role
        from localcrag.llm.registry import Registry

        wanted = self.settings.queries
        if wanted == NO_QUERIES:
            return []
        entries = {entry.name: entry for entry in Registry(self.home).entries()}
        known = [entry for entry in entries.values() if entry.role is Role.QUERIES]
        named = [entry for entry in known if wanted in (ANY_QUERIES, entry.name)]
        if not named and wanted != ANY_QUERIES:
            raise ModelNotFound(
                f"there is no adapter {wanted!r} that reads questions over tables",
                hint=f"model.queries is one of {', '.join(each.name for each in known)}, auto, or none",
            )
        return [e for e in named if (base := entries.get(e.base)) and base.installed]

    @cached_property
    def query_scale(self) -> Scale | None:
        """The scale of the probabilities of queries, if the file of the adapter has one.

        Raises ModelNotFound, ModelFileError.
        """
        from localcrag.llm.gguf import read_metadata

        fitted = read_metadata(self.queries.path).numbers(QUERIES_SCALE_KEY) if self.queries else ()
        return Scale(*fitted) if len(fitted) == len(fields(Scale)) else None

    @cached_property
    def reads_all_languages(self) -> bool:
        """Whether questions over tables are read in other languages than English, too.

        The file of the adapter tells its languages. Raises ModelNotFound, ModelFileError.
        """
        from localcrag.llm.gguf import read_metadata

        languages = read_metadata(self.queries.path).value("general.languages", ()) if self.queries else ()
        return isinstance(languages, tuple) and len(languages) > 1

    def _require_no_adapter(self) -> None:
        """Raise SettingsError if an adapter is named for a model on a server."""
        if self.settings.adapter not in (NO_ADAPTER, ADAPTER_OF_MODEL):
            raise SettingsError(
                f"the adapter {self.settings.adapter} cannot be used with a model server",
                hint="start the server with it, and leave model.adapter out",
            )

    def _file(self, name: str) -> Path:
        """The GGUF file of a model, by its name or path. Raises ModelNotFound."""
        from localcrag.llm.registry import Registry

        return Registry(self.home).resolve(name)


def teacher_of(embedding: str) -> str | None:
    """The model that a static embedding model is distilled from; None if ``embedding`` is no static one."""
    if embedding == STATIC:
        return ModelSettings().embedding
    kind, colon, teacher = embedding.partition(":")
    return teacher if colon and kind == STATIC else None


def embedding_for(embedding: str, recorded: str) -> str:
    """The setting ``model.embedding`` for a knowledge base that was made with the model ``recorded``.

    A static model and its teacher go together: a knowledge base is asked with the one that its passages were
    embedded with, whichever of the two ``embedding`` names.
    """
    teacher = teacher_of(embedding)
    is_static = teacher_of(recorded) is not None
    if is_static and teacher is None and embedding != MULTILINGUAL:
        return f"{STATIC}:{embedding}"
    return teacher if teacher is not None and not is_static else embedding
