"""Documents read in processes of their own: as many at a time as there are cores, each file on its own risk.

A parser that crashes, is killed for its memory, or never ends takes only its own process with it.
The file it was reading is skipped with that reason, and another process goes on with the next.

The processes are children started by :mod:`subprocess`, each over its own pipe, and not a
:class:`~concurrent.futures.ProcessPoolExecutor`: that one does not say which file broke it and
gives up all the others, cannot end one that hangs, and runs the caller's script once more in each
child. A child that loses its parent, however that ended, ends too.
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

PATIENCE = 300.0
"""Seconds for one document, and so many more for each MiB of it."""
PATIENCE_PER_MIB = 20.0
_LOOK = 0.5
_GONE = (OSError, EOFError, ValueError)
"""What talking to a process that ended raises; the last where its pipe was closed meanwhile."""
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from localcrag.documents.reader_process import main; main()"
)


def available() -> bool:
    """Whether this interpreter can be started once more: not where it is built into another program."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


class ReaderPool:
    """So many processes, each started when there is first something for it to read.

    ``setting`` are the keyword arguments of the :class:`~localcrag.documents.LocalCorpus` that reads in them.
    To be closed, also where something went wrong: use it in a ``with``.
    """

    def __init__(self, count: int, setting: Mapping[str, Any], patience: float = PATIENCE) -> None:
        self._all = [_Process(setting) for _ in range(count)]
        self._free: SimpleQueue[_Process] = SimpleQueue()
        for process in self._all:
            self._free.put(process)
        self._patience = patience
        self._closed = threading.Event()
        self._watching = threading.Thread(target=self._watch, name="readers", daemon=True)
        self._watching.start()

    def read(self, file: SourceFile, meta: Meta) -> ReadResult:
        """The file read and split; from any thread. Raises CorpusError where no process can be started."""
        process = self._free.get()
        try:
            patience = self._patience + file.size / MEBIBYTE * PATIENCE_PER_MIB
            answer = process.ask((file, dict(meta)), patience)
        except _Ended as ended:
            return ReadResult(file.source, None, reason=str(ended))
        finally:
            self._free.put(process)
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
        for process in self._all:
            process.close()
        self._watching.join()

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK):
            for process in self._all:
                process.end_if_overdue()


class _Ended(Exception):
    """The process ended before it answered; the message is why."""


class _Process:
    """One process at a time, used by one thread at a time; a new one takes the place of one that ended."""

    def __init__(self, setting: Mapping[str, Any]) -> None:
        self._setting = dict(setting)
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._due = float("inf")
        self._overdue = self._closed = False

    def ask(self, job: object, seconds: float) -> Any:
        """What the process answers. Raises _Ended, CorpusError."""
        child = self._ready()
        assert child.stdin is not None and child.stdout is not None
        self._due = monotonic() + seconds
        try:
            message_frames.send(child.stdin, job)
            return message_frames.receive(child.stdout)
        except _GONE as error:
            code = self._drop(child)
            if self._overdue:
                minutes = max(1, round(seconds / 60))
                raise _Ended(f"reading it was given up after {minutes} min") from error
            raise _Ended(f"reading it ended the process that did ({_fate(code)})") from error
        finally:
            with self._lock:
                self._due, self._overdue = float("inf"), False

    def end_if_overdue(self) -> None:
        with self._lock:
            if self._child is not None and monotonic() > self._due:
                self._overdue = True
                self._child.kill()

    def close(self) -> None:
        """Ends the process at once, whatever it is doing; none is started any more."""
        with self._lock:
            self._closed = True
            child = self._child
            if child is not None:
                child.kill()
        if child is not None:
            self._drop(child)

    def _ready(self) -> subprocess.Popen[bytes]:
        """The process, or a new one where it ended while it waited: the next file has no part in that."""
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
        except _GONE as error:
            code = self._drop(child)
            if self._closed:
                raise _Ended("the reading was ended") from error
            raise _cannot_start(_fate(code)) from error
        return child

    def _drop(self, child: subprocess.Popen[bytes]) -> int:
        """Its exit code, once it has ended."""
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


def _fate(code: int) -> str:
    """How a process ended, in words."""
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        name = signal.Signals(-code).name
        return f"{name}: was memory short?" if name == "SIGKILL" else name
    return f"signal {-code}"
