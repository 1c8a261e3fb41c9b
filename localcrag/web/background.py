"""Work in a thread that nobody has to wait for.

A thread pool is joined when the interpreter ends, so one slow server would hold up Ctrl-C; these
threads are daemons, and what they do is bounded in time anyway.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

from localcrag.errors import LocalCragError

T = TypeVar("T")


def in_background(work: Callable[[], T]) -> Future[T]:
    """Start ``work``; its future holds what it returns or raises.

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
