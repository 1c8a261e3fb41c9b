"""Documents that a program fills in are read without the tags of their template."""

from __future__ import annotations

import io

from localcrag.documents.template_tags import without_template_tags
from tests.documents.conftest import ReadFunction


def made(*paragraphs: tuple[str, str]) -> bytes:
    from docx import Document

    document = Document()
    for text, style in paragraphs:
        document.add_paragraph(text, style=style)
    kept = io.BytesIO()
    document.save(kept)
    return kept.getvalue()


def test_the_tags_of_a_template_are_dropped_and_what_is_filled_in_is_a_blank(read: ReadFunction) -> None:
    form = made(
        ("I, {% if other %}{{ name }} and {{ other }}{% else %}{{ name }}{% endif %}, sign this.", "Normal"),
        ("{%p if child %}", "List Number"),
        ("{{ children[0].first_name.full(middle='x') }} lives with us, as {{ role|lower }}.", "List Number"),
        ("{%p endif %}", "List Number"),
        ("The fee is paid.", "List Number"),
    )
    page = read("form.docx", form).pages[0]
    assert [page.text[block.start : block.end] for block in page.blocks] == [
        "I, … (name) and … (other)… (name), sign this.",
        "… (children first name) lives with us, as … (role).",
        "The fee is paid.",
    ]
    assert "{%" not in page.text and "3." not in page.text


def test_a_document_that_is_no_template_keeps_what_it_says_of_them() -> None:
    told = "<p>A tag is written as {% tag %}, and 5 {% of 100 %} is 5.</p>"
    assert without_template_tags(told) == told
