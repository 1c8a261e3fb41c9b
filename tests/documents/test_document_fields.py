"""The fields that documents themselves give: which there are, their form, and hostile ones."""

from __future__ import annotations

import io
import zipfile
from datetime import UTC, datetime
from email.message import EmailMessage
from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.documents.document_fields import (
    MAX_CHARACTERS,
    MAX_FIELDS,
    MAX_ITEMS,
    MAX_NAME_CHARACTERS,
    MAX_VALUE_CHARACTERS,
    field_name,
    fields_of,
    mail_day,
    pdf_day,
)
from localcrag.documents.front_matter import front_matter
from localcrag.filters import is_key
from tests.documents.builders import FOX
from tests.documents.conftest import ReadFunction

MARKDOWN = """---
title: Travel rules
author: {name: Ada Lovelace, email: ada@example.com}
tags: travel, motorcycles
Status: final
date: 2024-06-01T10:00:00+02:00
lastmod: 2024-02-31
Größe (mm): 35.5
draft: false
source: https://example.com
authors:
  - name: Ada
  - Bob
---
# Rules

Text.
"""


def test_the_front_matter_of_markdown(read: ReadFunction) -> None:
    document = read("a.md", MARKDOWN)
    assert document.title == "Travel rules"
    assert document.meta == {
        "author_name": "Ada Lovelace",
        "author_email": "ada@example.com",
        "tags": ("travel", "motorcycles"),
        "status": "final",
        "date": "2024-06-01",
        "lastmod": "2024-02-31",
        "grosse_mm": 35.5,
        "draft": False,
        "authors": ("Ada", "Bob"),
    }
    assert document.own == tuple(sorted(document.meta))
    assert "Status: final" in document.pages[0].text, "it can be searched too"


def test_the_field_list_of_rst_and_the_keywords_of_org(read: ReadFunction) -> None:
    rst = "Rules\n=====\n\n:Author: Ada Lovelace\n:Date: 2024-06-01\n:Status: draft\n\nText.\n\n:not: one\n"
    assert read("a.rst", rst).meta == {"author": "Ada Lovelace", "date": "2024-06-01", "status": "draft"}
    assert read("b.rst", "Text only.\n\n:late: field\n").meta == {}
    org = read("a.org", "#+TITLE: Rules\n#+AUTHOR: Ada\n#+FILETAGS: :travel:boats:\n\n* Rules\nText.\n")
    assert (org.title, dict(org.meta)) == ("Rules", {"author": "Ada", "tags": ("travel", "boats")})


def test_the_properties_of_office_files(read: ReadFunction) -> None:
    from docx import Document
    from openpyxl import Workbook
    from pptx import Presentation

    def fill(properties: object) -> None:
        for name, value in {
            "author": "Ada Lovelace",
            "creator": "Ada Lovelace",
            "keywords": "travel; boats",
            "content_status": "final",
            "contentStatus": "final",
            "created": datetime(2024, 6, 1, 10, tzinfo=UTC).replace(tzinfo=None),
            "modified": datetime(2024, 7, 2, tzinfo=UTC).replace(tzinfo=None),
            "title": "Rules",
        }.items():
            if hasattr(type(properties), name) or hasattr(properties, name):
                setattr(properties, name, value)

    wanted: dict[str, object] = {
        "author": "Ada Lovelace",
        "tags": ("travel", "boats"),
        "status": "final",
        "created": "2024-06-01",
    }
    text: Any = Document()
    text.add_paragraph(FOX)
    fill(text.core_properties)
    slides: Any = Presentation()
    slides.slides.add_slide(slides.slide_layouts[0]).shapes.title.text = FOX
    fill(slides.core_properties)
    book: Any = Workbook()
    book.active.append(["Kind", "Fee"])
    book.active.append(["Motorcycle", 35])
    fill(book.properties)
    for name, made in (("a.docx", text), ("a.pptx", slides), ("a.xlsx", book)):
        out = io.BytesIO()
        made.save(out)
        document = read(name, out.getvalue())
        assert document.title == "Rules"
        assert wanted.items() <= document.meta.items(), name
        assert str(document.meta["modified"]).startswith("20"), "openpyxl sets it itself"


