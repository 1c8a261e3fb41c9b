"""Where a platform keeps a program's files.

The rules are those of platformdirs. On Linux they are three lines of the XDG base directory
specification, and stand here: importing platformdirs takes a tenth of what a warm search takes.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

NAME = "localcrag"
_XDG = sys.platform == "linux"


def config() -> Path:
    """The folder of the configuration file."""
    if _XDG:
        return _xdg("XDG_CONFIG_HOME", ".config")
    import platformdirs

    return platformdirs.user_config_path(NAME)


def data() -> Path:
    """The folder of what is kept."""
    if _XDG:
        return _xdg("XDG_DATA_HOME", ".local/share")
    import platformdirs

    return platformdirs.user_data_path(NAME)


def runtime() -> Path:
    """The folder of sockets and locks, which goes with the user's session; it may not exist."""
    if _XDG:
        return _xdg("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    import warnings

    import platformdirs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is none is for the caller to find
        return platformdirs.user_runtime_path(NAME, appauthor=False)


def _xdg(variable: str, default: str) -> Path:
    """A relative path in the variable counts as none, as the specification says."""
    named = os.environ.get(variable, "").strip()
    return (Path(named) if named.startswith("/") else Path.home() / default) / NAME
