"""The journal of a write under way: after a kill it lists the sources that may be half written."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from localcrag.store.json_files import write_json


class Journal:
    """The file ``unfinished.json`` in a knowledge base's folder, which exists only during a write."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "unfinished.json"

    def begin(self, sources: Collection[str]) -> None:
        """Record the sources of a write, on the disk before this returns. Raises OSError."""
        write_json(self._path, sorted(sources))

    def sources(self) -> set[str]:
        """The sources of an unfinished write; none if there is no such write."""
        return set(strings(self._path))

    def end(self) -> None:
        """Delete the record, once the write is whole. Raises OSError."""
        self._path.unlink(missing_ok=True)


def strings(path: Path) -> list[str]:
    """The strings of a JSON list; none if there is no such file, or it holds something else."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return []
    return [item for item in found if isinstance(item, str)] if isinstance(found, list) else []
