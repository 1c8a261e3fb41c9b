"""The formats of documents, recognised by the extension of the name and by the first bytes.

The signature of PDF, Office or EPUB wins over an extension that means text; without one the content decides.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from enum import StrEnum
from importlib.util import find_spec
from pathlib import PurePosixPath

from localcrag.documents.settings_blocks import looks_like_settings
from localcrag.documents.xml_roots import has_xml_declaration, is_help_markup, is_program_markup
from localcrag.errors import UnreadableError


class DocumentFormat(StrEnum):
    """The families of formats, each with one reader."""

    PDF = "PDF"
    DOCX = "DOCX"
    PPTX = "PPTX"
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
    TEXT = "text"
    CODE = "source code"
    SETTINGS = "settings"
    CSV = "CSV"
    JSON = "JSON"
    JSONL = "JSON Lines"
    NOTEBOOK = "notebook"
    MAIL = "mail"
    MAIL_FOLDER = "mail folder"
    CALENDAR = "calendar"
    CONTACTS = "contacts"
    ZIP = "ZIP"
    IMAGE = "image"


class Markup(StrEnum):
    """The markup of a text that a reader gives without blocks, and where such a text may be split."""

    MARKDOWN = "markdown"
    RST = "rst"
    PROSE = "prose"
    LINES = "lines"


class Compression(StrEnum):
    """The ways in which a single document may be compressed."""

    GZIP = "gzip"
    BZIP2 = "bzip2"
    XZ = "xz"


_COMPRESSED_START = re.compile(rb"(?P<gzip>\x1f\x8b\x08)|(?P<bzip2>BZh[1-9]1AY&SY)|(?P<xz>\xfd7zXZ\x00)")
_COMPRESSED_SUFFIXES = ("gz", "bz2", "xz")

MEDIA_TYPES = {
    DocumentFormat.PDF: "application/pdf",
    DocumentFormat.DOCX: "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    DocumentFormat.PPTX: "application/vnd.openxmlformats-officedocument.presentationml.presentation",
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
    DocumentFormat.TEXT: "text/plain",
    DocumentFormat.CODE: "text/x-source",
    DocumentFormat.SETTINGS: "text/x-settings",
    DocumentFormat.CSV: "text/csv",
    DocumentFormat.JSON: "application/json",
    DocumentFormat.JSONL: "application/jsonl",
    DocumentFormat.NOTEBOOK: "application/x-ipynb+json",
    DocumentFormat.MAIL: "message/rfc822",
    DocumentFormat.MAIL_FOLDER: "application/mbox",
    DocumentFormat.CALENDAR: "text/calendar",
    DocumentFormat.CONTACTS: "text/vcard",
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

_SUFFIXES_OF_FORMAT = {
    DocumentFormat.PDF: "pdf",
    DocumentFormat.DOCX: "docx docm dotx dotm",
    DocumentFormat.PPTX: "pptx pptm ppsx ppsm potx",
    DocumentFormat.XLSX: "xlsx xlsm xltx xltm",
    DocumentFormat.XLS: "xls xlt",
    DocumentFormat.ODT: "odt ott",
    DocumentFormat.ODP: "odp otp",
    DocumentFormat.ODS: "ods ots",
    DocumentFormat.RTF: "rtf",
    DocumentFormat.EPUB: "epub",
    DocumentFormat.HTML: "html htm xhtml xht",
    DocumentFormat.HELP: "dbk docbook",
    DocumentFormat.XML: "xml rss atom tei jats nxml sgml sgm pom",
    DocumentFormat.MARKDOWN: "md markdown mdown mkd mdx qmd rmd",
    DocumentFormat.RST: "rst rest",
    DocumentFormat.ORG: "org",
    DocumentFormat.ASCIIDOC: "adoc asciidoc asc",
    DocumentFormat.LATEX: "tex latex ltx",
    DocumentFormat.TEXT: "txt text log bib srt vtt",
    DocumentFormat.CSV: "csv tsv tab",
    DocumentFormat.JSON: "json geojson jsonld",
    DocumentFormat.JSONL: "jsonl ndjson",
    DocumentFormat.NOTEBOOK: "ipynb",
    DocumentFormat.MAIL: "eml",
    DocumentFormat.MAIL_FOLDER: "mbox mbx",
    DocumentFormat.CALENDAR: "ics ical",
    DocumentFormat.CONTACTS: "vcf vcard",
    DocumentFormat.ZIP: "zip",
    DocumentFormat.IMAGE: "png jpg jpeg tif tiff bmp webp",
    DocumentFormat.CODE: (
        "py pyi pyx pxd c h cc cpp cxx hpp hh m mm cs java kt kts scala groovy clj cljs go rs swift dart "
        "js mjs cjs ts tsx jsx vue svelte php rb pl pm lua r jl hs ml mli ex exs erl hrl elm nim zig v d "
        "f f90 for pas ada sql sh bash zsh fish ps1 bat cmd awk vim el lisp scm rkt tcl asm s cu cl glsl "
        "hlsl proto thrift graphql gql tf hcl nix cmake mk gradle sbt bzl dockerfile makefile "
        "xsd xsl svg css scss sass less env plist po diff patch"
    ),
    DocumentFormat.SETTINGS: "toml yaml yml ini cfg conf properties service timer desktop",
}
_FORMAT_OF_SUFFIX = {
    suffix: format_ for format_, names in _SUFFIXES_OF_FORMAT.items() for suffix in names.split()
}

_BINARY_SUFFIXES = (
    "gif ico heic avif psd mp3 m4a wav flac ogg opus mp4 m4v mkv avi mov webm "
    "gz bz2 xz zst 7z rar tar tgz jar war whl egg deb rpm dmg iso img apk exe dll so dylib a o obj lib "
    "pyc pyo class wasm bin db sqlite sqlite3 parquet arrow feather lance npy npz pkl pickle h5 hdf5 "
    "safetensors gguf pt pth onnx ttf otf woff woff2 eot"
)
_BINARY_SUFFIX_SET = frozenset(_BINARY_SUFFIXES.split())
_UNSUPPORTED_REASONS = {
    "doc": "the old Word format (.doc) is not read",
    "ppt": "the old PowerPoint format (.ppt) is not read",
    "msg": "Outlook messages (.msg) are not read",
    "ps": "PostScript (.ps) is not read",
    "eps": "PostScript (.eps) is not read",
}
_MEDIA_TYPE_PART = "mimetype"
_PROGRAM_PARTS = frozenset({_MEDIA_TYPE_PART, "META-INF/MANIFEST.MF"})
"""Parts of an archive that is a single document of another kind, or a program."""
IMAGE_NEEDS_OCR = "an image: localcrag[ocr] reads it"
"""The reason for an image where ``localcrag[ocr]`` is not installed."""
OCR_HINT = "Install it: pip install 'localcrag[ocr]'"
PDF_START_BYTES = 1024
"""The first bytes of a file, in which the signature of PDF stands."""
_IMAGE_TYPES = frozenset(f"image/{name}" for name in ("png", "jpeg", "tiff", "bmp", "webp"))
_IMAGE_START = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|II\*\x00|MM\x00\*|RIFF[\s\S]{4}WEBP")
_POSTSCRIPT_SIGNATURE = b"%!PS"
_OLE_SIGNATURE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_WORKBOOK_STREAMS = [f"{name}\0".encode("utf-16-le") for name in ("Workbook", "Book")]
"""The names of the part with the sheets in an old Excel file."""
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
_CONTENT_LINES_START = re.compile(rb"\s*BEGIN:(?:(VCALENDAR)|VCARD)[ \t]*[\r\n]", re.IGNORECASE)
_MAIL_START = re.compile(rb"[a-z][a-z-]*: ", re.IGNORECASE)
_MAIL_HEADERS = (b"subject:", b"from:", b"date:")
_MAIL_FOLDER_START = re.compile(rb"From [^\n]*\n(?=[A-Za-z][A-Za-z-]*:)")
"""How a mail folder begins, which Thunderbird keeps without an ending: "Inbox"."""


def suffix_of(name: str) -> str:
    """The extension of a file name in lower case and without its dot; "" if there is none.

    ``Dockerfile`` and ``Makefile`` count as their own extensions.
    """
    path = PurePosixPath(name.lower())
    return path.suffix[1:] or (path.name if path.name in ("dockerfile", "makefile") else "")


def uncompressed_name(name: str) -> str:
    """The name without the extension of a compressed file: ``README.md.gz`` is ``README.md``."""
    before, _, suffix = name.rpartition(".")
    return before if suffix.lower() in _COMPRESSED_SUFFIXES and suffix_of(name) else name


def compression_of(start: bytes) -> Compression | None:
    """How a file with these first bytes is compressed; None if it is not."""
    found = _COMPRESSED_START.match(start)
    return Compression(found.lastgroup) if found and found.lastgroup else None


def has_known_name(name: str) -> bool:
    """Whether the extension of a file name, compressed or not, is that of a format that is read."""
    return suffix_of(uncompressed_name(name)) in _FORMAT_OF_SUFFIX


def refuse_by_name(name: str) -> None:
    """Raise UnreadableError for a file name whose extension means a format that is not read.

    Of a compressed file it is the extension of the document inside.
    """
    suffix = suffix_of(uncompressed_name(name))
    if _FORMAT_OF_SUFFIX.get(suffix) is DocumentFormat.IMAGE and not can_recognise():
        raise UnreadableError(IMAGE_NEEDS_OCR, hint=OCR_HINT)
    if suffix in _BINARY_SUFFIX_SET:
        raise UnreadableError(f"binary, no text (.{suffix})")
    if suffix in _UNSUPPORTED_REASONS:
        raise UnreadableError(_UNSUPPORTED_REASONS[suffix], hint="Save it as DOCX, PPTX, XLSX, PDF or text.")


def can_recognise() -> bool:
    """Whether the text of images can be recognised: whether ``localcrag[ocr]`` is installed."""
    return all(find_spec(name) is not None for name in ("rapidocr", "onnxruntime"))


def format_of(name: str, data: bytes, content_type: str = "") -> DocumentFormat:
    """The format of ``data``, which was found under the file name ``name``.

    A server's ``content_type`` goes before the name, and a signature goes before both unless the name means
    an archive format. Raises UnreadableError if the bytes are in a known format that is not read.
    """
    by_name = _FORMAT_OF_SUFFIX.get(suffix_of(name))
    if by_name is DocumentFormat.ASCIIDOC and suffix_of(name) == "asc":
        by_name = by_name if _ASCIIDOC_LINE.search(data[:_MAX_ASCIIDOC_PREAMBLE]) else None
    if by_name is DocumentFormat.XLS and not data.startswith((_OLE_SIGNATURE, *_OLD_WORKBOOK_STARTS)):
        by_name = None if _HTML_START.match(data[:4096]) else DocumentFormat.CSV
    by_signature = _signature(data, by_name)
    if by_signature is DocumentFormat.XLS or (by_signature and by_name not in ARCHIVE_FORMATS):
        return by_signature
    return _format_of_content_type(content_type) or by_name or _format_of_content(data)


def is_plain(name: str, start: bytes) -> bool:
    """Whether a file of that name with these first bytes is in one of the PLAIN_FORMATS."""
    if _FORMAT_OF_SUFFIX.get(suffix_of(name)) not in PLAIN_FORMATS:
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


def markup_of(media_type: str) -> Markup:
    """The markup of a text of that media type; prose for an unknown one."""
    return _MARKUP_OF_MEDIA_TYPE.get(media_type, Markup.PROSE)


def _signature(data: bytes, by_name: DocumentFormat | None) -> DocumentFormat | None:
    if data.startswith(_OLE_SIGNATURE):
        if _ENCRYPTED_PACKAGE in data:
            raise UnreadableError(
                f"encrypted {by_name if by_name in OFFICE_FORMATS else 'Office file'} (needs a password)",
                hint="Save a copy without the password.",
            )
        if any(name in data for name in _WORKBOOK_STREAMS):
            return DocumentFormat.XLS
        raise UnreadableError("an old Office format is not read", hint="Save it as DOCX, PPTX or XLSX.")
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
    return _format_of_archive(data) if data.startswith(b"PK\x03\x04") else None


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
    parted = _MAIL_FOLDER_START.match(start)
    first = start[parted.end() :] if parted else start
    if _MAIL_START.match(first) and all(b"\n" + header in b"\n" + first.lower() for header in _MAIL_HEADERS):
        return DocumentFormat.MAIL_FOLDER if parted else DocumentFormat.MAIL
    return DocumentFormat.SETTINGS if looks_like_settings(start) else DocumentFormat.TEXT
