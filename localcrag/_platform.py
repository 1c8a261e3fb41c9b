"""The platform: the folders of the operating system, paths, processors, characters.

The rules for folders are those of platformdirs. On Linux they are three lines of the XDG base directory
specification (https://specifications.freedesktop.org/basedir-spec/latest/), repeated here because
importing platformdirs takes a tenth of the time of a warm search.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

APPLICATION_NAME = "localcrag"
_FOLLOWS_XDG = sys.platform == "linux"


def config_folder() -> Path:
    """The folder of the configuration file."""
    if _FOLLOWS_XDG:
        return _xdg("XDG_CONFIG_HOME", ".config")
    import platformdirs

    return platformdirs.user_config_path(APPLICATION_NAME)


def data_folder() -> Path:
    """The folder of lasting data: knowledge bases, models, conversations."""
    if _FOLLOWS_XDG:
        return _xdg("XDG_DATA_HOME", ".local/share")
    import platformdirs

    return platformdirs.user_data_path(APPLICATION_NAME)


def runtime_folder() -> Path:
    """The folder of sockets and locks, which the system deletes after the user's session.

    It may not exist.
    """
    if _FOLLOWS_XDG:
        return _xdg("XDG_RUNTIME_DIR", f"/run/user/{os.getuid()}")
    import warnings

    import platformdirs

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the caller finds out by itself that there is none
        return platformdirs.user_runtime_path(APPLICATION_NAME, appauthor=False)


def _xdg(variable: str, default: str) -> Path:
    """The folder in this variable; a relative path in it is ignored, as the specification demands."""
    named = os.environ.get(variable, "").strip()
    return (Path(named) if named.startswith("/") else Path.home() / default) / APPLICATION_NAME


def expanded(named: str) -> Path:
    """The path, with ``~`` or ``~user`` in front replaced by that home, unless a file has just this name.

    If there is no such user it stays as it is: ``~$report.docx`` is the name of a lock file of Word.
    """
    path = Path(named)
    if os.path.lexists(path):
        return path
    try:
        return path.expanduser()
    except RuntimeError:
        return path


def source_of(path: Path) -> str:
    """The source of a file's document: the real path of the folder, and the file's own name."""
    return os.path.join(os.path.realpath(path.parent), path.name)  # noqa: PTH118 - a string is wanted


def replace_text(path: Path, text: str) -> None:
    """Write a text file as UTF-8, and put it in place of an older one in one step. Raises OSError."""
    part = path.with_suffix(".part")
    part.write_text(text, "utf-8")
    part.replace(path)


def peak_memory_bytes() -> int | None:
    """The most memory that this process has had so far, in bytes; None if the platform does not tell.

    Linux tells it in ``/proc``; its ``getrusage`` would count what the process was before it ran Python.
    """
    try:
        status = Path("/proc/self/status").read_text("ascii", "replace")
    except OSError:
        return _largest_resident_set()
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _largest_resident_set() -> int | None:
    """The peak by ``getrusage``, in bytes, which macOS counts in bytes and others in kilobytes."""
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def cores() -> int:
    """The number of processors this process may run on, at least 1; a container may allow few."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine_memory() -> int | None:
    """The bytes of memory of this machine; None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):
        return None


_SURROGATE_PATTERN = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with U+FFFD in place of each lone surrogate, which UTF-8 cannot encode.

    JSON and some encodings can name half a character by one, and Python puts them in place of bytes in a
    command-line argument that are not text.
    """
    try:
        text.encode()  # tells it many times faster than a search
    except UnicodeEncodeError:
        return _SURROGATE_PATTERN.sub("\ufffd", text)
    return text
