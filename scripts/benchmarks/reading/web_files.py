"""HTML pages with what surrounds a text on a site, and EPUB books."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby

from benchmarks.reading.source_text import Piece, Source

_LISTS = {"item": "ul", "number": "ol", "definition": "dl"}


def html(source: Source) -> bytes:
    """A page of a site: navigation, headings that link to themselves, a sidebar and a footer.

    Its language is that of the field ``lang``, English by default.
    """
    links = "".join(
        f'<li><a href="/{_slug(name)}">{escape(name)}</a></li>'
        for name in source.fields.get("nav", "").split(", ")
    )
    language = escape(source.fields.get("lang", "en"))
    return f"""<!DOCTYPE html>
<html lang="{language}"><head><meta charset="utf-8"><title>{escape(source.title)}</title>
<style>nav li {{ display: inline }}</style><script>window.statistics = {{ page: 1 }};</script></head>
<body><header><a href="/">{escape(source.title)}</a></header>
<nav aria-label="Main"><ul>{links}</ul></nav>
<main>
{body(source.pieces, linked=True)}
</main>
<aside class="sidebar"><p>{escape(source.fields.get("aside", ""))}</p></aside>
<footer><p>{escape(source.fields.get("footer", ""))}</p></footer></body></html>
""".encode()


def epub(source: Source) -> bytes:
    """A book with a chapter for each page of the source."""
    numbers = range(len(source.pages))
    items = "".join(
        f'<item id="c{i}" href="c{i}.xhtml" media-type="application/xhtml+xml"/>' for i in numbers
    )
    spine = "".join(f'<itemref idref="c{i}"/>' for i in numbers)
    head = (
        f"<dc:title>{escape(source.title)}</dc:title>"
        f"<dc:creator>{escape(source.fields.get('author', ''))}</dc:creator>"
        f"<dc:language>{escape(source.fields.get('lang', 'en'))}</dc:language>"
    )
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<?xml version="1.0"?><container version="1.0" '
        'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
        'full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
        "book.opf": '<?xml version="1.0"?><package version="3.0" xmlns="http://www.idpf.org/2007/opf">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">{head}</metadata>'
        f"<manifest>{items}</manifest><spine>{spine}</spine></package>",
    }
    for number, page in enumerate(source.pages):
        parts[f"c{number}.xhtml"] = (
            '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head>'
            f"<title>{escape(source.title)}</title></head><body>{body(page)}</body></html>"
        )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return out.getvalue()


def body(pieces: Sequence[Piece], *, linked: bool = False) -> str:
    """The pieces as HTML; ``linked`` headings hold a link to themselves."""
    return "\n".join(_elements(pieces, linked))


def _elements(pieces: Sequence[Piece], linked: bool) -> Iterator[str]:
    for kind, found in groupby(pieces, key=lambda piece: piece.kind):
        if element := _LISTS.get(kind):
            yield f"<{element}>{''.join(map(_item, found))}</{element}>"
            continue
        for piece in found:
            if kind == "heading":
                name = f"h{piece.level}"
                slug = _slug(piece.plain)
                mark = f' <a class="headerlink" href="#{slug}" title="Link to this heading">¶</a>'
                yield f'<{name} id="{slug}">{_inline(piece.text)}{mark if linked else ""}</{name}>'
            elif kind == "table":
                yield _table(piece.rows)
            else:
                yield f"<p>{_inline(piece.text)}</p>"


def _item(piece: Piece) -> str:
    if piece.kind == "definition":
        return f"<dt>{escape(piece.rows[0][0])}</dt><dd>{_inline(piece.text)}</dd>"
    return f"<li>{_inline(piece.text)}</li>"


def _table(rows: Sequence[Sequence[str]]) -> str:
    def line(row: Sequence[str], name: str) -> str:
        return "<tr>" + "".join(f"<{name}>{escape(cell)}</{name}>" for cell in row) + "</tr>"

    head, *others = rows
    lines = "\n".join(line(row, "td") for row in others)
    return f"<table><thead>{line(head, 'th')}</thead><tbody>\n{lines}\n</tbody></table>"


def _inline(text: str) -> str:
    return re.sub(r"\*(.+?)\*", r"<em>\1</em>", escape(text))


def _slug(text: str) -> str:
    return re.sub(r"\W+", "-", text.lower()).strip("-")
