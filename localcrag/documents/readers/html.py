"""Reader of HTML: the main content of a page as Markdown, or all visible text if none stands out."""

from __future__ import annotations

import re
from html import unescape

from localcrag.documents.encoding import charset_of, decode
from localcrag.documents.extracted import ExtractedText, one_line, whole
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.headings import markdown_headings
from localcrag.errors import UnreadableError

_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]{0,200}>(.{0,1000}?)</title\s*>", re.IGNORECASE | re.DOTALL)
_INVISIBLE_ELEMENTS = ["iframe", "object", "select", "textarea", "template"]
_BOILERPLATE_ELEMENTS = ["nav", "header", "footer", "aside", "form", "button"]
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
_ESCAPE = re.compile(r"\\([_*\[\]<>~`|])")
_MIN_MAIN_SHARE = 0.3


def read_html(data: bytes, content_type: str = "") -> ExtractedText:
    """Read an HTML page; ``content_type`` may name its encoding. Raises UnreadableError."""
    named = _CHARSET.search(data[:2048])
    html = decode(data, charset_of(content_type) or (named[1].decode("ascii", "ignore") if named else ""))
    visible = markdown_of(html, without=_BOILERPLATE_ELEMENTS) or markdown_of(html)
    title = _TITLE.search(html)
    first = next((heading.title for heading in markdown_headings(visible[:20_000])), "")
    named_by = one_line(unescape(title[1])) if title else first
    return whole(named_by, MEDIA_TYPES[DocumentFormat.HTML], main_text(html, visible))


def main_text(html: str, visible: str) -> str:
    """The main content as Markdown, by trafilatura.

    ``visible`` is all text outside menus and the like as Markdown. It is returned itself if the main
    content is less than three tenths of it, as in lists, forms and reference pages.
    """
    from trafilatura import extract

    main = _without_escapes(extract(html, output_format="markdown", favor_recall=True) or "")
    return main if len(main) >= _MIN_MAIN_SHARE * len(visible) else visible


def _without_escapes(markdown: str) -> str:
    """Markdown without backslash escapes (``ffi_call``, not ``ffi\\_call``), except in code."""
    pieces = _CODE.split(markdown)
    pieces[::2] = [_ESCAPE.sub(r"\1", piece) for piece in pieces[::2]]
    return "".join(pieces)


def markdown_of(html: str, *, without: list[str] | None = None) -> str:
    """All visible text as Markdown, without pictures, scripts and the targets of links.

    ``without`` names elements to leave out. Raises UnreadableError if the HTML cannot be converted or is
    nested too deeply.
    """
    from html_to_markdown import ConversionError, ConversionOptions, WarningKind, convert

    options = ConversionOptions(
        extract_metadata=False,
        skip_images=True,
        strip_tags=["a"],
        exclude_selectors=_INVISIBLE_ELEMENTS + (without or []),
        bullets="-",
    )
    try:
        result = convert(html, options)
    except ConversionError as error:
        raise UnreadableError(f"HTML that cannot be converted ({one_line(str(error))})") from error
    if any(warning.kind == WarningKind.DEPTH_LIMIT_EXCEEDED for warning in result.warnings):
        raise UnreadableError("HTML nested too deeply")
    return (result.content or "").strip()
