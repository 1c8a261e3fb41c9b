"""Texts and slides of Word and PowerPoint before 2007.

``files/ferry.doc`` and ``files/tower.ppt.xz`` were saved by LibreOffice, from words of our own: a text with
three levels of headings, lists of numbers and of bullets, a table with merged cells, a footnote, a link, a
header and a footer; and three slides, of which the second is empty and the third has notes.
"""

from __future__ import annotations

import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from localcrag.documents import LocalCorpus
from localcrag.documents.extracted import Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers import old_office, parse
from localcrag.documents.readers.old_office import read_old_office
from localcrag.errors import UnreadableError
from localcrag.types import Page
from tests.documents.conftest import ReadFunction
from tests.documents.test_outlook import compound, storage

office_oxide = pytest.importorskip("office_oxide", reason="it is not there for every system")

FILES = Path(__file__).parent / "files"
FERRY = (FILES / "ferry.doc").read_bytes()
TOWER = lzma.decompress((FILES / "tower.ppt.xz").read_bytes())
DATA_OF_FORMAT = {DocumentFormat.DOC: FERRY, DocumentFormat.PPT: TOWER}
THUMBNAILS = compound({"Catalog": b"x", "1": b"y"})
EMBEDDED: Mapping[str, Any] = {"WordDocument": b"x", **storage(24, {})}


def blocks(page: Page) -> list[tuple[str, int, str]]:
    return [(block.kind.value, block.level, page.text[block.start : block.end]) for block in page.blocks]


def read_html(monkeypatch: pytest.MonkeyPatch, html: str) -> Page:
    """The page of a DOC that office-oxide turns into this HTML."""
    _stand_in(monkeypatch, html=html)
    return read_old_office(DocumentFormat.DOC, b"", Limits()).pages[0]


def _stand_in(monkeypatch: pytest.MonkeyPatch, html: str = "", ir: object = None) -> None:
    class Document:
        @staticmethod
        def from_bytes(data: bytes, name: str) -> Document:
            return Document()

        def to_html(self) -> str:
            return html

        def to_ir(self) -> object:
            return ir

    monkeypatch.setattr(office_oxide, "Document", Document)


def test_a_text_is_read_with_its_structure_and_without_header_and_footer() -> None:
    found = read_old_office(DocumentFormat.DOC, FERRY, Limits())
    (page,) = found.pages
    assert page.number is None and found.media_type == "application/msword"
    assert blocks(page) == [
        ("heading", 1, "Die Fähre nach Sandøy"),
        ("paragraph", 0, "Die Fähre fährt täglich außer montags. Größere Gruppen melden sich an."),
        ("heading", 2, "Vor der Fahrt"),
        ("item", 0, "Kaufen Sie die Karte am Schalter."),
        ("item", 0, "Gehen Sie zum Steg 4."),
        ("paragraph", 0, "Bei Sturm bleibt das Tor zu."),
        ("item", 0, "Zeigen Sie die Karte vor."),
        ("heading", 3, "Gepäck"),
        ("item", 0, "ein Koffer je Person"),
        ("item", 0, "ein Fahrrad, wenn Platz ist"),
        ("item", 1, "nur ohne Motor"),
        ("heading", 2, "Tarife"),
        ("row", 0, "Fahrzeug: Auto · Sommer: 31 € · Winter: 24 €"),
        ("row", 0, "Fahrzeug: Boot · Sommer: 17 € · Winter: 12 €"),
        ("row", 0, "Fahrzeug: Gruppe · Sommer: auf Anfrage"),
        ("row", 0, "Fahrzeug: Gruppe · Sommer: schriftlich · Winter: mündlich"),
        ("paragraph", 0, "Mehr steht auf der Seite der Reederei."),
        ("paragraph", 0, "Gruppen ab zwölf Personen."),
    ]


def test_the_properties_of_a_file_are_its_title_and_fields() -> None:
    text = read_old_office(DocumentFormat.DOC, FERRY, Limits())
    assert text.title == "Die Fähre nach Sandøy"
    assert text.meta == {
        "author": "Grete Müller",
        "created": "2023-04-05",
        "tags": ("Fähre", "Tarife"),
        "subject": "Überfahrt",
    }
    slides = read_old_office(DocumentFormat.PPT, TOWER, Limits())
    assert slides.meta["author"] == "Grete Müller" and slides.meta["tags"] == ("Leuchtturm", "Hörnum")


