"""`manifest.toml` of a folder of models: written, read, and held against the files."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from localcrag.llm.registry import ModelEntry, Role, sha256, verify

from .data import DataError

EVALUATOR = "localcrag-evaluator-v1"
LANGUAGE_MODEL = "localcrag-mini-v1"
EVALUATOR_WORDS = (
    "Cross-encoder that judges whether a sentence or a passage helps to answer a question. Fine-tuned from "
    "all-MiniLM-L6-v2 (Apache-2.0)."
)
LANGUAGE_MODEL_WORDS = (
    "Tiny LLaMA trained from scratch: it shortens a question to a search line in the question's own words. "
    "Its grades are hardly better than chance, and it does not write answers. Use a chat model where you can."
)
_LICENCE = "Apache-2.0"


def write_manifest(models: Path) -> None:
    """List the GGUF files of a folder with their sizes and hashes in `manifest.toml`."""
    known = (
        (LANGUAGE_MODEL, Role.LANGUAGE, LANGUAGE_MODEL_WORDS),
        (EVALUATOR, Role.EVALUATOR, EVALUATOR_WORDS),
    )
    tables = [_table(models / f"{name}.gguf", name, role, words) for name, role, words in known]
    part = models / "manifest.toml.part"
    part.write_text("\n".join(table for table in tables if table))
    part.replace(models / "manifest.toml")


def _table(path: Path, name: str, role: Role, words: str) -> str:
    if not path.exists():
        return ""
    return (
        f'[[model]]\nname = "{name}"\nfile = "{path.name}"\nrole = "{role}"\nsha256 = "{sha256(path)}"\n'
        f'bytes = {path.stat().st_size}\nlicense = "{_LICENCE}"\ndescription = "{words}"\n'
    )


def manifest_files(models: Path) -> dict[str, Path]:
    """The files of `manifest.toml` by role. Raises DataError if list and files do not match."""
    manifest = models / "manifest.toml"
    if not manifest.is_file():
        raise DataError(f"no manifest.toml in {models}")
    try:
        tables = tomllib.loads(manifest.read_text("utf-8"))["model"]
        entries = [_entry(models, table) for table in tables]
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{manifest} cannot be understood: {error}") from error
    for entry in entries:
        if wrong := verify(entry):
            raise DataError(f"{manifest} does not match {entry.path.name}: {wrong}")
    return {entry.role.value: entry.path for entry in entries}


def _entry(models: Path, table: Mapping[str, Any]) -> ModelEntry:
    """One table of a manifest; raises KeyError, TypeError or ValueError if it is not as it should be."""
    path, role = models / table["file"], Role(table["role"])
    return ModelEntry(table["name"], path, role, table["sha256"], int(table["bytes"]), _LICENCE, "", True)
