"""OpenDocument files, part by part as LibreOffice writes them."""

from __future__ import annotations

from tests.documents.builders import zipped

_NAMESPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in {
        "office": "office",
        "text": "text",
        "table": "table",
        "draw": "drawing",
        "presentation": "presentation",
        "style": "style",
        "meta": "meta",
    }.items()
)
_STYLES = """
<style:style style:name="P1" style:family="paragraph" style:parent-style-name="Preformatted_20_Text"/>
<style:style style:name="P2" style:family="paragraph" style:parent-style-name="Title"/>
<style:style style:name="ta2" style:family="table">
  <style:table-properties table:display="false"/>
</style:style>
<text:list-style style:name="L1">
  <text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/>
  <text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/>
</text:list-style>
"""


def opendocument(kind: str, body: str, *, title: str = "", manifest: str = "<manifest/>") -> bytes:
    """A file whose body is ``body``; ``kind`` is text, spreadsheet or presentation."""
    content = (
        f"<office:document-content {_NAMESPACES}><office:automatic-styles>{_STYLES}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    meta = (
        f'<office:document-meta {_NAMESPACES} xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<office:meta><dc:title>{title}</dc:title></office:meta></office:document-meta>"
    )
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": content,
            "styles.xml": f"<office:document-styles {_NAMESPACES}/>",
            "meta.xml": meta,
            "META-INF/manifest.xml": manifest,
        }
    )


def cell(text: str, attributes: str = "") -> str:
    """A cell of a table."""
    return f"<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>"


def row(*cells: str, attributes: str = "") -> str:
    """A row of a table, of cells that :func:`cell` has made."""
    return f"<table:table-row {attributes}>{''.join(cells)}</table:table-row>"
