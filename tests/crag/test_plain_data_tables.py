"""Questions over tables as programs write them: files of data with short names of columns and codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.table_answers.document_matches import document_matches
from localcrag.crag.table_answers.named_files import of_named_file
from localcrag.crag.table_answers.parsed_tables import tables_of, words_apart
from localcrag.crag.table_answers.table_questions import TableQuestion, asks_for_rows, recognised
from localcrag.documents.corpus import LocalCorpus
from localcrag.documents.sources import LocalFile
from tests.crag.test_aggregation import computed
from tests.documents.conftest import tokenizer_file

METALS = """AtomicNumber,Name,MeltingPoint,GroupBlock,AtomicRadius
3,Lithium,453.65,Alkali metal,182
57,Lanthanum,1193,Lanthanide,240
58,Cerium,1068,Lanthanide,235
74,Tungsten,3695,Transition metal,210
75,Rhenium,3459,Transition metal,205
"""
"""A table ``Elements_all.csv`` whose names of columns are words written together."""
RESCUES = """first_name,gender,race,rescue_date,type,age,crew
Ann,Female,Black,2019-05-01,Boat-related accident,30,2
Bo,Male,White,2019-05-02,Boat-related accident,41,3
Cy,Male,Black,,Fall,22,2
Di,Female,White,2019-06-02,Not storm-related,67,2
"""
STATES = 'State Name,State Code,Grants,TOTAL\nALABAMA,AL,12,"19,582"\nALASKA,AK,5,"2,705"\nGUAM,GU,9,472\n'
GEAR = """county,item_name,quantity,unit_cost,total_cost
SEDGWICK,Vest,2,10.50,21.00
SEDGWICK,Lamp,3,4.00,12.00
ALLEN,Vest,1,10.50,10.50
"""
HARMS = """Entity,Year,Deaths
All natural disasters,1902,90
Flood,1902,7
Volcanic activity,1902,83
All natural disasters,1976,60
Flood,1976,55
Volcanic activity,1976,5
"""
MONTHS = '[{"date":"1855-01-01","wounds":83,"disease":2761},{"date":"1855-02-01","wounds":42,"disease":2120}]'
GERMS = '[{"Bacteria":"B. a","Gram_Staining":"negative"},{"Bacteria":"B. b","Gram_Staining":"positive"},\
{"Bacteria":"B. c","Gram_Staining":"negative"}]'
LEAGUE = '{"name":"Northern League 2012/13","clubs":[{"key":"a","name":"FC A"},{"key":"b","name":"FC B"}]}'
YIELDS = '[{"crop":"rye","bags":3},{"crop":"oats","bags":9},{"crop":"flax","bags":4}]'
FILES = {
    "Elements_all.csv": METALS,
    "bay-rescues.csv": RESCUES,
    "grants_by_state.csv": STATES,
    "gear_data.csv": GEAR,
    "disasters.csv": HARMS,
    "crimea.json": MONTHS,
    "germs.json": GERMS,
    "clubs-2012-13.json": LEAGUE,
    "trips.csv": "place,total_cost,shoes\nHill,5,blue\nHill,12,red\nLake,7,blue\nLake,30,red\n",
    "crops.json": YIELDS,
}


def answer(tmp_path: Path, file: str, question: str) -> tuple[str, bool] | None:
    """The value that is computed over a file, and whether it is to be checked; None if none is."""
    path = tmp_path / file
    path.write_text(FILES[file], encoding="utf-8")
    corpus = LocalCorpus(tokenizer_file())
    (source,) = corpus.discover([str(path)])
    assert isinstance(source, LocalFile)
    passages = corpus.split(corpus.read(source))
    plain, _ = of_named_file(question, [str(path)])
    form = recognised(plain)
    matches = (
        list(document_matches(form, tables_of(passages), None)) if isinstance(form, TableQuestion) else []
    )
    computed = aggregated(matches[0]) if len(matches) == 1 else None
    return (computed.computation.value, matches[0].loose) if computed is not None else None


@pytest.mark.parametrize(
    ("file", "question", "expected"),
    [
        ("crops.json", "Which crop has the most bags in crops.json?", ("9", False)),
        ("crops.json", "In the file “crops.json”, which crop has the fewest bags?", ("3", False)),
        ("crops.json", "How many rows does Crops.json have?", ("3", False)),
        ("crops.json", "How many records are in crops.json?", ("3", False)),
        ("crops.json", "Which crop has the most bags in yields.json?", None),
        ("Elements_all.csv", "Which element has the highest melting point?", ("3695", False)),
        ("Elements_all.csv", "Which element has the highest MeltingPoint?", ("3695", False)),
        ("Elements_all.csv", "Which element has the highest boiling point?", None),
        ("Elements_all.csv", "How many lanthanides are there?", ("2", False)),
        ("Elements_all.csv", "How many elements are transition metals?", ("2", False)),
        ("Elements_all.csv", "How many isotopes are lanthanides?", None),
        ("bay-rescues.csv", "How many women were there?", ("2", False)),
        ("bay-rescues.csv", "How many Black men are there?", ("1", False)),
        ("bay-rescues.csv", "How many men were rescued?", ("1", False)),
        ("bay-rescues.csv", "How many people were rescued?", ("3", False)),
        ("bay-rescues.csv", "How many people drowned?", None),
        ("bay-rescues.csv", "What is the average age of the victims?", ("40", True)),
        ("bay-rescues.csv", "How many rows have the type Fall?", ("1", False)),
        ("bay-rescues.csv", "How many boat-related accidents are in bay-rescues.csv?", None),
        ("grants_by_state.csv", "Which state has the lowest TOTAL?", ("472", False)),
        ("grants_by_state.csv", "Which state has the highest total?", ("19,582", False)),
        ("grants_by_state.csv", "What is the total for Alaska?", None),
        ("gear_data.csv", "What was the total cost for Sedgwick?", ("33.00", False)),
        ("gear_data.csv", "What was the total cost for Sedgwick County?", ("33.00", False)),
        ("gear_data.csv", "What was the total cost for Barton County?", None),
        (
            "gear_data.csv",
            "What did all the outfit shipped to Sedgwick County cost in total?",
            ("33.00", True),
        ),
        (
            "gear_data.csv",
            "What did all the lamps shipped to Sedgwick County cost in total?",
            ("12.00", True),
        ),
        ("gear_data.csv", "What did the vests cost in total?", ("31.50", False)),
        ("trips.csv", "What was the total cost for Hill?", ("17", True)),
        ("disasters.csv", "Which year had the most deaths from floods?", ("55", False)),
        ("disasters.csv", "Which year had the most deaths from volcanic activity?", ("83", False)),
        ("disasters.csv", "In which year did volcanoes kill the most people?", ("83", True)),
        ("disasters.csv", "What was the deadliest year for floods?", ("55", False)),
        ("disasters.csv", "How many deaths from floods were there in 1976?", ("55", False)),
        ("disasters.csv", "What is the total number of deaths from floods?", ("62", False)),
        ("disasters.csv", "Which year had the most deaths?", None),
        ("disasters.csv", "What was the deadliest year?", None),
        ("disasters.csv", "Which year had the most deaths from tsunamis?", None),
        ("disasters.csv", "Which entity had the most deaths in 1976?", None),
        ("crimea.json", "What was the worst month for disease?", ("2761", False)),
        ("crimea.json", "In which month were the most wounds?", ("83", False)),
        ("crimea.json", "What was the best month for wounds?", ("42", False)),
        ("crimea.json", "In which month of the Crimean War did disease kill the most men?", ("2761", True)),
        ("crimea.json", "In which month of the Korean War did disease kill the most men?", None),
        ("germs.json", "How many of the bacteria are Gram-negative?", ("2", False)),
        ("germs.json", "Which bacteria are Gram-positive?", ("B. b", False)),
        ("germs.json", "How many of the bacteria are strain-negative?", None),
        ("clubs-2012-13.json", "How many clubs are in the Northern League 2012/13?", ("2", False)),
        ("clubs-2012-13.json", "How many clubs played in the Northern League in 2012/13?", ("2", False)),
        ("clubs-2012-13.json", "How many clubs played in the Northern League in 2013/14?", None),
    ],
)
def test_files_of_data_are_computed_over(
    tmp_path: Path, file: str, question: str, expected: tuple[str, bool] | None
) -> None:
    assert answer(tmp_path, file, question) == expected


def test_persons_are_named_by_their_whole_names() -> None:
    rows = [
        "last_name: Lee · first_name: Ann · age: 30 · ward: North",
        "last_name: Orr · first_name: Bo · age: 41 · ward: North",
    ]
    oldest, both = (
        computed("Who is the oldest?", rows),
        computed("How many people have the ward North?", rows),
    )
    assert oldest is not None and "Bo Orr is the oldest: age 41" in oldest.text
    assert both is not None and "2 – first_name last_name: Ann Lee [1], Bo Orr [2]" in both.text


def test_a_question_that_names_a_file_asks_for_rows() -> None:
    assert asks_for_rows("How many cases are there in court_cases_2015.csv?")


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("How many men are in rescues.csv?", "How many men are?"),
        ("According to rescues.csv, how many men are there?", "how many men are there?"),
        ("rescues.csv: how many men are there?", "how many men are there?"),
        ("How many rows are in the 'rescues.csv' file?", "How many rows are?"),
        ("How many men are in boats.csv?", "How many men are in boats.csv?"),
        (
            "How many men are in rescues.csv and falls.json?",
            "How many men are in rescues.csv and falls.json?",
        ),
    ],
)
def test_a_file_that_is_named_is_no_condition(question: str, plain: str) -> None:
    sources = ["/data/rescues.csv", "/data/falls.json"]
    assert of_named_file(question, sources)[0] == plain
    assert of_named_file(question, sources)[1] == ("" if plain == question else "rescues.csv")


def test_words_that_are_written_together_are_read_apart() -> None:
    names = ("MeltingPoint", "teamID", "CPKHexColor", "kWh", "McLeod", "LaTeX", "total_cost")
    assert list(map(words_apart, names)) == [
        "Melting Point", "team ID", "CPK Hex Color", "kWh", "McLeod", "LaTeX", "total_cost",
    ]  # fmt: skip
