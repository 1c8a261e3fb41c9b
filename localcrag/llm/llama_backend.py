"""The llama.cpp backend: its start and its log, and how work of it can be interrupted.

This is the one module that imports llama_cpp; the others of this package take it from here. llama.cpp's last
error lines are kept instead of being written to stderr, so that an error can quote them.
"""

from __future__ import annotations

import ctypes
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from pathlib import Path
from typing import Any

import llama_cpp
import numpy as np
import numpy.typing as npt

from localcrag._platform import cores
from localcrag.errors import ModelError

llama = llama_cpp

INTERRUPT_POLL_SECONDS = 0.2
"""The interval at which a waiting thread looks for an interrupt, which another one may have received."""
Row = npt.NDArray[np.float32]
"""The logits after a token, of shape (vocabulary,)."""

_ERROR_LOG_LEVEL = 4
error_lines: deque[str] = deque(maxlen=4)
"""llama.cpp's last error lines."""


@llama.llama_log_callback  # type: ignore[untyped-decorator]
def _log(level: int, text: bytes, _data: object) -> None:
    """The log callback: keeps errors and drops the rest.

    An interrupt that comes while it runs in the main thread would be lost, since an exception of a callback
    goes nowhere. So whatever logs much is called in another thread, see :func:`made_apart`.
    """
    if level == _ERROR_LOG_LEVEL:
        error_lines.append(text.decode("utf-8", errors="replace").strip())


def last_errors() -> str:
    """llama.cpp's last error lines in parentheses, to end an error message; "" if there are none."""
    return f" (llama.cpp: {'; '.join(error_lines)})" if error_lines else ""


@cache
def initialise() -> None:
    """Start llama.cpp, once in a process."""
    llama.llama_log_set(_log, ctypes.c_void_p(0))
    llama.llama_backend_init()


def uses_amx() -> bool:
    """Whether this llama.cpp was compiled with AMX matrix instructions, which are then kept out of its way.

    Some compilers make a fault of that code, which ends the process at the first matrix (ggml-org/llama.cpp
    issue 20824). Without the extra buffer types llama.cpp never reaches it; other repacked kernels go with
    them, so a build without AMX, as ``scripts/setup`` makes it, is faster.
    """
    return b"AMX_INT8 = 1" in llama.llama_print_system_info()


def default_threads() -> int:
    """The threads of a computation: the processors this process may use, half of them if more than four.

    Of many processors, two usually share a core.
    """
    count = cores()
    return count if count <= 4 else count // 2


def quantise(source: Path, target: Path, kind: str) -> None:
    """Write a model in another quantisation, such as "Q4_0", also if it is quantised already.

    Raises ModelError; ``target`` may then be left unfinished.
    """
    initialise()
    error_lines.clear()
    params = llama.llama_model_quantize_default_params()
    params.nthread = default_threads()
    params.ftype = getattr(llama, f"LLAMA_FTYPE_MOSTLY_{kind}")
    params.allow_requantize = True
    read, written = str(source).encode(), str(target).encode()
    with ThreadPoolExecutor(1, "llama") as pool:
        failed = pool.submit(lambda: llama.llama_model_quantize(read, written, ctypes.byref(params))).result()
    if failed:
        raise ModelError(
            f"llama.cpp cannot bring {source.name} into {kind}{last_errors()}.",
            hint="make room in the folder cache/models of localcrag's home, and try again",
        )


def made_apart(
    pool: ThreadPoolExecutor, make: Callable[[], Any], free: Callable[[Any], object], end: Callable[[], None]
) -> Any:
    """What ``make`` makes in the thread of a pool.

    After an interrupt of the caller, ``end`` is called to hasten it; then it is waited for and given to
    ``free``, and the interrupt is passed on.
    """
    # A pool that is interrupted while it starts its thread never waits for it, nor for its work.
    pool.submit(int).result()
    made: list[Any] = []
    try:
        making = pool.submit(lambda: made.append(make()))
        while not making.done():  # a thread that waits for good misses an interrupt that another one received
            wait([making], INTERRUPT_POLL_SECONDS)
        making.result()
    except BaseException:
        # The interrupt may have come before submit returned, so the thread itself is waited for.
        end()
        pool.submit(int).result()
        for handle in filter(None, made):
            free(handle)
        raise
    return made[0]
