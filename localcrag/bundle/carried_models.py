"""Models in a bundle: those in use and those that are named, and where they go in the other home.

Some models are a part of localcrag, some are packages of their own, and some are files that the user added.
Only the last are copied as files.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from localcrag.bundle.bundle_manifest import BundledModel, BundleManifest
from localcrag.configured_models import (
    ADAPTER_OF_MODEL,
    ANY_QUERIES,
    DEFAULT_LANGUAGE_MODEL,
    MULTILINGUAL,
    NO_ADAPTER,
    STATIC,
    teacher_of,
)
from localcrag.errors import BundleError, ModelFileError
from localcrag.llm.model_entry import ModelEntry, existing_file, sha256, verify
from localcrag.llm.model_file_checks import checked_role
from localcrag.llm.registry import Registry
from localcrag.loaded_models import LoadedModels
from localcrag.model_address import is_model_address
from localcrag.settings import ModelSettings, Settings

EMBEDDING_ROLE = "embedding"
MODELS_FOLDER = "models"
"""The folder of the models in a bundle, and in a home."""
_STATIC_PREFIX = f"{STATIC}:"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(slots=True)
class CarriedModels:
    """The models of a bundle.

    Attributes:
        models: all of them.
        files: the files that are copied, by their paths in the bundle.
        packages: the packages that carry weights, which are installed without their dependencies.
        extras: the extras of localcrag that a model needs.
        settings: the settings by which the models are chosen, where the defaults choose others.
    """

    models: list[BundledModel] = field(default_factory=list)
    files: dict[str, Path] = field(default_factory=dict)
    packages: list[str] = field(default_factory=list)
    extras: list[str] = field(default_factory=list)
    settings: list[tuple[str, str]] = field(default_factory=list)


def models_to_carry(settings: Settings, further: Iterable[str]) -> CarriedModels:
    """The models in use by these settings, and ``further`` ones by name.

    In place of a model on a server goes the default one, which is left out if its package is not installed.
    Raises ModelNotFound, ModelFileError, and BundleError for an embedding model that is no folder.
    """
    found, chosen = CarriedModels(), settings.model
    if is_model_address(chosen.language):
        chosen = replace(chosen, language=DEFAULT_LANGUAGE_MODEL, adapter=ADAPTER_OF_MODEL)
    loaded = LoadedModels(chosen, settings.home)
    if not loaded.missing:
        _carry_gguf(found, settings.home, chosen.language, "model.language")
        if chosen.adapter == ADAPTER_OF_MODEL:
            if entry := Registry(settings.home).adapter_for(chosen.language):
                _add(found, entry)
        elif chosen.adapter != NO_ADAPTER:
            _carry_gguf(found, settings.home, chosen.adapter, "model.adapter")
        else:
            found.settings.append(("model.adapter", NO_ADAPTER))
    if loaded.judges:
        _carry_gguf(found, settings.home, chosen.evaluator, "model.evaluator")
    else:
        found.settings.append(("model.evaluator", chosen.evaluator))
    if queries := loaded.queries:
        _carry_gguf(found, settings.home, queries.base, "")
        _add(found, queries)
    if chosen.queries != ANY_QUERIES:
        found.settings.append(("model.queries", chosen.queries))
    for name in further:
        _carry_gguf(found, settings.home, name, "")
    _carry_embedding(found, loaded)
    return found


def place_models(folder: Path, manifest: BundleManifest, home: Path) -> Iterator[tuple[str, bool]]:
    """Put the model files of an unpacked bundle into a home, under their names.

    Yields each name, and whether its file is new there. Raises ModelError, ModelFileError, OSError.
    """
    for model in manifest.models:
        if not model.path:
            continue
        source, target = folder / model.path, home / model.path
        if model.role == EMBEDDING_ROLE:
            new = not target.exists()
            if new:
                shutil.copytree(source, _scratch(target), dirs_exist_ok=True)
                _scratch(target).rename(target)
            yield model.name, new
            continue
        entry = Registry(home).find(model.name)
        new = entry is None or verify(entry) != "" or entry.sha256 != sha256(source)
        if new:
            shutil.copyfile(source, _scratch(target))
            _scratch(target).replace(target)
            Registry(home).add(model.name, target, checked_role(target))
        yield model.name, new


def settings_in(home: Path, manifest: BundleManifest) -> Mapping[str, str]:
    """The settings of a bundle as they are in a home, where the embedding model is a folder."""
    folders = {model.name: model.path for model in manifest.models if model.role == EMBEDDING_ROLE}

    def placed(embedding: str) -> str:
        prefix = _STATIC_PREFIX if embedding.startswith(_STATIC_PREFIX) else ""
        folder = folders.get(embedding.removeprefix(prefix))
        return f"{prefix}{home / folder}" if folder else embedding

    return {name: placed(value) if name == "model.embedding" else value for name, value in manifest.settings}


def _carry_gguf(found: CarriedModels, home: Path, name: str, setting: str) -> None:
    """Add a GGUF model by name or file, and the setting that chooses it if the default is another."""
    entry = Registry(home).find(name) or _entry_of_file(Registry(home).resolve(name))
    if setting and entry.name != getattr(ModelSettings(), setting.partition(".")[2]):
        found.settings.append((setting, entry.name))
    _add(found, entry)


def _entry_of_file(file: Path) -> ModelEntry:
    """The entry of a model that the settings name by its file. Raises ModelFileError, ModelNotFound."""
    role, size = checked_role(file), file.stat().st_size
    return ModelEntry(file.stem, file.absolute(), role, sha256(file), size, "", "", embedded=False)


def _add(found: CarriedModels, entry: ModelEntry) -> None:
    """Add a model, once. Raises ModelNotFound, ModelFileError if its file is not as it is listed."""
    if any(model.name == entry.name for model in found.models):
        return
    file = existing_file(entry)
    if wrong := verify(entry):
        raise ModelFileError(
            f"the model {entry.name} is not as it is listed: {wrong}",
            hint="`localcrag models verify` looks at all; add or install it again",
        )
    path = ""
    if entry.packages:
        found.packages += entry.packages
    elif not entry.embedded:
        path = f"{MODELS_FOLDER}/{_safe(entry.name)}.gguf"
        if path in found.files:
            raise BundleError(f"two models would be called {path}", hint="give one of them another name")
        found.files[path] = file
    found.models.append(BundledModel(entry.name, str(entry.role), path, entry.package))


def _carry_embedding(found: CarriedModels, loaded: LoadedModels) -> None:
    """Add the embedding model; of a static one that which it is distilled from, as it will be in the room.

    Raises BundleError, ModelNotFound.
    """
    from localcrag.embedding.embedder import DEFAULT_MODEL, MODEL_PACKAGE

    chosen = loaded.settings.embedding
    if chosen == MULTILINGUAL:
        found.extras.append(MULTILINGUAL)
        found.models.append(BundledModel(loaded.embedder.name, EMBEDDING_ROLE))
        found.settings.append(("model.embedding", MULTILINGUAL))
        return
    teacher = teacher_of(chosen)
    if (loaded.teacher or loaded.embedder).name == DEFAULT_MODEL:
        package = MODEL_PACKAGE.replace("_", "-")
        found.models.append(BundledModel(DEFAULT_MODEL, EMBEDDING_ROLE, "", package))
        if teacher:
            found.settings.append(("model.embedding", STATIC))
        return
    folder = Path(teacher or chosen).expanduser()
    if not folder.is_dir():
        raise BundleError(
            f"the embedding model {teacher or chosen!r} comes from the cache of a hub",
            hint="save it as a folder, and name the folder in model.embedding",
        )
    path = f"{MODELS_FOLDER}/{folder.name}"
    files = {f"{path}/{file.relative_to(folder).as_posix()}": file for file in folder.rglob("*")}
    found.files.update({inner: file for inner, file in files.items() if file.is_file()})
    found.models.append(BundledModel(folder.name, EMBEDDING_ROLE, path))
    found.settings.append(("model.embedding", f"{_STATIC_PREFIX if teacher else ''}{folder.name}"))


def _safe(name: str) -> str:
    """A name of a file that every system takes."""
    return _UNSAFE.sub("_", name).lstrip(".")[:100] or "model"


def _scratch(target: Path) -> Path:
    """The place at which a file or a folder is made, beside its own."""
    target.parent.mkdir(parents=True, exist_ok=True)
    return target.with_name(f".{target.name}.part")
