"""AsciiDoc as blocks: headings, lists, tables and code without the marks of AsciiDoc."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.documents.asciidoc_blocks import asciidoc_page
from localcrag.documents.extracted import Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers import parse
from localcrag.types import BlockKind

GUIDE = """= The *Boat* House: {season}
Ada Lovelace <ada@example.org>; Bob Berg
v1.2, 2024-06-01: second try
:season: Summer
:toc: left
:keywords: boats, fees
:page-state: !draft
// for me only

We open in _May_.

[[fees]]
== Fees

See <<fees>>, <<_fees,the list>> and <<boats>>.

* [x] pay
** by card
or cash
* go
+
The quay is wet.
+
----
open *gate*
----
* return

. Sign
+
--
Here.

And here.
--
. Row

Oar:: made
of ash
Bow::
Stem::

  the front

[[boats]]
Boats
-----

[NOTE]
====
Mind the step.

- slippery
====

TIP: Bring a lamp.

[quote, Kenneth Grahame, The Wind in the Willows]
____
Simply messing about.
____

[verse, Anon]
Row, row
your *boat*

////
nobody sees this
////

.Steer
[source,python]
----
steer(a*b*c)  # <1>
----
<1> To the left

    indented
      code

'''
image::quay.png[The quay at low water,300,title="Low water"]
include::more.adoc[]
"""
HEADING, PARAGRAPH, ITEM, ROW = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.ROW
CODE, CAPTION = BlockKind.CODE, BlockKind.CAPTION


def told(text: str) -> list[tuple[BlockKind, int, str]]:
    page = asciidoc_page(text)[1]
    return [(block.kind, block.level, page.text[block.start : block.end]) for block in page.blocks]


def words(text: str) -> str:
    ((kind, _, said),) = told(text)
    assert kind is PARAGRAPH
    return said


def rows(text: str) -> list[str]:
    return [said for kind, _, said in told(text) if kind is ROW]


def test_an_asciidoc_file_is_read_without_its_marks() -> None:
    assert told(GUIDE) == [
        (HEADING, 1, "The Boat House: Summer"),
        (
            ROW,
            0,
            "author: Ada Lovelace, Bob Berg · email: ada@example.org · version: 1.2 · date: 2024-06-01"
            " · remark: second try",
        ),
        (PARAGRAPH, 0, "We open in May."),
        (HEADING, 2, "Fees"),
        (PARAGRAPH, 0, "See Fees, the list and Boats."),
        (ITEM, 0, "☑ pay"),
        (ITEM, 1, "by card or cash"),
        (ITEM, 0, "go"),
        (PARAGRAPH, 0, "The quay is wet."),
        (CODE, 0, "open *gate*"),
        (ITEM, 0, "return"),
        (ITEM, 1, "Sign"),
        (PARAGRAPH, 0, "Here."),
        (PARAGRAPH, 0, "And here."),
        (ITEM, 1, "Row"),
        (ITEM, 2, "Oar: made of ash"),
        (ITEM, 2, "Bow, Stem: the front"),
        (HEADING, 2, "Boats"),
        (PARAGRAPH, 0, "NOTE: Mind the step."),
        (ITEM, 0, "slippery"),
        (PARAGRAPH, 0, "TIP: Bring a lamp."),
        (CAPTION, 0, "Kenneth Grahame, The Wind in the Willows"),
        (PARAGRAPH, 0, "Simply messing about."),
        (CAPTION, 0, "Anon"),
        (PARAGRAPH, 0, "Row, row\nyour boat"),
        (CAPTION, 0, "Steer"),
        (CODE, 0, "steer(a*b*c)  # <1>"),
        (ITEM, 0, "To the left"),
        (CODE, 0, "indented\n  code"),
        (CAPTION, 0, "Low water"),
        (PARAGRAPH, 0, "The quay at low water"),
    ]


def test_an_asciidoc_file_has_its_title_and_its_fields() -> None:
    found = parse(DocumentFormat.ASCIIDOC, GUIDE.encode(), Limits())
    assert found.title == "The Boat House: Summer"
    assert found.meta == {
        "season": "Summer",
        "tags": ("boats", "fees"),
        "page_state": "!draft",
        "author": "Ada Lovelace, Bob Berg",
        "email": "ada@example.org",
        "version": "1.2",
        "date": "2024-06-01",
        "remark": "second try",
    }


def test_numbered_items_have_their_numbers() -> None:
    page = asciidoc_page("[start=4]\n. a\n.. b\n.. c\n. d\n+\n====\nx\n\ny\n====\n. e\n\n7. f\n\nz\n\n. g")[1]
    shown = [line.strip() for line in page.text.split("\n") if line.strip()]
    assert shown == ["4. a", "a. b", "b. c", "5. d", "x", "y", "6. e", "7. f", "z", "1. g"]


@pytest.mark.parametrize(
    ("source", "seen"),
    [
        ("*a* _b_ `c` #d# **e**f __g__h ``i``j [.role]#k#", "a b c d ef gh ij k"),
        ("snake_case_name, a*b*c, 2 * 3 * 4, C++ or g++", "snake_case_name, a*b*c, 2 * 3 * 4, C++ or g++"),
        ("`a*b*c` `__init__` `+**kwargs**+` +_x_+ +++<u>_y_</u>+++", "a*b*c __init__ **kwargs** _x_ _y_"),
        (r"\*a* \_b_ \`c` \{d} \<<e>> \https://f.org", "*a* _b_ `c` {d} <<e>> https://f.org"),
        ("10^3^ m^2^ 1^st^ H~2~O ~/a ~/b", "10^3 m^2 1st H2O ~/a ~/b"),
        ('"`a`" and \'`b`\' or ``c\'\'', "“a” and ‘b’ or “c”"),
        ("link:a_b.html[A] https://b.org/x_y_z[B^] https://c.org/_d_", "A B https://c.org/_d_"),
        ('https://a.org["A, b",role=x] link:b.pdf[] <https://c.org>', "A, b b.pdf https://c.org"),
        ("mailto:a@b.org[Ada,Subject] xref:c.adoc#d[C] xref:e.adoc[]", "Ada C e.adoc"),
        ("kbd:[Ctrl+C] kbd:[Ctrl,T] btn:[OK] menu:File[Save] menu:View[Zoom > In]",
         "Ctrl+C Ctrl+T OK File > Save View > Zoom > In"),
        ("Open.footnote:[Since `May`, see https://a.org[A\\]].] Go.", "Open. (Since May, see A].) Go."),
        ("man:ls[1] linkgit:git-log[1] stem:[a_b_c] (((x, y)))((boat))", "ls(1) git-log(1) a_b_c boat"),
        ("image:a.png[A boat,100] image:b.png[alt=Oar] icon:heart[]x", "A boat Oar x"),
        ("[[a]]Here anchor:b[] and [[[c]]] Book &#8212; &nbsp;&copy=1", "Here and [c] Book — &copy=1"),
        ("`<<<<<<<`, `=======` and `>>>>>>>`", "<<<<<<<, ======= and >>>>>>>"),
        ("one +\ntwo", "one\ntwo"),
        ("shown\n// hidden\ntoo", "shown too"),
        ("> quoted *so*\n> far", "quoted so far"),
    ],
)  # fmt: skip
def test_marks_and_macros_leave_their_words(source: str, seen: str) -> None:
    assert words(source) == seen


def test_names_of_attributes_are_replaced_if_they_have_a_value() -> None:
    source = ":a: one \\\n  two\n:b: {a} three\n\n{b} {c}\n\n:a: four\n\n{a} {sp}{plus}\n\n:!a:\n\n{a}"
    said = [("one two three {c}"), ("four +"), ("{a}")]
    assert [text for _, _, text in told(source)] == said
    assert told(":v: 2\n\n[subs=+attributes]\n----\n{v}\n----\n----\n{v}\n----") == [
        (CODE, 0, "2"),
        (CODE, 0, "{v}"),
    ]


def test_conditions_keep_their_content() -> None:
    assert (
        words("ifdef::a[]\none\nendif::[]\nifndef::b[two]\nifeval::[1 == 2]\n\\ifdef::x[]")
        == "one two ifdef::x[]"
    )


def test_titles_are_marked_in_three_ways() -> None:
    assert told("= A\n\n== B ==\n\nc\n\n### D\n\nText\n~~~~\n\nnot\n== one") == [
        (HEADING, 1, "A"),
        (HEADING, 2, "B"),
        (PARAGRAPH, 0, "c"),
        (HEADING, 3, "D"),
        (HEADING, 3, "Text"),
        (PARAGRAPH, 0, "not == one"),
    ]


def test_blocks_of_all_kinds_keep_what_is_in_them() -> None:
    source = (
        "....\n*a*\n....\n```js\n*b*\n```\n[source]\n*c*\nd\n\n****\n*e*\n****\n--\n*f*\n--\n[listing]\n--\n*g*\n--\n"
        "++++\n<b>h</b> i\n++++\n[stem]\n++++\na_j_\n++++\n[comment]\nk\n\n[WARNING]\n* l\n\n"
        "[source]\n----\ninclude::m.py[]\n----\ngist::4711[]\n\n"
        "[caption=\"N: \"]\n.o\n....\np\n....\n[q and r]\n\n[.lead]\ns"
    )  # fmt: skip
    assert told(source) == [
        (CODE, 0, "*a*"),
        (CODE, 0, "*b*"),
        (CODE, 0, "*c*\nd"),
        (PARAGRAPH, 0, "e"),
        (PARAGRAPH, 0, "f"),
        (CODE, 0, "*g*"),
        (PARAGRAPH, 0, "h i"),
        (CODE, 0, "a_j_"),
        (PARAGRAPH, 0, "WARNING:"),
        (ITEM, 0, "l"),
        (CODE, 0, "m.py"),
        (PARAGRAPH, 0, "4711"),
        (CAPTION, 0, "N: o"),
        (CODE, 0, "p"),
        (PARAGRAPH, 0, "[q and r]"),
        (PARAGRAPH, 0, "s"),
    ]


def test_what_never_ends_is_text() -> None:
    assert told("----\nFirst.\n\n== Two\n|===\n|a |b\n////\nThird.") == [
        (PARAGRAPH, 0, "First."),
        (HEADING, 2, "Two"),
        (PARAGRAPH, 0, "|a |b"),
        (PARAGRAPH, 0, "Third."),
    ]


def test_rows_of_tables_have_their_headers() -> None:
    assert told(".Prices\n|===\n|Boat |*Fee*\n\n|Small\n|5 EUR\n|Big, with\n\na sail |`7_a_b`\n|===") == [
        (CAPTION, 0, "Prices"),
        (ROW, 0, "Boat: Small · Fee: 5 EUR"),
        (ROW, 0, "Boat: Big, with a sail · Fee: 7_a_b"),
    ]
    body = "|===\n|Boat |Fee |Note\n|Small |5 |a\n|Big |7 |b\n|==="
    assert rows(f"[%header,cols=3*]\n{body}") == rows(f'[cols="1,2,^.>3m", options="header"]\n{body}')
    assert rows(f"[%header]\n{body}")[1] == "Boat: Big · Fee: 7 · Note: b"
    assert rows(f"[opts=header,separator=!]\n{body.replace('|', '!').replace('!=', '|=')}")[0].endswith("a")


def test_cells_span_repeat_and_hold_asciidoc() -> None:
    source = (
        '[cols="1,1,2a",options="header"]\n|===\n|Boat |Fee |Note\n|Small\n.2+|5 |* dry\n* new\n|Big |_red_\n'
        "2+^.^e|Both \\| all |z\n2*|x |y a|- w\n|==="
    )
    assert rows(source) == [
        "Boat: Small · Fee: 5 · Note: - dry - new",
        "Boat: Big · Fee: 5 · Note: red",
        "Boat: Both | all · Note: z",
        "Boat: x · Fee: x · Note: y",
        "Boat: - w",
    ]
    nested = "[%header]\n|===\n|Boat |Note\n|Small a|\n[%header]\n!===\n!Oar !Long\n!ash !2 m\n!===\n|==="
    assert rows(nested) == ["Boat: Small · Note: Oar: ash · Long: 2 m"]


def test_values_between_commas_are_tables() -> None:
    wanted = ["Boat: Sm, all · Fee: 5", "Boat: Big · Fee: 7"]
    body = 'Boat,Fee\n"Sm, all",5\nBig,7'
    assert rows(f"[format=csv,options=header]\n|===\n{body}\n|===") == wanted
    assert rows(f"[%header]\n,===\n{body}\n,===") == wanted
    assert rows("[%header]\n:===\nBoat:Fee\nSm, all:5\nBig:7\n:===") == wanted
    assert rows("[%header]\n,===\n" + body.replace("\n", "\n\n", 1) + "\n,===") == wanted
    assert "open" in "".join(rows(',===\na,"' + "x" * 200_000 + "\nopen\n,==="))


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("a.adoc", "word", DocumentFormat.ASCIIDOC),
        ("a.asciidoc", "word", DocumentFormat.ASCIIDOC),
        ("a.asc", "[[x]]\n== Branches\n", DocumentFormat.ASCIIDOC),
        ("a.asc", "-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmQ==\n", DocumentFormat.TEXT),
        ("a.asc", "ncols 4\nnrows 6\n1 2 3 4\n", DocumentFormat.TEXT),
    ],
)
def test_asciidoc_is_known_by_its_name(name: str, text: str, wanted: DocumentFormat) -> None:
    assert format_of(name, text.encode()) is wanted


@given(st.text(alphabet="*=#+:|-_[]<>{}`.,/&^~\"'\\ \nabBE_12\0", max_size=60))
def test_any_text_is_read(text: str) -> None:
    page = asciidoc_page(text)[1]
    assert all(page.text[block.start : block.end].strip() for block in page.blocks)
    assert "\0" not in page.text


BEGINNINGS = [
    "* ",
    ". ",
    "a:: ",
    "\n",
    "\n\n",
    "== ",
    "----\n",
    "====\n",
    "--\n",
    "+\n",
    "NOTE: ",
    "[NOTE]\n",
]


@given(st.lists(st.sampled_from(["word and boat.", *BEGINNINGS])))
def test_words_are_kept_in_any_order_of_blocks(pieces: list[str]) -> None:
    text = "".join(pieces) + "\n\nword and boat."
    assert asciidoc_page(text)[1].text.count("word and boat.") == text.count("word and boat.")


PIECES = [
    *("----\n", "|===\n", "|===\n|a\n", "* a\n", "a::\n\n", "[NOTE]\n", "////\n", "=", "> a\n", "a\n---\n"),
    *("*", "_", "`", "**", "+", "++", "[[", "<<a", "link:a[", "https://a[", "footnote:[", "{a}", "(("),
    *("[.a]#", "^a", "`+", "pass:[", "a \n\n", "| ", "2+", "<http://a", "&#1", '[a,"', "menu:a", "a + "),
]  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_broken_files_take_linear_time(piece: str) -> None:
    started = time.perf_counter()
    asciidoc_page(piece * 10_000)
    asciidoc_page("|===\n|" + piece * 10_000 + "\n|===")
    assert time.perf_counter() - started < 10


@pytest.mark.parametrize(
    "text",
    [
        "word\n" + "{" * 1_000_000,
        "word" + " " * 500_000 + "+" + " " * 500_000 + "x",
        "== word" + " " * 500_000 + "x",
        "= T\nA" + " b" * 100_000 + "\n1" + " " * 200_000 + "x:\n\nword",
        "".join("=" * length + "\n" for length in range(4, 2_000)) + "\nword",
        "".join("*" * level + " word\n" for level in range(1, 2_000)),
        ":a0: x\n" + "".join(f":a{n + 1}: {{a{n}}}{{a{n}}}\n" for n in range(60)) + "\nword" + "{a9}" * 9_000,
        ":a: " + "x" * 2_000 + "\n\nword" + "{a}" * 100_000,
        '[cols="1000*"]\n|===\n1000*|word\n|===\n' * 5_000,
        "|===\n" + "|a " * 256 + "\n" + ".1000+|word\n" * 20_000 + "|===",
        "|===\n|" + "|" * 20_000 + "\n1000+|word\n|===",
        '[cols="1a"]\n|===\n' + "|* word\n" * 20_000 + "|===",
    ],
    ids=[
        "braces", "spaces", "title", "header", "open blocks", "deep lists", "nested attributes", "attributes",
        "repeated cells", "tall cells", "wide rows", "cells of AsciiDoc",
    ],
)  # fmt: skip
def test_hostile_files_keep_their_words_and_take_linear_time(text: str) -> None:
    started = time.perf_counter()
    page = asciidoc_page(text)[1]
    assert "word" in page.text
    assert len(page.text) < 5_000_000
    assert time.perf_counter() - started < 10
