"""Errors of LanceDB, Arrow and the system, as the typed errors of localcrag."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localcrag.errors import LocalCragError
from localcrag.store.arrow_rows import ArrowError
from localcrag.store.kb_folders import is_gone
from localcrag.store.kb_record import mending_hint, shown_name
from localcrag.store.storage_errors import UNKNOWN_FAULT_HINT, removed_error, storage_error

_FAULTS = (RuntimeError, OSError, ValueError, TypeError, LookupError, AttributeError, ArrowError)
"""The errors of LanceDB, of Arrow, and of reading a damaged row, which may lack a value."""
_PANICS = ("PanicException", "RustPanic")
"""The names of the classes of a Rust panic, which derive from BaseException and cannot be imported."""


class StoreFault(Exception):
    """An error of LanceDB, Arrow or the system, which is ``error``; see :func:`store_faults`."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


@contextmanager
def store_faults() -> Iterator[None]:
    """Raise errors of LanceDB, Arrow and the system in the block as StoreFault, a panic of Rust too.

    Errors of localcrag and interrupts stay as they are.
    """
    try:
        yield
    except LocalCragError:
        raise
    except _FAULTS as error:
        raise StoreFault(error) from error
    except BaseException as error:  # a panic has no class that could be named here
        if type(error).__name__ not in _PANICS:
            raise
        raise StoreFault(error) from error


@contextmanager
def typed_errors(folder: Path, attempt: str) -> Iterator[None]:
    """Raise errors of LanceDB, Arrow and the system in the block as StoreError or StorageFull.

    ``attempt`` is the verb of the action. If the folder is gone, UnknownKnowledgeBase is raised, except
    for the attempt to "make" it.
    """
    try:
        with store_faults():
            yield
    except StoreFault as fault:
        if attempt != "make" and is_gone(folder):
            raise removed_error(shown_name(folder)) from fault.error
        typed = storage_error(fault.error, f"{attempt} the knowledge base in {folder}")
        if typed.hint == UNKNOWN_FAULT_HINT:
            typed.hint += f"; if it stays so, {mending_hint(shown_name(folder))}"
        raise typed from fault.error
