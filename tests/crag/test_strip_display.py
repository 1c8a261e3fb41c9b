"""A strip as it is shown."""

from __future__ import annotations

import pytest

from localcrag.crag.answering.strip_display import before_mark, shown_text
from localcrag.crag.refinement.knowledge_strips import strip_at, strips
from localcrag.crag.refinement.recomposition import joined, with_surroundings
from localcrag.crag.refinement.strip_windows import windows
from localcrag.types import BlockKind
from tests.crag.values import HANDBOOK, passage, structured


def test_lines_that_stand_for_themselves_are_shown_as_lines() -> None:
    log = "10:00:01 INFO  started on port 80\n10:00:07 WARN  the disk is full"
    entries = structured((BlockKind.PARAGRAPH, log))
    [window] = windows(entries)
    assert shown_text(window) == "10:00:01 INFO started on port 80\n10:00:07 WARN the disk is full"


def test_names_of_fields_are_shown_without_their_path() -> None:
    record = structured((BlockKind.ROW, "items.name: Horn\nitems.on_loan_to: Lena_O"))
    assert shown_text(strips(record)[0]) == "name: Horn · on_loan_to: Lena_O"


def test_what_is_shown_has_lines_only_where_they_mean_something() -> None:
    *_, code, _, _, _, first, second = strips(HANDBOOK)
    assert shown_text(code) == "# a comment\nrun()"
    [listed] = joined(with_surroundings([first, second]))
    lead = "Before you take it, you need both of these:"
    assert shown_text(listed) == f"{lead}\n• a prescription of a doctor\n• a glass of water"
    assert shown_text(second) == "a glass of water"
    wrapped = structured((BlockKind.PARAGRAPH, "It is\nwrapped."))
    assert (
        shown_text(strips(wrapped)[0])
        == shown_text(strips(passage("It is\nwrapped."))[0])
        == "It is wrapped."
    )


def test_a_rule_below_a_heading_is_not_shown() -> None:
    news = structured(
        (BlockKind.HEADING, "Release 7.0"),
        (BlockKind.FURNITURE, "-----------"),
        (BlockKind.ITEM, "JSON output."),
    )
    whole = strip_at(news, news.blocks[0].start, news.blocks[-1].end, 0.5)
    assert shown_text(whole) == "Release 7.0\n• JSON output."


def test_a_record_of_several_lines_is_shown_in_one() -> None:
    record = structured((BlockKind.ROW, "building: 9\ncause: a dry rail"))
    assert shown_text(strips(record)[0]) == "building: 9 · cause: a dry rail"


def test_a_number_at_the_end_of_an_item_is_not_that_of_the_next_one() -> None:
    items = structured(
        (BlockKind.ITEM, "-n N: write N times, by default (3)"),
        (BlockKind.ITEM, "--source=FILE: read from a file"),
    )
    [listed] = joined(strips(items))
    assert shown_text(listed).split("\n")[1] == "• --source=FILE: read from a file"


@pytest.mark.parametrize("nothing", ["–", "-", "—", "n/a", "/"])
def test_a_last_cell_that_says_nothing_is_shown_as_it_stands(nothing: str) -> None:
    for text in (f"From: 2 May · Until: {nothing}", f"2 May · {nothing}"):
        assert shown_text(strips(structured((BlockKind.ROW, text)))[0]) == text
    assert shown_text(strips(passage(f"Until: {nothing}"))[0]) == f"Until: {nothing}"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("- a photo of yourself,", "a photo of yourself"),
        ("• Fee: 35 EUR ·", "Fee: 35 EUR"),
        ("| Fee | 35 EUR |", "Fee | 35 EUR"),
        ("It is 35 EUR –", "It is 35 EUR"),
        ("-5 degrees, at night.", "-5 degrees, at night."),
        ("•", "•"),
    ],
)
def test_a_quotation_has_no_marker_in_front_and_no_separator_behind(text: str, shown: str) -> None:
    assert shown_text(strips(passage(text))[0]) == shown


def test_behind_code_the_citation_has_a_line_of_its_own() -> None:
    *_, code, _, _, _, _, second = strips(HANDBOOK)
    assert before_mark(code) == "# a comment\nrun()\n" and before_mark(second) == "a glass of water "


def test_the_dots_of_a_form_are_left_out_and_end_no_sentence() -> None:
    form = "Owner .........: Mrs Honor Babbage\nMedicine ......: Pickle, in cheese\nFee ___: 5"
    assert [shown_text(strip) for strip in strips(structured((BlockKind.PARAGRAPH, form)))] == [
        "Owner: Mrs Honor Babbage",
        "Medicine: Pickle, in cheese",
        "Fee ___: 5",
    ]
    [blank] = strips(structured((BlockKind.PARAGRAPH, "The form was signed in ________ by Ann.")))
    assert shown_text(blank) == "The form was signed in … by Ann."


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("# Kept by Mattis.\n#\n#  At most 3 hours in a row.", "Kept by Mattis. At most 3 hours in a row."),
        ("  // the room is outside,\n  // so it may fail", "the room is outside, so it may fail"),
        ("# Stop it here:\nstop()", "# Stop it here:\nstop()"),
        ("# port = 80 is the usual one", "# port = 80 is the usual one"),
        ("#!/bin/sh", "#!/bin/sh"),
        ("# done", "# done"),
    ],
)
def test_a_comment_by_itself_is_shown_as_what_it_says(code: str, shown: str) -> None:
    [strip] = strips(structured((BlockKind.CODE, code)))
    assert shown_text(strip) == shown


