"""Prefetching documents: the next ones are read while the current one is embedded.

:func:`read_ahead` is a bounded queue over a function that reads, which is
:meth:`~localcrag.documents.process_pool.ReaderPool.read` unless no process can be started.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic

from localcrag._platform import cores
from localcrag.documents.extracted import MEBIBYTE
from localcrag.protocols import SourceFile
from localcrag.types import Meta, ReadResult, StillReading

Wanted = tuple[SourceFile, Meta]
ReadFunction = Callable[[SourceFile, Meta], ReadResult]

MAX_BYTES_AHEAD = 32 * MEBIBYTE
"""Bytes of the files that are being read or wait to be taken; a larger file is read alone."""
MAX_FILES_AHEAD = 1024
"""Files that are being read or wait to be taken."""
UNKNOWN_SIZE_BYTES = 8 * MEBIBYTE
"""The weight in bytes of a source whose size is not known before it is read."""
MAX_BYTES_AT_HAND = MEBIBYTE // 4
"""Bytes of plain texts up to which they are read without another process."""
MAX_FILES_AT_HAND = 200
"""The number of plain texts up to which they are read without another process."""
MIN_BYTES_FOR_SEVERAL = 4 * MEBIBYTE
"""Bytes of files below which a second process is started only if the first one is held up."""
MIN_FILES_FOR_SEVERAL = 1000
"""The number of files from which on several processes pay, however small the files are."""
MAX_PROCESSES = 8
STILL_READING_SECONDS = 1.0
"""Seconds without a result after which a reading says what it is at."""


def most_processes() -> int:
    """The number of processes that may read at the same time; two also on one core, as one may be held up."""
    return max(2, min(cores(), MAX_PROCESSES))


def pays_several(sizes: Sequence[int]) -> bool:
    """Whether files of these sizes in bytes are so much that several processes pay from the beginning."""
    return sum(sizes) >= MIN_BYTES_FOR_SEVERAL or len(sizes) >= MIN_FILES_FOR_SEVERAL


def read_ahead(
    wanted: Sequence[Wanted], read: ReadFunction, threads: int = 1
) -> Generator[ReadResult | StillReading]:
    """The results of ``read`` for each wanted source, in the order in which they are finished.

    With one thread that is the order of ``wanted``. No more than MAX_BYTES_AHEAD bytes and
    MAX_FILES_AHEAD files are read ahead. After each second without a result comes StillReading. Raises
    whatever ``read`` raises. The threads are daemons: nobody waits for them if the program is to end.
    """
    readers = _Readers(read, threads)
    ahead = 0

    def taken() -> Generator[ReadResult | StillReading]:
        nonlocal ahead
        while (done := readers.take(STILL_READING_SECONDS)) is None:
            if source := readers.longest():
                yield StillReading(source)
        file, result = done
        ahead -= _weight(file)
        if isinstance(result, BaseException):
            raise result
        yield result

    try:
        for file, meta in wanted:
            weight = _weight(file)
            while readers.count and (readers.count >= MAX_FILES_AHEAD or ahead + weight > MAX_BYTES_AHEAD):
                yield from taken()
            readers.give((file, meta))
            ahead += weight
        while readers.count:
            yield from taken()
    finally:
        readers.end()


def _weight(file: SourceFile) -> int:
    return file.size or UNKNOWN_SIZE_BYTES


class _Readers:
    """Threads that read what they are given; ``count`` sources were given and not taken."""

    def __init__(self, read: ReadFunction, threads: int) -> None:
        self._read, self._threads = read, threads
        self._jobs: SimpleQueue[Wanted | None] = SimpleQueue()
        self._done: SimpleQueue[tuple[SourceFile, ReadResult | BaseException]] = SimpleQueue()
        self._begun: dict[str, float] = {}
        self.count = 0
        for _ in range(threads):
            Thread(target=self._work, name="read", daemon=True).start()

    def give(self, job: Wanted) -> None:
        self.count += 1
        self._jobs.put(job)

    def take(self, seconds: float) -> tuple[SourceFile, ReadResult | BaseException] | None:
        """The next source that is finished, with its result or error; None if there is none so long."""
        try:
            done = self._done.get(timeout=seconds)
        except Empty:
            return None
        self.count -= 1
        return done

    def longest(self) -> str:
        """The source that has been read for longest; "" if none is being read for a second."""
        begun = min(self._begun.copy().items(), key=lambda item: item[1], default=("", 0.0))
        return begun[0] if monotonic() - begun[1] >= STILL_READING_SECONDS else ""

    def end(self) -> None:
        """Give the threads no more; each ends after what it is reading."""
        with contextlib.suppress(Empty):
            while True:
                self._jobs.get_nowait()
        for _ in range(self._threads):
            self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            file, meta = job
            self._begun[file.source] = monotonic()
            result: ReadResult | BaseException
            try:
                result = self._read(file, meta)
            except BaseException as error:  # noqa: BLE001 - it is raised where the result is taken
                result = error
            del self._begun[file.source]
            self._done.put((file, result))
