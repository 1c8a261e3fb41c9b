"""The blocks of PDF pages: their kinds, their order, and the text that is stored."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import pytest

from localcrag.documents.extracted import Limits
from localcrag.documents.readers import pdf_words
from localcrag.documents.readers.pdf import read_pdf
from localcrag.types import BlockKind, Page
from tests.documents.builders import Sheet, drawn_pdf

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

HEADING, PARAGRAPH, ITEM, ROW, CODE, CAPTION, FURNITURE = BlockKind
PROSE = (
    "A vehicle that enters the inner zone of the city on a working day pays the fee of its category, which "
    "the council sets each year in the autumn. Vehicles that stand in the zone over night pay once. A fee "
    "that was paid for the wrong category is given back if the owner asks for it within thirty days, in "
    "writing, at the office that took the payment. "
)
OTHER = (
    "Bicycles pay nothing at any time of the year, nor do cars that carry a disabled person to a hospital or "
    "to a school inside the zone. The driver shows the permit behind the front window so that it can be read "
    "from outside, and keeps the letter that came with it in the car. "
)
BOLD = "Helvetica-Bold"


def pages(*sheets: Sheet, turned: int = 0) -> Sequence[Page]:
    return read_pdf(drawn_pdf(*sheets, turned=turned), Limits()).pages


def blocks(page: Page) -> list[tuple[BlockKind, str]]:
    return [(block.kind, page.text[block.start : block.end]) for block in page.blocks]


def joined(text: str) -> str:
    return " ".join(text.split())


def test_headings_by_size_weight_and_number_and_paragraphs_without_line_ends() -> None:
    sheet = Sheet().text(72, 780, "City Toll Rules", 20)
    y = sheet.lines(72, 750, PROSE, 400)
    sheet.text(72, y - 14, "1 Fees", 14, BOLD)
    y = sheet.lines(72, y - 34, OTHER, 400)
    sheet.text(72, y - 12, "1.1 Exceptions", 10, BOLD)
    y = sheet.lines(72, y - 26, PROSE, 400)
    y = sheet.lines(82, y, OTHER, 390)  # indented: a paragraph of its own
    (page,) = pages(sheet)
    assert blocks(page) == [
        (HEADING, "City Toll Rules"),
        (PARAGRAPH, joined(PROSE)),
        (HEADING, "1 Fees"),
        (PARAGRAPH, joined(OTHER)),
        (HEADING, "1.1 Exceptions"),
        (PARAGRAPH, joined(PROSE)),
        (PARAGRAPH, joined(OTHER)),
    ]
    assert [block.level for block in page.blocks if block.kind is HEADING] == [1, 2, 3]


def test_paragraphs_are_told_by_a_line_that_ends_early() -> None:
    sheet = Sheet()
    y = sheet.lines(72, 700, PROSE, 400)
    sheet.lines(72, y, OTHER, 400)
    assert blocks(pages(sheet)[0]) == [(PARAGRAPH, joined(PROSE)), (PARAGRAPH, joined(OTHER))]


def test_a_number_in_a_plain_font_makes_a_heading_only_if_the_line_stands_alone() -> None:
    sheet = Sheet()
    y = sheet.lines(72, 700, PROSE, 400)
    sheet.text(72, y - 12, "2.1 Scope")
    y = sheet.lines(72, y - 36, "3.5 Tonnes is the limit. " + OTHER, 400)
    kinds = [block.kind for block in pages(sheet)[0].blocks]
    assert kinds == [PARAGRAPH, HEADING, PARAGRAPH]


def test_headers_footers_and_page_numbers_are_furniture_at_the_edges_of_their_page() -> None:
    sheets = []
    for number in range(1, 4):
        sheet = (
            Sheet()
            .text(72, 800, "City of Example")
            .text(450, 800, "Toll Rules")
            .text(290, 40, f"Page {number} of 3")
        )
        sheet.lines(72, 760, (PROSE if number % 2 else OTHER) * 2, 400)
        sheets.append(sheet)
    for number, page in enumerate(pages(*sheets), start=1):
        assert blocks(page) == [
            (FURNITURE, "City of Example Toll Rules"),
            (PARAGRAPH, joined((PROSE if number % 2 else OTHER) * 2)),
            (FURNITURE, f"Page {number} of 3"),
        ]


def test_the_totals_below_a_table_are_rows_of_their_own() -> None:
    sheet = Sheet()
    lines = (
        ("Item", "Qty", "Unit price", "Amount"),
        ("Call-out", "1", "£65.00", "£65.00"),
        ("Labour (hours)", "3.5", "£58.00", "£203.00"),
        ("Inhibitor", "2", "£19.95", "£39.90"),
        ("", "", "VAT 20 %", "£61.58"),
        ("", "", "Total", "£369.48"),
    )
    for number, line in enumerate(lines):
        for x, cell in zip((72, 250, 330, 430), line, strict=True):
            if cell:
                sheet.text(x, 700 - 16 * number, cell, 9, BOLD if not number else "Helvetica")
    (page,) = pages(sheet)
    rows = [text for kind, text in blocks(page) if kind is ROW]
    assert rows[-3:] == [
        "Item: Inhibitor · Qty: 2 · Unit price: £19.95 · Amount: £39.90",
        "Item: VAT 20 % · Amount: £61.58",
        "Item: Total · Amount: £369.48",
    ]


def test_the_label_of_a_total_below_prices_is_no_price() -> None:
    rows = [
        ("Description", "Qty", "Unit price", "Amount"),
        ("Engineer", "14", "£95.00", "£1,330.00"),
        ("Courier", "1", "£38.00", "£38.00"),
        ("", "", "VAT 20%", "£273.60"),
        ("", "", "Total due", "£1,641.60"),
    ]
    sheet = Sheet()
    sheet.rows((76, 176, 276, 376), 690, rows, pitch=20)
    sheet.grid((72, 172, 272, 372, 472), (705, 685, 665, 645, 625, 605))
    assert [text for _, text in blocks(pages(sheet)[0])][2:] == ["VAT 20%: £273.60", "Total due: £1,641.60"]


def test_the_name_of_a_total_may_cover_several_columns() -> None:
    sheet = Sheet()
    items = [("Item", "Qty", "Unit price", "Amount"), ("Batten", "4", "£18.50", "£74.00")]
    items += [("Sail bag", "1", "£46.00", "£46.00"), ("Carriage", "2", "£16.00", "£32.00")]
    sheet.rows([72, 250, 300, 430], 700, items)
    sheet.rows([250, 430], 640, [("Deposit received on 4 April", "-£60.00"), ("Balance", "£92.00")])
    (page,) = pages(sheet)
    rows = [text for kind, text in blocks(page) if kind is ROW]
    assert rows[0] == "Item: Batten · Qty: 4 · Unit price: £18.50 · Amount: £74.00"
    assert rows[-2:] == [
        "Item: Deposit received on 4 April · Amount: -£60.00",
        "Item: Balance · Amount: £92.00",
    ]


@pytest.mark.parametrize("number", ["211", "- 3 -", "Ada Ltd · Page 1 of 1", "Seite 2 von 4"])
def test_the_page_number_of_a_single_page_is_furniture(number: str) -> None:
    sheet = Sheet()
    sheet.lines(72, 750, PROSE + OTHER, 400)
    (page,) = pages(sheet.text(280, 40, number, 8))
    assert blocks(page) == [(PARAGRAPH, joined(PROSE + OTHER)), (FURNITURE, number)]


def test_a_number_at_the_end_of_a_column_is_no_page_number() -> None:
    sheet = Sheet()
    sheet.lines(72, 750, PROSE, 400)
    for at, amount in enumerate(("310", "120", "430")):
        sheet.text(280, 90 - 25 * at, amount)
    (page,) = pages(sheet)
    assert FURNITURE not in [kind for kind, _ in blocks(page)]


def test_chapters_and_rows_that_differ_in_their_numbers_are_no_furniture() -> None:
    chapters = []
    for number in range(1, 4):
        sheet = Sheet().text(72, 780, f"Chapter {number}", 18, BOLD)
        sheet.lines(72, 740, PROSE, 400)
        chapters.append(sheet)
    assert [page.blocks[0].kind for page in pages(*chapters)] == [HEADING] * 3
    years = [Sheet() for _ in range(3)]
    for number, sheet in enumerate(years):
        rows = [(f"Zone {number}{row}", f"{row + 10 * number} EUR", str(row)) for row in range(8)]
        sheet.rows((72, 200, 300), 780, rows)
    assert all({block.kind for block in page.blocks} == {ROW} for page in pages(*years))


def test_a_hyphen_at_a_line_end_is_undone_if_the_document_shows_the_word() -> None:
    sheet = Sheet()
    lines = (
        "The treatment of the Anglo-",
        "Saxon kings took 10-",
        "20 days, and the treat-",
        "ment was well-",
        "known; it is well-known.",
    )
    for number, line in enumerate(lines):
        sheet.text(72, 700 - 12 * number, line)
    assert pages(sheet)[0].text == (
        "The treatment of the Anglo-Saxon kings took 10-20 days, and the treatment was well-known; "
        "it is well-known."
    )


@pytest.mark.parametrize("shift", [0, 3, 6])
def test_two_columns_are_read_one_after_the_other(shift: float) -> None:
    """Lines of the columns stand side by side, a little apart, or between one another."""
    sheet = Sheet().text(72, 790, "A Title over Both Columns", 18)
    sheet.lines(72, 760, OTHER, 450)
    left, right = PROSE + OTHER + PROSE, OTHER + PROSE + OTHER
    by_column: list[Sheet] = []
    for x, y, text in ((72, 700, left), (310, 700 - shift, right)):
        by_column.append(Sheet())
        by_column[-1].lines(x, y, text, 210)
    # written line by line across the columns, which is the order that PDFium gives
    sheet.texts += sorted((line for column in by_column for line in column.texts), key=lambda line: -line[1])
    assert blocks(pages(sheet)[0]) == [
        (HEADING, "A Title over Both Columns"),
        (PARAGRAPH, joined(OTHER)),
        (PARAGRAPH, joined(left)),
        (PARAGRAPH, joined(right)),
    ]


def beside(*columns: tuple[int, str], top: int, width: int) -> list[tuple[float, float, str, float, str]]:
    """The lines of columns, written across the page."""
    lines = []
    for x, text in columns:
        column = Sheet()
        column.lines(x, top, text, width)
        lines += column.texts
    return sorted(lines, key=lambda line: -line[1])


def test_four_columns_are_no_rows_even_if_the_last_begins_lower() -> None:
    """Above the last of the columns of a newsletter stands a picture."""
    sheet = Sheet().text(40, 780, "News from the Town Hall and its Neighbours All Around", 18)
    first, second, third, last = PROSE, OTHER + PROSE, PROSE + OTHER, OTHER
    sheet.texts += beside((40, first), (180, second), (320, third), top=740, width=120)
    sheet.texts += beside((460, last), top=500, width=110)
    assert [text for _, text in blocks(pages(sheet)[0])][1:] == list(
        map(joined, (first, second, third, last))
    )


def test_a_paragraph_goes_on_in_the_next_column_and_stays_on_its_page() -> None:
    column = Sheet()
    column.lines(0, 700, PROSE + OTHER + PROSE, 210)
    lines = [text for _, _, text, _, _ in column.texts]
    half = (len(lines) + 1) // 2
    sheet, after = Sheet(), Sheet()
    for number, line in enumerate(lines):
        sheet.text(72 if number < half else 310, 700 - 12 * (number % half), line)
    after.lines(72, 700, "and the page after goes on. " + PROSE, 400)
    first, second = pages(sheet, after)
    assert blocks(first) == [(PARAGRAPH, joined(PROSE + OTHER + PROSE))]
    assert blocks(second)[0][1].startswith("and the page after")


def test_a_large_heading_in_one_column_leaves_the_lines_of_the_other_alone() -> None:
    sheet = Sheet()
    sheet.lines(72, 700, PROSE + OTHER + PROSE, 210)
    sheet.lines(310, 700, OTHER, 210)
    sheet.text(310, 609, "Exceptions", 18)  # its line touches two lines of the left column
    sheet.lines(310, 590, PROSE, 210)
    assert blocks(pages(sheet)[0]) == [
        (PARAGRAPH, joined(PROSE + OTHER + PROSE)),
        (PARAGRAPH, joined(OTHER)),
        (HEADING, "Exceptions"),
        (PARAGRAPH, joined(PROSE)),
    ]


FEES = [
    ("Category", "Fee", "Zone"),
    ("Motorcycle", "35 EUR", "inner"),
    ("Car", "48 EUR", "inner"),
    ("Van", "61 EUR", "outer"),
]
FEE_ROWS = [
    (ROW, "Category: Motorcycle · Fee: 35 EUR · Zone: inner"),
    (ROW, "Category: Car · Fee: 48 EUR · Zone: inner"),
    (ROW, "Category: Van · Fee: 61 EUR · Zone: outer"),
]


@pytest.mark.parametrize("turned", [0, 90])
def test_a_table_with_rules_becomes_rows_with_their_headers(turned: int) -> None:
    sheet = Sheet()
    y = sheet.lines(72, 480, PROSE, 400)
    top = y - 10
    sheet.rows((75, 135, 175), top - 10, FEES)  # so narrow that the words of a row nearly touch
    sheet.grid((72, 132, 172, 210), [top - 14 * number for number in range(5)])
    sheet.lines(72, top - 90, OTHER, 400)
    assert blocks(pages(sheet, turned=turned)[0]) == [
        (PARAGRAPH, joined(PROSE)),
        *FEE_ROWS,
        (PARAGRAPH, joined(OTHER)),
    ]


def test_the_cells_of_a_ruled_table_hold_several_lines_and_span_rows() -> None:
    sheet = Sheet().text(75, 690, "Category").text(175, 690, "Fee")
    sheet.text(75, 675, "Motorcycle with").text(75, 663, "side car").text(175, 675, "35 EUR")
    sheet.text(75, 645, "Car").text(175, 645, "48 EUR, day").text(175, 630, "12 EUR, hour")
    sheet.rules += [(72, y, 300, y) for y in (702, 687, 657, 622)] + [(172, 641, 300, 641)]
    sheet.rules += [(x, 702, x, 622) for x in (72, 172, 300)]
    assert blocks(pages(sheet)[0]) == [
        (ROW, "Category: Motorcycle with side car · Fee: 35 EUR"),
        (ROW, "Category: Car · Fee: 48 EUR, day"),
        (ROW, "Category: Car · Fee: 12 EUR, hour"),
    ]


def test_the_label_in_a_box_beside_a_note_stands_before_its_first_line() -> None:
    sheet = Sheet()
    sheet.text(72, 700, "Restoring the database is just as simple.")
    sheet.grid([72, 150, 500], [600, 640])
    sheet.text(80, 617, "Important")
    sheet.text(158, 624, "When you restore a database, everything in your own")
    sheet.text(158, 610, "database will be replaced.")
    sheet.text(72, 560, "Now go on with the next chapter.")
    (page,) = pages(sheet)
    assert "Important: When you restore a database, everything in your own database will be" in page.text
    assert "own database will be replaced." in joined(page.text)


def test_a_box_of_two_cells_that_are_as_long_has_no_label() -> None:
    sheet = Sheet()
    sheet.grid([72, 150, 500], [600, 640])
    sheet.text(80, 617, "Flat 12")
    sheet.text(158, 624, "The rent of this flat is due on the third day of")
    sheet.text(158, 610, "each month.")
    assert "12:" not in pages(sheet)[0].text


def test_columns_of_figures_between_upright_rules_have_a_row_for_each_line() -> None:
    sheet = Sheet()
    sheet.rows((75, 205, 285), 690, [("Offense", "Male", "Female")])
    names = ["Murder and nonnegligent", "manslaughter ........", "Robbery . . . . . . . .", "Arson"]
    sheet.rows((75,), 672, [(name,) for name in names], pitch=12)
    sheet.rows((205, 285), 660, [("9.0", "1.1"), ("90.0", "12.1"), ("8.1", "–")], pitch=12)
    sheet.rules += [(72, y, 372, y) for y in (702, 686, 626)]
    sheet.rules += [(x, 702, x, 626) for x in (72, 202, 282, 372)]
    assert blocks(pages(sheet)[0]) == [
        (ROW, "Offense: Murder and nonnegligent manslaughter · Male: 9.0 · Female: 1.1"),
        (ROW, "Offense: Robbery · Male: 90.0 · Female: 12.1"),
        (ROW, "Offense: Arson · Male: 8.1 · Female: –"),
    ]


def test_a_cell_over_all_columns_is_the_title_of_the_rows_below() -> None:
    sheet = Sheet()
    cells = [
        ("Art. no.", "Unit", "Price"),
        ("Screws", "", ""),
        ("A1000", "pc", "44,07"),
        ("A1007", "pc", "4,02"),
    ]
    sheet.rows((76, 176, 276), 690, cells, pitch=20)
    sheet.rules += [(72, y, 372, y) for y in (705, 685, 665, 645, 625)]
    for x in (72, 172, 272, 372):
        sheet.rules += [(x, 705, x, 685), (x, 665, x, 625)]
    sheet.rules += [(72, 685, 72, 665), (372, 685, 372, 665)]
    assert [text for _, text in blocks(pages(sheet)[0])] == [
        "Screws",
        "Art. no.: A1000 · Unit: pc · Price: 44,07",
        "Art. no.: A1007 · Unit: pc · Price: 4,02",
    ]


@pytest.mark.parametrize("periods", [("2012", "Q1-13", "2014E"), ("2012/13", "H1 2013", "FY 14")])
def test_the_caption_of_a_ruled_table_is_no_header_of_it(periods: tuple[str, str, str]) -> None:
    sheet = Sheet()
    cells = [
        ("Table 1 - Forecasts", "", "", ""),
        ("EURm", *periods),
        ("Net revenues", "28,461", "12,357", "37,361"),
        ("Costs", "41,102", "9,753", "41,308"),
    ]
    sheet.rows((76, 196, 276, 356), 690, cells, pitch=20)
    sheet.grid((72, 192, 272, 352, 432), [705 - 20 * number for number in range(5)])
    one, two, three = periods
    assert [text for _, text in blocks(pages(sheet)[0])] == [
        "Table 1 - Forecasts",
        f"EURm: Net revenues · {one}: 28,461 · {two}: 12,357 · {three}: 37,361",
        f"EURm: Costs · {one}: 41,102 · {two}: 9,753 · {three}: 41,308",
    ]


def test_aligned_columns_without_rules_become_rows() -> None:
    sheet = Sheet()
    y = sheet.lines(72, 780, PROSE, 400)
    y = sheet.rows((72, 200, 300), y - 14, FEES)
    sheet.lines(72, y - 14, OTHER, 400)
    assert blocks(pages(sheet)[0]) == [(PARAGRAPH, joined(PROSE)), *FEE_ROWS, (PARAGRAPH, joined(OTHER))]


NOTE = "1 Working days are those from Monday to Friday, if they are no holidays."


ADDRESS = ["Harbour Joinery Ltd", "Attn. Ada Lund", "Quay 3", "4021 Tidemouth"]


CODES = [
    ("Code", "Meaning", "What to do"),
    ("E10", "No water comes in", "Open the tap and clean the sieve in the inlet hose"),
    ("E18", "Water is not pumped out", "Clean the drain filter and look at the hose"),
    ("E23", "Water in the base", "Close the tap and call the service at once"),
    ("E31", "Drum is unbalanced", "Spread the laundry, wash single heavy pieces with others"),
]


@pytest.mark.parametrize("ruled", [True, False])
def test_a_table_whose_last_column_is_wordy_stays_whole(*, ruled: bool) -> None:
    sheet = Sheet()
    for number, row in enumerate(CODES):
        for x, cell in zip((72, 110, 240), row, strict=True):
            sheet.text(x, 700 - 16 * number, cell)
    sheet.rules += [(70, 696 - 16 * number, 530, 696 - 16 * number) for number in range(5) if ruled]
    assert [text for _, text in blocks(pages(sheet)[0])] == [
        " · ".join(f"{name}: {cell}" for name, cell in zip(CODES[0], row, strict=True)) for row in CODES[1:]
    ]


def test_a_row_between_two_rules_may_have_several_lines_in_each_cell() -> None:
    sheet = Sheet()
    lines = [
        (700, ("Code", "What it means", "What to do")),
        (680, ("E10", "No water comes in", "Open the tap, clean the")),
        (668, ("", "or too little", "sieve in the inlet hose")),
        (648, ("E18", "Water is not", "Clean the drain filter")),
        (636, ("", "pumped out", "")),
        (616, ("E23", "Water in the base", "Call the service")),
    ]
    for y, row in lines:
        for x, cell in zip((72, 110, 240), row, strict=True):
            sheet.text(x, y, cell)
    sheet.rules += [(70, y, 400, y) for y in (712, 694, 662, 630, 610)]
    assert [text for _, text in blocks(pages(sheet)[0])] == [
        "Code: E10 · What it means: No water comes in or too little"
        " · What to do: Open the tap, clean the sieve in the inlet hose",
        "Code: E18 · What it means: Water is not pumped out · What to do: Clean the drain filter",
        "Code: E23 · What it means: Water in the base · What to do: Call the service",
    ]


def test_an_address_beside_numbers_and_dates_is_no_table() -> None:
    pairs = [("Invoice no.", "2024-117"), ("Date", "2024-03-01"), ("Due", "2024-03-31")]
    sheet = Sheet().text(72, 780, "Invoice", 20)
    sheet.rows([330, 440], 740, pairs)
    sheet.rows([72], 740, [[line] for line in ADDRESS])
    (page,) = pages(sheet)
    rows = [(ROW, f"{name}: {value}") for name, value in pairs]
    address = [(PARAGRAPH, line) for line in ADDRESS]
    assert blocks(page)[1:] == [*rows, *address]
    (page,) = pages(sheet.text(330, 698, "Customer").text(440, 698, "88-12"))
    assert blocks(page)[1:] == [*address, *rows, (ROW, "Customer: 88-12")]


def test_an_address_beside_lines_with_labels_is_no_table() -> None:
    labelled = ["Invoice number: 2024-117", "Date: 2024-03-01", "Due: 2024-03-31", "Customer: 88-12"]
    sheet = Sheet()
    sheet.rows([72, 330], 740, list(zip(ADDRESS, labelled, strict=True)))
    (page,) = pages(sheet)
    assert blocks(page) == [(PARAGRAPH, line) for line in (*ADDRESS, *labelled)]


def test_two_addresses_with_titles_are_a_row_each() -> None:
    left, right = ("Bill to:", "Dr Vasey", "14 Curlew Lane"), ("Deliver to:", "Yacht Basin", "Berth 27")
    sheet = Sheet()
    sheet.rows([72, 330], 740, list(zip(left, right, strict=True)))
    (page,) = pages(sheet)
    assert blocks(page) == [
        (ROW, "Bill to: Dr Vasey, 14 Curlew Lane"),
        (ROW, "Deliver to: Yacht Basin, Berth 27"),
    ]


def test_an_address_beside_a_text_is_no_table() -> None:
    beside = ["Biscuit, a beagle", "born in June", "weight 14.2 kg", "neutered"]
    address = ["Mr Callum Reddy", "Owner", "Wilhelmsallee 41", "34131 Kassel"]
    sheet = Sheet()
    sheet.rows([72, 330], 740, list(zip(address, beside, strict=True)))
    (page,) = pages(sheet)
    assert blocks(page) == [*((PARAGRAPH, line) for line in address), (PARAGRAPH, " ".join(beside))]


def test_rows_of_an_item_its_unit_and_its_price_stay_rows() -> None:
    rows = [("Oak plank", "each", "12.50"), ("Nails", "box", "6.20"), ("Glue", "litre", "9")]
    sheet = Sheet()
    sheet.rows([72, 230, 330], 740, rows)
    (page,) = pages(sheet)
    assert {kind for kind, _ in blocks(page)} == {ROW} and len(page.blocks) == len(rows)


@pytest.mark.parametrize("notes", [[], [NOTE]])
def test_a_table_in_small_print_at_the_end_of_a_page_is_no_footnote(notes: list[str]) -> None:
    sheet = Sheet()
    y = sheet.lines(72, 780, PROSE, 400)
    y = sheet.rows((72, 200, 250), y - 14, FEES, size=9)
    for note in notes:
        sheet.lines(72, y - 20, note, 400, 7, 8)
    expected = [(PARAGRAPH, joined(PROSE)), *FEE_ROWS, *((PARAGRAPH, note) for note in notes)]
    assert blocks(pages(sheet)[0]) == expected


def test_a_small_table_at_the_end_of_a_page_goes_on_with_its_header() -> None:
    first, second = Sheet(), Sheet()
    y = first.lines(72, 780, PROSE, 400)
    first.rows((72, 200, 250), y - 14, FEES, size=9)
    y = second.rows((72, 200, 250), 780, [("Lorry", "93 EUR", "outer"), ("Bus", "70 EUR", "outer")], size=9)
    second.lines(72, y - 20, PROSE, 400)
    one, two = pages(first, second)
    assert blocks(one)[1:] == FEE_ROWS
    assert blocks(two)[:2] == [
        (ROW, "Category: Lorry · Fee: 93 EUR · Zone: outer"),
        (ROW, "Category: Bus · Fee: 70 EUR · Zone: outer"),
    ]


def test_footnotes_whose_marks_stand_far_from_them_are_no_table() -> None:
    notes = [
        "The council of the city, as elected in the spring.",
        "Working days are those from Monday to Friday.",
        "The office in the town hall, on the second floor.",
    ]
    sheet = Sheet()
    sheet.lines(72, 760, PROSE + OTHER, 400)
    for number, (mark, note) in enumerate(zip("†‡§", notes, strict=True)):
        sheet.text(72, 120 - 10 * number, mark, 8).text(86, 120 - 10 * number, note, 8)
    assert blocks(pages(sheet)[0])[1:] == [
        (PARAGRAPH, f"{mark} {note}") for mark, note in zip("†‡§", notes, strict=True)
    ]


@pytest.mark.parametrize("size", [10.5, 11])
def test_the_names_of_a_header_may_nearly_touch(size: float) -> None:
    """In the larger size no gap of the header is wide; in the smaller one some are."""
    names = ("Category of car", "Fee in summer", "Fee in winter")
    rows = [("Motorcycle", "35 EUR", "30 EUR"), ("Car", "48 EUR", "40 EUR"), ("Van", "61 EUR", "50 EUR")]
    xs = (72, 160, 242)
    sheet = Sheet()
    y = sheet.lines(72, 780, PROSE, 400) - 20
    for x, name in zip(xs, names, strict=True):
        sheet.text(x, y, name, size, BOLD)
    sheet.rows(xs, y - 14, rows)
    assert blocks(pages(sheet)[0])[1:] == [
        (ROW, f"{names[0]}: {car} · {names[1]}: {summer} · {names[2]}: {winter}")
        for car, summer, winter in rows
    ]


def test_a_sentence_above_a_table_is_no_header_of_it() -> None:
    sheet = Sheet()
    y = sheet.lines(72, 780, PROSE + "The fees of the years are these:", 400)
    sheet.rows((72, 152, 232), y - 4, FEES[1:])
    found = blocks(pages(sheet)[0])
    assert found[0] == (PARAGRAPH, PROSE + "The fees of the years are these:")
    assert {kind for kind, _ in found[1:]} == {ROW}


def test_a_cell_of_an_aligned_table_goes_on_in_the_next_line_and_may_be_empty() -> None:
    rows = [
        ("Category", "Fee", "Remark"),
        ("Motorcycle", "35 EUR", "with or without"),
        ("", "", "a side car"),
        ("Car", "", "see below"),
        ("Van", "61 EUR", ""),
    ]
    sheet = Sheet()
    sheet.rows((72, 200, 300), 700, rows, pitch=12)
    assert blocks(pages(sheet)[0]) == [
        (ROW, "Category: Motorcycle · Fee: 35 EUR · Remark: with or without a side car"),
        (ROW, "Category: Car · Remark: see below"),
        (ROW, "Category: Van · Fee: 61 EUR"),
    ]


@pytest.mark.parametrize(
    "first",
    [
        ("allcolors", "", "Set all colours"),
        ("anchor", "true", "Put an anchor on each page."),
        ("links", "true", "was set."),
        ("import", "true", "Figure 5 ."),
    ],
)
def test_a_first_row_that_tells_something_is_no_header(first: tuple[str, str, str]) -> None:
    rows = [
        first,
        ("breaklinks", "false", "Break links"),
        ("hidelinks", "", "Hide links"),
        ("draft", "no", "-"),
    ]
    sheet = Sheet()
    sheet.rows((72, 200, 300), 700, rows, pitch=12)
    assert [text for _, text in blocks(pages(sheet)[0])] == [
        f"{first[0]}: {' · '.join(filter(None, first[1:]))}",
        "breaklinks: false · Break links",
        "hidelinks: Hide links",
        "draft: no · -",
    ]


@pytest.mark.parametrize("name", ["Art. no.", "Item no.", "Cust. ref. no."])
def test_an_abbreviated_name_in_a_header_is_no_sentence(name: str) -> None:
    rows = [(name, "Description", "Price"), ("K1140", "Cable 3G23", "3,98"), ("K1147", "Cable 5G4", "4,10")]
    sheet = Sheet()
    sheet.rows((72, 200, 300), 700, rows, pitch=12)
    assert [text for _, text in blocks(pages(sheet)[0])] == [
        f"{name}: {code} · Description: {cable} · Price: {price}" for code, cable, price in rows[1:]
    ]


def test_the_numbers_of_trains_above_times_are_names() -> None:
    rows = [("Stop", "101", "103"), ("Mill Lane", "05:46", "06:31"), ("Airport", "06:21", "|")]
    sheet = Sheet()
    sheet.rows((72, 200, 300), 700, rows, pitch=12)
    assert [text for _, text in blocks(pages(sheet)[0])] == [
        "Stop: Mill Lane · 101: 05:46 · 103: 06:31",
        "Stop: Airport · 101: 06:21 · 103: |",
    ]


def test_short_sentences_below_one_another_are_no_column_with_a_name() -> None:
    rows = [("draft", "on", "No links."), ("final", "off", "All links."), ("anchor", "on", "One link.")]
    sheet = Sheet()
    sheet.rows((72, 200, 300), 700, rows, pitch=12)
    assert blocks(pages(sheet)[0])[0] == (ROW, "draft: on · No links.")


def test_names_with_colons_stand_before_their_values() -> None:
    sheet = Sheet()
    sheet.rows((72, 200), 700, [("Invoice:", "R-17"), ("Customer:", "Ann Example"), ("Total:", "35 EUR")])
    assert pages(sheet)[0].text == "Invoice: R-17\nCustomer: Ann Example\nTotal: 35 EUR"


@pytest.mark.parametrize("ruled", [False, True])
@pytest.mark.parametrize("repeated", [False, True])
def test_a_table_goes_on_over_the_page_with_its_header(*, ruled: bool, repeated: bool) -> None:
    first, second = Sheet(), Sheet()
    first.lines(72, 780, PROSE, 400)
    first.rows((72, 200, 300), 100, FEES)
    rest = [FEES[0], ("Lorry", "93 EUR", "outer"), ("Bus", "70 EUR", "outer")][0 if repeated else 1 :]
    y = second.rows((72, 200, 300), 780, rest)
    second.lines(72, y - 20, OTHER, 400)
    if ruled:
        first.grid((68, 196, 296, 360), [110 - 14 * n for n in range(5)])
        second.grid((68, 196, 296, 360), [790 - 14 * n for n in range(len(rest) + 1)])
    one, two = pages(first, second)
    assert blocks(one)[1:] == FEE_ROWS
    assert blocks(two) == [
        (ROW, "Category: Lorry · Fee: 93 EUR · Zone: outer"),
        (ROW, "Category: Bus · Fee: 70 EUR · Zone: outer"),
        (PARAGRAPH, joined(OTHER)),
    ]


def test_lists_have_their_markers_before_the_items_and_their_depth() -> None:
    sheet = Sheet()
    y = sheet.lines(72, 780, PROSE, 400)
    resident = (
        "a driver who lives in the inner zone and has a permit of the city that shows the number of his car"
    )
    below = sheet.text(72, y, "•").lines(84, y, resident, 388)
    sheet.text(84, below, "–").text(96, below, "also for a rented car")
    sheet.text(72, below - 12, "•").text(84, below - 12, "a doctor on duty")
    y = below - 36
    for number, text in enumerate(("Ask at the office.", "Pay the fee.", "Keep the letter."), start=9):
        sheet.text(72, y, f"{number}.").text(90, y, text)
        y -= 12
    (page,) = pages(sheet)
    assert blocks(page)[1:] == [
        (ITEM, resident),
        (ITEM, "also for a rented car"),
        (ITEM, "a doctor on duty"),
        (ITEM, "Ask at the office."),
        (ITEM, "Pay the fee."),
        (ITEM, "Keep the letter."),
    ]
    assert [block.level for block in page.blocks if block.kind is ITEM] == [0, 1, 0, 0, 0, 0]
    assert "\n  - also" in page.text and "\n9. Ask at" in page.text and "\n10. Pay" in page.text


def test_a_number_at_the_start_of_a_wrapped_line_is_no_list() -> None:
    text = (
        "The council met in the town hall and changed the fee for the inner zone for the first time "
        "in the month of 5. " * 6
    )
    sheet = Sheet()
    sheet.lines(72, 700, text, 383)
    assert blocks(pages(sheet)[0]) == [(PARAGRAPH, joined(text))]


def test_footnotes_stand_after_the_body_each_alone() -> None:
    sheet = Sheet()
    sheet.lines(72, 760, PROSE + OTHER + PROSE, 210)
    sheet.lines(310, 760, OTHER + PROSE + OTHER, 210)
    y = sheet.lines(72, 120, "1 The council of the city, as elected in the spring of last year.", 210, 7, 8)
    sheet.lines(72, y, "2 Working days are those from Monday to Friday, if they are no holidays.", 210, 7, 8)
    assert blocks(pages(sheet)[0]) == [
        (PARAGRAPH, joined(PROSE + OTHER + PROSE)),
        (PARAGRAPH, joined(OTHER + PROSE + OTHER)),
        (PARAGRAPH, "1 The council of the city, as elected in the spring of last year."),
        (PARAGRAPH, "2 Working days are those from Monday to Friday, if they are no holidays."),
    ]


def test_the_raised_number_of_a_footnote_stands_before_its_text() -> None:
    sheet = Sheet()
    sheet.lines(72, 760, PROSE + OTHER, 400)
    notes = ["This hierarchy should hold what older releases had.", "Then, anything can read the lock file."]
    for number, note in enumerate(notes, 5):
        y = 180 - 10 * number
        sheet.text(72, y + 3.6, str(number), 6).text(75.34, y, note, 8)
    assert blocks(pages(sheet)[0])[1:] == [
        (PARAGRAPH, f"{number} {note}") for number, note in enumerate(notes, 5)
    ]


def test_prose_is_no_table_even_if_it_is_justified() -> None:
    from reportlab.lib.utils import simpleSplit
    from reportlab.pdfbase.pdfmetrics import stringWidth

    sheet = Sheet()
    y = 780.0
    for width in (120, 160, 240, 420):
        for line in simpleSplit(PROSE + OTHER, "Helvetica", 10, width):
            words = line.split()
            space = (width - stringWidth("".join(words), "Helvetica", 10)) / max(1, len(words) - 1)
            x = 72.0
            for word in words:
                sheet.text(x, y, word)
                x += stringWidth(word, "Helvetica", 10) + space
            y -= 12
        y -= 20
    kinds = {block.kind for block in pages(sheet)[0].blocks}
    assert ROW not in kinds and PARAGRAPH in kinds


def test_a_caption_a_listing_and_a_table_of_contents() -> None:
    sheet = Sheet()
    y = sheet.lines(72, 780, PROSE, 400)
    sheet.text(72, y - 20, "Figure 3: The zones of the city.")
    sheet.text(72, y - 50, "def fee(car):", font="Courier").text(96, y - 62, "return 48", font="Courier")
    sheet.text(72, y - 90, "1 Fees . . . . . . . . . . . . . . . . 4").text(
        72, y - 102, "2 Permits . . . . . . . . . . . . . . 12"
    )
    assert blocks(pages(sheet)[0])[1:] == [
        (CAPTION, "Figure 3: The zones of the city."),
        (CODE, "def fee(car):\n    return 48"),
        (ITEM, "1 Fees … 4"),
        (ITEM, "2 Permits … 12"),
    ]


def test_a_table_in_a_font_of_one_width_is_rows_with_their_header() -> None:
    table = [
        "     Compress  Decompress  Corpus",
        "Flag    usage       usage    Size",
        "",
        "  -1    1200k        500k  914704",
        "  -2    2000k        900k  877703",
        "  -9    7600k       3700k  828642",
    ]
    sheet = Sheet()
    y = sheet.lines(72, 780, PROSE, 400)
    for number, line in enumerate(table):
        for word in re.finditer(r"\S+", line):
            sheet.text(90 + 6 * word.start(), y - 24 - 12 * number, word[0], 10, font="Courier")
    assert blocks(pages(sheet)[0])[1:] == [
        (ROW, f"Flag: {flag} · Compress / usage: {one} · Decompress / usage: {two} · Corpus / Size: {size}")
        for flag, one, two, size in (line.split() for line in table[3:])
    ]


def test_the_code_of_a_paper_that_is_mostly_code_is_no_table() -> None:
    """Of such a paper most characters have one width, and its prose is what has not."""
    printed = (
        "   17    68    81   116",
        "    1     2    11    12",
        "   28    41    49   103",
        "   12    45     4    31",
    )
    sheet = Sheet()
    y = sheet.lines(72, 780, OTHER, 400)
    for number, line in enumerate(printed * 10):
        for word in re.finditer(r"\S+", line):
            sheet.text(90 + 6 * word.start(), y - 24 - 12 * number, word[0], 10, font="Courier")
    for number in range(12):
        sheet.text(
            72,
            y - 430 - 12 * number,
            f"> table(subset(pupils, grade == {number}), exclude = NULL)",
            10,
            "Courier",
        )
    kinds = {kind for kind, _ in blocks(pages(sheet)[0])}
    assert kinds == {PARAGRAPH, CODE}


def test_signs_of_fonts_of_signs_and_ligatures_of_tex_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    given = "a\x1bected de\x1cne \x1f = \uf8ee1\uf8fb \uf0b7 \x10x\x11 end\x02"
    monkeypatch.setattr(pdf_words, "_raw_characters", lambda *_: given)
    assert pdf_words.page_characters(cast("PdfTextPage", None), len(given)) == (
        "a\ufb00ected de\ufb01ne   =  1  •  x  end\x02"
    )
    monkeypatch.setattr(pdf_words, "_raw_characters", lambda *_: "It de\x1cnes it.")
    (page,) = pages(Sheet().text(72, 780, "It deXnes it."))
    assert blocks(page) == [(PARAGRAPH, "It defines it.")]


@pytest.mark.parametrize("name", ["Contents", "Contenido", ""])
def test_a_table_of_contents_is_furniture_below_its_name_or_if_its_titles_are_headings(name: str) -> None:
    titles = ["Who pays", "Fees of the zone", "Permits for the night", "How to object to a fee"]
    contents = Sheet()
    contents.text(72, 780, name or "The zones of the city", 16)
    for number, title in enumerate(titles):
        contents.text(72, 740 - 14 * number, title).text(400, 740 - 14 * number, str(number + 2))
    sheets = [contents]
    for title in titles:
        sheets.append(Sheet().text(72, 780, title if not name else title.upper() + " NOW", 16))
        sheets[-1].lines(72, 750, PROSE, 400)
    first, second, *_ = pages(*sheets)
    assert [kind for kind, text in blocks(first) if text.startswith(tuple(titles))] == [FURNITURE] * 4
    assert [kind for kind, _ in blocks(second)][:2] == [HEADING, PARAGRAPH]


def test_prices_behind_dots_are_no_table_of_contents() -> None:
    menu = Sheet().text(72, 780, "What the kitchen has", 16)
    for number, dish in enumerate(("Soup of the day", "Stew", "Cake")):
        menu.text(72, 740 - 14 * number, f"{dish} . . . . . . . . . . {number + 4}")
    others = [Sheet().text(72, 780, PROSE[:40], 16) for _ in range(4)]
    for sheet in others:
        sheet.lines(72, 750, OTHER, 400)
    assert [kind for kind, _ in blocks(pages(menu, *others)[0])] == [HEADING, ITEM, ITEM, ITEM]


def test_text_at_another_angle_stands_apart() -> None:
    from reportlab.pdfgen.canvas import Canvas

    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842))
    canvas.saveState()
    canvas.rotate(90)
    canvas.drawString(300, -30, "arXiv 1234 stamp")
    canvas.restoreState()
    sheet = Sheet()
    sheet.lines(72, 700, PROSE, 400)
    for x, y, text, size, font in sheet.texts:
        canvas.setFont(font, size)
        canvas.drawString(x, y, text)
    canvas.save()
    (page,) = read_pdf(out.getvalue(), Limits()).pages
    assert blocks(page) == [(PARAGRAPH, joined(PROSE)), (PARAGRAPH, "arXiv 1234 stamp")]


@pytest.mark.parametrize("shape", ["text", "lines", "cells", "rules"])
def test_a_hostile_page_is_read_in_bounded_time(shape: str) -> None:
    sheet = Sheet()
    if shape == "text":
        sheet.text(10, 400, "word " * 40_000, 1)
    elif shape == "lines":
        for number in range(8_000):
            sheet.text(10, 830 - number / 10, "7 Aa", 0.05, BOLD)
    elif shape == "cells":
        for number in range(3_000):
            sheet.text(10, 830 - number / 4, "ab", 0.2).text(300, 830 - number / 4, "cd", 0.2)
    else:
        sheet.lines(72, 700, PROSE, 400)
        for number in range(3_000):
            sheet.rules += [(10, number / 4, 580, number / 4), (number / 6, 5, number / 6, 800)]
    data = drawn_pdf(sheet)
    start = time.perf_counter()
    assert read_pdf(data, Limits()).pages[0].text
    assert time.perf_counter() - start < 5


def test_a_numbered_question_is_the_heading_of_its_answer() -> None:
    sheet = Sheet().text(72, 780, "1. Why does the barrier stay down when a car has stood before it for", 10)
    sheet.text(72, 768, "hours?", 10, "Courier")
    y = sheet.lines(72, 744, PROSE, 400)
    sheet.text(72, y - 18, "2. Does it rain?", 10)
    sheet.lines(72, y - 42, OTHER, 400)
    (page,) = pages(sheet)
    assert blocks(page) == [
        (HEADING, "1. Why does the barrier stay down when a car has stood before it for hours?"),
        (PARAGRAPH, joined(PROSE)),
        (HEADING, "2. Does it rain?"),
        (PARAGRAPH, joined(OTHER)),
    ]


def test_questions_below_one_another_are_a_list() -> None:
    sheet = Sheet()
    for number, asked in enumerate(("Who pays the fee?", "When is it due?", "Why is it due?"), 1):
        sheet.text(72, 800 - 24 * number, f"{number}. {asked}", 10)
    sheet.lines(72, 690, PROSE, 400)
    (page,) = pages(sheet)
    assert [kind for kind, _ in blocks(page)][:2] == [ITEM, ITEM]


def test_a_sentence_that_ends_with_a_name_in_a_font_of_one_width_is_whole() -> None:
    sheet = Sheet()
    y = sheet.lines(72, 780, PROSE, 400)
    sheet.text(72, y, "Whoever wants to read the fee from a program calls the function with the name", 10)
    sheet.text(72, y - 12, "read_fee.", 10, "Courier")
    (page,) = pages(sheet)
    assert blocks(page)[-1][1].endswith("calls the function with the name read_fee.")


def test_a_picture_of_characters_is_no_table() -> None:
    sheet = Sheet().text(72, 780, "City Toll Rules", 20)
    y = sheet.lines(72, 750, PROSE, 400)
    for row in ("0..*..#", "1.E....", "2*...@.", "3....*.", "4..K..."):
        y -= 14
        for column, sign in enumerate(row):
            sheet.text(72 + 40 * column, y, sign)
    (page,) = pages(sheet)
    assert ROW not in {block.kind for block in page.blocks}


def test_the_numbers_at_the_axes_of_a_figure_are_no_text() -> None:
    labels = (
        "0.0 0.5 1.0 1.5 Probability",
        "0 500 1500 0 500 1500",
        "-2 -1 0 1 2",
        "270 440 560 770 1100",
        "1 2 3",
    )
    sheet = Sheet().text(72, 780, "City Toll Rules", 20)
    y = sheet.lines(72, 750, PROSE, 400)
    for text in labels:
        y -= 40
        sheet.text(72, y, text)
    (page,) = pages(sheet)
    assert [text for kind, text in blocks(page) if kind is FURNITURE] == list(labels[:3])
