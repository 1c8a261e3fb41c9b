"""Waiting for documents to change, for ``localcrag ingest --watch``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path

from localcrag._platform import expanded, source_of
from localcrag.documents.ignore import IGNORE_FILES, Home, is_hidden
from localcrag.errors import CorpusError, UsageError

QUIET, LONGEST = 500, 5_000
"""A round begins when nothing changed for so many milliseconds, or after so many whatever happens."""
_WILD = "*?["


@dataclass(frozen=True, slots=True)
class _Place:
    """A folder to watch whole, or for one file in it."""

    folder: str
    file: str = ""

    def holds(self, path: str) -> bool:
        """Whether an ingestion may read ``path``, or is told by it what to read."""
        if self.file or not path.startswith(self.folder.rstrip("/") + "/"):
            return path == self.file
        *folders, name = Path(path).relative_to(self.folder).parts
        return not any(map(is_hidden, folders)) and (not is_hidden(name) or name in IGNORE_FILES)


def changes(targets: Sequence[str], own: Path) -> Iterator[None]:
    """Yields once when the watching has begun, then each time that something below the targets changed.

    What changes while the caller works is not lost. What an ingestion leaves out of ``own``, the home where
    localcrag itself writes, does not count. It ends with KeyboardInterrupt.

    Raises UsageError for a target that is no file or folder, CorpusError for one that cannot be watched.
    """
    from watchfiles import Change, watch

    places = [_place(target) for target in targets]
    home = Home.at(own)

    def counts(_: Change, path: str) -> bool:
        return any(place.holds(path) and not home.excludes(path, place.folder) for place in places)

    seen = watch(
        *{place.folder for place in places},
        watch_filter=counts,
        step=QUIET,
        debounce=LONGEST,
        rust_timeout=QUIET,
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


def _place(target: str) -> _Place:
    path = expanded(target)
    if target == "-" or "://" in target:
        raise UsageError(f"--watch is for files and folders, not for {target}", hint="ingest it apart")
    if path.is_dir():
        return _Place(os.path.realpath(path))
    if path.exists():
        return _Place(os.path.realpath(path.parent), source_of(path))
    fixed = Path(*takewhile(lambda part: not any(sign in part for sign in _WILD), path.parts))
    if fixed != path and fixed.is_dir():
        return _Place(os.path.realpath(fixed))
    raise CorpusError(f"no such file or folder: {target}", hint="Check the spelling of the path.")
