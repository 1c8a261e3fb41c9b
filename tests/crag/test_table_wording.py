"""Questions over a table in the words that people use, in English and German."""

from __future__ import annotations

import pytest

from localcrag.crag.answering.aggregation import MAX_LISTED_ROWS, aggregated
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_answers.table_matching import matched
from localcrag.crag.table_answers.table_questions import asks_for_rows, recognised
from localcrag.crag.table_answers.total_wording import asks_for_total
from localcrag.types import Aggregate
from tests.crag.test_aggregation import computed, passages, value

CLAIMS = [
    "Travel claims",
    "Employee: Ann · Date: 2024-04-02 · Type: Train · Amount: €10.50 · Receipt: yes",
    "Employee: Bo · Date: 2024-04-03 · Type: Taxi · Amount: €20.00 · Receipt: no",
    "Employee: Ann · Date: 2024-05-04 · Type: Hotel · Amount: €99.00 · Receipt: no",
    "Employee: Ann · Date: 2024-04-05 · Type: Train · Amount: €12.00 · Receipt: yes",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What did Ann claim in total in April 2024?", "€22.50"),
        ("What did Ann spend in total?", "€121.50"),
        ("What has Ann claimed in total?", "€121.50"),
        ("What was claimed in total?", "€141.50"),
        ("How much did Bo claim?", "€20.00"),
        ("What did Ann donate in total?", None),
        ("What did Cy claim in total?", None),
        ("What did Ann claim?", None),
        ("How much is the claim of Ann?", None),
        ("Was hat Ann im April insgesamt abgerechnet?", "€22.50"),
        ("Wie viel hat Ann ausgegeben?", "€121.50"),
    ],
)
def test_what_someone_claimed_is_added_up(question: str, answer: str | None) -> None:
    assert value(question, CLAIMS) == answer


def test_a_question_of_one_word_is_none_over_a_table() -> None:
    assert recognised("What?") is None


BELEGE = ["Posten: Bahn · Betrag: 10 · Beleg: ja", "Posten: Taxi · Betrag: 20 · Beleg: nein"]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("How many travel claims have no receipt?", CLAIMS, "2"),
        ("How many claims are without a receipt?", CLAIMS, "2"),
        ("How many claims of Ann have no receipt?", CLAIMS, "1"),
        ("What is the total amount of the claims with no receipt?", CLAIMS, "€119.00"),
        ("How many claims have a receipt?", CLAIMS, "2"),
        ("How many claims with a receipt are there?", CLAIMS, "2"),
        ("How many claims have no place?", CLAIMS, None),
        ("How many claims have no type?", CLAIMS, None),
        ("How many claims have no receipt and no date?", CLAIMS, None),
        ("How many claims do not have a receipt?", CLAIMS, "2"),
        ("How many employees never have no receipt?", CLAIMS, None),
        ("Wie viele Posten haben keinen Beleg?", BELEGE, "1"),
        ("Wie viele Posten ohne Beleg gibt es?", BELEGE, "1"),
        ("Wie viele Posten mit Beleg gibt es?", BELEGE, "1"),
    ],
)
def test_what_a_row_lacks_is_a_column_that_says_no(
    question: str, rows: list[str], answer: str | None
) -> None:
    assert value(question, rows) == answer


def test_the_name_of_the_sheet_below_other_lines_says_what_its_rows_are() -> None:
    rows = ["Approved by R. Falk in May", *CLAIMS[1:]]
    assert value("How many claims have no receipt?", rows) is None
    assert value("How many farms have no receipt?", rows) == "2"


def test_the_amount_of_something_is_a_column_of_that_name_if_there_is_one() -> None:
    assert value("What is the total amount of the claims?", CLAIMS) == "€141.50"
    assert value("What is the total amount of the claims of Ann?", CLAIMS) == "€121.50"
    sheep = ["Farm: A · Sheep: 4", "Farm: B · Sheep: 9"]
    assert value("What is the total amount of sheep?", sheep) == "13"


