"""Reader of OpenDocument: texts (ODT), spreadsheets (ODS) and presentations (ODP).

``content.xml`` is parsed by lxml, which every other reader of markup needs too. odfpy, the library of the
format, builds a tree of Python objects and knows nothing of repeated cells, so it would save little.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

from localcrag.documents import zip_guard
from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import ExtractedText, Limits, one_line
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.file_properties import opendocument_fields
from localcrag.documents.readers.opendocument_body import DocumentBody
from localcrag.documents.readers.opendocument_styles import Styles
from localcrag.documents.readers.opendocument_tables import sheet_rows
from localcrag.documents.readers.opendocument_words import in_namespace, words
from localcrag.documents.readers.pptx import first_heading
from localcrag.documents.readers.xlsx import sheet_page
from localcrag.errors import UnreadableError
from localcrag.types import NO_META, BlockKind, Page

if TYPE_CHECKING:
    from lxml.etree import _Element

_CONTENT_PATH, _STYLES_PATH, _META_PATH = "content.xml", "styles.xml", "meta.xml"
_MANIFEST_PATH = "META-INF/manifest.xml"
_TITLE = "{http://purl.org/dc/elements/1.1/}title"
_OFFICE, _TABLE, _DRAW = in_namespace("office"), in_namespace("table"), in_namespace("drawing")
_PRESENTATION = in_namespace("presentation")
_BODY = f"{_OFFICE}body"
_SHEET, _TABLE_NAME = f"{_TABLE}table", f"{_TABLE}name"
_SLIDE, _FRAME = f"{_DRAW}page", f"{_DRAW}frame"
_NOTES, _CLASS = f"{_PRESENTATION}notes", f"{_PRESENTATION}class"


def read_opendocument(format_: DocumentFormat, data: bytes, limits: Limits) -> ExtractedText:
    """Read an ODT, ODS or ODP; ``format_`` is the one that its name or signature means.

    A text gives one page, a spreadsheet one for each visible sheet, a presentation one for each slide.
    Raises UnreadableError: damaged, encrypted, a zip bomb, or more text than ``limits.text``.
    """
    with zip_guard.opened(data, format_, limits) as container:
        names = set(container.namelist())
        if _MANIFEST_PATH in names and b"encryption-data" in container.read(_MANIFEST_PATH):
            raise UnreadableError(
                f"encrypted {format_} (needs a password)", hint="Save a copy without the password."
            )
        content = _parsed(container, _CONTENT_PATH)
        styles = Styles(content, *([_parsed(container, _STYLES_PATH)] if _STYLES_PATH in names else []))
        meta = _parsed(container, _META_PATH) if _META_PATH in names else None
        pages = tuple(_pages(content, styles, limits))
    title = "" if meta is None else _title(meta)
    if not title and format_ is DocumentFormat.ODP:
        title = first_heading(pages)
    fields = NO_META if meta is None else opendocument_fields(meta)
    return ExtractedText(title, MEDIA_TYPES[format_], pages, meta=fields)


def _parsed(container: zipfile.ZipFile, path: str) -> _Element:
    """The root of an XML part; entities are not expanded and nothing is fetched."""
    from lxml import etree

    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    return etree.fromstring(container.read(path), parser)


def _title(meta: _Element) -> str:
    return one_line(meta.findtext(f".//{_TITLE}") or "")


def _pages(content: _Element, styles: Styles, limits: Limits) -> Iterator[Page]:
    body = content.find(_BODY)
    if body is None or not len(body):
        raise ValueError("a document without a body")
    for part in body:
        match part.tag.removeprefix(_OFFICE):
            case "spreadsheet":
                yield from _sheets(part, styles, limits)
            case "presentation" | "drawing":
                yield from _slides(part, styles, limits)
            case "text":
                made = BlockText(limits)
                DocumentBody(made, styles).add(part)
                yield made.page()


def _sheets(book: _Element, styles: Styles, limits: Limits) -> Iterator[Page]:
    for number, sheet in enumerate(book.iterchildren(_SHEET), start=1):
        if styles.hides_table(sheet):
            continue
        page = sheet_page(number, sheet.get(_TABLE_NAME, ""), sheet_rows(sheet), limits)
        if page.blocks:
            yield page


def _slides(deck: _Element, styles: Styles, limits: Limits) -> Iterator[Page]:
    for number, slide in enumerate(deck.iterchildren(_SLIDE), start=1):
        made = BlockText(limits)
        body = DocumentBody(made, styles)
        title = next((frame for frame in slide.iter(_FRAME) if frame.get(_CLASS) == "title"), None)
        if title is not None:
            made.add(BlockKind.HEADING, words(title), level=1)
        notes = slide.find(_NOTES)
        for shape in slide:
            if shape is not title and shape is not notes:
                made.part()
                body.add_one(shape)
        for frame in notes.iter(_FRAME) if notes is not None else ():
            if frame.get(_CLASS) == "notes" and (said := words(frame)):
                made.add(BlockKind.PARAGRAPH, f"Notes: {said}")
        page = made.page(number)
        if page.blocks:
            yield page
