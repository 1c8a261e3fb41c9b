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
LOANS = """title,author,genre,loans,days_late,fine
Red Tide,Ann Moss,Crime,12,4,2.00
Blue Hour,Bo Lind,Crime,7,19,9.50
Salt,Cy Orr,History,3,11,5.50
Iron Road,Di Pell,History,9,15,7.50
Moss,Ed Ray,Nature,15,2,1.00
Fern,Flo Ash,Nature,4,13,6.50
"""
HIRES = """boat,skipper,hours,fee
Heron,Ann,3,60
Tern,Bo,5,110
Heron,Bo,2,40
Gull,Ann,6,120
Tern,Ann,1,25
Gull,Cy,4,80
"""
HOUSEHOLD = """year,rent,wages,energy,insurance
2022,9600,14200,2100,640
2023,9900,15100,3900,655
2024,10200,9800,3100,690
2025,10800,16050,2950,720
"""
CASH = """month,income,rent,food,notes
January,3000,900,410,
February,3100,900,385,cold
March,2900,950,420,
"""
POWER = """Year,Wind (GWh),Coal (GWh),Gas (GWh),Total (GWh)
2021,310,420,250,980
2022,390,400,210,1000
2023,450,300,190,940
"""
CALLS = """date,farm,ewes,lambs,alive
2025-03-01,Ash Farm,2,4,3
2025-03-04,Brook,1,2,2
2025-03-09,Ash Farm,1,2,1
2025-03-12,Croft,3,5,5
"""
VERLEIH = """Gerät,Kunde,Tage,Gebühr
Bagger,Huber,3,240
Walze,Maier,2,130
Bagger,Maier,1,80
Leiter,Huber,5,50
Bagger,Vogt,4,320
"""
DEPENSES = """Poste,Client,Montant
Loyer,Durand,900
Voyage,Petit,300
Loyer,Petit,600
Repas,Durand,200
"""
SLEEPERS = """name,genus,sleep_total,bodywt
Cheetah,Acinonyx,12.1,50
Owl monkey,Aotus,17,0.48
Cow,Bos,4,600
Big brown bat,Eptesicus,19.7,0.023
"""
CRIMES = """state,violent,murder
Alabama,459.9,7.1
Alaska,632.6,3.2
Idaho,228.5,1.4
"""
SALES = """OrderDate	Region	Rep	Item	Units	Unit_Cost	Total
2016-01-06	East	Jones	Pencil	95	1.99	189.05
2016-01-23	Central	Kivell	Binder	50	19.99	999.50
2016-02-09	Central	Jardine	Pencil	36	4.99	179.64
2016-02-26	Central	Kivell	Pen	27	19.99	539.73
2016-03-15	West	Sorvino	Pencil	56	2.99	167.44
2016-04-01	East	Jones	Binder	60	4.99	299.40
"""
RIVERS = """river,country,len_km,basin_km2
Ebro,Spain,930,80093
Rhone,France,813,98000
Loire,France,1006,117000
Seine,France,775,79000
Douro,Spain,897,97603
"""
VISITS = """month,checkups,vaccinations,emergencies
January,40,22,9
February,35,30,12
March,51,18,7
"""
HARVEST = """plot_no,gardener,crop,wt_kg,harv_date
1,Iris,Beans,4.2,2025-07-02
2,Otto,Kale,2.1,2025-07-05
1,Iris,Potatoes,18.5,2025-08-11
2,Otto,Potatoes,22.0,2025-08-20
"""
CHANGES = """id,date,site,minutes down
C-1,2026-01-08,TG,30
C-2,2026-01-19,BH,12
C-3,2026-02-02,TG,5
"""
FILES = {
    "changes.csv": CHANGES,
    "rivers.csv": RIVERS,
    "clinic_visits.csv": VISITS,
    "allotment_harvest.csv": HARVEST,
    "msleep.csv": SLEEPERS,
    "statecrime.csv": CRIMES,
    "office-sales.tsv": SALES,
    "vet_callouts.csv": CALLS,
    "verleih.csv": VERLEIH,
    "depenses.csv": DEPENSES,
    "cash.csv": CASH,
    "power_sources.csv": POWER,
    "cars.csv": CARS,
    "staff.csv": STAFF,
    "orders.csv": ORDERS,
    "towns.csv": TOWNS,
    "library_loans.csv": LOANS,
    "hires.csv": HIRES,
    "household_costs.csv": HOUSEHOLD,
}
SURE, CHECK = False, True


