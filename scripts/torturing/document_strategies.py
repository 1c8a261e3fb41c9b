"""Hypothesis strategies for documents that are made to harm, over the structure of each format.

Most documents are almost right: elements of the format in the wrong places, numbers that lie, references in
circles, nesting without end, parts that are missing or twice there. Some have bytes changed on top.
"""

from __future__ import annotations

import io
import json
import warnings
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from xml.sax.saxutils import escape, quoteattr

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy


DOCUMENTS_OF_FORMAT = 4
"""Documents that are made of one format before another one's turn."""
SENTENCE = "The grey heron stands still in shallow water and waits for fish."


@dataclass(frozen=True, slots=True)
class HostileDocument:
    """A file name and the bytes that are found under it."""

    name: str
    data: bytes


def hostile_documents(number: int, count: int) -> list[HostileDocument]:
    """About so many documents; the same number always gives the same ones.

    A few are made of one format, then a few of another one: Hypothesis makes what it makes next out of what it
    made before, and would make the same ones again and again.
    """
    random, made = Random(number), []
    while len(made) < count:
        made += documents_of(random.choice(sorted(FORMATS)), random.getrandbits(32))
    return made


def documents_of(kind: str, number: int) -> list[HostileDocument]:
    """A few documents of one format, without the first one, which is always the simplest."""
    made: list[HostileDocument] = []

    @seed(number)
    @settings(
        max_examples=1 + DOCUMENTS_OF_FORMAT,
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(document(kind))
    def collect(found: HostileDocument) -> None:
        made.append(found)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        collect()
    return made[1:]


# ---------------------------------------------------------------------------------- what all formats need

WORDS = st.text(st.characters(exclude_categories=("Cs",)), max_size=12) | st.sampled_from(
    ["the", "grey", "heron", "\u202e", "\x00", "\ufeff", "&amp;", "]]>", "<b>", "1e999", "=1+1", "\r\n", " " * 40]
)
NUMBERS = st.sampled_from([0, 1, -1, 2, 3, 255, 65_536, 2**31 - 1, 2**31, -(2**31), 2**63, 10**30, 1.5, -0.0])
REPEATS = st.sampled_from([0, 1, 2, 3, 10, 100, 3_000, 30_000])


def repeated(unit: SearchStrategy[str], most: int = 300_000) -> SearchStrategy[str]:
    """A text many times over, of at most so many characters."""
    return st.builds(lambda text, times: (text * times)[:most], unit, REPEATS)


TEXT = st.just(SENTENCE) | st.lists(WORDS, max_size=8).map(" ".join) | repeated(WORDS)


@st.composite
def markup(draw: DrawFn, tags: Sequence[str], attributes: Sequence[str], depth: int = 4) -> str:
    """XML of elements that the format has, nested, repeated and attributed at random."""
    kind = draw(st.integers(0, 9))
    tag = draw(st.sampled_from(tags))
    if kind < 3 or depth == 0:
        return escape(draw(TEXT)[:4000]).replace("\x00", "")
    given_attributes = draw(st.lists(st.tuples(st.sampled_from(attributes), WORDS | NUMBERS.map(str)), max_size=3))
    head = "".join(f" {name}={quoteattr(str(value))}" for name, value in dict(given_attributes).items())
    inner = "".join(draw(st.lists(markup(tags, attributes, depth - 1), max_size=4)))
    if kind == 3:
        times = draw(REPEATS) // 4
        return f"<{tag}{head}>" * times + inner[:2000] + f"</{tag}>" * draw(st.sampled_from([0, times]))
    if kind == 4:
        times = min(draw(REPEATS), 200_000 // (len(inner) + len(head) + 20))
        return f"<{tag}{head}>{inner}</{tag}>" * times
    if kind == 5:
        return f"<{tag}{head}/>{inner}"
    return f"<{tag}{head}>{inner}</{tag}>"


PROLOGUES = st.sampled_from(
    [
        "",
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<?xml version="1.0" encoding="utf-16"?>',
        '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;&x;&x;&x;&x;&x;">]>',
        '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/hostname">]>',
        "<!-- ",
    ]
)


@st.composite
def container(draw: DrawFn, parts: Mapping[str, str | bytes]) -> bytes:
    """A ZIP of these parts, with lies: parts left out, twice, empty, huge, with odd names, or false sizes."""
    kept = dict(parts)
    trick = draw(st.sampled_from(["", "", "", "", "", "", "", "", "drop", "bomb", "many", "names", "empty", "sizes", "flags", "nested"]))
    name = draw(st.sampled_from(sorted(kept)))
    if trick == "drop":
        del kept[name]
    elif trick == "empty":
        kept[name] = b""
    elif trick == "bomb":
        kept[name] = str(kept[name])[:200].encode() + b" " * draw(st.sampled_from([1 << 20, 30 << 20, 90 << 20]))
    elif trick == "many":
        kept |= {f"word/extra{number}.xml": b"<a/>" for number in range(draw(st.sampled_from([300, 5000])))}
    elif trick == "names":
        kept |= {"../../escape.txt": b"x", "/absolute": b"x", "a\\b": b"x", "con": b"x", "x" * 300: b"x"}
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        warnings.simplefilter("ignore")
        for part, inner in kept.items():
            archive.writestr(_entry(part), inner)
            if trick == "nested":
                archive.writestr(_entry(part), inner)
                archive.writestr(_entry("inner.zip"), out.getvalue()[:100_000])
    data = bytearray(out.getvalue())
    if trick in ("sizes", "flags"):
        at = data.rfind(b"PK\x01\x02")
        if at >= 0 and trick == "sizes":
            data[at + 24 : at + 28] = draw(st.binary(min_size=4, max_size=4))
        elif at >= 0:
            data[at + 8] |= 1
    return bytes(data)


def _entry(name: str) -> zipfile.ZipInfo:
    """The head of a part, with a date that is always the same."""
    info = zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    return info


@st.composite
def spoilt(draw: DrawFn, made: SearchStrategy[bytes]) -> bytes:
    """Bytes as they were made, or with a few of them changed, cut off, doubled or moved."""
    data = draw(made)
    if not data or draw(st.integers(0, 5)):
        return data
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 6))):
        at = draw(st.integers(0, max(0, len(changed) - 1)))
        match draw(st.sampled_from(["change", "cut", "double", "insert"])):
            case "change":
                changed[at : at + 1] = draw(st.binary(min_size=1, max_size=1))
            case "cut":
                del changed[at : at + draw(st.integers(1, 400))]
            case "double":
                changed[at:at] = changed[at : at + 3000]
            case _:
                changed[at:at] = draw(st.binary(max_size=20))
    return bytes(changed)


