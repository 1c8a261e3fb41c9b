"""Small JSON files that are read whole and replaced in one step."""

from __future__ import annotations

import json
import os
from pathlib import Path


def write_json(path: Path, value: object) -> None:
    """Replace a file atomically, on the disk before this returns. Raises OSError."""
    scratch = path.with_name(f".{path.name}.{os.getpid()}")
    with scratch.open("w", encoding="utf-8") as file:
        json.dump(value, file, ensure_ascii=False)
        file.flush()
        os.fsync(file.fileno())
    scratch.replace(path)


def read_json(path: Path) -> object:
    """The content of a JSON file; None if there is none, or it is none. Raises OSError."""
    try:
        return json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return None
