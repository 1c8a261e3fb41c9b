"""The values of PDF forms: fields are drawn on their page, as a viewer does it, so that values are text.

PDFium draws them in memory; the file stays as it is. If the drawing has no telling text, the value of the
field is read: of a check box a sign, of a list the options that are chosen, of a comb its characters as one
word. Passwords, buttons and hidden fields are not read.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_ushort
from typing import TYPE_CHECKING, Any, NamedTuple

from localcrag.documents.readers.pdf_words import Word

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument, PdfPage

_CHECKED, _UNCHECKED = "☑", "☐"
_COMB, _PASSWORD = 1 << 24, 1 << 13
"""Flags of text fields."""
_HIDDEN, _UNSEEN = 1 << 1, 1 << 0 | 1 << 1 | 1 << 5
"""Flags of annotations: hidden; and invisible, hidden or not viewed."""
_MAX_FIELDS = 5_000
"""Fields of a page that are looked at one by one."""
_MAX_OPTIONS = 1_000
_MAX_VALUE = 2_000
"""Characters of a value."""
_MAX_SIZE, _SIZE_SHARE = 10.0, 0.75
"""The height of the font of a value in points, and as a share of the height of its field."""
_BASELINE_EMS = 0.35
"""How far the baseline lies below the middle of a line."""


class FilledPage(NamedTuple):
    """A page with its text fields drawn, and the words that stand for the other fields.

    ``is_picture`` says that it has fields, and no text but theirs, as a scanned form.
    """

    page: PdfPage
    words: Sequence[Word] = ()
    is_picture: bool = False


def open_forms(document: PdfDocument) -> bool:
    """Make the fields of a document drawable, if it has any; to be called before its first page is opened."""
    with _without_warnings():
        return bool(document.init_forms())  # type: ignore[no-untyped-call]


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Without the warning of pypdfium2 that forms of XFA are read as plain ones."""
    logger = logging.getLogger("pypdfium2")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)


def drawn_page(document: PdfDocument, index: int) -> PdfPage:
    """A page with its fields drawn as a viewer shows them, for its picture."""
    page: PdfPage = document[index]
    return _flattened(document, index, page)


def filled_page(document: PdfDocument, index: int) -> FilledPage:
    """A page with its fields filled in."""
    from pypdfium2 import raw

    page: PdfPage = document[index]
    if not raw.FPDFPage_GetAnnotCount(page.raw):
        return FilledPage(page)
    is_picture = not page.get_textpage().count_chars()  # type: ignore[no-untyped-call]
    words = _field_words(document.formenv, page)
    return FilledPage(_flattened(document, index, page), words, is_picture)


def _flattened(document: PdfDocument, index: int, page: PdfPage) -> PdfPage:
    """The page, opened again after its fields were made a part of it."""
    from pypdfium2 import raw

    if raw.FPDFPage_Flatten(page.raw, raw.FLAT_NORMALDISPLAY) != raw.FLATTEN_SUCCESS:
        return page
    page.close()  # type: ignore[no-untyped-call]
    flattened: PdfPage = document[index]
    return flattened


def _field_words(form: Any, page: PdfPage) -> list[Word]:
    """The words of the fields that are not drawn, which are hidden on the page."""
    from pypdfium2 import raw

    words = []
    for number in range(min(raw.FPDFPage_GetAnnotCount(page.raw), _MAX_FIELDS)):
        field = raw.FPDFPage_GetAnnot(page.raw, number)
        if not field:
            continue
        text = None
        if raw.FPDFAnnot_GetSubtype(field) == raw.FPDF_ANNOT_WIDGET:
            text = _text_in_place_of(form, field)
        if text is not None:
            flags = raw.FPDFAnnot_GetFlags(field)
            raw.FPDFAnnot_SetFlags(field, flags | _HIDDEN)
            if text and not flags & _UNSEEN:
                words.append(_placed(field, " ".join(text.split())))
        raw.FPDFPage_CloseAnnot(field)
    return words


def _text_in_place_of(form: Any, field: Any) -> str | None:
    """The text that stands for a field, "" for none; None if its drawing has the text."""
    from pypdfium2 import raw

    flags = raw.FPDFAnnot_GetFormFieldFlags(form, field)
    match raw.FPDFAnnot_GetFormFieldType(form, field):
        case raw.FPDF_FORMFIELD_PUSHBUTTON:
            return ""
        case raw.FPDF_FORMFIELD_CHECKBOX | raw.FPDF_FORMFIELD_RADIOBUTTON:
            return _CHECKED if raw.FPDFAnnot_IsChecked(form, field) else _UNCHECKED
        case raw.FPDF_FORMFIELD_LISTBOX:
            count = min(raw.FPDFAnnot_GetOptionCount(form, field), _MAX_OPTIONS)
            chosen = (i for i in range(count) if raw.FPDFAnnot_IsOptionSelected(form, field, i))
            return "; ".join(_text(raw.FPDFAnnot_GetOptionLabel, form, field, i) for i in chosen)
        case raw.FPDF_FORMFIELD_TEXTFIELD if flags & _PASSWORD:
            return ""
        case raw.FPDF_FORMFIELD_TEXTFIELD if flags & _COMB:
            return _text(raw.FPDFAnnot_GetFormFieldValue, form, field)
        case _:
            return None


def _text(ask: Callable[..., int], *about: Any) -> str:
    """The text in UTF-16 that a function of PDFium writes into a buffer."""
    buffer = (c_ushort * (_MAX_VALUE + 1))()
    written = ask(*about, buffer, 2 * (_MAX_VALUE + 1))
    if not 2 <= written <= 2 * (_MAX_VALUE + 1):
        return ""
    return bytes(buffer)[: written - 2].decode("utf-16-le", "replace")


def _placed(field: Any, text: str) -> Word:
    """A text in the first line of a field, as one word."""
    from pypdfium2 import raw

    box = raw.FS_RECTF()
    raw.FPDFAnnot_GetRect(field, byref(box))
    bottom, top = sorted((box.bottom, box.top))
    size = max(1.0, min(_MAX_SIZE, _SIZE_SHARE * (top - bottom)))
    middle = max((bottom + top) / 2, top - size)
    y = middle - _BASELINE_EMS * size
    return Word(min(box.left, box.right), max(box.left, box.right), y, size, False, False, text)