# ---------------------------------------------------------------------------------- markup and text

HTML_TAGS = (
    *("html", "head", "body", "title", "h1", "h6", "p", "div", "span", "table", "tr", "td", "th", "ul", "ol", "li"),
    *("pre", "code", "a", "img", "script", "style", "svg", "math", "template", "select", "option", "b", "i", "dl"),
    *("nav", "article", "iframe", "details", "caption", "tbody", "font", "form", "noscript", "plaintext", "dt"),
)
HTML_ATTRIBUTES = ("colspan", "rowspan", "href", "src", "class", "id", "style", "start", "type", "charset", "hidden")


def html() -> SearchStrategy[bytes]:
    """HTML of any tags in any order."""
    bodies = st.lists(markup(HTML_TAGS, HTML_ATTRIBUTES), max_size=6).map("".join)
    return st.builds(lambda head, body: (head + body).encode("utf-8", "replace"), PROLOGUES, bodies)


MARKDOWN_UNITS = (
    *("# ", "## ", "> ", "- ", "1. ", "* ", "    ", "```\n", "~~~", "|", "|---", "[", "](", "](x)", "![", "**", "_"),
    *("`", "<div>", "<!--", "---\n", "title: x\n", "[^1]", "[^1]: ", "\n", "\n\n", "\\", "&#0;", "&#x110000;", "$$"),
)


