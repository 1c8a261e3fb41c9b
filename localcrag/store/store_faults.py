"""Errors of LanceDB, Arrow and the system, as the typed errors of localcrag."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localcrag.errors import LocalCragError
from localcrag.store.arrow_rows import ArrowError
from localcrag.store.kb_folders import (
    UNKNOWN_FAULT_HINT,
    is_gone,
    mending_hint,
    removed_error,
    shown_name,
    storage_error,
)

_FAULTS = (RuntimeError, OSError, ValueError, TypeError, LookupError, AttributeError, ArrowError)
"""The errors of LanceDB, of Arrow, and of reading a damaged row, which may lack a value."""
_PANICS = ("PanicException", "RustPanic")
"""The names of the classes of a Rust panic, which derive from BaseException and cannot be imported."""


def is_fault(error: BaseException) -> bool:
    """Whether an error is one of the store, rather than one of localcrag or an interrupt."""
    if isinstance(error, LocalCragError):
        return False
    return isinstance(error, _FAULTS) or type(error).__name__ in _PANICS


@contextmanager
def typed_errors(folder: Path, attempt: str) -> Iterator[None]:
    """Raise errors of LanceDB, Arrow and the system in the block as StoreError or StorageFull.

    ``attempt`` is the verb of the action. If the folder is gone, UnknownKnowledgeBase is raised, except
    for the attempt to "make" it.
    """
    try:
        yield
    except BaseException as error:
        if not is_fault(error):
            raise
        if attempt != "make" and is_gone(folder):
            raise removed_error(shown_name(folder)) from error
        typed = storage_error(error, f"{attempt} the knowledge base in {folder}")
        if typed.hint == UNKNOWN_FAULT_HINT:
            typed.hint += f"; if it stays so, {mending_hint(shown_name(folder))}"
        raise typed from error
