"""The format of a document, recognised by the extension of its name and by its first bytes.

The signature of PDF, Office or EPUB wins over an extension that means text; without one the content decides.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from enum import StrEnum

from localcrag.documents.format_names import format_of_name, suffix_of
from localcrag.documents.formats import (
    ARCHIVE_FORMATS,
    MEDIA_TYPES,
    OFFICE_FORMATS,
    OPENDOCUMENT_FORMATS,
    PLAIN_FORMATS,
    DocumentFormat,
)
from localcrag.documents.settings_blocks import looks_like_settings
from localcrag.documents.xml_roots import has_xml_declaration, is_help_markup, is_program_markup
from localcrag.errors import UnreadableError


class Compression(StrEnum):
    """The ways in which a single document may be compressed."""

    GZIP = "gzip"
    BZIP2 = "bzip2"
    XZ = "xz"


_COMPRESSED_START = re.compile(rb"(?P<gzip>\x1f\x8b\x08)|(?P<bzip2>BZh[1-9]1AY&SY)|(?P<xz>\xfd7zXZ\x00)")
_MEDIA_TYPE_PART = "mimetype"
_PROGRAM_PARTS = frozenset({_MEDIA_TYPE_PART, "META-INF/MANIFEST.MF"})
"""Parts of an archive that is a single document of another kind, or a program."""
PDF_START_BYTES = 1024
"""The first bytes of a file, in which the signature of PDF stands."""
_IMAGE_TYPES = frozenset(f"image/{name}" for name in ("png", "jpeg", "tiff", "bmp", "webp"))
_IMAGE_START = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|II\*\x00|MM\x00\*|RIFF[\s\S]{4}WEBP")
_POSTSCRIPT_SIGNATURE = b"%!PS"
_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_FORMAT_OF_STREAM = {
    "workbook": DocumentFormat.XLS,
    "book": DocumentFormat.XLS,
    "worddocument": DocumentFormat.DOC,
    "powerpoint document": DocumentFormat.PPT,
    "__properties_version1.0": DocumentFormat.OUTLOOK,
}
"""What a file of the old Office is by the name of one of its streams, in lower case."""
_ENCRYPTED_STREAM = "encryptedpackage"
_SIGNATURES = {
    b"SQLite format 3\0": DocumentFormat.SQLITE,
    b"PAR1": DocumentFormat.PARQUET,
    b"ARROW1": DocumentFormat.ARROW,
    b"FEA1": DocumentFormat.ARROW,
}
_BY_SIGNATURE_ALONE = frozenset({*_FORMAT_OF_STREAM.values(), *_SIGNATURES.values()})
"""The formats that a file is in only if it begins as they do: "Thumbs.db" is no database."""
_OLD_WORKBOOK_STARTS = (b"\x09\x00", b"\x09\x02", b"\x09\x04", b"\x09\x08")
"""How a workbook of Excel before 5.0 begins. Programs export pages and tables as ``.xls``, too."""
_HTML_START = re.compile(
    rb"\s*+(?:<!--(?:(?!-->).)*+-->\s*+)*+(?:<!doctype html|<html[\s>])", re.IGNORECASE | re.DOTALL
)
_HTML_FRAGMENT_START = re.compile(
    rb"\s*+<(?P<tag>h[1-6]|p|div|table|ul|ol|section|article)(?:\s[^<>]*)?>[^<>]*(?:<(?!/?(?P=tag))[^<>]*>[^<>]*)*+"
    rb"</(?P=tag)>",
    re.IGNORECASE,
)
"""How a page begins that has no head: a heading, or a paragraph with its end."""
_MANUAL_PAGE_START = re.compile(rb"""\s*(?:[.']|\\")""")
"""The first line of a manual page is a request or a comment."""
_MANUAL_PAGE_TITLE = re.compile(rb"^[.'][ \t]*(?:TH|Dd|Dt|so) ", re.MULTILINE)
_MAX_MANUAL_PREAMBLE = 16_384
"""Bytes in which the title of a manual page stands, or the page that it refers to."""
_INFO_NODE = re.compile(rb"\x1f\r?\nFile: [^\n]{1,200}Node: ")
"""How a node of an Info manual begins, below a preamble."""
_MAX_INFO_PREAMBLE = 65_536
_ZIM_START = re.compile(rb"(?:\xef\xbb\xbf)?Content-Type: text/x-zim-wiki[ \t]*[\r\n]")
_ASCIIDOC_LINE = re.compile(rb"^(?:={1,6} \S|:[\w-]+:|\[\[)", re.MULTILINE)
"""A line by which AsciiDoc is told from keys, grids and other texts whose names end in ``.asc``, too."""
_MAX_ASCIIDOC_PREAMBLE = 16_384
_MAX_TABLE_START, _MAX_TABBED_SHARE = 16_384, 0.2
"""Bytes that tell a table from settings, and the share of their lines that has a tab at most in these."""
_CONTENT_LINES_START = re.compile(rb"\s*BEGIN:(?:(VCALENDAR)|VCARD)[ \t]*[\r\n]", re.IGNORECASE)
_BIBTEX_START = re.compile(
    rb"(?:\s*+%[^\n]*+\n)*+\s*+@(?:article|book|in(?:book|collection|proceedings)|proceedings|conference"
    rb"|(?:phd|masters)?thesis|techreport|report|manual|unpublished|online|misc|string|preamble|comment)"
    rb"[ \t]*+(?:\{|\((?=[^\n),=]*+[,=]))",
    re.IGNORECASE,
)
"""How a bibliography begins, below lines that programs begin with "%"."""
_MAIL_START = re.compile(rb"[a-z][a-z-]*: ", re.IGNORECASE)
_MAIL_HEADERS = (b"subject:", b"from:", b"date:")
_MAIL_FOLDER_START = re.compile(rb"From [^\n]*\n(?=[A-Za-z][A-Za-z-]*:)")
"""How a mail folder begins, which Thunderbird keeps without an ending: "Inbox"."""


def compression_of(start: bytes) -> Compression | None:
    """How a file with these first bytes is compressed; None if it is not."""
    found = _COMPRESSED_START.match(start)
    return Compression(found.lastgroup) if found and found.lastgroup else None


def format_of(name: str, data: bytes, content_type: str = "") -> DocumentFormat:
    """The format of ``data``, which was found under the file name ``name``.

    A server's ``content_type`` goes before the name, and a signature goes before both unless the name means
    an archive format. Raises UnreadableError if the bytes are in a known format that is not read.
    """
    by_name = format_of_name(name)
    if by_name is DocumentFormat.ASCIIDOC and suffix_of(name) == "asc":
        by_name = by_name if _ASCIIDOC_LINE.search(data[:_MAX_ASCIIDOC_PREAMBLE]) else None
    if (
        suffix_of(name) == "tab"
        and _has_no_tabs(data[:_MAX_TABLE_START])
        and looks_like_settings(data[:4096])
    ):
        by_name = DocumentFormat.SETTINGS
    if by_name is DocumentFormat.XLS and not data.startswith((_OLE_SIGNATURE, *_OLD_WORKBOOK_STARTS)):
        by_name = None if _HTML_START.match(data[:4096]) else DocumentFormat.CSV
    by_signature = _signature(data, by_name)
    if by_signature in _BY_SIGNATURE_ALONE or (by_signature and by_name not in ARCHIVE_FORMATS):
        return by_signature
    if by_name in _BY_SIGNATURE_ALONE and by_name is not DocumentFormat.XLS:
        by_name = None
    return _format_of_content_type(content_type) or by_name or _format_of_content(data)


def _has_no_tabs(start: bytes) -> bool:
    """Whether hardly a line of a text has a tab, though its name says that it is a table."""
    lines = start.splitlines()
    return _MAX_TABBED_SHARE * len(lines) > sum(b"\t" in line for line in lines)


def is_plain(name: str, start: bytes) -> bool:
    """Whether a file of that name with these first bytes is in one of the PLAIN_FORMATS."""
    if format_of_name(name) not in PLAIN_FORMATS:
        return False
    return not (
        start.startswith((_OLE_SIGNATURE, b"{\\rtf", b"PK\x03\x04"))
        or compression_of(start)
        or is_pdf(start)
        or _IMAGE_START.match(start)
    )


def is_pdf(start: bytes) -> bool:
    """Whether a file with these first bytes is a PDF."""
    return start[:PDF_START_BYTES].lstrip().startswith(b"%PDF-")


def _signature(data: bytes, by_name: DocumentFormat | None) -> DocumentFormat | None:
    if data.startswith(_OLE_SIGNATURE):
        return _format_of_streams(data, by_name)
    if data.startswith(_POSTSCRIPT_SIGNATURE):
        raise UnreadableError("PostScript is not read", hint="Save it as PDF: ps2pdf does.")
    if is_pdf(data):
        return DocumentFormat.PDF
    if _IMAGE_START.match(data):
        return DocumentFormat.IMAGE
    if data.startswith(b"{\\rtf"):
        return DocumentFormat.RTF
    if _ZIM_START.match(data):
        return DocumentFormat.ZIM
    if by_name in (None, DocumentFormat.CODE, DocumentFormat.XML) and is_help_markup(data):
        return DocumentFormat.HELP
    if by_name in (None, DocumentFormat.XML) and is_program_markup(data):
        return DocumentFormat.CODE
    if by_name is DocumentFormat.XML and _HTML_START.match(data[:4096]):
        return DocumentFormat.HTML
    if data.startswith(b"PK\x03\x04"):
        return _format_of_archive(data)
    return next((format_ for start, format_ in _SIGNATURES.items() if data.startswith(start)), None)


def _format_of_streams(data: bytes, by_name: DocumentFormat | None) -> DocumentFormat:
    """The format of a file of the old Office, which is a small file system, by the streams at its root.

    Raises UnreadableError: encrypted, damaged, or of another program.
    """
    import olefile

    try:
        with olefile.OleFileIO(io.BytesIO(data)) as opened:
            names = {path[0].casefold() for path in opened.listdir() if len(path) == 1}
    except Exception as error:  # olefile raises whatever a wrong offset leads to
        raise UnreadableError("damaged Office file", hint="Save it as DOCX, PPTX or XLSX.") from error
    if _ENCRYPTED_STREAM in names:
        raise UnreadableError(
            f"encrypted {by_name if by_name in OFFICE_FORMATS else 'Office file'} (needs a password)",
            hint="Save a copy without the password.",
        )
    for stream, format_ in _FORMAT_OF_STREAM.items():
        if stream in names:
            return format_
    raise UnreadableError("a file of a program that is not known", hint="Save it as DOCX, PDF or text.")


def _format_of_archive(data: bytes) -> DocumentFormat | None:
    """The format of a ZIP container: that of its parts, or ZIP; None if its parts are of no format here."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
            named = archive.open(_MEDIA_TYPE_PART).read(100) if _MEDIA_TYPE_PART in names else b""
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError):
        return None
    for format_ in OPENDOCUMENT_FORMATS:
        if named.decode("ascii", "replace").strip().removesuffix("-template") == MEDIA_TYPES[format_]:
            return format_
    if "META-INF/container.xml" in names:
        return DocumentFormat.EPUB
    if "[Content_Types].xml" in names:
        parts = {"word": DocumentFormat.DOCX, "ppt": DocumentFormat.PPTX, "xl": DocumentFormat.XLSX}
        return next(
            (format_ for part, format_ in parts.items() if any(n.startswith(part + "/") for n in names)), None
        )
    return None if names & _PROGRAM_PARTS else DocumentFormat.ZIP


def _format_of_content_type(content_type: str) -> DocumentFormat | None:
    media_type = content_type.split(";")[0].strip().lower()
    if media_type in ("", MEDIA_TYPES[DocumentFormat.TEXT]):
        return None
    if media_type in _IMAGE_TYPES:
        return DocumentFormat.IMAGE
    if media_type == "text/rtf":
        return DocumentFormat.RTF
    if media_type == "application/xhtml+xml":
        return DocumentFormat.HTML
    return next((format_ for format_, known in MEDIA_TYPES.items() if known == media_type), None)


def _format_of_content(data: bytes) -> DocumentFormat:
    if data.startswith(b"PK\x03\x04"):
        raise UnreadableError("an archive is not read", hint="Unpack it and ingest the folder.")
    start = data[:4096]
    if _HTML_START.match(start) or _HTML_FRAGMENT_START.match(start):
        return DocumentFormat.HTML
    if start.startswith(b"#!"):
        return DocumentFormat.CODE
    if has_xml_declaration(start):
        return DocumentFormat.XML
    if _MANUAL_PAGE_START.match(start) and _MANUAL_PAGE_TITLE.search(data[:_MAX_MANUAL_PREAMBLE]):
        return DocumentFormat.MANUAL_PAGE
    if _INFO_NODE.search(data[:_MAX_INFO_PREAMBLE]):
        return DocumentFormat.INFO
    if lines := _CONTENT_LINES_START.match(start):
        return DocumentFormat.CALENDAR if lines[1] else DocumentFormat.CONTACTS
    if _BIBTEX_START.match(start):
        return DocumentFormat.BIBTEX
    parted = _MAIL_FOLDER_START.match(start)
    first = start[parted.end() :] if parted else start
    if _MAIL_START.match(first) and all(b"\n" + header in b"\n" + first.lower() for header in _MAIL_HEADERS):
        return DocumentFormat.MAIL_FOLDER if parted else DocumentFormat.MAIL
    return DocumentFormat.SETTINGS if looks_like_settings(start) else DocumentFormat.TEXT