def markdown() -> SearchStrategy[bytes]:
    """Markdown of its signs, each many times over."""
    units = repeated(st.sampled_from(MARKDOWN_UNITS), 60_000) | WORDS
    return st.lists(units, max_size=14).map(lambda parts: "".join(parts).encode("utf-8", "replace"))


RST_UNITS = ("====\n", "----\n", ".. include:: /etc/hostname\n", ".. table::\n", "::\n\n", "+---+\n", "|x|\n", "* ",
             "`", "``", ".. |a| replace:: |a|\n", "\n", "    ", ".. math::\n", "=== ===\n", "[1]_ ", ":a: b\n")  # fmt: skip


def rst() -> SearchStrategy[bytes]:
    """reStructuredText of its signs, each many times over."""
    units = repeated(st.sampled_from(RST_UNITS), 20_000) | WORDS
    return st.lists(units, max_size=12).map(lambda parts: "".join(parts).encode("utf-8", "replace"))


def csv() -> SearchStrategy[bytes]:
    """Rows of any width, with quotes that do not end, in several encodings."""
    cells = WORDS | NUMBERS.map(str) | st.sampled_from(['"', '""', '"a', "'", ";", "\t", "\x00"])
    row = st.lists(cells, max_size=9).map(",".join) | repeated(st.just("a,"), 200_000)
    rows = st.lists(row, max_size=12).map("\n".join) | repeated(row.map(lambda text: text[:60] + "\n"))
    encodings = st.sampled_from(["utf-8", "utf-16", "utf-32", "latin-1", "cp1252"])
    return st.builds(lambda text, encoding: text.encode(encoding, "replace"), rows, encodings)


JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=30,
)


def json_text() -> SearchStrategy[bytes]:
    """JSON values, very deep ones, numbers of many digits, and keys that come twice."""
    deep = st.builds(lambda sign, times: (sign * times).encode(), st.sampled_from(["[", '{"a":', "[[],"]), REPEATS)
    digits = REPEATS.map(lambda times: b"[" + b"9" * times + b"]")
    twice = WORDS.map(lambda key: f'{{{json.dumps(key)}: 1, {json.dumps(key)}: [2]}}'.encode("utf-8", "replace"))
    many = st.builds(lambda value, times: json.dumps([value] * min(times, 3000)).encode(), JSON, REPEATS)
    return JSON.map(lambda value: json.dumps(value).encode()) | deep | digits | twice | many


def jsonl() -> SearchStrategy[bytes]:
    """Lines of JSON, some of which are none."""
    return st.lists(json_text().map(lambda data: data[:20_000]) | st.binary(max_size=20), max_size=8).map(b"\n".join)


def notebook() -> SearchStrategy[bytes]:
    """Notebooks whose cells have any type and any content."""
    cell = st.fixed_dictionaries(
        {"cell_type": st.sampled_from(["markdown", "code", "raw", 3, None])},
        optional={"source": TEXT | st.lists(WORDS) | JSON, "outputs": JSON, "metadata": JSON},
    )
    whole = st.fixed_dictionaries({"cells": st.lists(cell | JSON, max_size=6) | JSON}, optional={"nbformat": JSON})
    return whole.map(lambda value: json.dumps(value).encode())


RTF_WORDS = ("\\par", "\\pard", "\\b", "\\b0", "\\u8364?", "\\u-10179?", "\\'ff", "\\bin5 ", "\\bin99999999 ", "\\row",
             "\\cell", "\\trowd", "\\pict", "\\object", "\\fonttbl", "\\info", "\\*\\x", "\\ansicpg99999", "\\uc9999",
             "\\fs-1", "\\tab", "\\field", "{", "}", "{{", "}}", "\\", "\\ansicpg936")  # fmt: skip


