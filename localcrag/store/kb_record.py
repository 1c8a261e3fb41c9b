"""The record of a knowledge base, ``kb.json``, the names in its folder, and the hints if it is damaged."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from localcrag.errors import StoreError
from localcrag.store.storage_errors import storage_error
from localcrag.types.passages import STATIC_MODEL_PREFIX

LAYOUT_VERSION = 2
"""The version of the tables' layout that this code makes."""
READABLE_LAYOUTS = (1, LAYOUT_VERSION)
"""The versions that it reads, and writes to without changing them."""
RECORD_FILE = "kb.json"
"""The record of a knowledge base in its folder."""
TABLES_FOLDER = "lance"
"""The folder of the tables in that of a knowledge base."""
REEMBEDDING_FOLDER = "reembedding"
"""The folder of the passages that are embedded again, in that of a knowledge base."""
TABLES_WITH_VECTORS = ("passages", "questions")


@dataclass(frozen=True, slots=True)
class KnowledgeBaseRecord:
    """The content of ``kb.json``: a knowledge base's name, embedding model, dimension and layout.

    The name in the file is the one it was made with; the folder has the one that counts. ``generation``
    counts how often its passages were embedded again with another model. It says which tables hold them, so
    that the vectors, their dimension and the name of the model change in one step.
    """

    name: str
    embedding_model: str
    dimension: int
    layout: int = LAYOUT_VERSION
    generation: int = 0

    @property
    def is_static(self) -> bool:
        """Whether its vectors are static ones, which say less than those of a real model."""
        return self.embedding_model.startswith(STATIC_MODEL_PREFIX)


def stored_name(table: str, generation: int) -> str:
    """The name under which a table is stored; those with vectors have the number of their generation."""
    return f"{table}_{generation}" if generation and table in TABLES_WITH_VECTORS else table


def shown_name(folder: Path) -> str:
    """The name of the knowledge base in a folder; that of a copy of one on object storage is its address."""
    return unquote(folder.name)


def identity(folder: Path) -> tuple[int, int] | None:
    """A mark that differs if the knowledge base in a folder was replaced; None if there is none."""
    try:
        return record_stamp(folder)
    except OSError:
        return None


def record_in(folder: Path, name: str) -> KnowledgeBaseRecord:
    """The record in the folder of a knowledge base, which has this name now. Raises StoreError."""
    try:
        found = KnowledgeBaseRecord(**json.loads((folder / RECORD_FILE).read_text("utf-8")))
        numbers = (found.dimension, found.layout, found.generation)
        known = all(isinstance(number, int) for number in numbers)
    except PermissionError as error:
        raise storage_error(error, f"read {folder}") from error
    except (OSError, ValueError, TypeError):
        known = False
    if not known:
        raise StoreError(f"{folder} is not a whole knowledge base", hint=remake_hint(name))
    if found.layout not in READABLE_LAYOUTS:
        raise StoreError(
            f"knowledge base {name!r} has layout {found.layout}, "
            f"and this localcrag reads up to {LAYOUT_VERSION}",
            hint="use the localcrag it was made with, or " + remake_hint(name),
        )
    return replace(found, name=name)


def mending_hint(name: str) -> str:
    """The hint for a knowledge base that is damaged."""
    return f"`localcrag kb check {name}` says what is broken and what mends it; at worst, {remake_hint(name)}"


def remake_hint(name: str) -> str:
    """The hint for a knowledge base that cannot be repaired."""
    return f"make it anew: `localcrag kb remove {name}`, then ingest again"


def record_stamp(folder: Path) -> tuple[int, int]:
    """The inode and the modification time of ``kb.json``. Raises OSError."""
    found = (folder / RECORD_FILE).stat()
    return found.st_ino, found.st_mtime_ns
