"""Questions over groups of rows: sums and numbers of each, two that are compared, and shares."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.answering.group_results import MAX_LISTED_GROUPS
from localcrag.crag.state import ComputedAnswer
from localcrag.crag.table_answers.document_matches import document_matches
from localcrag.crag.table_answers.lookup_questions import TABLE_FORMS
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.documents.corpus import LocalCorpus
from localcrag.documents.sources import LocalFile
from tests.documents.conftest import tokenizer_file

HONEY = """date,apiary,hive,beekeeper,kg
2025-05-03,Mill Meadow,H1,Ines,12.5
2025-05-03,Mill Meadow,H2,Ines,9.0
2025-05-17,Long Barn,H3,Oskar,14.0
2025-06-02,Long Barn,H3,Oskar,6.5
2025-06-20,Orchard,H4,Ines,3.0
2025-07-08,Orchard,H5,Petra,21.5
2025-07-09,Mill Meadow,H1,Petra,8.0
"""
LOANS = """Loan,Borrowed on,Reader,Title,Genre,Branch,Days late
1,2025-01-04,Mrs Quill,Dune Song,Fantasy,Harbour,0
2,2025-01-06,Tom Arden,Cold Lock,Crime,Harbour,3
3,2025-01-11,Mrs Quill,Cold Lock,Crime,Hilltop,12
4,2025-02-01,Yusuf Demir,Salt Roads,Travel,Hilltop,0
5,2025-02-03,Tom Arden,Nine Bells,Crime,Harbour,7
6,2025-02-09,Mrs Quill,Nine Bells,Crime,Hilltop,1
7,2025-03-15,Yusuf Demir,Dune Song,Fantasy,Harbour,2
8,2025-03-18,Tom Arden,Dune Song,Fantasy,Harbour,0
"""
EXPENSES = """Department;Quarter;Category;Cost
Sales;Q1;Travel;1.250,00
Sales;Q2;Software;300,50
Lab;Q1;Reagents;4.100,00
Lab;Q2;Travel;220,00
Office;Q1;Paper;80,40
Office;Q2;Paper;95,10
"""
ORDERS = """date,seller,region,product,units,amount EUR
2025-01-03,Ann,North,Honey,3,30.00
2025-01-20,Ben,South,Wax,10,25.50
2025-02-03,Ann,North,Wax,1,2.55
2025-02-11,Cleo,South,Honey,2,20.00
2025-03-01,Ben,South,Honey,1,10.00
"""
PATIENTS = """patient,gender,blood type,ward,admitted
P1,Female,A+,North,2025-01-02
P2,Male,0+,North,2025-01-09
P3,Female,A+,South,2025-02-02
P4,Male,B-,South,2025-02-03
P5,Female,0+,South,2025-02-20
P6,Male,A+,South,2025-03-01
P7,Male,AB+,North,2025-03-02
"""
BUDGET = """Item,Year,Amount
Rent,2024,900
Rent,2025,1000
Wages,2024,1200
Wages,2025,1500
Heating,2025,300
"""
FLOCKS = """id,date,farm,sheep
1,2025-01-01,Alm,10
2,2025-01-01,Berg,14
3,2025-06-01,Alm,12
4,2025-06-01,Berg,15
"""
VISITORS = """Year,Region,Visitors,Population
2023,North,100,9000
2023,South,150,8000
2024,North,170,9100
2024,South,60,8050
"""
MEDALS = """Country,Sport,Gold medals,Silver medals
Norway,Ski,3,2
Norway,Biathlon,2,4
Austria,Ski,4,1
Austria,Luge,2,0
"""
PLANETS = "Planet,Moons\nMars,2\nEarth,1\nJupiter,95\n"
TRIP = "Stretch,Miles,Nights\nBonn - Ulm,310,2\nUlm - Ennel,145,1\nEnnel - Graz,402,3\n"
AUSGABEN = """Datum;Abteilung;Kunde;Betrag
03.02.2025;Küche;Meyer;12,50
04.02.2025;Bar;Sahin;30,00
09.03.2025;Küche;Meyer;44,00
11.03.2025;Küche;Olsen;8,20
"""
FILES = {
    "honey_harvest.csv": HONEY,
    "loans.csv": LOANS,
    "expenses.csv": EXPENSES,
    "sales_2025.csv": ORDERS,
    "patients.csv": PATIENTS,
    "budget.csv": BUDGET,
    "flocks.csv": FLOCKS,
    "tourism.csv": VISITORS,
    "medals.csv": MEDALS,
    "planets.csv": PLANETS,
    "trip_to_ennel.csv": TRIP,
    "Ausgaben.csv": AUSGABEN,
}


def asked(tmp_path: Path, file: str, question: str, text: str = "") -> tuple[ComputedAnswer, bool] | None:
    """What the first form that answers computes over a file, and whether it is to be checked."""
    path = tmp_path / file
    path.write_text(text or FILES[file], encoding="utf-8")
    corpus = LocalCorpus(tokenizer_file())
    (source,) = corpus.discover([str(path)])
    assert isinstance(source, LocalFile)
    passages = corpus.split(corpus.read(source))
    for read in TABLE_FORMS:
        form = read(question)
        matches = list(document_matches(form, tables_of(passages), None)) if form is not None else []
        found = [(computed, match.loose) for match in matches if (computed := aggregated(match))]
        if len(found) == 1:
            return found[0]
    return None


LAB_FIRST = "Lab: 4.320,00; Sales: 1.550,50; Office: 175,50"
IN_Q2 = "Sales: 300,50; Lab: 220,00; Office: 95,10"
PER_APIARY = "Mill Meadow: 3; Long Barn: 2; Orchard: 2"
SURE, CHECK = False, True


@pytest.mark.parametrize(
    ("file", "question", "answer", "is_loose"),
    [
        ("honey_harvest.csv", "Which apiary harvested the most honey?", "Mill Meadow has the highest", SURE),
        ("honey_harvest.csv", "Who harvested the most kg?", "Petra has the highest total of kg: 29.5", SURE),
        ("honey_harvest.csv", "Which hive gave the least kg overall?", "H4 has the lowest", SURE),
        ("honey_harvest.csv", "In which month did we harvest the most?", "2025-05 has the highest", SURE),
        ("expenses.csv", "Which department cost the most?", "Lab has the highest total of Cost: 4.320", SURE),
        ("expenses.csv", "What category did we spend the most on?", "Reagents has", SURE),
        ("expenses.csv", "Which department spent the least?", "Office has the lowest", SURE),
        ("expenses.csv", "Which quarter was the most expensive overall?", "Q1 has the highest", SURE),
        ("loans.csv", "Which branch has the highest average days late?", "Hilltop has the highest", SURE),
        ("loans.csv", "Who has the most days late in total?", "Mrs Quill has", SURE),
        ("sales_2025.csv", "Which seller sold the most units?", "Ben has the highest total of units", SURE),
        ("sales_2025.csv", "Who sold most?", "Ben has the highest total of amount EUR: 35.50", CHECK),
        ("sales_2025.csv", "Who sold the most honey?", "Ann has", CHECK),
        ("tourism.csv", "Which year had the most visitors in total?", "2023 has", SURE),
        ("loans.csv", "Which title was borrowed most often?", "Dune Song has the most rows: 3", SURE),
        ("loans.csv", "What's the most common genre?", "Crime has the most rows: 4", SURE),
        ("loans.csv", "Which genre has the most loans?", "Crime has", SURE),
        ("patients.csv", "What is the most common blood type among the women?", "A+ has", SURE),
        ("patients.csv", "Which ward has the most patients?", "South has", SURE),
        ("honey_harvest.csv", "Which beekeeper has the most entries?", "Ines has the most rows: 3", SURE),
        ("Ausgaben.csv", "Welche Abteilung hat am meisten ausgegeben?", "Küche has the highest", SURE),
        ("Ausgaben.csv", "Welcher Kunde hat den höchsten Betrag insgesamt?", "Meyer has", SURE),
        ("Ausgaben.csv", "Welche Abteilung kommt am häufigsten vor?", "Küche has the most rows: 3", SURE),
        ("sales_2025.csv", "Did Ann or Ben sell more honey?", "Ann has the higher", CHECK),
        ("sales_2025.csv", "Who sold more units, Ann or Ben?", "Ben has the higher total of units: 11", SURE),
        ("honey_harvest.csv", "Did Ines or Oskar harvest more honey?", "Ines has the higher", SURE),
        ("honey_harvest.csv", "Which was higher in May, Mill Meadow or Long Barn?", "Mill Meadow has", SURE),
        ("expenses.csv", "Did Sales or the Lab spend more?", "Lab has the higher total of Cost", SURE),
        ("expenses.csv", "Which department spent less, Office or Sales?", "Office has the lower", SURE),
        ("budget.csv", "Which was higher in 2025, rent or wages?", "Wages has the higher", SURE),
        ("budget.csv", "Did we spend more on rent or on wages?", "Wages has", SURE),
        ("loans.csv", "Did Harbour or Hilltop have more loans?", "Harbour has more of Loan: 5", SURE),
        ("planets.csv", "Does Mars or Earth have more moons?", "Mars has the higher", SURE),
        ("sales_2025.csv", "How many more units did Ben sell than Ann?", "The difference is", SURE),
        ("expenses.csv", "How much more did the Lab spend than Sales?", "The difference is 2.769,50.", SURE),
        ("trip_to_ennel.csv", "trip to Ennel: how many miles is the longest stretch", "402", SURE),
        ("trip_to_ennel.csv", "How many miles is the shortest stretch?", "145", SURE),
        ("trip_to_ennel.csv", "How many nights has the biggest stretch?", "3", CHECK),
    ],
)
def test_the_group_with_the_most_is_told(
    tmp_path: Path, file: str, question: str, answer: str, is_loose: bool
) -> None:
    found = asked(tmp_path, file, question)
    assert found is not None
    assert answer in found[0].text
    assert found[1] is is_loose


@pytest.mark.parametrize(
    ("file", "question", "value", "is_loose"),
    [
        ("expenses.csv", "What did each department spend?", LAB_FIRST, SURE),
        ("expenses.csv", "How much did each department spend in Q2?", IN_Q2, SURE),
        ("expenses.csv", "costs by quarter", "Q1: 5.430,40; Q2: 615,60", CHECK),
        ("expenses.csv", "average cost by department", "Lab: 2.160; Sales: 775,25; Office: 87,75", SURE),
        ("honey_harvest.csv", "Total harvest by month", "2025-05: 35.5; 2025-06: 9.5; 2025-07: 29.5", SURE),
        ("honey_harvest.csv", "How many entries per apiary?", PER_APIARY, SURE),
        ("sales_2025.csv", "sales by region", "South: 55.50; North: 32.55", CHECK),
        ("loans.csv", "list the number of loans for each genre", "Crime: 4; Fantasy: 3; Travel: 1", SURE),
        ("loans.csv", "number of loans per month", "2025-01: 3; 2025-02: 3; 2025-03: 2", SURE),
        ("patients.csv", "How many patients are in each ward?", "South: 4; North: 3", SURE),
        ("tourism.csv", "total population by year", "2023: 17,000; 2024: 17,150", SURE),
        ("Ausgaben.csv", "Summe pro Monat", "2025-02: 42,50; 2025-03: 52,20", SURE),
        ("Ausgaben.csv", "Was hat jede Abteilung ausgegeben?", "Küche: 64,70; Bar: 30,00", SURE),
        ("patients.csv", "What percentage of the patients were female?", "42.9 %", SURE),
        ("patients.csv", "What proportion of patients in the South ward are male?", "50.0 %", SURE),
        ("loans.csv", "What percentage of loans were by Tom Arden?", "37.5 %", SURE),
        ("expenses.csv", "What percentage of the total cost is travel?", "24.3 %", SURE),
        ("honey_harvest.csv", "What percentage of the harvest came from Orchard?", "32.9 %", SURE),
        ("honey_harvest.csv", "What share of the kg was harvested by Petra?", "39.6 %", SURE),
        ("budget.csv", "Which share of the budget goes to rent?", "38.8 %", SURE),
        ("budget.csv", "What share of the budget went to rent in 2025?", "35.7 %", SURE),
    ],
)  # fmt: skip
def test_groups_are_listed_and_shares_computed(
    tmp_path: Path, file: str, question: str, value: str, is_loose: bool
) -> None:
    found = asked(tmp_path, file, question)
    assert found is not None
    assert found[0].computation.value == value
    assert found[1] is is_loose


@pytest.mark.parametrize(
    ("file", "question"),
    [
        ("honey_harvest.csv", "Which apiary has the most bees?"),
        ("loans.csv", "Which reader returned the most books?"),
        ("loans.csv", "Who borrowed more, Tom Arden or Yusuf Demir?"),
        ("loans.csv", "What percentage of loans were overdue?"),
        ("expenses.csv", "Which department earned the most?"),
        ("expenses.csv", "What did each employee spend?"),
        ("expenses.csv", "Did Sales or Research spend more?"),
        ("expenses.csv", "What is the cost per unit?"),
        ("flocks.csv", "Which farm has the most sheep?"),
        ("flocks.csv", "total sheep by month"),
        ("flocks.csv", "Did Alm or Berg have more sheep?"),
        ("flocks.csv", "What percentage of the sheep are at Alm?"),
        ("tourism.csv", "Which region has the largest population?"),
        ("medals.csv", "Which country has the most medals?"),
        ("medals.csv", "Which country lost the most gold medals?"),
        ("planets.csv", "Which is bigger, Mars or Earth?"),
        ("planets.csv", "What did each planet say?"),
        ("patients.csv", "What percentage of the patients were discharged?"),
        ("trip_to_ennel.csv", "How many miles is the oldest stretch?"),
        ("trip_to_ennel.csv", "How many euros is the longest stretch?"),
    ],
)
def test_what_a_table_does_not_tell_of_groups_is_left_alone(tmp_path: Path, file: str, question: str) -> None:
    assert asked(tmp_path, file, question) is None


def test_an_answer_over_groups_says_what_was_added_up_and_cites_the_rows(tmp_path: Path) -> None:
    found = asked(tmp_path, "expenses.csv", "Which department has the highest total cost?")
    assert found is not None
    assert found[0].text == (
        "Lab has the highest total of Cost: 4.320,00, of 2 rows [1][2]\n\n"
        "(Computed from 6 rows of expenses.csv, column Cost, by Department.)"
    )
    assert ["Lab" in strip.text for strip in found[0].rows] == [True, True]


def test_a_share_is_told_with_both_numbers(tmp_path: Path) -> None:
    found = asked(tmp_path, "patients.csv", "What percentage of the patients were female?")
    assert found is not None
    assert found[0].text.startswith("42.9 %: 3 of 7 rows where gender = Female [1][2][3]")


def test_of_many_groups_those_with_the_most_are_listed(tmp_path: Path) -> None:
    rows = [f"2025-01-{n % 28 + 1:02},S{n % 15},{n}.00" for n in range(1, 46)]
    text = "\n".join(["date,shop,amount EUR", *rows])
    found = asked(tmp_path, "takings.csv", "total amount by shop", text)
    assert found is not None
    assert found[0].text.startswith("Total of amount EUR by shop:\nS0: 90.00 [1]\nS14: 87.00 [2]")
    assert "and 3 more with less" in found[0].text
    assert len(found[0].rows) == MAX_LISTED_GROUPS


def test_equal_groups_are_told_to_be_equal_and_none_of_them_has_the_most(tmp_path: Path) -> None:
    text = "shop,amount EUR\nEast,3\nWest,4\nEast,5\nWest,4\n"
    found = asked(tmp_path, "takings.csv", "Did East or West earn more?", text)
    assert found is not None and found[0].text.startswith("Both have the same.")
    assert asked(tmp_path, "takings.csv", "Which shop has the highest total amount?", text) is None
