"""The server in the warm process.

The main thread answers one question after the other, so that neither their work nor their costs are
mixed. A thread for each connection reads the request, sends heartbeats, and notices if the command goes
away; the question is then interrupted exactly as Ctrl-C would in the command's own process.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import queue
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from select import select
from types import FrameType
from typing import Any

from localcrag import __version__
from localcrag.errors import LocalCragError
from localcrag.serve import protocol, request_job
from localcrag.serve.ask_request import AskRequest
from localcrag.serve.endpoint import UNIX, Endpoint, same_user
from localcrag.serve.protocol import (
    BadMessage,
    Crashed,
    Declined,
    Done,
    Failed,
    Heartbeat,
    Restarting,
    ServerStatus,
    StartConditions,
    StatusRequest,
    StopRequest,
    WorkRequest,
)
from localcrag.serve.request_job import MAX_ANSWER_BYTES, Job, received_line
from localcrag.serve.worker import Worker

HEARTBEAT_SECONDS = 2.0
"""Seconds between two heartbeats."""
REQUEST_SECONDS = 5.0
"""Seconds in which a connection must send its request."""
IDLE_CHECK_SECONDS = 5.0
"""Seconds between two checks of the idle time, and of whether the socket's file is still this server's."""
HANG_UP_SIGNAL = getattr(signal, "SIGUSR1", signal.SIGTERM)
"""The signal that interrupts a question in the main thread; Windows has no SIGUSR1."""


class CommandGone(KeyboardInterrupt):
    """The command that asked the question went away."""


@dataclass(eq=False)
class Server:
    """Serves the requests at a listening socket until it is idle for too long or told to end."""

    endpoint: Endpoint
    listener: socket.socket
    start: StartConditions
    worker: Worker
    limit: float
    """Seconds without a question after which it ends; 0 means never."""
    steady: bool = False
    """Whether it keeps its conditions: who asks at its HTTP door must find it as it was opened."""
    since: float = field(default_factory=time.time)
    answered: int = 0
    _jobs: queue.SimpleQueue[Job | StartConditions | None] = field(default_factory=queue.SimpleQueue)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _waiting: int = 0
    _running: Job | None = None
    _ending: bool = False
    _used: float = field(default_factory=time.monotonic)
    _own_inode: int = 0

    def __post_init__(self) -> None:
        self._own_inode = self._inode()

    def run(self, first: Callable[[], None] | None = None) -> StartConditions | None:
        """Serve until the end; returns the conditions to restart under, or None.

        ``first`` is called before any question is answered. ``run`` must be called in the main thread;
        KeyboardInterrupt ends it.
        """
        signal.signal(HANG_UP_SIGNAL, self._hang_up)
        threading.Thread(target=self._accept, daemon=True).start()
        if first:
            first()
        self._used = time.monotonic()
        while True:
            try:
                job = self._jobs.get(
                    timeout=IDLE_CHECK_SECONDS if not self.limit else min(IDLE_CHECK_SECONDS, self.limit / 4)
                )
            except queue.Empty:
                if self._end_if_idle() or self._inode() != self._own_inode:
                    return None
                continue
            if not isinstance(job, Job):
                return job
            self._work(job)

    def close(self) -> None:
        """Stop listening, and remove the socket's file if it is still this server's."""
        with self._lock:
            self._hide()

    # ------------------------------------------------------------------------------ the main thread

    def _work(self, job: Job) -> None:
        try:
            try:
                self._running = job
                if not job.gone:
                    self._answer(job)
            finally:
                self._running = None
        except CommandGone:
            log("a command went away")
            with contextlib.suppress(LocalCragError):  # a model that is not there has nothing to reset
                self.worker.reset(job.request)
        except OSError:
            pass
        finally:
            if not job.done:
                self._leave()
            _shut(job.link)

    def _leave(self) -> None:
        """Count a job no longer among those that wait."""
        with self._lock:
            self._waiting -= 1
            self._used = time.monotonic()

    def _answer(self, job: Job) -> None:
        """Do the work of a job and send its replies. Raises CommandGone or OSError if the command is gone."""
        try:
            with contextlib.closing(self._replies(job)) as replies:
                for message in replies:
                    job.deliver(message)
            last: object = Done()
        except LocalCragError as error:
            last = Failed.of(error)
        except BadMessage as error:
            last = Crashed(f"a reply could not be sent: {error}")
        self.answered += 1
        job.done = True  # from here on the command may go away, and nothing is interrupted
        self._leave()  # before the last message: the next request may come as soon as that is read
        job.deliver(last)

    def _replies(self, job: Job) -> Generator[Any]:
        """The replies of the work; an unexpected error is logged and becomes Crashed.

        Raises LocalCragError.
        """
        try:
            yield from self.worker.do(job.request, job.ask_consent)
        except (LocalCragError, GeneratorExit):
            raise
        except Exception as error:  # noqa: BLE001  whatever it is, the command does the work itself
            traceback.print_exc()
            yield Crashed(f"{type(error).__name__}: {error}")

    def _hang_up(self, number: int, frame: FrameType | None) -> None:
        """Handle HANG_UP_SIGNAL: raise CommandGone if the question of that command is still worked on."""
        job = self._running
        if job is not None and job.gone and not job.done:
            raise CommandGone

    def _end_if_idle(self) -> bool:
        """Stop accepting work if the server was idle for too long; returns whether it was."""
        with self._lock:
            late = bool(self.limit) and time.monotonic() - self._used > self.limit and not self._waiting
            if late:
                self._ending = True
                self._hide()
        return late

    # ------------------------------------------------------------------------------ connections

    def _accept(self) -> None:
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return  # closed: the server ends
            threading.Thread(target=self._attend, args=(link,), daemon=True).start()

    def _attend(self, link: socket.socket) -> None:
        """Serve one connection: check its user, read its request, and stay until it is answered."""
        with link:
            try:
                link.settimeout(REQUEST_SECONDS)
                if not self._admitted(link):
                    log("refused: a process of another user")
                    return
                request = protocol.decode(received_line(link, REQUEST_SECONDS), AskRequest)
                link.settimeout(request_job.TAKING_SECONDS)
                if isinstance(request, WorkRequest):
                    self._take(request, link)
                elif isinstance(request, (StatusRequest, StopRequest)):
                    link.sendall(protocol.encode(self._status()) + protocol.encode(Done()))
                if isinstance(request, StopRequest):
                    self._end(None)
            except (OSError, BadMessage) as error:
                log(f"a connection failed: {error}")

    def _admitted(self, link: socket.socket) -> bool:
        if UNIX:
            return same_user(link)
        from localcrag.serve.endpoint import admits

        return admits(link, self.endpoint.address)

    def _take(self, request: WorkRequest, link: socket.socket) -> None:
        """Queue the work and stay with it, or restart if the request needs other conditions.

        A steady server declines a request with other conditions.
        """
        link.sendall(protocol.encode(Heartbeat(queued=False)))
        reason = self.start.difference(request.start)
        if reason and self.steady:
            link.sendall(protocol.encode(Declined(reason)))
            return
        if not reason and (changed := self.worker.changed(request)):
            reason = f"{changed} was changed"
        if reason:
            log(f"begins again: {reason}")
            self._end(request.start, lambda now: Restarting(reason, self.since, now), link)
            return
        job = Job(request, link)
        with self._lock:
            if self._ending:
                return
            self._waiting += 1
        self._jobs.put(job)
        self._stay(job)

    def _stay(self, job: Job) -> None:
        """Send heartbeats until the work is done or the command is gone; then interrupt the work."""
        link = job.link
        try:
            while True:
                job.send(Heartbeat(queued=self._running not in (None, job)))
                if select([link], [], [], HEARTBEAT_SECONDS)[0]:
                    if not (text := link.recv(MAX_ANSWER_BYTES)):
                        break
                    job.take(text)
        except (OSError, BadMessage):
            pass
        job.gone = True
        if self._running is job and not job.done:
            _interrupt()

    def _end(
        self,
        again: StartConditions | None,
        farewell: Callable[[bool], object] | None = None,
        link: socket.socket | None = None,
    ) -> None:
        """Accept no more work, and end, or restart under the conditions ``again``, after the waiting jobs.

        The message of ``farewell``, which is told whether that is at once, is sent before the process ends.
        """
        with self._lock:
            at_once = not self._waiting
            if at_once:
                self._hide()
            try:
                if link and farewell:
                    link.sendall(protocol.encode(farewell(at_once)) + protocol.encode(Done()))
            finally:
                if not self._ending:
                    self._ending = True
                    self._jobs.put(again)

    def _status(self) -> ServerStatus:
        with self._lock:
            busy = bool(self._waiting)
            idle = 0.0 if busy else time.monotonic() - self._used
            return ServerStatus(
                pid=os.getpid(),
                version=__version__,
                home=str(self.worker.settings.home),
                since=self.since,
                idle=round(idle, 1),
                limit=self.limit,
                answered=self.answered,
                busy=busy,
                offline=self.start.offline,
            )

    def _hide(self) -> None:
        """Close the listener and remove its file, so that a new server may take its place.

        The caller must hold the lock.
        """
        _shut(self.listener)
        self.listener.close()
        if self._inode() == self._own_inode:
            self.endpoint.address.unlink(missing_ok=True)

    def _inode(self) -> int:
        try:
            return self.endpoint.address.stat().st_ino
        except OSError:
            return 0


def _shut(link: socket.socket) -> None:
    """Shut a connection down, which wakes the thread that waits for it."""
    with contextlib.suppress(OSError):
        link.shutdown(socket.SHUT_RDWR)


def _interrupt() -> None:
    """Make the main thread run the handler of HANG_UP_SIGNAL.

    If the platform can send a signal to a thread, this also interrupts a system call; otherwise the handler
    runs at the next instruction of Python.
    """
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, HANG_UP_SIGNAL)
    else:
        _thread.interrupt_main(HANG_UP_SIGNAL)


def log(text: str) -> None:
    """Print a line with the time on stderr, which is the log of a server in the background."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
