"""Knowledge bases in a bundle: copied out of a home while nobody writes, and put into another one."""

from __future__ import annotations

import shutil
from pathlib import Path

from localcrag.bundle.bundle_manifest import BundledKnowledgeBase
from localcrag.errors import BundleError
from localcrag.store.checksums import require_whole
from localcrag.store.journal import Journal
from localcrag.store.kb_copies import copy_files, standing_still
from localcrag.store.kb_folders import KnowledgeBaseFolders
from localcrag.store.storage_errors import storage_errors

WRITER_PATIENCE_SECONDS = 60.0
"""How long a copy waits for a process that writes."""


def copied_kb(
    home: Path, name: str, target: Path, embedding: tuple[str, int] | None = None
) -> BundledKnowledgeBase:
    """Copy a knowledge base to the folder ``target``, whole and as of one moment.

    Its write lock is held meanwhile, and every file is compared with its checksum first. ``embedding`` is the
    name and the dimension of the model that it has to be made with; None accepts any.

    Raises UnknownKnowledgeBase, EmbeddingMismatch, DamagedKnowledgeBase, StoreError and BundleError.
    """
    folders = KnowledgeBaseFolders(home)
    record = folders.matching(name, *(embedding or (None, None)))
    folder = folders.existing(name)
    with (
        storage_errors(f"copy the knowledge base {folder}"),
        standing_still(folder, WRITER_PATIENCE_SECONDS),
    ):
        if Journal(folder).sources():
            raise BundleError(
                f"an ingestion into the knowledge base {name!r} was cut off",
                hint="run the same `localcrag ingest` again, which ends it, and make the bundle then",
            )
        require_whole(folder, thorough=True)
        copy_files(folder, target)
    return BundledKnowledgeBase(name, record.embedding_model)


def placed_kb(folder: Path, name: str, home: Path) -> bool:
    """Copy a knowledge base of an unpacked bundle into a home; False if there is one of this name already.

    Raises DamagedKnowledgeBase, StorageFull, StoreError.
    """
    folders = KnowledgeBaseFolders(home)
    if name in folders.names():
        return False
    record = KnowledgeBaseFolders(folder.parents[1]).record(name)
    with folders.making(record) as scratch:
        shutil.copytree(folder, scratch, dirs_exist_ok=True)
    require_whole(folders.path(name), thorough=True)
    return True
