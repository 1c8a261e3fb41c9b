"""From what the user names to the files to read: folders, globs, files, ``-`` and URLs.

A file is named by its absolute path: the target's real path, and below it the names as they are, so
that the same folder reached by two routes gives the same sources.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from localcrag.corpus.ignore import Rules, is_hidden, is_leavings
from localcrag.corpus.sources import LocalFile, StdinFile, UrlFile
from localcrag.errors import CorpusError
from localcrag.types import Skipped

Found = LocalFile | StdinFile | UrlFile | Skipped

_URL = re.compile(r"https?://[^/\s]", re.IGNORECASE)
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Target:
    """A folder to walk, and which of the files below it to take.

    ``pattern`` holds the parts of a glob relative to ``folder``; empty, it takes everything.
    """

    named: str
    folder: str
    pattern: tuple[str, ...] = ()


@dataclass(slots=True)
class _Seen:
    """Files, folders (by device and inode) and URLs that were met before."""

    places: set[tuple[int, int] | str] = field(default_factory=set)

    def before(self, place: tuple[int, int] | str) -> bool:
        if place in self.places:
            return True
        self.places.add(place)
        return False


def discover(targets: Sequence[str]) -> Iterator[Found]:
    """Every source that the targets name, each once, in a fixed order.

    A file named by itself is always taken. Below folders and for globs, hidden entries, tools' leavings
    and ignored paths are left out (see :mod:`localcrag.corpus.ignore`).

    Raises CorpusError for a target that does not exist, before anything is yielded, and for a glob that
    matches nothing.
    """
    plan = [_understood(target) for target in targets]
    return _discovered(plan)


def _discovered(plan: Sequence[Found | Target]) -> Iterator[Found]:
    seen = _Seen()
    for item in plan:
        match item:
            case Target():
                yield from _below(item, seen)
            case LocalFile():
                info = os.stat(item.path)  # noqa: PTH116
                if not seen.before((info.st_dev, info.st_ino)):
                    yield item
            case _:
                if not seen.before(item.source):
                    yield item


def _understood(target: str) -> Found | Target:
    """What one target means; looks at the disk, but reads nothing."""
    if target == "-":
        return StdinFile()
    if _URL.match(target):
        return UrlFile(target)
    path = Path(target).expanduser()
    try:
        info = path.stat()
    except OSError as error:
        if _WILD.search(target) and error.errno != errno.EACCES:
            return _glob(target)
        raise _cannot_look(target, error) from error
    except ValueError as error:
        raise CorpusError(f"not a path: {target!r}", hint="Check the spelling.") from error
    if stat.S_ISDIR(info.st_mode):
        return Target(target, os.path.realpath(path))
    absolute = os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118
    return _file(absolute, info)


def _glob(target: str) -> Target:
    """The folder before the first wildcard, and the pattern from there on."""
    parts = Path(target).expanduser().parts
    first = next(i for i, part in enumerate(parts) if _WILD.search(part))
    folder = Path(*parts[:first])
    if not folder.is_dir():
        raise CorpusError(
            f"no such folder: {folder} (in {target})", hint="Check the spelling of the pattern's start."
        )
    return Target(target, os.path.realpath(folder), parts[first:])


def _cannot_look(target: str, error: OSError) -> CorpusError:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return CorpusError(f"no such file or folder: {target}", hint="Check the spelling of the path.")
    return CorpusError(
        f"cannot look at {target}: {error.strerror or error}", hint="Check the permissions of its folders."
    )


def _file(path: str, info: os.stat_result) -> LocalFile | Skipped:
    try:
        path.encode()
    except UnicodeEncodeError:
        return Skipped(path.encode(errors="replace").decode(), "its name is not valid UTF-8")
    if not stat.S_ISREG(info.st_mode):
        return Skipped(path, "not a regular file (a pipe can be read with -)")
    return LocalFile(path, path, info.st_size, info.st_mtime_ns)


# ---------------------------------------------------------------------------------- walking


def _below(target: Target, seen: _Seen) -> Iterator[Found]:
    found = False
    for item in _walk(target, seen):
        found = True
        yield item
    if target.pattern and not found:
        raise CorpusError(
            f"nothing matches {target.named}",
            hint="Hidden and ignored files are not matched by a pattern; name them one by one.",
        )


def _walk(target: Target, seen: _Seen) -> Iterator[Found]:
    """Depth first; in each folder its files by name, then its folders by name."""
    pending: list[tuple[str, tuple[str, ...], Rules]] = [(target.folder, (), Rules())]
    while pending:
        folder, parts, rules = pending.pop()
        try:
            info = os.stat(folder)  # noqa: PTH116
            if seen.before((info.st_dev, info.st_ino)):
                continue
            rules = rules.entering(folder)
            with os.scandir(folder) as entries:
                names = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            yield Skipped(folder, f"this folder cannot be looked at: {error.strerror or error}")
            continue
        folders = []
        for entry in names:
            below = (*parts, entry.name)
            kept = _look(entry, below, target, rules)
            if kept is None:
                continue
            if isinstance(kept, str):
                folders.append((kept, below, rules))
            elif isinstance(kept, Skipped) or not seen.before(_identity(entry)):
                yield kept
        pending += reversed(folders)


def _look(
    entry: os.DirEntry[str], below: tuple[str, ...], target: Target, rules: Rules
) -> LocalFile | Skipped | str | None:
    """A file to read, a folder (its path) to enter, something to report, or None to pass over."""
    if is_hidden(entry.name):
        return None
    try:
        info = entry.stat()
    except OSError as error:
        broken = entry.is_symlink() and error.errno in (errno.ENOENT, errno.ELOOP)
        wanted = _matches(target.pattern, below) and not rules.exclude(entry.path, is_folder=False)
        reason = "a link to nothing" if broken else f"it cannot be looked at: {error.strerror or error}"
        return Skipped(entry.path, reason) if wanted else None
    is_folder = stat.S_ISDIR(info.st_mode)
    fits: Callable[[tuple[str, ...], tuple[str, ...]], bool] = _leads_on if is_folder else _matches
    if not fits(target.pattern, below) or rules.exclude(entry.path, is_folder=is_folder):
        return None
    if is_folder:
        return None if is_leavings(entry.path, entry.name) else entry.path
    return _file(entry.path, info)


def _identity(entry: os.DirEntry[str]) -> tuple[int, int]:
    info = entry.stat()
    return info.st_dev, info.st_ino


def _matches(pattern: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """Whether the glob takes the path, or a folder above it (and so all that is in it)."""
    if not pattern:
        return True
    if not parts:
        return False
    if pattern[0] == "**":
        return any(_matches(pattern[1:], parts[i:]) for i in range(len(parts)))
    return fnmatchcase(parts[0], pattern[0]) and _matches(pattern[1:], parts[1:])


def _leads_on(pattern: tuple[str, ...], folder: tuple[str, ...]) -> bool:
    """Whether the glob can take something below the folder."""
    for wanted, name in zip(pattern, folder, strict=False):
        if wanted == "**":
            return True
        if not fnmatchcase(name, wanted):
            return False
    return True
