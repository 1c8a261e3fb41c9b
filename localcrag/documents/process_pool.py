"""A pool of processes that read documents, so that a parser that fails costs one file only.

A parser that crashes, never ends or wants all memory takes only its own process with it. The file that it was
reading is skipped with that reason, and a new process reads the next one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from localcrag.documents.extracted import MEBIBYTE
from localcrag.documents.format_names import can_recognise
from localcrag.documents.splitting import passages_at
from localcrag.errors import CorpusError
from localcrag.isolation.isolated_pool import IsolatedPool
from localcrag.isolation.isolated_process import (
    GIBIBYTE,
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
MAX_READ_MEMORY = GIBIBYTE
"""Bytes of memory that reading one document may take, before those for its size are added."""
MAX_READ_MEMORY_PER_BYTE = 16
"""Bytes of memory that are added for each byte of the document."""
MAX_RECOGNITION_MEMORY = GIBIBYTE
"""Bytes of memory that are added where the text of pictures is recognised: a page takes some 700 MiB."""
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from localcrag.documents.reader_process import main; main()"
)


def reading_budget(size: int) -> Budget:
    """What reading a document of ``size`` bytes may use."""
    recognition = MAX_RECOGNITION_MEMORY if can_recognise() else 0
    return Budget(
        MAX_READ_SECONDS + size / MEBIBYTE * MAX_READ_SECONDS_PER_MIB,
        memory_budget(MAX_READ_MEMORY + size * MAX_READ_MEMORY_PER_BYTE + recognition),
    )


class ReaderPool:
    """At most ``count`` processes that read documents, as :class:`~.isolated_pool.IsolatedPool` starts them.

    ``setting`` holds the keyword arguments of the :class:`~localcrag.documents.LocalCorpus` in each process,
    and perhaps the file ``token_vectors`` with which it also embeds the passages.
    The pool must be used in a ``with``, which ends the processes.
    """

    def __init__(self, count: int, setting: Mapping[str, Any]) -> None:
        self._pool = IsolatedPool(count, _PROGRAM, dict(setting), "readers")

    def read(self, file: SourceFile, meta: Meta) -> ReadResult:
        """Read and split a file in one of the processes; may be called from any thread.

        Returns the document with its passages, or the reason why there is none. Raises CorpusError if no
        process can be started, and whatever else went wrong in the process.
        """
        try:
            reading, cuts = self._pool.ask((file, dict(meta)), reading_budget(file.size))
        except JobLost as lost:
            return ReadResult(file.source, None, reason=f"reading it {lost}")
        except ProcessNotStarted as error:
            raise CorpusError(
                f"a process to read documents cannot be started: {error}",
                hint="make room for it (memory, processes), and run the same command again: "
                "what was read is kept",
            ) from error
        if (document := reading.document) is None:
            return ReadResult(file.source, None, reason=reading.reason)
        return ReadResult(file.source, document, passages_at(document, cuts), vectors=reading.vectors)

    def spread(self) -> None:
        """Let all processes work at once."""
        self._pool.spread()

    def start(self) -> None:
        """Start the first process, so that it is warm when it gets something to read."""
        self._pool.start()

    def __enter__(self) -> ReaderPool:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the processes at once, whatever they are doing."""
        self._pool.close()
