"""Looking a cell up: one row of a table holds what a question names, and no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.judges.passage_scores import passage_scores, strip_scores
from localcrag.crag.questions.quarters import quarters_of
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.rows.row_lookup import (
    COMPLETE_WEIGHT,
    DENIAL_WEIGHT,
    HEADER_ONLY_WEIGHT,
    INCOMPLETE_WEIGHT,
    MAX_INCOMPLETE,
    MIN_COMPLETE,
    OTHER_KEY_SHARE,
    SINGLED_OUT_WEIGHT,
    is_one_of_many,
    looked_up,
    with_named_key_first,
)
from localcrag.types import Block, BlockKind, Passage
from tests.crag.values import passage
from tests.fakes.llm import ScriptedEvaluator

ROWS = (
    "Code: E07 · What to do: close the door",
    "Code: E21 · What to do: change the filter",
    "Code: E22 · What to do: change the filter and the pump of the E40",
)


def table(*rows: str, heading: str = "Faults of the Tarn 4", title: str = "") -> Passage:
    """A passage of rows, each a block, below a heading."""
    text, blocks = "", []
    for row in rows:
        text += "\n\n" if text else ""
        blocks.append(Block(BlockKind.ROW, len(text), len(text) + len(row)))
        text += row
    return replace(passage(text), heading=heading, title=title, blocks=tuple(blocks))


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("What does E21 mean?", {1: COMPLETE_WEIGHT}),
        ("What do I do about the code e07 of the Tarn 4?", {0: COMPLETE_WEIGHT}),
        ("What should I do when the display of the Tarn 4 shows E21?", {1: SINGLED_OUT_WEIGHT}),
        ("What should I do when the Tarn 4 has fault E21 again and beeps?", {1: INCOMPLETE_WEIGHT}),
        ("Which code has it that I change the filter?", {1: COMPLETE_WEIGHT}),
        ("What does E99 mean?", {}),
        ("What does E40 mean?", {}),
        ("What colour is E21?", {}),
        ("What is it?", {}),
        ("Ten minutes before the show the desk came up with E21. What do I do?", {1: COMPLETE_WEIGHT}),
        ("Before the show the desk came up with E21. What colour has the plug?", {}),
        ("What does E21 on the panel in the hall mean?", {1: COMPLETE_WEIGHT}),
    ],
)
def test_the_row_that_holds_what_is_named_gains(question: str, found: dict[int, float]) -> None:
    assert looked_up(question, strips(table(*ROWS))) == found


def test_a_cell_is_looked_up_by_the_word_that_its_name_abbreviates() -> None:
    rows = ("model: Datsun 710 · cyl: 4 · wt: 2.32", "model: Duster 360 · cyl: 8 · wt: 3.57")
    found = strips(table(*rows, heading="cars"))
    assert looked_up("How many cylinders does the Duster 360 have?", found) == {1: COMPLETE_WEIGHT}
    assert looked_up("What is the weight of the Datsun 710?", found) == {0: COMPLETE_WEIGHT}
    assert looked_up("What is the torque of the Datsun 710?", found) == {}


def test_two_rows_that_hold_it_gain_nothing_unless_they_say_the_same() -> None:
    other = table("Code: E21 · What to do: call us")
    both = [*strips(table(*ROWS)), *strips(other)]
    assert looked_up("What does E21 mean?", both) == {}
    again = [*strips(table(*ROWS)), *strips(table(ROWS[1], heading="Copy"))]
    assert looked_up("What does E21 mean?", again) == {1: COMPLETE_WEIGHT}


def test_of_rows_that_agree_in_what_is_asked_the_first_is_looked_up() -> None:
    there = "route: F2 · from: Noss · departs: 9:00 · ship: Fulmar"
    back = "route: F2 · from: Aske · departs: 11:10 · ship: Fulmar"
    ferries = strips(table(there, back, "route: F4 · from: Noss · departs: 10:00 · ship: Tern"))
    assert looked_up("Which ship sails on route F2?", ferries) == {0: INCOMPLETE_WEIGHT}
    assert looked_up("When departs F2?", ferries) == {}
    assert looked_up("When departs F2 from Aske?", ferries) == {1: COMPLETE_WEIGHT}


def test_the_words_of_a_joined_name_count_one_by_one() -> None:
    birds = table("species: Snipe · north_marsh: 58", "species: Teal · north_marsh: 508", title="bird-counts")
    assert looked_up("Who counted the snipe?", strips(birds)) == {0: COMPLETE_WEIGHT}
    assert looked_up("How many teal are in the north marsh?", strips(birds)) == {1: COMPLETE_WEIGHT}


def test_a_sentence_is_no_row_and_a_row_that_says_nothing_else_is_none_either() -> None:
    sentence = passage("The fault E21: change the filter at once.")
    assert looked_up("What does E21 mean?", strips(sentence)) == {}
    assert looked_up("Which code is E21?", strips(table("Code: E21", "Code: E22"))) == {}


def test_a_column_is_named_by_the_words_that_its_name_joins() -> None:
    question = "What is the melting point of tin?"
    joined, apart = (table(f"name: Tin · {name}: 232", f"name: Lead · {name}: 327") for name in NAMES)
    assert looked_up(question, strips(joined)) == looked_up(question, strips(apart)) != {}


NAMES = ("MeltingPoint", "melting point")


def test_of_rows_that_have_what_is_named_it_is_the_one_whose_first_cell_has_it() -> None:
    rows = table("points: 0 · algebra: 56 · history: 65", "points: 65 · algebra: 8451 · history: 6392")
    assert looked_up("How many have 65 points in algebra?", strips(rows)) == {1: COMPLETE_WEIGHT}


def test_a_quarter_of_a_year_is_named_in_words() -> None:
    rows = table("state: Ohio · quarter: Q42010 · rate: 0.55", "state: Ohio · quarter: Q42011 · rate: 0.57")
    question = "Ohio in the fourth quarter of 2011: what rate?"
    assert looked_up(question, strips(rows)) == {1: COMPLETE_WEIGHT}
    for spelled in ("2011Q4", "4Q2011", "2011-Q4", "Q4 2011"):
        assert quarters_of(spelled) == quarters_of("in the last quarter of 2011") == {"Q4 2011"}
    assert quarters_of("a quarter of 2011 voters") == set()


def test_what_is_looked_up_is_more_probable_as_a_strip_and_as_a_passage() -> None:
    evaluator = ScriptedEvaluator(lambda _, text: 0.1)
    faults, prose = table(*ROWS), passage("The Tarn 4 has an E-series display. It is grey.")
    cut = strips(faults)
    assert strip_scores(evaluator, "What does E21 mean?", cut)[0] == 0.1
    assert strip_scores(evaluator, "What does E21 mean?", cut)[1] == pytest.approx(0.86, abs=0.01)
    scores = passage_scores(evaluator, "What does E21 mean?", [prose, faults])
    assert scores == [0.1, pytest.approx(0.86, abs=0.01)]
    [alone] = passage_scores(evaluator, "What does E21 mean?", [table(ROWS[1])])
    assert alone == pytest.approx(0.86, abs=0.01), "a table of one row is looked up as well"


@pytest.mark.parametrize(("p", "shown"), [(0.02, 0.2), (0.3, MAX_INCOMPLETE), (0.7, 0.7)])
def test_a_row_that_lacks_a_thing_that_was_asked_for_is_never_made_sure(p: float, shown: float) -> None:
    evaluator = ScriptedEvaluator(lambda _, text: p)
    question = "What does the E21 of the Tarn 4 cost?"
    assert looked_up(question, cut := strips(table(*ROWS))) == {1: INCOMPLETE_WEIGHT}
    assert strip_scores(evaluator, question, cut)[1] == pytest.approx(shown, abs=0.01)


def test_the_parts_of_a_date_have_an_order() -> None:
    days = strips(
        table("date: 2013/04/07 · temp_max: 8.3", "date: 2013/07/04 · temp_max: 21.7", heading="Weather")
    )
    assert looked_up("What was the weather on 2013/07/04?", days) == {1: COMPLETE_WEIGHT}


def test_words_that_only_join_what_is_named_are_not_missing() -> None:
    germs = strips(table("Name: Klebsiella · Penicillin: 850", "Name: Brucella · Penicillin: 1"))
    assert looked_up("How much penicillin is needed against Klebsiella?", germs) == {0: COMPLETE_WEIGHT}


def test_a_row_that_says_no_to_what_is_asked_of_all_loses() -> None:
    singers = strips(table("Name: Ann · Lift needed: no", "Name: Bo · Lift needed: yes", heading="Choir"))
    assert looked_up("Which members of the choir need a lift?", singers) == {0: DENIAL_WEIGHT}
    assert looked_up("Does Ann need a lift?", singers) == {0: COMPLETE_WEIGHT}
    assert looked_up("Which members do not need a lift?", singers) == {}
    evaluator = ScriptedEvaluator(lambda _, text: 0.6)
    first, second = strip_scores(evaluator, "Which members need a lift?", singers)
    assert first < 0.1 < 0.6 == second


def test_a_row_that_the_question_does_not_name_is_one_of_many() -> None:
    ann, bo = strips(table("Name: Ann · Fee: 5", "Name: Bo · Fee: 7"))
    assert is_one_of_many("Who has the highest fee?", bo)
    assert not is_one_of_many("How many fees has Ann?", ann)
    [lamp, _] = strips(
        table("id: L-3 · item: LED wash · count: 20", "id: L-4 · item: Follow spot · count: 2")
    )
    assert not is_one_of_many("How many LED wash lights are there?", lamp)
    assert is_one_of_many("How many lights are there?", lamp)
    assert not is_one_of_many("Who has the highest fee?", strips(passage("Bo has the highest fee."))[0])


def test_a_passage_of_rows_of_other_dates_loses_to_the_one_of_the_date() -> None:
    evaluator = ScriptedEvaluator(lambda _, text: 0.6 if "04/07" in text else 0.3)
    other, own = table("date: 2013/04/07 · wind: 8"), table("date: 2013/07/04 · wind: 2")
    prose = passage("In 2013 it was windy.")
    question = "How windy was it on 2013/07/04?"
    first, second, third = passage_scores(evaluator, question, [other, own, prose])
    assert first < 0.1 < 0.3 == third <= second
    assert passage_scores(evaluator, question, [other]) == [0.6]


WEATHER = (
    "Datum: 02.06.2025 · Station: Leipzig · Niederschlag mm: 18,9",
    "Datum: 02.06.2025 · Station: Bautzen · Niederschlag mm: 0,6",
    "Datum: 03.06.2025 · Station: Leipzig · Niederschlag mm: 0,0",
)


@pytest.mark.parametrize(
    ("question", "gain"),
    [
        ("How much rain fell in Leipzig on 2 June?", SINGLED_OUT_WEIGHT),
        ("Wie viel Niederschlag gab es am 2. Juni in Leipzig?", INCOMPLETE_WEIGHT),
        ("How much rain fell in Leipzig on 2 June 2025?", SINGLED_OUT_WEIGHT),
        ("How much rain fell in Leipzig on 2 June 2024?", 0.0),
        ("How much rain fell on 2 June?", 0.0),
    ],
)
def test_a_day_is_named_in_words(question: str, gain: float) -> None:
    assert looked_up(question, strips(table(*WEATHER, heading=""))).get(0, 0.0) == gain


def test_a_german_word_is_light_in_a_german_question_alone() -> None:
    people = strips(table("Name: Bach · born: 1685", "Name: Haydn · born: 1732", heading=""))
    assert looked_up("When did Bach die?", people) == {}
    assert looked_up("Wann ist Bach born?", people) == {0: COMPLETE_WEIGHT}


def test_a_unit_is_named_in_words_and_a_verb_by_the_name_of_its_column() -> None:
    days = strips(table("Day: 3 · km: 0", "Day: 4 · km: 23 · Camp: tent", heading="Log"))
    assert looked_up("How many kilometres on day 4?", days) == {1: COMPLETE_WEIGHT}
    seats = strips(table("district: 32-Outremont · winner: Bo", "district: 33-Snowdon · winner: Ann"))
    assert looked_up("Who won in Snowdon?", seats) == {1: COMPLETE_WEIGHT}


def test_a_number_lies_within_the_range_of_a_row() -> None:
    rows = "Hardness °dH: 9–12 · Setting: H03", "Hardness °dH: 18–25 · Setting: H05"
    hardness = strips(table(*rows, heading=""))
    assert looked_up("Which setting for 20 °dH?", hardness) == {1: COMPLETE_WEIGHT}
    assert looked_up("Which setting for 15 °dH?", hardness) == {}
    assert looked_up("Which setting for 20 cups?", hardness) == {}


def test_a_size_does_not_hide_the_name_of_a_row() -> None:
    hire = strips(table("Item: Shoes · deposit: 5", "Item: Rope 60 m · deposit: 50", heading=""))
    assert looked_up("What's the deposit for a rope?", hire) == {1: COMPLETE_WEIGHT}
    two = strips(table("Item: Rope 40 m · deposit: 30", "Item: Rope 60 m · deposit: 50", heading=""))
    assert looked_up("What's the deposit for a rope?", two) == {}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("How much notice must the firm give after three years of service?", 1),
        ("How much notice must the firm give after one year of service?", 0),
        ("How much notice must the firm give after twelve years of service?", 2),
        ("How much notice must the firm give after three months of service?", 0),
    ],
)
def test_a_number_with_its_unit_names_the_row_whose_range_it_is_in(question: str, found: int) -> None:
    rows = table(
        "Length of service: Up to 2 years · Notice by the firm: 4 weeks",
        "Length of service: 2 to 5 years · Notice by the firm: 6 weeks",
        "Length of service: More than 5 years · Notice by the firm: 12 weeks",
        heading="Notice",
    )
    assert list(looked_up(question, strips(rows))) == [found]


def test_a_number_in_the_name_of_a_column_names_none_of_its_cells() -> None:
    rows = table(
        "Parameter: Noise level · Unit: dB(A) · HX-40: 68 · HX-65: 71",
        "Parameter: Flange · Unit: DN · HX-40: 50 · HX-65: 65",
    )
    assert looked_up("How loud is the HX-65 pump?", strips(rows)) == {}


def test_a_number_lies_within_the_range_of_a_column() -> None:
    rows = strips(
        table(
            "Length of service: 2 to 5 years · Grades 1-4: 26 · Grades 5-7: 28",
            "Length of service: 5 to 10 years · Grades 1-4: 28 · Grades 5-7: 30",
            heading="Annual leave, days",
        )
    )
    assert looked_up("How many days of leave for grade 6 with 7 years?", rows) == {1: COMPLETE_WEIGHT}
    assert looked_up("How many days of leave for grade 9 with 7 years?", rows) != {1: COMPLETE_WEIGHT}
    assert looked_up("How many days of leave for grade 6 with 40 years?", rows) == {}


def test_a_name_with_a_number_names_its_row() -> None:
    [row] = strips(table("Item: 4712 · Name: Ball bearing 6205 · Stock: 96"))
    assert not is_one_of_many("How much of ball bearing 6205 is in stock?", row)
    assert is_one_of_many("How much of ball bearing 6206 is in stock?", row)
    assert is_one_of_many("How many items are above 96?", row)


CABLES = [
    "Cable: F-07 · From: C3 · To: P1 · Length m: 640",
    "Cable: F-08 · From: C5 · To: P1 · Length m: 910",
    "Cable: F-09 · From: C5 · To: P4 · Length m: 320",
]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("How long is the fibre F-08 to the mill?", {1: SINGLED_OUT_WEIGHT}),
        ("How far does F-08 go?", {1: INCOMPLETE_WEIGHT}),
        ("How heavy is the fibre F-08 to the mill?", {}),
        ("How long is the fibre F-05 to the mill?", {}),
    ],
)
def test_a_code_singles_a_row_out_that_has_the_quantity_asked_for(
    question: str, found: dict[int, float]
) -> None:
    assert looked_up(question, strips(table(*CABLES, heading=""))) == found


def test_rows_of_which_only_columns_are_named_lose() -> None:
    repairs = [f"Date: 2021-10-0{n} · Garage: Brill · What: brakes · Cost: {n}8.60" for n in (1, 2, 3)]
    lost = dict.fromkeys(range(3), HEADER_ONLY_WEIGHT)
    assert looked_up("How much is the garage?", strips(table(*repairs, heading=""))) == lost
    assert looked_up("How much is the garage?", strips(table(*repairs[:2], heading=""))) == {}
    assert looked_up("How much is the garage?", strips(table(*repairs, heading="The garage"))) == {}
    assert looked_up("How much are the brakes?", strips(table(*repairs, heading=""))) == {}


def test_a_day_is_named_in_figures_of_either_order() -> None:
    talks = strips(table("date: 2025-11-06 · speaker: Ada", "date: 2025-11-20 · speaker: Ben", heading=""))
    assert looked_up("who speaks on 20/11/25", talks) == {1: COMPLETE_WEIGHT}
    assert looked_up("who speaks on 06/11/25", talks) == {0: COMPLETE_WEIGHT}
    assert looked_up("who speaks on 07/11/25", talks) == {}
    evaluator = ScriptedEvaluator(lambda *_: 0.0005)
    whole = table("date: 2025-11-20 · speaker: Ben", "date: 2025-11-27 · speaker: Cleo", heading="")
    assert passage_scores(evaluator, "who speaks on 20/11/25", [whole]) == [MIN_COMPLETE]


def test_a_row_is_named_by_a_day_that_it_holds_on() -> None:
    turns = strips(table("From: 13 April · On call: Ada", "From: 20 April · On call: Ben", heading=""))
    assert looked_up("Who is on call on 15 April 2026?", turns) == {0: COMPLETE_WEIGHT}


def test_a_row_is_named_by_its_month() -> None:
    rows = ("month: 2024-07 · duty_gbp: 10", "month: 2025-07 · duty_gbp: 12", "month: 2025-08 · duty_gbp: 14")
    returns = strips(table(*rows, heading=""))
    assert looked_up("duty for july 2025", returns) == {1: COMPLETE_WEIGHT}
    assert looked_up("How much beer duty was it in August?", returns) == {2: INCOMPLETE_WEIGHT}
    assert looked_up("duty for july", returns) == looked_up("duty for july 2023", returns) == {}
    assert looked_up("duty since July 2025", returns) == {}


def test_a_row_of_monthly_figures_is_named_by_its_month() -> None:
    kinds = [(month, stars) for month in ("05", "06") for stars in (3, 4)]
    rows = [f"Class: {stars} stars · Date: 01-{month}-15 · Full: 80" for month, stars in kinds]
    hotels = strips(table(*rows, heading=""))
    assert looked_up("How full were the hotels of 3 stars in June 2015?", hotels) == {2: INCOMPLETE_WEIGHT}
    assert looked_up("How full were the hotels of 3 stars in June 2014?", hotels) == {}


def test_a_row_that_begins_with_the_day_of_the_question_may_lack_other_words() -> None:
    rows = ("date: 2015/12/20 · precipitation: 4.3", "date: 2015/12/21 · precipitation: 27.4")
    days = strips(table(*rows, heading="Seattle"))
    assert looked_up("How much rain fell in Seattle on 21 December 2015?", days) == {1: SINGLED_OUT_WEIGHT}
    assert looked_up("How much rain fell in Seattle on 21 December?", days) == {}
    assert looked_up("How much rain fell in Leeds on 21 December 2015?", days) == {}


def test_who_has_duty_is_on_call() -> None:
    rows = ("Week: 16 · From: 13 April · First: Ada", "Week: 17 · From: 20 April · First: Ben")
    turns = strips(table(*rows, heading="On call, April"))
    assert looked_up("Who has the duty phone on 23/04/26?", turns) == {1: INCOMPLETE_WEIGHT}
    assert looked_up("Who has the blue phone on 23/04/26?", turns) == {}
    others = strips(table(*rows, heading="Watering"))
    assert looked_up("Who has the duty phone on 23/04/26?", others) == {}


def test_a_row_is_named_by_its_days_of_the_week() -> None:
    hours = strips(table("Day: Mon-Wed · Shop: 9-12", "Day: Thursday · Shop: 9-17", heading=""))
    assert looked_up("When is the shop open on Tuesdays?", hours) == {0: INCOMPLETE_WEIGHT}
    assert looked_up("The shop on 7 May 2026?", hours)[1] == INCOMPLETE_WEIGHT


def test_a_row_is_named_by_its_quantity_in_another_unit() -> None:
    loads = strips(table("Load: 2000 W · Lasts: 22 minutes", "Load: 3000 W · Lasts: 13 minutes", heading=""))
    assert looked_up("How long does it last at 3 kW?", loads) == {1: INCOMPLETE_WEIGHT}


def test_a_long_cell_is_named_but_for_a_word() -> None:
    stock = strips(
        table("name: V-belt for drive Rasant 46 · shelf: D3", "name: Blade for Rasant 46 · shelf: D1")
    )
    assert looked_up("Where do we keep the drive belts for the Rasant 46?", stock) == {0: INCOMPLETE_WEIGHT}


def test_rows_of_other_keys_are_less_probable_than_the_one_that_is_named() -> None:
    rows = (
        "Type: model · Holds: drawings in space",
        "Type: image · Holds: pictures",
        "Type: model/wire · Holds: it",
    )
    types, scores = strips(table(*rows)), [0.5, 0.7, 0.6]
    question = "What is the type model for, in the list?"
    gains = looked_up(question, types)
    assert with_named_key_first(question, types, scores, gains) == [0.5, OTHER_KEY_SHARE * 0.5, 0.6]
    other = "Which type is for wood?"
    assert with_named_key_first(other, types, scores, looked_up(other, types)) == scores


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("The handset says 34 and won't move, what now?", [1]),
        ("The arm reports error 34, whom do I ring?", [1]),
        ("The gauge says 34 °C, is that all right?", []),
        ("The gauge says 3.34, is that all right?", []),
        ("The handset says 35 and won't move, what now?", []),
        ("Do 34 people fit in there?", []),
        ("It says 34 and then 38, what now?", [1]),
        ("It shows 34 and then shows 38, what now?", []),
    ],
)
def test_a_code_that_something_shows_finds_its_row_whatever_else_is_asked(
    question: str, found: list[int]
) -> None:
    rows = strips(table(*(f"Code: {code} · Cause: cause {code} · Remedy: call" for code in (3, 34, 38))))
    assert looked_up(question, rows) == dict.fromkeys(found, SINGLED_OUT_WEIGHT)
    seats = strips(table(*(f"Row: {code} · Seats: {code + 1}" for code in (3, 34, 38))))
    assert looked_up(question, seats) == {}
    twice = strips(table("Code: 34 · Cause: dirt · Remedy: call", "Code: 34 · Cause: heat · Remedy: wait"))
    assert looked_up(question, twice) == {}


def test_an_abbreviation_in_the_name_of_a_column_stands_for_words_of_the_question() -> None:
    rows = [f"year: {2000 + year} · OCAuthorities: {4000 + year} · OCActivity: {year}" for year in range(5)]
    question = "How many original classification authorities were there in the government in 2003?"
    assert list(looked_up(question, strips(table(*rows)))) == [3]
    assert not looked_up(question.replace("original", "secret"), strips(table(*rows)))
