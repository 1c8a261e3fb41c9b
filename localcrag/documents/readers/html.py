"""Reader of HTML: all visible text of a page but its navigation.

A local page is a document that its owner chose, such as a manual, so that nothing is left out as boilerplate;
pages found on the web are read by :mod:`localcrag.web.pages`.
"""

from __future__ import annotations

import re

from localcrag.documents.block_text import BlockText
from localcrag.documents.document_fields import fields_of
from localcrag.documents.encoding import charset_of, decode
from localcrag.documents.extracted import ExtractedText, Limits, one_line
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.html_blocks import add_html_page
from localcrag.types import BlockKind, Page

_FIELDS = {
    "lang": "language",
    "author": "author",
    "date": "date",
    "keywords": "tags",
    "description": "description",
    "article:published_time": "created",
    "article:modified_time": "modified",
}
"""The fields that the language and the ``<meta>`` elements of a page give."""
_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)


def read_html(data: bytes, limits: Limits, content_type: str = "") -> ExtractedText:
    """Read an HTML page; ``content_type`` may name its encoding. Raises UnreadableError."""
    named = _CHARSET.search(data[:2048])
    html = decode(data, charset_of(content_type) or (named[1].decode("ascii", "ignore") if named else ""))
    made = BlockText(limits)
    title, properties, left_out = add_html_page(made, html)
    page = made.page()
    named_by = one_line(title) or first_heading(page)
    fields = fields_of((_FIELDS[name], text) for name, text in properties.items() if name in _FIELDS)
    return ExtractedText(named_by, MEDIA_TYPES[DocumentFormat.HTML], (page,), left_out, fields)


def first_heading(page: Page) -> str:
    """The text of the first heading of a page; "" if it has none."""
    found = (block for block in page.blocks if block.kind is BlockKind.HEADING)
    return next((one_line(page.text[block.start : block.end]) for block in found), "")
