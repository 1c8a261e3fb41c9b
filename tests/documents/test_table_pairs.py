"""A table of two columns without a header is names and values, and its first row is one of them."""

from __future__ import annotations

import pytest

from localcrag.documents.table_pairs import are_pairs
from tests.documents.builders import Sheet, drawn_pdf
from tests.documents.conftest import ReadFunction
from tests.documents.opendocument_builders import cell, opendocument, row

CARD = [("Name", "Anna Berg"), ("Phone", "555 0142"), ("Mail", "anna@example.org")]
CARD_LINES = ["Name: Anna Berg", "Phone: 555 0142", "Mail: anna@example.org"]
PRICES = [("Item", "Price"), ("Bread", "2.50"), ("Milk", "1.20"), ("Cheese", "7.00")]
PRICE_LINES = ["Item: Bread · Price: 2.50", "Item: Milk · Price: 1.20", "Item: Cheese · Price: 7.00"]


def html(rows: list[tuple[str, str]], head: str = "td") -> str:
    first, *rest = rows
    cells = [f"<tr><{head}>{first[0]}</{head}><{head}>{first[1]}</{head}></tr>"]
    cells += [f"<tr><td>{name}</td><td>{value}</td></tr>" for name, value in rest]
    return f"<html><body><table>{''.join(cells)}</table></body></html>"


def markdown(rows: list[tuple[str, str]]) -> str:
    (first, second), *rest = rows
    return "\n".join([f"| {first} | {second} |", "|---|---|", *(f"| {a} | {b} |" for a, b in rest)])


def simple_table(rows: list[tuple[str, str]]) -> str:
    rule = f"{'=' * 12}  {'=' * 20}"
    return "\n".join([rule, *(f"{name:12}  {value}" for name, value in rows), rule])


def lines(read: ReadFunction, name: str, text: str) -> list[str]:
    return read(name, text).pages[0].text.split("\n")


@pytest.mark.parametrize("rows", [CARD, CARD[1:], CARD[2:] + CARD[:2]])
def test_rows_without_a_header_are_names_and_values(read: ReadFunction, rows: list[tuple[str, str]]) -> None:
    wanted = [f"{name}: {value}" for name, value in rows]
    assert lines(read, "card.html", html(rows)) == wanted
    assert lines(read, "card.md", markdown([("", ""), *rows])) == wanted
    assert lines(read, "card.rst", simple_table(rows)) == wanted


def test_every_format_with_tables_knows_names_and_values(read: ReadFunction) -> None:
    rtf = "".join(
        rf"\trowd\cellx1000\cellx2000\pard\intbl {name}\cell {value}\cell\row" for name, value in CARD
    )
    assert lines(read, "card.rtf", rf"{{\rtf1\ansi {rtf}}}") == CARD_LINES
    odt = f"<table:table>{''.join(row(cell(name), cell(value)) for name, value in CARD)}</table:table>"
    assert read("card.odt", opendocument("text", odt)).pages[0].text.split("\n") == CARD_LINES
    sheet = Sheet()
    sheet.rows((60, 180), 700, CARD)
    assert read("card.pdf", drawn_pdf(sheet)).pages[0].text.split("\n") == CARD_LINES


def test_colons_behind_names_are_not_doubled(read: ReadFunction) -> None:
    rows = [(f"{name}:", value) for name, value in CARD]
    for text in (html(rows), html(rows, "th")):
        assert lines(read, "card.html", text) == CARD_LINES
    assert lines(read, "card.md", markdown(rows)) == CARD_LINES


def test_phrases_in_lower_case_are_no_names_of_columns(read: ReadFunction) -> None:
    keys = [("C-b", "move back one character"), ("C-a", "move to the start"), ("RET", "enter the line")]
    sheet = Sheet()
    sheet.rows((60, 180), 700, keys)
    pairs = [f"{name}: {text}" for name, text in keys]
    assert read("keys.pdf", drawn_pdf(sheet)).pages[0].text.split("\n") == pairs
    assert lines(read, "keys.html", html(keys)) == pairs
    named = [("Key", "What it does"), *keys]
    sheet = Sheet()
    sheet.rows((60, 180), 700, named)
    headed = [f"Key: {name} · What it does: {text}" for name, text in keys]
    assert read("named.pdf", drawn_pdf(sheet)).pages[0].text.split("\n") == headed


def test_a_sentence_is_no_name_of_a_column(read: ReadFunction) -> None:
    rows = [("query", "Shows what a target needs."), ("browse", "Opens a browser.")]
    assert lines(read, "tools.html", html(rows)) == [f"{name}: {text}" for name, text in rows]


def test_a_value_where_the_markup_wants_a_header_is_a_value(read: ReadFunction) -> None:
    for rows in (
        CARD[1:] + CARD[:1],
        [("Founded", "1987"), ("City", "Leeds")],
        [("Width", "120 mm"), ("Depth", "40 mm")],
    ):
        wanted = [f"{name}: {value}" for name, value in rows]
        assert lines(read, "card.md", markdown(rows)) == wanted
        assert lines(read, "card.html", html(rows, "th")) == wanted


