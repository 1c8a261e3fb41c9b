"""Strips: cut without loss, each with its span in the stored text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from localcrag.crag.refinement.knowledge_strips import statements, strips, whole
from localcrag.crag.refinement.strip_spans import sentences
from localcrag.types import BlockKind
from tests.crag.values import HANDBOOK, TEXT, passage, structured


def test_strips_keep_their_span_in_the_stored_text() -> None:
    stored = "A page begins here. " + TEXT
    cut = strips(passage(TEXT, start=20))
    assert [stored[s.start : s.end] for s in cut] == [s.text for s in cut]
    assert [s.text for s in cut] == [
        "Steam engines came first.",
        "They were large and slow machines.",
        "Dr. Watt made them better in 1769. See p. 4.",
    ]


def test_a_row_of_a_table_is_one_strip() -> None:
    row = "Kind: Boat · Note: See p. 4. Paid at once. · Fee: 75 EUR"
    text = f"What it costs:\n\n{row}\n\nKind: Car · Fee: 48 EUR"
    assert [s.text for s in strips(passage(text))] == text.split("\n\n")


def test_a_strip_lies_within_a_block_and_headings_and_furniture_are_none() -> None:
    cut = strips(HANDBOOK)
    assert [s.text for s in cut] == [
        "Zeldrine is a drug of the Orlan company. It is new.",
        "Twice a day.",
        "Age: 6. or 7. · Dose: half. A tablet.",
        "# a comment\nrun()",
        "stop()",
        "It is quite new.",
        "Before you take it, you need both of these:",
        "a prescription of a doctor",
        "a glass of water",
    ]
    assert all(HANDBOOK.text[s.start - 7 : s.end - 7] == s.text for s in cut)
    assert strips(structured((BlockKind.HEADING, "What is Zeldrine?"))) == []


def test_the_number_of_an_item_belongs_to_the_item() -> None:
    text = (
        "You must do this first of all. 2. Then you must do that as well. (b) And this one comes last. Yes."
    )
    assert [s.text for s in strips(passage(text))] == [
        "You must do this first of all.",
        "2. Then you must do that as well.",
        "(b) And this one comes last. Yes.",
    ]


def test_a_row_of_a_table_and_an_item_of_a_list_are_strips_of_their_own() -> None:
    text = (
        "These are the settings that there are:\n"
        "| name | what it is for |\n| `web.url` | address of your search |\n"
        "| `web.results` | results read |\n"
        "And these are the ways to set them:\n- on the command line\n- in the file, or in the environment\n"
        "1. First comes the flag, as everywhere\n2. then the file\n"
    )
    stored = "Before. " + text
    cut = strips(passage(text, start=8))
    assert [stored[s.start : s.end] for s in cut] == [s.text for s in cut]
    assert [s.text for s in cut if "web." in s.text] == [
        "| `web.url` | address of your search |",
        "| `web.results` | results read |",
    ]
    assert "And these are the ways to set them:" in [s.text for s in cut]
    assert "- in the file, or in the environment" in [s.text for s in cut]


@pytest.mark.parametrize("mark", ["?", "?”", "？"])
def test_a_question_in_a_document_is_no_evidence(mark: str) -> None:
    mail = passage(f"They wrote: what was wrong with the boiler{mark} The heat exchanger had a crack.")
    assert [strip.text for strip in statements(mail)] == ["The heat exchanger had a crack."]


def test_a_passage_can_be_one_strip() -> None:
    strip = whole(passage(TEXT, start=7), 0.8)
    assert (strip.start, strip.end, strip.score) == (7, 7 + len(TEXT), 0.8)


@pytest.mark.parametrize(
    ("language", "cut"),
    [
        (
            "de",
            ["Das gilt z. B. bis zum 3. Oktober 2020 nach Nr. 5 der Verordnung.", "Danach gilt es nicht."],
        ),
        ("fr", ["M. Dupont a payé la redevance de 35 € au printemps.", "Le retard coûte 5 € de plus."]),
        ("es", ["El Sr. Pérez vive en la Av. Juárez desde hace años.", "¿Cuánto paga por su barco?"]),
        ("zh", ["摩托车的费用是三十五欧元。", "逾期付款要多付五欧元！", "什么时候应该付款？"]),
        ("ja", ["料金は三十五ユーロです。", "遅れると五ユーロ高くなります。"]),
    ],
)
def test_sentences_end_as_in_the_language_of_the_passage(language: str, cut: list[str]) -> None:
    text = ("" if language in ("zh", "ja") else " ").join(cut)
    assert [strip.text for strip in strips(passage(text))] == cut


def test_a_language_that_a_document_declares_counts() -> None:
    text = "Siehe Nr. 5 der Norm. Ende."
    told = replace(passage(text), meta={"language": "de-AT"})
    assert [text[a:b] for a, b in sentences(text, "de")] == ["Siehe Nr. 5 der Norm.", "Ende."]
    assert [strip.text for strip in strips(told)] == [text]  # the second is too short to stand alone
    assert len(strips(replace(told, text=f"{text} Es gilt für alle Boote."))) == 2
