"""Which entries below a folder are left out: hidden ones, folders of tools, ignored paths, localcrag's files.

``.gitignore``, ``.ignore`` and ``.localcragignore`` are read in every folder from the target down, with
the rules of git: the deepest file with a pattern for a path decides, and ``!pattern`` includes it again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from localcrag.documents.ignore_patterns import IgnorePattern, ignore_patterns

IGNORE_FILES = (".gitignore", ".ignore", ".localcragignore")
MAX_IGNORE_BYTES = 1 << 20
"""Bytes of an ignore file that are read; the rest of a longer one is not."""
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
    """The patterns of the ignore files that apply in a folder, outermost first, each with its folder.

    Those of one folder are in the order in which they decide: the last line first.
    """

    patterns: tuple[tuple[str, tuple[IgnorePattern, ...]], ...] = ()

    def entering(self, folder: str) -> Rules:
        """The rules inside ``folder``. Raises OSError if an ignore file there cannot be read."""
        lines: list[str] = []
        for name in IGNORE_FILES:
            path = Path(folder, name)
            if path.is_file():
                with path.open("rb") as file:
                    text = file.read(MAX_IGNORE_BYTES).decode("utf-8", "replace")
                lines += text.removeprefix("\ufeff").split("\n")
        found = tuple(reversed(ignore_patterns(lines)))
        return Rules((*self.patterns, (folder, found))) if found else self

    def exclude(self, path: str, *, is_folder: bool) -> bool:
        """Whether the absolute ``path`` is left out; the innermost rule that names it decides."""
        for folder, patterns in reversed(self.patterns):
            names = Path(os.path.relpath(path, folder)).parts
            for pattern in patterns:
                if pattern.takes(names, is_folder=is_folder):
                    return pattern.excludes
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
