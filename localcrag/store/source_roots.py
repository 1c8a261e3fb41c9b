"""The folders that documents were ingested from, kept in one place of a knowledge base.

A source is shown as what it is, an absolute path, a URL or ``text:NAME``. It is kept relative to its root: of
the root ``/home/ada/papers``, whose key is ``@1/``, the file ``/home/ada/papers/2024/a.pdf`` is kept as
``@1/2024/a.pdf``. Only ``roots.json`` says where a root is, so documents that were moved need one new line
there, and nothing of what is searched changes.

A key is any beginning of kept sources: if only ``papers/2024`` was moved, ``@1/2024/`` becomes a root of its
own. What an earlier version wrote is kept by its absolute path. It is shown as it is, until it was moved too:
then its former folder is the key.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from localcrag.errors import DamagedKnowledgeBase
from localcrag.store.json_files import write_json
from localcrag.store.kb_record import mending_hint, shown_name

ROOTS_FILE = "roots.json"
NOWHERE = ""
"""How a source is kept of which no document can be kept; no source is empty."""
_NUMBERED_KEY = re.compile(r"@(\d+)/")
_ABSOLUTE = re.compile(r"[/\\]|[A-Za-z]:[/\\]")


@dataclass(frozen=True, slots=True)
class SourceRoot:
    """A folder with documents: sources that are kept with ``key`` in front are below the folder ``place``."""

    key: str
    place: str

    def shown(self, kept: str) -> str:
        """The source that is kept in this way below this root."""
        return below(self.place, kept[len(self.key) :].replace("/", os.sep))

    def kept(self, source: str) -> str:
        """How a source below this root is kept."""
        return self.key + source[len(below(self.place, "")) :].replace(os.sep, "/")


@dataclass(frozen=True, slots=True)
class SourceRoots:
    """All roots of one knowledge base: how a source that is shown is kept, and the other way round."""

    roots: tuple[SourceRoot, ...] = ()

    def to_dict(self) -> dict[str, str]:
        """The folder of each key."""
        return {root.key: root.place for root in self.roots}

    def root_of(self, kept: str) -> SourceRoot | None:
        """The root of a source that is kept so: that with the longest key; None if it is relative to none."""
        found = [root for root in self.roots if kept.startswith(root.key)]
        return max(found, key=lambda root: len(root.key), default=None)

    def shown(self, kept: str) -> str:
        """The source that is kept in this way."""
        root = self.root_of(kept)
        return kept if root is None else root.shown(kept)

    def kept(self, source: str) -> str:
        """How a source is kept, relative to its innermost root; :data:`NOWHERE` if it cannot be."""
        above = [root for root in self.roots if is_below(source, root.place)]
        for root in sorted(above, key=lambda root: -len(root.place)):
            if self.shown(kept := root.kept(source)) == source:
                return kept
        return source if self.shown(source) == source else NOWHERE

    def covers(self, folder: str) -> bool:
        """Whether what is in a folder is kept relative to a root already."""
        inside = below(folder, "x")
        return self.kept(inside) not in (inside, NOWHERE)

    def keeps(self, held: Iterable[str]) -> bool:
        """Whether sources that are kept so are found again by the sources that they are shown as."""
        return all(self.kept(self.shown(kept)) == kept for kept in held)

    def with_folder(self, folder: str, held: Sequence[str]) -> SourceRoots:
        """These roots, and a folder as another one.

        They stay as they are if the folder is in one of them, or if documents that are ``held``, as they are
        kept, would not be found any more: those that an earlier version read from this folder.
        """
        if self.covers(folder):
            return self
        taken = [_NUMBERED_KEY.match(key) for key in (*(root.key for root in self.roots), *held)]
        number = max((int(match[1]) for match in taken if match), default=0) + 1
        wider = SourceRoots((*self.roots, SourceRoot(f"@{number}/", folder)))
        return wider if wider.keeps(held) else self

    def relocated(self, old: str, new: str) -> SourceRoots:
        """The roots after all that was in the folder ``old`` was moved to the folder ``new``.

        A folder that is no root itself becomes one.
        """
        moved = tuple(SourceRoot(root.key, moved_path(root.place, old, new)) for root in self.roots)
        if any(root.place == old for root in self.roots):
            return SourceRoots(moved)
        inside = self.kept(below(old, "x"))
        return SourceRoots((*moved, SourceRoot(inside.removesuffix("x"), new))) if inside else self


def below(folder: str, name: str) -> str:
    """The path of something in a folder; the folder may be that of the file system."""
    return folder.rstrip(os.sep) + os.sep + name


def is_below(source: str, folder: str) -> bool:
    """Whether a source is in a folder, at any depth."""
    return source.startswith(below(folder, ""))


def is_path(source: str) -> bool:
    """Whether a source is a file, rather than a URL or a text."""
    return _ABSOLUTE.match(source) is not None


def moved_path(path: str, old: str, new: str) -> str:
    """A path after the folder ``old`` was moved to ``new``; it stays if it is not in it."""
    if path == old:
        return new
    return below(new, path[len(below(old, "")) :]) if is_below(path, old) else path


# ---------------------------------------------------------------------------------- the file


class SourceRootsFile:
    """The file ``roots.json`` in the folder of a knowledge base, which exists once there is a root."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ROOTS_FILE
        self._read: tuple[tuple[int, int, int], SourceRoots] | None = None

    def current(self) -> SourceRoots:
        """The roots as they are now; the file is read again only if it was changed.

        Raises DamagedKnowledgeBase if it cannot be understood, OSError.
        """
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return SourceRoots()
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        if self._read is None or self._read[0] != stamp:
            self._read = stamp, self._parsed()
        return self._read[1]

    def write(self, roots: SourceRoots) -> None:
        """Replace the roots in one step; call it under the write lock. Raises OSError."""
        listed = [[root.key, root.place] for root in roots.roots]
        write_json(self._path, {"sha256": _digest(listed), "roots": listed})

    def readable(self) -> SourceRoots:
        """The roots, none if the file cannot be understood: sources are then shown as they are kept."""
        return SourceRoots() if self.is_damaged else self.current()

    @property
    def is_damaged(self) -> bool:
        """Whether there is a file, and it cannot be understood. Raises OSError."""
        try:
            self.current()
        except DamagedKnowledgeBase:
            return True
        return False

    def _parsed(self) -> SourceRoots:
        try:
            found = json.loads(self._path.read_text("utf-8"))
            listed = found["roots"]
            if found["sha256"] == _digest(listed):
                return SourceRoots(tuple(SourceRoot(str(key), str(place)) for key, place in listed))
        except (ValueError, TypeError, LookupError, RecursionError):
            pass
        name = shown_name(self._path.parent)
        raise DamagedKnowledgeBase(
            f"the list of the folders that the documents of {name!r} are in is damaged",
            hint=mending_hint(name),
        )


def _digest(listed: object) -> str:
    return hashlib.sha256(json.dumps(listed).encode()).hexdigest()
