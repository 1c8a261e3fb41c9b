"""`manifest.toml` of a folder of models: written, read, and held against the files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from localcrag.llm.gguf import read_metadata
from localcrag.llm.model_entry import ModelEntry, Role, sha256, verify
from localcrag.llm.model_file_checks import ADAPTER_BASE_KEY
from localcrag.llm.registry import embedded_folder

from .base_model import LARGE, PACKAGED
from .data import DataError
from .evaluator_base import ENGLISH_EVALUATOR, MULTILINGUAL_EVALUATOR

ADAPTER = "localcrag-chat-v2"
ADAPTER_WORDS = (
    "Adapter that makes SmolLM2-135M-Instruct judge passages, write search lines, complete follow-ups, and "
    "answer from evidence with citations, or decline."
)
TABLES_ADAPTERS = {LARGE: "localcrag-tables-large-v1", PACKAGED: "localcrag-tables-v1"}
"""The adapters that read questions over tables, by their base, the best first."""
TABLES_LANGUAGES = {LARGE: ("en", "de", "fr", "es", "it", "nl"), PACKAGED: ("en",)}
"""The languages of the questions that they have learnt from."""
_BASES = {LARGE: "Qwen2.5-Coder-1.5B-Instruct", PACKAGED: "SmolLM2-135M-Instruct"}


def tables_words(base: str) -> str:
    """What the adapter for questions over tables of a base says of itself."""
    return (
        f"Adapter that makes {_BASES.get(base, base)} read a question over a table as a query: which rows "
        "count, what is computed of them, in which order."
    )


_LICENCE = "Apache-2.0"


def write_manifest(models: Path) -> None:
    """List the GGUF files of a folder with their sizes and hashes in `manifest.toml`.

    The models that travel in packages of their own stand in it as in the manifest that is shipped.
    """
    shipped = tomllib.loads((embedded_folder() / "manifest.toml").read_text("utf-8"))["model"]
    tables = [table for table in shipped if "package" in table]
    known = (
        (ADAPTER, Role.ADAPTER),
        *((name, Role.QUERIES) for name in TABLES_ADAPTERS.values()),
        (ENGLISH_EVALUATOR, Role.EVALUATOR),
        (MULTILINGUAL_EVALUATOR, Role.EVALUATOR),
    )
    tables += [_table(path, name, role) for name, role in known if (path := models / f"{name}.gguf").exists()]
    part = models / "manifest.toml.part"
    part.write_text(tomli_w.dumps({"model": tables}), "utf-8")
    part.replace(models / "manifest.toml")


def _table(path: Path, name: str, role: Role) -> dict[str, str | int]:
    """The table of a file, described in its own words; that of an adapter names its base."""
    info = read_metadata(path)
    table: dict[str, str | int] = {
        "name": name,
        "file": path.name,
        "role": role.value,
        "sha256": sha256(path),
        "bytes": path.stat().st_size,
        "license": _LICENCE,
        "description": str(info.value("general.description", "")),
    }
    if role in (Role.ADAPTER, Role.QUERIES):
        table["base"] = str(info.value("general.base_model.0.name", ""))
        table["base_sha256"] = str(info.value(ADAPTER_BASE_KEY, ""))
    return table


def manifest_files(models: Path) -> dict[str, Path]:
    """The files that `manifest.toml` lists, by role, without those in packages and for other languages.

    Raises DataError if list and files do not match.
    """
    manifest = models / "manifest.toml"
    if not manifest.is_file():
        raise DataError(f"no manifest.toml in {models}")
    try:
        tables = tomllib.loads(manifest.read_text("utf-8"))["model"]
        entries = [_entry(models, table) for table in tables if "package" not in table]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{manifest} cannot be understood: {error}") from error
    for entry in entries:
        if wrong := verify(entry):
            raise DataError(f"{manifest} does not match {entry.path.name}: {wrong}")
    return {entry.role.value: entry.path for entry in entries if entry.name != MULTILINGUAL_EVALUATOR}


def _entry(models: Path, table: Mapping[str, Any]) -> ModelEntry:
    """One table of a manifest; raises KeyError, TypeError or ValueError if it is not as it should be."""
    path, role = models / table["file"], Role(table["role"])
    return ModelEntry(table["name"], path, role, table["sha256"], int(table["bytes"]), _LICENCE, "", True)
