"""Structured answers from letters, forms and prose: values that another word or their place announces."""

from __future__ import annotations

import json
import time

import pytest

from localcrag.crag.structured_answers.field_wording import FieldWording
from localcrag.crag.structured_answers.form_vocabulary import names_field
from localcrag.crag.structured_answers.value_spans import texts
from localcrag.output_schema.schema_reading import read_schema
from localcrag.types import Answer, JsonValue
from tests.crag.world import World, answer, says
from tests.fakes.llm import ScriptedModel

LETTER = """Pelham Boat Hire
Quay 4, 1180 Sandro

Mr Tom Easley
Mill Street 12
1175 Sandro

Sandro, 2 June 2023

Dear Mr Easley,

the deposit of 80 EUR is paid back. Please answer no later than 30 June 2023.

Kind regards
Vera Hollis
"""
TEXT, DATE = {"type": ["string", "null"]}, {"type": ["string", "null"], "format": "date"}
LETTER_FIELDS = {
    "sender": TEXT,
    "recipient": TEXT,
    "date": DATE,
    "answer": DATE | {"description": "the day until which an answer is wanted"},
    "signed_by": TEXT,
}


def filled(document: str, fields: object) -> JsonValue:
    """The value of an object with these fields, of one document."""
    model = ScriptedModel(choose=says(document.split()[0]))
    schema = read_schema(json.dumps({"type": "object", "properties": fields}))
    world = World({"/a.txt": document}, model).with_options(output=schema, passages=4, corrections=())
    found: Answer = answer(world.run(f"what is in {document.split()[0]}?"))
    return found.value


def only(document: str, name: str, shape: object) -> JsonValue:
    """The value of one field, None if there is none."""
    value = filled(document, {name: shape})
    assert isinstance(value, dict)
    return value.get(name)


def test_a_letter_says_by_its_layout_who_wrote_what_to_whom_and_when() -> None:
    assert filled(LETTER, LETTER_FIELDS) == {
        "sender": "Pelham Boat Hire",
        "recipient": "Mr Tom Easley",
        "date": "2023-06-02",
        "answer": "2023-06-30",
        "signed_by": "Vera Hollis",
    }


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("sender", "Pelham Boat Hire\n\nWe have new opening hours. Come and see our boats."),
        ("sender", "Invoice For Boats\nQuay 4, 1180 Sandro\n\nTwo boats for a day."),
        ("recipient", LETTER.replace("Dear Mr Easley", "Ms Una Berg\nHill 3\n\nDear all")),
        ("recipient", "Notice\n\nDear Madam,\n\nthe boat is repaired."),
        ("date", "Pelham\n\n2 June 2023\n\n3 June 2023\n\nBoth days were sunny."),
        ("signed_by", "Pelham\n\nKind regards\nVera Hollis Pelham Boat Hire Sandro"),
    ],
)
def test_what_is_not_clearly_at_its_place_is_left_out(name: str, document: str) -> None:
    assert only(document, name, LETTER_FIELDS[name]) is None


def test_a_word_without_end_before_a_date_takes_no_time() -> None:
    began = time.process_time()
    only(f"Pelham\n\n{'É' * 3000} 2 June 2023\n\nBoth days were sunny.", "date", DATE)
    assert time.process_time() - began < 5, "hours, if each letter may begin a word"


def test_a_salutation_names_the_recipient_if_no_address_does() -> None:
    letter = LETTER.replace("Mr Tom Easley\nMill Street 12\n1175 Sandro\n\n", "")
    assert only(letter, "recipient", TEXT) == "Mr Easley"


