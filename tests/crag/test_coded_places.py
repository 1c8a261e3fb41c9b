"""Countries and states that a question names, in columns of their codes."""

from __future__ import annotations

import pytest

from localcrag.crag.table_queries.coded_places import places_said
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import said_values

TWO = ("CN", "US", "IN", "GB")
THREE = ("USA", "DEU", "NLD", "NZL")
TEAMS = ("USA", "GER", "NED", "NZL", "KOR")
STATES = ("CA", "NY", "OH", "WV")


@pytest.mark.parametrize(
    ("question", "cells", "found"),
    [
        ("How many Chinese cities are there", TWO, [(2, 1, "CN")]),
        ("How many Americans made it", TWO, [(2, 1, "US")]),
        ("How many cities of Great Britain and India", TWO, [(4, 2, "GB"), (7, 1, "IN")]),
        ("Riders from the United States or Germany", THREE, [(3, 2, "USA"), (6, 1, "DEU")]),
        ("Dutch and German riders", THREE, [(0, 1, "NLD"), (2, 1, "DEU")]),
        ("Dutch and German riders", TEAMS, [(0, 1, "NED"), (2, 1, "GER")]),
        ("Riders from New Zealand and South Korea", TEAMS, [(2, 2, "NZL"), (5, 2, "KOR")]),
        ("Offices in New York and West Virginia", STATES, [(2, 2, "NY"), (5, 2, "WV")]),
        ("Films from Italy and Brazil", ("IT,BR", "FR", "IT"), [(2, 1, "IT"), (4, 1, "BR")]),
        ("Films from Italy and Brazil", ("IT; FR", "FR"), [(2, 1, "IT")]),
        ("Offices in California", TWO, []),
        ("chinese cities", TWO, []),
        ("How many Chinese cities", ("cn", "us"), []),
        ("How many Chinese cities", ("CN", "X1", "Q7", "ZZ"), []),
        ("How many Chinese cities", ("CN",), []),
    ],
)
def test_places_of_a_question_are_found_by_their_codes(
    question: str, cells: tuple[str, ...], found: list[tuple[int, int, str]]
) -> None:
    assert list(places_said(question.split(), cells)) == found


def test_a_question_says_the_code_of_the_country_that_it_names() -> None:
    rows = [["Lima", "PER"], ["Bern", "CHE"], ["Xi'an", "CHN"], ["Wuhan", "CHN"]]
    table = QueryTable.of_cells(["cities"], ["city", "iso3"], rows)
    said = said_values("How many Chinese and Swiss cities are there?", table)
    assert said.cells == {"iso3": ("CHN", "CHE")}
