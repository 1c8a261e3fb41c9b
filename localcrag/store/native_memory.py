"""Native code with less: packages without what they import for no use of ours, and memory given back."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Mapping
from importlib.util import find_spec, module_from_spec

from localcrag._platform import cores

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Parameters of mallopt, from malloc.h of the GNU C library."""
_LARGE = 1024**2


def defer(package: str) -> None:
    """Let submodules of ``package`` be imported without running its ``__init__``.

    That runs when something first asks the package itself for a name, so nobody misses anything.
    Does nothing where the package is loaded already, or not installed.
    """
    if package in sys.modules or (spec := find_spec(package)) is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    loader = spec.loader

    def load(name: str) -> object:
        if vars(module).pop("__getattr__", None):
            loader.exec_module(module)
        return getattr(module, name)

    vars(module)["__getattr__"] = load
    sys.modules[package] = module


def few_heaps() -> None:
    """One heap a core, before lancedb is loaded.

    The GNU C library gives the threads of a process eight heaps a core, and what was freed in one is kept
    there for later: Lance's many threads then hold several times what they use. (An ingestion of 256 MiB
    of text: 2.6 GiB at the peak, and 1.7 with few heaps.) Other systems have no such need.
    """
    _mallopt({_ARENA_MAX: max(2, cores())})


def give_back() -> None:
    """Large pieces of memory go back to the system when they are freed, in a process that writes much.

    (The same ingestion: 1.6 GiB.) Each of them then costs page faults, which a search would feel.
    """
    _mallopt({_MMAP_THRESHOLD: _LARGE, _TRIM_THRESHOLD: _LARGE})


def trim() -> None:
    """What was freed goes back to the system, after work that used much memory; takes milliseconds."""
    if give := _libc("malloc_trim"):
        give(0)


def _mallopt(values: Mapping[int, int]) -> None:
    """Unless the user has tuned the heaps."""
    if any(name.startswith("MALLOC_") for name in os.environ):
        return
    if mallopt := _libc("mallopt"):
        for parameter, value in values.items():
            mallopt(parameter, value)


def _libc(name: str) -> Callable[..., int] | None:
    """A function of the C library, where it is GNU's: others have none of these."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None
