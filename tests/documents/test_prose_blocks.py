"""Plain text keeps every character; its blocks are places in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.documents.prose_blocks import prose_blocks
from localcrag.types import BlockKind

HEADING, PARAGRAPH, ITEM = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.ITEM
FURNITURE = BlockKind.FURNITURE
NOTES = """NOTES OF THE MEETING

Present: Ann, Bo.
We met at nine and
went on till ten.

Decisions
=========
We need:
- a room for all of us
  and a key
- 2 chairs
1. first
  (a) inner
Then we left.

3.2 The Boat

The boat is red.

It is 5 pm.
"""


def told(text: str) -> list[tuple[BlockKind, int, str]]:
    return [(block.kind, block.level, text[block.start : block.end]) for block in prose_blocks(text)]


def test_notes() -> None:
    assert told(NOTES) == [
        (HEADING, 1, "NOTES OF THE MEETING"),
        (PARAGRAPH, 0, "Present: Ann, Bo.\nWe met at nine and\nwent on till ten."),
        (HEADING, 1, "Decisions"),
        (PARAGRAPH, 0, "We need:"),
        (ITEM, 0, "a room for all of us\n  and a key"),
        (ITEM, 0, "2 chairs"),
        (ITEM, 0, "first"),
        (ITEM, 1, "inner"),
        (PARAGRAPH, 0, "Then we left."),
        (HEADING, 2, "3.2 The Boat"),
        (PARAGRAPH, 0, "The boat is red."),
        (PARAGRAPH, 0, "It is 5 pm."),
    ]


def test_what_only_looks_like_a_heading() -> None:
    for text in ("OK", "2 boats came.", "Ann\n--- and more", "3. a list", "1990 was wet"):
        assert HEADING not in {kind for kind, *_ in told(text)}, text


def test_a_numbered_question_is_the_heading_of_its_answer() -> None:
    faq = "1. Is it safe?\n\n    Yes.\n\n2.1. Why so late?\nIt rained.\n\nQ: Who pays?\nA: The club.\n"
    assert told(faq) == [
        (HEADING, 1, "1. Is it safe?"),
        (PARAGRAPH, 0, "Yes."),
        (HEADING, 2, "2.1. Why so late?"),
        (PARAGRAPH, 0, "It rained."),
        (HEADING, 1, "Q: Who pays?"),
        (PARAGRAPH, 0, "A: The club."),
    ]
    long = "5. I tried it. Can you\n   write mine?"
    assert told(f"{long}\n\nYes.") == [(HEADING, 1, long), (PARAGRAPH, 0, "Yes.")]
    assert told("1. Who pays?\n2. Who comes?") == [(ITEM, 0, "Who pays?"), (ITEM, 0, "Who comes?")]
    assert told("Shall we go?\n\nWe did.") == [(PARAGRAPH, 0, "Shall we go?"), (PARAGRAPH, 0, "We did.")]


def test_short_lines_above_their_paragraphs_are_headings() -> None:
    stove = "The stove is in the living room. The first basket of wood is free, and\nall others cost 6 euros."
    dogs = "Dogs are welcome for a supplement of 5 euros a night, but not in the bedrooms."
    assert told(f"Heating\n{stove}\n\nPets\n\n{dogs}\n\nYou need\n- a key\n") == [
        (HEADING, 2, "Heating"),
        (PARAGRAPH, 0, stove),
        (HEADING, 2, "Pets"),
        (PARAGRAPH, 0, dogs),
        (HEADING, 2, "You need"),
        (ITEM, 0, "a key"),
    ]


def test_lines_that_only_break_are_no_headings() -> None:
    verse = "The stove is warm and red\nThe wood is free\nThe others cost six euros each."
    letter = f"{verse}\n\n{verse}"
    assert {kind for kind, _, _ in told(letter)} == {PARAGRAPH}
    alone = "Ann Example\n\nThe stove is in the living room. The first basket of wood is free of charge."
    assert {kind for kind, _, _ in told(alone)} == {PARAGRAPH}
    amounts = f"Rent 1,340 euros\n\n{alone}\n\nRent 1,540 euros\n\n{alone[:-1]}"
    assert {kind for kind, _, _ in told(amounts)} == {PARAGRAPH}


def test_a_line_that_only_parts_others_is_furniture() -> None:
    rule = "-" * 40
    assert told(f"{rule}\nThe Boat\n{rule}\n\nIt is red.\n{rule}\n\n{rule}\n") == [
        (FURNITURE, 0, rule),
        (HEADING, 2, "The Boat"),
        (PARAGRAPH, 0, "It is red."),
        (FURNITURE, 0, rule),
        (FURNITURE, 0, rule),
    ]


@given(st.text(alphabet="aB1 \n\t-.)=#", max_size=80))
def test_blocks_are_in_order_and_leave_out_only_markers(text: str) -> None:
    end = 0
    for block in prose_blocks(text):
        assert (
            block.start >= end
            and text[block.start : block.end].strip() == text[block.start : block.end] != ""
        )
        assert not any(map(str.isupper, text[end : block.start]))
        end = block.end
    assert not any(map(str.isalnum, text[end:]))


def test_an_item_goes_on_in_a_line_that_is_not_indented() -> None:
    text = (
        "* If you press the key without having written anything into the field, it\n"
        "is left empty.\n"
        "* Whoever is asked for the name of the file may also give that of a folder in\n"
        "Documents or elsewhere.\n"
        "* The last one.\n"
        "That is all of it.\n"
    )
    assert told(text)[:3] == [
        (ITEM, 0, text[2 : text.index("\n* Whoever")]),
        (ITEM, 0, text[text.index("Whoever") : text.index("\n* The")]),
        (ITEM, 0, "The last one."),
    ]
    assert told(text)[3] == (PARAGRAPH, 0, "That is all of it.")
    assert told("- milk\nThen we go") == [(ITEM, 0, "milk"), (PARAGRAPH, 0, "Then we go")]


def test_a_line_in_capitals_is_the_heading_of_the_lines_below_it() -> None:
    text = "PURPOSE\nTo bring it in.\n\nTROUBLE\nNo growth: too old.\nA lawn: wrong plates.\n"
    assert told(text) == [
        (HEADING, 1, "PURPOSE"),
        (PARAGRAPH, 0, "To bring it in."),
        (HEADING, 1, "TROUBLE"),
        (PARAGRAPH, 0, "No growth: too old.\nA lawn: wrong plates."),
    ]


def test_each_clause_of_a_contract_is_a_block() -> None:
    for first, second, third in (
        ("第一条 房屋位于文三路88号。", "第二条 租赁期为两年，\n自2024年起。", "第十三条 押金为9600元。"),
        ("§ 1 Der Verein heißt Tal.", "§ 2 Der Beitrag wird\nim Mai fällig.", "§ 3a Die Wahl ist geheim."),
        ("Article 1 - Le loyer est dû.", "Article 2 : Le dépôt est\nd'un mois.", "Article 3. Le bail finit."),
        ("Art. 1 La renta es de 90 €.", "Artículo 2 La fianza es\nde un mes.", "Artículo 3 No hay más."),
        ("Articolo 1 Oggetto", "Articolo 2 Durata", "Articolo 3 Prezzo"),
    ):
        told_of = [part for _, _, part in told("\n".join((first, second, third)))]
        assert told_of == [first, second, third]


def test_a_clause_that_a_wrapped_sentence_names_begins_no_block() -> None:
    for text in (
        "Der Mieter haftet gemäß\n§ 536 des Gesetzes für alles.",
        "Le bail est régi par\nArticle 6 de la loi en vigueur.",
        "乙方应遵守本合同\n第三条的约定。",
    ):
        assert [part for _, _, part in told(text)] == [text]


def test_numbered_lines_above_their_texts_are_headings() -> None:
    minutes = (
        "Team talk of 3 May in the hut by the water, with all but two\n\n1. Fees\nUp by 2 euros.\n\n"
        "2. Lab 4.40\n- The fridge is full.\n\n3) boats\n   Two of them leak at the stern, and nobody knows."
    )
    assert told(minutes)[1:] == [
        (HEADING, 1, "1. Fees"),
        (PARAGRAPH, 0, "Up by 2 euros."),
        (HEADING, 1, "2. Lab 4.40"),
        (ITEM, 0, "The fridge is full."),
        (HEADING, 1, "3) boats"),
        (PARAGRAPH, 0, "Two of them leak at the stern, and nobody knows."),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "1. Take the old filter out of its\n   frame.\n\n2. Put the new filter into the\n   frame.",
        "1. Fees:\n   Up by 2 euros, for everybody who has a boat.\n\n2. Boats:\n   Two leak.",
        "1. Fees\nUp by 2 euros, for everybody who has a boat.\n\n2. Boats and oars.",
        "2. Fees\nUp by 2 euros, for everybody who has a boat.\n\n1. Boats\nTwo leak.",
    ],
)
def test_numbered_items_of_lists_are_no_headings(text: str) -> None:
    assert HEADING not in {kind for kind, _, _ in told(text)}


def test_bullets_may_be_letters_if_the_paragraph_begins_with_one() -> None:
    text = "The gains are\n\n  o the load on the link\n    is less\n  o there is less to pay\n\nPan\no vino."
    assert [(block.kind.value, text[block.start : block.end]) for block in prose_blocks(text)] == [
        ("paragraph", "The gains are"),
        ("item", "the load on the link\n    is less"),
        ("item", "there is less to pay"),
        ("paragraph", "Pan\no vino."),
    ]


def test_the_names_of_releases_above_their_changes_are_headings() -> None:
    news = "Version 2.20 - 30 September 2020\n* Added moons.\n\nv2.19 (2019-05-28)\n\nNothing was done."
    assert told(news) == [
        (HEADING, 2, "Version 2.20 - 30 September 2020"),
        (ITEM, 0, "Added moons."),
        (HEADING, 2, "v2.19 (2019-05-28)"),
        (PARAGRAPH, 0, "Nothing was done."),
    ]
    needs = "it needs 3.1 or one of\n- Perl 5.30\n\nsince 1.2 you can use\n- oars\n- sails"
    assert HEADING not in {kind for kind, _, _ in told(needs)}


def test_lines_above_a_rule_are_the_title_of_an_entry_if_several_entries_begin_so() -> None:
    entry = "Date 2022-02-28\nSummary: release 7.3\n--------------------\n- New option.\n"
    other = entry.replace("2022", "2018").replace("7.3", "7.0")
    assert told(f"{entry}\n{other}")[3:] == [
        (HEADING, 2, "Date 2018-02-28\nSummary: release 7.0"),
        (FURNITURE, 0, "--------------------"),
        (ITEM, 0, "New option."),
    ]
    assert HEADING not in {kind for kind, *_ in told(entry)}, "it may be an address in a letter"


@pytest.mark.parametrize(
    ("lines", "kinds"),
    [
        (
            ["ssh\t22/tcp\t# Secure Shell", "echo\t\t7/tcp", "pop3\t110/tcp\tpop-3", "nut\t3493/udp"],
            [ITEM] * 4,
        ),
        (["ssh\t22/tcp", "echo\t\t7/tcp", "pop3\t110/tcp"], [PARAGRAPH]),
        (["Ann:\tThe mill", "Tel:\t04 12", "Fax:\t04 13", "Web:\ta.example"], [PARAGRAPH]),
        (["\tWe met at nine", "\tand went on", "\ttill ten, and", "\tthen we left"], [PARAGRAPH]),
    ],
)
def test_lines_parted_by_tabs_are_items(lines: list[str], kinds: list[BlockKind]) -> None:
    assert [block.kind for block in prose_blocks("\n".join(lines))] == kinds


def test_the_day_above_the_title_of_an_entry_is_a_heading_too() -> None:
    entries = [f"2023-0{month}-08  Ann Lee\n\n Made 5.{month} release\n\n* more" for month in (2, 1)]
    assert told("\n\n".join(entries))[:3] == [
        (HEADING, 2, "2023-02-08  Ann Lee"),
        (HEADING, 2, "Made 5.2 release"),
        (ITEM, 0, "more"),
    ]
    assert HEADING not in {kind for kind, _, _ in told("2023-02-08  Ann Lee\n\nShe wrote to us.")}
