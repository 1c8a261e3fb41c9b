"""The note of a write that is under way: after a kill it says which sources to look at."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from localcrag.store.kb_folders import write_json


class Journal:
    """A file that lists the sources of an unfinished write, and is absent otherwise."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "unfinished.json"

    def begin(self, sources: Collection[str]) -> None:
        """On the disk before it returns. Raises OSError."""
        write_json(self._path, sorted(sources))

    def sources(self) -> set[str]:
        return set(strings(self._path))

    def end(self) -> None:
        self._path.unlink(missing_ok=True)


def strings(path: Path) -> list[str]:
    """A JSON list of strings; nothing where there is no file, or one that is not such a list."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return []
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []
