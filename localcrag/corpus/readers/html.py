"""HTML as Markdown: the main content of a page, or all visible text where none stands out."""

from __future__ import annotations

import re

from localcrag.corpus.encoding import decode
from localcrag.corpus.kinds import MEDIA_TYPES, Kind
from localcrag.corpus.parsed import Parsed, one_line, whole
from localcrag.errors import UnreadableError

_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([\w.:-]+)""", re.IGNORECASE)
_TITLES = ("//head/title", "//title", "//h1")
_FURNITURE = ("nav", "header", "footer", "aside", "form", "button", "template")
_MAIN_SHARE = 0.3


def read_html(data: bytes, content_type: str = "") -> Parsed:
    """A page of the web or of a folder; ``content_type`` may name its encoding. Raises UnreadableError."""
    named = _CHARSET.search(content_type.encode()) or _CHARSET.search(data[:2048])
    html = decode(data, named[1].decode("ascii", "ignore") if named else "")
    return whole(title_of(html), MEDIA_TYPES[Kind.HTML], main_text(html))


def main_text(html: str) -> str:
    """The main content as Markdown, by trafilatura.

    Where that keeps less than three tenths of what is visible outside menus and the like (as with lists,
    forms and reference pages), all of the visible text.
    """
    from trafilatura import extract

    visible = markdown_of(html, without=_FURNITURE)
    main = extract(
        html, output_format="markdown", favor_recall=True, include_comments=True, with_metadata=False
    )
    return main if main and len(main) >= _MAIN_SHARE * len(visible) else visible or markdown_of(html)


def title_of(html: str) -> str:
    """The page's title, or its first heading; "" where it has none."""
    from lxml import etree
    from lxml import html as parser

    try:
        tree = parser.document_fromstring(html.encode(), parser=parser.HTMLParser(encoding="utf-8"))
    except (etree.ParserError, etree.XMLSyntaxError):
        return ""
    for path in _TITLES:
        for node in tree.xpath(path):
            if title := one_line(node.text_content()):
                return title
    return ""


def markdown_of(html: str, *, without: tuple[str, ...] = ()) -> str:
    """All visible text as Markdown: no links' targets, no images, no scripts. Raises UnreadableError."""
    from html_to_markdown import ConversionError, ConversionOptions, LinkStyle, convert

    options = ConversionOptions(
        extract_metadata=False, skip_images=True, exclude_selectors=list(without), bullets="-"
    )
    try:
        result = convert(html, options)
    except ConversionError as error:
        raise UnreadableError(f"HTML that cannot be converted ({one_line(str(error))})") from error
    if not result.content and result.warnings:
        raise UnreadableError(f"HTML that cannot be converted ({one_line(result.warnings[0].message)})")
    return str(result.content or "").strip()
