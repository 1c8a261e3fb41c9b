"""Which type of answer a question expects, and what has the form of one."""

from __future__ import annotations

import pytest

from localcrag.crag.doubts.answer_types import lacks_asked_type


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("What did the cabinet cost?", "No: 3 · What: cabinet for the keys · Due: 2026-02-16", True),
        ("What did the cabinet cost?", "What: cabinet · Price 2026: 412", False),
        ("What did the cabinet cost?", "It was given to us for free.", False),
        ("How much does the saw cost?", "The saw cost 890.", False),
        ("What will the rent be in the new flats?", "12 flats with controlled rents for 20 years", True),
        ("What will the rent be in the new flats?", "The rent is 9.80 a square metre.", False),
        ("What is the fee for?", "It is for the upkeep of the paths.", False),
        ("What is the price list called?", "It is called the yellow sheet.", False),
        ("Which fee rises most?", "The one for parking rises most.", False),
        ("what would Lind take for the ladder up to the roof", "A ladder of 3.8 m is not priced.", True),
        ("what would Lind take for the ladder up to the roof", "The ladder would be 640 euros.", False),
        ("What did Ann take for lunch?", "She took bread.", False),
        ("What extra does it cost to print elsewhere?", "Pages go there by taxi.", True),
        ("Was kostet ein Stellplatz?", "Der Stellplatz liegt im Hof.", True),
        ("Combien coûte la cabane ?", "La cabane coûte 34 la nuit.", False),
    ],
)
def test_an_amount_of_money(question: str, text: str, lacks: bool) -> None:
    assert lacks_asked_type(question, text) is lacks


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("Bo did not reach Ms Orr. What is her phone number?", "Bo reached 5 of 7 on 3 May 2026.", True),
        ("What is Ms Orr's phone number?", "Ms Orr, 0555 240 77", False),
        ("Six hours without water. Next number to ring?", "Repair · Gold: 4 hours · Silver: 8 hours", True),
        ("Six hours without water. Next number to ring?", "Then ring 0555 770 710.", False),
        ("Which number do I dial for help?", "Help by telephone from 8:00 to 16:30: 4455.", False),
        ("What is the code of the phone number field?", "It is optional.", False),
        ("What is Ms Orr's e-mail address?", "Ms Orr lives in Bath.", True),
        ("What is Ms Orr's e-mail address?", "orr@post.example", False),
        ("What is the web address of the town?", "The town is on the web.", True),
        ("What is the web address of the town?", "town.example/pool", False),
        ("What is the address of Ms Orr?", "Ms Orr has moved.", True),
        ("What is the address of Ms Orr?", "She has moved to Heron Path.", False),
    ],
)
def test_a_number_or_an_address_to_reach_someone(question: str, text: str, lacks: bool) -> None:
    assert lacks_asked_type(question, text) is lacks


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("What's the PIN of the phone in the safe?", "Its PIN is with Ms Vance.", True),
        ("What's the PIN of phone 4711?", "Phone 4711; its PIN is with Ms Vance.", True),
        ("What's the PIN of the phone in the safe?", "PIN: 0815", False),
        ("What happens after three wrong PINs?", "The card is kept.", False),
        ("Which pin takes 5 volts?", "The left one.", False),
        ("What is the password of the network?", "The password is kept in the safe.", True),
        ("What is the password of the network?", "The password is heron.", False),
        ("wifi password guest-net", "name: guest-net · Mbit/s: 40 · remarks: off at night", True),
        ("wifi password guest-net", "name: guest-net · password: heron-12", False),
        ("password length", "At least: 12", False),
        ("forgot password", "Ask: Mr Finch", False),
    ],
)
def test_a_code(question: str, text: str, lacks: bool) -> None:
    assert lacks_asked_type(question, text) is lacks


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("how heavy is the goblet", "It is 31 centimetres high and holds a litre.", True),
        ("how heavy is the goblet", "A goblet of 2.3 kg.", False),
        ("how heavy is the goblet", "Weight (g): 940", False),
        ("How much does a crate weigh?", "article: crate · stock: 12", True),
        ("How heavy is the traffic?", "It is worst at 8:00.", False),
    ],
)
def test_a_weight(question: str, text: str, lacks: bool) -> None:
    assert lacks_asked_type(question, text) is lacks


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("At what time does the pool open?", "The pool opens on 3 May.", True),
        ("At what time does the pool open?", "The pool opens at 9.", False),
        ("At what time does the pool open?", "The pool opens at noon.", False),
        ("Within what time is it paid back?", "It is paid back within 30 days.", False),
        ("At what times do the meals come?", "the list of 10:30 is missing", True),
        ("At what times do the meals come?", "at 10:30 and 16:00", False),
        ("Do we owe more than others? Give me both numbers", "The others owe 940 euros.", True),
        ("Do we owe more than others? Give me both numbers", "The others owe 940 euros, we 622.", False),
    ],
)
def test_a_time_or_two_numbers(question: str, text: str, lacks: bool) -> None:
    assert lacks_asked_type(question, text) is lacks


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        (
            "¿Qué voltaje se obtiene entre el zinc y el cobre?",
            "Crear una fuente de voltaje.",
            True,
        ),
        ("¿Qué voltaje se obtiene entre el zinc y el cobre?", "Se obtienen 0.9 V.", False),
        ("Which temperature does the oven need?", "It needs a low temperature.", True),
        ("Which release of Mere moved to GTK3?", "Migrated from GTK2 to GTK3.", True),
        ("Which release of Mere moved to GTK3?", "Release 3.00: Migrated from GTK2 to GTK3.", False),
        ("What is the fax number of the court?", "name: Court · phone: (217) 277-2100", True),
        ("What is the fax number of the court?", "name: Court · fax: (217) 277-2101", False),
    ],
)
def test_a_measure_a_release_or_a_fax_number(question: str, text: str, lacks: bool) -> None:
    assert lacks_asked_type(question, text) is lacks


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("Which firm builds the bridge?", "Built of larch on steel.", True),
        (
            "Which firm supplies the Dark Ridge lamps?",
            "The district of Dark Ridge has 24 lamps from May.",
            True,
        ),
        ("Which firm builds the bridge?", "Toft builds it.", False),
        ("Which carrier brings it?", "It comes by Norrwave.", False),
        ("What supplier do we use?", "Part: pump · Supplier: Toft & Sons", False),
        ("Which company should I ask?", "Ask the one that built it.", False),
    ],
)
def test_a_firm_is_told_by_a_name(question: str, text: str, lacks: bool) -> None:
    assert lacks_asked_type(question, text) is lacks


