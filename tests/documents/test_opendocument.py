"""OpenDocument: texts, spreadsheets and presentations as blocks, and what a hostile one may not do."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Document, Page
from tests.documents.builders import replaced
from tests.documents.conftest import ReadFunction
from tests.documents.opendocument_builders import cell, opendocument, row


def blocks(page: Page) -> list[tuple[BlockKind, int, str]]:
    return [(block.kind, block.level, page.text[block.start : block.end]) for block in page.blocks]


def text_of(read: ReadFunction, body: str) -> Page:
    document: Document = read("x.odt", opendocument("text", body))
    (page,) = document.pages
    return page


def item(text: str, attributes: str = "") -> str:
    return f"<text:list-item {attributes}><text:p>{text}</text:p></text:list-item>"


def test_headings_paragraphs_and_the_title(read: ReadFunction) -> None:
    body = (
        '<text:sequence-decls/><text:p text:style-name="P2">Leaflet</text:p>'
        '<text:h text:outline-level="1">Dosage</text:h><text:p>One <text:span>*tablet*</text:span>'
        '<text:s text:c="3"/>with<text:line-break/>water.</text:p><text:p/>'
        '<text:section><text:h text:outline-level="2">Children</text:h></text:section>'
        "<text:table-of-content><text:p>Dosage 1</text:p></text:table-of-content>"
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
    )
    document = read("x.odt", opendocument("text", body, title="The  Leaflet"))
    assert document.title == "The Leaflet"
    assert document.media_type == "application/vnd.oasis.opendocument.text"
    assert [page.number for page in document.pages] == [None]
    assert blocks(document.pages[0]) == [
        (BlockKind.HEADING, 1, "Leaflet"),
        (BlockKind.HEADING, 1, "Dosage"),
        (BlockKind.PARAGRAPH, 0, "One *tablet* with water."),
        (BlockKind.HEADING, 2, "Children"),
    ]


def test_lists_are_nested_numbered_and_continued(read: ReadFunction) -> None:
    ninth = 'text:start-value="9"'
    again = 'text:style-name="L1" text:continue-numbering="true"'
    body = (
        '<text:list text:style-name="L1"><text:list-item><text:p>first</text:p><text:p>more of it</text:p>'
        f"<text:list>{item('inner')}</text:list></text:list-item>{item('second')}</text:list>"
        f"<text:p>between</text:p><text:list {again}>{item('third')}"
        f"{item('ninth', ninth)}</text:list><text:list>{item('plain')}</text:list>"
    )
    page = text_of(read, body)
    assert page.text == (
        "1. first\n\nmore of it\n\n  a) inner\n2. second\n\nbetween\n\n3. third\n9. ninth\n\n- plain"
    )
    assert blocks(page)[2] == (BlockKind.ITEM, 1, "inner")


def test_a_table_gives_rows_with_headers_and_repeated_cells(read: ReadFunction) -> None:
    header = row(cell("Category"), cell("Fee"), cell("Note"))
    body = (
        f"<table:table><table:table-column/><table:table-header-rows>{header}</table:table-header-rows>"
        + row(cell("Car"), cell("48 EUR", 'table:number-columns-repeated="2"'))
        + row(cell("Boat", 'table:number-columns-spanned="2"'), "<table:covered-table-cell/>", cell("wet"))
        + "</table:table>"
    )
    page = text_of(read, body)
    assert page.text == "Category: Car · Fee: 48 EUR · Note: 48 EUR\nCategory: Boat · Note: wet"
    assert {kind for kind, _, _ in blocks(page)} == {BlockKind.ROW}


def test_the_rows_of_a_sheet_are_numbered_as_it_counts(read: ReadFunction) -> None:
    rows = [
        row(cell("Kind"), cell("Fee")),
        row(cell("Car"), cell("48 EUR")),
        '<table:table-row table:number-rows-repeated="100"><table:table-cell/></table:table-row>',
        row(cell("Boat"), cell("75 EUR")),
    ]
    sheet = f'<table:table table:name="Tariffs">{"".join(rows)}</table:table>'
    [page] = read("a.ods", opendocument("spreadsheet", sheet)).pages
    assert [(block.level, page.text[block.start : block.end]) for block in page.blocks[1:]] == [
        (2, "Kind: Car · Fee: 48 EUR"),
        (103, "Kind: Boat · Fee: 75 EUR"),
    ]


def test_notes_follow_their_paragraph_and_comments_are_left_out(read: ReadFunction) -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>See below.</text:p>"
        "</text:note-body></text:note>"
    )
    comment = "<office:annotation><text:p>really?</text:p></office:annotation>"
    page = text_of(read, f"<text:p>Take one{note}{comment} a day.</text:p><text:p>End.</text:p>")
    assert page.text == "Take one[1] a day.\n\n[1] See below.\n\nEnd."
    table = f"<table:table>{row(cell(f'Boat{note}'))}</table:table>"
    assert text_of(read, table).text == "Boat[1]\n\n[1] See below."


def test_text_boxes_captions_and_code(read: ReadFunction) -> None:
    body = (
        "<text:p>Before <draw:frame><draw:text-box><text:p text:style-name='Caption'>Figure 1: a dose"
        "</text:p></draw:text-box></draw:frame>after.</text:p>"
        '<text:p text:style-name="P1">if x:</text:p><text:p text:style-name="P1">'
        '<text:s text:c="4"/>y()</text:p>'
        "<text:p>Done.</text:p>"
    )
    assert blocks(text_of(read, body)) == [
        (BlockKind.PARAGRAPH, 0, "Before after."),
        (BlockKind.CAPTION, 0, "Figure 1: a dose"),
        (BlockKind.CODE, 0, "if x:\n    y()"),
        (BlockKind.PARAGRAPH, 0, "Done."),
    ]


def test_sheets_are_pages_and_hidden_ones_are_left_out(read: ReadFunction) -> None:
    empty = '<table:table-cell table:number-columns-repeated="16380"/>'
    date = 'office:value-type="date" office:date-value="2026-03-02T00:00:00"'
    truth = 'office:value-type="boolean" office:boolean-value="true"'
    sheets = (
        '<table:table table:name="Do_se*s">'
        + row(cell("drug"), cell("dose"), cell("since"), cell("safe"), empty)
        + row(cell("aspirin"), cell("100 mg"), cell("3/2/26", date), cell("WAHR", truth))
        + row(empty, attributes='table:number-rows-repeated="1048000"')
        + '</table:table><table:table table:name="Hidden" table:style-name="ta2">'
        + row(cell("no"))
        + '</table:table><table:table table:name="Empty"/><table:table table:name="Notes">'
        + row(cell("just a note"))
        + "</table:table>"
    )
    document = read("x.ods", opendocument("spreadsheet", sheets, title="Doses"))
    assert document.title == "Doses"
    assert [(page.number, page.text) for page in document.pages] == [
        (1, "Do_se*s\n\ndrug: aspirin · dose: 100 mg · since: 2026-03-02 · safe: yes"),
        (4, "Notes\n\njust a note"),
    ]
    assert [kind for kind, _, _ in blocks(document.pages[0])] == [BlockKind.HEADING, BlockKind.ROW]


def test_slides_are_pages(read: ReadFunction) -> None:
    def frame(content: str, kind: str = "outline") -> str:
        return (
            f'<draw:frame presentation:class="{kind}"><draw:text-box>{content}</draw:text-box></draw:frame>'
        )

    items = "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>deep</text:p>"
    slides = (
        f"<draw:page>{frame(items + '</text:list-item></text:list></text:list-item></text:list>')}"
        + frame("<text:p>Doses</text:p>", "title")
        + f"<draw:g><draw:custom-shape><text:p>grouped words</text:p></draw:custom-shape></draw:g>"
        f"<presentation:notes>{frame('<text:p>say it</text:p><text:p>slowly</text:p>', 'notes')}"
        f"{frame('<text:p>7</text:p>', 'page-number')}</presentation:notes></draw:page><draw:page/>"
        f"<draw:page><draw:frame><table:table>{row(cell('drug'), cell('dose'))}"
        f"{row(cell('aspirin'), cell('100'))}</table:table></draw:frame></draw:page>"
    )
    document = read("x.odp", opendocument("presentation", slides))
    assert document.title == "Doses"
    assert [(page.number, page.text) for page in document.pages] == [
        (1, "Doses\n\n- one\n  - deep\n\ngrouped words\n\nNotes: say it slowly"),
        (3, "drug: aspirin · dose: 100"),
    ]


def test_a_name_that_tells_nothing_is_no_hindrance(read: ReadFunction) -> None:
    data = opendocument("text", "<text:p>words</text:p>")
    assert read("letter", data).media_type == "application/vnd.oasis.opendocument.text"
    template = replaced(data, {"mimetype": "application/vnd.oasis.opendocument.text-template"})
    assert read("letter.bak", template).pages[0].text == "words"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (opendocument("text", "<text:p>"), "damaged ODT"),
        (opendocument("text", "", manifest="<encryption-data/>"), "encrypted ODT (needs a password)"),
        (opendocument("text", "<text:p/>"), "no text in it"),
        (opendocument("text", "<text:span>" * 400 + "</text:span>" * 400), "damaged ODT"),
        (replaced(opendocument("text", ""), {"content.xml": "<a/>"}), "damaged ODT"),
    ],
)
def test_the_reason_is_one_clear_line(read: ReadFunction, data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read("x.odt", data)
    assert str(caught.value) == reason


def test_nothing_is_read_from_outside(read: ReadFunction, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("TOPSECRET")
    data = opendocument("text", "<text:p>seen &e; too &b;</text:p>")
    content = f'<!DOCTYPE x [<!ENTITY e SYSTEM "file://{secret}"><!ENTITY b "bomb">]>'
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        content += archive.read("content.xml").decode()
    assert read("x.odt", replaced(data, {"content.xml": content})).pages[0].text == "seen too"


def test_repetitions_are_bounded(read: ReadFunction) -> None:
    gap = '<table:table-cell table:number-columns-repeated="16383"/>'
    sheet = row(gap, cell("far"), attributes='table:number-rows-repeated="999999999"')
    with pytest.raises(UnreadableError, match=r"^its tables have more than 10 million cells$"):
        read("x.ods", opendocument("spreadsheet", f'<table:table table:name="S">{sheet * 2}</table:table>'))
    wide = row(cell("ha", 'table:number-columns-repeated="999999999"'))
    page = read("z.ods", opendocument("spreadsheet", f"<table:table>{wide}</table:table>")).pages[0]
    assert page.text.endswith("column 16384: ha")
    long = row(cell("ha"), attributes='table:number-rows-repeated="1048576"')
    page = read("y.ods", opendocument("spreadsheet", f"<table:table>{long}</table:table>")).pages[0]
    assert len(page.blocks) == 999
