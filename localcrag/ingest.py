"""Ingestion: find, read, split, embed, index; only what changed, a batch at a time.

A generator of events that ends in Ingested(report). Reading and splitting run one step ahead in a
thread while the embedder works, and no more than a few documents are held at once, so memory does
not grow with the corpus.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from localcrag.errors import CorpusError, UnreadableError
from localcrag.events import Discovered, Event, Ingested, Optimizing, Progressed, SkippedSource, Steps
from localcrag.protocols import Corpus, Embedder, PassageStore, SourceFile
from localcrag.types import NO_META, Document, Indexed, IngestReport, Meta, Passage, Skipped

READ_AHEAD = 3
"""Documents read and split before the embedder asks for them."""
BATCH = 384
"""Passages embedded and written together, unless one document alone has more."""


@dataclass(frozen=True, slots=True)
class _Read:
    """A document with its passages, or why there is none."""

    file: SourceFile
    document: Document | None
    passages: Sequence[Passage] = ()
    reason: str = ""


@dataclass(slots=True)
class _Tally:
    """What has been done so far; ``written`` are the documents of the batch being filled."""

    outcomes: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("added", "changed", "unchanged"), 0)
    )
    skipped: list[Skipped] = field(default_factory=list)
    passages: int = 0
    removed: int = 0
    batch: list[_Read] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Ingestion:
    """Brings documents into one knowledge base, called ``kb`` in the report."""

    kb: str
    corpus: Corpus
    embedder: Embedder
    store: PassageStore

    def run(
        self, targets: Sequence[str], *, meta: Meta = NO_META, prune: bool = False, reread: bool = False
    ) -> Iterator[Event]:
        """The events of one ingestion, the last one Ingested.

        A file whose size and time of change are those of the last ingestion is not opened, unless
        ``reread``; one that was touched but has the same bytes is not embedded again. ``prune``
        forgets documents below the given folders that are no longer there. ``meta`` is added to
        what a document had; documents that lack it are read again.

        Raises CorpusError for a target that does not exist, StoreError where writing fails; what
        was written before stays.
        """
        started = perf_counter()
        tally = _Tally()
        known = self.store.indexed()
        files = yield from self._discover(targets, tally, prune)
        waiting = []
        for file in files:
            if not reread and _untouched(file, known.get(file.source), meta):
                tally.outcomes["unchanged"] += 1
                yield Progressed(file.source, file.size, "unchanged")
            else:
                waiting.append(file)
        for read in self._read_ahead(waiting, known, meta):
            yield from self._take(read, known, meta, tally)
        yield from self._write(known, tally)
        if prune:
            tally.removed = self.store.remove(_vanished(targets, known, files, tally.skipped))
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

    def _discover(self, targets: Sequence[str], tally: _Tally, prune: bool) -> Steps[list[SourceFile]]:
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
                f"there are no documents in {', '.join(targets)}",
                hint="hidden files and what .gitignore excludes are left out; name such a file itself",
            )
        return list(files.values())

    def _read_ahead(
        self, files: Sequence[SourceFile], known: Mapping[str, Indexed], meta: Meta
    ) -> Iterator[_Read]:
        pool = ThreadPoolExecutor(1, thread_name_prefix="read")
        pending: deque[Future[_Read]] = deque()
        try:
            for file in files:
                before = known.get(file.source)
                pending.append(pool.submit(self._read, file, {**(before.meta if before else {}), **meta}))
                if len(pending) > READ_AHEAD:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _read(self, file: SourceFile, meta: Meta) -> _Read:
        try:
            document = self.corpus.read(file, meta)
            passages = self.corpus.split(document)
        except UnreadableError as error:
            return _Read(file, None, reason=str(error))
        if not passages:
            return _Read(file, None, reason="no text in it")
        return _Read(file, document, passages)

    def _take(self, read: _Read, known: Mapping[str, Indexed], meta: Meta, tally: _Tally) -> Iterator[Event]:
        before = known.get(read.file.source)
        if read.document is None:
            skipped = Skipped(read.file.source, read.reason)
            tally.skipped.append(skipped)
            yield SkippedSource(skipped)
            yield Progressed(read.file.source, read.file.size, "skipped")
        elif before and before.hash == read.document.hash and _covers(before.meta, meta):
            tally.outcomes["unchanged"] += 1
            yield Progressed(read.file.source, read.file.size, "unchanged")
        else:
            tally.batch.append(read)
            if sum(len(item.passages) for item in tally.batch) >= BATCH:
                yield from self._write(known, tally)

    def _write(self, known: Mapping[str, Indexed], tally: _Tally) -> Iterator[Event]:
        """Embed the batch in one go and write it in one go."""
        batch, tally.batch = tally.batch, []
        if not batch:
            return
        vectors = self.embedder.encode([passage.text for read in batch for passage in read.passages])
        rows, start = [], 0
        for read in batch:
            assert read.document is not None
            end = start + len(read.passages)
            rows.append((read.document, _entry(read, read.document), read.passages, vectors[start:end]))
            start = end
        self.store.replace(rows)
        for read in batch:
            outcome = "changed" if read.file.source in known else "added"
            tally.outcomes[outcome] += 1
            tally.passages += len(read.passages)
            yield Progressed(read.file.source, read.file.size, outcome, len(read.passages))


def _entry(read: _Read, document: Document) -> Indexed:
    return Indexed(
        source=document.source,
        hash=document.hash,
        size=read.file.size,
        mtime_ns=read.file.mtime_ns,
        passages=len(read.passages),
        title=document.title,
        meta=document.meta,
    )


def _untouched(file: SourceFile, before: Indexed | None, meta: Meta) -> bool:
    if before is None or not file.mtime_ns:
        return False
    return (file.size, file.mtime_ns) == (before.size, before.mtime_ns) and _covers(before.meta, meta)


def _covers(had: Meta, wanted: Meta) -> bool:
    return all(key in had and had[key] == value for key, value in wanted.items())


def _vanished(
    targets: Sequence[str],
    known: Mapping[str, Indexed],
    files: Sequence[SourceFile],
    skipped: Sequence[Skipped],
) -> list[str]:
    """What is known below the folders among the targets, and was not met there this time."""
    paths = [os.path.realpath(Path(target).expanduser()) for target in targets]
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
