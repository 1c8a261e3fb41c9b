"""Which files below a folder are left out: hidden ones, tools' leavings, what ignore files name, and our own.

``.gitignore``, ``.ignore`` and ``.localcragignore`` are read in every folder from the target down, with
git's rules: the deepest file that says something about a path decides, and ``!pattern`` takes it back.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".ignore", ".localcragignore")
_LEAVINGS = frozenset({"node_modules", "bower_components", "__pycache__", "__MACOSX", "CVS", "_darcs"})
_MARKERS = ("pyvenv.cfg", "CACHEDIR.TAG")
_KEPT_FOLDERS = frozenset({"cache", "knowledge", "models", "run"})
_KEPT_FILES = frozenset(
    {
        "calibrations.toml",
        "config.toml",
        "egress.jsonl",
        "egress.lock",
        "models.toml",
        "threads.db",
        "threads.db-journal",
    }
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The ignore files that are in force in a folder, outermost first, each with the folder it lies in."""

    specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def entering(self, folder: str) -> Rules:
        """The rules inside ``folder``. Raises OSError where an ignore file there cannot be read."""
        lines: list[str] = []
        for name in IGNORE_FILES:
            path = Path(folder, name)
            if path.is_file():
                lines += path.read_text(encoding="utf-8", errors="replace").splitlines()
        return Rules((*self.specs, (folder, _spec(lines)))) if lines else self

    def exclude(self, path: str, *, is_folder: bool) -> bool:
        """Whether ``path`` (absolute) is left out."""
        for folder, spec in reversed(self.specs):
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            said = spec.check_file(relative + "/" if is_folder else relative).include
            if said is not None:
                return said
        return False


@dataclass(frozen=True, slots=True)
class Home:
    """The folder, by its real path, where localcrag keeps its own files: they are no documents.

    For who looks from outside it is left out whole; for who names the home itself, or something in it, only
    what localcrag keeps there is.
    """

    path: str = ""

    @classmethod
    def at(cls, path: Path) -> Home:
        return cls(os.path.realpath(path))

    def excludes(self, path: str, start: str) -> bool:
        """Whether ``path`` is left out where one looks from ``start``, both real paths."""
        if not self._holds(path):
            return False
        kept = path[len(self.path) :].strip(os.sep).partition(os.sep)[0]
        return not self._holds(start) or kept in _KEPT_FOLDERS | _KEPT_FILES

    def _holds(self, path: str) -> bool:
        return bool(self.path) and f"{path}/".startswith(self.path.rstrip("/") + "/")


def is_hidden(name: str) -> bool:
    return name.startswith(".")


def is_leavings(path: str, name: str) -> bool:
    """Whether a folder is what a tool left behind: packages, caches, a virtual environment."""
    return name in _LEAVINGS or any(os.path.exists(os.path.join(path, marker)) for marker in _MARKERS)  # noqa: PTH110, PTH118


def _spec(lines: list[str]) -> GitIgnoreSpec:
    """Like git, passes over a line that is no pattern."""
    from pathspec import GitIgnoreSpec
    from pathspec.patterns.gitignore.base import GitIgnorePatternError

    good = []
    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except GitIgnorePatternError:
            continue
        good.append(line)
    return GitIgnoreSpec.from_lines(good)
