"""Questions over small tables of everyday matters, as people ask them: what is computed of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crag.test_group_questions import asked

CARS = """model,mpg,cyl,hp,wt,gear
Mazda RX4,21.0,6,110,2.62,4
Datsun 710,22.8,4,93,2.32,4
Hornet 4 Drive,21.4,6,105,3.215,3
Duster 360,14.3,8,245,3.57,3
Merc 240D,24.4,4,62,3.19,4
Cadillac Fleetwood,10.4,8,205,5.25,3
"""
STAFF = """dept,no_emp,avg_sal,yr_est
Sales,14,41000,1998
Kitchen,22,33500,1991
Garage,6,38200,2004
Office,9,44100,1991
"""
ORDERS = """order_no,customer,item,qty,amt
1,Holm,Rope,4,20.00
2,Berg,Anchor,1,85.00
3,Holm,Anchor,2,170.00
4,Lund,Rope,10,50.00
5,Berg,Lamp,3,36.00
6,Nord,Lamp,1,12.00
7,Lund,Buoy,2,64.00
"""
TOWNS = """town,region,pop,elev_m,temp
Alm,North,1200,740,6.1
Birk,North,5400,310,8.2
Carn,South,800,120,10.4
Dorn,South,9900,45,11.0
Esk,West,3300,95,9.7
"""
FILES = {"cars.csv": CARS, "staff.csv": STAFF, "orders.csv": ORDERS, "towns.csv": TOWNS}
SURE, CHECK = False, True


def text_of(tmp_path: Path, file: str, question: str) -> tuple[str, bool] | None:
    """The text of what is computed over a file, and whether it is to be checked; None if nothing is."""
    found = asked(tmp_path, file, question, FILES[file])
    return (found[0].text, found[1]) if found else None


@pytest.mark.parametrize(
    ("file", "question", "answer", "is_loose"),
    [
        ("cars.csv", "How many cars have 6 cylinders?", "2 – model: Mazda RX4", SURE),
        ("cars.csv", "Which model has the most miles per gallon?", "Merc 240D has the most: mpg", SURE),
        ("cars.csv", "What is the average miles per gallon?", "The average of mpg: 19.05", SURE),
        ("cars.csv", "Which model has the most horsepower?", "Duster 360 has", SURE),
        ("cars.csv", "How many models have more than 100 horsepower?", "4 – model", SURE),
        ("staff.csv", "Which department has the most employees?", "Kitchen has the most: no_emp 22", SURE),
        ("staff.csv", "Which department has the highest average salary?", "Office has the highest", SURE),
        ("staff.csv", "How many employees are there in total?", "The total of no_emp: 51", SURE),
        ("staff.csv", "Which department was established last?", "Garage is the last: yr_est 2004", SURE),
        ("orders.csv", "What was the total amount for Holm?", "The total of amt: 190.00", SURE),
        ("orders.csv", "Which item has the largest total quantity?", "Rope has the highest total", SURE),
        ("orders.csv", "total amount by customer", "Lund: 114.00", SURE),
        ("towns.csv", "Which town has the largest population?", "Dorn has the largest: pop 9900", SURE),
        ("towns.csv", "What is the total population?", "The total of pop: 20,600", SURE),
        ("towns.csv", "average temperature by region", "North: 7.15", SURE),
        ("towns.csv", "Which town has the lowest temperature?", "Alm has the lowest: temp 6.1", SURE),
    ],
)
def test_a_column_is_known_by_what_its_name_abbreviates(
    tmp_path: Path, file: str, question: str, answer: str, is_loose: bool
) -> None:
    found = text_of(tmp_path, file, question)
    assert found is not None
    assert answer in found[0]
    assert found[1] is is_loose


@pytest.mark.parametrize(
    ("file", "question"),
    [
        ("staff.csv", "What is the average salary?"),
        ("staff.csv", "Which department has the most engines?"),
        ("towns.csv", "Which town has the most popular template?"),
        ("orders.csv", "Which customer has the most apartments in total?"),
    ],
)
def test_a_word_that_a_name_does_not_abbreviate_is_not_sure(tmp_path: Path, file: str, question: str) -> None:
    found = text_of(tmp_path, file, question)
    assert found is None or found[1]
