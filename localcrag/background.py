"""Blocking work in threads: for callers with an event loop, and for work that nobody has to wait for.

Ctrl-C ends the work of the main thread. Work in another thread is ended by :func:`interruptible`: whatever
takes long calls :func:`check_interruption` while it waits.

The ``async`` twins (``aask``, ``astream`` and so on) write nothing twice: each runs the ordinary method,
step by step, in one thread of its own.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Thread
from typing import TypeVar

from localcrag.errors import LocalCragError

T = TypeVar("T")
_END = object()
_INTERRUPTION_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("interruption check", default=None)


async def call_in_thread(work: Callable[[], T]) -> T:
    """What ``work`` returns or raises; the event loop goes on meanwhile."""
    import asyncio

    return await asyncio.to_thread(work)


async def iterate_in_thread(start: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
    """The items of an iterator that blocks; each step is taken in the same thread.

    If the consumer goes away, or its task is cancelled, the iterator is closed after the step that it
    is in: a step of a model cannot be abandoned.
    """
    import asyncio

    loop = asyncio.get_running_loop()
    thread = ThreadPoolExecutor(1, "localcrag")
    steps: list[Iterator[T]] = []

    def take() -> object:
        if not steps:
            steps.append(start())
        return next(steps[0], _END)

    try:
        while (item := await loop.run_in_executor(thread, take)) is not _END:
            yield item  # type: ignore[misc]  # it is not the end, so it is one of the items
    finally:
        await asyncio.shield(loop.run_in_executor(thread, _close, steps))
        thread.shutdown(wait=False)


def _close(steps: list[Iterator[T]]) -> None:
    for step in steps:
        if close := getattr(step, "close", None):
            close()


def in_background(work: Callable[[], T]) -> Future[T]:
    """Start ``work`` in a daemon thread; its future holds what it returns or raises.

    A thread pool is joined when the interpreter ends, so one slow server would hold up Ctrl-C; these
    threads are daemons, and what they do is bounded in time anyway.

    An error that is neither ours nor one of the system or of a value is a defect: it is shown as
    the thread's own, and the future is cancelled, so that nobody waits for ever.
    """
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(work())
        except (LocalCragError, OSError, ValueError) as error:
            future.set_exception(error)
        finally:
            future.cancel()  # of no effect where it is done

    Thread(target=run, name="localcrag-web", daemon=True).start()
    return future


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Let the work of the block, in this thread, be ended by ``check``, which raises if it is not wanted.

    As after Ctrl-C, models that were interrupted must be reset.
    """
    token = _INTERRUPTION_CHECK.set(check)
    try:
        yield
    finally:
        _INTERRUPTION_CHECK.reset(token)


def check_interruption() -> None:
    """Raise what ends the work of this thread, if it is not wanted any more."""
    if check := _INTERRUPTION_CHECK.get():
        check()
