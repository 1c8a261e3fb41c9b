"""The values of PDF forms: they are read beside the labels of their fields, and shown on the page."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localcrag.documents.extracted import Limits
from localcrag.documents.page_pictures import boxed_page
from localcrag.documents.readers import pdf as pdf_reader
from localcrag.documents.readers.pdf import read_pdf
from localcrag.types import Page
from tests.documents.builders import pdf

Fields = Callable[[Any], object]


def form(*labels: str, fields: Fields, scanned: bool = False) -> bytes:
    """A page with labels below one another, and the fields that are added to it."""
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    canvas.rect(20, 20, 300, 300, fill=int(scanned))
    for number, label in enumerate(labels):
        canvas.drawString(72, 780 - 30 * number, label)
    fields(canvas.acroForm)
    canvas.save()
    return out.getvalue()


def text_of(data: bytes) -> str:
    return "\n".join(page.text for page in read_pdf(data, Limits()).pages)


def amounts(fields: Any, **options: str) -> None:
    """A name and an amount, each in a field with a label before it."""
    for y, name, value in ((775, "club", "Otterbourne Canoe Club"), (745, "amount", "GBP 7,450")):
        fields.textfield(name=name, value=value, x=200, y=y, width=250, height=18, fontSize=10, **options)


def test_the_value_of_a_field_stands_beside_its_label() -> None:
    data = form("Organisation:", "Amount requested:", fields=amounts)
    text = text_of(data)
    assert "Organisation: Otterbourne Canoe Club" in text and "Amount requested: GBP 7,450" in text


def test_a_value_that_the_file_does_not_draw_is_read_all_the_same() -> None:
    data = form("Organisation:", "Amount requested:", fields=amounts).replace(b"/AP ", b"/XP ")
    assert "Amount requested: GBP 7,450" in text_of(data)


def test_passwords_buttons_and_hidden_fields_are_not_read() -> None:
    secret = form("PIN", fields=lambda fields: amounts(fields, fieldFlags="password"))
    hidden = form("Note", fields=lambda fields: amounts(fields, annotationFlags="hidden"))
    assert "7,450" not in text_of(secret) + text_of(hidden)


def test_check_boxes_and_radio_buttons_are_signs_beside_their_labels() -> None:
    def boxes(fields: Any) -> None:
        fields.checkbox(name="news", checked=True, x=50, y=776, size=14)
        fields.checkbox(name="insured", checked=False, x=50, y=746, size=14)
        for x, value in ((240, "yes"), (300, "no")):
            fields.radio(name="boat", value=value, selected=value == "no", x=x, y=716, size=14)

    text = text_of(form("Newsletter", "Insurance", "Do you own a boat?", fields=boxes))
    assert "☑ Newsletter" in text and "☐ Insurance" in text and "Do you own a boat? ☐ ☑" in text


def test_of_a_list_the_chosen_option_is_read_and_of_a_comb_one_word() -> None:
    def lists(fields: Any) -> None:
        options = {"options": ["Cash", "Direct debit", "Card"], "fontSize": 10, "width": 120}
        fields.listbox(name="pay", value="Direct debit", x=200, y=745, height=50, **options)
        fields.textfield(
            name="code", value="WX42AB", maxlen=8, fieldFlags="comb", x=200, y=715, width=200, height=18
        )
        fields.choice(name="kind", value="Card", x=200, y=685, height=18, **options)

    text = text_of(
        form("Payment:", "", "Post code:", "Card or cash:", fields=lists).replace(b"/AP ", b"/XP ")
    )
    assert "Payment: Direct debit" in text and "Cash" not in text
    assert "Post code: WX42AB" in text and "Card or cash: Card" in text


def test_a_scanned_form_is_recognised_with_its_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reader, "can_recognise", lambda: True)
    monkeypatch.setattr(pdf_reader, "_recognised", lambda page, number, limits: Page(number, "recognised"))
    assert text_of(form(fields=amounts, scanned=True)) == "recognised"
    assert "7,450" in text_of(form("Amount", fields=amounts))


def test_without_recognition_the_values_of_a_scanned_form_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reader, "can_recognise", lambda: False)
    assert "7,450" in text_of(form(fields=amounts, scanned=True))


def test_the_picture_of_a_page_shows_the_values_with_a_box(tmp_path: Path) -> None:
    file = tmp_path / "form.pdf"
    file.write_bytes(data := form("Organisation:", "Amount requested:", fields=amounts))
    assert boxed_page(file, 1, "Otterbourne Canoe Club").boxed and file.read_bytes() == data


def test_a_document_without_a_form_is_not_opened_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf_reader, "filled_page", lambda document, index: pytest.fail("it has no form"))
    assert text_of(pdf(["No fields here."])) == "No fields here."
