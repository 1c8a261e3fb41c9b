"""Copies of a knowledge base: as another one, and as an archive of one file.

Both are made under the write lock, so they are the knowledge base of one moment. Who reads it goes on
reading; who writes to it waits.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localcrag.errors import DamagedKnowledgeBase
from localcrag.store import checksums
from localcrag.store.kb_folders import KnowledgeBaseFolders
from localcrag.store.kb_record import mending_hint, shown_name
from localcrag.store.storage_errors import writing_error
from localcrag.store.write_lock import REMOVAL_PATIENCE_SECONDS, try_lock


def copy(folders: KnowledgeBaseFolders, name: str, new: str) -> None:
    """Make a knowledge base with the content of another one.

    Raises UnknownKnowledgeBase, UsageError if there is one of the new name, DamagedKnowledgeBase if a file is
    not as it was written, StoreError if another process writes for long, StorageFull.
    """
    folder = folders.existing(name)
    with folders.filling(new) as scratch, standing_still(folder):
        copy_files(folder, scratch)
        if damaged := checksums.damaged_files(scratch, thorough=True):
            raise damaged_error(name, str(damaged[0]))


def copy_files(folder: Path, target: Path) -> None:
    """Copy what a knowledge base consists of, while nobody may write to it. Raises OSError."""
    for path in content_files(folder):
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(folder / path, target / path)


@contextmanager
def standing_still(folder: Path, patience: float | None = None) -> Iterator[None]:
    """Let nobody write to a knowledge base in the block.

    Raises StoreError if somebody does for longer than ``patience``, in seconds, by default ten.
    """
    with try_lock(folder, patience=REMOVAL_PATIENCE_SECONDS if patience is None else patience) as held:
        if not held:
            raise writing_error(shown_name(folder))
        yield


def content_files(folder: Path) -> list[str]:
    """The paths, below its folder and with "/", of the files that a knowledge base consists of, in order.

    Locks are not among them, nor tables of former embedding models, nor what is embedded with another one.
    """
    lists = [path.name for path in folder.glob("*.json") if not path.name.startswith(".")]
    tables = [
        (Path(place) / name).relative_to(folder).as_posix()
        for table in checksums.tables_in_use(folder).values()
        for place, _, names in os.walk(table)
        for name in names
    ]
    return sorted(lists) + sorted(tables)


def damaged_error(name: str, what: str) -> DamagedKnowledgeBase:
    """The error for a knowledge base that cannot be copied, since a file is not as it was written."""
    return DamagedKnowledgeBase(f"the knowledge base {name!r} is damaged: {what}", hint=mending_hint(name))
