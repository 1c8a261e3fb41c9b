"""Folders of files that are made of others once and kept, by whichever process needs them first."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def made_once(target: Path, make: Callable[[Path], object]) -> Path:
    """The folder ``target``; made on first use, beside its place, and then renamed.

    Of several processes only one makes it; the others wait.

    Args:
        target: the folder, named after all that its content depends on.
        make: writes the content into an empty folder.

    Raises what ``make`` raises, and OSError if the folder cannot be written.
    """
    if target.is_dir():
        return target
    from filelock import FileLock

    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(target.with_suffix(".lock")):
        if not target.is_dir():
            part = target.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            part.mkdir()
            try:
                make(part)
                part.rename(target)
            finally:
                shutil.rmtree(part, ignore_errors=True)
    return target


def read_or_remade(
    made: Callable[[], Path],
    read: Callable[[Path], T],
    damaged: type[Exception] | tuple[type[Exception], ...],
) -> T:
    """What is read of a folder; one that is damaged is removed and made again, once.

    Args:
        made: makes the folder if it is not there (:func:`made_once`).
        read: reads it.
        damaged: what ``read`` raises if it is damaged; raised if that is so again.
    """
    folder = made()
    try:
        return read(folder)
    except damaged:
        shutil.rmtree(folder)
    return read(made())
