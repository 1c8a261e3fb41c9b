"""Reader of PDF, page by page, with PDFium; ``localcrag[ocr]`` recognises the text of scanned pages."""

from __future__ import annotations

import re
from threading import Lock
from typing import Any

from localcrag.documents.extracted import ExtractedText, Limits, joined, one_line
from localcrag.documents.format_names import OCR_HINT, can_recognise
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.file_properties import pdf_fields
from localcrag.documents.readers.pdf_blocks import PageContent, page_content, pages_of
from localcrag.documents.readers.pdf_forms import FilledPage, filled_page, open_forms
from localcrag.documents.readers.pdf_words import page_words
from localcrag.errors import UnreadableError
from localcrag.types import NO_TEXT, NO_TEXT_LAYER, Meta, Page

PDFIUM_LOCK = Lock()
"""Held by whoever calls PDFium, which serves one thread at a time."""
_POINTS_PER_INCH = 72
_SCAN_PIXELS_PER_INCH = 200
_MAX_SCAN_PIXELS = 5000
"""The most pixels of the longer side of a page that is recognised."""
_PLACEHOLDER_TITLES = re.compile(
    r"\W*(untitled|unnamed|anonymous|document\d*|slide 1|.*\.\w{2,4})?\W*$", re.I
)


def read_pdf(data: bytes, limits: Limits) -> ExtractedText:
    """Read the text layer of each page that has one, and recognise the text of the others.

    The values of the fields of a form are part of the text layer.

    Raises UnreadableError: encrypted, damaged, without any text, or more text than ``limits.text``.
    """
    import pypdfium2
    from pypdfium2 import raw

    try:
        with PDFIUM_LOCK:
            title, fields, contents, scans = _contents(data, limits)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise UnreadableError(
                "encrypted PDF (needs a password)", hint="Save a copy without the password."
            ) from error
        raise UnreadableError("damaged PDF") from error
    pages = tuple(sorted([*pages_of(contents, limits), *scans], key=lambda page: page.number or 0))
    if not pages:
        if can_recognise():
            raise UnreadableError(NO_TEXT)
        raise UnreadableError(NO_TEXT_LAYER, hint=OCR_HINT)
    joined((page.text for page in pages), limits)
    named = "" if _PLACEHOLDER_TITLES.match(title) else title
    return ExtractedText(named, MEDIA_TYPES[DocumentFormat.PDF], pages, meta=fields)


def _contents(data: bytes, limits: Limits) -> tuple[str, Meta, list[PageContent], list[Page]]:
    """The title, the fields, the content of each page as PDFium gives it, and the pages that were recognised.

    Raises PdfiumError.
    """
    from pypdfium2 import PdfDocument

    document = PdfDocument(data)  # type: ignore[no-untyped-call]
    try:
        contents: list[PageContent] = []
        scans: list[Page] = []
        has_form = open_forms(document)
        for number in range(1, len(document) + 1):
            filled = filled_page(document, number - 1) if has_form else FilledPage(document[number - 1])
            page: Any = filled.page
            text_page = page.get_textpage()
            is_scan = filled.is_picture and can_recognise()
            words = None if is_scan else page_words(text_page, filled.words)
            placed = words is not None and (words.words or words.aside)
            text = "" if placed or is_scan else text_page.get_text_bounded()
            contents.append(page_content(words, text))
            if not placed and not text.strip() and can_recognise():
                scans.append(_recognised(page, number, limits))
            page.close()  # with its text page: a long document need not be held whole
        title = one_line(document.get_metadata_value("Title"))  # type: ignore[no-untyped-call]
        return title, pdf_fields(document.get_metadata_value), contents, [page for page in scans if page.text]
    finally:
        document.close()  # type: ignore[no-untyped-call]


def _recognised(page: Any, number: int, limits: Limits) -> Page:
    """The page as its picture is read."""
    from localcrag.documents.readers.ocr import scanned_page

    pixels_per_inch = min(
        _SCAN_PIXELS_PER_INCH, _MAX_SCAN_PIXELS / max(1.0, *page.get_size()) * _POINTS_PER_INCH
    )
    return scanned_page(page.render(scale=pixels_per_inch / _POINTS_PER_INCH).to_pil(), number, limits)