def rtf() -> SearchStrategy[bytes]:
    """RTF of control words and groups that do not close."""
    units = repeated(st.sampled_from(RTF_WORDS), 60_000) | WORDS
    return st.lists(units, max_size=16).map(lambda parts: ("{\\rtf1" + "".join(parts) + "}").encode("latin-1", "replace"))


# ---------------------------------------------------------------------------------- mail

HEADERS = (
    *("From", "To", "Subject", "Date", "Content-Type", "Content-Transfer-Encoding", "MIME-Version", "Message-ID"),
    *("Content-Disposition", "References", "Reply-To", "X-Odd"),
)
HEADER_VALUES = st.sampled_from(
    [
        *("multipart/mixed; boundary=b", "multipart/alternative; boundary=b", "text/html; charset=utf-7", "message/rfc822"),
        *("text/plain; charset=nonsense", "application/pdf; name*=utf-8''%ff%fe", "base64", "quoted-printable", "x-uuencode"),
        *("=?utf-8?b?////?=", "=?x?q?" + "=41" * 500 + "?=", "attachment; filename=../../a.pdf", "Mon, 99 Foo 99999 99:99:99"),
        *("multipart/mixed", 'multipart/mixed; boundary=""', "a@b, " * 3000, "(" * 3000),
    ]
)


@st.composite
def mail(draw: DrawFn, depth: int = 3) -> bytes:
    """A mail of any headers, whose parts are mails, boundaries and texts."""
    values = HEADER_VALUES | WORDS.map(lambda word: word.replace("\n", " ").replace("\r", " "))
    headers = draw(st.lists(st.tuples(st.sampled_from(HEADERS), values), max_size=8))
    head = "".join(f"{name}: {value}\n" for name, value in headers).encode("utf-8", "replace")
    parts = [draw(TEXT)[:20_000].encode("utf-8", "replace")]
    if depth:
        parts += draw(st.lists(mail(depth - 1) | html().map(lambda data: data[:20_000]), max_size=3))
    parts *= draw(st.sampled_from([1, 1, 1, 40]))
    body = b"".join(b"--b\n" + part + b"\n" for part in parts)[:400_000]
    return b"From: a@b.c\nSubject: x\nDate: x\n" + head + b"\n" + body + draw(st.sampled_from([b"", b"--b--\n"]))


# ---------------------------------------------------------------------------------- Office, OpenDocument, EPUB

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"
_MAIN = "application/vnd.openxmlformats-officedocument."
W_TAGS = ("w:p", "w:r", "w:t", "w:tbl", "w:tr", "w:tc", "w:tcPr", "w:gridSpan", "w:vMerge", "w:pPr", "w:pStyle", "w:hyperlink",
          "w:br", "w:drawing", "w:footnoteReference", "w:ins", "w:del", "w:numPr", "w:ilvl", "w:sdt", "w:sdtContent")  # fmt: skip
X_TAGS = ("row", "c", "v", "is", "t", "f", "mergeCell", "mergeCells", "sheetData", "dimension", "cols", "col")
P_TAGS = ("p:sp", "p:txBody", "a:p", "a:r", "a:t", "p:graphicFrame", "a:tbl", "a:tr", "a:tc", "p:grpSp", "p:pic", "p:nvSpPr")
T_TAGS = ("text:p", "text:h", "text:span", "text:s", "text:list", "text:list-item", "table:table", "table:table-row",
          "table:table-cell", "text:note", "text:tracked-changes", "draw:frame", "draw:page", "office:annotation")  # fmt: skip
