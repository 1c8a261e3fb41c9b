"""Brings a model into another quantisation, once, and keeps the result.

llama.cpp has repacked kernels for some quantisations and none for others: on a processor with AVX-512 a
model in Q4_0 reads three times as fast as the same one in Q4_1. So a manifest may say that a model is used
in another quantisation than it is shipped in. One that comes in parts is put together for it, and taken apart
again. The result lies in ``cache/models`` of the home folder under
the sha256 of the source, so that another source never takes its place; deleting it is harmless.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shutil import copyfileobj

from localcrag.errors import ModelError, ModelFileError
from localcrag.llm.gguf import read_metadata
from localcrag.llm.model_entry import READ_CHUNK_BYTES, ModelEntry, existing_file, verify


def requantised(entry: ModelEntry, folder: Path) -> Path:
    """The file of a model in the quantisation that its manifest asks for, made in ``folder`` on first use.

    The source is compared with its sha256 before it is used. The result is written beside its place and
    renamed, and of several processes only one makes it. One that is damaged is made again.

    Raises ModelNotFound, ModelNotInstalled, ModelFileError for a source that is not the one of the
    manifest, and ModelError if the result cannot be written.
    """
    target = _target(entry, folder)
    if _is_whole(target):
        return target
    first = existing_file(entry)
    if wrong := verify(entry):
        raise ModelFileError(
            f"{first} is not the file that localcrag knows: {wrong}",
            hint=f"install it again: {entry.installation} --force-reinstall",
        )
    from filelock import FileLock

    from localcrag.llm.llama_backend import quantise

    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(target.with_suffix(".lock")):
            if not _is_whole(target):
                part = target.with_suffix(".part")
                try:
                    with _whole(entry, target.with_suffix(".whole")) as source:
                        quantise(source, part, entry.requantise)
                    part.replace(target)
                finally:
                    part.unlink(missing_ok=True)
    except OSError as error:
        raise ModelError(
            f"{entry.name} cannot be requantised into {folder}: {error.strerror}",
            hint="make room, or mend its permissions, and try again",
        ) from error
    return target


def is_made(entry: ModelEntry, folder: Path) -> bool:
    """Whether the file of a model was made in ``folder`` before."""
    return _is_whole(_target(entry, folder))


def _target(entry: ModelEntry, folder: Path) -> Path:
    """Where the file of a model is made."""
    return folder / f"{entry.sha256}-{entry.requantise}.gguf"


@contextmanager
def _whole(entry: ModelEntry, target: Path) -> Iterator[Path]:
    """The file of a model; one that comes in parts lies at ``target`` meanwhile. Raises OSError."""
    if not entry.parts:
        yield entry.path
        return
    try:
        with target.open("wb") as whole:
            for each in entry.parts:
                with each.open("rb") as part:
                    copyfileobj(part, whole, READ_CHUNK_BYTES)
        yield target
    finally:
        target.unlink(missing_ok=True)


def _is_whole(target: Path) -> bool:
    """Whether a result is there and not damaged."""
    with suppress(ModelError):
        return bool(read_metadata(target).tensors)
    return False
