"""Reading ahead of whoever takes the documents: the next ones are read while this one is embedded.

:func:`read_ahead` is the queue; what reads is given to it: a function in this process for little
work, :class:`~localcrag.documents.process_pool.ReaderPool` for much.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue

from localcrag._platform import cores
from localcrag.documents.extracted import MEBIBYTE
from localcrag.protocols import SourceFile
from localcrag.types import Meta, ReadResult

Wanted = tuple[SourceFile, Meta]
ReadFunction = Callable[[SourceFile, Meta], ReadResult]

BYTES_AHEAD = 32 * MEBIBYTE
"""Size of the files that are being read, or were and wait to be taken; one larger file is read alone."""
FILES_AHEAD = 1024
UNKNOWN = 8 * MEBIBYTE
"""What a source counts for that does not say its size."""
WORTH_A_PROCESS = 4 * MEBIBYTE
"""Size of files below which they are read sooner than a process has started."""
WORTH_A_PROCESS_FILES = 1000
MOST_PROCESSES = 8


def processes_for(sizes: Sequence[int]) -> int:
    """How many processes are to read files of these sizes (bytes): 0 where starting one does not pay."""
    if sum(sizes) < WORTH_A_PROCESS and len(sizes) < WORTH_A_PROCESS_FILES:
        return 0
    return min(cores(), len(sizes), MOST_PROCESSES)


def read_ahead(wanted: Sequence[Wanted], read: ReadFunction, threads: int = 1) -> Generator[ReadResult]:
    """What ``read`` makes of each, as soon as it is done; by one thread, in their order.

    Goes no further ahead than BYTES_AHEAD and FILES_AHEAD. Raises what ``read`` raises.
    """
    done: SimpleQueue[Future[ReadResult]] = SimpleQueue()
    weights: dict[Future[ReadResult], int] = {}
    ahead = 0

    def taken() -> ReadResult:
        nonlocal ahead
        future = done.get()
        ahead -= weights.pop(future)
        return future.result()

    pool = ThreadPoolExecutor(threads, thread_name_prefix="read")
    try:
        for file, meta in wanted:
            weight = file.size or UNKNOWN
            while weights and (len(weights) >= FILES_AHEAD or ahead + weight > BYTES_AHEAD):
                yield taken()
            future = pool.submit(read, file, meta)
            weights[future] = weight
            ahead += weight
            future.add_done_callback(done.put)
        while weights:
            yield taken()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
