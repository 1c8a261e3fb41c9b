"""What the generated documents are made of: words, numbers, markup, containers, changes."""

from __future__ import annotations

import io
import warnings
import zipfile
from collections.abc import Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

SENTENCE = "The grey heron stands still in shallow water and waits for fish."

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.sampled_from(
    [
        "the",
        "grey",
        "heron",
        "\u202e",
        "\x00",
        "\ufeff",
        "&amp;",
        "]]>",
        "<b>",
        "1e999",
        "=1+1",
        "\r\n",
        " " * 40,
    ]
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
    given_attributes = draw(
        st.lists(st.tuples(st.sampled_from(attributes), WORDS | NUMBERS.map(str)), max_size=3)
    )
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
    trick = draw(
        st.sampled_from(
            [
                "",
                "",
                "",
                "",
                "",
                "",
                "",
                "",
                "drop",
                "bomb",
                "many",
                "names",
                "empty",
                "sizes",
                "flags",
                "nested",
            ]
        )
    )
    name = draw(st.sampled_from(sorted(kept)))
    if trick == "drop":
        del kept[name]
    elif trick == "empty":
        kept[name] = b""
    elif trick == "bomb":
        kept[name] = str(kept[name])[:200].encode() + b" " * draw(
            st.sampled_from([1 << 20, 30 << 20, 90 << 20])
        )
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
