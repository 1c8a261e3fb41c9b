"""Which entries below a folder are left out: hidden ones, folders of tools, ignored paths, localcrag's files.

``.gitignore``, ``.ignore`` and ``.localcragignore`` are read in every folder from the target down, with
the rules of git: the deepest file with a pattern for a path decides, and ``!pattern`` includes it again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".ignore", ".localcragignore")
_TOOL_FOLDERS = frozenset({"node_modules", "bower_components", "__pycache__", "__MACOSX", "CVS", "_darcs"})
_MARKER_FILES = ("pyvenv.cfg", "CACHEDIR.TAG")
_OWN_FOLDERS = frozenset({"cache", "knowledge", "models", "run"})
_OWN_FILES = frozenset(
    {
        "calibrations.toml",
        "config.toml",
        "egress.jsonl",
        "egress.lock",
        "http-token",
        "models.toml",
        "threads.db",
        "threads.db-journal",
    }
)


@dataclass(frozen=True, slots=True)
class Rules:
    """The patterns of the ignore files that apply in a folder, outermost first, each with its folder."""

    specs: tuple[tuple[str, GitIgnoreSpec], ...] = ()

    def entering(self, folder: str) -> Rules:
        """The rules inside ``folder``. Raises OSError if an ignore file there cannot be read."""
        lines: list[str] = []
        for name in IGNORE_FILES:
            path = Path(folder, name)
            if path.is_file():
                lines += path.read_text(encoding="utf-8", errors="replace").splitlines()
        return Rules((*self.specs, (folder, _spec(lines)))) if lines else self

    def exclude(self, path: str, *, is_folder: bool) -> bool:
        """Whether the absolute ``path`` is left out; the innermost rule that names it decides."""
        for folder, spec in reversed(self.specs):
            relative = os.path.relpath(path, folder).replace(os.sep, "/")
            said = spec.check_file(relative + "/" if is_folder else relative).include
            if said is not None:
                return said
        return False


@dataclass(frozen=True, slots=True)
class Home:
    """The folder in which localcrag keeps its own files, which are not documents; ``path`` is its real path.

    A walk that starts outside leaves the whole folder out. A walk that starts at the home or inside it
    leaves out only the files and folders that localcrag makes there. An empty ``path`` means no home.
    """

    path: str = ""

    @classmethod
    def at(cls, path: Path) -> Home:
        """The home at ``path``, whose links are resolved."""
        return cls(os.path.realpath(path))

    def excludes(self, path: str, start: str) -> bool:
        """Whether a walk that starts at ``start`` leaves ``path`` out; both are real paths."""
        if not self._holds(path):
            return False
        kept = path[len(self.path) :].strip(os.sep).partition(os.sep)[0]
        return not self._holds(start) or kept in _OWN_FOLDERS | _OWN_FILES

    def _holds(self, path: str) -> bool:
        return bool(self.path) and (path + os.sep).startswith(self.path.rstrip(os.sep) + os.sep)


def is_hidden(name: str) -> bool:
    """Whether a file name is hidden, as on Unix: it begins with a dot."""
    return name.startswith(".")


def is_tool_folder(path: str, name: str) -> bool:
    """Whether a folder was made by a tool: installed packages, a cache, a virtual environment."""
    markers = (os.path.join(path, marker) for marker in _MARKER_FILES)  # noqa: PTH118
    return name in _TOOL_FOLDERS or any(map(os.path.exists, markers))


def _spec(lines: list[str]) -> GitIgnoreSpec:
    """The patterns of ignore files; like git, without the lines that are not valid patterns."""
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
