"""Finding the sources that targets name: folders, globs, files, ``-`` (standard input) and URLs.

The source of a file is its absolute path: the real path of the target, and below it the names as they
are, so that a folder reached by two routes gives the same sources.
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
from localcrag.documents.ignore import Home, Rules, is_hidden, is_tool_folder
from localcrag.documents.sources import LocalFile, StdinFile, UrlFile
from localcrag.errors import CorpusError
from localcrag.types import Skipped

FoundSource = LocalFile | StdinFile | UrlFile | Skipped
SourceKey = tuple[int, int] | str
"""Equal for two names of the same source: the device and inode of a file, otherwise the name itself."""
KeyedSource = tuple[SourceKey, FoundSource]

_NO_HOME = Home()
_URL = re.compile(r"https?://[^/\s]", re.IGNORECASE)
WILDCARD_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class IngestTarget:
    """A folder to walk, and which of the files below it to take.

    ``named`` is the target as the user wrote it. ``pattern`` holds the parts of a glob relative to
    ``folder``; an empty pattern takes every file. ``follow`` also takes links that lead out of the folder, or
    to something hidden in it.
    """

    named: str
    folder: str
    pattern: tuple[str, ...] = ()
    follow: bool = False


def discover(targets: Sequence[str], home: Home = _NO_HOME, *, follow: bool = False) -> Iterator[FoundSource]:
    """Every source that the targets name, each once, in a fixed order.

    A file named by itself is always taken, unless it is one that localcrag keeps in its ``home``. Below
    folders and for globs, hidden entries, folders made by tools, ignored paths and the home are left out
    (see :mod:`localcrag.documents.ignore`). An entry that cannot be read is given as Skipped, and so is a
    link that leads out of the folder or to something hidden in it, unless ``follow`` says to take it.

    Raises CorpusError for a target that does not exist, before anything is yielded, and for a glob that
    matches nothing.
    """
    plan = [_plan_entry(target, home) for target in targets]
    chosen = (replace(item, follow=follow) if isinstance(item, IngestTarget) else item for item in plan)
    return _unique(list(chosen), home)


def folders_of(targets: Sequence[str]) -> list[str]:
    """The real paths of the folders that targets name or are in; none for URLs and standard input.

    A glob is in the folder before its first wildcard. A target that does not exist has none.
    """
    found = []
    for target in targets:
        if target == "-" or _URL.match(target):
            continue
        path = expanded(target)
        if os.path.isdir(path):  # noqa: PTH112 - it raises nothing
            found.append(os.path.realpath(path))
        elif os.path.lexists(path):
            found.append(os.path.realpath(path.parent))
        elif WILDCARD_PATTERN.search(target):
            found.append(_glob(target).folder)
    return list(dict.fromkeys(found))


def _unique(plan: Sequence[KeyedSource | IngestTarget], home: Home) -> Iterator[FoundSource]:
    seen: set[SourceKey] = set()
    for item in plan:
        for key, found in _sources_below(item, home) if isinstance(item, IngestTarget) else (item,):
            if key not in seen:
                seen.add(key)
                yield found


def _plan_entry(target: str, home: Home) -> KeyedSource | IngestTarget:
    """The source, or the folder to walk, that a target names. Raises CorpusError if there is none."""
    if target == "-":
        return "-", StdinFile()
    if _URL.match(target):
        return target, UrlFile(target)
    path = expanded(target)
    try:
        info = path.stat()
    except OSError as error:
        if WILDCARD_PATTERN.search(target) and error.errno != errno.EACCES:
            return _glob(target)
        raise _target_error(target, error) from error
    except ValueError as error:
        raise CorpusError(f"not a path: {target!r}", hint="Check the spelling.") from error
    if stat.S_ISDIR(info.st_mode):
        return IngestTarget(target, os.path.realpath(path))
    named, real = source_of(path), os.path.realpath(path)
    if home.excludes(real, real):
        return named, Skipped(named, "localcrag keeps it for itself")
    return _file(named, info)


def _glob(target: str) -> IngestTarget:
    """The folder before the first wildcard, and the pattern from there on. Raises CorpusError."""
    parts = expanded(target).parts
    first = next(i for i, part in enumerate(parts) if WILDCARD_PATTERN.search(part))
    folder = Path(*parts[:first])
    if not folder.is_dir():
        raise CorpusError(
            f"no such folder: {folder} (in {target})", hint="Check the spelling of the pattern's start."
        )
    return IngestTarget(target, os.path.realpath(folder), parts[first:])


def _target_error(target: str, error: OSError) -> CorpusError:
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return CorpusError(f"no such file or folder: {target}", hint="Check the spelling of the path.")
    return CorpusError(
        f"cannot look at {target}: {error.strerror or error}", hint="Check the permissions of its folders."
    )


def _file(path: str, info: os.stat_result) -> KeyedSource:
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


def _sources_below(target: IngestTarget, home: Home) -> Iterator[KeyedSource]:
    found = False
    for source in _walk(target, home):
        found = True
        yield source
    if target.pattern and not found:
        raise CorpusError(
            f"nothing matches {target.named}",
            hint="Hidden and ignored files are not matched by a pattern; name them one by one.",
        )


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder to enter.

    ``real`` is its real path, and ``parts`` are the names from the target down to it. ``rules`` are the
    ignore rules of the folders around it; those of the folder itself are added when it is entered.
    """

    path: str
    real: str
    parts: tuple[str, ...]
    rules: Rules


