"""The words of a question that stand in the names of a table: its title, its sheet, its file."""

from __future__ import annotations

import pytest

from tests.crag.test_aggregation import value

BUDGET = [
    "Operating budget 2025 - Tarnwick Housing Association (GBP)",
    "Line: Repairs · Jan: 20 · FY 2025: 240",
    "Line: Recharges to Tarnwick Care · Jan: 5 · FY 2025: 60",
]
SALES = [
    "Lumar Outdoor - sales by region and quarter (EUR thousand)",
    "Region: West · Sales: 60",
    "Region: East · Sales: 40",
]
CUPS = ["Paper cups report 2025", "Item: Paper cups, large · Sold: 60", "Item: Paper cups, small · Sold: 40"]
TRAMS = ["Bus and tram accidents", "Line: 1 · Accidents: 3", "Line: 2 · Accidents: 4"]
WARD6 = ["ward6_rota", "Name: Ann · Grade: Band 6 · Hours: 37", "Name: Bo · Grade: Band 5 · Hours: 20"]
WARDS = ["Ward 6 to 8 rota", "Name: Ann · Hours: 37", "Name: Bo · Hours: 20"]

TEMPERATURES = [
    "global-temp",
    *(f"year: {year} · temp: {temp}" for year, temp in ((1880, -0.17), (1909, -0.48))),
]
HALLS = ["halls", "Hall: North · Area: 60", "Hall: South · Area: 40"]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("Which was the coldest year of the global temperature data?", TEMPERATURES, "-0.48"),
        ("Coldest year in the global temperature series?", TEMPERATURES, "-0.48"),
        ("Coldest year in the rainfall series?", TEMPERATURES, None),
        ("Which hall costs the most?", HALLS, None),
        ("What is the total operating budget for 2025 of Tarnwick Housing Association?", BUDGET, "300"),
        ("What is the total budget for 2025 of Tarnwick?", BUDGET, None),
        ("What is the total budget for 2025 of Tarnwick Care?", BUDGET, None),
        ("Which region had the most sales at Lumar Outdoor?", SALES, "60"),
        ("Which region had the most sales by quarter?", SALES, None),
        ("What is the total sold of paper cups?", CUPS, None),
        ("What is the total sold of the paper cups report?", CUPS, "100"),
        ("What is the total number of tram accidents?", TRAMS, None),
        ("Who on ward 6 has the most hours?", WARDS, None),
        ("Who on ward 6 has the most hours?", WARD6, "37"),
        ("Who on ward6 has the most hours?", WARD6, "37"),
        ("Who on ward 7 has the most hours?", WARD6, None),
        ("Who on ward 6 has the most hours?", [*WARD6, "Name: Cy of ward 6 · Hours: 3"], None),
    ],
)
def test_words_side_by_side_in_a_name_say_which_table_is_meant(
    question: str, rows: list[str], answer: str | None
) -> None:
    assert value(question, rows) == answer