def test_what_a_library_puts_into_every_file_is_no_field(read: ReadFunction) -> None:
    from docx import Document
    from openpyxl import Workbook
    from pptx import Presentation

    text: Any = Document()
    text.add_paragraph(FOX)
    slides: Any = Presentation()
    slides.slides.add_slide(slides.slide_layouts[0]).shapes.title.text = FOX
    book: Any = Workbook()
    book.active.append([FOX])
    for name, made, left in (
        ("a.docx", text, set()),
        ("a.pptx", slides, set()),
        ("a.xlsx", book, {"modified"}),
    ):
        out = io.BytesIO()
        made.save(out)
        assert set(read(name, out.getvalue()).meta) - {"created"} == left, name


def test_the_properties_of_an_opendocument(read: ReadFunction) -> None:
    names = "urn:oasis:names:tc:opendocument:xmlns"
    head = f'xmlns:office="{names}:office:1.0" xmlns:text="{names}:text:1.0" xmlns:meta="{names}:meta:1.0"'
    meta = f"""<office:document-meta {head} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>
    <dc:title>Rules</dc:title><meta:initial-creator>Ada</meta:initial-creator><dc:creator>Bob</dc:creator>
    <meta:creation-date>2024-06-01T10:00:00.123</meta:creation-date><dc:date>2024-07-02T00:00:00</dc:date>
    <meta:keyword>travel</meta:keyword><meta:keyword>boats</meta:keyword>
    <meta:user-defined meta:name="Team">sales</meta:user-defined></office:meta></office:document-meta>"""
    content = f"""<office:document-content {head}><office:body><office:text><text:p>{FOX}</text:p>
    </office:text></office:body></office:document-content>"""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr("content.xml", content)
        archive.writestr("meta.xml", meta)
    document = read("a.odt", out.getvalue())
    assert document.title == "Rules"
    assert document.meta == {
        "author": "Ada",
        "created": "2024-06-01",
        "modified": "2024-07-02",
        "tags": ("travel", "boats"),
        "team": "sales",
    }


def test_the_properties_of_a_pdf(read: ReadFunction) -> None:
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out)
    canvas.setAuthor("Ada Lovelace")
    canvas.setKeywords(["travel", "boats"])
    canvas.setSubject("Fees")
    canvas.drawString(72, 700, FOX)
    canvas.save()
    meta = read("a.pdf", out.getvalue()).meta
    assert (meta["author"], meta["tags"], meta["subject"]) == ("Ada Lovelace", ("travel", "boats"), "Fees")
    assert len(str(meta["created"])) == len(str(meta["modified"])) == len("2024-06-01")


def test_the_properties_of_a_page(read: ReadFunction) -> None:
    html = """<html lang="de"><head><title>Rules</title><meta name="Author" content="Ada">
    <meta name="keywords" content="travel, boats"><meta name="date" content="2024-06-01T08:00:00Z">
    <meta name="description" content="What &quot;it&quot; costs"><meta name="role" content="navigation">
    <meta property="article:modified_time" content="2024-07-02"></head><body><p>Text.</p></body></html>"""
    document = read("a.html", html)
    assert document.meta == {
        "language": "de",
        "author": "Ada",
        "tags": ("travel", "boats"),
        "date": "2024-06-01",
        "description": 'What "it" costs',
        "modified": "2024-07-02",
    }
    assert document.pages[0].text == "Text."


def test_the_headers_of_a_mail(read: ReadFunction) -> None:
    message = EmailMessage()
    message["From"], message["To"] = "Zoë <zoe@example.com>", "team@example.com"
    message["Date"], message["Subject"] = "Sat, 1 Jun 2024 23:30:00 +0200", "Fees"
    message.set_content(FOX)
    message.add_attachment(b"From: x@y\nSubject: other\n\nText", maintype="message", subtype="plain")
    assert read("a.eml", message.as_bytes()).meta == {
        "from": "Zoë <zoe@example.com>",
        "to": "team@example.com",
        "subject": "Fees",
        "date": "2024-06-01",
    }


