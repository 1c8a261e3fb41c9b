"""A process that does jobs with data of strangers, each within limits of time and memory.

The process is a child started by :mod:`subprocess`, with its own pipes. A
:class:`~concurrent.futures.ProcessPoolExecutor` would not do: it does not say which job broke it, gives up
all the others, cannot end a process that hangs, and runs the script of the caller again in each child. A
child ends when its parent ends, however that happened.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from time import monotonic
from typing import Any

from localcrag._platform import machine_memory
from localcrag.isolation import message_frames
from localcrag.isolation.isolated_program import MEMORY_EXIT_CODE, WALL_FACTOR
from localcrag.isolation.message_frames import Budget, MoreTime

GIBIBYTE = 1 << 30
_MIN_MEMORY = GIBIBYTE // 2
_MAX_MACHINE_SHARE = 0.5
"""The share of the machine's memory that a job may have at most."""
_GONE_ERRORS = (OSError, EOFError, ValueError)
"""The errors of the pipe to a process that ended; ValueError if the pipe was closed meanwhile."""
_MEMORY_SIGNALS = frozenset({"SIGKILL", "SIGABRT", "SIGTRAP", "SIGILL"})
"""The signals of which a process dies that gets no memory."""


class JobLost(Exception):
    """The process ended before it answered; the message is why, and ``overdue`` whether it took too long."""

    def __init__(self, why: str, *, overdue: bool = False) -> None:
        super().__init__(why)
        self.overdue = overdue


class ProcessNotStarted(Exception):
    """The process cannot be started; the message is why."""


def available() -> bool:
    """Whether this interpreter can be started again; it cannot if it is embedded or frozen in a program."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def memory_budget(wanted: int) -> int:
    """The bytes that a job may have: what is wanted, and at most half of the machine's memory."""
    machine = machine_memory()
    if machine is None:
        return wanted
    return min(wanted, max(_MIN_MEMORY, int(machine * _MAX_MACHINE_SHARE)))


class IsolatedProcess:
    """One process at a time, for one thread at a time; a process that ended is replaced when needed.

    ``program`` is the Python code that it runs, with ``sys.path`` as its arguments, which calls
    :func:`localcrag.isolation.isolated_program.run`; ``setting`` is what that is given first.
    """

    def __init__(self, program: str, setting: object) -> None:
        self._program, self._setting = program, setting
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._is_ready = False
        self._due = float("inf")
        self._overdue = self._closed = False

    def start(self) -> None:
        """Start the process without waiting until it is ready, so that it is warm for its first job.

        If it cannot be started, the first job says so.
        """
        with contextlib.suppress(OSError, JobLost):
            self._spawn()

    def start_if_ended(self) -> None:
        """Start the process again if it ended because it was idle; nothing if it runs or does a job."""
        child = self._child
        if child is None:
            self.start()
        elif self._due == float("inf") and child.poll() is not None:
            self._drop(child)
            self.start()

    def ask(self, job: object, budget: Budget) -> Any:
        """Give the process a job, and wait for the answer. Raises JobLost, ProcessNotStarted.

        An exception that the job raised is the answer.
        """
        child = self._ready()
        assert child.stdin is not None and child.stdout is not None
        seconds = budget.seconds
        began = monotonic()
        self._due = began + seconds * WALL_FACTOR
        try:
            message_frames.send(child.stdin, (job, budget))
            while isinstance(answer := message_frames.receive(child.stdout), MoreTime):
                seconds += answer.seconds
                self._due += answer.seconds * WALL_FACTOR
            return answer
        except _GONE_ERRORS as error:
            code = self._drop(child)
            spent = monotonic() - began
            out_of_time = code < 0 and code == -getattr(signal, "SIGXCPU", 0)
            if self._overdue or out_of_time or spent > seconds * WALL_FACTOR:
                raise JobLost(f"was given up after {_in_words(spent)}", overdue=True) from error
            if code == MEMORY_EXIT_CODE:
                raise JobLost(f"needs more than {budget.memory / GIBIBYTE:.1f} GiB of memory") from error
            raise JobLost(f"ended the process that did ({_exit_in_words(code)})") from error
        finally:
            with self._lock:
                self._due, self._overdue = float("inf"), False

    def end_if_overdue(self) -> None:
        """Kill the process if its job has taken longer than it may."""
        with self._lock:
            if self._child is not None and monotonic() > self._due:
                self._overdue = True
                self._child.kill()

    def close(self) -> None:
        """End the process at once, whatever it is doing, and start none any more."""
        with self._lock:
            self._closed = True
            child = self._child
            if child is not None:
                child.kill()
        if child is not None:
            self._drop(child)

    def _ready(self) -> subprocess.Popen[bytes]:
        """The running process; a new one if it ended between two jobs, which is no fault of the next job."""
        if self._child is not None and self._child.poll() is not None:
            self._drop(self._child)
        try:
            child = self._child or self._spawn()
        except OSError as error:
            raise ProcessNotStarted(str(error)) from error
        if not self._is_ready:
            self._await_ready(child)
        return child

    def _spawn(self) -> subprocess.Popen[bytes]:
        """Start the process. Raises OSError, JobLost if this was closed.

        Its pipes have no buffers: the lock of a buffer that a thread waits in would keep :meth:`close` from
        closing it.
        """
        with self._lock:
            if self._closed:
                raise JobLost("was ended")
            self._is_ready = False
            child = self._child = subprocess.Popen(
                [sys.executable, "-P", "-c", self._program, *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                bufsize=0,
            )
        assert child.stdin is not None
        with contextlib.suppress(*_GONE_ERRORS):  # one that ended at once is noticed when it has to be ready
            message_frames.send(child.stdin, self._setting)
        return child

    def _await_ready(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None
        try:
            message_frames.receive(child.stdout)
        except _GONE_ERRORS as error:
            code = self._drop(child)
            if self._closed:
                raise JobLost("was ended") from error
            raise ProcessNotStarted(_exit_in_words(code)) from error
        self._is_ready = True

    def _drop(self, child: subprocess.Popen[bytes]) -> int:
        """Wait for the end of the process, close its pipes, and return its exit code."""
        code = child.wait()
        with self._lock:
            if self._child is child:
                self._child = None
        for stream in (child.stdin, child.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()
        return code


def _in_words(seconds: float) -> str:
    return f"{round(seconds / 60)} min" if seconds >= 120 else f"{max(1, round(seconds))} s"


def _exit_in_words(code: int) -> str:
    """The exit code of a process in words; a negative one is the number of a signal."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        name = signal.Signals(-code).name
        return f"{name}: was memory short?" if name in _MEMORY_SIGNALS else name
    return f"signal {-code}"