def text_of(tmp_path: Path, file: str, question: str) -> tuple[str, bool] | None:
    """The text of what is computed over a file, and whether it is to be checked; None if nothing is."""
    found = asked(tmp_path, file, question, FILES[file])
    return (found[0].text, found[1]) if found else None


@pytest.mark.parametrize(
    ("file", "question", "answer", "is_loose"),
    [
        (
            "changes.csv",
            "Total downtime in minutes by the changes in January 2026?",
            "minutes down: 42",
            SURE,
        ),
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
        ("msleep.csv", "Which animal has the highest body weight?", "Cow has the highest: bodywt", CHECK),
        ("statecrime.csv", "Which state has the most violent crime?", "Alaska has the most", SURE),
        ("office-sales.tsv", "Who sold the most units?", "Jones has the highest total of Units", SURE),
        ("office-sales.tsv", "What is the total for the East region?", "The total of Total: 488.45", SURE),
        ("office-sales.tsv", "Top two reps by total", "Kivell: 1,539.23", SURE),
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
        ("towns.csv", "Which town has the highest popularity?"),
        ("towns.csv", "Which town has the largest temple?"),
        ("towns.csv", "Which region is the warmest?"),
        ("towns.csv", "Which town has the most popular template?"),
        ("orders.csv", "Which customer has the most apartments in total?"),
    ],
)
def test_a_word_that_a_name_does_not_abbreviate_is_not_sure(tmp_path: Path, file: str, question: str) -> None:
    found = text_of(tmp_path, file, question)
    assert found is None or found[1]


BY_POPULATION = ["Dorn: pop 9900", "Birk: pop 5400", "Esk: pop 3300", "Alm: pop 1200", "Carn: pop 800"]


@pytest.mark.parametrize(
    ("file", "question", "lines", "is_loose"),
    [
        (
            "cars.csv",
            "Top 3 models by horsepower",
            ["Duster 360:", "Cadillac Fleetwood:", "Mazda RX4:"],
            SURE,
        ),
        ("cars.csv", "Which car has the second highest mpg?", ["Datsun 710 has the second highest"], SURE),
        ("cars.csv", "Which car is the 2nd heaviest?", ["Duster 360 is the second heaviest"], SURE),
        ("staff.csv", "Which department has the third highest average salary?", ["Garage has the"], SURE),
        ("orders.csv", "Top three customers by total amount", ["The", "Holm:", "Berg:", "Lund:"], SURE),
        ("orders.csv", "Who are the top two customers by amount?", ["The", "Holm:", "Berg:"], CHECK),
        ("orders.csv", "Which two customers had the lowest total amount?", ["The", "Nord:", "Lund:"], SURE),
        ("orders.csv", "Which customer has the second highest total amount?", ["Berg has the second"], SURE),
        ("towns.csv", "What are the two smallest towns by population?", ["Carn:", "Alm:"], SURE),
        ("towns.csv", "Rank the towns by population", BY_POPULATION, SURE),
        ("towns.csv", "towns sorted by population, lowest first", BY_POPULATION[::-1], SURE),
        ("rivers.csv", "What are the three longest rivers?", ["Loire:", "Ebro:", "Douro:"], SURE),
        ("rivers.csv", "Order the rivers by length", ["Loire:", "Ebro", "Douro", "Rhone", "Seine"], SURE),
        ("hires.csv", "top two boats by total fee", ["The", "Gull: 200", "Tern: 135"], SURE),
        ("hires.csv", "Rank the skippers by total hours", ["The", "Ann: 10", "Bo: 7", "Cy: 4"], SURE),
    ],
)
def test_the_first_places_of_an_order_are_told_and_any_one_of_them(
    tmp_path: Path, file: str, question: str, lines: list[str], is_loose: bool
) -> None:
    found = text_of(tmp_path, file, question)
    assert found is not None
    told = found[0].split("\n\n")[0].split("\n")
    assert len(told) == len(lines)
    assert all(line.startswith(begin) for line, begin in zip(told, lines, strict=True))
    assert found[1] is is_loose


@pytest.mark.parametrize(
    ("file", "question"),
    [
        ("library_loans.csv", "Which genre has the longest days late?"),
        ("library_loans.csv", "Which genre has the second most loans?"),
        ("library_loans.csv", "Top two genres by colour"),
        ("hires.csv", "Which skipper has the longest hours?"),
        ("household_costs.csv", "What was the biggest cost in 2021?"),
        ("orders.csv", "Which customer has the ninth highest total amount?"),
    ],
)
def test_what_may_be_of_one_row_or_of_many_is_left_alone(tmp_path: Path, file: str, question: str) -> None:
    assert text_of(tmp_path, file, question) is None


