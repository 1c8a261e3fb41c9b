"""The program of an isolated process: it answers jobs within their limits, until its parent is gone.

Three limits hold, each with its own guard, because native code may keep Python from running:

* processor time: ``RLIMIT_CPU``, with which the system ends the process, whatever it is doing; where there is
  none, the parent's limit of wall time;
* wall time: the parent, and if the parent was killed a thread of :mod:`faulthandler`, which needs no
  interpreter;
* memory: a thread looks at the peak twenty times a second and ends the process; on Linux ``RLIMIT_DATA``
  refuses what is asked for in between. What the process held before its first job is not counted. Windows
  does not tell the peak, so that memory is not limited there.

The environment tells the process whether it is offline. Its stdout is the pipe to the parent, so the
descriptor is moved before anything else runs, and the output of libraries goes to stderr, which is discarded.
It ignores Ctrl-C, which the parent handles.
"""

from __future__ import annotations

import contextlib
import faulthandler
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any

from localcrag._platform import peak_memory_bytes
from localcrag.egress import obey_environment
from localcrag.isolation import message_frames
from localcrag.isolation.message_frames import Budget, MoreTime

try:
    import resource

    _HAS_RESOURCE = True
except ImportError:  # on Windows
    _HAS_RESOURCE = False

READY = "ready"
MEMORY_EXIT_CODE = 86
"""The exit code of a process that wanted more memory than its job may use."""
WALL_FACTOR = 3.0
"""Seconds of wall time for each second of processor time: other programs may use the processors, too."""
MAX_MORE_SECONDS = 3600.0
"""Seconds of processor time that a job may be given in addition."""
MAX_IDLE_MEMORY = 1 << 30
"""Bytes of peak memory, over what it held before its first job, after which the process ends with its job, to
give the memory back."""
_MEMORY_CHECK_SECONDS = 0.05
_MEMORY_SLACK = 512 << 20
"""Bytes above the limit from which on the system refuses memory: libraries reserve more than they use."""

Answer = Callable[[Any], object]


class _Guard:
    """The limits of the job that is being done."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out = out
        self._own_memory = peak_memory_bytes() or 0
        self._memory = math.inf
        self._wall_end = self._more = 0.0
        if _HAS_RESOURCE:
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        Thread(target=self._watch_memory, daemon=True).start()

    def begin(self, budget: Budget) -> None:
        """Begin a job with its limits."""
        self._memory = float(max(self._own_memory + budget.memory, peak_memory_bytes() or 0))
        self._wall_end = time.monotonic() + budget.seconds * WALL_FACTOR
        self._more = 0.0
        self._limit_wall()
        if not _HAS_RESOURCE:
            return
        _lower(resource.RLIMIT_CPU, math.ceil(_processor_seconds() + budget.seconds))
        if sys.platform == "linux":
            _lower(resource.RLIMIT_DATA, _data_bytes() + budget.memory + _MEMORY_SLACK)

    def extend(self, seconds: float) -> None:
        """Give the job more processor time, as far as MAX_MORE_SECONDS go, and tell the parent."""
        seconds = min(seconds, MAX_MORE_SECONDS - self._more)
        if seconds <= 0:
            return
        self._more += seconds
        self._wall_end += seconds * WALL_FACTOR
        self._limit_wall()
        if _HAS_RESOURCE:
            _lower(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU)[0] + math.ceil(seconds))
        message_frames.send(self._out, MoreTime(seconds))

    def end(self) -> bool:
        """End the limits of a job; whether the process may do another one."""
        self._memory = math.inf
        faulthandler.cancel_dump_traceback_later()
        if _HAS_RESOURCE:
            _lower(resource.RLIMIT_CPU, resource.RLIM_INFINITY)
        return (peak_memory_bytes() or 0) <= self._own_memory + MAX_IDLE_MEMORY

    def _limit_wall(self) -> None:
        left = max(1.0, self._wall_end - time.monotonic())
        # the parent comes first, if there is one
        faulthandler.dump_traceback_later(left + 5.0, exit=True, file=sys.stderr.fileno())

    def _watch_memory(self) -> None:
        while True:
            time.sleep(_MEMORY_CHECK_SECONDS)
            if self._memory < math.inf and (peak_memory_bytes() or 0) > self._memory:
                os._exit(MEMORY_EXIT_CODE)


_guards: list[_Guard] = []


def allow_more_time(seconds: float) -> None:
    """Give the job that is being done more processor time: for work whose amount only its reader knows.

    It does nothing outside of an isolated process.
    """
    for guard in _guards:
        guard.extend(seconds)


def run(prepare: Callable[[Any], Answer], idle_seconds: float | None = None) -> None:
    """Answer the jobs from stdin until the pipe is closed, or no job came for ``idle_seconds``.

    The first frame is the setting, of which ``prepare`` makes the function that answers jobs. Each other
    frame is ``(job, Budget)``. An answer is what the function returns, or the exception that it raises.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    obey_environment()
    jobs: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin.buffer, jobs), daemon=True).start()
    answer = prepare(jobs.get())
    guard = _Guard(out)
    _guards.append(guard)
    message_frames.send(out, READY)
    while True:
        try:
            job, budget = jobs.get(timeout=idle_seconds)
        except Empty:
            os._exit(0)
        guard.begin(budget)
        try:
            found = answer(job)
        except Exception as error:  # noqa: BLE001 - it is raised again in the parent process
            found = _portable(error)
        may_go_on = guard.end()
        message_frames.send(out, found)
        if not may_go_on:
            os._exit(0)


def _listen(stream: IO[bytes], jobs: SimpleQueue[Any]) -> None:
    """Put the frames of ``stream`` into ``jobs``; end this process when the parent is gone.

    It runs in a thread, so that the process ends in the middle of a job, too.
    """
    try:
        while True:
            jobs.put(message_frames.receive(stream))
    except (EOFError, OSError):
        os._exit(0)


def _lower(kind: int, wanted: int) -> None:
    """Set the soft limit of a resource, at most to its hard limit."""
    hard = resource.getrlimit(kind)[1]
    soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if wanted == resource.RLIM_INFINITY:
        soft = hard
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(kind, (soft, hard))


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _data_bytes() -> int:
    """Bytes of private memory that the process has reserved, as Linux counts them for ``RLIMIT_DATA``."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[5]) * resource.getpagesize()


def _portable(error: Exception) -> Exception:
    """The error with its traceback as a note, or a RuntimeError with that text if it cannot be pickled."""
    import pickle
    import traceback

    error.add_note("In an isolated process:\n" + "".join(traceback.format_exception(error)))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever a foreign exception does when it is copied
        return RuntimeError("".join(traceback.format_exception(error)))
    return error
