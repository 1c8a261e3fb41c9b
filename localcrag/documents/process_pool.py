"""A pool of processes that read documents, so that a parser that fails costs one file only.

A parser that crashes, is killed for its memory, or never ends takes only its own process with it.
The file that it was reading is skipped with that reason, and a new process reads the next one.

The processes are children started by :mod:`subprocess`, each with its own pipes. A
:class:`~concurrent.futures.ProcessPoolExecutor` would not do: it does not say which file broke it, gives
up all the others, cannot end a process that hangs, and runs the script of the caller again in each
child. A child ends when its parent ends, however that happened.
"""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from queue import SimpleQueue
from time import monotonic
from typing import Any

from localcrag.documents import message_frames
from localcrag.documents.extracted import MEBIBYTE
from localcrag.documents.splitting import passages_at
from localcrag.errors import CorpusError
from localcrag.protocols import SourceFile
from localcrag.types import Meta, ReadResult

MAX_READ_SECONDS = 300.0
"""Seconds that reading one document may take, before those for its size are added."""
MAX_READ_SECONDS_PER_MIB = 20.0
"""Seconds that are added for each MiB of the document."""
_WATCH_SECONDS = 0.5
"""Seconds between two checks for processes that are overdue."""
_GONE_ERRORS = (OSError, EOFError, ValueError)
"""The errors of the pipe to a process that ended; ValueError if the pipe was closed meanwhile."""
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from localcrag.documents.reader_process import main; main()"
)


def available() -> bool:
    """Whether this interpreter can be started again; it cannot if it is embedded or frozen in a program."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


class ReaderPool:
    """``count`` processes that read documents, each started when it first has something to read.

    ``setting`` holds the keyword arguments of the :class:`~localcrag.documents.LocalCorpus` in each
    process, and ``max_seconds`` is the time for one document, without the part for its size. The pool
    must be used in a ``with``, which ends the processes.
    """

    def __init__(self, count: int, setting: Mapping[str, Any], max_seconds: float = MAX_READ_SECONDS) -> None:
        self._processes = [_Process(setting) for _ in range(count)]
        self._idle: SimpleQueue[_Process] = SimpleQueue()
        for process in self._processes:
            self._idle.put(process)
        self._max_seconds = max_seconds
        self._closed = threading.Event()
        self._watching = threading.Thread(target=self._watch, name="readers", daemon=True)
        self._watching.start()

    def read(self, file: SourceFile, meta: Meta) -> ReadResult:
        """Read and split a file in one of the processes; may be called from any thread.

        Returns the document with its passages, or the reason why there is none. Raises CorpusError if no
        process can be started, and whatever else went wrong in the process.
        """
        process = self._idle.get()
        try:
            max_seconds = self._max_seconds + file.size / MEBIBYTE * MAX_READ_SECONDS_PER_MIB
            answer = process.ask((file, dict(meta)), max_seconds)
        except _Ended as ended:
            return ReadResult(file.source, None, reason=str(ended))
        finally:
            self._idle.put(process)
        if isinstance(answer, Exception):
            raise answer
        reading, cuts = answer
        if (document := reading.document) is None:
            return ReadResult(file.source, None, reason=reading.reason)
        return ReadResult(file.source, document, passages_at(document, cuts))

    def __enter__(self) -> ReaderPool:
        return self

    def __exit__(self, *_: object) -> None:
        self._closed.set()
        for process in self._processes:
            process.close()
        self._watching.join()

    def _watch(self) -> None:
        while not self._closed.wait(_WATCH_SECONDS):
            for process in self._processes:
                process.end_if_overdue()


class _Ended(Exception):
    """The process ended before it answered; the message is why."""


class _Process:
    """One process at a time, for one thread at a time; a process that ended is replaced when needed."""

    def __init__(self, setting: Mapping[str, Any]) -> None:
        self._setting = dict(setting)
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._due = float("inf")
        self._overdue = self._closed = False

    def ask(self, job: object, seconds: float) -> Any:
        """Send a job and wait at most ``seconds`` for the answer. Raises _Ended, CorpusError."""
        child = self._ready()
        assert child.stdin is not None and child.stdout is not None
        self._due = monotonic() + seconds
        try:
            message_frames.send(child.stdin, job)
            return message_frames.receive(child.stdout)
        except _GONE_ERRORS as error:
            code = self._drop(child)
            if self._overdue:
                minutes = max(1, round(seconds / 60))
                raise _Ended(f"reading it was given up after {minutes} min") from error
            raise _Ended(f"reading it ended the process that did ({_exit_in_words(code)})") from error
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
        return self._child or self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._lock:
            if self._closed:
                raise _Ended("the reading was ended")
            try:
                child = self._child = subprocess.Popen(
                    [sys.executable, "-P", "-c", _PROGRAM, *sys.path],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                )
            except OSError as error:
                raise _cannot_start(str(error)) from error
        assert child.stdin is not None and child.stdout is not None
        try:
            message_frames.send(child.stdin, self._setting)
            message_frames.receive(child.stdout)
        except _GONE_ERRORS as error:
            code = self._drop(child)
            if self._closed:
                raise _Ended("the reading was ended") from error
            raise _cannot_start(_exit_in_words(code)) from error
        return child

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


def _cannot_start(why: str) -> CorpusError:
    return CorpusError(
        f"a process to read documents cannot be started: {why}",
        hint="make room for it (memory, processes), and run the same command again: what was read is kept",
    )


def _exit_in_words(code: int) -> str:
    """The exit code of a process in words; a negative one is the number of a signal."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        name = signal.Signals(-code).name
        return f"{name}: was memory short?" if name == "SIGKILL" else name
    return f"signal {-code}"
