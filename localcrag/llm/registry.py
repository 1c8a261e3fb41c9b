"""Models by name: the embedded ones, and those that the user added.

Two manifests of one form: ``manifest.toml`` beside the embedded models, and ``models.toml`` in the
user's home. A manifest lists ``[[model]]`` tables: name, file, role, sha256, bytes, license,
description.
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

CHUNK = 1 << 20


class Role(StrEnum):
    """What a model file is for."""

    LANGUAGE = "language"
    EVALUATOR = "evaluator"


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One model of a manifest; ``path`` is where its file should be, ``embedded`` whether it came along."""

    name: str
    path: Path
    role: Role
    sha256: str
    bytes: int
    license: str
    description: str
    embedded: bool


def embedded_folder() -> Path:
    """Where the models lie that came along: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    installed = package / "_models"
    return installed if installed.is_dir() else package.parent / "models"


@dataclass(frozen=True, slots=True)
class Registry:
    """The models known under one home folder."""

    home: Path

    @property
    def manifest(self) -> Path:
        return self.home / "models.toml"

    def entries(self) -> list[ModelEntry]:
        """All models, the user's before the embedded ones of the same name.

        Raises ModelFileError for a manifest that cannot be understood.
        """
        folder = embedded_folder()
        own = {entry.name: entry for entry in _entries(self.manifest, self.home / "models", embedded=False)}
        came_along = _entries(folder / "manifest.toml", folder, embedded=True)
        return [*own.values(), *(entry for entry in came_along if entry.name not in own)]

    def resolve(self, name_or_file: str) -> Path:
        """The file of a model given by name or by path.

        Raises ModelNotFound with the names that come close.
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
        """Remember a file under a name; the file stays where it is."""
        path = expanded(str(file)).absolute()
        entry = ModelEntry(name, path, role, sha256(path), path.stat().st_size, "", description, False)
        self._write([*(known for known in self._own() if known.name != name), entry])
        return entry

    def remove(self, name: str) -> ModelEntry:
        """Forget a model that was added; its file is not touched. Raises ModelNotFound."""
        own = self._own()
        found = next((entry for entry in own if entry.name == name), None)
        if found is None:
            raise ModelNotFound(
                f"no model called {name!r} was added here", hint="embedded models cannot be removed"
            )
        self._write([entry for entry in own if entry is not found])
        return found

    def _own(self) -> list[ModelEntry]:
        return list(_entries(self.manifest, self.home / "models", embedded=False))

    def _write(self, entries: list[ModelEntry]) -> None:
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
    """The file of that name; None where there is none, or can be none (a name that is too long)."""
    path = expanded(name)
    try:
        return path if path.is_file() else None
    except PermissionError:
        return path  # who reads it says so
    except OSError:
        return None


def verify(entry: ModelEntry) -> str:
    """ "" where the file is what the manifest says, else what is wrong with it."""
    if not entry.path.is_file():
        return "the file is missing"
    if (size := entry.path.stat().st_size) != entry.bytes:
        return f"{size:,} bytes, should be {entry.bytes:,}"
    return "" if sha256(entry.path) == entry.sha256 else "the sha256 differs"


def sha256(path: Path) -> str:
    """The digest of a file, read in pieces. Raises ModelNotFound, ModelFileError."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                digest.update(chunk)
    except FileNotFoundError as error:
        raise ModelNotFound(f"there is no file {path}", hint="check the spelling of the path") from error
    except OSError as error:
        raise ModelFileError(f"cannot read {path}: {error.strerror}", hint="check its permissions") from error
    return digest.hexdigest()


def _entries(manifest: Path, folder: Path, *, embedded: bool) -> Iterator[ModelEntry]:
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
