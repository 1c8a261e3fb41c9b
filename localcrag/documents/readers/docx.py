"""Reader of DOCX: mammoth converts the structure of the document to HTML, which is read into blocks."""

from __future__ import annotations

import io
import zipfile
from xml.etree import ElementTree

from localcrag.documents import zip_guard
from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.html_blocks import add_html

_STYLE_MAP = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
_TITLE_ELEMENT = "{http://purl.org/dc/elements/1.1/}title"


def read_docx(data: bytes, limits: Limits) -> ExtractedText:
    """Read headings, paragraphs, lists, tables, notes and text boxes; pictures are left out.

    Raises UnreadableError: damaged, a zip bomb, or more text than ``limits.text``.
    """
    import mammoth

    with zip_guard.opened(data, "DOCX", limits) as container:
        title = core_title(container)
        result = mammoth.convert_to_html(  # type: ignore[no-untyped-call]
            io.BytesIO(data), style_map=_STYLE_MAP, convert_image=lambda _: []
        )
    made = BlockText(limits)
    add_html(made, result.value)
    return ExtractedText(title, MEDIA_TYPES[DocumentFormat.DOCX], (made.page(),))


def core_title(container: zipfile.ZipFile) -> str:
    """The title in the properties of an Office file; "" if it has none."""
    try:
        return ElementTree.fromstring(container.read("docProps/core.xml")).findtext(_TITLE_ELEMENT) or ""
    except (KeyError, ElementTree.ParseError):
        return ""
