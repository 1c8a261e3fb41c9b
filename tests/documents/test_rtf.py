"""RTF as blocks: headings, lists, tables, encodings, and what a hostile file may not do."""

from __future__ import annotations

import time

import pytest

from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page
from tests.documents.conftest import ReadFunction

HEAD = (
    r"{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\froman\fcharset0 Times;}{\f1\fswiss\fcharset204 Arial;}}"
    r"{\stylesheet{\s0 Normal;}{\s1\sbasedon0\snext0\b heading 1;}{\s5 Title;}}"
    r"{\info{\title The {\b }Leaflet}{\title Gr\'f6\'dfe}{\author nobody}}"
)


def page_of(read: ReadFunction, body: str) -> Page:
    (page,) = read("x.rtf", HEAD + body + "}").pages
    return page


def blocks(page: Page) -> list[tuple[BlockKind, int, str]]:
    return [(block.kind, block.level, page.text[block.start : block.end]) for block in page.blocks]


def test_headings_paragraphs_and_the_title(read: ReadFunction) -> None:
    body = (
        r"\pard\s5 Leaflet\par\pard\s1 Dosage\par\pard\s0 Take {\b one} a|b {\i tablet}\line with water.\par"
        r"\par\pard\outlinelevel1 Children\par\pard Half \{of\} it. C:\\cell.\par"
    )
    document = read("x.rtf", HEAD + body + "}")
    assert document.title == "Größe" and document.media_type == "application/rtf"
    assert blocks(document.pages[0]) == [
        (BlockKind.HEADING, 1, "Leaflet"),
        (BlockKind.HEADING, 1, "Dosage"),
        (BlockKind.PARAGRAPH, 0, "Take one a|b tablet with water."),
        (BlockKind.HEADING, 2, "Children"),
        (BlockKind.PARAGRAPH, 0, r"Half {of} it. C:\cell."),
    ]


def test_a_table_gives_rows_with_headers(read: ReadFunction) -> None:
    row = r"\trowd\cellx1000\cellx2000\pard\intbl "
    body = (
        rf"Before.\par{row}Category\cell Fee\cell\row{row}Boat|ship\par or raft\cell 75 EUR\cell\row"
        rf"{row}Car\cell\cell\row\pard After.\par"
    )
    page = page_of(read, body)
    assert page.text == "Before.\n\nCategory: Boat|ship or raft · Fee: 75 EUR\nCategory: Car\n\nAfter."
    assert [kind for kind, _, _ in blocks(page)] == ["paragraph", "row", "row", "paragraph"]


def test_lists_keep_their_markers_and_depths(read: ReadFunction) -> None:
    body = (
        r"\pard{\listtext\pard\plain 1.\tab}\ilvl0\ls1 first\par{\listtext\pard\plain 2.\tab}second\par"
        r"\pard{\listtext\f3\'b7\tab}\ilvl1\ls2 deep\par\pard plain\par"
    )
    assert page_of(read, body).text == "1. first\n2. second\n  - deep\n\nplain"


def test_all_ways_to_write_a_character(read: ReadFunction) -> None:
    body = r"Gr\'f6\'dfe \u8211\'96 \u937? {\f1\'cf\'f0} \uc0\u55357\u56832  end"
    assert page_of(read, body).text == "Größe – Ω Пр 😀 end"
    assert read("x.rtf", b"{\\rtf1\\ansi\\ansicpg1251 \xcf\xf0\\par}").pages[0].text == "Пр"
    assert read("x.rtf", "{\\rtf1 Größe\\par}").pages[0].text == "Größe"
    assert read("x.rtf", b"{\\rtf1{\\fonttbl{\\f0\\fcharset0 \\'c1rial;}}\\f0 Hi\\par}").pages[0].text == "Hi"


def test_only_what_a_page_shows_is_read(read: ReadFunction) -> None:
    body = (
        r"{\header running}{\field{\*\fldinst{ HYPERLINK \"http://example.org\"}}{\fldrslt the page}}"
        r"{\pict\wmetafile8 0123abcd}{\*\unknown{\par hidden}} is here\par"
    )
    assert page_of(read, body).text == "the page is here"


def test_the_signature_decides(read: ReadFunction) -> None:
    assert read("letter", rb"{\rtf1 words}").media_type == "application/rtf"
    assert read("letter.doc.bak", rb"{\rtf1 words}").pages[0].text == "words"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"{\\rtf1" + b"{" * 2_000 + b"deep" + b"}" * 2_000 + b"}", "RTF nested too deeply"),
        (rb"{\rtf1 \u9999999999 x}", "damaged RTF"),
        (rb"{\rtf1 \par }", "no text in it"),
    ],
)
def test_the_reason_is_one_clear_line(read: ReadFunction, data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read("x.rtf", data)
    assert str(caught.value) == reason


@pytest.mark.parametrize(
    "bomb",
    [
        r"{\fonttbl" + r"\f1" * 100_000 + "}",
        r"{\fonttbl\f1\fcharset1" + "x" * 300_000 + "}",
        r"{\field{\*\fldinst{" * 300 + "x" * 300_000,
        r"{\field{\*\fldinst{ HYPERLINK " * 300 + '"' * 100_000,
        r"{\stylesheet" + r"{\s1" * 20_000 + "}",
        r"{\title " * 500,
    ],
    ids=["fonts", "font name", "links", "quotes", "styles", "titles"],
)
def test_patterns_are_no_way_to_stop_the_reader(read: ReadFunction, bomb: str) -> None:
    started = time.perf_counter()
    try:
        read("x.rtf", r"{\rtf1 " + bomb + r"\par words}")
    except UnreadableError as error:
        assert str(error) in ("RTF nested too deeply", "no text in it")
    assert time.perf_counter() - started < 20
