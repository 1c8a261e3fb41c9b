"""The sources that a name chooses among those that are known, whether or not the files still exist."""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path

from localcrag._platform import expanded, source_of
from localcrag.documents.discovery import WILDCARD_PATTERN, glob_takes


def held_sources(named: str, held: Collection[str]) -> list[str]:
    """The known sources that a name chooses: a source itself, a file, a folder, or a glob.

    A folder stands for all that is below it. A glob takes what it takes in an ingestion: ``~/papers/*`` also
    what is in the folders there; it may begin as a URL does.
    """
    if named in held:
        return [named]
    if "://" in named:
        return [source for source in held if glob_takes(_parts(named), _parts(source))]
    path = _absolute(named)
    if path is None:
        return []
    places = {str(path), os.path.realpath(path), source_of(path)}
    if found := [source for source in held if source in places or _is_in(source, places)]:
        return found
    if not WILDCARD_PATTERN.search(named):
        return []
    patterns = {_parts(str(path)), _parts(os.path.realpath(path))}
    return [source for source in held if any(glob_takes(pattern, _parts(source)) for pattern in patterns)]


def _absolute(named: str) -> Path | None:
    """The absolute path of a name, without "." and ".."; None for what can be none."""
    if not named.strip():
        return None
    try:
        return Path(os.path.abspath(expanded(named)))  # noqa: PTH100 - it takes ".." away
    except (OSError, ValueError):
        return None


def _is_in(source: str, folders: Collection[str]) -> bool:
    return any(source.startswith(folder.rstrip(os.sep) + os.sep) for folder in folders)


def _parts(path: str) -> tuple[str, ...]:
    return tuple(path.split("/"))