def test_what_an_amount_is_asked_of_is_shown_before_other_words_of_a_question() -> None:
    injuries = " · ".join(f"Injury of week {number}: {number}" for number in range(1, 12))
    row = strips(
        structured((BlockKind.ROW, f"Player: Dwight Lowery · {injuries} · Total snaps: 9 · Games Missed: 13"))
    )[0]
    asked = "How many games did Lowery sit out after his injury in that week?"
    assert shown_text(row, question=asked) == "Player: Dwight Lowery · … · Games Missed: 13"


def test_of_columns_that_share_words_the_one_with_most_is_shown_also_of_men() -> None:
    wages = [
        f"{who}{level}: {at}.{number}"
        for at, level in enumerate(("high_school", "college", "masters"), 18)
        for number, who in enumerate(("", "black_", "black_men_", "black_women_", "white_men_"))
    ]
    row = strips(structured((BlockKind.ROW, " · ".join(["year: 2005", *wages]))))[0]
    asked = "What did Black men with a high school diploma earn in 2005?"
    assert shown_text(row, question=asked) == "year: 2005 · … · black_men_high_school: 18.2 · …"


def test_columns_without_a_name_are_not_shown() -> None:
    for text, shown in (
        ("column 1: Japan · column 5: JNL · column 12: EE", "Japan · JNL · EE"),
        ("Wet · column 2: Dish washer · Power: 1131", "Wet · Dish washer · Power: 1131"),
        ("Note: see column 2: prices", "Note: see column 2: prices"),
    ):
        assert shown_text(strips(structured((BlockKind.ROW, text)))[0]) == shown
    prose = strips(structured((BlockKind.PARAGRAPH, "column 2: the prices are here")))[0]
    assert shown_text(prose) == "column 2: the prices are here"


WIDE = (
    "Code: A010 · Food: Ragi · Regions: 5 · Energy: 1342 · Water: 10.89 · Total fat: 1.92 · Fibre: 11.18 · "
    "Starch: 62.13 · Iron (Fe): 0.00462 · Protein: 7.16 · Zinc: 0.00253 · Added: 2017-01-19"
    " · Remark: mean of five regions"
)


def test_of_a_very_wide_row_words_that_are_not_asked_for_are_left_out_as_well() -> None:
    others = " · ".join(f"remark {number}: {'word ' * 3}" for number in range(16))
    row = strips(structured((BlockKind.ROW, f"slug: amare · name: Amare · day_price: 69.5 · {others}")))[0]
    assert (
        shown_text(row, "What does a day at Amare cost?") == "slug: amare · name: Amare · day_price: 69.5 · …"
    )
    assert "remark 15" in shown_text(row, "What is Amare like?")
    codes = " · ".join(
        f"{name}code: {at}" for at, name in enumerate(["FAO", "ISO", "GBD", "EU", "WHO", "ILO"])
    )
    row = strips(structured((BlockKind.ROW, f"name: Peru · {codes} · {others}")))[0]
    assert shown_text(row, "Which FAO code has Peru?") == "name: Peru · FAOcode: 0 · …"


def test_a_column_may_be_called_by_first_letters() -> None:
    cells = " · ".join(
        f"{name}: 1.044000000000{at}"
        for at, name in enumerate(("OG", "FG", "ABV", "EBC", "IBU", "BU", "GU", "RA"))
    )
    row = strips(structured((BlockKind.ROW, f"Beer: Gose · {cells} · Hops: Saphir")))[0]
    assert shown_text(row, "What was the original gravity of the Gose?") == (
        "Beer: Gose · OG: 1.0440000000000 · … · Hops: Saphir"
    )


def test_a_column_may_be_asked_for_by_its_unit() -> None:
    columns = ("runs", "length (m)", "power (W)", "standby (W)", "delay", "use", "chance", "price", "weight")
    cells = " · ".join(f"mean of all {name}: {at}00000000000" for at, name in enumerate(columns))
    row = strips(structured((BlockKind.ROW, f"name: Shower · {cells}")))[0]
    assert "power (W): 200" in shown_text(row, "How many watts has the shower at what price?")
    assert "power (W): 200" not in shown_text(row, "Of what price is the shower?")


@pytest.mark.parametrize(
    ("question", "shown"),
    [
        (
            "How much protein does ragi have?",
            "Code: A010 · Food: Ragi · … · Protein: 7.16 · … · Remark: mean of five regions",
        ),
        (
            "How much iron is in the food A010?",
            "Code: A010 · Food: Ragi · … · Iron (Fe): 0.00462 · … · Remark: mean of five regions",
        ),
        (
            "How much protein does ragi from the list have?",
            "Code: A010 · Food: Ragi · … · Protein: 7.16 · … · Remark: mean of five regions",
        ),
        ("What does the table say about ragi?", WIDE),
        ("When was the iron of ragi added?", WIDE),
        ("What are water, fat, fibre, starch and zinc of ragi?", WIDE),
        ("", WIDE),
    ],
)
def test_numbers_of_a_wide_row_that_are_not_asked_for_are_left_out(question: str, shown: str) -> None:
    row = strips(structured((BlockKind.ROW, WIDE)))[0]
    assert shown_text(row, question) == shown
    assert before_mark(row, question) == f"{shown} "
    narrow = structured((BlockKind.ROW, WIDE[: WIDE.index(" · Starch")]))
    assert "…" not in shown_text(strips(narrow)[0], "How much energy does ragi have?")