def _walk(target: IngestTarget, home: Home) -> Iterator[KeyedSource]:
    """The files below a target, depth first: in each folder its files by name, then its folders by name.

    Each folder is entered once, so a link to a folder above ends the walk there.
    """
    entered: set[tuple[int, int]] = set()
    pending = [_Folder(target.folder, target.folder, (), Rules())]
    while pending:
        folder = pending.pop()
        try:
            key = _identity(os.stat(folder.path))  # noqa: PTH116
            if key in entered:
                continue
            entered.add(key)
            folder = replace(folder, rules=folder.rules.entering(folder.path))
            with os.scandir(folder.path) as listing:
                entries = sorted(listing, key=lambda entry: entry.name)
        except OSError as error:
            reason = f"this folder cannot be looked at: {error.strerror or error}"
            yield folder.path, Skipped(folder.path, reason)
            continue
        entries_found = [_look(entry, folder, target, home) for entry in entries]
        yield from (source for source in entries_found if isinstance(source, tuple))
        pending += [inner for inner in reversed(entries_found) if isinstance(inner, _Folder)]


def _look(
    entry: os.DirEntry[str], inside: _Folder, target: IngestTarget, home: Home
) -> KeyedSource | _Folder | None:
    """The file to read or to report, the folder to enter, or None for an entry that is left out."""
    parts, rules = (*inside.parts, entry.name), inside.rules
    real = os.path.realpath(entry.path) if entry.is_symlink() else os.path.join(inside.real, entry.name)  # noqa: PTH118
    if is_hidden(entry.name) or home.excludes(real, target.folder):
        return None
    try:
        info = entry.stat()
    except OSError as error:
        if not glob_takes(target.pattern, parts) or rules.exclude(entry.path, is_folder=False):
            return None
        broken = entry.is_symlink() and error.errno in (errno.ENOENT, errno.ELOOP)
        reason = "a link to nothing" if broken else f"it cannot be looked at: {error.strerror or error}"
        return entry.path, Skipped(entry.path, reason)
    is_folder = stat.S_ISDIR(info.st_mode)
    fits = _may_match_below if is_folder else glob_takes
    if not fits(target.pattern, parts) or rules.exclude(entry.path, is_folder=is_folder):
        return None
    if entry.is_symlink() and not target.follow and (reason := _leads_astray(real, target.folder)):
        return entry.path, Skipped(entry.path, reason)
    if not is_folder:
        return _file(entry.path, info)
    return None if is_tool_folder(entry.path, entry.name) else _Folder(entry.path, real, parts, rules)


def _leads_astray(real: str, folder: str) -> str:
    """Why a link to ``real`` is not followed in a folder; "" if it is."""
    if real == folder:
        return ""
    inside = folder.rstrip(os.sep) + os.sep
    if not real.startswith(inside):
        return "a link out of the folder (--follow reads it)"
    if any(map(is_hidden, Path(real[len(inside) :]).parts)):
        return "a link to something hidden (--follow reads it)"
    return ""


def glob_takes(pattern: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    """Whether the glob takes the path, or a folder above it (and so all that is in it)."""
    if not pattern:
        return True
    if not parts:
        return False
    if pattern[0] == "**":
        return any(glob_takes(pattern[1:], parts[i:]) for i in range(len(parts)))
    return fnmatchcase(parts[0], pattern[0]) and glob_takes(pattern[1:], parts[1:])


def _may_match_below(pattern: tuple[str, ...], folder: tuple[str, ...]) -> bool:
    """Whether the glob can take something below the folder."""
    for wanted, name in zip(pattern, folder, strict=False):
        if wanted == "**":
            return True
        if not fnmatchcase(name, wanted):
            return False
    return True
