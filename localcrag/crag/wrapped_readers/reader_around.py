"""What the readers of a knowledge base have in common that change one thing about it and pass on the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from localcrag.filters import Filter
from localcrag.protocols import PassageReader
from localcrag.types import Hit, Passage, Skipped, StoreInfo

if TYPE_CHECKING:
    from localcrag.protocols import Vectors


class ReaderAround:
    """A :class:`~localcrag.protocols.PassageReader` that passes everything on to another one, ``held``."""

    def __init__(self, held: PassageReader) -> None:
        self._held = held

    def search(self, text: str, vector: Vectors, *, k: int, filter: Filter | None = None) -> list[Hit]:
        """The hits, best first."""
        return self._held.search(text, vector, k=k, filter=filter)

    def neighbours(self, passage: Passage) -> list[Passage]:
        """The passages just before and just after a passage, in the same document."""
        return self._held.neighbours(passage)

    def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
        """The first passages of documents, by source and position."""
        return self._held.passages(documents, limit=limit)

    def text(self, document: str, page: int | None, *, source: str | None = None) -> str:
        """The stored text of a document or page."""
        return self._held.text(document, page, source=source)

    def require_whole(self, *, thorough: bool = False) -> None:
        """Raise DamagedKnowledgeBase if a part of the knowledge base is missing or was changed."""
        self._held.require_whole(thorough=thorough)

    def info(self) -> StoreInfo:
        """The size and the contents of the knowledge base."""
        return self._held.info()

    def skipped(self) -> Sequence[Skipped]:
        """The sources that could not be read into the knowledge base."""
        return self._held.skipped()
