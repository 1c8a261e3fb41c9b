"""Ingestion: documents are found, read, split, embedded and indexed, a batch at a time.

It is a generator of events that ends in Ingested(report). Documents that did not change are skipped. Three
stages run at the same time: the corpus reads ahead (in other processes), the embedder works on one batch, and
the store writes the batch before; :mod:`localcrag.ingestion_batches` has the last two. The search indexes are
updated once, at the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Literal

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
from localcrag.ingestion_batches import PassageBatches, ReadDocument
from localcrag.languages import other_than_english
from localcrag.protocols import Corpus, DocumentReader, Embedder, PassageStore, SourceFile
from localcrag.types import (
    NO_META,
    NO_TEXT,
    READING,
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

Prune = bool | Literal["empty"]
"""Whether documents that are gone are forgotten; ``"empty"``: also if nothing is left of a folder."""

LARGE_SHARE_LEFT_OUT = 0.3
"""The share of a page taken for navigation from which on the report names the page."""
PASSAGES_THAT_TELL = 3
"""The passages at the beginning of a document by which its language is told."""


@dataclass(slots=True)
class _Tally:
    """The counts of one ingestion.

    ``emptied`` are the indexed sources that have no text any more, ``renamed`` those whose files have another
    name.
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

    def count(self, read: ReadDocument, known: Mapping[str, IndexedDocument]) -> Event:
        """Count a document that is indexed now, and tell it."""
        outcome = "changed" if read.file.source in known else "added"
        self.outcomes[outcome] += 1
        self.passages += len(read.passages)
        if read.document.left_out >= LARGE_SHARE_LEFT_OUT:
            self.left_out.append(LeftOut(read.file.source, read.document.left_out))
        self.not_english += bool(other_than_english(_beginning(read.passages)))
        return Progressed(read.file.source, read.file.size, outcome, len(read.passages))


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
        batches = PassageBatches(self.embedder, self.store, partial(tally.count, known=known))
        with batches, closing(reader.read_all(wanted)) as readings:
            for reading in readings:
                if isinstance(reading, StillReading):
                    yield Processing("reading", reading.source)
                else:
                    if batches.is_long(reading):  # the others are not to wait for it
                        yield from batches.write()
                    read = yield from self._taken(waiting[reading.source], reading, known, meta, tally)
                    if read:
                        batches.add(read)
                if batches.is_full():
                    yield from batches.write()
                elif batches.is_written():
                    yield from batches.finish_write()
            yield from batches.write()
            yield from batches.finish_write()
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

    def _taken(
        self,
        file: SourceFile,
        reading: ReadResult,
        known: Mapping[str, IndexedDocument],
        meta: Meta,
        tally: _Tally,
    ) -> Steps[ReadDocument | None]:
        """A document that is to be indexed; None if it is counted as skipped or unchanged."""
        before, document = known.get(file.source), reading.document
        reason = reading.reason or ("" if reading.passages else NO_TEXT)
        if document is None or reason:
            if before and reading.empty:
                tally.emptied.append(file.source)
            skipped = Skipped(file.source, reason)
            tally.skipped.append(skipped)
            yield SkippedSource(skipped)
            yield Progressed(file.source, file.size, "skipped")
            return None
        if (
            before
            and before.hash == document.hash
            and _is_current(before, meta)
            and (file.source not in tally.renamed or before.title == document.title)
        ):
            tally.outcomes["unchanged"] += 1
            yield Progressed(file.source, file.size, "unchanged")
            return None
        return ReadDocument(file, document, reading.passages, reading.vectors)


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
