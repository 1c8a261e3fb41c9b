"""Reader of the formats that are text: kept as they are, or written out record by record."""

from __future__ import annotations

import re

from localcrag.documents.encoding import charset_of, decode
from localcrag.documents.extracted import ExtractedText, Limits, clean, whole
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.headings import markdown_headings, rst_headings
from localcrag.documents.readers.csv_rows import read_rows
from localcrag.documents.readers.json_records import read_json, read_json_lines
from localcrag.documents.readers.notebook import read_notebook

_FRONT_MATTER = re.compile(r"---\n(.*?)\n---\n", re.DOTALL)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
_TITLE_CHARACTERS = 20_000


def read_text(format_: DocumentFormat, data: bytes, limits: Limits, content_type: str = "") -> ExtractedText:
    """Read plain text, Markdown, reStructuredText, source code, CSV, JSON or a notebook.

    ``content_type`` may name the encoding. JSON that cannot be parsed is kept as source code. Raises
    UnreadableError: binary, damaged, or expanded beyond the limits.
    """
    text = clean(decode(data, charset_of(content_type)))
    media_type = MEDIA_TYPES[format_]
    match format_:
        case DocumentFormat.MARKDOWN:
            return whole(_markdown_title(text), media_type, text)
        case DocumentFormat.RST:
            return whole(
                next((h.title for h in rst_headings(text[:_TITLE_CHARACTERS])), ""), media_type, text
            )
        case DocumentFormat.NOTEBOOK:
            text = read_notebook(text, limits)
            return whole(_markdown_title(text), media_type, text)
        case DocumentFormat.CSV:
            return ExtractedText("", media_type, (read_rows(text, limits),))
        case DocumentFormat.JSONL:
            return ExtractedText("", media_type, (read_json_lines(text, limits),))
        case DocumentFormat.JSON:
            page = read_json(text, limits)
            if page is None:
                return whole("", MEDIA_TYPES[DocumentFormat.CODE], text)
            return ExtractedText("", media_type, (page,))
        case _:
            return whole("", media_type, text)


def _markdown_title(text: str) -> str:
    """The title in the front matter, else the first heading, else ""."""
    front = _FRONT_MATTER.match(text)
    named = _FRONT_TITLE.search(front[1]) if front else None
    if named:
        return named[1].strip().strip("\"'")
    start = front.end() if front else 0
    return next((h.title for h in markdown_headings(text[start : start + _TITLE_CHARACTERS])), "")
