"""Strategies for hostile documents in ZIP containers: Office, OpenDocument, EPUB, archives."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from torturing.generated_parts import PROLOGUES, SENTENCE, container, markup
from torturing.text_documents import HTML_ATTRIBUTES, HTML_TAGS, csv, html, mail, markdown

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_MAIN = "application/vnd.openxmlformats-officedocument."
W_TAGS = (
    *("w:p", "w:r", "w:t", "w:tbl", "w:tr", "w:tc", "w:tcPr", "w:gridSpan", "w:vMerge", "w:pPr"),
    *("w:pStyle", "w:hyperlink", "w:br", "w:drawing", "w:footnoteReference", "w:ins", "w:del"),
    *("w:numPr", "w:ilvl", "w:sdt", "w:sdtContent"),
)
X_TAGS = (
    *("row", "c", "v", "is", "t", "f", "mergeCell", "mergeCells", "sheetData", "dimension", "cols"),
    *("col",),
)
P_TAGS = (
    *("p:sp", "p:txBody", "a:p", "a:r", "a:t", "p:graphicFrame", "a:tbl", "a:tr", "a:tc", "p:grpSp"),
    *("p:pic", "p:nvSpPr"),
)
T_TAGS = (
    *("text:p", "text:h", "text:span", "text:s", "text:list", "text:list-item", "table:table"),
    *("table:table-row", "table:table-cell", "text:note", "text:tracked-changes", "draw:frame"),
    *("draw:page", "office:annotation"),
)
W_RIGHT = f"<w:p><w:r><w:t>{SENTENCE}</w:t></w:r></w:p>"
W_ATTRIBUTES = ("w:val", "r:id", "w:id")
X_RIGHT = f'<row r="1"><c r="A1" t="inlineStr"><is><t>{SENTENCE}</t></is></c></row>'
X_ATTRIBUTES = ("r", "t", "s", "ref", "spans", "hidden", "min", "max")
P_RIGHT = f"<p:sp><p:txBody><a:p><a:r><a:t>{SENTENCE}</a:t></a:r></a:p></p:txBody></p:sp>"
P_ATTRIBUTES = ("r:id", "gridSpan", "rowSpan", "hMerge", "id", "name")
T_RIGHT = f"<text:p>{SENTENCE}</text:p>"
T_ATTRIBUTES = (
    *("table:number-columns-repeated", "table:number-rows-repeated", "text:c", "text:outline-level"),
    *("table:number-columns-spanned", "text:style-name", "office:value", "xml:id"),
)


def _office(main: str, folder: str, kind: str, parts: Mapping[str, str]) -> dict[str, str | bytes]:
    """The parts that every Office file has, beside its own."""
    override = f'<Override PartName="/{main}" ContentType="{_MAIN}{kind}.main+xml"/>'
    defaults = (
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/>'
    )
    relation = f'<Relationship Id="r1" Type="{RELATIONS}/officeDocument" Target="{main}"/>'
    return {
        "[Content_Types].xml": f'<Types xmlns="{_TYPES}">{defaults}{override}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}">{relation}</Relationships>',
        **parts,
    }


def docx() -> SearchStrategy[bytes]:
    """Word documents."""
    space = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"

    def parts(head: str, body: str) -> dict[str, str | bytes]:
        text = (
            f'{head}<w:document xmlns:w="{space}" xmlns:r="{RELATIONS}"><w:body>{body}</w:body></w:document>'
        )
        return _office("word/document.xml", "word", "wordprocessingml.document", {"word/document.xml": text})

    return _zipped(W_TAGS, W_ATTRIBUTES, W_RIGHT, parts)


def xlsx() -> SearchStrategy[bytes]:
    """Excel workbooks."""
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

    def parts(head: str, body: str) -> dict[str, str | bytes]:
        sheets = (
            '<sheets><sheet name="a" sheetId="1" r:id="r1"/><sheet name="b" sheetId="1" r:id="r1"/></sheets>'
        )
        relation = f'<Relationship Id="r1" Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>'
        return _office(
            "xl/workbook.xml",
            "xl",
            "spreadsheetml.sheet",
            {
                "xl/workbook.xml": f'<workbook xmlns="{space}" xmlns:r="{RELATIONS}">{sheets}</workbook>',
                "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{relation}</Relationships>',
                "xl/worksheets/sheet1.xml": f'{head}<worksheet xmlns="{space}"><sheetData>{body}</sheetData>'
                "</worksheet>",
            },
        )

    return _zipped(X_TAGS, X_ATTRIBUTES, X_RIGHT, parts)


def pptx() -> SearchStrategy[bytes]:
    """PowerPoint presentations."""
    space = "http://schemas.openxmlformats.org/presentationml/2006/main"
    drawing = "http://schemas.openxmlformats.org/drawingml/2006/main"
    spaces = f'xmlns:p="{space}" xmlns:a="{drawing}" xmlns:r="{RELATIONS}"'

    def parts(head: str, body: str) -> dict[str, str | bytes]:
        slides = '<p:sldIdLst><p:sldId id="256" r:id="r1"/></p:sldIdLst>'
        relation = f'<Relationship Id="r1" Type="{RELATIONS}/slide" Target="slides/slide1.xml"/>'
        return _office(
            "ppt/presentation.xml",
            "ppt",
            "presentationml.presentation",
            {
                "ppt/presentation.xml": f"<p:presentation {spaces}>{slides}</p:presentation>",
                "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{relation}'
                "</Relationships>",
                "ppt/slides/slide1.xml": f"{head}<p:sld {spaces}><p:cSld><p:spTree>{body}</p:spTree>"
                "</p:cSld></p:sld>",
            },
        )

    return _zipped(P_TAGS, P_ATTRIBUTES, P_RIGHT, parts)


def opendocument(kind: str) -> SearchStrategy[bytes]:
    """OpenDocument files; ``kind`` is text, spreadsheet or presentation."""
    names = ("office", "text", "table", "drawing", "style")
    spaces = " ".join(
        f'xmlns:{"draw" if name == "drawing" else name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in names
    )

    def parts(head: str, body: str) -> dict[str, str | bytes]:
        text = f"<office:{kind}>{body}</office:{kind}>"
        return {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"{head}<office:document-content {spaces}><office:body>{text}</office:body>"
            "</office:document-content>",
            "META-INF/manifest.xml": "<manifest/>",
        }

    return _zipped(T_TAGS, T_ATTRIBUTES, T_RIGHT, parts)


def epub() -> SearchStrategy[bytes]:
    """Books whose chapters refer to each other, to themselves, and to what is not there."""
    rootfile = '<rootfile full-path="c.opf" media-type="application/oebps-package+xml"/>'
    container_xml = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        + rootfile
        + "</rootfiles></container>"
    )
    chapter = 'media-type="application/xhtml+xml"'
    items = [
        f'<item id="a" href="a.xhtml" {chapter}/>',
        '<item id="b" href="../b%00"/>',
        f'<item id="a" href="c.opf" {chapter}/>',
        '<item id="n" href="n.xhtml" properties="nav"/>',
    ]

    def parts(head: str, body: str) -> dict[str, str | bytes]:
        chosen = items[: 1 + len(body) % len(items)]
        spine = '<itemref idref="a"/><itemref idref="b"/>' * (1 + len(body) % 50)
        package = (
            f'<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>{"".join(chosen)}</manifest>'
        )
        return {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container_xml,
            "c.opf": f"{package}<spine>{spine}</spine></package>",
            "a.xhtml": f"{head}<html><body>{body}</body></html>",
            "n.xhtml": f"<html><body><nav>{body[:2000]}</nav></body></html>",
        }

    return _zipped(HTML_TAGS, HTML_ATTRIBUTES, f"<p>{SENTENCE}</p>", parts)


def _zipped(
    tags: Sequence[str],
    attributes: Sequence[str],
    right: str,
    parts: Callable[[str, str], dict[str, str | bytes]],
) -> SearchStrategy[bytes]:
    """A container whose main part is made of these tags."""
    starts = st.sampled_from(["", right, right, right])
    bodies = st.builds(
        lambda start, body: start + "".join(body), starts, st.lists(markup(tags, attributes), max_size=5)
    )
    heads = st.just("") | PROLOGUES
    return st.builds(parts, heads, bodies).flatmap(container)


def archive() -> SearchStrategy[bytes]:
    """ZIP archives of documents, of which some are archives again."""
    small: SearchStrategy[bytes] = html() | markdown() | csv() | mail()
    names = st.sampled_from(
        ["a.html", "b.md", "c.csv", "d.eml", "../e.txt", "f/g/h.txt", "i.zip", "j.exe", "k"]
    )
    inner = st.dictionaries(names, small.map(lambda data: data[:60_000]), min_size=1, max_size=5)
    once = inner.flatmap(container)
    return once | once.map(lambda data: {"again.zip": data, "x.txt": b"text"}).flatmap(container)
