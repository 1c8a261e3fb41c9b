"""Strategies for hostile documents that are text: HTML, Markdown, tables, JSON, RTF, mails."""

from __future__ import annotations

import json

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from torturing.generated_parts import NUMBERS, PROLOGUES, REPEATS, TEXT, WORDS, markup, repeated

HTML_TAGS = (
    *(
        "html",
        "head",
        "body",
        "title",
        "h1",
        "h6",
        "p",
        "div",
        "span",
        "table",
        "tr",
        "td",
        "th",
        "ul",
        "ol",
        "li",
    ),
    *(
        "pre",
        "code",
        "a",
        "img",
        "script",
        "style",
        "svg",
        "math",
        "template",
        "select",
        "option",
        "b",
        "i",
        "dl",
    ),
    *(
        "nav",
        "article",
        "iframe",
        "details",
        "caption",
        "tbody",
        "font",
        "form",
        "noscript",
        "plaintext",
        "dt",
    ),
)
HTML_ATTRIBUTES = (
    "colspan",
    "rowspan",
    "href",
    "src",
    "class",
    "id",
    "style",
    "start",
    "type",
    "charset",
    "hidden",
)


def html() -> SearchStrategy[bytes]:
    """HTML of any tags in any order."""
    bodies = st.lists(markup(HTML_TAGS, HTML_ATTRIBUTES), max_size=6).map("".join)
    return st.builds(lambda head, body: (head + body).encode("utf-8", "replace"), PROLOGUES, bodies)


MARKDOWN_UNITS = (
    *(
        "# ",
        "## ",
        "> ",
        "- ",
        "1. ",
        "* ",
        "    ",
        "```\n",
        "~~~",
        "|",
        "|---",
        "[",
        "](",
        "](x)",
        "![",
        "**",
        "_",
    ),
    *(
        "`",
        "<div>",
        "<!--",
        "---\n",
        "title: x\n",
        "[^1]",
        "[^1]: ",
        "\n",
        "\n\n",
        "\\",
        "&#0;",
        "&#x110000;",
        "$$",
    ),
)


def markdown() -> SearchStrategy[bytes]:
    """Markdown of its signs, each many times over."""
    units = repeated(st.sampled_from(MARKDOWN_UNITS), 60_000) | WORDS
    return st.lists(units, max_size=14).map(lambda parts: "".join(parts).encode("utf-8", "replace"))


RST_UNITS = (
    *("====\n", "----\n", ".. include:: /etc/hostname\n", ".. table::\n", "::\n\n", "+---+\n"),
    *("|x|\n", "* ", "`", "``", ".. |a| replace:: |a|\n", "\n", "    ", ".. math::\n", "=== ===\n"),
    *("[1]_ ", ":a: b\n"),
)


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
    deep = st.builds(
        lambda sign, times: (sign * times).encode(), st.sampled_from(["[", '{"a":', "[[],"]), REPEATS
    )
    digits = REPEATS.map(lambda times: b"[" + b"9" * times + b"]")
    twice = WORDS.map(
        lambda key: f"{{{json.dumps(key)}: 1, {json.dumps(key)}: [2]}}".encode("utf-8", "replace")
    )
    many = st.builds(lambda value, times: json.dumps([value] * min(times, 3000)).encode(), JSON, REPEATS)
    return JSON.map(lambda value: json.dumps(value).encode()) | deep | digits | twice | many


def jsonl() -> SearchStrategy[bytes]:
    """Lines of JSON, some of which are none."""
    return st.lists(json_text().map(lambda data: data[:20_000]) | st.binary(max_size=20), max_size=8).map(
        b"\n".join
    )


def notebook() -> SearchStrategy[bytes]:
    """Notebooks whose cells have any type and any content."""
    cell = st.fixed_dictionaries(
        {"cell_type": st.sampled_from(["markdown", "code", "raw", 3, None])},
        optional={"source": TEXT | st.lists(WORDS) | JSON, "outputs": JSON, "metadata": JSON},
    )
    whole = st.fixed_dictionaries(
        {"cells": st.lists(cell | JSON, max_size=6) | JSON}, optional={"nbformat": JSON}
    )
    return whole.map(lambda value: json.dumps(value).encode())


RTF_WORDS = (
    *("\\par", "\\pard", "\\b", "\\b0", "\\u8364?", "\\u-10179?", "\\'ff", "\\bin5 "),
    *("\\bin99999999 ", "\\row", "\\cell", "\\trowd", "\\pict", "\\object", "\\fonttbl", "\\info"),
    *("\\*\\x", "\\ansicpg99999", "\\uc9999", "\\fs-1", "\\tab", "\\field", "{", "}", "{{", "}}"),
    *("\\", "\\ansicpg936"),
)


def rtf() -> SearchStrategy[bytes]:
    """RTF of control words and groups that do not close."""
    units = repeated(st.sampled_from(RTF_WORDS), 60_000) | WORDS
    return st.lists(units, max_size=16).map(
        lambda parts: ("{\\rtf1" + "".join(parts) + "}").encode("latin-1", "replace")
    )


HEADERS = (
    *(
        "From",
        "To",
        "Subject",
        "Date",
        "Content-Type",
        "Content-Transfer-Encoding",
        "MIME-Version",
        "Message-ID",
    ),
    *("Content-Disposition", "References", "Reply-To", "X-Odd"),
)
HEADER_VALUES = st.sampled_from(
    [
        *(
            "multipart/mixed; boundary=b",
            "multipart/alternative; boundary=b",
            "text/html; charset=utf-7",
            "message/rfc822",
        ),
        *(
            "text/plain; charset=nonsense",
            "application/pdf; name*=utf-8''%ff%fe",
            "base64",
            "quoted-printable",
            "x-uuencode",
        ),
        *(
            "=?utf-8?b?////?=",
            "=?x?q?" + "=41" * 500 + "?=",
            "attachment; filename=../../a.pdf",
            "Mon, 99 Foo 99999 99:99:99",
        ),
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
    return (
        b"From: a@b.c\nSubject: x\nDate: x\n" + head + b"\n" + body + draw(st.sampled_from([b"", b"--b--\n"]))
    )
