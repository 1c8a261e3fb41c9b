"""What an ingestion makes of its sources."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

from localcrag.types.passages import NO_META, Document, JsonValue, Meta, Passage

NO_TEXT = "no text in it"
"""Why there is no document of a source that was read."""
NO_TEXT_LAYER = "PDF without a text layer (scanned?): run OCR first"


@dataclass(frozen=True, slots=True)
class ReadResult:
    """What came of reading one source: the document with its passages, or the reason why there is none."""

    source: str
    document: Document | None
    passages: Sequence[Passage] = ()
    reason: str = ""

    @property
    def empty(self) -> bool:
        """Whether the source itself has no text now: not where it could not be read."""
        return self.reason in (NO_TEXT, NO_TEXT_LAYER) or bool(self.document and not self.passages)


@dataclass(frozen=True, slots=True)
class IndexedDocument:
    """What a knowledge base remembers of a document it holds; ``size`` in bytes, ``mtime_ns`` of the file."""

    source: str
    hash: str
    size: int
    mtime_ns: int
    passages: int
    title: str = ""
    meta: Meta = field(default_factory=lambda: NO_META)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source that was not read, and why."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingestion did; the counts are documents, ``passages`` and ``questions`` those written."""

    kb: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    passages: int = 0
    skipped: tuple[Skipped, ...] = ()
    seconds: float = 0.0
    questions: int = 0

    def to_dict(self) -> dict[str, JsonValue]:
        """The object that ``ingest --json`` prints."""
        return asdict(self) | {
            "skipped": [asdict(s) for s in self.skipped],
            "seconds": round(self.seconds, 3),
        }

    def to_json(self, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON text; ``indent`` is the number of blanks per level, None for one line."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)
