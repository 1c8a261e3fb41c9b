"""Codes and abbreviations of a question, and the documents that have them."""

from __future__ import annotations

import pytest

from localcrag.crag.questions.codes import codes_of, has_code, lacking_codes, names_of
from tests.crag.values import passage


@pytest.mark.parametrize(
    ("question", "codes"),
    [
        ("The desk shows SNAP CRC, what now?", ["SNAP", "CRC"]),
        ("Is P-111 heavier than the D20?", ["P-111", "D20"]),
        ("Which valves do NOT leak, and WHY?", []),
        ("who of IT is IM", ["IT", "IM"]),
        ("WHERE IS THE KEY", []),
        ("what weighs 50kg on 2 May?", []),
        ("When did v1.5.0 come out, and what of 2.10.3?", ["1.5.0", "2.10.3"]),
        ("Who was there on 1.5.24, and are 3.5 litres enough?", []),
    ],
)
def test_the_codes_of_a_question(question: str, codes: list[str]) -> None:
    assert codes_of(question) == codes


def test_a_code_is_a_word_of_its_own() -> None:
    assert has_code(passage("Initials: IM · Name: Iris"), "IM")
    assert has_code(passage("first page", source="/kb/D20-manual.pdf"), "D20")
    assert not has_code(passage("im Haus, TIME"), "IM")
    assert not has_code(passage("Part P-1112"), "P-111")
    assert has_code(passage("Changes in v1.5.0."), "1.5.0") and has_code(passage("1.5.0 (May)"), "1.5.0")
    assert not any(has_code(passage(text), "1.5.0") for text in ("11.5.0", "0.1.5.0", "1.5.0.2", "1.5.01"))


def test_documents_without_the_code_are_told_if_another_one_has_it() -> None:
    first, next_page = passage("E15 of the pump", source="/a"), passage("oil", source="/a", start=90)
    other = passage("It may leak.", source="/b")
    assert lacking_codes("What is E15?", [first, next_page, other]) == [False, False, True]
    assert lacking_codes("What is E16?", [first, next_page, other]) == [False, False, False]


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("How much did Viet Nam produce?", ["Viet Nam"]),
        (
            "Where does the Blue Oak Council put the PostgreSQL License?",
            ["Blue Oak Council", "PostgreSQL License"],
        ),
        ("How many molecules can RasMol load?", ["RasMol"]),
        ("Which McDonald was it?", ["McDonald"]),
        ("Blue Oak is what?", []),
        ("What did Anna say to Otto?", []),
        ("WHAT IS A LARGE BIRD", []),
        ("what about x-Ray tubes?", []),
    ],
)
def test_the_names_of_a_question(question: str, names: list[str]) -> None:
    assert names_of(question) == names