RISKS = [
    "ID: R1 · Risk: Cyber attack · Category: IT · Owner: Moen",
    "ID: R2 · Risk: Listeria · Category: Food · Owner: Berg",
    "ID: R3 · Risk: Ammonia leak · Category: Safety · Owner: Moen",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which risks does Moen own?", "Cyber attack (R1); Ammonia leak (R3)"),
        ("What risks does Berg own?", "Listeria (R2)"),
        ("Which categories does Moen own?", "IT (R1); Safety (R3)"),
        ("Which risk does Moen own?", None),
        ("Which risks does Moen review?", None),
        ("Which risks does Moen not own?", None),
        ("Which risks do we own?", None),
        ("Which boats does Moen own?", None),
        ("Which risks are there?", None),
    ],
)
def test_what_someone_has_is_listed(question: str, answer: str | None) -> None:
    assert value(question, RISKS) == answer


BOXES = [
    "Box: A · Items: 212 · Scanned: true · State: good · Key: brass",
    "Box: B · Items: 0 · Scanned: false · State: mouldy · Key: –",
    "Box: C · Items: 188 · Scanned: false · State: good · Key: iron",
]
LAGER = ["Artikel: Dübel · Bestand: 0 · Bestellt: ja", "Artikel: Winkel · Bestand: 35 · Bestellt: nein"]
VUELOS = ["Vuelo: IB 210 · Opera: sí", "Vuelo: IB 212 · Opera: no"]
ARTICLES = ["Article: Scie · Stock: 0 · Réservé: oui", "Article: Rabot · Stock: 2 · Réservé: non"]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("Which boxes are not scanned?", BOXES, "B; C"),
        ("Which boxes haven't been scanned yet?", BOXES, "B; C"),
        ("Which boxes have scanned = false?", BOXES, "B; C"),
        ("Which boxes are scanned?", BOXES, "A"),
        ("Which boxes have no key?", BOXES, "B"),
        ("Which boxes are in a good state?", BOXES, "A; C"),
        ("Which boxes are not good?", BOXES, "B"),
        ("How many boxes are not scanned?", BOXES, "2"),
        ("Which good boxes are not scanned?", BOXES, "C"),
        ("Which boxes are not scanned and not good?", BOXES, None),
        ("Which boxes are not heavy?", BOXES, None),
        ("Which box is not scanned?", BOXES, None),
        ("Which boxes are out of stock?", BOXES, None),
        ("Who is not scanned?", BOXES, None),
        ("Who has no receipt?", CLAIMS, "Bo; Ann"),
        ("Which articles are out of stock?", ARTICLES, "Scie"),
        ("Which articles are in stock?", ARTICLES, "Rabot"),
        ("Which articles are sold out?", [f"{row} · Shelf stock: 3" for row in ARTICLES], None),
        ("Welche Artikel sind nicht auf Lager?", LAGER, "Dübel"),
        ("Welche Artikel sind gerade ausverkauft?", LAGER, "Dübel"),
        ("Welche Artikel sind noch nicht bestellt?", LAGER, "Winkel"),
        ("¿Qué vuelos no operan?", VUELOS, "IB 212"),
        ("Quels articles ne sont plus en stock ?", ARTICLES, None),
        ("Quels articles ne sont pas en stock ?", ARTICLES, "Scie"),
        ("Quels articles sont épuisés ?", ARTICLES, "Scie"),
        ("Quels articles ne sont pas réservés ?", ARTICLES, "Rabot"),
    ],
)
def test_the_rows_in_a_state_are_listed_and_those_that_are_not(
    question: str, rows: list[str], answer: str | None
) -> None:
    assert value(question, rows) == answer


def test_a_code_is_listed_with_the_name_of_its_row() -> None:
    rows = ["No.: F-1 · Fault: No count · Rating: high", "No.: F-2 · Fault: Late file · Rating: low"]
    rows = ["Findings", *rows, "No.: F-3 · Fault: Open access · Rating: high"]
    assert value("Which findings are rated high?", rows) == "F-1 (No count); F-3 (Open access)"


def test_a_list_is_shown_as_such_and_cites_all_of_its_rows() -> None:
    found = computed("Which risks does Moen own?", RISKS)
    assert found is not None and found.computation.operation is Aggregate.LIST
    assert found.text == (
        "Risk: Cyber attack (R1) [1], Ammonia leak (R3) [2]\n\n"
        "(Computed from 2 rows of farms.csv where Owner = Moen, column Risk.)"
    )
    assert [row.text for row in found.rows] == [RISKS[0], RISKS[2]]


