"""Tables and records of plain text that say their columns by colons."""

from __future__ import annotations

import pytest

from localcrag.documents.formats import Markup
from localcrag.documents.plain_records import plain_tables
from localcrag.documents.structure import structured
from localcrag.types import BlockKind, Page


def rows(text: str) -> list[str]:
    return [row.text for table in plain_tables(text.split("\n")) for row in table.rows]


def test_a_comment_names_the_columns_of_lines_with_colons() -> None:
    text = "# Code:Airport:State:City\nAAL:Aalborg:DK:Aalborg\nABE:Lehigh Valley:US:Allentown, PA\n"
    assert rows(text) == [
        "Code: AAL · Airport: Aalborg · State: DK · City: Aalborg",
        "Code: ABE · Airport: Lehigh Valley · State: US · City: Allentown, PA",
    ]


def test_the_names_hold_over_comments_and_blank_lines_and_no_further() -> None:
    text = "# Code : Country\n\n# Africa\n\n20:Egypt\n212:Morocco\n\n# Europe\n30:Greece\n31:Netherlands\n"
    assert rows(text)[::3] == ["Code: 20 · Country: Egypt", "Code: 31 · Country: Netherlands"]
    assert rows("# Code : Country\nThese are old.\n20:Egypt\n212:Morocco\n") == []


def test_a_value_below_a_name_may_be_a_time() -> None:
    text = "# Place:Opens\nlibrary:from 10:00\nmuseum:from 11:30\n"
    assert rows(text) == ["Place: library · Opens: from 10:00", "Place: museum · Opens: from 11:30"]


def test_wide_space_may_stand_behind_the_colon_if_it_does_in_the_header() -> None:
    text = "#\n# Abbrev:\tExpansion\n#\nbtw:\t\tby the way\nfyi:\t\tfor your information: read it\n"
    assert rows(text) == [
        "Abbrev: btw · Expansion: by the way",
        "Abbrev: fyi · Expansion: for your information: read it",
    ]


def test_lines_without_names_stand_one_by_one() -> None:
    users = "root:x:0:0:root:/root:/bin/bash\n" * 2 + "bin:x:2:2::/bin:/sbin/nologin\n" * 2
    assert rows(users)[1:3] == [
        "root · x · 0 · 0 · root · /root · /bin/bash",
        "bin · x · 2 · 2 · /bin · /sbin/nologin",
    ]
    pairs = "AL:Alabama\nAK:Alaska\nAZ:Arizona\nAR:Arkansas\nCA:California\nCO:Colorado\n"
    assert rows(pairs)[0] == "AL: Alabama"


@pytest.mark.parametrize(
    "text",
    [
        "# Source: a friend\nName: Ann\nPhone: 555\nMail: ann@example.org\nTown: Rye\nZip: 77\n",
        "12:30 lunch\n13:15 talk\n14:00 walk\n15:45 tea\n17:30 end\n18:00 beer\n",
        "2026-02-11 06:09:03 gate open\n2026-02-11 06:09:04 gate shut\n2026-02-11 06:10:59 gate open\n"
        "2026-02-11 06:31:00 gate shut\n",
        '127.0.0.1 - - [10/Oct/2025:13:55:36 +0100] "GET /"\n' * 4,
        "see http://a.example\nsee http://b.example\nsee http://c.example\nsee http://d.example\n"
        "see http://e.example\nsee http://f.example\n",
        "std::map\nstd::set\nstd::list\nstd::pair\n",
        "one:two\nthree:four\n",
        "He said:\nshe said:\nthey said:\nwe said:\nyou said:\nI said:\n",
    ],
    ids=[
        "labels",
        "times",
        "a log",
        "a log of a server",
        "addresses",
        "an empty column",
        "two lines",
        "nothing behind",
    ],
)
def test_other_lines_with_colons_stay_as_they_are(text: str) -> None:
    assert rows(text) == []


RECORDS = """ID         : 1
Name       : Aberdeen
 Country   : UK
 Elevation :
//
ID         : 2
Name       : Cairo
 Country   : Egypt
 Latitude  :  30.05
//
ID         : 3
Name       : Rye
 Country   : UK
//
"""


def test_records_that_begin_alike_are_a_row_each() -> None:
    assert rows(RECORDS) == [
        "ID: 1 · Name: Aberdeen · Country: UK",
        "ID: 2 · Name: Cairo · Country: Egypt · Latitude: 30.05",
        "ID: 3 · Name: Rye · Country: UK",
    ]
    assert rows(RECORDS.replace("//", "")) == rows(RECORDS), "blank lines part them as well"


def test_a_line_that_is_indented_goes_on_with_a_value() -> None:
    one = "Package: {}\nVersion: 1\nDescription: short\n and the rest\n\n"
    found = rows("".join(one.format(name) for name in "abc"))
    assert found[2] == "Package: c · Version: 1 · Description: short and the rest"


@pytest.mark.parametrize(
    "text",
    [
        "\n\n".join(["Name: Ann\nPhone: 5\nTown: Rye"] * 2),
        "\n\n".join(["Ann: Hello.\nBob: Hello.\nAnn: How are you?"] * 4),
        "\n\n".join([f"Ann: {'So it went on. ' * 9}\nBob: Yes.\nCarl: {'No. ' * 50}"] * 4),
        "\n\n".join([f"{name}: 1\nPhone: 5\nTown: Rye" for name in ("Ann", "Bob", "Carl")]),
        "\n\n".join([f"Name: {name}\nPhone: 5\nand so on" for name in ("Ann", "Bob", "Carl")]),
        "\n\n".join([f"Name: {name}\nText: {'word ' * 10}\nNote: {'more ' * 290}" for name in "abc"]),
    ],
    ids=["two", "a talk", "long speeches", "other labels first", "a line without a label", "too long"],
)
def test_other_paragraphs_stay_as_they_are(text: str) -> None:
    assert rows(text) == []


def test_the_rows_are_blocks_and_what_stands_around_them_is_kept() -> None:
    page = structured(Page(None, f"Some places.\n\n{RECORDS}\nThe end."), Markup.PROSE)
    shown = [(block.kind, page.text[block.start : block.end]) for block in page.blocks]
    assert shown[0] == (BlockKind.PARAGRAPH, "Some places.")
    assert shown[2] == (BlockKind.ROW, "ID: 2 · Name: Cairo · Country: Egypt · Latitude: 30.05")
    assert shown[-1] == (BlockKind.PARAGRAPH, "The end.")


def test_the_time_grows_with_the_text_alone() -> None:
    many = "\n".join(f"x{n}:{n}" for n in range(20_000)) + "\n" + "a: b\n" * 20_000 + "a:b\n" * 20_000
    assert len(rows(many)) == 20_000
