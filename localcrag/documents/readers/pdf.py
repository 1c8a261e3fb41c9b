"""Reader of PDF, page by page, with PDFium."""

from __future__ import annotations

import re
from threading import Lock

from localcrag.documents.extracted import ExtractedText, Limits, joined, one_line
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.pdf_blocks import PageContent, page_content, pages_of
from localcrag.documents.readers.pdf_words import page_words
from localcrag.errors import UnreadableError
from localcrag.types import NO_TEXT_LAYER

_PDFIUM_LOCK = Lock()  # PDFium serves one thread at a time
_PLACEHOLDER_TITLES = re.compile(
    r"\W*(untitled|unnamed|anonymous|document\d*|slide 1|.*\.\w{2,4})?\W*$", re.I
)


def read_pdf(data: bytes, limits: Limits) -> ExtractedText:
    """Read the text layer of each page that has one.

    Raises UnreadableError: encrypted, damaged, without any text, or more text than ``limits.text``.
    """
    import pypdfium2
    from pypdfium2 import raw

    try:
        with _PDFIUM_LOCK:
            title, contents = _contents(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise UnreadableError(
                "encrypted PDF (needs a password)", hint="Save a copy without the password."
            ) from error
        raise UnreadableError("damaged PDF") from error
    pages = tuple(pages_of(contents, limits))
    if not pages:
        raise UnreadableError(NO_TEXT_LAYER, hint="ocrmypdf adds a text layer to scanned pages.")
    joined((page.text for page in pages), limits)
    return ExtractedText(
        "" if _PLACEHOLDER_TITLES.match(title) else title, MEDIA_TYPES[DocumentFormat.PDF], pages
    )


def _contents(data: bytes) -> tuple[str, list[PageContent]]:
    """The title and the content of each page as PDFium gives them. Raises PdfiumError."""
    from pypdfium2 import PdfDocument

    document = PdfDocument(data)  # type: ignore[no-untyped-call]
    try:
        contents = []
        for page in document:
            text_page = page.get_textpage()
            words = page_words(text_page)
            placed = words is not None and (words.words or words.aside)
            contents.append(page_content(words, "" if placed else text_page.get_text_bounded()))
            page.close()  # with its text page: a long document need not be held whole
        return one_line(document.get_metadata_value("Title")), contents  # type: ignore[no-untyped-call]
    finally:
        document.close()  # type: ignore[no-untyped-call]
