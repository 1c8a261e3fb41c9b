"""The batches of an ingestion: the documents of one are embedded while the one before is written.

A batch holds a bounded amount of text, so memory does not grow with the corpus. It is bounded by time as
well: on a slow machine it has fewer passages, and it does not wait for a document that takes long to read. So
an interruption costs a few seconds of work, or the one document that takes longer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Self

from localcrag.events import Event, Processing, Steps
from localcrag.protocols import Embedder, PassageStore, SourceFile
from localcrag.types import Document, IndexedDocument, Passage, ReadResult

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

BATCH_PASSAGES = 4096
"""The number of passages from which on a batch is embedded and written; a document is never divided."""
MIN_BATCH_PASSAGES = 64
"""The number of passages of a batch on a machine that is slow, and of the first batch."""
EMBEDDING_SECONDS = 4.0
"""Seconds that embedding a batch should take: the last batch tells how many passages that are."""
WAITING_SECONDS = 3.0
"""Seconds after which a batch that has not as many passages yet is embedded and written all the same."""
LARGE_BATCH_PASSAGES = 4096
"""The number of passages from which on a batch is written before the next one is filled, since two batches of
this size may not fit into memory."""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document that is to be indexed, with its passages, and with their vectors if they came too."""

    file: SourceFile
    document: Document
    passages: Sequence[Passage]
    vectors: Vectors | None = None

    @property
    def entry(self) -> IndexedDocument:
        """The entry that the knowledge base keeps of the document."""
        document = self.document
        return IndexedDocument(
            source=document.source,
            hash=document.hash,
            size=self.file.size,
            mtime_ns=self.file.mtime_ns,
            passages=len(self.passages),
            title=document.title,
            meta=document.meta,
            own=document.own,
            left_out=document.left_out,
        )


class PassageBatches:
    """Embeds the documents of a batch, and writes them in a thread of its own while the next one is filled.

    It is a context manager, whose end waits for the thread.

    Args:
        embedder: gives the vectors of passages that have none.
        store: is written to.
        written: is told each document that has been written; what it returns is passed on.
    """

    def __init__(
        self, embedder: Embedder, store: PassageStore, written: Callable[[ReadDocument], Event]
    ) -> None:
        self._embedder, self._store, self._tell = embedder, store, written
        self._writer = ThreadPoolExecutor(1, "write")
        self._batch: list[ReadDocument] = []
        self._passages = self._bare = 0
        self._began = 0.0
        self._pace = MIN_BATCH_PASSAGES
        self._has_embedded = False
        self._writing: list[ReadDocument] = []
        self._written: Future[None] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self._writer.shutdown()

    def add(self, read: ReadDocument) -> None:
        """Add a document to the batch."""
        if not self._batch:
            self._began = perf_counter()
        self._batch.append(read)
        self._passages += len(read.passages)
        self._bare += len(read.passages) if read.vectors is None else 0

    def is_long(self, reading: ReadResult) -> bool:
        """Whether embedding a document takes as long as a whole batch should."""
        return reading.vectors is None and len(reading.passages) > self._pace

    def is_full(self) -> bool:
        """Whether the batch is to be embedded and written."""
        waited = bool(self._batch) and perf_counter() - self._began >= WAITING_SECONDS
        return self._passages >= BATCH_PASSAGES or self._bare >= self._pace or waited

    def is_written(self) -> bool:
        """Whether the batch before is written, and its documents were not told yet."""
        return self._written is not None and self._written.done()

    def write(self) -> Iterator[Event]:
        """Embed the batch and start to write it, once the batch before is written. Raises StoreError."""
        batch, passages = self._batch, self._passages
        self._batch, self._passages, self._bare = [], 0, 0
        if not batch:
            return
        vectors = yield from self._embed(batch)
        rows = [
            (read.document, read.entry, read.passages, own) for read, own in zip(batch, vectors, strict=True)
        ]
        yield from self.finish_write()
        self._writing, self._written = batch, self._writer.submit(self._store.replace, rows)
        if passages >= LARGE_BATCH_PASSAGES:
            yield from self.finish_write()

    def finish_write(self) -> Iterator[Event]:
        """Wait until the batch before is written, and tell its documents. Raises StoreError."""
        if self._written is None:
            return
        self._written.result()
        batch, self._writing, self._written = self._writing, [], None
        yield from map(self._tell, batch)

    def _embed(self, batch: Sequence[ReadDocument]) -> Steps[list[Vectors]]:
        """The vectors of each document of a batch; what has none is embedded in pieces of some seconds."""
        import numpy as np

        bare = [read for read in batch if read.vectors is None]
        texts = [passage.searchable for read in bare for passage in read.passages]
        sources = [read.file.source for read in bare for _ in read.passages]
        found: list[Vectors] = []
        start = 0
        if texts and not self._has_embedded:  # the model is loaded now, which takes seconds
            self._has_embedded = True
            yield Processing("embedding", sources[0])
        while start < len(texts):
            began = perf_counter()
            piece = texts[start : start + self._pace]
            found.append(self._embedder.encode(piece))
            seconds = perf_counter() - began
            start += len(piece)
            self._adjust_pace(len(piece), seconds)
            if start < len(texts) and seconds >= 1.0:
                yield Processing("embedding", sources[start])
            if self.is_written():
                yield from self.finish_write()
        made = np.concatenate(found) if len(found) > 1 else next(iter(found), None)
        return _vectors_by_document(batch, made)

    def _adjust_pace(self, passages: int, seconds: float) -> None:
        """Fit the pace, the passages embedded in EMBEDDING_SECONDS, to so many that took so long."""
        wanted = int(passages * EMBEDDING_SECONDS / max(seconds, 1e-3))
        if passages >= MIN_BATCH_PASSAGES or wanted < self._pace:
            self._pace = max(MIN_BATCH_PASSAGES, min(wanted, LARGE_BATCH_PASSAGES))


def _vectors_by_document(batch: Sequence[ReadDocument], made: Vectors | None) -> list[Vectors]:
    """The vectors of each document: those that it came with, else its own rows of the vectors made here."""
    vectors, start = [], 0
    for read in batch:
        if read.vectors is not None:
            vectors.append(read.vectors)
        elif made is not None:
            vectors.append(made[start : start + len(read.passages)])
            start += len(read.passages)
    return vectors
