"""From what the user names to the files to read: folders, globs, files, ``-`` and URLs.

A file is named by its absolute path: the target's real path, and below it the names as they are, so
that the same folder reached by two routes gives the same sources.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from localcrag._platform import expanded, source_of
from localcrag.documents.ignore import Home, Rules, is_hidden, is_leavings
from localcrag.documents.sources import LocalFile, StdinFile, UrlFile
from localcrag.errors import CorpusError
from localcrag.types import Skipped

FoundSource = LocalFile | StdinFile | UrlFile | Skipped
Place = tuple[int, int] | str
"""What makes two names mean the same: the device and inode of a file, else the name itself."""
Met = tuple[Place, FoundSource]

_NO_HOME = Home()
_URL = re.compile(r"https?://[^/\s]", re.IGNORECASE)
_WILD = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class IngestTarget:
    """A folder to walk, and which of the files below it to take.

    ``pattern`` holds the parts of a glob relative to ``folder``; empty, it takes everything.
    """

    named: str
    folder: str
    pattern: tuple[str, ...] = ()


def discover(targets: Sequence[str], home: Home = _NO_HOME) -> Iterator[FoundSource]:
    """Every source that the targets name, each once, in a fixed order.

    A file named by itself is always taken, unless it is one that localcrag keeps in its ``home``. Below
    folders and for globs, hidden entries, tools' leavings, ignored paths and the home are left out (see
    :mod:`localcrag.documents.ignore`).

    Raises CorpusError for a target that does not exist, before anything is yielded, and for a glob that
    matches nothing.
    """
    plan = [_understood(target, home) for target in targets]
    return _once(plan, home)


def _once(plan: Sequence[Met | IngestTarget], home: Home) -> Iterator[FoundSource]:
    seen: set[Place] = set()
    for item in plan:
        for place, found in _below(item, home) if isinstance(item, IngestTarget) else (item,):
            if place not in seen:
                seen.add(place)
                yield found


def _understood(target: str, home: Home) -> Met | IngestTarget:
    """What one target means; looks at the disk, but reads nothing."""
    if target == "-":
        return "-", StdinFile()
    if _URL.match(target):
        return target, UrlFile(target)
    path = expanded(target)
    try:
        info = path.stat()
    except OSError as error:
        if _WILD.search(target) and error.errno != errno.EACCES:
            return _glob(target)
        raise _cannot_look(target, error) from error
    except ValueError as error:
        raise CorpusError(f"not a path: {target!r}", hint="Check the spelling.") from error
    if stat.S_ISDIR(info.st_mode):
        return IngestTarget(target, os.path.realpath(path))
    named, real = source_of(path), os.path.realpath(path)
    if home.excludes(real, real):
        return named, Skipped(named, "localcrag keeps it for itself")
    return _file(named, info)


def _glob(target: str) -> IngestTarget:
    """The folder before the first wildcard, and the pattern from there on."""
    parts = expanded(target).parts
    first = next(i for i, part in enumerate(parts) if _WILD.search(part))
    folder = Path(*parts[:first])
    if not folder.is_dir():
        raise CorpusError(
            f"no such folder: {folder} (in {target})", hint="Check the spelling of the pattern's start."
        )
    return IngestTarget(target, os.path.realpath(folder), parts[first:])


def _cannot_look(target: str, error: OSError) -> CorpusError:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return CorpusError(f"no such file or folder: {target}", hint="Check the spelling of the path.")
    return CorpusError(
        f"cannot look at {target}: {error.strerror or error}", hint="Check the permissions of its folders."
    )


def _file(path: str, info: os.stat_result) -> Met:
    try:
        path.encode()
    except UnicodeEncodeError:
        return path, Skipped(path.encode(errors="replace").decode(), "its name is not valid UTF-8")
    if not stat.S_ISREG(info.st_mode):
        return path, Skipped(path, "not a regular file (a pipe can be read with -)")
    return _identity(info), LocalFile(path, path, info.st_size, info.st_mtime_ns)


def _identity(info: os.stat_result) -> tuple[int, int]:
    return info.st_dev, info.st_ino


# ---------------------------------------------------------------------------------- walking


def _below(target: IngestTarget, home: Home) -> Iterator[Met]:
    found = False
    for met in _walk(target, home):
        found = True
        yield met
    if target.pattern and not found:
        raise CorpusError(
            f"nothing matches {target.named}",
            hint="Hidden and ignored files are not matched by a pattern; name them one by one.",
        )


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to enter: ``real`` is its real path, ``parts`` are the names from the target down to it,
    ``rules`` those around it, and in it once it is entered.
    """

    path: str
    real: str
    parts: tuple[str, ...]
    rules: Rules


def _walk(target: IngestTarget, home: Home) -> Iterator[Met]:
    """Depth first; in each folder its files by name, then its folders by name. A folder is entered once."""
    entered: set[tuple[int, int]] = set()
    pending = [_Folder(target.folder, target.folder, (), Rules())]
    while pending:
        folder = pending.pop()
        try:
            place = _identity(os.stat(folder.path))  # noqa: PTH116
            if place in entered:
                continue
            entered.add(place)
            folder = replace(folder, rules=folder.rules.entering(folder.path))
            with os.scandir(folder.path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            reason = f"this folder cannot be looked at: {error.strerror or error}"
            yield folder.path, Skipped(folder.path, reason)
            continue
        looked = [_look(entry, folder, target, home) for entry in entries]
        yield from (met for met in looked if isinstance(met, tuple))
        pending += [inner for inner in reversed(looked) if isinstance(inner, _Folder)]


def _look(entry: os.DirEntry[str], inside: _Folder, target: IngestTarget, home: Home) -> Met | _Folder | None:
    """A file to read or to report, a folder to enter, or None to pass over."""
    parts, rules = (*inside.parts, entry.name), inside.rules
    real = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(inside.real, entry.name)  # noqa: PTH118
    if is_hidden(entry.name) or home.excludes(real, target.folder):
        return None
    try:
        info = entry.stat()
    except OSError as error:
        if not _matches(target.pattern, parts) or rules.exclude(entry.path, is_folder=False):
            return None
        broken = entry.is_symlink() and error.errno in (errno.ENOENT, errno.ELOOP)
        reason = "a link to nothing" if broken else f"it cannot be looked at: {error.strerror or error}"
        return entry.path, Skipped(entry.path, reason)
    is_folder = stat.S_ISDIR(info.st_mode)
    fits = _leads_on if is_folder else _matches
    if not fits(target.pattern, parts) or rules.exclude(entry.path, is_folder=is_folder):
        return None
    if not is_folder:
        return _file(entry.path, info)
    return None if is_leavings(entry.path, entry.name) else _Folder(entry.path, real, parts, rules)


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