def test_a_header_stays_one(read: ReadFunction) -> None:
    assert lines(read, "prices.md", markdown(PRICES)) == PRICE_LINES
    assert lines(read, "prices.html", html(PRICES, "th")) == PRICE_LINES
    assert lines(read, "prices.html", html(PRICES)) == PRICE_LINES  # numbers stand below it
    years = [("Product", "2025"), ("Bread", "120"), ("Milk", "80")]
    assert lines(read, "years.md", markdown(years)) == [
        "Product: Bread · 2025: 120",
        "Product: Milk · 2025: 80",
    ]
    terms = [("Term", "Meaning"), ("kind", "a sort")]  # no markup says which it is, and nothing else
    assert lines(read, "terms.html", html(terms)) == ["Term: kind · Meaning: a sort"]
    mixed = [("Category", "Details"), ("Fee", "35 EUR"), ("Site", "https://example.org")]
    assert lines(read, "mixed.md", markdown(mixed)) == [
        "Category: Fee · Details: 35 EUR",
        "Category: Site · Details: https://example.org",
    ]


def test_numbers_each_with_another_unit_are_values_of_pairs() -> None:
    booking = [["Room", "Twin, sea view"], ["Check-in", "12 May, from 3 pm"], ["Price", "€ 320"]]
    fees = [["Kind", "Fee"], ["Boat", "12 EUR"], ["Car", "9 EUR"]]
    assert are_pairs(booking)
    assert not are_pairs(fees)
    assert not are_pairs([["Kind", "Count"], ["Boat", "12"], ["Car", "9"]])


def test_two_parties_side_by_side_are_a_line_each(read: ReadFunction) -> None:
    rows = [
        ("For Halden Foods AS", "For Brookmere Ltd"),
        ("Name: Ingrid Solbakken", "Name: Peter Ashworth"),
        ("Title: Chief Procurement Officer", "Title: Managing Director"),
        ("Date: 12.02.2024", "Date: 9 February 2024"),
    ]
    parties = [" · ".join(column) for column in zip(*rows, strict=True)]
    assert lines(read, "contract.html", html(rows)) == parties
    assert lines(read, "contract.md", markdown([("", ""), *rows])) == parties
    odt = f"<table:table>{''.join(row(cell(left), cell(right)) for left, right in rows)}</table:table>"
    assert read("contract.odt", opendocument("text", odt)).pages[0].text.split("\n") == parties
    sheet = Sheet()
    sheet.rows((76, 276), 690, rows, pitch=20)
    sheet.grid((72, 272, 472), (705, 685, 665, 645, 625))
    assert read("contract.pdf", drawn_pdf(sheet)).pages[0].text.split("\n") == parties


def test_parties_that_have_not_signed_are_a_line_each(read: ReadFunction) -> None:
    rows = [("The buyer", "The seller"), ("Name:", "Name:"), ("Date:", "Date:")]
    assert lines(read, "x.html", html(rows)) == ["The buyer · Name: · Date:", "The seller · Name: · Date:"]


def test_other_labelled_cells_beside_one_another_stay_in_their_row(read: ReadFunction) -> None:
    rows = [("Order number: 123", "Date: 4 May"), ("Customer: ACME", "Terms: 30 days")]
    assert lines(read, "order.html", html(rows)) == [" · ".join(cells) for cells in rows]


def test_a_long_record_has_a_line_for_each_cell(read: ReadFunction) -> None:
    rows = [("Name: Ann", "Name: Bob"), (f"Duties: {'cooks ' * 120}".strip(), "Duties: drives")]
    assert lines(read, "x.html", html(rows)) == [rows[0][0], rows[1][0], "Name: Bob · Duties: drives"]


def test_names_with_capitals_beside_small_letters_are_pairs(read: ReadFunction) -> None:
    rows = [("Summer", "weekly"), ("Winter", "monthly")]
    assert lines(read, "x.html", html(rows)) == ["Summer: weekly", "Winter: monthly"]
    rows = [("Season", "Cleaned"), ("Summer", "weekly"), ("Winter", "weekly")]
    assert lines(read, "x.html", html(rows))[0] == "Season: Summer · Cleaned: weekly"


def test_a_listing_of_files_or_variables_has_no_header(read: ReadFunction) -> None:
    files = [("/var/lib/turn/status", "Default state file."), ("/etc/turn.conf", "Options.")]
    page = (
        ".TH turn 8\n.SH FILES\n.TS\ntab(@);\nl l.\n" + "\n".join("@".join(row) for row in files) + "\n.TE\n"
    )
    told = [f"{name}: {text}" for name, text in files]
    assert [line for line in lines(read, "turn.8", page) if line.startswith("/")] == told
    names = [("SUM_min", "1#1", "least value of all data"), ("SUM_mid", "2#2", "median"), ("SUM_q1", "", "")]
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in names)
    assert lines(read, "sum.html", f"<table>{rows}</table>") == [
        "SUM_min: 1#1 · least value of all data",
        "SUM_mid: 2#2 · median",
        "SUM_q1",
    ]
