"""Reader of PDF, page by page, with PDFium."""

from __future__ import annotations

import re
from collections.abc import Iterable
from threading import Lock

from localcrag.documents.extracted import ExtractedText, Limits, joined, one_line
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.errors import UnreadableError
from localcrag.types import NO_TEXT_LAYER, Page

_PDFIUM_LOCK = Lock()  # PDFium serves one thread at a time
_PLACEHOLDER_TITLES = re.compile(
    r"\W*(untitled|unnamed|anonymous|document\d*|slide 1|.*\.\w{2,4})?\W*$", re.I
)

# PDFium writes a line's end hyphen, and the line break after it, as one control character.
_BROKEN_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]++)[\x02\ufffe]([^\W\d_]++)")
_BREAK_MARK = re.compile(r"[\x02\ufffe]")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def read_pdf(data: bytes, limits: Limits) -> ExtractedText:
    """Read the text layer of each page that has one.

    Raises UnreadableError: encrypted, damaged, without any text, or more text than ``limits.text``.
    """
    import pypdfium2
    from pypdfium2 import raw

    try:
        with _PDFIUM_LOCK:
            title, texts = _contents(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise UnreadableError(
                "encrypted PDF (needs a password)", hint="Save a copy without the password."
            ) from error
        raise UnreadableError("damaged PDF") from error
    if not any(text.strip() for text in texts):
        raise UnreadableError(NO_TEXT_LAYER, hint="ocrmypdf adds a text layer to scanned pages.")
    joined(texts, limits)
    pages = tuple(
        Page(number, text) for number, text in enumerate(mend_hyphens(texts), start=1) if text.strip()
    )
    return ExtractedText(
        "" if _PLACEHOLDER_TITLES.match(title) else title, MEDIA_TYPES[DocumentFormat.PDF], pages
    )


def _contents(data: bytes) -> tuple[str, list[str]]:
    """The title and the text of each page as PDFium gives them. Raises PdfiumError."""
    from pypdfium2 import PdfDocument

    document = PdfDocument(data)  # type: ignore[no-untyped-call]
    try:
        texts = []
        for page in document:
            texts.append(page.get_textpage().get_text_bounded())
            page.close()  # with its text page: a long document need not be held whole
        return one_line(document.get_metadata_value("Title")), texts  # type: ignore[no-untyped-call]
    finally:
        document.close()  # type: ignore[no-untyped-call]


def mend_hyphens(texts: list[str]) -> list[str]:
    """The texts with the words joined that were hyphenated at the end of a line.

    The vocabulary of the whole document decides. The hyphen is kept if the hyphenated word, or each of its
    halves, occurs elsewhere (``well-known``), or if the second half is capitalised (``Anglo-Saxon``).
    """
    words = _vocabulary(texts)

    def mend(match: re.Match[str]) -> str:
        left, right = match.groups()
        whole, hyphenated = f"{left}{right}", f"{left}-{right}"
        if whole.lower() in words:
            return whole
        apart = left.lower() in words and right.lower() in words
        return hyphenated if hyphenated.lower() in words or apart or not right[0].islower() else whole

    return [_BREAK_MARK.sub("-", _BROKEN_WORD.sub(mend, text)) for text in texts]


def _vocabulary(texts: Iterable[str]) -> set[str]:
    words: set[str] = set()
    for text in texts:
        words.update(word.lower() for word in _WORD.findall(_BROKEN_WORD.sub(" ", text)))
    return words
