"""Whose name a sentence gives for a role."""

from __future__ import annotations

import pytest

from localcrag.crag.structured_answers.field_wording import FieldWording
from localcrag.crag.structured_answers.prose_roles import denies_role, tells_role, verb_stem, without_role
from localcrag.crag.structured_answers.value_spans import names


def told(field: str, text: str, name: str) -> bool:
    start = text.index(name)
    return tells_role(FieldWording(field, ""), text, start, start + len(name))


@pytest.mark.parametrize(
    ("field", "text", "name"),
    [
        ("designer", "It was designed by the engineer Karin Solberg in a year.", "Karin Solberg"),
        ("engineer", "It was designed by the engineer Karin Solberg in a year.", "Karin Solberg"),
        ("builder", "It was designed by Karin Solberg and built by Nordvik Steel.", "Nordvik Steel"),
        ("founder", "Dr. Amara Osei founded the clinic in 1998.", "Amara Osei"),
        ("found by", "It had been found by the archaeologist Henri Duval in 1954.", "Henri Duval"),
        ("inspector", "Inspections are carried out every spring by Dagny Holt.", "Dagny Holt"),
        ("caretaker", "The damage was seen by Olaf Brandt, the caretaker, at six.", "Olaf Brandt"),
        ("chair", "At the meeting Ewa Nowak was elected chair.", "Ewa Nowak"),
        ("secretary", "Samir Haddad remains secretary of the club.", "Samir Haddad"),
        ("leader of the discussion", "Omar Said will lead the discussion.", "Omar Said"),
        ("who runs the pharmacy", "Brigid Walsh runs the pharmacy.", "Brigid Walsh"),
        ("president of the club", "It was given by the president of the club, Leon Haas.", "Leon Haas"),
        ("coach", "She is coached by her mother, Ute Vogt.", "Ute Vogt"),
        ("writer of the catalogue", "Nadia Orlova wrote the catalogue.", "Nadia Orlova"),
    ],
)
def test_a_noun_or_a_verb_of_the_sentence_tells_the_role(field: str, text: str, name: str) -> None:
    assert told(field, text, name)


@pytest.mark.parametrize(
    ("field", "text", "name"),
    [
        ("designer", "It was designed by Karin Solberg and built by Nordvik Steel.", "Nordvik Steel"),
        ("builder", "It was designed by Karin Solberg and built by Nordvik Steel.", "Karin Solberg"),
        ("finder", "Ruth Moss founded the museum.", "Ruth Moss"),
        ("captain", "Lena Falk, the widow of the late captain, named her.", "Lena Falk"),
        ("director", "Our deputy director Sara Lind signed.", "Sara Lind"),
        ("director", "Sara Lind was elected deputy director.", "Sara Lind"),
        ("founder", "The clinic was opened. Ruben Katz led it.", "Ruben Katz"),
        ("writer of the catalogue", "Nadia Orlova wrote the letter.", "Nadia Orlova"),
        ("number of the designer", "It was designed by Karin Solberg.", "Karin Solberg"),
        ("director", "Lucia Ferro directed it from a script by Noel Grech.", "Noel Grech"),
        ("pilot", "Karin Solberg was piloted by Jonas Berg.", "Karin Solberg"),
    ],
)
def test_what_another_did_or_is_tells_nothing(field: str, text: str, name: str) -> None:
    assert not told(field, text, name)


@pytest.mark.parametrize(
    ("field", "text", "name"),
    [
        ("director", "Our deputy director Sara Lind signed.", "Sara Lind"),
        ("author", "It was not written by Ingrid Sunde but by Marie Blanc.", "Ingrid Sunde"),
        ("author of the report", "It was not written by Ingrid Sunde but by Marie Blanc.", "Ingrid Sunde"),
    ],
)
def test_a_deputy_and_who_did_not_do_it_are_denied_the_role(field: str, text: str, name: str) -> None:
    assert denies_role(FieldWording(field, ""), text, text.index(name))
    assert not denies_role(FieldWording(f"deputy {field}", ""), text, text.index(name))


def test_a_role_in_front_of_a_name_is_no_part_of_it() -> None:
    assert without_role(FieldWording("captain", ""), "Captain Jonas Berg") == "Jonas Berg"
    assert without_role(FieldWording("ship", ""), "Captain Jonas Berg") == "Captain Jonas Berg"
    assert without_role(FieldWording("captain", ""), "Captain") == "Captain"


@pytest.mark.parametrize(
    ("noun", "verbs"),
    [("organiser", ["organised", "organizes"]), ("manager", ["managed"]), ("planner", ["planned"])],
)
def test_nouns_and_verbs_of_one_stem_are_the_same(noun: str, verbs: list[str]) -> None:
    assert {verb_stem(verb) for verb in verbs} == {verb_stem(noun)}


def test_a_name_ends_with_its_sentence() -> None:
    text = (
        "The tents came from Alpina Gear. Nobody was hurt. Dr. Osei thanked J. R. Berg of Acme Corp. for it."
    )
    found = [str(span.value) for span in names(text)]
    assert found == ["Alpina Gear", "Nobody", "Dr. Osei", "J. R. Berg of Acme Corp"]
