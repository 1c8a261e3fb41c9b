"""One record per document: the fields of a schema, filled from all passages of the document.

No question is asked, and nothing is searched for or graded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from localcrag.crag.structured_answers.structured_generation import MAX_DOCUMENT_PASSAGES, SchemaFiller
from localcrag.events import result_of
from localcrag.protocols import Corpus, PassageStore, SourceFile
from localcrag.types import NO_META, ExtractedRecord, Passage, Skipped, StillReading


def records_of_sources(
    filler: SchemaFiller, corpus: Corpus, targets: Sequence[str | SourceFile]
) -> Iterator[ExtractedRecord]:
    """The records of sources that are read for it, in the order in which they are read.

    A source that cannot be read gives a record with the reason. Raises CorpusError for one that does not
    exist.
    """
    found = list(corpus.discover(targets))
    for each in found:
        if isinstance(each, Skipped):
            yield ExtractedRecord(each.source, None, reason=each.reason)
    wanted = [(each, NO_META) for each in found if not isinstance(each, Skipped)]
    for result in corpus.read_all(wanted):
        if isinstance(result, StillReading):
            continue
        if result.document is None:
            yield ExtractedRecord(result.source, None, reason=result.reason)
        else:
            yield _record(filler, result.source, result.passages)


def records_of_documents(
    filler: SchemaFiller, store: PassageStore, documents: Mapping[str, str]
) -> Iterator[ExtractedRecord]:
    """The records of documents of a knowledge base; ``documents`` are their hashes by source."""
    for source, digest in documents.items():
        yield _record(filler, source, store.passages({source: digest}, limit=MAX_DOCUMENT_PASSAGES))


def _record(filler: SchemaFiller, source: str, passages: Sequence[Passage]) -> ExtractedRecord:
    """The record of one document."""
    about = filler.schema.description or filler.schema.title
    made = result_of(filler.fill(about, list(passages)[:MAX_DOCUMENT_PASSAGES]))
    return ExtractedRecord(source, made.structured, made.citations)