@pytest.mark.parametrize(
    ("file", "question", "answer", "is_loose"),
    [
        ("household_costs.csv", "What did we spend most on in 2024?", "rent has the most: 2024 10200", SURE),
        ("household_costs.csv", "What did we spend the least on in 2023?", "insurance has the least", SURE),
        ("household_costs.csv", "What was the biggest cost in 2022?", "wages is the biggest", SURE),
        ("household_costs.csv", "Which cost was the lowest in 2025?", "insurance is the lowest", SURE),
        ("household_costs.csv", "Which was higher in 2025, rent or wages?", "wages is the highest", SURE),
        ("household_costs.csv", "Did we pay more for energy or insurance in 2023?", "energy is", SURE),
        ("power_sources.csv", "Which source was the largest in 2022?", "Coal (GWh) is the largest", SURE),
        ("power_sources.csv", "What was the biggest source in 2023?", "Wind (GWh) is the biggest", SURE),
        ("power_sources.csv", "Which was lower in 2021, gas or wind?", "Gas (GWh) is the lowest", SURE),
        ("cash.csv", "Which was higher in March, rent or food?", "rent is the highest: March 950", SURE),
    ],
)
def test_the_column_with_the_most_in_a_row_is_told(
    tmp_path: Path, file: str, question: str, answer: str, is_loose: bool
) -> None:
    found = text_of(tmp_path, file, question)
    assert found is not None
    assert answer in found[0]
    assert found[1] is is_loose


@pytest.mark.parametrize(
    ("file", "question"),
    [
        ("cash.csv", "What did we spend most on in February?"),
        ("household_costs.csv", "What did we spend most on in 2021?"),
        ("household_costs.csv", "Which tenant was the largest in 2022?"),
        ("towns.csv", "What was the biggest cost in Alm?"),
        ("staff.csv", "What did we spend most on in Sales?"),
    ],
)
def test_columns_that_are_no_parts_of_one_whole_are_not_compared(
    tmp_path: Path, file: str, question: str
) -> None:
    assert text_of(tmp_path, file, question) is None


@pytest.mark.parametrize(
    ("file", "question", "value", "is_loose"),
    [
        ("cars.csv", "What's the average horsepower of cars with 4 cylinders?", "77.5", SURE),
        ("vet_callouts.csv", "How many living lambs came out of all call-outs together?", "11", CHECK),
        ("verleih.csv", "Wie viel Prozent der Gebühren kommen von Huber?", "35.4 %", SURE),
        ("verleih.csv", "Welcher Anteil der Tage entfällt auf Bagger?", "53.3 %", SURE),
        ("verleih.csv", "Wie viel Prozent der Einträge sind von Vogt?", "20.0 %", SURE),
        ("verleih.csv", "Gebühren insgesamt pro Kunde", "Vogt: 320; Huber: 290; Maier: 210", SURE),
        ("verleih.csv", "Wie viele Einträge gibt es pro Gerät?", "Bagger: 3; Walze: 1; Leiter: 1", SURE),
        ("verleih.csv", "Welcher Kunde hat die zweithöchste Gebühr insgesamt?", "290", SURE),
        ("depenses.csv", "Quel pourcentage des montants vient de Durand ?", "55.0 %", SURE),
        ("depenses.csv", "Quelle part du montant va au loyer ?", "75.0 %", SURE),
        ("rivers.csv", "What is the total length of the rivers in France?", "2,594", SURE),
        ("rivers.csv", "Which river is the second longest?", "930", SURE),
        ("allotment_harvest.csv", "What was the total weight of potatoes?", "40.5", SURE),
        ("allotment_harvest.csv", "What share of the weight came from Iris?", "48.5 %", SURE),
        ("clinic_visits.csv", "How many vaccinations were there in total?", "70", SURE),
        ("clinic_visits.csv", "How many visits were there in all?", None, SURE),
        ("depenses.csv", "Wie viel Prozent der Tage kommen von Durand?", None, SURE),
        ("vet_callouts.csv", "How many living lambs were there in total?", None, SURE),
        ("vet_callouts.csv", "How many living calves came out of all call-outs together?", None, SURE),
    ],
)
def test_sums_and_shares_are_computed_over_the_rows_that_are_meant(
    tmp_path: Path, file: str, question: str, value: str | None, is_loose: bool
) -> None:
    found = asked(tmp_path, file, question, FILES[file])
    assert (found[0].computation.value if found else None) == value
    assert found is None or found[1] is is_loose
