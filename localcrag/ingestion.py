"""Ingestion: documents are found, read, split, embedded and indexed, a batch at a time.

It is a generator of events that ends in Ingested(report). Documents that did not change are skipped. Three
stages run at the same time: the corpus reads ahead (in other processes), the embedder works on one batch, and
the store writes the batch before. Each holds a bounded amount of text, so memory does not grow with the
corpus. A batch is bounded by time as well: on a slow machine it has fewer passages, and it does not wait for
a document that takes long to read. So an interruption costs a few seconds of work, or the one document that
takes longer. The search indexes are updated once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Literal

from localcrag.errors import CorpusError, UsageError
from localcrag.events import (
    Discovered,
    Event,
    Ingested,
    MovedSource,
    Optimizing,
    Processing,
    Progressed,
    SkippedSource,
    Steps,
)
from localcrag.filters import is_key
from localcrag.languages import other_than_english
from localcrag.protocols import Corpus, DocumentReader, Embedder, PassageStore, SourceFile
from localcrag.types import (
    NO_META,
    NO_TEXT,
    READING,
    Document,
    IndexedDocument,
    IngestReport,
    LeftOut,
    Meta,
    MetaValue,
    Passage,
    ReadResult,
    Skipped,
    StillReading,
)
from localcrag.vanished_documents import FoundMove, found_moves, refuse_to_empty, vanished_sources

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]

Prune = bool | Literal["empty"]
"""Whether documents that are gone are forgotten; ``"empty"``: also if nothing is left of a folder."""

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

LARGE_SHARE_LEFT_OUT = 0.3
"""The share of a page taken for navigation from which on the report names the page."""
PASSAGES_THAT_TELL = 3
"""The passages at the beginning of a document by which its language is told."""


@dataclass(frozen=True, slots=True)
class _ReadDocument:
    """A document that is to be indexed, with its passages, and with their vectors if they came too."""

    file: SourceFile
    document: Document
    passages: Sequence[Passage]
    vectors: Vectors | None = None


@dataclass(slots=True)
class _Tally:
    """The progress of one ingestion.

    ``batch`` has been filled since ``began`` and has ``batched`` passages, of which ``bare`` ones have no
    vectors yet; ``pace`` passages are embedded in EMBEDDING_SECONDS, and ``embedded`` says whether any were.
    ``writing`` is the batch before, and ``written`` the future of its writing. ``emptied`` are the indexed
    sources that have no text any more, ``renamed`` those whose files have another name.
    """

    outcomes: dict[str, int] = field(
        default_factory=lambda: dict.fromkeys(("added", "changed", "unchanged"), 0)
    )
    skipped: list[Skipped] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    emptied: list[str] = field(default_factory=list)
    renamed: set[str] = field(default_factory=set)
    passages: int = 0
    removed: int = 0
    not_english: int = 0
    batch: list[_ReadDocument] = field(default_factory=list)
    batched: int = 0
    bare: int = 0
    pace: int = MIN_BATCH_PASSAGES
    embedded: bool = False
    began: float = 0.0
    writing: list[_ReadDocument] = field(default_factory=list)
    written: Future[None] | None = None

    def is_full(self) -> bool:
        """Whether the batch is to be embedded and written."""
        waited = bool(self.batch) and perf_counter() - self.began >= WAITING_SECONDS
        return self.batched >= BATCH_PASSAGES or self.bare >= self.pace or waited

    def is_written(self) -> bool:
        """Whether the batch before is written, and its documents are not counted yet."""
        return self.written is not None and self.written.done()


@dataclass(frozen=True, slots=True)
class Ingestion:
    """Brings documents into one knowledge base, whose name in the report is ``kb``.

    ``reader`` reads what the corpus finds; None if the corpus reads it itself.
    """

    kb: str
    corpus: Corpus
    embedder: Embedder
    store: PassageStore
    reader: DocumentReader | None = None

    def run(
        self,
        targets: Sequence[str | SourceFile],
        *,
        meta: Meta = NO_META,
        prune: Prune = False,
        reread: bool = False,
    ) -> Iterator[Event]:
        """The events of one ingestion; the last one is Ingested, with the report.

        A file whose size and modification time are those of the last ingestion is not opened. A file that
        was modified but has the same bytes is not embedded again, and neither is one that was moved, unless
        its name is its title. A document that has no text any more is removed; one that cannot be read now is
        kept.

        Args:
            targets: files, folders, globs and URLs, or sources that were found before.
            meta: fields that are added to those that the documents themselves give, and that win over them;
                documents without them are read again.
            prune: also remove the documents below the given folders that do not exist any more or are
                excluded now; ``"empty"`` allows that this is all of a folder.
            reread: open every file, even if its size and modification time did not change.

        Raises CorpusError if a target does not exist or there are no documents, PruneRefused if ``prune`` is
        True and nothing is left of a folder, StoreError if writing fails.
        The batches written before an error stay.
        """
        started = perf_counter()
        tally = _Tally()
        known = self.store.indexed()
        files = yield from self._discover(targets, tally, bool(prune))
        moves = found_moves(self.corpus, known, files)
        known = _moved(known, moves)
        if prune is True:
            refuse_to_empty(targets, known, files, tally.skipped)
        if files:
            self.store.add_roots(self.corpus.folders(targets))
        yield from self._move(moves, tally)
        waiting: dict[str, SourceFile] = {}
        for file in files:
            kept = not reread and file.source not in tally.renamed
            if kept and _untouched(file, known.get(file.source), meta):
                tally.outcomes["unchanged"] += 1
                yield Progressed(file.source, file.size, "unchanged")
            else:
                waiting[file.source] = file
        wanted = [(file, _merged_meta(known.get(file.source), meta)) for file in waiting.values()]
        reader = self.reader or self.corpus
        with ThreadPoolExecutor(1, "write") as writer, closing(reader.read_all(wanted)) as readings:
            for reading in readings:
                if isinstance(reading, StillReading):
                    yield Processing("reading", reading.source)
                else:
                    if (
                        reading.vectors is None and len(reading.passages) > tally.pace
                    ):  # the others are not to wait for it
                        yield from self._write(known, tally, writer)
                    yield from self._take_reading(waiting[reading.source], reading, known, meta, tally)
                if tally.is_full():
                    yield from self._write(known, tally, writer)
                elif tally.is_written():
                    yield from self._finish_write(known, tally)
            yield from self._write(known, tally, writer)
            yield from self._finish_write(known, tally)
        named = [target for target in targets if isinstance(target, str)]
        vanished = vanished_sources(named, known, files, tally.skipped)
        met = {item.source for item in tally.skipped}
        left = self._left_out_skips(named, files, tally) if prune else []
        self.store.record_skips(tally.skipped, {file.source for file in files} - met | set(left))
        # also if there is nothing to remove: a removal that was cut off is not in the list any more
        tally.removed = self.store.remove([*tally.emptied, *(vanished if prune else [])])
        if tally.passages or tally.removed or moves:
            yield Optimizing("search index")
            self.store.optimize()
        yield Ingested(
            IngestReport(
                kb=self.kb,
                **tally.outcomes,
                removed=tally.removed,
                passages=tally.passages,
                skipped=tuple(tally.skipped),
                moved=tuple(move.moved for move in moves),
                gone=() if prune else tuple(filter(self.corpus.is_gone, vanished)),
                left_out=tuple(tally.left_out),
                not_english=tally.not_english,
                seconds=perf_counter() - started,
            )
        )

    def _move(self, moves: Sequence[FoundMove], tally: _Tally) -> Iterator[Event]:
        """Keep the documents whose files are in another place under their new sources."""
        if not moves:
            return
        self.store.move([(move.before.source, move.entry) for move in moves])
        tally.renamed = {move.file.source for move in moves if move.is_renamed}
        for move in moves:
            yield MovedSource(move.file.source, move.before.source)

    def _left_out_skips(
        self, targets: Sequence[str], files: Sequence[SourceFile], tally: _Tally
    ) -> list[str]:
        """The remembered skips below the folders among the targets that are not found there any more."""
        before = [item.source for item in self.store.skipped()]
        return vanished_sources(targets, before, files, tally.skipped)

    def _discover(
        self, targets: Sequence[str | SourceFile], tally: _Tally, prune: bool
    ) -> Steps[list[SourceFile]]:
        """List the sources of the targets, each once. Raises CorpusError if there are none."""
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

    def _take_reading(
        self,
        file: SourceFile,
        reading: ReadResult,
        known: Mapping[str, IndexedDocument],
        meta: Meta,
        tally: _Tally,
    ) -> Iterator[Event]:
        """Add a document to the batch, or count it as skipped or unchanged."""
        before, document = known.get(file.source), reading.document
        reason = reading.reason or ("" if reading.passages else NO_TEXT)
        if document is None or reason:
            if before and reading.empty:
                tally.emptied.append(file.source)
            skipped = Skipped(file.source, reason)
            tally.skipped.append(skipped)
            yield SkippedSource(skipped)
            yield Progressed(file.source, file.size, "skipped")
        elif (
            before
            and before.hash == document.hash
            and _is_current(before, meta)
            and (file.source not in tally.renamed or before.title == document.title)
        ):
            tally.outcomes["unchanged"] += 1
            yield Progressed(file.source, file.size, "unchanged")
        else:
            tally.began = tally.began if tally.batch else perf_counter()
            tally.batch.append(_ReadDocument(file, document, reading.passages, reading.vectors))
            tally.batched += len(reading.passages)
            tally.bare += len(reading.passages) if reading.vectors is None else 0

    def _write(
        self, known: Mapping[str, IndexedDocument], tally: _Tally, writer: ThreadPoolExecutor
    ) -> Iterator[Event]:
        """Embed the batch, and start to write it; the batch before it is finished first."""
        batch, passages = tally.batch, tally.batched
        tally.batch, tally.batched, tally.bare = [], 0, 0
        if not batch:
            return
        vectors = yield from self._embed(batch, known, tally)
        rows = [
            (read.document, _index_entry(read), read.passages, own)
            for read, own in zip(batch, vectors, strict=True)
        ]
        yield from self._finish_write(known, tally)
        tally.writing, tally.written = batch, writer.submit(self.store.replace, rows)
        if passages >= LARGE_BATCH_PASSAGES:
            yield from self._finish_write(known, tally)

    def _embed(
        self, batch: Sequence[_ReadDocument], known: Mapping[str, IndexedDocument], tally: _Tally
    ) -> Steps[list[Vectors]]:
        """The vectors of each document of a batch; what has none is embedded in pieces of some seconds."""
        import numpy as np

        bare = [read for read in batch if read.vectors is None]
        texts = [passage.searchable for read in bare for passage in read.passages]
        sources = [read.file.source for read in bare for _ in read.passages]
        found: list[Vectors] = []
        start = 0
        if texts and not tally.embedded:  # the model is loaded now, which takes seconds
            tally.embedded = True
            yield Processing("embedding", sources[0])
        while start < len(texts):
            began = perf_counter()
            piece = texts[start : start + tally.pace]
            found.append(self.embedder.encode(piece))
            seconds = perf_counter() - began
            start += len(piece)
            wanted = int(len(piece) * EMBEDDING_SECONDS / max(seconds, 1e-3))
            if len(piece) >= MIN_BATCH_PASSAGES or wanted < tally.pace:
                tally.pace = max(MIN_BATCH_PASSAGES, min(wanted, LARGE_BATCH_PASSAGES))
            if start < len(texts) and seconds >= 1.0:
                yield Processing("embedding", sources[start])
            if tally.is_written():
                yield from self._finish_write(known, tally)
        made = np.concatenate(found) if len(found) > 1 else next(iter(found), None)
        return _vectors_by_document(batch, made)

    def _finish_write(self, known: Mapping[str, IndexedDocument], tally: _Tally) -> Iterator[Event]:
        """Wait until the batch before is written, and count its documents. Raises StoreError."""
        if tally.written is None:
            return
        tally.written.result()
        batch, tally.writing, tally.written = tally.writing, [], None
        for read in batch:
            outcome = "changed" if read.file.source in known else "added"
            tally.outcomes[outcome] += 1
            tally.passages += len(read.passages)
            if read.document.left_out >= LARGE_SHARE_LEFT_OUT:
                tally.left_out.append(LeftOut(read.file.source, read.document.left_out))
            tally.not_english += bool(other_than_english(_beginning(read.passages)))
            yield Progressed(read.file.source, read.file.size, outcome, len(read.passages))


def _beginning(passages: Sequence[Passage]) -> str:
    """The text of a document's first passages."""
    return " ".join(passage.text for passage in passages[:PASSAGES_THAT_TELL])


