"""Reader of DOCX: mammoth converts the structure of the document to HTML, which is read into blocks."""

from __future__ import annotations

import io

from localcrag.documents import zip_guard
from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.html_blocks import add_html
from localcrag.documents.readers.file_properties import core_properties
from localcrag.documents.template_tags import without_template_tags

_STYLE_MAP = "p[style-name='Title'] => h1:fresh\np[style-name='Subtitle'] => p:fresh"


def read_docx(data: bytes, limits: Limits) -> ExtractedText:
    """Read headings, paragraphs, lists, tables, notes and text boxes; pictures are left out, and the
    tags of a template.

    Raises UnreadableError: damaged, a zip bomb, or more text than ``limits.text``.
    """
    import mammoth

    with zip_guard.opened(data, "DOCX", limits) as container:
        title, fields = core_properties(container)
        result = mammoth.convert_to_html(  # type: ignore[no-untyped-call]
            io.BytesIO(data), style_map=_STYLE_MAP, convert_image=lambda _: []
        )
    made = BlockText(limits)
    add_html(made, without_template_tags(result.value))
    return ExtractedText(title, MEDIA_TYPES[DocumentFormat.DOCX], (made.page(),), meta=fields)