def test_the_number_that_is_compared_stands_beside_what_is_listed() -> None:
    rows = ["State: Ohio · Income: 33", "State: Iowa · Income: 21", "State: Utah · Income: 35"]
    found = computed("Which states have an income above 30?", rows)
    assert found is not None and found.computation.value == "Ohio; Utah"
    assert found.text.startswith("State: Ohio (33) [1], Utah (35) [2]")
    ranked = [f"Rank: {at} · Airport: {name} · Change: {by}" for at, name, by in (
        (1, "Gatwick", 2), (2, "Stansted", 24), (3, "Newark", 31))]  # fmt: skip
    found = computed("Which airports have a change of more than 20?", ranked)
    assert found is not None and found.text.startswith("Airport: Stansted (24) [1], Newark (31) [2]")


def test_a_list_of_one_name_alone_is_none() -> None:
    rows = [
        "Land: Wales · Club: Q · Won: 3",
        "Land: Wales · Club: R · Won: 4",
        "Land: Kent · Club: S · Won: 5",
    ]
    assert value("Which lands are Wales?", rows) is None


def test_a_list_names_each_value_once_and_is_none_if_it_is_too_long() -> None:
    rows = [f"ID: K{n} · Kind: {'ab'[n % 2]} · Owner: Moen" for n in range(6)]
    assert value("Which kinds does Moen own?", rows) == "a; b"
    many = [f"Thing: T{n} · Owner: Moen" for n in range(MAX_LISTED_ROWS + 1)]
    assert value("Which things does Moen own?", many) is None
    assert value("Which things does Moen own?", many[1:]) is not None


TICKETS = [
    "ticket_id: T-1 · opened: 2024-01-03 · product: Switch · status: open · hours_spent: 3",
    "ticket_id: T-2 · opened: 2024-01-04 · product: Router · status: closed · hours_spent: 6",
    "ticket_id: T-3 · opened: 2024-02-05 · product: Router · status: open · hours_spent: 1",
    "ticket_id: T-4 · opened: 2024-02-06 · product: Switch · status: closed · hours_spent: 2",
]
PRICES = [
    "Product code: F-1 · Name: Carton · Lead time: 15",
    "Product code: S-9 · Name: Tray · Lead time: 12",
]
VISITS = [
    "Day: 1 · Ticket no: 4 · Hours: 1",
    "Day: 2 · Ticket no: 4 · Hours: 2",
    "Day: 3 · Ticket no: 7 · Hours: 3",
]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("How many tickets are open?", TICKETS, "2"),
        ("How many tickets have the status closed?", TICKETS, "2"),
        ("How many tickets were opened in January 2024?", TICKETS, "2"),
        ("How many tickets were opened?", TICKETS, None),
        ("How many products are there?", TICKETS, "2"),
        ("How many customers are open?", TICKETS, None),
        ("Which ticket has the most hours spent?", TICKETS, "6"),
        ("Which product has the shortest lead time?", PRICES, "12"),
        ("How many products are there?", PRICES, "2"),
        ("How many different tickets are there?", VISITS, "2"),
        ("How many different tickets are there?", [row.replace("Ticket no", "Seat") for row in VISITS], None),
    ],
)
def test_what_a_column_numbers_is_what_its_rows_are(
    question: str, rows: list[str], answer: str | None
) -> None:
    assert value(question, rows) == answer


@pytest.mark.parametrize("verb", ["got", "gets", "received", "has"])
def test_whoever_got_the_most_has_the_most(verb: str) -> None:
    rows = ["Sales representatives", "Name: Ann · Bonus (EUR): 8400", "Name: Bo · Bonus (EUR): 9925"]
    assert value(f"Which sales representative {verb} the highest bonus?", rows) == "9925"


SERVICE = [
    f"job: {n} · date: {day} · pump: {pump} · work: {work} · hours: {hours} · who: {who} · took_h: {took}"
    for n, (day, pump, work, hours, who, took) in enumerate(
        (
            ("2025-07-01", "P1", "oil change", 900, "Ann", "1.5"),
            ("2025-07-04", "P2", "seal renewed", 5100, "Bo", "2"),
            ("2025-08-02", "P1", "seal renewed", 1400, "Ann", "3"),
            ("2025-09-12", "P2", "oil change", 6200, "Ann", "1"),
            ("2025-10-30", "P1", "oil change", 2300, "Bo", "1.25"),
            ("2025-11-02", "P2", "seal renewed", 7000, "Bo", "2"),
            ("2026-01-15", "P1", "bearing replaced", 3100, "Ann", "4"),
            ("2026-02-01", "P2", "bearing replaced", 8100, "Bo", "4"),
        ),
        10,
    )
]

