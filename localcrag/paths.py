"""What a path that the user named means."""

from __future__ import annotations

import os
from pathlib import Path


def expanded(named: str) -> Path:
    """The path, with ``~`` and ``~user`` in front made that home, unless a file is called just so.

    Where there is no such user it stays as it is: ``~$report.docx`` is what Word calls a lock file.
    """
    path = Path(named)
    if os.path.lexists(path):
        return path
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def source_of(path: Path) -> str:
    """What the document of a file is called: its own name, in the real path of its folder."""
    return os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118 - a string is wanted