@pytest.mark.parametrize(
    ("value", "code_page", "text"),
    [
        *((b"Caf\xe9", 1252, "Café"), (b"Caf\xc3\xa9\x00", -535, "Café"), (b"Caf\x8e", 10000, "Café")),
        *((b"Caf\xe9", 99_999, "Café"), (b"Caf\xe9", None, "Café"), ("Café", None, "Café")),
        *((None, 1252, ""), (7, 1252, "")),
    ],
)
def test_a_property_is_in_the_code_page_that_its_file_names(
    value: object, code_page: object, text: str
) -> None:
    assert old_office._text(value, code_page) == text


def test_an_item_of_a_list_has_no_number_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    html = (
        '<ol start="0"><li><p>One</p><ol><li><p>Inner</p></li></ol></li></ol>'
        "<p>Between</p><ol><li><p>Two</p></li></ol>"
    )
    assert read_html(monkeypatch, html).text == "- One\n  - Inner\n\nBetween\n\n- Two"


def test_pictures_and_furniture_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    html = (
        "<header><p>Top</p></header>"
        "<p>A<img src='data:image/png;base64,AAAA' alt='a picture'/> B &lt;ol&gt;</p>"
        "<figure><figcaption>Embedded OLE Object</figcaption></figure><footer><p>Foot</p></footer>"
        "<div><header><p>Kept</p></header></div>"
    )
    assert read_html(monkeypatch, html).text == "A B <ol>\n\nKept"
    assert read_html(monkeypatch, "").text == ""


def test_the_tags_of_a_template_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    html = "<p>{%p if child %}</p><p>For {{ child.name }}.</p><p>{%p endif %}</p>"
    assert read_html(monkeypatch, html).text == "For … (child name)."


def test_the_slides_with_text_are_pages() -> None:
    found = read_old_office(DocumentFormat.PPT, TOWER, Limits())
    assert found.title == "Der Leuchtturm von Hörnum" and found.media_type == "application/vnd.ms-powerpoint"
    assert [(page.number, blocks(page)) for page in found.pages] == [
        (1, [("heading", 1, "Der Leuchtturm von Hörnum"), ("paragraph", 0, "Führungen im Sommer")]),
        (
            3,
            [
                ("heading", 1, "Öffnungszeiten"),
                ("paragraph", 0, "Montag geschlossen"),
                ("paragraph", 0, "Dienstag ab 10 Uhr"),
                ("paragraph", 0, "im Juli ab 9 Uhr"),
                ("paragraph", 0, "Notes: Den Schlüssel hat der Wärter."),
            ],
        ),
    ]


def test_the_table_of_a_slide_is_read_into_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def paragraph(*texts: str) -> dict[str, object]:
        parts: list[dict[str, object]] = [{"type": "text", "text": text} for text in texts]
        return {"type": "paragraph", "content": [*parts[:1], {"type": "line_break"}, *parts[1:]]}

    def row(*texts: str) -> dict[str, object]:
        return {"cells": [{"content": [paragraph(text)]} for text in texts]}

    table = {"type": "table", "rows": [row("Gast", "Preis"), row("Kind", "3 €"), row("Hund", "1 €")]}
    picture = {"type": "image", "data": "AAAA", "alt_text": "a picture"}
    slide = {"elements": [paragraph("Karten", "und mehr"), picture, table], "speaker_notes": None}
    _stand_in(monkeypatch, ir={"sections": [slide]})
    (page,) = read_old_office(DocumentFormat.PPT, b"", Limits()).pages
    assert page.text == "Karten und mehr\n\nGast: Kind · Preis: 3 €\nGast: Hund · Preis: 1 €"


@pytest.mark.parametrize("name", ["ferry.doc", "ferry", "ferry.docx", "ferry.txt", "ferry.dot"])
def test_a_text_is_known_by_its_content(read: ReadFunction, corpus: LocalCorpus, name: str) -> None:
    document = read(name, FERRY)
    assert document.title == "Die Fähre nach Sandøy" and document.media_type == "application/msword"
    words = " ".join(passage.text for passage in corpus.split(document))
    assert "Fahrzeug: Boot · Sommer: 17 €" in words and "Reederei Nordwind" not in words


