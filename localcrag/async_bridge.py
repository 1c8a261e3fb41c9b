"""Blocking work in a thread, for callers with an event loop: the twins ``aask``, ``astream`` and so on.

Nothing is written twice: a twin runs the ordinary method, step by step, in one thread of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
_END = object()


async def call_in_thread(work: Callable[[], T]) -> T:
    """What ``work`` returns or raises; the event loop goes on meanwhile."""
    return await asyncio.to_thread(work)


async def iterate_in_thread(start: Callable[[], Iterator[T]]) -> AsyncIterator[T]:
    """The items of an iterator that blocks; each step is taken in the same thread.

    If the consumer goes away, or its task is cancelled, the iterator is closed after the step that it
    is in: a step of a model cannot be abandoned.
    """
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
