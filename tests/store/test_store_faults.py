"""Which errors are faults of the store, and which are passed on as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag.errors import StorageFull, StoreError, UsageError
from localcrag.store.store_faults import StoreFault, store_faults, typed_errors

PANIC = type("PanicException", (BaseException,), {})
"""A class as that of a Rust panic, which derives from BaseException and cannot be imported."""


@pytest.mark.parametrize("error", [OSError("gone"), ValueError("odd"), PANIC("index out of bounds")])
def test_errors_of_libraries_and_panics_are_faults(error: BaseException) -> None:
    with pytest.raises(StoreFault) as found, store_faults():
        raise error
    assert found.value.error is error and str(found.value) == str(error)


@pytest.mark.parametrize("error", [UsageError("wrong name"), KeyboardInterrupt(), GeneratorExit()])
def test_errors_of_localcrag_and_interrupts_are_not(error: BaseException) -> None:
    with pytest.raises(type(error)) as found, store_faults():
        raise error
    assert found.value is error


def test_a_fault_is_told_as_what_was_attempted_and_keeps_its_cause(tmp_path: Path) -> None:
    panic = PANIC("index out of bounds")
    with pytest.raises(StoreError, match="cannot read the know") as found, typed_errors(tmp_path, "read"):
        raise panic
    assert found.value.__cause__ is panic and "localcrag kb check" in str(found.value.hint)
    with pytest.raises(StorageFull), typed_errors(tmp_path, "write to"):
        raise OSError("No space left on device (os error 28)")
