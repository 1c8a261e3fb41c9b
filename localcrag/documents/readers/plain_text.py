"""Reader of the formats that are text: kept as they are, or written out record by record."""

from __future__ import annotations

from localcrag.documents.document_fields import fields_of
from localcrag.documents.encoding import charset_of, decode
from localcrag.documents.extracted import ExtractedText, Limits, clean, whole
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.front_matter import front_matter, org_fields, rst_fields
from localcrag.documents.info_blocks import info_page, without_index_marks
from localcrag.documents.readers.csv_records import as_rows
from localcrag.documents.readers.csv_rows import read_rows
from localcrag.documents.readers.json_records import read_json, read_json_lines
from localcrag.documents.readers.notebook import read_notebook
from localcrag.documents.settings_blocks import settings_page, settings_title
from localcrag.documents.structure import first_heading


def read_text(format_: DocumentFormat, data: bytes, limits: Limits, content_type: str = "") -> ExtractedText:
    """Read plain text, the markups that are text, code, settings, tables, JSON and notebooks.

    ``content_type`` may name the encoding. JSON that cannot be parsed is kept as source code. Raises
    UnreadableError: binary, damaged, or expanded beyond the limits.
    """
    if format_ is DocumentFormat.INFO:
        data = without_index_marks(data)
    text = clean(decode(data, charset_of(content_type)))
    media_type = MEDIA_TYPES[format_]
    match format_:
        case DocumentFormat.MARKDOWN:
            fields = front_matter(text)[0]
            named = fields.pop("title", None)
            title = str(named) if isinstance(named, (str, int, float)) else ""
            return whole(title, media_type, text, fields_of(fields.items()))
        case DocumentFormat.RST:
            return whole("", media_type, text, fields_of(rst_fields(text)))
        case DocumentFormat.NOTEBOOK:
            return whole("", media_type, read_notebook(text, limits))
        case DocumentFormat.CSV:
            return ExtractedText("", media_type, (read_rows(text, limits),))
        case DocumentFormat.JSONL:
            return ExtractedText("", media_type, (read_json_lines(text, limits),))
        case DocumentFormat.JSON:
            page = read_json(text, limits)
            if page is None:
                return whole("", MEDIA_TYPES[DocumentFormat.CODE], text)
            return ExtractedText("", media_type, (page,))
        case DocumentFormat.SETTINGS:
            return ExtractedText(settings_title(text), media_type, (settings_page(text),))
        case DocumentFormat.ORG:
            from localcrag.documents.org_blocks import org_page

            named_by = {name.lower(): value for name, value in org_fields(text)}
            title = str(named_by.pop("title", ""))
            return ExtractedText(
                title, media_type, (org_page(text, limits),), meta=fields_of(named_by.items())
            )
        case DocumentFormat.ASCIIDOC:
            from localcrag.documents.asciidoc_blocks import asciidoc_page

            header, page = asciidoc_page(text, limits)
            return ExtractedText(header.title, media_type, (page,), meta=fields_of(header.fields.items()))
        case DocumentFormat.ZIM:
            from localcrag.documents.zim_blocks import zim_page

            fields, page = zim_page(text, limits)
            return ExtractedText("", media_type, (page,), meta=fields_of(fields.items()))
        case DocumentFormat.INFO:
            page = info_page(text, limits)
            return ExtractedText(first_heading([page]), media_type, (page,))
        case DocumentFormat.LATEX:
            from localcrag.documents.latex_blocks import latex_page

            title, page = latex_page(text, limits)
            return ExtractedText(title, media_type, (page,))
        case DocumentFormat.TEXT if (rows := as_rows(text)) is not None:
            return ExtractedText("", MEDIA_TYPES[DocumentFormat.CSV], (read_rows(rows, limits),))
        case _:
            return whole("", media_type, text)