def test_slides_are_read_from_a_compressed_file(read: ReadFunction) -> None:
    document = read("tower.ppt.xz", (FILES / "tower.ppt.xz").read_bytes())
    assert document.title == "Der Leuchtturm von Hörnum" and [page.number for page in document.pages] == [
        1,
        3,
    ]


@pytest.mark.parametrize("format_", DATA_OF_FORMAT)
def test_a_damaged_file_says_so(format_: DocumentFormat) -> None:
    for data in (b"", b"anything", DATA_OF_FORMAT[format_][:3000], THUMBNAILS):
        with pytest.raises(UnreadableError) as caught:
            read_old_office(format_, data, Limits())
        assert str(caught.value) == f"damaged {format_}"
        assert caught.value.hint == f"Save it as {format_}X or PDF."


@pytest.mark.parametrize("format_", DATA_OF_FORMAT)
@pytest.mark.parametrize("part", range(1, 21))
def test_a_file_that_was_cut_is_read_as_far_as_it_goes_or_says_so(format_: DocumentFormat, part: int) -> None:
    data = DATA_OF_FORMAT[format_]
    try:
        parse(format_, data[: len(data) * part // 21], Limits())
    except UnreadableError as error:
        assert str(error) == f"damaged {format_}"


def test_an_encrypted_file_says_so() -> None:
    text = bytearray(FERRY)
    text[FERRY.index(b"\xec\xa5") + 11] |= 1
    slides = TOWER.replace(b"\x5f\xc0\x91\xe3", b"\xdf\xc4\xd1\xf3")
    for format_, data in ((DocumentFormat.DOC, bytes(text)), (DocumentFormat.PPT, slides)):
        with pytest.raises(UnreadableError) as caught:
            read_old_office(format_, data, Limits())
        assert str(caught.value) == f"encrypted {format_} (needs a password)"
        assert caught.value.hint == "Save a copy without the password."


def test_a_file_without_readable_properties_has_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    import olefile

    def refused(*_: object) -> None:
        raise IndexError

    monkeypatch.setattr(olefile, "OleFileIO", refused)
    found = read_old_office(DocumentFormat.DOC, FERRY, Limits())
    assert found.title == "" and not found.meta and "Sturm" in found.pages[0].text


def test_more_text_than_the_limit_is_refused() -> None:
    for format_, data in DATA_OF_FORMAT.items():
        with pytest.raises(UnreadableError, match="expands"):
            read_old_office(format_, data, Limits(text=20))


def test_without_the_library_the_way_to_read_it_is_named(
    read: ReadFunction, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(old_office, "reads_old_office", lambda: False)
    with pytest.raises(UnreadableError) as caught:
        read("ferry.doc", FERRY)
    assert str(caught.value) == "an old Office format: localcrag[old-office] reads it"
    assert "pip install 'localcrag[old-office]'" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "data", "format_"),
    [
        ("a.doc", FERRY, DocumentFormat.DOC),
        ("a.xls", FERRY, DocumentFormat.DOC),
        ("a.ppt", TOWER, DocumentFormat.PPT),
        ("a.doc", rb"{\rtf1 words}", DocumentFormat.RTF),
        ("a.doc", b"<html><body><p>Words.</p></body></html>", DocumentFormat.HTML),
        ("a.doc", b"Just some words.", DocumentFormat.TEXT),
        ("a.ppt", b"Just some words.", DocumentFormat.TEXT),
        ("a.db", b"Just some words.", DocumentFormat.TEXT),
        ("a.db", b"SQLite format 3\0", DocumentFormat.SQLITE),
        ("a.doc", compound({"Book": b"x", "ObjectPool": EMBEDDED}), DocumentFormat.XLS),
    ],
)
def test_the_format_is_that_of_the_content(name: str, data: bytes, format_: DocumentFormat) -> None:
    assert format_of(name, data) is format_


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("Thumbs.db", THUMBNAILS, "a file of a program that is not known"),
        ("a.doc", compound({"Inner": EMBEDDED}), "a file of a program that is not known"),
        ("a.doc", FERRY[:100], "damaged Office file"),
        ("a.docx", compound({"EncryptedPackage": b"x"}), "encrypted DOCX (needs a password)"),
        ("a.doc", compound({"EncryptedPackage": b"x"}), "encrypted Office file (needs a password)"),
    ],
)
def test_an_old_file_of_another_kind_says_what_it_is(name: str, data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        format_of(name, data)
    assert str(caught.value) == reason
