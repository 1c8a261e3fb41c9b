"""Strategies for hostile PDF files."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from torturing.generated_parts import NUMBERS, REPEATS

BLOCK_BYTES = 1 << 24
PDF_KEYS = (
    *("Type", "Kids", "Count", "Parent", "Contents", "Resources", "MediaBox", "Font", "XObject"),
    *("Subtype", "Length", "Filter", "W", "Widths", "FirstChar", "ToUnicode", "Encoding", "Rotate"),
    *("Title", "Outlines", "First", "Next"),
)
PDF_NAMES = (
    *("Page", "Pages", "Catalog", "Font", "Type0", "Type1", "TrueType", "XObject", "Form", "Image"),
    *("FlateDecode", "ASCIIHexDecode", "LZWDecode", "RunLengthDecode", "DCTDecode", "Identity-H"),
    *("Outlines", "ObjStm", "XRef"),
)
OPERATORS = (
    *("BT", "ET", "Tj", "TJ", "Td", "Tm", "Tf", "'", '"', "q", "Q", "cm", "Do", "re", "f", "m"),
    *("l", "S", "BI", "ID", "EI", "BDC", "EMC", "Tr", "Tz", "TL", "T*", "gs", "sh"),
)
PDF_VALUES: SearchStrategy[str] = st.recursive(
    NUMBERS.map(str)
    | st.sampled_from(PDF_NAMES).map("/{}".format)
    | st.integers(0, 9).map("{} 0 R".format)
    | st.sampled_from(["(text)", "<feff0041>", "null", "true", "(" * 50, "<" * 50]),
    lambda inner: (
        st.lists(inner, max_size=5).map(lambda items: "[" + " ".join(items) + "]")
        | st.dictionaries(st.sampled_from(PDF_KEYS), inner, max_size=4).map(lambda items: _dictionary(items))
    ),
    max_leaves=12,
)


def _dictionary(items: Mapping[str, str]) -> str:
    return "<<" + "".join(f"/{key} {value}" for key, value in items.items()) + ">>"


@st.composite
def content(draw: DrawFn) -> bytes:
    """A content stream of operators and operands in any order, perhaps compressed several times over."""
    operands = NUMBERS.map(str) | st.sampled_from(
        ["(The grey heron waits.) Tj", "/F 12 Tf", "/F Do", "[(a)-9999(b)]", "[[]]"]
    )
    line = st.builds(
        lambda given, sign: " ".join([*given, sign]),
        st.lists(operands, max_size=6),
        st.sampled_from(OPERATORS),
    )
    lines = draw(st.lists(line, max_size=20))
    text = "BT /F 12 Tf 72 700 Td (The grey heron stands still.) Tj ET\n" + "\n".join(lines)
    return (text * min(draw(REPEATS), 2_000_000 // len(text)))[: 4 << 20].encode("latin-1", "replace")


@cache
def _deflated_blanks(size: int) -> bytes:
    """So many blanks, deflated; made of one block that stands there again and again."""
    packer = zlib.compressobj(9)
    first, again = (packer.compress(b" " * BLOCK_BYTES) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * (size // BLOCK_BYTES - 1) + packer.flush()


def _stream(data: bytes, entries: str, filters: Sequence[str], deflated: int = 0) -> bytes:
    """A stream whose data are compressed by these filters, of which ``deflated`` were applied before."""
    for _ in filters[deflated:]:
        data = zlib.compress(data, 9)
    said = f"/Filter[{' '.join(filters)}]" if filters else ""
    return f"<<{entries}{said}/Length {len(data)}>>stream\n".encode() + data + b"\nendstream"


@st.composite
def pdf(draw: DrawFn) -> bytes:
    """A PDF of a few objects, some of them right, with references in circles and a table that may lie."""
    filters = ["/FlateDecode"] * draw(st.sampled_from([0, 0, 1, 2, 5]))
    data = draw(content())
    bomb = len(filters) > 1 and draw(st.integers(0, 2)) == 0
    if bomb:
        data = _deflated_blanks(draw(st.sampled_from([64 << 20, 512 << 20, 3 << 30])))
    form = "/Type/XObject/Subtype/Form/BBox[0 0 99 99]/Resources<</XObject<</F {} 0 R>>>>"
    twice = draw(st.sampled_from([b"q Q", b"q Q", b"/F Do"]))
    font = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    resources = f"/Resources<</Font<</F {draw(st.sampled_from([6, 6, 6, 3, 99]))} 0 R>>/XObject<</F 5 0 R>>>>"
    kids = draw(st.sampled_from(["3 0 R", "3 0 R", "3 0 R 3 0 R", "2 0 R", "3 0 R " * 400, "99 0 R"]))
    box = draw(
        st.sampled_from(["0 0 612 792", "0 0 0 0", "0 0 1e9 1e9", "-1 -1 99999999999 5", "612 792 0 0"])
    )
    objects: list[bytes] = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {draw(NUMBERS)}>>".encode(),
        f"<</Type/Page/Parent 2 0 R/MediaBox[{box}]/Contents 4 0 R{resources}>>".encode(),
        _stream(data, "", filters, deflated=int(bomb)),
        _stream(twice, form.format(draw(st.sampled_from([5, 4, 6]))), []),
        font.encode(),
    ]
    for extra in draw(
        st.lists(st.dictionaries(st.sampled_from(PDF_KEYS), PDF_VALUES, max_size=5), max_size=4)
    ):
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
