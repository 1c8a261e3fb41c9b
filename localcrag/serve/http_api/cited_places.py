"""What an answer cites, as it can be looked at: the stored text, and a picture of a PDF page or an image.

Only documents that the knowledge base holds can be opened, whatever a client names. The file is drawn only if
it is the one that was indexed, by its sha256: otherwise the boxes would lie over other words.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from localcrag import knowledge_base
from localcrag.documents.page_pictures import boxed_page
from localcrag.errors import DocumentGone, UnreadableError, UsageError
from localcrag.serve.http_api.backend import CitedPlace, PlaceText
from localcrag.settings import Settings
from localcrag.types import Document, Page

MAX_AROUND_CHARACTERS = 4000
"""Characters of the stored text on each side of a quote."""
PDF_MEDIA_TYPE, IMAGE_MEDIA_TYPES = "application/pdf", "image/"
PICTURE_WIDTH = 1200
"""Pixels of the width of a picture."""


@dataclass(frozen=True, slots=True)
class CitedPlaces:
    """The places in the documents of a home; its methods block, and may be called from any thread."""

    settings: Settings

    def text(self, place: CitedPlace) -> PlaceText:
        """The quote with the text around it.

        Raises DocumentGone if the knowledge base does not hold the document, UsageError for characters that
        the page does not have, UnknownKnowledgeBase, StoreError.
        """
        document, page = self._held(place)
        note = self._obstacle(document, page)
        first, last = max(0, place.start - MAX_AROUND_CHARACTERS), place.end + MAX_AROUND_CHARACTERS
        return PlaceText(
            title=document.title,
            source=document.source,
            page=page.number,
            before=page.text[first : place.start],
            quote=page.text[place.start : place.end],
            after=page.text[place.end : last],
            picture=not note,
            note=note,
        )

    def picture(self, place: CitedPlace) -> bytes:
        """The page, or the image, as PNG, with the quoted words boxed.

        Raises UnreadableError if it cannot be drawn, and as :meth:`text` does.
        """
        document, page = self._held(place)
        if not _is_drawable(document, page):
            raise UnreadableError(_NO_PAGES, hint="its text can be shown")
        self._require_unchanged(document)
        quote = page.text[place.start : place.end]
        words = page.boxes_within(place.start, place.end)
        file = Path(document.source)
        return boxed_page(file, page.number, quote, width=PICTURE_WIDTH, words=words).png

    def _held(self, place: CitedPlace) -> tuple[Document, Page]:
        """The document and the page of a place. Raises DocumentGone, UsageError."""
        base = knowledge_base.open(place.kb, settings=self.settings)
        try:
            document = base.document(place.source)
        except UsageError as error:
            raise DocumentGone(
                f"that document is not in {place.kb!r}", hint="it was changed or removed since; ask again"
            ) from error
        page = next((page for page in document.pages if page.number == place.page), None)
        if page is None or not 0 <= place.start < place.end <= len(page.text):
            raise UsageError(
                "the document has no such place", hint="give page, start and end as the citation has them"
            )
        return document, page

    def _obstacle(self, document: Document, page: Page) -> str:
        """Why a page cannot be shown as a picture; "" if it can."""
        if not _is_drawable(document, page):
            return _NO_PAGES
        try:
            self._require_unchanged(document)
        except (DocumentGone, UnreadableError) as error:
            return str(error)
        return ""

    def _require_unchanged(self, document: Document) -> None:
        """Raise DocumentGone if a file is not the one that was indexed, UnreadableError if it is none."""
        most = self.settings.ingest.max_size_mb << 20
        if not Path(document.source).is_absolute():
            raise UnreadableError("the document is not a file", hint="its text can be shown")
        try:
            data = _bytes_of(document.source, most)
        except OSError as error:
            raise DocumentGone(
                f"the file cannot be read any more: {error.strerror or error}", hint="its text can be shown"
            ) from error
        if sha256(data).hexdigest() != document.hash:
            raise DocumentGone("the file was changed since it was read", hint="ingest it again")


_NO_PAGES = "the document has no pages to draw"


def _is_drawable(document: Document, page: Page) -> bool:
    """Whether there is a picture of a page: it is one of a PDF, or an image."""
    if document.media_type == PDF_MEDIA_TYPE:
        return page.number is not None
    return document.media_type.startswith(IMAGE_MEDIA_TYPES)


def _bytes_of(path: str, most: int) -> bytes:
    """At most ``most`` bytes of a regular file, opened so that a pipe in its place does not block.

    Raises OSError.
    """
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is not a file any more")
        return file.read(most)
