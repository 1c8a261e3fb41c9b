"""The models that a question was answered with, each with the sha256 of the file that was used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from localcrag.configured_models import NO_EVALUATOR
from localcrag.llm.model_entry import sha256
from localcrag.loaded_models import LoadedModels

_WEIGHTS_SUFFIXES = (".safetensors", ".gguf", ".bin", ".npz")


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model: what it is for, its name, and the file with its digest; "" if there is none.

    Of a model on a server, the place of a file is taken by its address.
    """

    role: str
    name: str
    file: str = ""
    sha256: str = ""


def model_files(models: LoadedModels) -> list[ModelFile]:
    """The models of a configuration. Raises ModelNotFound, ModelFileError."""
    return list(_found(models))


def _found(models: LoadedModels) -> Iterator[ModelFile]:
    settings = models.settings
    if models.missing:
        yield ModelFile("language model", f"{settings.language} (not installed)")
    elif models.is_served:
        yield ModelFile("language model", models.language.name, f"served at {settings.language}")
    else:
        yield _digested("language model", settings.language, models.language_file)
        if models.adapter_file:
            yield _digested("adapter", models.adapter_file.stem, models.adapter_file)
    if models.queries:
        yield _digested("questions over tables", models.queries.name, models.queries.path)
    if models.judges:
        yield _digested("evaluator", settings.evaluator, models.evaluator_file)
        if other := models.multilingual_evaluator_file:
            yield _digested("evaluator", other.stem, other)
    else:
        yield ModelFile("evaluator", NO_EVALUATOR)
    weights = list(_weights(models.embedder.model_files()))
    for file in weights:
        yield _digested("embedding model", models.embedder.name, file)


def _weights(files: Iterable[Path]) -> Iterator[Path]:
    """The files that hold numbers, or all that are there if none is known to."""
    found = sorted(file for file in files if file.is_file())
    yield from [file for file in found if file.suffix in _WEIGHTS_SUFFIXES] or found


def _digested(role: str, name: str, file: Path) -> ModelFile:
    return ModelFile(role, name, file.name, sha256(file))
