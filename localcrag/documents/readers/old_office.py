"""Reader of DOC and PPT, the formats of Word and PowerPoint before 2007.

office-oxide reads the records of both. It takes the first line of a text, and short lines in capitals, for
headings, and does not tell bullets from numbers. The properties are read by olefile, which knows their
encoding.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from localcrag.documents.block_text import BlockText
from localcrag.documents.document_fields import fields_of
from localcrag.documents.extracted import ExtractedText, Limits, one_line
from localcrag.documents.format_names import NEEDS_OLD_OFFICE, OLD_OFFICE_HINT, reads_old_office
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.html_blocks import add_html
from localcrag.documents.readers.pptx import first_heading
from localcrag.documents.table_grid import GridRow
from localcrag.documents.table_pairs import document_lines
from localcrag.documents.template_tags import without_template_tags
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Meta, Page

_OF_NO_DAY = 1601
"""The year of a date that a program left empty."""
_CODE_PAGES = {65001: "utf-8", 1200: "utf-16-le", 1201: "utf-16-be", 10000: "mac_roman"}
"""The code pages of properties that Python does not know by their numbers."""
_TITLE_CHARACTERS = 2000
_FURNITURE = ("header", "footer")
_PICTURES = ("figure", "img")


def read_old_office(format_: DocumentFormat, data: bytes, limits: Limits) -> ExtractedText:
    """Read a DOC into one page, or the texts and speaker notes of each slide of a PPT; pictures are left out.

    Raises UnreadableError: office-oxide is not installed, damaged, encrypted, or more text than
    ``limits.text``.
    """
    if not reads_old_office():
        raise UnreadableError(NEEDS_OLD_OFFICE, hint=OLD_OFFICE_HINT)
    from office_oxide import Document

    try:
        if format_ is DocumentFormat.DOC:
            pages: tuple[Page, ...] = (_text_page(Document.from_bytes(data, "doc").to_html(), limits),)
        else:
            pages = tuple(_slides(Document.from_bytes(data, "ppt").to_ir(), limits))
    except (UnreadableError, RecursionError):
        raise
    except Exception as error:  # office-oxide raises one error for all that may be wrong with a file
        if "encrypted" in str(error):
            raise UnreadableError(
                f"encrypted {format_} (needs a password)", hint="Save a copy without the password."
            ) from error
        raise UnreadableError(f"damaged {format_}", hint=f"Save it as {format_}X or PDF.") from error
    title, fields = _properties(data)
    if format_ is DocumentFormat.PPT:
        title = title or first_heading(pages)
    return ExtractedText(title, MEDIA_TYPES[format_], pages, meta=fields)


def _text_page(html: str, limits: Limits) -> Page:
    """The page of a text."""
    made = BlockText(limits)
    add_html(made, without_template_tags(_plain_html(html)))
    return made.page()


def _plain_html(html: str) -> str:
    """The HTML of a text without headers, footers and pictures, and with bullets for the numbers of lists.

    A list of bullets comes as one of numbers, and each part of a list as one that begins with 1.
    """
    from lxml import etree

    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True)
    root = etree.fromstring(f"<body>{html}</body>".encode("utf-8", "replace"), parser)
    body = root.find("body")
    for element in [child for child in body if child.tag in _FURNITURE]:
        _drop(element)
    for element in list(body.iter(*_PICTURES)):
        _drop(element)
    for element in body.iter("ol"):
        element.tag = "ul"
    return str(etree.tostring(body, encoding="unicode", method="html"))


def _drop(element: Any) -> None:
    """Remove an element of lxml, and keep the text behind it."""
    above, before = element.getparent(), element.getprevious()
    if element.tail and before is not None:
        before.tail = (before.tail or "") + element.tail
    elif element.tail:
        above.text = (above.text or "") + element.tail
    above.remove(element)


def _slides(document: Mapping[str, Any], limits: Limits) -> Iterator[Page]:
    """The pages of the slides that have text."""
    for number, slide in enumerate(document["sections"], start=1):
        made = BlockText(limits)
        _add_elements(made, slide["elements"])
        if notes := _words(slide.get("speaker_notes") or ()):
            made.add(BlockKind.PARAGRAPH, f"Notes: {notes}")
        page = made.page(number)
        if page.blocks:
            yield page


def _add_elements(made: BlockText, elements: Sequence[Mapping[str, Any]]) -> None:
    for element in elements:
        match element["type"]:
            case "heading":
                made.add(BlockKind.HEADING, _words(element["content"]), level=1)
            case "paragraph":
                made.add(BlockKind.PARAGRAPH, _words(element["content"]))
            case "table":
                made.part()
                for line in document_lines(_rows(element["rows"])):
                    made.add(BlockKind.ROW, line)
            case _:
                pass


def _rows(rows: Sequence[Mapping[str, Any]]) -> Iterator[GridRow]:
    """The rows of a table of a slide, in which no cell spans others."""
    for number, row in enumerate(rows, start=1):
        yield GridRow(number, [_words(cell["content"]) for cell in row["cells"]])


def _words(parts: Sequence[Mapping[str, Any]]) -> str:
    """The text of the parts of a paragraph, or of several paragraphs, in one line."""
    texts = []
    for part in parts:
        match part["type"]:
            case "text":
                texts.append(part["text"])
            case "line_break":
                texts.append(" ")
            case _ if isinstance(inner := part.get("content"), list):
                texts.append(f"{_words(inner)} ")
            case _:
                pass
    return " ".join("".join(texts).split())


def _properties(data: bytes) -> tuple[str, Meta]:
    """The title and the fields in the properties of a file, ("", {}) if they cannot be read."""
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as opened:
            found = opened.get_metadata()
    except Exception:  # noqa: BLE001 - olefile raises whatever a wrong offset leads to
        return "", {}
    page, page_below = found.codepage, found.codepage_doc
    fields = fields_of(
        (
            ("author", _text(found.author, page)),
            ("created", _day(found.create_time)),
            ("modified", _day(found.last_saved_time)),
            ("tags", _text(found.keywords, page)),
            ("status", _text(found.content_status, page_below)),
            ("category", _text(found.category, page_below)),
            ("subject", _text(found.subject, page)),
            ("description", _text(found.comments, page)),
            ("language", _text(found.language, page_below)),
        )
    )
    return one_line(_text(found.title, page), _TITLE_CHARACTERS), fields


def _text(value: object, code_page: object) -> str:
    """A text of the properties, whose bytes are in a code page; "" for what is no text."""
    if isinstance(value, bytes):
        number = code_page & 0xFFFF if isinstance(code_page, int) else 0
        name = _CODE_PAGES.get(number, f"cp{number}")
        try:
            codecs.lookup(name)
        except LookupError:
            name = "cp1252"
        value = value.decode(name, "replace")
    return value.replace("\0", " ").strip() if isinstance(value, str) else ""


def _day(value: Any) -> object:
    return value if getattr(value, "year", _OF_NO_DAY) > _OF_NO_DAY else None
