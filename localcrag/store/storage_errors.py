"""Errors of the operating system as typed errors of a knowledge base."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from localcrag.errors import StorageFull, StoreError, UnknownKnowledgeBase

FULL_HINT = "make room and run the same command again: what was written before is kept"
UNKNOWN_FAULT_HINT = "look at the disk and its permissions, and try again"


def writing_error(name: str) -> StoreError:
    """The error for a knowledge base that another process writes to for long."""
    return StoreError(
        f"somebody is writing to the knowledge base {name!r}",
        hint="wait until that is done, or end it, and run the same command again",
    )


def removed_error(name: str) -> UnknownKnowledgeBase:
    """The error for a knowledge base that was removed or replaced since it was opened."""
    hint = "`localcrag kb list` tells what there is; `localcrag ingest PATH` makes it anew"
    return UnknownKnowledgeBase(f"the knowledge base {name!r} was removed meanwhile", hint=hint)


def storage_error(error: BaseException, attempt: str) -> StoreError:
    """The typed error for one of the operating system, or of LanceDB.

    ``attempt`` is the action that failed, as a verb with its object.
    """
    said = (getattr(error, "strerror", None) or str(error)).strip()
    text = said.lower()
    if any(sign in text for sign in ("no space left", "os error 28", "quota exceeded", "os error 122")):
        return StorageFull(f"no space left on the device: cannot {attempt}", hint=FULL_HINT)
    if any(sign in text for sign in ("permission denied", "os error 13", "read-only file system")):
        return StoreError(
            f"no permission to {attempt}", hint="correct the permissions, or choose another LOCALCRAG_HOME"
        )
    first = said.splitlines()[0][:200] if said else type(error).__name__
    return StoreError(f"cannot {attempt}: {first}", hint=UNKNOWN_FAULT_HINT)


@contextmanager
def storage_errors(attempt: str) -> Iterator[None]:
    """Raise errors of the system in the block as StoreError or StorageFull; see :func:`storage_error`."""
    try:
        yield
    except OSError as error:
        raise storage_error(error, attempt) from error