W_RIGHT = f"<w:p><w:r><w:t>{SENTENCE}</w:t></w:r></w:p>"
W_ATTRIBUTES = ("w:val", "r:id", "w:id")
X_RIGHT = f'<row r="1"><c r="A1" t="inlineStr"><is><t>{SENTENCE}</t></is></c></row>'
X_ATTRIBUTES = ("r", "t", "s", "ref", "spans", "hidden", "min", "max")
P_RIGHT = f"<p:sp><p:txBody><a:p><a:r><a:t>{SENTENCE}</a:t></a:r></a:p></p:txBody></p:sp>"
P_ATTRIBUTES = ("r:id", "gridSpan", "rowSpan", "hMerge", "id", "name")
T_RIGHT = f"<text:p>{SENTENCE}</text:p>"
T_ATTRIBUTES = ("table:number-columns-repeated", "table:number-rows-repeated", "text:c", "text:outline-level",
                "table:number-columns-spanned", "text:style-name", "office:value", "xml:id")  # fmt: skip


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
        text = f'{head}<w:document xmlns:w="{space}" xmlns:r="{RELATIONS}"><w:body>{body}</w:body></w:document>'
        return _office("word/document.xml", "word", "wordprocessingml.document", {"word/document.xml": text})

    return _zipped(W_TAGS, W_ATTRIBUTES, W_RIGHT, parts)


def xlsx() -> SearchStrategy[bytes]:
    """Excel workbooks."""
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

    def parts(head: str, body: str) -> dict[str, str | bytes]:
        sheets = '<sheets><sheet name="a" sheetId="1" r:id="r1"/><sheet name="b" sheetId="1" r:id="r1"/></sheets>'
        relation = f'<Relationship Id="r1" Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/>'
        return _office(
            "xl/workbook.xml",
            "xl",
            "spreadsheetml.sheet",
            {
                "xl/workbook.xml": f'<workbook xmlns="{space}" xmlns:r="{RELATIONS}">{sheets}</workbook>',
                "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{relation}</Relationships>',
                "xl/worksheets/sheet1.xml": f'{head}<worksheet xmlns="{space}"><sheetData>{body}</sheetData></worksheet>',
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
                "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="{_PACKAGE}">{relation}</Relationships>',
                "ppt/slides/slide1.xml": f"{head}<p:sld {spaces}><p:cSld><p:spTree>{body}</p:spTree></p:cSld></p:sld>",
            },
        )

    return _zipped(P_TAGS, P_ATTRIBUTES, P_RIGHT, parts)


def opendocument(kind: str) -> SearchStrategy[bytes]:
    """OpenDocument files; ``kind`` is text, spreadsheet or presentation."""
    names = ("office", "text", "table", "drawing", "style")
    spaces = " ".join(
        f'xmlns:{"draw" if name == "drawing" else name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in names
    )

    def parts(head: str, body: str) -> dict[str, str | bytes]:
        text = f"<office:{kind}>{body}</office:{kind}>"
        return {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": f"{head}<office:document-content {spaces}><office:body>{text}</office:body></office:document-content>",
            "META-INF/manifest.xml": "<manifest/>",
        }

    return _zipped(T_TAGS, T_ATTRIBUTES, T_RIGHT, parts)


def epub() -> SearchStrategy[bytes]:
    """Books whose chapters refer to each other, to themselves, and to what is not there."""
    rootfile = '<rootfile full-path="c.opf" media-type="application/oebps-package+xml"/>'
    container_xml = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>' + rootfile + "</rootfiles></container>"
    )
    items = ['<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>', '<item id="b" href="../b%00"/>',
             '<item id="a" href="c.opf" media-type="application/xhtml+xml"/>', '<item id="n" href="n.xhtml" properties="nav"/>']  # fmt: skip

    def parts(head: str, body: str) -> dict[str, str | bytes]:
        chosen = items[: 1 + len(body) % len(items)]
        spine = '<itemref idref="a"/><itemref idref="b"/>' * (1 + len(body) % 50)
        package = f'<package xmlns="http://www.idpf.org/2007/opf"><metadata/><manifest>{"".join(chosen)}</manifest>'
        return {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": container_xml,
            "c.opf": f"{package}<spine>{spine}</spine></package>",
            "a.xhtml": f"{head}<html><body>{body}</body></html>",
            "n.xhtml": f"<html><body><nav>{body[:2000]}</nav></body></html>",
        }

    return _zipped(HTML_TAGS, HTML_ATTRIBUTES, f"<p>{SENTENCE}</p>", parts)


