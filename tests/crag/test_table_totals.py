"""Rows that add others up are not counted with them, and rows that hold one thing twice are not added up."""

from __future__ import annotations

import pytest

from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_answers.table_totals import MAX_RUNS, totals_of
from tests.crag.test_aggregation import computed, passages, value

BRANCHES = [
    "Branch: Leeds · Staff: 12 · Turnover: 410000",
    "Branch: York · Staff: 8 · Turnover: 260000",
    "Branch: Total North · Staff: 20 · Turnover: 670000",
    "Branch: Bath · Staff: 9 · Turnover: 300000",
    "Branch: Exeter · Staff: 7 · Turnover: 240000",
    "Branch: Total South · Staff: 16 · Turnover: 540000",
    "Branch: Grand total · Staff: 36 · Turnover: 1210000",
]
PIVOT = [
    "Department: Engineering · Headcount: 54",
    "Department: Hardware · Headcount: 21",
    "Department: Software · Headcount: 33",
    "Department: Sales · Headcount: 30",
    "Department: Inside sales · Headcount: 12",
    "Department: Field sales · Headcount: 18",
    "Department: Grand Total · Headcount: 84",
]
QUESTIONS = [
    ("What is the total turnover?", "1,210,000"),
    ("Which branch has the most turnover?", "410000"),
    ("How many branches are there?", "4"),
    ("What is the average turnover?", "302,500"),
    ("How many branches have more than 8 staff?", "2"),
]


def labelled(north: str, south: str, grand: str) -> list[str]:
    """The branches with other labels of their totals."""
    names = {"Total North": north, "Total South": south, "Grand total": grand}
    rows = "\n".join(BRANCHES)
    for label, other in names.items():
        rows = rows.replace(label, other)
    return rows.split("\n")


@pytest.mark.parametrize(("question", "answer"), QUESTIONS)
@pytest.mark.parametrize(
    "labels",
    [
        ("Total North", "Total South", "Grand total"),
        ("North Total", "South Total", "Grand Total"),
        ("Subtotal", "Subtotal", "Total"),
        ("Summe Nord", "Summe Süd", "Gesamtsumme"),
        ("Zwischensumme Nord", "Zwischensumme Süd", "Insgesamt"),
        ("Nord Ergebnis", "Süd Ergebnis", "Gesamtergebnis"),
    ],
)
def test_a_subtotal_anywhere_is_not_counted(question: str, answer: str, labels: tuple[str, str, str]) -> None:
    assert value(question, labelled(*labels)) == answer


@pytest.mark.parametrize(("question", "answer"), QUESTIONS)
def test_a_subtotal_above_its_rows_or_without_a_grand_total_is_not_counted(
    question: str, answer: str
) -> None:
    leeds, york, north, bath, exeter, south, grand = BRANCHES
    assert value(question, [leeds, york, north, bath, exeter, south]) == answer
    assert value(question, [grand, north, leeds, york, south, bath, exeter]) == answer


def test_a_subtotal_may_be_said_behind_the_name_of_its_group() -> None:
    rows = [
        "Region: North · Branch: Leeds · Turnover: 41",
        "Region: North · Branch: York · Turnover: 26",
        "Region: North · Branch: Total · Turnover: 67",
        "Region: South · Branch: Bath · Turnover: 30",
        "Region: South · Branch: Exeter · Turnover: 24",
        "Region: South · Branch: Total · Turnover: 54",
    ]
    assert value("What is the total turnover?", rows) == "121"
    assert value("How many branches are there in the north?", rows) == "2"
    damages = [row.replace("Branch", "Damage").replace("67", "99").replace("54", "99") for row in rows]
    assert value("What is the total turnover?", damages) == "319"


def test_a_row_that_is_named_like_a_total_and_is_none_makes_a_question_unclear_if_it_counts() -> None:
    rows = ["Tool: Level · Price: 40", "Tool: Total station · Price: 900", "Tool: Tripod · Price: 60"]
    assert value("What is the total price?", rows) is None
    assert value("How many tools have a price of less than 100?", rows) == "2"