@pytest.mark.parametrize(
    ("text", "headings", "lacks"),
    [
        ("Prize draw: one day on the boat, drawn on Sunday at 16:00", "", True),
        ("Prize draw: one day on the boat, drawn on Sunday at 16:00", "Trips of Ada Lund", False),
        ("The prize draw was won by Ada.", "", False),
        ("The caretaker won it.", "", False),
    ],
)
def test_someone_is_told_by_a_word_that_the_question_has_not(text: str, headings: str, lacks: bool) -> None:
    assert lacks_asked_type("Who won the day on the boat in the prize draw?", text, headings) is lacks


@pytest.mark.parametrize(
    ("question", "text", "lacks"),
    [
        ("When was the last miller born?", "Milling ceased in 1968; the last miller was Gwenda.", True),
        ("When was the last miller born?", "Gwenda, the last miller, born in 1901, sold it.", False),
        ("Where was Gwenda born?", "Name: Gwenda · Birthplace: Rouen", False),
        ("In which year was Gwenda born?", "Gwenda (* 1901) sold the mill.", False),
        ("When did Gwenda sell it?", "She sold it in 1968.", False),
    ],
)
def test_a_birth(question: str, text: str, *, lacks: bool) -> None:
    assert lacks_asked_type(question, text) is lacks


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("No.: WHM 12 · Name: Model 'Constance' · Period: c. 1900 · How: gift · Room: 1", True),
        ("No.: WHM 12 · Name: Model 'Constance' · Maker: T. Hale · Period: c. 1900", False),
        ("Model 'Constance', by a shipwright of the yard.", False),
    ],
)
def test_who_made_something_is_told_by_a_cell_that_may_be_a_name(text: str, lacks: bool) -> None:
    assert lacks_asked_type("Who built the model Constance?", text) is lacks


def test_who_won_is_not_told_by_a_row_of_the_programme() -> None:
    asked = "Who won the tug of war of parents against teachers?"
    assert lacks_asked_type(asked, "Time: 15:45 · Act: Tug of war: parents against teachers")
    assert not lacks_asked_type(asked, "Act: Tug of war · Winner: Teachers of Oakmere")


@pytest.mark.parametrize(
    ("row", "lacks"),
    [
        ("Name: Tobias · Mon 26: L · Hours (h): 40 · Overtime (min): 0", True),
        ("Name: Tobias · Role: Reception · Hours (h): 40 · Rate: 14", False),
        ("Name: Tobias · Hours (h): 40 · Wage (EUR): 640", False),
    ],
)
def test_hours_are_no_wage(row: str, *, lacks: bool) -> None:
    assert lacks_asked_type("How much does Tobias earn per hour?", row) is lacks


def test_a_search_line_asks_for_what_it_begins_with() -> None:
    told = "The school lets us use its car park until 6 pm; the gate code changes each month."
    assert lacks_asked_type("gate code for the school car park", told)
    assert not lacks_asked_type("gate code for the school car park", "The gate code is 4471 until June.")
    assert not lacks_asked_type("change of the gate code", told)
