"""Saves memory and time of native libraries: defers unused imports and tunes the allocator of glibc."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec

from localcrag._platform import cores

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Parameters of mallopt, from malloc.h of the GNU C library."""
_LARGE_BLOCK_BYTES = 1024**2
"""Blocks from this size on go back to the system as soon as they are freed."""


def defer(package: str) -> None:
    """Let submodules of ``package`` be imported without running its ``__init__``.

    The ``__init__`` runs when a name of the package itself is first asked for, so that nothing is missing.
    This does nothing if the package is loaded already, or not installed.
    """
    if package in sys.modules or (spec := find_spec(package)) is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    loader = spec.loader

    def load(name: str) -> object:
        """The package's ``__getattr__``: runs its ``__init__`` and returns the name."""
        if vars(module).pop("__getattr__", None):
            loader.exec_module(module)
        return getattr(module, name)

    vars(module)["__getattr__"] = load
    sys.modules[package] = module


@contextmanager
def defer_validators() -> Iterator[None]:
    """Let the pydantic models that are defined in the block build their validators on first use.

    lancedb defines more than a hundred, most of them for catalogue servers; to build them all takes a quarter
    of its import time.
    """
    from pydantic import BaseModel

    BaseModel.model_config["defer_build"] = True
    try:
        yield
    finally:
        del BaseModel.model_config["defer_build"]


@contextmanager
def skip_override_checks() -> Iterator[None]:
    """Let classes be defined in the block without the checks of the package ``overrides``.

    Before Python 3.12 lancedb has it compare the signatures of its own methods, which takes a third of its
    import time; from then on it does without, and takes ``typing.override``.
    """
    if sys.version_info >= (3, 12) or find_spec("overrides") is None:
        yield
        return
    import overrides
    from typing_extensions import override

    checking = {name: vars(overrides)[name] for name in ("override", "EnforceOverrides")}
    vars(overrides).update(override=override, EnforceOverrides=type("EnforceOverrides", (), {}))
    try:
        yield
    finally:
        vars(overrides).update(checking)


def limit_heaps() -> None:
    """Limit the allocator to one heap for each core, at least two; call it before lancedb is loaded.

    The GNU C library gives the threads of a process up to eight heaps for each core, and memory freed in
    one is kept there: Lance's many threads then hold several times the memory that they use. (An ingestion
    of 256 MiB of text took 2.6 GiB at its peak, and 1.7 GiB with few heaps.) Other systems do not need it.
    """
    _mallopt({_ARENA_MAX: max(2, cores())})


def release_large_blocks() -> None:
    """Let the allocator return large blocks to the system as soon as they are freed.

    It is meant for a process that writes much: the ingestion measured in :func:`limit_heaps` then took
    1.6 GiB. Each such block costs page faults, which would slow down a search.
    """
    _mallopt({_MMAP_THRESHOLD: _LARGE_BLOCK_BYTES, _TRIM_THRESHOLD: _LARGE_BLOCK_BYTES})


def trim() -> None:
    """Return freed memory to the system, after work that used much of it; takes milliseconds."""
    if give := _libc("malloc_trim"):
        give(0)


def _mallopt(values: Mapping[int, int]) -> None:
    """Set parameters of the allocator, unless the user has set some in the environment."""
    if any(name.startswith("MALLOC_") for name in os.environ):
        return
    if mallopt := _libc("mallopt"):
        for parameter, value in values.items():
            mallopt(parameter, value)


def _libc(name: str) -> Callable[..., int] | None:
    """A function of the C library; None if it has none of this name, or the system is not Linux."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
