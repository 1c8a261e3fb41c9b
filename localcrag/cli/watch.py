"""Watching documents for changes, for ``localcrag ingest --watch``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from localcrag._platform import expanded, source_of
from localcrag.documents.ignore import IGNORE_FILES, Home, is_hidden
from localcrag.errors import CorpusError, UsageError

QUIET_MILLISECONDS, MAX_DELAY_MILLISECONDS = 500, 5_000
"""Milliseconds without a change after which a round begins, and its longest delay."""
_WILDCARDS = "*?["


@dataclass(frozen=True, slots=True)
class _WatchedPath:
    """A folder that is watched, either all of it or only ``file``, a path in it."""

    folder: str
    file: str = ""

    def holds(self, path: str) -> bool:
        """Whether an ingestion may read ``path``, or it is an ignore file, which decides what is read."""
        if self.file or not path.startswith(self.folder.rstrip(os.sep) + os.sep):
            return path == self.file
        *folders, name = Path(path).relative_to(self.folder).parts
        return not any(map(is_hidden, folders)) and (not is_hidden(name) or name in IGNORE_FILES)


def changes(targets: Sequence[str], own: Path) -> Iterator[None]:
    """Yield once when the watching has begun, then each time that something below the targets changed.

    Changes while the caller works are not lost. Changes to files in ``own``, the home of localcrag, that an
    ingestion leaves out do not count. KeyboardInterrupt ends the watching.

    Raises UsageError for a target that is no file or folder, CorpusError for one that cannot be watched.
    """
    from watchfiles import Change, watch

    places = [_watched_path(target) for target in targets]
    home = Home.at(own)

    def counts(_: Change, path: str) -> bool:
        return any(place.holds(path) and not home.excludes(path, place.folder) for place in places)

    seen = watch(
        *{place.folder for place in places},
        watch_filter=counts,
        step=QUIET_MILLISECONDS,
        debounce=MAX_DELAY_MILLISECONDS,
        rust_timeout=QUIET_MILLISECONDS,
        yield_on_timeout=True,
        recursive=not all(place.file for place in places),
    )
    begun = False
    while True:
        try:
            changed = next(seen)
        except (OSError, RuntimeError) as error:
            raise CorpusError(
                f"cannot watch {', '.join(targets)}: {error}",
                hint="WATCHFILES_FORCE_POLLING=1 looks at the files now and then instead",
            ) from error
        if changed or not begun:
            begun = True
            yield


def _watched_path(target: str) -> _WatchedPath:
    path = expanded(target)
    if target == "-" or "://" in target:
        raise UsageError(f"--watch is for files and folders, not for {target}", hint="ingest it apart")
    if path.is_dir():
        return _WatchedPath(os.path.realpath(path))
    if path.exists():
        return _WatchedPath(os.path.realpath(path.parent), source_of(path))
    fixed = Path(*takewhile(lambda part: not any(sign in part for sign in _WILDCARDS), path.parts))
    if fixed != path and fixed.is_dir():
        return _WatchedPath(os.path.realpath(fixed))
    raise CorpusError(f"no such file or folder: {target}", hint="Check the spelling of the path.")
