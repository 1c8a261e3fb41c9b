"""Structured answers in scripted worlds: every value stands in the evidence; what is not there is null."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from localcrag.crag.structured_answers.model_choice import NOT_STATED
from localcrag.crag.structured_answers.value_spans import dates, measures, numbers, texts
from localcrag.errors import ConstraintError
from localcrag.events import Degraded, Filled
from localcrag.output_schema.schema_reading import read_schema
from localcrag.types import Answer, Status, Support
from tests.crag.world import World, answer, of, says
from tests.fakes.llm import ScriptedModel

INVOICE = (
    "Invoice number: HP-20418\n\nInvoice date: 12 March 2024\n\nPayment due: 11 April 2024\n\n"
    "Total amount: 1,690.60 EUR\n\nContact persons: Ada Lund, Bo Hall and Cy Reed\n\nThe invoice is not paid."
)
FIELDS = {
    "number": {"type": ["string", "null"], "title": "Invoice number"},
    "date": {"type": ["string", "null"], "format": "date", "title": "Invoice date"},
    "due": {"type": ["string", "null"], "format": "date", "title": "Payment due"},
    "total": {"type": "number", "title": "Total amount"},
    "currency": {"enum": ["EUR", "USD", None], "title": "Total amount currency"},
    "people": {"type": "array", "items": {"type": "string"}, "title": "Contact persons"},
    "paid": {"type": ["boolean", "null"]},
    "discount": {"type": ["number", "null"]},
    "remark": {"type": "string"},
}


def asked(
    question: str,
    schema: object,
    documents: Mapping[str, str],
    model: ScriptedModel | None = None,
    **options: object,
) -> Answer:
    world = World(documents, model or ScriptedModel(choose=says("Invoice", "Zeldrine")))
    form = read_schema(json.dumps(schema))
    return answer(world.with_options(output=form, passages=4, corrections=(), **options).run(question))


def test_the_fields_are_filled_and_each_value_is_a_slice_of_the_stored_text() -> None:
    schema = {"type": "object", "properties": FIELDS}
    found = asked("what is in the Invoice?", schema, {"/a.txt": INVOICE})
    assert found.value == {
        "number": "HP-20418",
        "date": "2024-03-12",
        "due": "2024-04-11",
        "total": 1690.6,
        "currency": "EUR",
        "people": ["Ada Lund", "Bo Hall", "Cy Reed"],
        "paid": False,
        "discount": None,
    }
    assert found.status is Status.ANSWERED and found.found
    assert found.unsupported == ("/discount", "/remark"), "null, or absent if the schema forbids null"
    said = {each.place: INVOICE[each.start : each.end] for each in found.fields if each.key}
    assert (
        said["/total"] == "1,690.60" and said["/date"] == "12 March 2024" and said["/people/1"] == "Bo Hall"
    )
    support = {each.place: each.support for each in found.fields}
    assert (support["/number"], support["/date"]) == (Support.VERBATIM, Support.NORMALISED)
    assert (support["/paid"], support["/discount"]) == (Support.JUDGED, Support.NONE)
    keys = {citation.key: citation for citation in found.citations}
    for each in found.fields:
        if each.key:
            assert keys[each.key].start <= each.start < each.end <= keys[each.key].end
    assert json.loads(found.text) == found.value == found.to_dict()["value"]


def test_nothing_relevant_makes_every_field_null() -> None:
    schema = {"type": "object", "properties": {"colour": {"type": ["string", "null"]}}}
    found = asked("which colour has the moon?", schema, {"/a.txt": "Trains leave at noon."})
    assert (found.status, found.found, found.value) == (Status.NOT_FOUND, False, {"colour": None})
    assert found.unsupported == ("/colour",)


def test_an_object_is_never_mixed_from_two_documents() -> None:
    schema = {"type": "object", "properties": {"number": FIELDS["number"], "total": FIELDS["total"]}}
    documents = {
        "/lund.txt": "Invoice number: L-1\n\nBuyer: Lund",
        "/hall.txt": "Total amount: 99.50 EUR Invoice",
    }
    found = asked("what is in the Invoice of Lund?", schema, documents)
    assert found.value == {"number": "L-1"}
    assert {citation.source for citation in found.citations} == {"/lund.txt"}


def test_a_name_that_no_document_has_leads_to_no_document() -> None:
    schema = {"type": "object", "properties": {"number": FIELDS["number"]}}
    found = asked("the Invoice of Bromazol", schema, {"/a.txt": INVOICE})
    assert (found.value, found.status) == ({"number": None}, Status.NOT_FOUND)


def test_two_values_that_fit_as_well_leave_the_field_null() -> None:
    schema = {
        "type": "object",
        "properties": {"total": {"type": ["number", "null"], "title": "Total amount"}},
    }
    text = "Invoice\n\nTotal amount: 10.50 EUR\n\nTotal amount: 20.50 EUR"
    found = asked("what is in the Invoice?", schema, {"/a.txt": text})
    assert found.value == {"total": None}
    assert "several values" in found.fields[0].reason


def test_a_label_that_two_fields_could_have_fills_neither() -> None:
    schema = {
        "type": "object",
        "properties": {
            "opened": {"type": ["string", "null"], "format": "date", "title": "Opening date"},
            "closed": {"type": ["string", "null"], "format": "date", "title": "Closing date"},
        },
    }
    found = asked("what is in the Invoice?", schema, {"/a.txt": "Invoice\n\nDate: 3 May 2024"})
    assert found.value == {"opened": None, "closed": None}


TEXT, DAY, TIME = (
    {"type": "string"},
    {"type": "string", "format": "date"},
    {"type": "string", "format": "time"},
)


def test_days_and_times_are_texts_as_they_are_written_if_the_schema_has_no_format() -> None:
    schema = {"type": "object", "properties": {"invoice_date": TEXT, "closing_time": TEXT, "customer": TEXT}}
    found = asked("what is in the Invoice?", schema, {"/a.txt": f"{INVOICE}\n\nClosing time: 18:30"})
    assert found.value == {"invoice_date": "12 March 2024", "closing_time": "18:30"}
    assert [each.support for each in found.fields if each.key] == [Support.VERBATIM, Support.VERBATIM]


def test_of_two_values_side_by_side_each_has_its_own_words() -> None:
    schema = {"type": "object", "properties": {"closing_on_sundays": TIME, "closing_on_weekdays": TIME}}
    text = "Invoice of the pool. It closes at 21:30 on weekdays and at 18:00 on Sundays."
    found = asked("what is in the Invoice?", schema, {"/a.txt": text})
    assert found.value == {"closing_on_sundays": "18:00:00", "closing_on_weekdays": "21:30:00"}


def test_the_next_one_is_not_the_one_that_is_asked_for() -> None:
    text = "Invoice of the mill. The next meeting is on 8 June 2024."
    for name, value in (("meeting", {}), ("next_meeting", {"next_meeting": "2024-06-08"})):
        schema = {"type": "object", "properties": {name: DAY}}
        assert asked("what is in the Invoice?", schema, {"/a.txt": text}).value == value


def test_rows_of_a_table_become_objects() -> None:
    item = {"type": "object", "properties": {"item": {"type": "string"}, "price": {"type": "number"}}}
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": item}}}
    text = "Invoice of tools\n\nItem: spade · Price: 19.50\n\nItem: rake · Price: 12"
    found = asked("what is in the Invoice?", schema, {"/a.txt": text})
    assert found.value == {"items": [{"item": "spade", "price": 19.5}, {"item": "rake", "price": 12}]}


def test_a_pattern_finds_what_matches_it() -> None:
    schema = {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$"}
    found = asked("what is the number of the Invoice?", schema, {"/a.txt": INVOICE})
    assert (found.value, found.text) == ("HP-20418", "HP-20418")


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("is Zeldrine sold without a prescription?", "yes"),
        ("is Zeldrine kept in a cool place?", "no"),
        ("is Zeldrine sold on Mars?", "unclear"),
    ],
)
def test_yes_or_no_follows_from_a_statement_with_all_words_of_the_question(question: str, value: str) -> None:
    text = "Zeldrine is sold without a prescription.\n\nZeldrine is not kept in a cool place."
    found = asked(question, {"enum": ["yes", "no", "unclear"]}, {"/a.txt": text})
    assert found.value == value and found.citations


def test_the_model_chooses_only_if_it_is_let_and_only_what_stands_in_the_evidence() -> None:
    schema = {"type": "object", "properties": {"maker": {"type": ["string", "null"]}}}
    documents = {"/a.txt": "Zeldrine comes from the Orlan Company."}

    def choose(prompt: str, options: object) -> Mapping[str, float]:
        if "help to answer" in prompt:
            return {"yes": 1.0}
        number = prompt.split(". Orlan Company")[0][-1]
        return {number: 0.9, NOT_STATED: 0.1}

    left = asked("who makes Zeldrine?", schema, documents, ScriptedModel(choose=choose))
    chosen = asked(
        "who makes Zeldrine?", schema, documents, ScriptedModel(choose=choose), fields_by_model=True
    )
    assert (left.value, chosen.value) == ({"maker": None}, {"maker": "Orlan Company"})
    assert chosen.fields[0].support is Support.VERBATIM


def test_a_model_that_is_unsure_or_fails_leaves_the_field_null() -> None:
    schema = {"type": "object", "properties": {"maker": {"type": ["string", "null"]}}}
    documents = {"/a.txt": "Zeldrine comes from the Orlan Company."}
    replies: list[Mapping[str, float] | Exception] = [
        {"1": 0.6, NOT_STATED: 0.4},
        {NOT_STATED: 1.0},
        ConstraintError("the mask broke"),
    ]
    for reply in replies:

        def choose(
            prompt: str, options: object, reply: Mapping[str, float] | Exception = reply
        ) -> Mapping[str, float] | Exception:
            return {"yes": 1.0} if "help to answer" in prompt else reply

        found = asked(
            "who makes Zeldrine?", schema, documents, ScriptedModel(choose=choose), fields_by_model=True
        )
        assert found.value == {"maker": None}


def test_the_events_tell_the_value() -> None:
    world = World({"/a.txt": INVOICE}, ScriptedModel(choose=says("Invoice")))
    schema = {"type": "object", "properties": {"number": FIELDS["number"]}}
    events = world.with_options(output=read_schema(json.dumps(schema))).run("what is in the Invoice?")
    [filled] = of(Filled, events)
    assert filled.output.loaded() == {"number": "HP-20418"}
    assert not of(Degraded, events)


def test_what_a_question_names_is_not_the_value_that_it_asks_for() -> None:
    schema = {"type": "object", "properties": {"usual_dose": {"type": ["string", "null"]}}}
    question = "What is the usual dose of Zeldrine?"
    found = asked(question, schema, {"/a.txt": "The usual dose of Zeldrine is 35 mg once a day."})
    assert found.value == {"usual_dose": "35 mg"}
    found = asked(question, schema, {"/a.txt": "The usual dose of Zeldrine is on the label."})
    assert found.value == {"usual_dose": None}


def test_dates_numbers_and_their_units_are_read_in_one_form() -> None:
    assert [
        span.value for span in dates("on 3 May 2024, May 4th, 2024, 2024-05-06, 7.5.2024 and 13/02/2024")
    ] == [
        *("2024-05-03", "2024-05-04", "2024-05-06", "2024-05-07", "2024-02-13"),
    ]
    assert not list(dates("05/03/2024 or 31 February 2024")), (
        "the month is not clear, or there is no such day"
    )
    found = [
        (span.value, span.unit) for span in numbers("2,687.50 EUR, 5mg, 25 °C, VAT 20 %: £3.50, twice, -4")
    ]
    assert found == [(2687.5, "eur"), (5, "mg"), (25, "°c"), (20, "%"), (3.5, "gbp"), (-4, ""), (2, "tim")]
    assert not list(numbers("1.234 on 3 May 2024 at 19:30, part LX-00931 in 10/2024")), "no number of its own"


def test_texts_are_labelled_values_names_and_codes() -> None:
    def said(text: str) -> list[object]:
        return [span.value for span in texts(text)]

    assert said("Made by: Ostrava Health s.r.o.") == ["Ostrava Health s.r.o."]
    assert "Dr Helen Marsh" in said("Dr Helen Marsh took the chair.")
    assert said("Buyer: Fjordline AS, Strandkaien 1, Bergvik")[0] == "Fjordline AS"
    assert "A/7781" in said("INVOICE No. A/7781")
    assert "35 kg" in said("it weighs 35 kg")


def test_measures_are_written_as_in_the_text() -> None:
    text = "It weighs 35 kg, costs € 30 or 2,450.50 EUR, and takes 25% in 4 rooms."
    assert [span.value for span in measures(text)] == ["35 kg", "€ 30", "2,450.50 EUR", "25%"]
