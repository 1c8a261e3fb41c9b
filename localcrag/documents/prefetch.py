"""Prefetching documents: the next ones are read while the current one is embedded.

:func:`read_ahead` is a bounded queue over a function that reads: one in this process for small amounts,
:meth:`~localcrag.documents.process_pool.ReaderPool.read` for large ones.
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

MAX_BYTES_AHEAD = 32 * MEBIBYTE
"""Bytes of the files that are being read or wait to be taken; a larger file is read alone."""
MAX_FILES_AHEAD = 1024
"""Files that are being read or wait to be taken."""
UNKNOWN_SIZE_BYTES = 8 * MEBIBYTE
"""The weight in bytes of a source whose size is not known before it is read."""
MIN_BYTES_FOR_PROCESSES = 4 * MEBIBYTE
"""Bytes of files below which reading them takes less time than starting a process."""
MIN_FILES_FOR_PROCESSES = 1000
"""The number of files from which on processes pay, however small the files are."""
MAX_PROCESSES = 8


def processes_for(sizes: Sequence[int]) -> int:
    """The number of processes to read files of these sizes in bytes; 0 if starting one does not pay."""
    if sum(sizes) < MIN_BYTES_FOR_PROCESSES and len(sizes) < MIN_FILES_FOR_PROCESSES:
        return 0
    return min(cores(), len(sizes), MAX_PROCESSES)


def read_ahead(wanted: Sequence[Wanted], read: ReadFunction, threads: int = 1) -> Generator[ReadResult]:
    """The results of ``read`` for each wanted source, in the order in which they are finished.

    With one thread that is the order of ``wanted``. No more than MAX_BYTES_AHEAD bytes and
    MAX_FILES_AHEAD files are read ahead. Raises whatever ``read`` raises.
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
            weight = file.size or UNKNOWN_SIZE_BYTES
            while weights and (len(weights) >= MAX_FILES_AHEAD or ahead + weight > MAX_BYTES_AHEAD):
                yield taken()
            future = pool.submit(read, file, meta)
            weights[future] = weight
            ahead += weight
            future.add_done_callback(done.put)
        while weights:
            yield taken()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
