"""Ingestion: find, read, split, embed, index; only what changed, a batch at a time.

A generator of events that ends in Ingested(report). Three things go on at once: the corpus reads
ahead (in processes of its own where there is much to read), the embedder works on one batch, and the
store writes the one before. Each holds a bounded amount, so memory does not grow with the corpus.
Indexes are brought up to date once, at the end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from localcrag._platform import expanded
from localcrag.errors import CorpusError, UsageError
from localcrag.events import Discovered, Event, Ingested, Optimizing, Progressed, SkippedSource, Steps
from localcrag.filters import is_key
from localcrag.protocols import Corpus, Embedder, PassageStore, SourceFile
from localcrag.types import (
    NO_META,
    NO_TEXT,
    Document,
    IndexedDocument,
    IngestReport,
    Meta,
    MetaValue,
    Passage,
    ReadResult,
    Skipped,
)

BATCH_PASSAGES = 512
"""Passages embedded and written together, unless one document alone has more."""
LARGE_BATCH_PASSAGES = 4096
"""Passages from which on a batch is written before the next is taken: two of them may not fit."""


@dataclass(frozen=True, slots=True)
class _ReadDocument:
    """A document to be indexed, with its passages."""

    file: SourceFile
    document: Document
    passages: Sequence[Passage]


@dataclass(slots=True)
class _Tally:
    """What has been done so far: ``batch`` is being filled, ``writing`` is being written by ``written``;
    ``emptied`` are the known sources that have no text any more.
    """

    outcomes: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("added", "changed", "unchanged"), 0)
    )
    skipped: list[Skipped] = field(default_factory=list)
    emptied: list[str] = field(default_factory=list)
    passages: int = 0
    removed: int = 0
    batch: list[_ReadDocument] = field(default_factory=list)
    batched: int = 0
    writing: list[_ReadDocument] = field(default_factory=list)
    written: Future[None] | None = None


@dataclass(frozen=True, slots=True)
class Ingestion:
    """Brings documents into one knowledge base, called ``kb`` in the report."""

    kb: str
    corpus: Corpus
    embedder: Embedder
    store: PassageStore

    def run(
        self,
        targets: Sequence[str | SourceFile],
        *,
        meta: Meta = NO_META,
        prune: bool = False,
        reread: bool = False,
    ) -> Iterator[Event]:
        """The events of one ingestion, the last one Ingested.

        A file whose size and time of change are those of the last ingestion is not opened, unless
        ``reread``; one that was touched but has the same bytes is not embedded again. A document
        that was emptied is forgotten, one that cannot be read now is kept. ``prune`` forgets
        documents below the given folders that are gone, or left out now. ``meta`` is added to what
        a document had; documents that lack it are read again.

        Raises CorpusError for a target that does not exist, StoreError where writing fails; what
        was written before stays.
        """
        started = perf_counter()
        tally = _Tally()
        known = self.store.indexed()
        files = yield from self._discover(targets, tally, prune)
        waiting: dict[str, SourceFile] = {}
        for file in files:
            if not reread and _untouched(file, known.get(file.source), meta):
                tally.outcomes["unchanged"] += 1
                yield Progressed(file.source, file.size, "unchanged")
            else:
                waiting[file.source] = file
        wanted = [(file, _joined(known.get(file.source), meta)) for file in waiting.values()]
        with ThreadPoolExecutor(1, "write") as writer, closing(self.corpus.read_all(wanted)) as readings:
            for reading in readings:
                yield from self._take(waiting[reading.source], reading, known, meta, tally)
                if tally.batched >= BATCH_PASSAGES:
                    yield from self._write(known, tally, writer)
            yield from self._write(known, tally, writer)
            yield from self._written(known, tally)
        gone = (
            _vanished([target for target in targets if isinstance(target, str)], known, files, tally.skipped)
            if prune
            else []
        )
        if tally.emptied or gone:
            tally.removed = self.store.remove([*tally.emptied, *gone])
        if tally.passages or tally.removed:
            yield Optimizing("search index")
            self.store.optimize()
        yield Ingested(
            IngestReport(
                kb=self.kb,
                **tally.outcomes,
                removed=tally.removed,
                passages=tally.passages,
                skipped=tuple(tally.skipped),
                seconds=perf_counter() - started,
            )
        )

    def _discover(
        self, targets: Sequence[str | SourceFile], tally: _Tally, prune: bool
    ) -> Steps[list[SourceFile]]:
        files: dict[str, SourceFile] = {}
        for found in self.corpus.discover(targets):
            if isinstance(found, Skipped):
                tally.skipped.append(found)
                yield SkippedSource(found)
            else:
                files.setdefault(found.source, found)
        yield Discovered(len(files), sum(file.size for file in files.values()))
        if not files and not tally.skipped and not prune:
            raise CorpusError(
                f"there are no documents in {', '.join(map(str, targets))}",
                hint="hidden files and what .gitignore excludes are left out; name such a file itself",
            )
        return list(files.values())

    def _take(
        self,
        file: SourceFile,
        reading: ReadResult,
        known: Mapping[str, IndexedDocument],
        meta: Meta,
        tally: _Tally,
    ) -> Iterator[Event]:
        """Put it into the batch, unless there is nothing to index in it."""
        before, document = known.get(file.source), reading.document
        reason = reading.reason or ("" if reading.passages else NO_TEXT)
        if document is None or reason:
            if before and reading.empty:
                tally.emptied.append(file.source)
            skipped = Skipped(file.source, reason)
            tally.skipped.append(skipped)
            yield SkippedSource(skipped)
            yield Progressed(file.source, file.size, "skipped")
        elif before and before.hash == document.hash and _covers(before.meta, meta):
            tally.outcomes["unchanged"] += 1
            yield Progressed(file.source, file.size, "unchanged")
        else:
            tally.batch.append(_ReadDocument(file, document, reading.passages))
            tally.batched += len(reading.passages)

    def _write(
        self, known: Mapping[str, IndexedDocument], tally: _Tally, writer: ThreadPoolExecutor
    ) -> Iterator[Event]:
        """Embed the batch in one go, and have it written in one go while the next one is embedded."""
        batch, tally.batch, tally.batched = tally.batch, [], 0
        if not batch:
            return
        vectors = self.embedder.encode([passage.text for read in batch for passage in read.passages])
        rows, start = [], 0
        for read in batch:
            end = start + len(read.passages)
            rows.append((read.document, _entry(read), read.passages, vectors[start:end]))
            start = end
        yield from self._written(known, tally)
        tally.writing, tally.written = batch, writer.submit(self.store.replace, rows)
        if start >= LARGE_BATCH_PASSAGES:
            yield from self._written(known, tally)

    def _written(self, known: Mapping[str, IndexedDocument], tally: _Tally) -> Iterator[Event]:
        """Wait for what is being written, and count it. Raises StoreError."""
        if tally.written is None:
            return
        tally.written.result()
        batch, tally.writing, tally.written = tally.writing, [], None
        for read in batch:
            outcome = "changed" if read.file.source in known else "added"
            tally.outcomes[outcome] += 1
            tally.passages += len(read.passages)
            yield Progressed(read.file.source, read.file.size, outcome, len(read.passages))


def checked_meta(metadata: Mapping[str, MetaValue] | None) -> Meta:
    """The fields to attach to documents. Raises UsageError for a name or a value that cannot be kept."""
    if metadata is None:
        return NO_META
    if not isinstance(metadata, Mapping):
        raise UsageError(
            f"metadata is a {type(metadata).__name__}, and must be a mapping",
            hint='for example {"team": "x", "year": 2024}',
        )
    for key, value in metadata.items():
        if not isinstance(key, str) or not is_key(key):
            raise UsageError(
                f"{key!r} cannot be the name of a field",
                hint="use letters, digits and '_', a letter in front, and no word of the filter language",
            )
        if not isinstance(value, (str, int, float)):
            raise UsageError(
                f"the field {key} is a {type(value).__name__}",
                hint="a field is a string, a number, True or False",
            )
    return dict(metadata)


def _entry(read: _ReadDocument) -> IndexedDocument:
    document = read.document
    return IndexedDocument(
        source=document.source,
        hash=document.hash,
        size=read.file.size,
        mtime_ns=read.file.mtime_ns,
        passages=len(read.passages),
        title=document.title,
        meta=document.meta,
    )


def _untouched(file: SourceFile, before: IndexedDocument | None, meta: Meta) -> bool:
    if before is None or not file.mtime_ns:
        return False
    return (file.size, file.mtime_ns) == (before.size, before.mtime_ns) and _covers(before.meta, meta)


def _joined(before: IndexedDocument | None, meta: Meta) -> Meta:
    """What a document had, and what is added to it now."""
    return {**(before.meta if before else NO_META), **meta}


def _covers(had: Meta, wanted: Meta) -> bool:
    return all(key in had and had[key] == value for key, value in wanted.items())


def _vanished(
    targets: Sequence[str],
    known: Mapping[str, IndexedDocument],
    files: Sequence[SourceFile],
    skipped: Sequence[Skipped],
) -> list[str]:
    """What is known below the folders among the targets, and was not met there this time: it is gone, or
    left out now.
    """
    paths = [os.path.realpath(expanded(target)) for target in targets]
    folders = [path for path in paths if Path(path).is_dir()]
    met = {file.source for file in files} | {item.source for item in skipped}
    unseen = [item.source for item in skipped]
    return [
        source
        for source in known
        if source not in met and _below(source, folders) and not _below(source, unseen)
    ]


def _below(source: str, folders: Sequence[str]) -> bool:
    return any(source.startswith(folder.rstrip("/") + "/") for folder in folders)
