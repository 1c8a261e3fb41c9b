"""A pool of processes that do jobs with data of strangers, so that a job that fails costs only itself."""

from __future__ import annotations

import contextlib
import threading
from queue import Empty, SimpleQueue
from typing import Any

from localcrag.isolation.isolated_process import IsolatedProcess
from localcrag.isolation.message_frames import Budget

_HELD_UP_SECONDS = 1.0
"""Seconds without an idle process after which another one is started."""
_WATCH_SECONDS = 0.25
"""Seconds between two checks for processes that are overdue."""


class IsolatedPool:
    """At most ``count`` processes, each started when it first has a job.

    At first there is one. If it is held up for a second, another one helps; :meth:`spread` lets all of them
    work at once. ``program`` and ``setting`` are those of :class:`~.isolated_process.IsolatedProcess`, and
    ``name`` is that of the thread that ends what is overdue.
    """

    def __init__(self, count: int, program: str, setting: object, name: str) -> None:
        self._processes = [IsolatedProcess(program, setting) for _ in range(count)]
        self._idle: SimpleQueue[IsolatedProcess] = SimpleQueue()
        self._spare: SimpleQueue[IsolatedProcess] = SimpleQueue()
        for process in self._processes:
            self._spare.put(process)
        self._idle.put(self._spare.get())
        self._closed = threading.Event()
        self._watching = threading.Thread(target=self._watch, name=name, daemon=True)
        self._watching.start()

    def ask(self, job: object, budget: Budget) -> Any:
        """Have one of the processes do a job; may be called from any thread.

        Raises JobLost, ProcessNotStarted, and whatever the job raised in the process.
        """
        process = self._next()
        try:
            answer = process.ask(job, budget)
        finally:
            self._idle.put(process)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def spread(self) -> None:
        """Let all processes work at once."""
        with contextlib.suppress(Empty):
            while True:
                self._idle.put(self._spare.get_nowait())

    def start(self) -> None:
        """Start the first process, so that it is warm for its first job."""
        self._processes[0].start()

    def start_if_ended(self) -> None:
        """Start the first process again if it ended because it was idle."""
        self._processes[0].start_if_ended()

    def close(self) -> None:
        """End the processes at once, whatever they are doing."""
        self._closed.set()
        for process in self._processes:
            process.close()
        self._watching.join()

    def _next(self) -> IsolatedProcess:
        try:
            return self._idle.get(timeout=_HELD_UP_SECONDS)
        except Empty:
            pass
        try:
            return self._spare.get_nowait()
        except Empty:
            return self._idle.get()

    def _watch(self) -> None:
        while not self._closed.wait(_WATCH_SECONDS):
            for process in self._processes:
                process.end_if_overdue()
