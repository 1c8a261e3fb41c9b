"""Questions that quote a part of the cells of a column: how they begin and end, and what they have."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crag.test_group_questions import asked

THREADS = """code,description,origin,skeins
208,Lavender,Lyon,3
327,Dark Violet,Paris,4
552,Medium Violet,Lyon,1
553,Violet,Lille,2
718,Plum,Paris,6
79-A,Iron Grey,Lyon,5
"""
STATIONS = """Name,Postcode,Platforms
Alm,79098,4
Berg,79110,2
Carn,78050,3
Dorn,68100,1
"""


@pytest.mark.parametrize(
    ("text", "question", "value"),
    [
        (THREADS, "How many threads have a description with violet in it?", "3"),
        (THREADS, "How many descriptions contain the word violet?", "3"),
        (THREADS, "How many threads have an origin that begins with the letter L?", "4"),
        (THREADS, "How many threads have an origin ending with s?", "2"),
        (STATIONS, "How many stations have a postcode that starts with 79?", "2"),
        (STATIONS, "How many stations start with the letter B?", "1"),
        (STATIONS, "How many stations have the letter r in their name?", "3"),
        (
            STATIONS,
            "How many platforms do the stations with a postcode that begins with 79 have in total?",
            "6",
        ),
        (STATIONS, "Which stations have a postcode that begins with 79?", "Alm; Berg"),
        (STATIONS, "How many stations have a postcode that starts with 99?", None),
        (STATIONS, "How many stations start with?", None),
        (STATIONS, "How many stations are there at Berg?", None),
    ],
)
def test_a_part_of_a_cell_is_a_condition(tmp_path: Path, text: str, question: str, value: str | None) -> None:
    found = asked(tmp_path, "threads.csv" if text is THREADS else "stations.csv", question, text)
    assert (found[0].computation.value if found else None) == value


def test_a_column_of_another_name_is_to_be_checked(tmp_path: Path) -> None:
    question = "How many threads have a code with violet in it?"
    found = asked(tmp_path, "threads.csv", question, THREADS)
    assert found is not None and found[0].computation.value == "3" and found[1]
    sure = asked(tmp_path, "threads.csv", question.replace("code", "description"), THREADS)
    assert sure is not None and not sure[1]
