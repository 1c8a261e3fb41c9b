"""The operating system and Python as localcrag sees them: folders, paths, processors, characters.

The rules for folders are those of platformdirs. On Linux they are three lines of the XDG base
directory specification and stand here, because importing platformdirs takes a tenth of the time
that a warm search takes.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

APPLICATION_NAME = "localcrag"
_XDG = sys.platform == "linux"


def config_folder() -> Path:
    """The folder of the configuration file."""
    if _XDG:
        return _xdg("XDG_CONFIG_HOME", ".config")
    import platformdirs

    return platformdirs.user_config_path(APPLICATION_NAME)


def data_folder() -> Path:
    """The folder of what is kept."""
    if _XDG:
        return _xdg("XDG_DATA_HOME", ".local/share")
    import platformdirs

    return platformdirs.user_data_path(APPLICATION_NAME)


def runtime_folder() -> Path:
    """The folder of sockets and locks, which goes with the user's session; it may not exist."""
    if _XDG:
        return _xdg("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    import warnings

    import platformdirs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is none is for the caller to find
        return platformdirs.user_runtime_path(APPLICATION_NAME, appauthor=False)


def _xdg(variable: str, default: str) -> Path:
    """A relative path in the variable counts as none, as the specification says."""
    named = os.environ.get(variable, "").strip()
    return (Path(named) if named.startswith("/") else Path.home() / default) / APPLICATION_NAME


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


def cores() -> int:
    """The processors it may run on, at least 1: fewer than the machine has where a container says so."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


_SURROGATES = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with U+FFFD for each lone surrogate.

    That is what JSON and some encodings can name of half a character, and what bytes that are no text
    become in an argument.
    """
    return _SURROGATES.sub("\ufffd", text)
