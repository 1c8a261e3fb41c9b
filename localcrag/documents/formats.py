"""The formats of documents, their media types, and how their texts are marked up."""

from __future__ import annotations

from enum import StrEnum


class DocumentFormat(StrEnum):
    """The families of formats, each with one reader."""

    PDF = "PDF"
    DOCX = "DOCX"
    DOC = "DOC"
    PPTX = "PPTX"
    PPT = "PPT"
    XLSX = "XLSX"
    XLS = "XLS"
    ODT = "ODT"
    ODP = "ODP"
    ODS = "ODS"
    RTF = "RTF"
    EPUB = "EPUB"
    HTML = "HTML"
    HELP = "DocBook or Mallard"
    XML = "XML"
    MARKDOWN = "Markdown"
    RST = "reStructuredText"
    ORG = "Org"
    ASCIIDOC = "AsciiDoc"
    ZIM = "Zim"
    LATEX = "LaTeX"
    MANUAL_PAGE = "manual page"
    INFO = "Info manual"
    SUBTITLES = "subtitles"
    TEXT = "text"
    CODE = "source code"
    SETTINGS = "settings"
    CSV = "CSV"
    JSON = "JSON"
    JSONL = "JSON Lines"
    SQL = "SQL"
    SQLITE = "SQLite"
    PARQUET = "Parquet"
    ARROW = "Arrow"
    NOTEBOOK = "notebook"
    MAIL = "mail"
    OUTLOOK = "Outlook message"
    MAIL_FOLDER = "mail folder"
    CALENDAR = "calendar"
    CONTACTS = "contacts"
    BIBTEX = "BibTeX"
    ZIP = "ZIP"
    IMAGE = "image"


class Markup(StrEnum):
    """The markup of a text that a reader gives without blocks, and where such a text may be split."""

    MARKDOWN = "markdown"
    RST = "rst"
    PROSE = "prose"
    LINES = "lines"


MEDIA_TYPES = {
    DocumentFormat.PDF: "application/pdf",
    DocumentFormat.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    DocumentFormat.DOC: "application/msword",
    DocumentFormat.PPTX: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    DocumentFormat.PPT: "application/vnd.ms-powerpoint",
    DocumentFormat.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    DocumentFormat.XLS: "application/vnd.ms-excel",
    DocumentFormat.ODT: "application/vnd.oasis.opendocument.text",
    DocumentFormat.ODP: "application/vnd.oasis.opendocument.presentation",
    DocumentFormat.ODS: "application/vnd.oasis.opendocument.spreadsheet",
    DocumentFormat.RTF: "application/rtf",
    DocumentFormat.EPUB: "application/epub+zip",
    DocumentFormat.HTML: "text/html",
    DocumentFormat.HELP: "application/docbook+xml",
    DocumentFormat.XML: "application/xml",
    DocumentFormat.MARKDOWN: "text/markdown",
    DocumentFormat.RST: "text/x-rst",
    DocumentFormat.ORG: "text/org",
    DocumentFormat.ASCIIDOC: "text/asciidoc",
    DocumentFormat.ZIM: "text/x-zim-wiki",
    DocumentFormat.LATEX: "text/x-tex",
    DocumentFormat.MANUAL_PAGE: "text/troff",
    DocumentFormat.INFO: "text/x-info",
    DocumentFormat.SUBTITLES: "text/x-subtitles",
    DocumentFormat.TEXT: "text/plain",
    DocumentFormat.CODE: "text/x-source",
    DocumentFormat.SETTINGS: "text/x-settings",
    DocumentFormat.CSV: "text/csv",
    DocumentFormat.JSON: "application/json",
    DocumentFormat.JSONL: "application/jsonl",
    DocumentFormat.SQL: "application/sql",
    DocumentFormat.SQLITE: "application/vnd.sqlite3",
    DocumentFormat.PARQUET: "application/vnd.apache.parquet",
    DocumentFormat.ARROW: "application/vnd.apache.arrow.file",
    DocumentFormat.NOTEBOOK: "application/x-ipynb+json",
    DocumentFormat.MAIL: "message/rfc822",
    DocumentFormat.OUTLOOK: "application/vnd.ms-outlook",
    DocumentFormat.MAIL_FOLDER: "application/mbox",
    DocumentFormat.CALENDAR: "text/calendar",
    DocumentFormat.CONTACTS: "text/vcard",
    DocumentFormat.BIBTEX: "text/x-bibtex",
    DocumentFormat.ZIP: "application/zip",
    DocumentFormat.IMAGE: "image/png",
}
OFFICE_FORMATS = frozenset({DocumentFormat.DOCX, DocumentFormat.PPTX, DocumentFormat.XLSX})
OPENDOCUMENT_FORMATS = frozenset({DocumentFormat.ODT, DocumentFormat.ODP, DocumentFormat.ODS})
ARCHIVE_FORMATS = OFFICE_FORMATS | OPENDOCUMENT_FORMATS | {DocumentFormat.EPUB}
PLAIN_FORMATS = frozenset(
    (
        *(DocumentFormat.TEXT, DocumentFormat.CODE, DocumentFormat.SETTINGS, DocumentFormat.CSV),
        *(DocumentFormat.JSON, DocumentFormat.JSONL),
        *(DocumentFormat.CALENDAR, DocumentFormat.CONTACTS),
    )
)
"""The formats that take time in proportion to their size, whatever is in them. Markdown is none of them."""

_MARKUP_OF_FORMAT = {
    DocumentFormat.MARKDOWN: Markup.MARKDOWN,
    DocumentFormat.NOTEBOOK: Markup.MARKDOWN,
    DocumentFormat.RST: Markup.RST,
    **dict.fromkeys((DocumentFormat.CODE, DocumentFormat.SETTINGS, DocumentFormat.CSV), Markup.LINES),
    **dict.fromkeys((DocumentFormat.JSON, DocumentFormat.JSONL), Markup.LINES),
}
_MARKUP_OF_MEDIA_TYPE = {MEDIA_TYPES[format_]: markup for format_, markup in _MARKUP_OF_FORMAT.items()}


def markup_of(media_type: str) -> Markup:
    """The markup of a text of that media type; prose for an unknown one."""
    return _MARKUP_OF_MEDIA_TYPE.get(media_type, Markup.PROSE)