def _zipped(
    tags: Sequence[str], attributes: Sequence[str], right: str, parts: Callable[[str, str], dict[str, str | bytes]]
) -> SearchStrategy[bytes]:
    """A container whose main part is made of these tags."""
    starts = st.sampled_from(["", right, right, right])
    bodies = st.builds(lambda start, body: start + "".join(body), starts, st.lists(markup(tags, attributes), max_size=5))
    heads = st.just("") | PROLOGUES
    return st.builds(parts, heads, bodies).flatmap(container)


def archive() -> SearchStrategy[bytes]:
    """ZIP archives of documents, of which some are archives again."""
    small: SearchStrategy[bytes] = html() | markdown() | csv() | mail()
    names = st.sampled_from(["a.html", "b.md", "c.csv", "d.eml", "../e.txt", "f/g/h.txt", "i.zip", "j.exe", "k"])
    inner = st.dictionaries(names, small.map(lambda data: data[:60_000]), min_size=1, max_size=5)
    once = inner.flatmap(container)
    return once | once.map(lambda data: {"again.zip": data, "x.txt": b"text"}).flatmap(container)


# ---------------------------------------------------------------------------------- PDF

PDF_KEYS = ("Type", "Kids", "Count", "Parent", "Contents", "Resources", "MediaBox", "Font", "XObject", "Subtype", "Length",
            "Filter", "W", "Widths", "FirstChar", "ToUnicode", "Encoding", "Rotate", "Title", "Outlines", "First", "Next")  # fmt: skip
PDF_NAMES = ("Page", "Pages", "Catalog", "Font", "Type0", "Type1", "TrueType", "XObject", "Form", "Image", "FlateDecode",
             "ASCIIHexDecode", "LZWDecode", "RunLengthDecode", "DCTDecode", "Identity-H", "Outlines", "ObjStm", "XRef")  # fmt: skip
OPERATORS = ("BT", "ET", "Tj", "TJ", "Td", "Tm", "Tf", "'", '"', "q", "Q", "cm", "Do", "re", "f", "m", "l", "S", "BI", "ID", "EI",
             "BDC", "EMC", "Tr", "Tz", "TL", "T*", "gs", "sh")  # fmt: skip
PDF_VALUES: SearchStrategy[str] = st.recursive(
    NUMBERS.map(str)
    | st.sampled_from(PDF_NAMES).map("/{}".format)
    | st.integers(0, 9).map("{} 0 R".format)
    | st.sampled_from(["(text)", "<feff0041>", "null", "true", "(" * 50, "<" * 50]),
    lambda inner: st.lists(inner, max_size=5).map(lambda items: "[" + " ".join(items) + "]")
    | st.dictionaries(st.sampled_from(PDF_KEYS), inner, max_size=4).map(lambda items: _dictionary(items)),
    max_leaves=12,
)


def _dictionary(items: Mapping[str, str]) -> str:
    return "<<" + "".join(f"/{key} {value}" for key, value in items.items()) + ">>"