@pytest.mark.parametrize(
    ("name", "shape", "text", "value"),
    [
        ("customer", TEXT, "Bill to       : Rowing Club Havel", "Rowing Club Havel"),
        ("supplier", TEXT, "Seller: Nordlys Batteries", "Nordlys Batteries"),
        ("serial_number", TEXT, "S/N: DG4-7719", "DG4-7719"),
        ("technician", TEXT, "Carried out by: Petra Novak", "Petra Novak"),
        ("invoice_date", DATE, "Issued: 2023-11-02", "2023-11-02"),
        ("maker", TEXT, "It is a cream, made by Corbin Generics plc in Lyss.", "Corbin Generics plc"),
        ("deadline", DATE, "Apply by 15 June 2024 to the office.", "2024-06-15"),
        ("starting_date", DATE, "You begin on 2 January 2025.", "2025-01-02"),
        ("dose", TEXT, "The usual dose of Zeldrine is 35 mg once a day.", "35 mg"),
        ("date_of_birth", DATE, "Issued: 2023-11-02", None),
        ("starting_date", DATE, "Apply by 15 June 2024 to the office.", None),
        ("deadline", DATE, "The work was done by 15 fitters on 3 June 2024.", None),
    ],
)
def test_another_word_for_a_field_announces_its_value(
    name: str, shape: object, text: str, value: str | None
) -> None:
    assert only(f"Xylo paper.\n\n{text}", name, shape) == value


def test_the_only_address_is_taken_unless_the_field_says_whose_it_is() -> None:
    email = {"type": "string", "format": "email", "title": "Application at the office in town"}
    text = "Xylo paper.\n\nSend your application to jobs@port.example."
    assert only(text, "email", email) == "jobs@port.example"
    assert only(text, "email", email | {"title": "Application at the supplier in town"}) is None
    assert only(f"{text} Or ask ada@port.example.", "email", email) is None


def test_a_qualified_subject_is_not_what_a_field_asks_for() -> None:
    asked = FieldWording("dose", "")
    assert names_field(asked, "", "the usual dose of Zeldrine is ", is_date=False)
    assert not names_field(asked, "", "the highest dose of Zeldrine is ", is_date=False)
    assert not names_field(asked, "", "the overdose is ", is_date=False)


def test_a_sum_without_tax_is_not_the_one_with_tax() -> None:
    total = {"type": "number", "description": "the amount to pay, with tax"}
    text = "Xylo paper.\n\nTotal without tax: 190.40 GBP"
    assert only(text, "total", total) is None
    assert only(text.replace("without", "with"), "total", total) == 190.4


def test_a_rate_in_parentheses_is_said_by_the_words_before_them() -> None:
    rate = {"type": "number", "title": "VAT"}
    assert only("Xylo paper.\n\nVAT (7 %): 125.48 EUR", "rate", rate | {"description": "in percent"}) == 7


def test_yes_or_no_may_be_followed_by_more() -> None:
    text = "Xylo paper.\n\nResolved: no, a second visit is planned"
    assert only(text, "resolved", {"type": "boolean"}) is False


def test_people_of_two_clauses_are_not_one_list() -> None:
    people = {"type": "array", "items": {"type": "string"}, "description": "the people who were present"}
    text = "Xylo paper.\n\nPresent were Ruth Calder, Piet Lamm and Noor Haddad; Emil Strand was ill."
    assert only(text, "present", people) == ["Ruth Calder", "Piet Lamm", "Noor Haddad"]


def test_the_head_of_a_mail_names_the_sender_without_the_address() -> None:
    head = "From: Marta Lindqvist <marta@harbour.example> · To: office@lakeside.example"
    assert next(span.value for span in texts(head) if span.labelled) == "Marta Lindqvist"
    assert only(f"Mail of a day\n\n{head}\n\nThe crane is mended.\n", "sender", TEXT) == "Marta Lindqvist"


@pytest.mark.parametrize(
    ("document", "name", "value"),
    [
        (
            "Bridges last. This one was designed by Karin Solberg and built by Nordvik Steel.",
            "builder",
            "Nordvik Steel",
        ),
        ("Ships sail. Captain Jonas Berg commands this one.", "captain", "Jonas Berg"),
        ("Houses stand. This house belongs to Eva Lorentz.", "owner", "Eva Lorentz"),
        ("Films end. The deputy director Sara Lind signed for this one.", "director", None),
    ],
)
def test_a_sentence_tells_whose_name_fills_a_field(document: str, name: str, value: str | None) -> None:
    assert only(document, name, TEXT) == value
