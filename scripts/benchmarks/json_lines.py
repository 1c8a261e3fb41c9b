"""Files of JSON lines, which may be compressed with zstandard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The lines of a file, decoded one by one; it is closed with the iterator."""
    with _opened(path) as lines:
        yield from map(json.loads, lines)


def _opened(path: Path) -> Any:
    if path.suffix != ".zst":
        return path.open(encoding="utf-8")
    import zstandard

    unpacked = zstandard.ZstdDecompressor(max_window_size=2**27)
    return zstandard.open(path, "rt", encoding="utf-8", dctx=unpacked)