def test_the_metadata_of_a_book(read: ReadFunction) -> None:
    package = """<package xmlns="http://www.idpf.org/2007/opf"><metadata
    xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Rules</dc:title><dc:creator>Ada</dc:creator>
    <dc:creator>Bob</dc:creator><dc:language>en</dc:language><dc:date>2024-06-01</dc:date>
    <meta property="dcterms:modified">2024-07-02T00:00:00Z</meta></metadata>
    <manifest><item id="c" href="c.xhtml" media-type="application/xhtml+xml"/></manifest>
    <spine><itemref idref="c"/></spine></package>"""
    container = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr("META-INF/container.xml", container)
        book.writestr("p.opf", package)
        book.writestr("c.xhtml", f"<html><body><p>{FOX}</p></body></html>")
    assert read("a.epub", out.getvalue()).meta == {
        "author": ("Ada", "Bob"),
        "date": "2024-06-01",
        "language": "en",
        "modified": "2024-07-02",
    }


HOSTILE = {
    "10,000 keys": "".join(f"key{n}: value\n" for n in range(10_000)),
    "3,000 keys": "".join(f"key{n}: value\n" for n in range(3_000)),
    "nested lists": "a: " + "[" * 5_000 + "]" * 5_000 + "\n",
    "nested mappings": "".join(" " * n + "a:\n" for n in range(300)),
    "aliases": "a: &a [x, x]\n"
    + "".join(f"{b}: &{b} [*{a}, *{a}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
    "merges": "a: &a {x: 1}\nb: {<<: [*a, *a]}\n",
    "long values": f"a: {'x' * 30_000}\nb: [{'y,' * 10_000}]\n",
    "numbers": "a: .inf\nb: .nan\nc: 1e400\nd: 1" + "0" * 6_000 + "\ne: 0x" + "f" * 2_000 + "\n",
    "a tag": "a: !!python/object/apply:os.system [id]\n",
    "names": "and: 1\n? [a]\n: 2\n'': 3\n'\\0': 4\n漢字: 5\n1st: 6\n",
    "dates": "date: 2024-99-99\nother: 99999-01-01\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_front_matter_costs_neither_time_nor_the_document(read: ReadFunction, name: str) -> None:
    started = process_time()
    document = read("a.md", f"---\n{HOSTILE[name]}---\nThe fee is 35 EUR.\n")
    assert process_time() - started < 20
    assert "The fee is 35 EUR." in document.pages[0].text
    assert len(document.meta) <= MAX_FIELDS
    assert all(is_key(key) for key in document.meta)
    assert sum(len(key) + len(str(value)) for key, value in document.meta.items()) < 3 * MAX_CHARACTERS


def test_aliases_are_no_fields() -> None:
    text = "---\na: &a x\nb: *a\n---\nText"
    assert front_matter(text) == ({}, text)


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates() | st.datetimes(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), anything))
def test_whatever_is_given_becomes_fields_that_a_filter_can_name(given: dict[str, object]) -> None:
    for key, value in fields_of(given.items()).items():
        assert is_key(key) and key == field_name(key) and len(key) <= MAX_NAME_CHARACTERS
        assert isinstance(value, (str, int, float, tuple))
        if isinstance(value, tuple):
            assert 0 < len(value) <= MAX_ITEMS and all(value)
        assert not isinstance(value, str) or 0 < len(value) <= MAX_VALUE_CHARACTERS


@given(st.text() | st.binary().map(lambda data: data.decode("latin-1")))
def test_any_text_is_a_day_or_none(text: str) -> None:
    assert len(pdf_day(text)) in (0, 10) and len(mail_day(text)) in (0, 10)


def test_days() -> None:
    assert (pdf_day("D:20240601120000+02'00'"), pdf_day("20240231"), pdf_day("2024")) == (
        "2024-06-01",
        "",
        "",
    )
    assert (mail_day("1 Jun 2024 10:00"), mail_day("32 Jun 2024 10:00"), mail_day("")) == (
        "2024-06-01",
        "",
        "",
    )
