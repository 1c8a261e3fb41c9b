"""The values of cells as files of other programs have them: dates, numbers with exponents, decimal marks."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import pytest

from localcrag.crag.table_answers.table_values import ColumnKind, column_values, values_of_columns
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import said_values


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["09-JAN-13", "31-Dec-98"], [date(2013, 1, 9), date(1998, 12, 31)]),
        (["1-Feb-2020", "12-May-2021"], [date(2020, 2, 1), date(2021, 5, 12)]),
        (
            ["7/3/2018 1:47p", "7/23/2018 12:02am"],
            [datetime(2018, 7, 3, 13, 47), datetime(2018, 7, 23, 0, 2)],
        ),
        (["15-08-2021", "01-02-2021"], [date(2021, 8, 15), date(2021, 2, 1)]),
        (
            ["01/1/1980", "02/1/1980", "03/1/1980", "04/1/1980"],
            [date(1980, month, 1) for month in (1, 2, 3, 4)],
        ),
        (["1/2/2020", "1/3/2020", "1/5/2020", "1/9/2020"], [date(2020, month, 1) for month in (2, 3, 5, 9)]),
        (["3/28/19", "12/1/18"], [date(2019, 3, 28), date(2018, 12, 1)]),
        (["2021/03/04", "2021/3/5"], [date(2021, 3, 4), date(2021, 3, 5)]),
        (["1. Mai 2020", "3. März 2021"], [date(2020, 5, 1), date(2021, 3, 3)]),
        (["20210704", "20201231", "19990101"], [date(2021, 7, 4), date(2020, 12, 31), date(1999, 1, 1)]),
        (
            ["2016-12-03 14:00 to 19:00 (Europe/Berlin)", "2017-12-03 09:30 to 2017-12-04 19:00 UTC"],
            [datetime(2016, 12, 3, 14), datetime(2017, 12, 3, 9, 30)],
        ),
        (["2007-04-09", "2007-04-10 14:00 to 15:00 UTC"], [date(2007, 4, 9), date(2007, 4, 10)]),
    ],
)
def test_days_are_read_as_programs_write_them(cells: list[str], values: list[date]) -> None:
    assert column_values(cells).kind is ColumnKind.DATE
    assert list(column_values(cells).values) == values


@pytest.mark.parametrize(
    "cells",
    [
        ["05-06-2021", "01-02-2021"],
        ["1/5/2020", "1/6/2020"],
        ["12-10-05", "01-02-03"],
        ["31/31/2020"],
        ["12 Foo 2020"],
        ["2020-05", "2020-05-01"],
        ["7/23/2018 25:00"],
    ],
)
def test_what_may_be_another_day_is_none(cells: list[str]) -> None:
    assert column_values(cells).kind is ColumnKind.TEXT


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (["03.2025", "10.2025", "04.2026"], ColumnKind.DATE),
        (["10.2025", "11.2026"], ColumnKind.DATE),
        (["3/2025", "10/2025"], ColumnKind.DATE),
        (["10.2025", "11.2350"], ColumnKind.NUMBER),
        (["0.1999", "2.2018"], ColumnKind.NUMBER),
        (["03.2025", "13.2025"], ColumnKind.TEXT),
    ],
)
def test_a_month_of_an_expiry_is_a_date(cells: list[str], kind: ColumnKind) -> None:
    assert column_values(cells).kind is kind


def test_months_may_stand_behind_their_years() -> None:
    found = column_values(["2009 Mar", "2009 Apr", "2010 Mar"])
    assert (found.kind, found.values[0]) == (ColumnKind.DATE, date(2009, 3, 1))
    assert column_values(["2009 Sales", "2010 Costs"]).kind is ColumnKind.TEXT


def test_numbers_that_look_like_days_are_numbers_unless_all_do() -> None:
    assert column_values(["20210704", "20201331", "19990101"]).kind is ColumnKind.NUMBER
    assert column_values(["20210704", "20210704"]).kind is ColumnKind.NUMBER


def test_numbers_are_read_with_exponents_and_without_a_leading_zero() -> None:
    assert column_values(["5e+05", "451234", "1.2E6"]).values == (500000, 451234, 1200000)
    assert f"{column_values(['5e+05']).values[0]}" == "500000"
    assert column_values(["4.5e-4", "0.001"]).values == (Decimal("0.00045"), Decimal("0.001"))
    assert column_values([".324", ".287"]).values == (Decimal("0.324"), Decimal("0.287"))
    assert column_values(["$.05", "$1.20"]).unit == "usd"
    assert column_values(["1e", "2e"]).unit == "e"


def test_the_decimal_mark_of_a_column_is_that_of_its_table() -> None:
    coordinates = ["52.408", "13.121"]
    assert column_values(coordinates).kind is ColumnKind.TEXT
    with_point = values_of_columns({"latitude": coordinates, "depth": ["1.5", "2"]})
    assert with_point["latitude"].values == (Decimal("52.408"), Decimal("13.121"))
    with_comma = values_of_columns({"Betrag": coordinates, "Satz": ["1,5", "2"]})
    assert with_comma["Betrag"].values == (52408, 13121)
    with_both = values_of_columns({"a": coordinates, "b": ["1.5", "2"], "c": ["1,5", "2"]})
    assert with_both["a"].kind is ColumnKind.TEXT


def test_a_month_that_a_question_names_is_its_number_in_a_column_of_months() -> None:
    polls = QueryTable.of_cells(
        ["polls"], ["month", "year", "approve"], [["10", "2004", "48"], ["11", "2004", "54"]]
    )
    assert "11" in said_values("What percentage approved in November 2004?", polls).numbers
    assert "5" not in said_values("What may be the percentage of 2004?", polls).numbers
    plain = QueryTable.of_cells(["polls"], ["round", "approve"], [["10", "48"], ["11", "54"]])
    assert "11" not in said_values("What percentage approved in November 2004?", plain).numbers
