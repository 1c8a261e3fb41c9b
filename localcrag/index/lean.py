"""Native code with less: packages without what they import for no use of ours, and memory given back."""

from __future__ import annotations

import ctypes
import os
import sys
from importlib.util import find_spec, module_from_spec

_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
"""Parameters of mallopt, from malloc.h of the GNU C library."""
_LARGE = 1024**2
_LANCE = {"LANCE_DEFAULT_BATCH_SIZE": "512", "LANCE_DEFAULT_IO_BUFFER_SIZE": str(128 * 1024**2)}
"""Rows and bytes that Lance reads ahead in a scan: by default 8,192 rows, and a row may hold a whole file."""


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


def bound_memory() -> None:
    """Before lancedb is loaded: let it read less ahead, and let freed memory go back to the system.

    The GNU C library keeps what was freed in eight heaps a core, for later; Lance's many threads then
    hold several times what they use (an ingestion of 256 MiB of text: 2.6 GiB at the peak, and 1.6
    with one heap a core from which large pieces go back at once). Other systems have no such need.
    """
    for name, value in _LANCE.items():
        os.environ.setdefault(name, value)
    if sys.platform == "linux" and not any(name.startswith("MALLOC_") for name in os.environ):
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)  # musl has none
        if mallopt is not None:
            mallopt(_ARENA_MAX, max(2, len(os.sched_getaffinity(0))))
            mallopt(_MMAP_THRESHOLD, _LARGE)
            mallopt(_TRIM_THRESHOLD, _LARGE)
