"""Reader of DOCX: mammoth converts the structure of the document to HTML, which becomes Markdown."""

from __future__ import annotations

import io
import zipfile
from xml.etree import ElementTree

from localcrag.documents import zip_guard
from localcrag.documents.extracted import ExtractedText, Limits, whole
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.html import markdown_of

_STYLE_MAP = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"
_TITLE_ELEMENT = "{http://purl.org/dc/elements/1.1/}title"


def read_docx(data: bytes, limits: Limits) -> ExtractedText:
    """Read headings, paragraphs, lists, tables, notes and text boxes; pictures are left out.

    Raises UnreadableError: damaged, or a zip bomb.
    """
    import mammoth

    with zip_guard.opened(data, "DOCX", limits) as container:
        title = core_title(container)
        result = mammoth.convert_to_html(  # type: ignore[no-untyped-call]
            io.BytesIO(data), style_map=_STYLE_MAP, convert_image=lambda _: []
        )
    return whole(title, MEDIA_TYPES[DocumentFormat.DOCX], markdown_of(result.value))


def core_title(container: zipfile.ZipFile) -> str:
    """The title in the properties of an Office file; "" if it has none."""
    try:
        return ElementTree.fromstring(container.read("docProps/core.xml")).findtext(_TITLE_ELEMENT) or ""
    except (KeyError, ElementTree.ParseError):
        return ""
