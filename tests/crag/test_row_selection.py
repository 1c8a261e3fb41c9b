"""Of the rows of a table, those with most terms of the question."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import pytest

from localcrag.crag.questions.query_terms import stem
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.strip_windows import windows
from localcrag.crag.rows.named_cells import bounds_of
from localcrag.crag.rows.row_selection import (
    narrowed_to_rows,
    of_the_day,
    of_the_entry,
    with_named_row,
    with_row_in_range,
    without_other_rows,
)
from localcrag.types import BlockKind
from tests.crag.values import TEXT, structured


def test_of_a_window_of_rows_those_with_the_words_of_the_question_are_shown() -> None:
    rows = ("Item: Rent · Due: 1 May", "Item: Deposit · Due: 2 May", "Item: Parking · Due: 3 May")
    [window] = windows(structured(*((BlockKind.ROW, row) for row in rows)))
    assert [row.text for row in narrowed_to_rows(window, "How much is the deposit?")] == [rows[1]]
    assert narrowed_to_rows(window, "How much is it?") == [window]
    [prose] = windows(structured((BlockKind.PARAGRAPH, TEXT)), 9)
    assert narrowed_to_rows(prose, "Watt?") == [prose]


def test_rows_that_match_different_words_are_shown_one_by_one() -> None:
    rows = ("Item: Rent · Due: 1 May", "Item: Deposit · Due: 2 May")
    [window] = windows(structured(*((BlockKind.ROW, row) for row in rows)))
    assert [row.text for row in narrowed_to_rows(window, "Rent or deposit?")] == list(rows)


def test_rows_with_fewer_words_of_the_question_than_another_row_of_their_table_are_left_out() -> None:
    table = structured((BlockKind.ROW, "Year: 2024 · Fee: 30"), (BlockKind.ROW, "Year: 2025 · Fee: 35"))
    prose = structured((BlockKind.PARAGRAPH, "The fee is paid in spring."), start=900)
    older, newer = strips(table)
    (told,) = strips(prose)
    assert without_other_rows([older, told, newer], "What is the fee in 2025?") == [told, newer]
    assert without_other_rows([older, newer], "Who is paid?") == [older, newer]


def test_of_a_table_of_ranges_the_row_with_the_number_of_the_question_is_left() -> None:
    rows = (
        "Weight: 10-14 kg · Dose: 168 mg",
        "Weight: 15-21 kg · Dose: 240 mg",
        "Weight: 22-30 kg · Dose: 360 mg",
    )
    table = structured(*((BlockKind.ROW, row) for row in rows))
    cut = strips(table)
    assert without_other_rows(cut, "What is the dose for a child of 17 kg?") == [cut[1]]
    assert without_other_rows(cut, "What is the dose for a child of 40 kg?") == cut
    [window] = windows(table)
    assert [row.text for row in narrowed_to_rows(window, "How much for 17 kg?")] == [rows[1]]


def test_in_the_place_of_rows_of_other_ranges_stands_the_row_that_the_number_is_in() -> None:
    rows = (
        "Litres: up to 50 · Price: 1.62",
        "Litres: 51 to 200 · Price: 1.58",
        "Litres: over 200 · Price: 1.53",
    )
    low, between, high = strips(structured(*((BlockKind.ROW, row) for row in rows)))
    found = with_row_in_range([high, low], "What do 120 litres cost?")
    assert [strip.text for strip in found] == [between.text]
    assert with_row_in_range([high, low], "What do 300 litres cost?") == [high, low]
    assert with_row_in_range([high, low], "What does a litre cost?") == [high, low]


def test_of_two_numbers_the_one_with_the_unit_of_the_rows_tells_their_range() -> None:
    doses = (("under 50 kg", 2500), ("50–99 kg", 3500), ("100–149 kg", 5000), ("150 kg or more", 7500))
    rows = [f"Weight: {weight} · Dose / eGFR 15–30: {dose}" for weight, dose in doses]
    cut = strips(structured(*((BlockKind.ROW, row) for row in rows)))
    question = "What is the dose for a patient of 75 kg with an eGFR of 20?"
    assert [strip.text for strip in with_row_in_range([cut[3], cut[2]], question)] == [rows[1]]


@pytest.mark.parametrize(
    ("cell", "bounds"),
    [
        ("150 kg or more", (150, inf, "kg")),
        ("200+", (200, inf, "")),
        ("12 or under", (-inf, 12, "")),
        ("65 Jahre und mehr", (65, inf, stem("Jahre"))),
        ("more than 5 years", (5, inf, stem("years"))),
        ("150 kg", None),
    ],
)
def test_from_which_number_to_which_a_cell_holds(cell: str, bounds: tuple[float, float, str] | None) -> None:
    assert bounds_of(cell) == bounds


def test_in_the_place_of_rows_that_are_not_named_stands_the_row_that_is() -> None:
    rows = (
        "Layer: 1 Spatter · Material: NHL 5",
        "Layer: 2 Levelling · Material: NHL 3.5",
        "Layer: 4 Top coat · Material: putty",
        "Layer: 5 Paint · Material: silicate",
    )
    cut = strips(structured(*((BlockKind.ROW, row) for row in rows)))
    assert with_named_row([cut[2]], "Which lime for the levelling coat?") == [cut[1]]
    assert with_named_row([cut[1], cut[2]], "Which lime for the levelling coat?") == [cut[1]]
    assert with_named_row([cut[2]], "Which lime for the top coat?") == [cut[2]]
    assert with_named_row(cut[:2], "Which lime for the levelling and the spatter?") == cut[:2]
    assert with_named_row([cut[0]], "Which lime is it?") == [cut[0]]
    assert with_named_row([cut[0], cut[3]], "Which material has the uppermost coat?") == [cut[2]]
    assert with_named_row([cut[0]], "Which coat is of NHL 5?") == [cut[0]]
    terms = ("What: Repair · Gold: 4 hours", "What: Credit · Gold: 5 %", "What: Laminated pane · Gold: 2")
    repair, credit, pane = strips(structured(*((BlockKind.ROW, row) for row in terms)))
    assert with_named_row([credit], "What do we get if a Gold line isn't repaired?") == [credit]
    assert with_named_row([credit], "How fast is a Gold repair?") == [repair]
    assert with_named_row([credit], "How fast comes a laminated pane?") == [pane]
    cages = ("What: Cages · With: Desanol", "What: Cages, parvo or cat cold · With: Virolex")
    plain, parvo = strips(structured(*((BlockKind.ROW, row) for row in cages)))
    assert with_named_row([parvo], "Which product is for cages after parvo?") == [parvo]
    assert with_named_row([parvo], "Which product is for cages?") == [plain]


def test_frequent_words_of_another_language_tell_no_row_apart() -> None:
    rows = (
        "Code: B7 · Nom: Petite boîte · Description: Le carton pour la vaisselle et les verres",
        "Code: C9 · Nom: Grande boîte · Description: Carton solide",
    )
    small, large = strips(structured(*((BlockKind.ROW, row) for row in rows)))
    assert without_other_rows([small, large], "Quelle taille pour le code C9 et la caisse ?") == [large]
    english = ("Name: la carte", "Name: carte du jour")
    first, second = strips(structured(*((BlockKind.ROW, row) for row in english)))
    assert without_other_rows([first, second], "What is the price of la carte?") == [first]


def test_of_two_cells_that_differ_in_case_the_one_that_is_asked_for_counts() -> None:
    rows = (
        "Escape: %c · Width: 1 · State: Full",
        "Escape: %C · Width: 11 · State: full",
        "Escape: %d · Width: 4",
    )
    table = structured(*((BlockKind.ROW, row) for row in rows))
    small, large, other = strips(table)
    for asked, found in (("%C", large), ("%c", small), ("“%C”", large)):
        assert without_other_rows([small, large], f"What is the width of {asked}?") == [found]
    for both in ("What is the width of %Cs?", "What are %c and %C?"):
        assert without_other_rows([small, large], both) == [small, large]
    assert without_other_rows([large, other], "What is the width of the escape?") == [large, other]
    [window] = windows(table)
    assert narrowed_to_rows(window, "What is the width of %C?") == [large]


def test_a_row_without_the_date_of_the_question_is_left_out_if_another_one_has_it() -> None:
    (other,) = strips(structured((BlockKind.ROW, "Day: 04.07. · Boats: 3 · Note: none at night")))
    (dated,) = strips(structured((BlockKind.ROW, "Day: 07.04. · Boats: 9"), start=90))
    assert without_other_rows([other, dated], "How many boats at night on 07.04.?") == [dated]
    assert without_other_rows([other, dated], "How many boats on 01.01.?") == [other, dated]
    assert without_other_rows([dated, other], "How many boats at night?") == [other], "which says so"


def test_entries_of_another_day_than_the_one_asked_about_are_left_out() -> None:
    log = "2025-02-12 01:00 copied 18 files\n2025-02-13 01:00 copied 20 files\n2025-02-13 01:02 done, rc=0"
    [first, *others] = cut = strips(structured((BlockKind.PARAGRAPH, log)))
    assert of_the_entry(cut, "How many files on 13 February?") == others
    assert of_the_entry(cut, "How many files on 14 February?") == cut
    assert of_the_entry(cut, "How many files were copied?") == cut
    diary = structured(
        (BlockKind.PARAGRAPH, "Notes were typed up later on by Ann."),
        (BlockKind.PARAGRAPH, "Sat 8 June. The water was clear. We counted 46 of them."),
        (BlockKind.PARAGRAPH, "Sun 23 June. The water was full of silt. We went home."),
    )
    told = [strip.text for strip in of_the_entry(strips(diary), "How was the water on 8 June?")]
    assert "Notes were typed up later on by Ann." in told and "We counted 46 of them." in " ".join(told)
    assert "silt" not in " ".join(told)
    assert first.text.startswith("2025-02-12")


def test_what_stands_below_the_heading_of_another_version_is_left_out() -> None:
    news = structured(
        (BlockKind.HEADING, "Changes in 2.52.1"),
        (BlockKind.PARAGRAPH, "The page of the manual is new here."),
        (BlockKind.HEADING, "Changes in 2.52.0"),
        (BlockKind.PARAGRAPH, "Released 2022-03-12, after a year."),
    )
    cut = strips(news)
    assert of_the_entry(cut, "When did 2.52.0 come out?") == cut[1:]
    assert of_the_entry(cut, "When did 2.53.0 come out?") == cut


def test_the_row_that_holds_on_the_day_of_the_week_of_the_question_is_left() -> None:
    rows = (
        "line: 1 · stop: Tolme · late: 17:10 · remark: bus meets the train",
        "line: N · stop: Tolme · late: 20:05 · remark: Sundays only",
    )
    cut = strips(structured(*((BlockKind.ROW, row) for row in rows)))
    assert without_other_rows(cut, "by train on Sunday, when does the bus leave Tolme?") == [cut[1]]
    assert without_other_rows(cut, "by train on Monday, when does the bus leave Tolme?") == [cut[0]]


def test_an_ordinal_is_the_number_of_a_row() -> None:
    rows = [f"Vaccination: Measles {n} · Date: 2021-0{n}-01" for n in (1, 2, 3)]
    found = strips(structured(*((BlockKind.ROW, row) for row in rows)))
    for asked in ("When was the second measles shot?", "When was the 2nd measles shot?"):
        assert without_other_rows(found, asked) == [found[1]]
    [window] = windows(structured(*((BlockKind.ROW, row) for row in rows)))
    assert [row.text for row in narrowed_to_rows(window, "When was the third shot?")] == [rows[2]]


def test_rows_that_are_done_are_not_what_is_next() -> None:
    rows = ("Shot: Tick 1 · Next due: done", "Shot: Tick 2 · Next due: 2026-02-06")
    done, due = strips(structured(*((BlockKind.ROW, row) for row in rows)))
    assert without_other_rows([done, due], "When is the next tick shot due?") == [due]
    assert without_other_rows([done, due], "When were the tick shots?") == [done, due]
    assert without_other_rows([done], "When is the next tick shot due?") == [done]


def test_the_row_with_the_quantity_of_the_question_in_another_unit_is_left() -> None:
    rows = ("Load: 2000 W · Lasts: 63 minutes", "Load: 3000 W · Lasts: 40 minutes")
    table = structured(*((BlockKind.ROW, row) for row in rows))
    assert without_other_rows(strips(table), "How long does it last at 3 kW?") == [strips(table)[1]]
    [window] = windows(table)
    assert [row.text for row in narrowed_to_rows(window, "How long at 3 kW?")] == [rows[1]]


def test_the_row_that_holds_on_the_day_of_the_question_is_left() -> None:
    rows = ("From: 13 April · First: Ada", "From: 20 April · First: Ben", "From: 27 April · First: Cleo")
    table = structured(*((BlockKind.ROW, row) for row in rows))
    assert without_other_rows(strips(table), "Who is first on 23/04/26?") == [strips(table)[1]]
    [window] = windows(table)
    assert [row.text for row in narrowed_to_rows(window, "Who on 23/04/26?")] == [rows[1]]


def test_a_row_that_speaks_of_the_named_one_is_left_if_it_is_more_probable() -> None:
    cut = strips(
        structured(
            (BlockKind.ROW, "Player: greedy · Description: The default."),
            (BlockKind.ROW, "Player: genetic · Description: A stronger opponent than 'greedy'."),
        )
    )
    question = "Which player is stronger than greedy?"
    greedy, genetic = replace(cut[0], score=0.6), replace(cut[1], score=0.8)
    assert with_named_row([greedy, genetic], question) == [greedy, genetic]
    unsure = replace(genetic, score=0.3)
    assert with_named_row([greedy, unsure], question) == [greedy]


def test_the_words_of_a_joined_name_tell_rows_apart() -> None:
    cut = strips(
        structured(
            (BlockKind.ROW, "name: Electric car · unit: piece"),
            (BlockKind.ROW, "name: electric_car_mass · unit: kg"),
        )
    )
    assert without_other_rows(cut, "What mass does the electric car have?") == [cut[1]]


def test_of_the_rows_of_days_that_of_the_one_day_of_the_question_is_left() -> None:
    days = [f"Station: 8443 · Day: {day}-JUN-13 · Most: 29.{day}" for day in (20, 21, 22)]
    cut = strips(structured(*((BlockKind.ROW, row) for row in days)))
    prose = strips(structured((BlockKind.PARAGRAPH, "It was warm at the station."), start=900))
    assert of_the_day([*cut, *prose], "How warm was it on 21 June 2013?") == [cut[1], *prose]
    for asked in ("How warm was it on 9 June 2013?", "And on 21 June?", "On 20 June 2013 and 21 June 2013?"):
        assert of_the_day(cut, asked) == cut
    months = strips(structured(*((BlockKind.ROW, f"Date: 2016-0{at}-15 · WTI: 3{at}") for at in (1, 2, 3))))
    assert of_the_day(months, "What did a barrel cost in February 2016?") == [months[1]]
    assert of_the_day(months, "What did a barrel cost since February 2016?") == months
