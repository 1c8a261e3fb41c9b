"""Markdown becomes plain text in blocks: no word is lost, and no markup is left."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from localcrag.documents.front_matter import front_matter
from localcrag.documents.markdown_blocks import markdown_page
from localcrag.types import BlockKind, Page

HEADING, PARAGRAPH, ITEM = BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.ITEM
ROW, CODE, FURNITURE = BlockKind.ROW, BlockKind.CODE, BlockKind.FURNITURE


def told(page: Page) -> list[tuple[BlockKind, int, str]]:
    return [(block.kind, block.level, page.text[block.start : block.end]) for block in page.blocks]


def test_markup_goes_and_words_stay() -> None:
    page = markdown_page(
        "# Fees *and* [rules](https://example.org)\n\n"
        "A **bold** word, `code_x`, a ![map of the *town*](m.png),\na &amp; b<br>c <b>d</b> 3\\*4.\n\n"
        "Second\n------\n\n> quoted ~~gone~~\n\n---\n\n<details><summary>More</summary>inside</details>\n"
    )
    assert told(page) == [
        (HEADING, 1, "Fees and rules"),
        (PARAGRAPH, 0, "A bold word, code_x, a map of the town, a & b c d 3*4."),
        (HEADING, 2, "Second"),
        (PARAGRAPH, 0, "quoted gone"),
        (PARAGRAPH, 0, "More inside"),
    ]
    assert page.text.startswith("Fees and rules\n\nA bold word") and "\n\n\nSecond\n\nquoted" in page.text


def test_items_stand_close_with_their_markers_outside_the_block() -> None:
    page = markdown_page(
        "You need:\n\n- a passport\n- a photo\n  1. small\n  2. large\n\n    and new\n\n* c\n"
    )
    assert [entry for entry in told(page) if entry[0] is ITEM] == [
        (ITEM, 0, "a passport"),
        (ITEM, 0, "a photo"),
        (ITEM, 1, "small"),
        (ITEM, 1, "large"),
        (ITEM, 0, "c"),
    ]
    assert page.text.startswith("You need:\n\n- a passport\n- a photo\n  1. small")
    assert (PARAGRAPH, 1, "and new") in told(page)


def test_a_row_stands_with_its_headers() -> None:
    page = markdown_page(
        "| Kind | Fee |\n|---|---|\n| **Boat** | 75 EUR |\n| a \\| b | |\n\n|||\n|-|-|\n|x|y|"
    )
    assert told(page) == [(ROW, 0, "Kind: Boat · Fee: 75 EUR"), (ROW, 0, "Kind: a | b"),
                          (ROW, 0, "x: y")]  # fmt: skip
    assert "75 EUR\nKind" in page.text and "a | b\n\nx: y" in page.text, "two tables stand apart"


def test_a_first_column_without_a_name_names_the_rows() -> None:
    table = "|   | Min | Max |\n|---|---|---|\n| area: | 1 | 2 |\n| a: b | 3 | 4 |\n"
    assert markdown_page(table).text == "area · Min: 1 · Max: 2\ncolumn 1: a: b · Min: 3 · Max: 4"


def test_the_boxes_of_a_task_list_are_signs() -> None:
    assert markdown_page("- [ ] call Ann\n- [x] pay [y] Bo\n").text == "- ☐ call Ann\n- ☑ pay [y] Bo"


def test_footnotes_and_definitions_lose_their_marks() -> None:
    text = "Book early[^1], or `x[^1]`.\n\nFerry\n: a ship\n\n[^1]: Before May.\n"
    assert markdown_page(text).text == "Book early, or x[^1].\n\nFerry: a ship\n\n[1] Before May."


def test_code_keeps_its_lines() -> None:
    page = markdown_page("```py\nif x:\n\n    # no heading\n    y()\n```\n\n    indented\n")
    assert told(page) == [(CODE, 0, "if x:\n\n    # no heading\n    y()"), (CODE, 0, "indented")]


def test_code_that_is_a_table_is_rows_unless_it_is_of_a_language() -> None:
    table = "```\n        Fight  Bows\n\nWarrior   10     6\nMage       2     1\nPriest     4     3\n```\n"
    assert told(markdown_page(table))[1] == (ROW, 0, "Mage · Fight: 2 · Bows: 1")
    assert told(markdown_page(table.replace("```\n", "```py\n", 1)))[0][0] is CODE


def test_front_matter_is_one_row_and_known_by_its_keys() -> None:
    text = "---\ntitle: Fees\ntags: [travel, boats]\ndraft: false\ndate: 2024-05-01\nempty:\n---\n# Fees\n"
    fields, rest = front_matter(text)
    assert (fields["tags"], fields["draft"], rest) == (["travel", "boats"], False, "# Fees\n")
    row = "title: Fees · tags: travel, boats · draft: no · date: 2024-05-01"
    assert told(markdown_page(text)) == [(ROW, 0, row), (HEADING, 1, "Fees")]


def test_what_only_looks_like_front_matter_stays() -> None:
    for text in ("---\nNo fields here\n---\n\nText.", "---\na: [1\n---\n", "---\na: &a 1\nb: *a\n---\n"):
        assert front_matter(text) == ({}, text)


@given(st.text(alphabet="ab \n-*#`|>_[]()1.~<&\\=%^!", max_size=120))
def test_blocks_are_in_order_and_cover_all_but_markers(text: str) -> None:
    page = markdown_page(text)
    end = 0
    for block in page.blocks:
        assert block.start >= end and page.text[block.start : block.end].strip()
        assert all(word in "-*+" or word[:-1].isdigit() for word in page.text[end : block.start].split())
        end = block.end
    assert not page.text[end:]


def test_a_list_that_stands_too_far_in_is_a_list() -> None:
    page = markdown_page(
        "Released in May\n\n     * A new page\n     * Less *noise*, and\n       more sun\n         + inner\n"
        "\nChanges since 2:\n     * faster\n     * smaller\n\n    * x = 1\n    y = 2\n"
    )
    assert told(page) == [
        (PARAGRAPH, 0, "Released in May"),
        (ITEM, 0, "A new page"),
        (ITEM, 0, "Less noise, and more sun"),
        (ITEM, 1, "inner"),
        (PARAGRAPH, 0, "Changes since 2:"),
        (ITEM, 0, "faster"),
        (ITEM, 0, "smaller"),
        (CODE, 0, "* x = 1\ny = 2"),
    ]


def test_a_table_of_contents_is_furniture() -> None:
    page = markdown_page(
        "**[1. Fees](#fees)**\n\n[1.1.](#a) How much?  \n[1.2.](#b) For whom?  \n[1.3.](#c) Why...\n\n"
        "- [Boats](#boats)\n- [Boats](#boats) need a lamp.\n\n[The site](https://example.org)\n"
    )
    assert [(kind, text) for kind, _, text in told(page)] == [
        (FURNITURE, "1. Fees"),
        (FURNITURE, "1.1. How much? 1.2. For whom? 1.3. Why..."),
        (FURNITURE, "Boats"),
        (ITEM, "Boats need a lamp."),
        (PARAGRAPH, "The site"),
    ]