def test_a_total_of_rounded_numbers_is_one() -> None:
    rows = ["Town: A · Cost: 1.2", "Town: B · Cost: 3.4", "Town: Total X · Cost: 4.6"]
    rows += ["Town: C · Cost: 12.3", "Town: D · Cost: 4.5", "Town: Total Y · Cost: 16.9"]
    rows += ["Town: Total · Cost: 21.5"]
    assert value("How many towns are there?", rows) == "4"
    assert value("What is the total cost?", rows) == "21.5"


def test_of_a_pivot_only_the_total_is_told_and_that_from_its_row() -> None:
    found = computed("What is the total headcount?", PIVOT)
    assert found is not None and found.computation.value == "84"
    assert "where Department = Grand Total" in found.text
    assert [row.text for row in found.rows] == [PIVOT[-1]]
    assert value("How many departments are there?", PIVOT) is None
    assert value("Which department has the lowest headcount?", PIVOT) is None
    assert value("What is the average headcount?", PIVOT) is None
    assert value("How many departments have a headcount of more than 15?", PIVOT) is None
    assert value("What is the total headcount of Hardware?", PIVOT) == "21"


def test_a_cell_in_the_row_of_totals_that_is_no_sum_is_not_told_as_one() -> None:
    rows = ["Item: Desk · Pieces sold: 4 · Price: 320", "Item: Lamp · Pieces sold: 6 · Price: 40"]
    rows += ["Item: Total · Pieces sold: 10 · Price: 152"]
    assert value("What is the total price?", rows) is None
    assert value("Which item is the most expensive?", rows) == "320"


def test_a_total_over_rows_without_a_number_contradicts_nothing() -> None:
    rows = ["Farm: A · Sheep: 4", "Farm: B · Sheep: n/a", "Farm: C · Sheep: 9", "Farm: Total · Sheep: 20"]
    assert value("Which farm has the most sheep?", rows) == "9"
    assert value("What is the total number of sheep?", rows) == "20"


def test_a_row_for_all_need_not_be_a_sum() -> None:
    rows = ["Name: Ann · Score: 40", "Name: Bo · Score: 60", "Name: Average · Score: 50"]
    assert value("Who has the highest score?", rows) == "60"
    assert value("Who has the highest score?", [*rows[:2], "Name: All · Score: 50"]) == "60"
    skills = [f"Skill: {('expert', 'average')[at % 2]} · Score: {at}" for at in range(10)]
    assert value("What is the highest score?", skills) == "9"
    assert value("What is the total score?", skills) == "45"


def test_thousands_of_subtotals_are_found_in_time() -> None:
    rows = []
    for group in range(4 * MAX_RUNS):
        rows += [f"Shop: S{group} · Sales: {group + 1}", f"Shop: Total {group} · Sales: {group + 1}"]
    (table,) = tables_of(passages(rows))
    assert totals_of(table).rows == frozenset(range(1, len(rows), 2))


COUNTRIES = ["Kenya", "Mali", "Peru", "Chile", "Japan", "Nepal", "France", "Spain", "Norway", "Egypt"]


def test_regions_among_countries_are_not_counted_with_them() -> None:
    rows = [f"Nationality: {name} · Grants: {10 + at}" for at, name in enumerate(COUNTRIES)]
    regions = ["Nationality: Asia · Grants: 900", "Nationality: Latin America & Caribbean · Grants: 800"]
    mixed = [*regions, *rows, "Nationality: World (without refugees) · Grants: 2000"]
    for table in (rows, mixed):
        assert value("Which nationality has the most grants?", table) == "19"
        assert value("How many nationalities have more than 12 grants?", table) == "7"
    towns = [row.replace("Kenya", "Asia House").replace("Mali", "World's End") for row in rows]
    assert value("How many nationalities are there?", towns) == "10"


def test_a_table_of_regions_alone_has_them_counted() -> None:
    rows = ["Region: Asia · Grants: 900", "Region: Africa · Grants: 700", "Region: Europe · Grants: 20"]
    assert value("Which region has the most grants?", [*rows, "Region: South Africa · Grants: 3"]) == "900"
