"""The formats of documents by the extension of a file name, and the names of files that are not read."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import PurePosixPath

from localcrag.documents.formats import DocumentFormat
from localcrag.errors import UnreadableError

_COMPRESSED_SUFFIXES = ("gz", "bz2", "xz")
_SUFFIXES_OF_FORMAT = {
    DocumentFormat.PDF: "pdf",
    DocumentFormat.DOCX: "docx docm dotx dotm",
    DocumentFormat.DOC: "doc dot",
    DocumentFormat.PPTX: "pptx pptm ppsx ppsm potx",
    DocumentFormat.PPT: "ppt pps pot",
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
    DocumentFormat.SUBTITLES: "srt vtt ass ssa",
    DocumentFormat.TEXT: "txt text log",
    DocumentFormat.CSV: "csv tsv tab",
    DocumentFormat.JSON: "json geojson jsonld",
    DocumentFormat.JSONL: "jsonl ndjson",
    DocumentFormat.SQL: "sql",
    DocumentFormat.SQLITE: "sqlite sqlite3 db db3",
    DocumentFormat.PARQUET: "parquet",
    DocumentFormat.ARROW: "arrow feather",
    DocumentFormat.NOTEBOOK: "ipynb",
    DocumentFormat.MAIL: "eml",
    DocumentFormat.OUTLOOK: "msg",
    DocumentFormat.MAIL_FOLDER: "mbox mbx",
    DocumentFormat.CALENDAR: "ics ical",
    DocumentFormat.CONTACTS: "vcf vcard",
    DocumentFormat.BIBTEX: "bib",
    DocumentFormat.ZIP: "zip",
    DocumentFormat.IMAGE: "png jpg jpeg tif tiff bmp webp",
    DocumentFormat.CODE: (
        "py pyi pyx pxd c h cc cpp cxx hpp hh m mm cs java kt kts scala groovy clj cljs go rs swift dart "
        "js mjs cjs ts tsx jsx vue svelte php rb pl pm lua r jl hs ml mli ex exs erl hrl elm nim zig v d "
        "f f90 for pas ada sh bash zsh fish ps1 bat cmd awk vim el lisp scm rkt tcl asm s cu cl glsl "
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
    "pyc pyo class wasm bin lance npy npz pkl pickle h5 hdf5 "
    "safetensors gguf pt pth onnx ttf otf woff woff2 eot"
)
_BINARY_SUFFIX_SET = frozenset(_BINARY_SUFFIXES.split())
_UNSUPPORTED_REASONS = {
    "ps": "PostScript (.ps) is not read",
    "eps": "PostScript (.eps) is not read",
}
IMAGE_NEEDS_OCR = "an image: localcrag[ocr] reads it"
"""The reason for an image where ``localcrag[ocr]`` is not installed."""
OCR_HINT = "Install it: pip install 'localcrag[ocr]'"
NEEDS_OLD_OFFICE = "an old Office format: localcrag[old-office] reads it"
"""The reason for a DOC or PPT where ``localcrag[old-office]`` is not installed."""
OLD_OFFICE_HINT = "Install it: pip install 'localcrag[old-office]', or save the file as DOCX, PPTX or PDF."


def suffix_of(name: str) -> str:
    """The extension of a file name in lower case and without its dot; "" if there is none.

    ``Dockerfile`` and ``Makefile`` count as their own extensions.
    """
    path = PurePosixPath(name.lower())
    return path.suffix[1:] or (path.name if path.name in ("dockerfile", "makefile") else "")


def format_of_name(name: str) -> DocumentFormat | None:
    """The format that the extension of a file name means; None if it means none."""
    return _FORMAT_OF_SUFFIX.get(suffix_of(name))


def uncompressed_name(name: str) -> str:
    """The name without the extension of a compressed file: ``README.md.gz`` is ``README.md``."""
    before, _, suffix = name.rpartition(".")
    return before if suffix.lower() in _COMPRESSED_SUFFIXES and suffix_of(name) else name


def has_known_name(name: str) -> bool:
    """Whether the extension of a file name, compressed or not, is that of a format that is read."""
    return format_of_name(uncompressed_name(name)) is not None


def refuse_by_name(name: str) -> None:
    """Raise UnreadableError for a file name whose extension means a format that is not read.

    Of a compressed file it is the extension of the document inside.
    """
    inner = uncompressed_name(name)
    suffix = suffix_of(inner)
    if format_of_name(inner) is DocumentFormat.IMAGE and not can_recognise():
        raise UnreadableError(IMAGE_NEEDS_OCR, hint=OCR_HINT)
    if suffix in _BINARY_SUFFIX_SET:
        raise UnreadableError(f"binary, no text (.{suffix})")
    if suffix in _UNSUPPORTED_REASONS:
        raise UnreadableError(_UNSUPPORTED_REASONS[suffix], hint="Save it as PDF or text.")


def can_recognise() -> bool:
    """Whether the text of images can be recognised: whether ``localcrag[ocr]`` is installed."""
    return all(find_spec(name) is not None for name in ("rapidocr", "onnxruntime"))


def reads_old_office() -> bool:
    """Whether DOC and PPT can be read: whether ``localcrag[old-office]`` is installed."""
    return find_spec("office_oxide") is not None
