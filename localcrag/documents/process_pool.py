"""A pool of processes that read documents, so that a parser that fails costs one file only.

A parser that crashes, never ends or wants all memory takes only its own process with it. The file that it was
reading is skipped with that reason, and a new process reads the next one.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from queue import Empty, SimpleQueue
from typing import Any

from localcrag.documents.extracted import MEBIBYTE
from localcrag.documents.splitting import passages_at
from localcrag.errors import CorpusError
from localcrag.isolation.isolated_process import (
    GIBIBYTE,
    IsolatedProcess,
    JobLost,
    ProcessNotStarted,
    available,
    memory_budget,
)
from localcrag.isolation.message_frames import Budget
from localcrag.protocols import SourceFile
from localcrag.types import Meta, ReadResult

__all__ = ["ReaderPool", "available"]

MAX_READ_SECONDS = 20.0
"""Seconds of processor time that reading one document may take, before those for its size are added."""
MAX_READ_SECONDS_PER_MIB = 60.0
"""Seconds that are added for each MiB of the document."""
MAX_READ_MEMORY = 2 * GIBIBYTE
"""Bytes of memory that reading one document may take, before those for its size are added."""
MAX_READ_MEMORY_PER_BYTE = 16
"""Bytes of memory that are added for each byte of the document."""
_HELD_UP_SECONDS = 1.0
"""Seconds without an idle process after which another one is started."""
_WATCH_SECONDS = 0.25
"""Seconds between two checks for processes that are overdue."""
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from localcrag.documents.reader_process import main; main()"
)


def reading_budget(size: int) -> Budget:
    """What reading a document of ``size`` bytes may use."""
    return Budget(
        MAX_READ_SECONDS + size / MEBIBYTE * MAX_READ_SECONDS_PER_MIB,
        memory_budget(MAX_READ_MEMORY + size * MAX_READ_MEMORY_PER_BYTE),
    )


class ReaderPool:
    """At most ``count`` processes that read documents, each started when it first has something to read.

    At first there is one. If it is held up for a second, another one helps; :meth:`spread` lets all of them
    work at once. ``setting`` holds the keyword arguments of the :class:`~localcrag.documents.LocalCorpus` in
    each process. The pool must be used in a ``with``, which ends the processes.
    """

    def __init__(self, count: int, setting: Mapping[str, Any]) -> None:
        self._processes = [IsolatedProcess(_PROGRAM, dict(setting)) for _ in range(count)]
        self._idle: SimpleQueue[IsolatedProcess] = SimpleQueue()
        self._spare: SimpleQueue[IsolatedProcess] = SimpleQueue()
        for process in self._processes:
            self._spare.put(process)
        self._idle.put(self._spare.get())
        self._closed = threading.Event()
        self._watching = threading.Thread(target=self._watch, name="readers", daemon=True)
        self._watching.start()

    def read(self, file: SourceFile, meta: Meta) -> ReadResult:
        """Read and split a file in one of the processes; may be called from any thread.

        Returns the document with its passages, or the reason why there is none. Raises CorpusError if no
        process can be started, and whatever else went wrong in the process.
        """
        process = self._next()
        try:
            answer = process.ask((file, dict(meta)), reading_budget(file.size))
        except JobLost as lost:
            return ReadResult(file.source, None, reason=f"reading it {lost}")
        except ProcessNotStarted as error:
            raise CorpusError(
                f"a process to read documents cannot be started: {error}",
                hint="make room for it (memory, processes), and run the same command again: "
                "what was read is kept",
            ) from error
        finally:
            self._idle.put(process)
        if isinstance(answer, Exception):
            raise answer
        reading, cuts = answer
        if (document := reading.document) is None:
            return ReadResult(file.source, None, reason=reading.reason)
        return ReadResult(file.source, document, passages_at(document, cuts))

    def _next(self) -> IsolatedProcess:
        try:
            return self._idle.get(timeout=_HELD_UP_SECONDS)
        except Empty:
            pass
        try:
            return self._spare.get_nowait()
        except Empty:
            return self._idle.get()

    def spread(self) -> None:
        """Let all processes work at once."""
        with contextlib.suppress(Empty):
            while True:
                self._idle.put(self._spare.get_nowait())

    def start(self) -> None:
        """Start the first process, so that it is warm when it gets something to read."""
        self._processes[0].start()

    def __enter__(self) -> ReaderPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes at once, whatever they are doing."""
        self._closed.set()
        for process in self._processes:
            process.close()
        self._watching.join()

    def _watch(self) -> None:
        while not self._closed.wait(_WATCH_SECONDS):
            for process in self._processes:
                process.end_if_overdue()
