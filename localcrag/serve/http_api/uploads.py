"""Documents that came through the HTTP door: where they are kept, and under which names.

They stay in ``HOME/uploads/KB/``, so that a citation can be opened later. The name that a client gives is
only a proposal: its folders, control characters and signs that mean something to a shell are taken off it, so
that a file lands in that folder and nowhere else.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from localcrag.errors import StorageFull, StoreError

UPLOADS_FOLDER = "uploads"
"""The folder in the home."""
MAX_NAME_BYTES = 150
"""Bytes of a name in UTF-8; file systems take 255, and a scratch name is longer."""
NAMELESS = "document"
"""The name of a file without one."""
_UNWANTED = re.compile(r'[<>:"|?*\[\]{}$`\x00-\x1f\x7f]')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Upload:
    """One file that was sent: the ``name`` that the client gave, and the stream of its bytes."""

    name: str
    stream: BinaryIO


def safe_name(given: str) -> str:
    """A file name made of the last part of what a client gave; never a path, hidden, or reserved."""
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given))[-1]
    kept = "".join(c for c in _UNWANTED.sub("_", last) if unicodedata.category(c) not in ("Cc", "Cf", "Cs"))
    stem, dot, ending = kept.strip(" .").rpartition(".")
    stem, ending = (stem, dot + ending) if stem else (ending, "")
    ending = ending.encode()[:20].decode("utf-8", "ignore")
    room = MAX_NAME_BYTES - len(ending.encode())
    name = stem.encode()[:room].decode("utf-8", "ignore").strip(" .") + ending
    if not name.strip(" ._-"):
        return NAMELESS
    return f"_{name}" if _RESERVED.fullmatch(name) or name.startswith("-") else name


def keep(home: Path, kb: str, uploads: Iterable[Upload]) -> list[Path]:
    """Keep files in the folder of a knowledge base, and return where; two of one name get numbers.

    A file of an earlier upload with the same name is replaced, as a file that was changed. Raises
    StorageFull, StoreError.
    """
    folder = home / UPLOADS_FOLDER / kb
    kept: list[Path] = []
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        (home / UPLOADS_FOLDER).chmod(0o700)
        for upload in uploads:
            kept.append(_keep_one(folder, _free_name(safe_name(upload.name), kept), upload.stream))
    except OSError as error:
        raise _storage_error(folder, error) from error
    return kept


def _keep_one(folder: Path, name: str, stream: BinaryIO) -> Path:
    """Write a file under another name, then give it its own, so that none is ever half. Raises OSError."""
    scratch = folder / f".{secrets.token_hex(8)}.part"
    try:
        with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            shutil.copyfileobj(stream, file, _BLOCK_BYTES)
        scratch.replace(folder / name)
    finally:
        scratch.unlink(missing_ok=True)
    return folder / name


def _free_name(name: str, kept: Iterable[Path]) -> str:
    """The name, with a number before its ending if another file of the same upload has it."""
    taken = {path.name.casefold() for path in kept}
    stem, dot, ending = name.rpartition(".") if "." in name else (name, "", "")
    number, free = 1, name
    while free.casefold() in taken:
        number += 1
        free = f"{stem} ({number}){dot}{ending}"
    return free


def _storage_error(folder: Path, error: OSError) -> StoreError:
    import errno

    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFull(f"no space left to keep uploads in {folder}", hint="make room and try again")
    return StoreError(
        f"uploads cannot be kept in {folder}: {error.strerror or error}",
        hint="look at the permissions there",
    )
