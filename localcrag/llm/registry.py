"""The model registry: the embedded models and those that the user added, by name.

There are two manifests of one format: ``manifest.toml`` beside the embedded models, and ``models.toml``
in localcrag's home folder. A manifest lists ``[[model]]`` tables with the keys name, file, role, sha256,
bytes, license and description. Some have further keys:

=============  ================================================================================
package        the Python distribution that carries the file, which is then a path beside its packages
parts          how many distributions carry a part of the file each: the names of package and file have the
               number in the place of ``{part}``, or with zeros before it ``{part:02}``
requantise     the quantisation that the file is brought into once, see :mod:`localcrag.llm.requantise`
base           of an adapter: the name of the model that it was made for
base_sha256    of an adapter: the sha256 of that model's file as it is shipped
=============  ================================================================================

A file in a package is found without importing the package.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from importlib.util import find_spec
from pathlib import Path, PurePosixPath

from localcrag._platform import expanded, replace_text
from localcrag.errors import ModelError, ModelFileError, ModelNotFound
from localcrag.llm.gguf import read_metadata
from localcrag.llm.model_entry import ModelEntry, Role, existing_file, sha256
from localcrag.llm.model_file_checks import ADAPTER_BASE_KEY
from localcrag.llm.requantise import is_made, requantised

_FURTHER_KEYS = ("package", "requantise", "base", "base_sha256", "parts")
"""The keys of a manifest that only some models have."""


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

    def find(self, name: str) -> ModelEntry | None:
        """The model of this name, or None. Raises ModelFileError if a manifest cannot be understood."""
        return next((entry for entry in self.entries() if entry.name == name), None)

    def adapter_for(self, name: str) -> ModelEntry | None:
        """The embedded adapter for a model of this name as it is shipped, or None. Raises ModelFileError."""
        entries = self.entries()
        base = next((entry for entry in entries if entry.name == name), None)
        fitting = (
            entry
            for entry in entries
            if entry.embedded and entry.role is Role.ADAPTER and base and entry.base == base.name
            if entry.base_sha256 in ("", base.sha256)
        )
        return next(fitting, None)

    @property
    def _made(self) -> Path:
        """The folder of the models that are made of others."""
        return self.home / "cache" / "models"

    def is_ready(self, entry: ModelEntry) -> bool:
        """Whether nothing has to be made of a model's file before it is used, or that was done."""
        return not entry.requantise or is_made(entry, self._made)

    def resolve(self, name_or_file: str) -> Path:
        """The file of a model given by name or by path, ready for use.

        A model that is used in another quantisation is requantised if that was not done yet. Raises
        ModelNotFound, whose hint lists similar names, ModelNotInstalled, ModelFileError and ModelError.
        """
        entries = {entry.name: entry for entry in self.entries()}
        if entry := entries.get(name_or_file):
            if entry.requantise:
                return requantised(entry, self._made)
            return existing_file(entry)
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

        A model of that name is replaced. Of an adapter, the base that its file names is listed too. Raises
        ModelNotFound, ModelFileError, ModelError.
        """
        path = expanded(str(file)).absolute()
        base, digest = self._base_of(path) if role is Role.ADAPTER else ("", "")
        entry = ModelEntry(
            name, path, role, sha256(path), path.stat().st_size, "", description, embedded=False,
            base=base, base_sha256=digest,
        )  # fmt: skip
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

    def _base_of(self, adapter: Path) -> tuple[str, str]:
        """The name and the digest of the base that an adapter's file names, each "" if it does not."""
        info = read_metadata(adapter)
        digest = str(info.value(ADAPTER_BASE_KEY, ""))
        named = str(info.value("general.base_model.0.name", ""))
        known = (entry.name for entry in self.entries() if digest and entry.sha256 == digest)
        return next(known, named), digest

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
            {
                ("file" if key == "path" else key): value
                for key, value in row.items()
                if key != "embedded" and not (key in _FURTHER_KEYS and not value)
            }
            for row in rows
        ]
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            replace_text(self.manifest, tomli_w.dumps({"model": tables}))
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


def _entries(manifest: Path, folder: Path, *, embedded: bool) -> Iterator[ModelEntry]:
    """The models of a manifest, whose relative paths count from ``folder``; none if it does not exist.

    Raises ModelFileError.
    """
    try:
        tables = tomllib.loads(manifest.read_text("utf-8")).get("model", [])
        for table in tables:
            package, count = table.get("package", ""), int(table.get("parts", 0))
            numbers = range(1, count + 1)
            parts = tuple(_place(folder, table["file"].format(part=n), package) for n in numbers)
            yield ModelEntry(
                name=table["name"],
                path=parts[0] if parts else _place(folder, table["file"], package),
                role=Role(table["role"]),
                sha256=table["sha256"],
                bytes=int(table["bytes"]),
                license=table.get("license", ""),
                description=table.get("description", ""),
                embedded=embedded,
                package=package.format(part=f"{{1..{count}}}") if parts else package,
                requantise=str(table.get("requantise", "")),
                base=str(table.get("base", "")),
                base_sha256=str(table.get("base_sha256", "")),
                parts=parts,
            )
    except FileNotFoundError:
        return
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelFileError(
            f"the list of models {manifest} cannot be understood: {error}", hint="mend it, or move it away"
        ) from error


def _place(folder: Path, file: str, package: str) -> Path:
    """The path of a model's file: in ``folder``, or beside the installed packages if one carries it.

    If the package is not installed, it is a path in ``folder`` at which there is no file. The name of the
    package's folder is the first part of ``file``; finding it does not import it.
    """
    top, *rest = PurePosixPath(file).parts
    spec = find_spec(top) if package else None
    for found in (spec.submodule_search_locations or ()) if spec else ():
        return Path(found, *rest)
    return folder / file