def checked_sources(sources: object) -> list[str]:
    """One source or several as a list of texts. Raises UsageError for what is neither a text nor a path."""
    listed = [sources] if isinstance(sources, (str, Path)) or not isinstance(sources, Iterable) else sources
    texts = []
    for source in listed:
        if not isinstance(source, (str, Path)):
            raise UsageError(
                f"a source is a {type(source).__name__}, and must be a string or a path",
                hint='for example kb.ingest("papers"), or kb.ingest(["a.pdf", "b.pdf"])',
            )
        texts.append(str(source))
    return texts


def checked_meta(metadata: Mapping[str, MetaValue] | None) -> Meta:
    """The given fields for documents, checked. Raises UsageError for an invalid name or type of value."""
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


def _vectors_by_document(batch: Sequence[_ReadDocument], made: Vectors | None) -> list[Vectors]:
    """The vectors of each document: those that it came with, else its own rows of the vectors made here."""
    vectors, start = [], 0
    for read in batch:
        if read.vectors is not None:
            vectors.append(read.vectors)
        elif made is not None:
            vectors.append(made[start : start + len(read.passages)])
            start += len(read.passages)
    return vectors


def _index_entry(read: _ReadDocument) -> IndexedDocument:
    """The entry that the knowledge base keeps of a document."""
    document = read.document
    return IndexedDocument(
        source=document.source,
        hash=document.hash,
        size=read.file.size,
        mtime_ns=read.file.mtime_ns,
        passages=len(read.passages),
        title=document.title,
        meta=document.meta,
        own=document.own,
        left_out=document.left_out,
    )


def _untouched(file: SourceFile, before: IndexedDocument | None, meta: Meta) -> bool:
    """Whether a file has the indexed size, modification time and fields, so that it need not be opened."""
    if before is None or not file.mtime_ns:
        return False
    return (file.size, file.mtime_ns) == (before.size, before.mtime_ns) and _is_current(before, meta)


def _is_current(before: IndexedDocument, meta: Meta) -> bool:
    """Whether an entry was read as documents are read now, and has these fields."""
    return before.reading == READING and _covers(before.given, meta)


def _moved(known: Mapping[str, IndexedDocument], moves: Sequence[FoundMove]) -> Mapping[str, IndexedDocument]:
    """The known documents, with those that were moved in their new places."""
    former = {move.before.source for move in moves}
    kept = {source: entry for source, entry in known.items() if source not in former}
    return kept | {move.file.source: move.entry for move in moves}


def _merged_meta(before: IndexedDocument | None, meta: Meta) -> Meta:
    """The fields that were given for a document before, updated with those given now."""
    return {**(before.given if before else NO_META), **meta}


def _covers(had: Meta, wanted: Meta) -> bool:
    """Whether all wanted fields are there with their values."""
    return all(key in had and had[key] == value for key, value in wanted.items())