RESTS = [f"{row} · rest_min: {7 - n}" for n, row in enumerate(SERVICE)]


def test_the_readings_of_a_counter_are_not_added_up() -> None:
    found = computed("How many hours did Ann work in total?", SERVICE)
    assert found is not None and (found.computation.column, found.computation.value) == ("took_h", "9.5")
    assert value("What is the total of hours?", [row.partition(" · took")[0] for row in SERVICE]) is None
    other = [f"{row} · break_h: {n % 3}" for n, row in enumerate(SERVICE)]
    assert value("How many hours did Ann work in total?", other) is None


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("How many minutes did Ann spend in total?", RESTS, "17"),
        ("When was the oil of P1 changed last?", SERVICE, "2025-10-30"),
        ("When was the last oil change of P1?", SERVICE, "2025-10-30"),
        ("When was the seal of P2 last renewed?", SERVICE, "2025-11-02"),
        ("When was the seal of P1 first renewed?", SERVICE, "2025-08-02"),
        ("When was the belt of P1 last renewed?", SERVICE, None),
    ],
)
def test_times_are_told_by_the_words_in_the_cells(question: str, rows: list[str], answer: str | None) -> None:
    assert value(question, rows) == answer


def test_a_verb_that_stands_in_no_cell_makes_an_answer_to_be_checked() -> None:
    (table,) = tables_of(passages(SERVICE))
    for question, loose in (("seal of P2 last replaced", True), ("seal of P2 last renewed", False)):
        form = recognised(f"When was the {question}?")
        match = matched(form, table) if form is not None else None
        assert match is not None and match.loose is loose
        found = aggregated(match)
        assert found is not None and found.computation.value == "2025-11-02"


def test_a_time_that_is_past_is_no_superlative_and_a_total_loss_no_sum() -> None:
    assert recognised("What did a family pay for the pool last year?") is None
    assert not asks_for_rows("What was wrong with the restore of the pictures last June?")
    assert asks_for_rows("What was the last delivery of oak?") and recognised("Which is the last month?")
    assert not asks_for_total("How soon must it be usable after a total loss?")
    assert asks_for_total("What is the total of the fees?")
    assert asks_for_total("How much rain fell in the whole of 2013?")
    assert asks_for_total("Red cards of all the clubs together in the 2025 table?")
    assert not asks_for_total("What did a family pay for the whole season?")
    assert asks_for_total("What is the mean starting salary in the west?")
    assert asks_for_total("approved travel grants sum in euros?") and asks_for_total("grants sum?")
    assert not asks_for_total("How high is the sum?") and not asks_for_total("Who gets a lump sum?")


RATES = [
    "Bank: Nord · Interest rate: 3.45",
    "Bank: Hall · Interest rate: 2.95",
    "Bank: Credo · Interest rate: 4.1",
]
BUDGET = ["Item: Rings · Estimate: 1,200 · Final: 1,475", "Item: Food · Estimate: 5,000 · Final: 4,900"]
TIMES = ["Course: Yoga · Begin: 18:00 · End: 19:15", "Course: Judo · Begin: 17:00 · End: 20:30"]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("Which bank has the best interest rate for a loan?", ["Loans", *RATES], "2.95"),
        ("Which bank has the worst interest rate for a loan?", ["Loans", *RATES], "4.1"),
        ("Which savings bank has the best interest rate?", ["Savings", *RATES], "4.1"),
        ("Which bank has the best interest rate?", RATES, None),
        ("highest interest rate", RATES, "4.1"),
        ("Which hotel has the best rating?", ["Hotel: A · Rating: 4.1", "Hotel: B · Rating: 4.6"], "4.6"),
        ("Which hotel has the best price?", ["Hotel: A · Price: 90", "Hotel: B · Price: 75"], "75"),
        ("Which hotel is the best?", ["Hotel: A · Price: 90", "Hotel: B · Price: 75"], None),
        ("the cheapest offer", ["Hotel: A · Price: 90", "Hotel: B · Price: 75"], "75"),
        ("How much did the wedding cost in the end?", ["Wedding", *BUDGET], "6,375"),
        ("What did the wedding cost in total?", ["Wedding", *BUDGET], None),
        ("What is the total final cost of the wedding?", ["Wedding", *BUDGET], "6,375"),
        ("sum of the final costs of the wedding", ["Wedding", *BUDGET], "6,375"),
        ("How much did the house cost in the end?", ["Wedding", *BUDGET], None),
        ("Which course starts earliest?", TIMES, "17:00"),
        ("Which course ends latest?", TIMES, "20:30"),
        ("Which course is the latest?", TIMES, None),
        ("Wie hoch ist die Summe der Beträge?", ["Text: A · Betrag: 4,50", "Text: B · Betrag: 1,25"], "5,75"),
    ],
)
def test_the_column_and_the_direction_are_those_that_are_meant(
    question: str, rows: list[str], answer: str | None
) -> None:
    assert value(question, rows) == answer


