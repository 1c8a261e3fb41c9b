"""The model registry: the embedded models and those that the user added, by name.

There are two manifests of one format: ``manifest.toml`` beside the embedded models, and ``models.toml``
in localcrag's home folder. A manifest lists ``[[model]]`` tables with the keys name, file, role, sha256,
bytes, license and description.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path

from localcrag._platform import expanded
from localcrag.errors import ModelError, ModelFileError, ModelNotFound

READ_CHUNK_BYTES = 1 << 20


class Role(StrEnum):
    """The purpose of a model file."""

    LANGUAGE = "language"
    EVALUATOR = "evaluator"


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
        embedded: whether it was installed with localcrag.
    """

    name: str
    path: Path
    role: Role
    sha256: str
    bytes: int
    license: str
    description: str
    embedded: bool


def embedded_folder() -> Path:
    """The folder of the embedded models: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    installed = package / "_models"
    return installed if installed.is_dir() else package.parent / "models"


@dataclass(frozen=True, slots=True)
class Registry:
    """The models known in one home folder, the embedded ones included."""

    home: Path

    @property
    def manifest(self) -> Path:
        """The manifest of the models that the user added; it may not exist."""
        return self.home / "models.toml"

    def entries(self) -> list[ModelEntry]:
        """All models; one of the user's hides an embedded one of the same name.

        Raises ModelFileError if a manifest cannot be understood.
        """
        folder = embedded_folder()
        own = {entry.name: entry for entry in _entries(self.manifest, self.home / "models", embedded=False)}
        came_along = _entries(folder / "manifest.toml", folder, embedded=True)
        return [*own.values(), *(entry for entry in came_along if entry.name not in own)]

    def resolve(self, name_or_file: str) -> Path:
        """The file of a model given by name or by path.

        Raises ModelNotFound, whose hint lists similar names, and ModelFileError.
        """
        entries = {entry.name: entry for entry in self.entries()}
        if entry := entries.get(name_or_file):
            if not entry.path.is_file():
                raise ModelNotFound(
                    f"the file of model {entry.name} is gone: {entry.path}",
                    hint="localcrag models list shows what is there",
                )
            return entry.path
        if path := _file(name_or_file):
            return path
        close = get_close_matches(name_or_file, entries, n=2)
        near = f"did you mean {' or '.join(close)}? " if close else ""
        raise ModelNotFound(
            f"there is no model {name_or_file!r}, neither by name nor as a file",
            hint=f"{near}localcrag models list shows the names; localcrag models add NAME FILE adds one",
        )

    def add(self, name: str, file: Path, role: Role, description: str = "") -> ModelEntry:
        """Add a file under a name to the manifest; the file stays where it is.

        A model of that name is replaced. Raises ModelNotFound, ModelFileError, ModelError.
        """
        path = expanded(str(file)).absolute()
        entry = ModelEntry(name, path, role, sha256(path), path.stat().st_size, "", description, False)
        self._write([*(known for known in self._own() if known.name != name), entry])
        return entry

    def remove(self, name: str) -> ModelEntry:
        """Take a model that was added out of the manifest; its file is not touched.

        Raises ModelNotFound, ModelFileError, ModelError.
        """
        own = self._own()
        found = next((entry for entry in own if entry.name == name), None)
        if found is None:
            raise ModelNotFound(
                f"no model called {name!r} was added here", hint="embedded models cannot be removed"
            )
        self._write([entry for entry in own if entry is not found])
        return found

    def _own(self) -> list[ModelEntry]:
        """The models that the user added."""
        return list(_entries(self.manifest, self.home / "models", embedded=False))

    def _write(self, entries: list[ModelEntry]) -> None:
        """Replace the manifest. Raises ModelError."""
        import tomli_w

        rows = [
            {key: str(value) if key in ("path", "role") else value for key, value in asdict(entry).items()}
            for entry in entries
        ]
        tables = [
            {("file" if key == "path" else key): row[key] for key in row if key != "embedded"} for row in rows
        ]
        part = self.manifest.with_suffix(".part")
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            part.write_text(tomli_w.dumps({"model": tables}), "utf-8")
            part.replace(self.manifest)
        except OSError as error:
            raise ModelError(
                f"the list of models {self.manifest} cannot be written: {error.strerror}",
                hint="make room, or mend its permissions, and try again",
            ) from error


def _file(name: str) -> Path | None:
    """The file of that name; None if there is none, or the name is too long to be one."""
    path = expanded(name)
    try:
        return path if path.is_file() else None
    except PermissionError:
        return path  # the error comes when it is read
    except OSError:
        return None


def verify(entry: ModelEntry) -> str:
    """The fault of a model's file in a few words; "" if it is as the manifest says."""
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


def _entries(manifest: Path, folder: Path, *, embedded: bool) -> Iterator[ModelEntry]:
    """The models of a manifest, whose relative paths count from ``folder``; none if it does not exist.

    Raises ModelFileError.
    """
    try:
        tables = tomllib.loads(manifest.read_text("utf-8")).get("model", [])
        for table in tables:
            yield ModelEntry(
                name=table["name"],
                path=folder / table["file"],
                role=Role(table["role"]),
                sha256=table["sha256"],
                bytes=int(table["bytes"]),
                license=table.get("license", ""),
                description=table.get("description", ""),
                embedded=embedded,
            )
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFileError(
            f"the list of models {manifest} cannot be understood: {error}", hint="mend it, or move it away"
        ) from error
