"""Pages of the Zim desktop wiki as blocks: headings, lists, tables and code without Zim's marks."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.documents.extracted import Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers import parse
from localcrag.documents.zim_blocks import zim_page
from localcrag.types import BlockKind

HEAD = "Content-Type: text/x-zim-wiki\nWiki-Format: zim 0.6\nCreation-Date: 2024-06-01T10:00:00+02:00\n\n"
NOTES = """====== Boat **house** ======
@travel @boats

We //open// in __May__, ~~April~~ not
''a**b**c'', ''[[d]]'' and [[https://e.org/__f__|//that//]] at https://a.org//b__c__d and [[:Fees:Prices]].

===== Tasks
* see [[+List|the list]]
	continued
	1. sign
	a. row
[ ] open
	[*] done
[x] dropped
[>] later
H_{2}O and m^{2} snake__case 2 ** 3

'''
**code**
	stays
'''
-----
{{./quay.png?width=300}}{{{code: lang="python"
x = [[1]]
}}}

| Boat | Fee |
|:-----|----:|
| //Small\\|Flat// | 5 |
| Big\\nred | 7 |
== Last ==
"""
HEADING, PARAGRAPH, ITEM, ROW = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.ROW
CODE = BlockKind.CODE


def told(text: str) -> list[tuple[BlockKind, int, str]]:
    page = zim_page(text)[1]
    return [(block.kind, block.level, page.text[block.start : block.end]) for block in page.blocks]


def test_a_page_of_zim_is_read_without_its_marks() -> None:
    assert told(HEAD + NOTES.replace("{{{code", "\n{{{code")) == [
        (HEADING, 1, "Boat house"),
        (PARAGRAPH, 0, "@travel @boats"),
        (
            PARAGRAPH,
            0,
            "We open in May, April not\na**b**c, [[d]] and that at https://a.org//b__c__d and Fees:Prices.",
        ),
        (HEADING, 2, "Tasks"),
        (ITEM, 0, "see the list continued"),
        (ITEM, 1, "sign"),
        (ITEM, 1, "row"),
        (ITEM, 0, "☐ open"),
        (ITEM, 1, "☑ done"),
        (ITEM, 0, "☒ dropped"),
        (ITEM, 0, "☐ → later"),
        (PARAGRAPH, 0, "H2O and m2 snake__case 2 ** 3"),
        (CODE, 0, "**code**\n\tstays"),
        (CODE, 0, "x = [[1]]"),
        (ROW, 0, "Boat: Small|Flat · Fee: 5"),
        (ROW, 0, "Boat: Big red · Fee: 7"),
        (HEADING, 5, "Last"),
    ]


@pytest.mark.parametrize(
    ("written", "created"),
    [
        ("2024-06-01T10:00:00+02:00", "2024-06-01"),
        ("Sat, 08 Nov 2008 11:04:28 +0100", "2008-11-08"),
        ("Unknown", None),
    ],
)
def test_the_day_on_which_a_page_was_made_is_a_field(written: str, created: str | None) -> None:
    text = HEAD.replace("2024-06-01T10:00:00+02:00", written) + "====== Boats ======\n"
    found = parse(DocumentFormat.ZIM, text.encode(), Limits())
    assert found.meta.get("created") == created
    assert found.pages[0].text == "Boats"


def test_a_page_of_zim_is_known_by_its_first_line() -> None:
    for name in ("a.txt", "a.md", "a"):
        assert format_of(name, (HEAD + "word").encode()) is DocumentFormat.ZIM
    assert format_of("a.txt", ("\ufeff" + HEAD.replace("\n", "\r\n")).encode()) is DocumentFormat.ZIM
    assert format_of("a.txt", b"Content-Type: text/plain\n\nword") is DocumentFormat.TEXT


def test_what_never_ends_is_text() -> None:
    assert told("'''\nFirst.\n\n== Two ==\n{{{code: a\nThird.") == [
        (PARAGRAPH, 0, "'''\nFirst."),
        (HEADING, 5, "Two"),
        (PARAGRAPH, 0, "{{{code: a\nThird."),
    ]
    assert told("{{{table:\n| a | b |\n|---|---|\n| 1 | 2 |\n}}}\n") == [(ROW, 0, "a: 1 · b: 2")]


@given(st.text(alphabet="*=|:-[]{}'/_~^@<> \t\nabx_1.\0", max_size=60))
def test_any_text_is_read(text: str) -> None:
    page = zim_page(text)[1]
    assert all(page.text[block.start : block.end].strip() for block in page.blocks)
    assert "\0" not in page.text


@pytest.mark.parametrize(
    "piece",
    [
        "'''\n",
        "{{{a:\n",
        "|",
        "|a|\n",
        "[[",
        "[[a|",
        "{{",
        "''",
        "**",
        "_{",
        "\t* a\n",
        "http://a",
        "a: b\n",
        "a//",
    ],
)
def test_broken_files_take_linear_time(piece: str) -> None:
    started = time.perf_counter()
    zim_page(piece * 20_000)
    assert "word" in zim_page(f"{HEAD}word {piece * 20_000}")[1].text
    assert time.perf_counter() - started < 10