WARRANTIES = [
    "Host: tern · Bought: 2019-03-01 · Warranty until: 2022-03-01",
    "Host: gull · Bought: 2098-03-01 · Warranty until: 2101-03-01",
    "Host: skua · Bought: 2018-03-01 · Warranty until: 2021-03-01",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which hosts are out of warranty?", "tern; skua"),
        ("Which hosts have an expired warranty?", "tern; skua"),
        ("Which hosts are out of order?", None),
    ],
)
def test_what_has_expired_by_today_is_listed(question: str, answer: str | None) -> None:
    assert value(question, WARRANTIES) == answer


BIKES = [
    "Bike: City · Available: yes · Deposit: 50 · State: passed",
    "Bike: Tandem · Available: no · Deposit: 120 · State: failed",
]
TASKS = [
    "Task: Flyers · Due: 2021-10-01 · State: open",
    "Task: Website · Due: 2020-08-15 · State: done",
    "Task: Party · Due: 2101-07-01 · State: open",
]
RENTED = [f"Rental: R{n} · Bike: Tandem · Days: {n}" for n in (2, 3, 4)]
PRICES = [f"Bike: {bike} · Price per day: {price}" for bike, price in (("City", 14), ("Tandem", 30))]
TRAINS = ["Train: T1 · Leaves: 06:12 · Sundays: yes", "Train: T2 · Leaves: 22:48 · Sundays: no"]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("Which bikes are not available?", BIKES, "Tandem"),
        ("How many bikes are available?", BIKES, "1"),
        ("Which bikes failed?", BIKES, "Tandem"),
        ("How many bikes passed?", BIKES, "1"),
        ("Which tasks are overdue?", TASKS, "Flyers"),
        ("Which tasks are overdue?", BIKES, None),
        ("Which trains do not run on Sundays?", TRAINS, "T2"),
        ("Which trains run on Sundays?", TRAINS, "T1"),
        ("What is the average weight?", BIKES, None),
        ("last train", TRAINS, "22:48"),
        ("Welcher Train ist der letzte?", TRAINS, "22:48"),
        ("How many days was the Tandem rented in total?", ["Bike rental", *RENTED], "9"),
        ("How many days was the Tandem rented in total?", ["Bike rental", *PRICES], None),
        ("What is the total deposit of the rented bikes?", ["Bike rental", *BIKES], "170"),
    ],
)
def test_states_are_told_by_what_a_column_says(question: str, rows: list[str], answer: str | None) -> None:
    assert value(question, rows) == answer


CUES = ["Cue: preset · fade_s: 0", "Cue: farewell · fade_s: 14", "Cue: dawn · fade_s: 9"]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("Which cue fades slowest?", CUES, "14"),
        ("Which runner was the fastest?", ["Runner: A · Minutes: 61", "Runner: B · Minutes: 58"], "58"),
        ("Which train is the fastest?", ["Train: A · Speed: 160", "Train: B · Speed: 200"], "200"),
        ("Which train is the slowest?", ["Train: A · Speed: 160", "Train: B · Speed: 200"], "160"),
    ],
)
def test_the_slowest_takes_longest(question: str, rows: list[str], answer: str) -> None:
    assert value(question, rows) == answer