@st.composite
def content(draw: DrawFn) -> bytes:
    """A content stream of operators and operands in any order, perhaps compressed several times over."""
    operands = NUMBERS.map(str) | st.sampled_from(["(The grey heron waits.) Tj", "/F 12 Tf", "/F Do", "[(a)-9999(b)]", "[[]]"])
    line = st.builds(lambda given, sign: " ".join([*given, sign]), st.lists(operands, max_size=6), st.sampled_from(OPERATORS))
    lines = draw(st.lists(line, max_size=20))
    text = "BT /F 12 Tf 72 700 Td (The grey heron stands still.) Tj ET\n" + "\n".join(lines)
    return (text * min(draw(REPEATS), 2_000_000 // len(text)))[: 4 << 20].encode("latin-1", "replace")


def _stream(data: bytes, entries: str, filters: Sequence[str]) -> bytes:
    for _ in filters:
        data = zlib.compress(data, 9)
    said = f"/Filter[{' '.join(filters)}]" if filters else ""
    return f"<<{entries}{said}/Length {len(data)}>>stream\n".encode() + data + b"\nendstream"


@st.composite
def pdf(draw: DrawFn) -> bytes:
    """A PDF of a few objects, some of which are right, with references in circles and a table that may lie."""
    filters = ["/FlateDecode"] * draw(st.sampled_from([0, 0, 1, 2, 5]))
    data = draw(content())
    if len(filters) > 1 and draw(st.integers(0, 2)) == 0:
        data += b" " * draw(st.sampled_from([1 << 20, 64 << 20, 160 << 20]))
    form = "/Type/XObject/Subtype/Form/BBox[0 0 99 99]/Resources<</XObject<</F {} 0 R>>>>"
    twice = draw(st.sampled_from([b"q Q", b"q Q", b"/F Do"]))
    font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    resources = f"/Resources<</Font<</F {draw(st.sampled_from([6, 6, 6, 3, 99]))} 0 R>>/XObject<</F 5 0 R>>>>"
    kids = draw(st.sampled_from(["3 0 R", "3 0 R", "3 0 R 3 0 R", "2 0 R", "3 0 R " * 400, "99 0 R"]))
    box = draw(st.sampled_from(["0 0 612 792", "0 0 0 0", "0 0 1e9 1e9", "-1 -1 99999999999 5", "612 792 0 0"]))
    objects: list[bytes] = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {draw(NUMBERS)}>>".encode(),
        f"<</Type/Page/Parent 2 0 R/MediaBox[{box}]/Contents 4 0 R{resources}>>".encode(),
        _stream(data, "", filters),
        _stream(twice, form.format(draw(st.sampled_from([5, 4, 6]))), []),
        font.encode(),
    ]
    for extra in draw(st.lists(st.dictionaries(st.sampled_from(PDF_KEYS), PDF_VALUES, max_size=5), max_size=4)):
        objects.append(_dictionary(extra).encode("latin-1", "replace"))
    if draw(st.integers(0, 3)) == 0:
        place = draw(st.integers(0, len(objects) - 1))
        objects[place] = draw(PDF_VALUES).encode("latin-1", "replace")
    return _whole_pdf(objects, draw(st.sampled_from([0, 0, 0, 7, -40])))


def _whole_pdf(objects: Sequence[bytes], lie: int) -> bytes:
    """The file of these objects; ``lie`` is added to every place in its table."""
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % max(0, place + lie) for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    tail = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(places) + 1, len(out))
    return out + head + table + tail


# ---------------------------------------------------------------------------------- all of them

FORMATS: Mapping[str, Callable[[], SearchStrategy[bytes]]] = {
    "pdf": pdf,
    "html": html,
    "docx": docx,
    "xlsx": xlsx,
    "pptx": pptx,
    "odt": lambda: opendocument("text"),
    "ods": lambda: opendocument("spreadsheet"),
    "odp": lambda: opendocument("presentation"),
    "eml": mail,
    "epub": epub,
    "csv": csv,
    "json": json_text,
    "jsonl": jsonl,
    "ipynb": notebook,
    "md": markdown,
    "rst": rst,
    "rtf": rtf,
    "zip": archive,
}


@st.composite
def document(draw: DrawFn, kind: str) -> HostileDocument:
    """A document of a format, under a name of that or of another format."""
    data = draw(spoilt(FORMATS[kind]()))
    suffix = kind if draw(st.integers(0, 11)) else draw(st.sampled_from([*sorted(FORMATS), "txt", "xhtml", "tsv", ""]))
    return HostileDocument(f"made.{suffix}" if suffix else "made", data)
