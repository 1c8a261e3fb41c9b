"""Tables as people lay them out: headers of several lines, merged cells, titles, notes."""

from __future__ import annotations

import io
import time
import zipfile
from collections.abc import Sequence

import pytest
from docx import Document
from docx.oxml import OxmlElement

from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.documents import LocalCorpus
from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.html_blocks import add_html
from localcrag.documents.readers.docx import read_docx
from localcrag.documents.readers.pptx import read_pptx
from localcrag.documents.readers.xlsx import read_xlsx
from localcrag.documents.table_grid import GridRow, plain_rows
from localcrag.documents.table_headers import found_header
from localcrag.documents.table_rows import grid_lines
from localcrag.types import BlockKind
from tests.documents.builders import Sheet, drawn_pdf, replaced
from tests.documents.conftest import ReadFunction
from tests.documents.opendocument_builders import cell, opendocument, row

N = None
Rows = Sequence[Sequence[object]]
MENU: Rows = [
    ["Dish", "Price", N, "Stock"],
    [N, "Staff", "Guest", N],
    ["Soup", 4.1, 5.9, 12],
    ["Stew", 6, 8, 3],
]
MENU_TEXT = (
    "Dish: Soup · Price / Staff: 4.1 · Price / Guest: 5.9 · Stock: 12\n"
    "Dish: Stew · Price / Staff: 6 · Price / Guest: 8 · Stock: 3"
)
LAYOUTS: dict[str, tuple[Rows, Sequence[str], str]] = {
    "header": (
        [["kind", "fee"], ["car", 48], [], ["boat", 75]],
        [],
        "kind: car · fee: 48\nkind: boat · fee: 75",
    ),
    "the-way-back-below-the-way-there": (
        [
            ["Trip", "Quay", "Mill", "Inn"],
            [11, "08:10", "08:20", "08:31"],
            ["Trip", "Inn", "Mill", "Quay"],
            [12, "09:00", "09:11", "09:21"],
        ],
        [],
        "Trip: 11 · Quay: 08:10 · Mill: 08:20 · Inn: 08:31\n\n"
        "Trip: 12 · Inn: 09:00 · Mill: 09:11 · Quay: 09:21",
    ),
    "names-below-a-merged-one-and-the-label-left-open": (
        [
            ["Vaccine", "Puppy course", N, "Booster", "Price"],
            [N, "1st dose (weeks)", "2nd dose (weeks)", "every", "(£)"],
            ["DHP", 8, 12, "3 years", 38],
            ["Rabies", 15, "–", "3 years", 44],
        ],
        ["B1:C1"],
        "Vaccine: DHP · Puppy course / 1st dose (weeks): 8 · Puppy course / 2nd dose (weeks): 12"
        " · Booster / every: 3 years · Price / (£): 38\n"
        "Vaccine: Rabies · Puppy course / 1st dose (weeks): 15 · Puppy course / 2nd dose (weeks): –"
        " · Booster / every: 3 years · Price / (£): 44",
    ),
    "what-is-meant-in-brackets": (
        [
            ["Plot", "Tenant", "Area", "Rent"],
            ["no.", "(surname)", "(m²)", "(£)"],
            ["A1", "Arkwright", 210, 88.2],
            ["A2", "Bellamy", 150, 63],
        ],
        [],
        "Plot / no.: A1 · Tenant / (surname): Arkwright · Area / (m²): 210 · Rent / (£): 88.2\n"
        "Plot / no.: A2 · Tenant / (surname): Bellamy · Area / (m²): 150 · Rent / (£): 63",
    ),
    "values-in-brackets": (
        [
            ["Team", "Won", "Lost"],
            ["Reds", "(first)", "(second)"],
            ["Blues", "(third)", "(fourth)"],
        ],
        [],
        "Team: Reds · Won: (first) · Lost: (second)\nTeam: Blues · Won: (third) · Lost: (fourth)",
    ),
    "header-of-two-lines": (MENU, ["A1:A2", "B1:C1", "D1:D2"], MENU_TEXT),
    "two-lines-not-merged": (MENU, [], MENU_TEXT),
    "name-in-the-lower-line": (
        [[N, "Price", N], ["Dish", "Staff", "Guest"], ["Soup", "small", "large"], ["Stew", "any", "any"]],
        ["B1:C1"],
        "Dish: Soup · Price / Staff: small · Price / Guest: large\n"
        "Dish: Stew · Price / Staff: any · Price / Guest: any",
    ),
    "years-above-names": (
        [["Region", 2025, N, 2026, N], [N, "Plan", "Actual", "Plan", "Actual"], ["North", 1, 2, 3, 4]],
        ["A1:A2", "B1:C1", "D1:E1"],
        "Region: North · 2025 / Plan: 1 · 2025 / Actual: 2 · 2026 / Plan: 3 · 2026 / Actual: 4",
    ),
    "school-years-above-names": (
        [
            ["Heading", "2023-24", N, "2024-25", N, "Left"],
            [N, "Budget", "Actual", "Budget", "Spent", N],
            ["Audit", 420, 420, 440, 220, 220],
            ["Grass", 3900, 4185, 4300, 3740, 560],
        ],
        ["A1:A2", "B1:C1", "D1:E1", "F1:F2"],
        "Heading: Audit · 2023-24 / Budget: 420 · 2023-24 / Actual: 420 · 2024-25 / Budget: 440"
        " · 2024-25 / Spent: 220 · Left: 220\n"
        "Heading: Grass · 2023-24 / Budget: 3900 · 2023-24 / Actual: 4185 · 2024-25 / Budget: 4300"
        " · 2024-25 / Spent: 3740 · Left: 560",
    ),
    "seasons-are-names": (
        [["Source", "2022-23", "2023-24"], ["Rents", 874, 918], ["Fees", 2140, 1800]],
        [],
        "Source: Rents · 2022-23: 874 · 2023-24: 918\nSource: Fees · 2022-23: 2140 · 2023-24: 1800",
    ),
    "numbers-like-seasons-are-none": (
        [["Rents", "2022-24", "2023-29"], ["Fees", "2140-41", "1800-90"]],
        [],
        "column 1: Rents · column 2: 2022-24 · column 3: 2023-29\n"
        "column 1: Fees · column 2: 2140-41 · column 3: 1800-90",
    ),
    "a-name-above-the-label-and-the-same-below-each-day": (
        [
            ["Science", N, "Monday", N, "Tuesday", N],
            ["Period", "Time", "Lab 1", "Lab 2", "Lab 1", "Lab 2"],
            [1, "08:50", "9A", "11C", "7B", "12A"],
            [2, "09:50", "7C", "10B", "8A", "9C"],
        ],
        ["C1:D1", "E1:F1"],
        "Science / Period: 1 · Time: 08:50 · Monday / Lab 1: 9A · Monday / Lab 2: 11C"
        " · Tuesday / Lab 1: 7B · Tuesday / Lab 2: 12A\n"
        "Science / Period: 2 · Time: 09:50 · Monday / Lab 1: 7C · Monday / Lab 2: 10B"
        " · Tuesday / Lab 1: 8A · Tuesday / Lab 2: 9C",
    ),
    "the-same-values-below-each-merged-name": (
        [
            ["Name", "Monday", N, "Tuesday", N],
            ["Ann", "in", "out", "in", "out"],
            ["Bo", "in", "in", "out", "in"],
        ],
        ["B1:C1", "D1:E1"],
        "Name: Ann · Monday: in · Monday: out · Tuesday: in · Tuesday: out\n"
        "Name: Bo · Monday: in · Monday: in · Tuesday: out · Tuesday: in",
    ),
    "header-of-three-lines": (
        [["Shop", "2026", N, N], [N, "H1", N, "H2"], [N, "Q1", "Q2", "Q3"], ["A", 1, 2, 3], ["B", 5, 6, 7]],
        ["A1:A3", "B1:D1", "B2:C2"],
        "Shop: A · 2026 / H1 / Q1: 1 · 2026 / H1 / Q2: 2 · 2026 / H2 / Q3: 3\n"
        "Shop: B · 2026 / H1 / Q1: 5 · 2026 / H1 / Q2: 6 · 2026 / H2 / Q3: 7",
    ),
    "line-of-units": (
        [["Part", "Weight", "Price"], [N, "kg", "EUR"], ["Bolt", 0.2, 1], ["Nut", 0.1, 2]],
        [],
        "Part: Bolt · Weight / kg: 0.2 · Price / EUR: 1\nPart: Nut · Weight / kg: 0.1 · Price / EUR: 2",
    ),
    "multiples-of-units": (
        [["Port", "Cargo", "Fee"], [N, "1000 t", "EUR"], ["Hull", 82, 1], ["Kiel", 79, 2]],
        [],
        "Port: Hull · Cargo / 1000 t: 82 · Fee / EUR: 1\nPort: Kiel · Cargo / 1000 t: 79 · Fee / EUR: 2",
    ),
    "values-with-units-in-all-cells": (
        [["Weight", "Dose"], ["4-6 kg", "60 mg"], ["7-9 kg", "120 mg"], ["10-14 kg", "168 mg"]],
        [],
        "Weight: 4-6 kg · Dose: 60 mg\nWeight: 7-9 kg · Dose: 120 mg\nWeight: 10-14 kg · Dose: 168 mg",
    ),
    "values-without-a-header": (
        [["4-6 kg", "60 mg"], ["7-9 kg", "120 mg"], ["10-14 kg", "168 mg"]],
        [],
        "column 1: 4-6 kg · column 2: 60 mg\ncolumn 1: 7-9 kg · column 2: 120 mg\n"
        "column 1: 10-14 kg · column 2: 168 mg",
    ),
    "options-without-a-header": (
        [["-a", "--all", "all lines"], ["-n", "--lines", "so many lines"]],
        [],
        "column 1: -a · column 2: --all · column 3: all lines\n"
        "column 1: -n · column 2: --lines · column 3: so many lines",
    ),
    "options-below-a-header": (
        [["Option", "Long", "Meaning"], ["-a", "--all", "all lines"], ["-n", "--lines", "so many lines"]],
        [],
        "Option: -a · Long: --all · Meaning: all lines\nOption: -n · Long: --lines · Meaning: so many lines",
    ),
    "years-as-names": (
        [["Region", 2024, 2025, 2026], ["North", 120, 130, 140]],
        [],
        "Region: North · 2024: 120 · 2025: 130 · 2026: 140",
    ),
    "label-of-a-total-below-values": (
        [
            ["Date", "Who", "Amount"],
            ["2024-04-02", "Ann", 118.4],
            ["2024-04-03", "Bob", 31.75],
            [],
            ["Total", N, 150.15],
        ],
        [],
        "Date: 2024-04-02 · Who: Ann · Amount: 118.4\nDate: 2024-04-03 · Who: Bob · Amount: 31.75\n"
        "Total: 150.15",
    ),
    "numbers-of-trains-above-times": (
        [
            ["Stop", 101, 103, 105],
            ["Mill Lane", "05:46", "06:31", "|"],
            ["Airport", "06.21", "7:06 a", "9 am"],
        ],
        [],
        "Stop: Mill Lane · 101: 05:46 · 103: 06:31 · 105: |\n"
        "Stop: Airport · 101: 06.21 · 103: 7:06 a · 105: 9 am",
    ),
    "days-of-a-month-above-shifts": (
        [["Name", 1, 2, 3], ["Grace", "E", "L", "-"], ["Omar", "N", N, "E"]],
        [],
        "Name: Grace · 1: E · 2: L · 3: -\nName: Omar · 1: N · 3: E",
    ),
    "words-scattered-above": (
        [
            ["at", "the top", N, "of"],
            ["or", N, N, "cells"],
            ["Name", "Job", "Age", "Town"],
            ["Ann", "cook", 60, "Rome"],
            ["Bob", "boss", 57, "Bern"],
            ["Cy", "clerk", N, N],
        ],
        [],
        "column 1: at · column 2: the top · column 4: of\ncolumn 1: or · column 4: cells\n"
        "Name: Ann · Job: cook · Age: 60 · Town: Rome\nName: Bob · Job: boss · Age: 57 · Town: Bern\n"
        "Name: Cy · Job: clerk",
    ),
    "title-and-blank-line": (
        [["Budget 2026"], [], ["Item", "Planned", "Spent"], ["Rent", 1000, 900]],
        [],
        "Budget 2026\n\nItem: Rent · Planned: 1000 · Spent: 900",
    ),
    "two-merged-titles": (
        [["Budget 2026", N, N], ["all in EUR", N, N], [], ["Item", "Planned", "Spent"], ["Rent", 1000, 900]],
        ["A1:C1", "A2:C2"],
        "Budget 2026\n\nall in EUR\n\nItem: Rent · Planned: 1000 · Spent: 900",
    ),
    "merged-title-above-two-lines": (
        [["Fees", N, N], ["Dish", "Price", N], [N, "Staff", "Guest"], ["Soup", 4.1, 5.9]],
        ["A1:C1", "A2:A3", "B2:C2"],
        "Fees\n\nDish: Soup · Price / Staff: 4.1 · Price / Guest: 5.9",
    ),
    "two-tables": (
        [
            ["Staff"],
            ["Name", "Role"],
            ["Ann", "cook"],
            ["Bob", "boss"],
            [],
            ["Rooms"],
            ["Room", "Seats", "Floor"],
            ["Blue", 12, 1],
            ["Red", 40, 2],
        ],
        [],
        "Staff\n\nName: Ann · Role: cook\nName: Bob · Role: boss\n\n\n"
        "Rooms\n\nRoom: Blue · Seats: 12 · Floor: 1\nRoom: Red · Seats: 40 · Floor: 2",
    ),
    "two-tables-of-one-width": (
        [["Fruit", "Price"], ["Apple", 2], ["Pear", 3], [], ["Drink", "Price"], ["Tea", 1.5]],
        [],
        "Fruit: Apple · Price: 2\nFruit: Pear · Price: 3\n\nDrink: Tea · Price: 1.5",
    ),
    "notes": (
        [
            ["Item", "Fee", "Unit"],
            ["Car", 48, "day"],
            ["* without fuel"],
            [],
            ["Source: the harbour office"],
            ["Stand: 2026-01-01"],
        ],
        [],
        "Item: Car · Fee: 48 · Unit: day\n\n* without fuel\n\n"
        "Source: the harbour office\n\nStand: 2026-01-01",
    ),
    "cells-merged-over-rows": (
        [["Category", "Model", "Fee"], ["Car", "small", 40], [N, "large", 48], ["Boat", "sail", 75]],
        ["A2:A3"],
        "Category: Car · Model: small · Fee: 40\nCategory: Car · Model: large · Fee: 48\n"
        "Category: Boat · Model: sail · Fee: 75",
    ),
    "titles-of-groups": (
        [["Model", "Fee"], ["Cars", N], ["small", 40], ["Boats", N], ["sail", 75]],
        ["A2:B2", "A4:B4"],
        "Cars\nModel: small · Fee: 40\nBoats\nModel: sail · Fee: 75",
    ),
    "groups-after-blank-lines": (
        [["Model", "Fee"], ["small", 40], [], ["Boats"], ["sail", 75], ["motor", 90]],
        [],
        "Model: small · Fee: 40\nBoats\nModel: sail · Fee: 75\nModel: motor · Fee: 90",
    ),
    "empty-columns-before": (
        [[], [N, N, "Item", "Fee", N], [N, N, N, "2025", "2026"], [N, N, "Car", 48, 50]],
        ["C2:C3", "D2:E2"],
        "Item: Car · Fee / 2025: 48 · Fee / 2026: 50",
    ),
    "names-and-values-before": (
        [["Client", "ACME"], ["Date", "2026-01-01"], [], ["Item", "Price", "Qty"], ["Bolt", 0.2, 100]],
        [],
        "Client: ACME\nDate: 2026-01-01\n\nItem: Bolt · Price: 0.2 · Qty: 100",
    ),
    "header-repeated": (
        [["kind", "fee"], ["car", 48], ["kind", "fee"], ["ship", 99]],
        [],
        "kind: car · fee: 48\nkind: ship · fee: 99",
    ),
    "one-line-with-a-wide-name": (
        [["Name", "Address", N], ["Ann", "Main St", "Berlin"], ["Bob", "High St", "Rome"]],
        ["B1:C1"],
        "Name: Ann · Address: Main St · Address: Berlin\nName: Bob · Address: High St · Address: Rome",
    ),
}
"""The rows of a sheet, its merged cells, and the text that is stored."""
# What must not be taken for a header, or for another table.
PLAIN: dict[str, tuple[Rows, str]] = {
    "numbers": ([[1, 2], [3, 4]], "column 1: 1 · column 2: 2\ncolumn 1: 3 · column 2: 4"),
    "whole-numbers-above-numbers": (
        [["Cars", 12, 14, 16], ["First", "05:46", "06:31", "7:15"], ["Fee", 48, 35, 20]],
        "column 1: Cars · column 2: 12 · column 3: 14 · column 4: 16\n"
        "column 1: First · column 2: 05:46 · column 3: 06:31 · column 4: 7:15\n"
        "column 1: Fee · column 2: 48 · column 3: 35 · column 4: 20",
    ),
    "a-last-column-without-a-name": (
        [["Dish", "Kind"], ["Soup", "hot", "good"], ["Stew", "warm", 4], ["Cake", "cold", 5]],
        "Dish: Soup · Kind: hot · column 3: good\nDish: Stew · Kind: warm · column 3: 4\n"
        "Dish: Cake · Kind: cold · column 3: 5",
    ),
    "a-column-without-a-name-among-others": (
        [["Dish", N, "Kind"], ["Soup", "fair", "hot"], ["Stew", 4, "hot"], ["Cake", 5, "cold"]],
        "Dish: Soup · column 2: fair · Kind: hot\nDish: Stew · column 2: 4 · Kind: hot\n"
        "Dish: Cake · column 2: 5 · Kind: cold",
    ),
    "text-in-the-first-row": (
        [["Dish", "Price"], ["Soup", "free"], ["Stew", 4], ["Cake", 5]],
        "Dish: Soup · Price: free\nDish: Stew · Price: 4\nDish: Cake · Price: 5",
    ),
    "total-after-a-blank-line": (
        [["Item", "Fee", "Unit"], ["Car", 48, "day"], ["Boat", 75, "day"], [], ["Total", 123]],
        "Item: Car · Fee: 48 · Unit: day\nItem: Boat · Fee: 75 · Unit: day\nItem: Total · Fee: 123",
    ),
    "text-after-a-blank-line": (
        [["Dish", "Price"], ["Soup", 4], [], ["Cake", "free"], ["Stew", 5]],
        "Dish: Soup · Price: 4\nDish: Cake · Price: free\nDish: Stew · Price: 5",
    ),
    "people-after-a-blank-line": (
        [["Name", "Role"], ["Ann", "cook"], ["Bob", "boss"], [], ["Cy", "clerk"], ["Di", "driver"]],
        "Name: Ann · Role: cook\nName: Bob · Role: boss\nName: Cy · Role: clerk\nName: Di · Role: driver",
    ),
    "cells-alone-are-usual": (
        [["Task", "Done by"], ["wash", N], ["dry", N], ["cook", "Ann"], [], ["bake", N]],
        "Task: wash\nTask: dry\nTask: cook · Done by: Ann\nTask: bake",
    ),
    "years-of-lives": (
        [["Ann", 1815, 1852], ["Bob", 1790, 1850]],
        "column 1: Ann · column 2: 1815 · column 3: 1852\ncolumn 1: Bob · column 2: 1790 · column 3: 1850",
    ),
}


def sheet_of(rows: Rows, merges: Sequence[str] = ()) -> bytes:
    """A workbook with one sheet, S, made by openpyxl."""
    from openpyxl import Workbook

    book = Workbook()
    book.active.title = "S"
    for cells in rows:
        book.active.append(cells)
    for merge in merges:
        book.active.merge_cells(merge)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def text_of(data: bytes) -> str:
    (page,) = read_xlsx(data, Limits()).pages
    return page.text.removeprefix("S\n\n").removeprefix("\n")  # one more before the title of a table


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_sheet_as_people_lay_it_out(layout: str) -> None:
    rows, merges, expected = LAYOUTS[layout]
    assert text_of(sheet_of(rows, merges)) == expected


@pytest.mark.parametrize("layout", PLAIN)
def test_a_plain_sheet_is_read_as_it_stands(layout: str) -> None:
    rows, expected = PLAIN[layout]
    assert text_of(sheet_of(rows)) == expected


@pytest.mark.parametrize("layout", [name for name, (_, merges, _) in LAYOUTS.items() if not merges])
def test_a_csv_file_is_read_as_the_sheet(layout: str, read: ReadFunction) -> None:
    rows, _, expected = LAYOUTS[layout]
    text = "\n".join(",".join("" if value is N else str(value) for value in cells) for cells in rows)
    assert read("x.csv", text).pages[0].text == expected


def test_a_colon_behind_the_name_of_a_column_is_not_doubled(read: ReadFunction) -> None:
    text = read("fees.csv", "Category:,Fee:\nCar,35\nBus,70").pages[0].text
    assert text.split("\n") == ["Category: Car · Fee: 35", "Category: Bus · Fee: 70"]


@pytest.mark.parametrize("first", [0, 1])
def test_the_numbers_that_a_program_gave_the_rows_are_left_out(first: int, read: ReadFunction) -> None:
    animals = [("Cheetah", "12.1"), ("Owl monkey", "17"), ("Horse", "2.9")]
    rows = [f"{number},{name},{hours}" for number, (name, hours) in enumerate(animals, first)]
    text = read("sleep.csv", "\n".join([",name,hours", *rows])).pages[0].text
    assert text.split("\n") == [f"name: {name} · hours: {hours}" for name, hours in animals]


@pytest.mark.parametrize("numbers", [("1", "3", "4"), ("2", "3", "4"), ("1", "2", "b")])
def test_a_column_without_a_name_that_does_not_count_is_kept(
    numbers: Sequence[str], read: ReadFunction
) -> None:
    rows = [f"{number},Cheetah {number},12" for number in numbers]
    text = read("sleep.csv", "\n".join([",name,hours", *rows])).pages[0].text
    assert text.split("\n") == [f"{number} · name: Cheetah {number} · hours: 12" for number in numbers]


def test_a_workbook_of_another_program_with_merged_cells() -> None:
    from xlsxwriter import Workbook

    out = io.BytesIO()
    book = Workbook(out)
    sheet = book.add_worksheet("S")
    for at, cells in enumerate(MENU):
        sheet.write_row(at, 0, ["" if value is N else value for value in cells])
    sheet.merge_range("A1:A2", "Dish")
    sheet.merge_range("B1:C1", "Price")
    sheet.merge_range("D1:D2", "Stock")
    book.close()
    assert text_of(out.getvalue()) == MENU_TEXT


def test_rows_keep_their_numbers_behind_a_header_of_two_lines() -> None:
    (page,) = read_xlsx(sheet_of([["Menu"], [], *MENU], ["A3:A4", "B3:C3", "D3:D4"]), Limits()).pages
    assert [block.level for block in page.blocks if block.kind is BlockKind.ROW] == [5, 6]


def test_the_title_of_a_table_is_a_heading_and_its_notes_are_paragraphs_with_their_rows(
    read: ReadFunction, corpus: LocalCorpus
) -> None:
    rows: list[list[object]] = [
        ["Budget 2026"],
        ["approved by Ada Lund"],
        [],
        ["Item", "Planned"],
        ["Rent", 900],
        ["Staff", N],
    ]
    rows += [["Cook", 1200], ["Cars", N], ["Fuel", 300], [], ["Fuel is paid once, in April."]]
    (passage,) = corpus.split(read("budget.xlsx", sheet_of(rows)))
    blocks = [(block.kind, passage.text_between(block.start, block.end)) for block in passage.blocks]
    assert blocks[:3] == [
        (BlockKind.HEADING, "S"),
        (BlockKind.HEADING, "Budget 2026"),
        (BlockKind.PARAGRAPH, "approved by Ada Lund"),
    ]
    assert blocks[-1] == (BlockKind.PARAGRAPH, "Fuel is paid once, in April.")
    assert {kind for kind, _ in blocks[3:-1]} == {BlockKind.ROW}
    approved, note = passage.blocks[2], passage.blocks[-1]
    assert passage.rows(approved.start, approved.end) == (2, 2) and passage.rows() == (2, 11)
    assert passage.rows(note.start, note.end) == (11, 11) and passage.sheet == "S"


def test_a_note_of_the_table_before_is_not_the_title_of_the_next() -> None:
    rows: list[list[object]] = [
        ["Kind", "Fee"],
        ["Car", 48],
        ["Van", 61],
        [],
        ["Prices of May"],
        [],
        ["Staff"],
        ["Name", "Room", "Age"],
    ]
    rows += [["Ann", "Blue", 60], ["Bob", "Red", 57]]
    (page,) = read_xlsx(sheet_of(rows), Limits()).pages
    headings = [page.text[b.start : b.end] for b in page.blocks if b.kind is BlockKind.HEADING]
    assert headings == ["S", "Staff"] and "Prices of May" in page.text


def test_rows_below_a_title_are_cited_by_the_name_of_their_sheet(
    read: ReadFunction, corpus: LocalCorpus
) -> None:
    boats: list[list[object]] = [[f"boat {i}", i] for i in range(200)]
    rows: list[list[object]] = [["Fees of the harbour"], [], ["Kind", "Fee"], *boats]
    *_, last = corpus.split(read("fees.xlsx", sheet_of(rows)))
    assert (last.heading, last.sheet) == ("S > Fees of the harbour", "S") and last.rows()


def test_tables_of_a_sheet_are_parsed_apart_with_their_titles_and_without_notes(
    read: ReadFunction, corpus: LocalCorpus
) -> None:
    rows = [
        ["Prices: all in EUR"], [], *MENU, ["* cold"], [], ["Drinks"], ["Drink", "Price"], ["Tea", 1.5],
        ["Milk", 2], [], ["Source: kitchen"],
    ]  # fmt: skip
    data = sheet_of(rows, ["A3:A4", "B3:C3", "D3:D4"])
    menu, drinks = tables_of(corpus.split(read("menu.xlsx", data)))
    assert menu.columns == ("Dish", "Price / Staff", "Price / Guest", "Stock")
    assert (len(menu.rows), menu.names[0]) == (2, "Prices: all in EUR")
    assert (drinks.columns, len(drinks.rows), drinks.names[0]) == (("Drink", "Price"), 2, "Drinks")


# ------------------------------------------------------------------ other formats

DOCUMENT_ROWS = [["" if value is N else str(value) for value in cells] for cells in MENU]
SPANS = [(0, 0, 1, 0), (0, 1, 0, 2), (0, 3, 1, 3)]
TITLED_ROWS = [["Fees", "", ""], ["Dish", "Price", ""], ["", "Staff", "Guest"], ["Soup", "4.1", "5.9"]]
TITLED_SPANS = [(0, 0, 0, 2), (1, 0, 2, 0), (1, 1, 1, 2)]
TITLED_TEXT = "Fees\nDish: Soup · Price / Staff: 4.1 · Price / Guest: 5.9"
GROUP_ROWS = [["Kind", "Model", "Fee"], ["Rented", "", ""], ["Car", "small", "40"], ["", "large", "48"]]
GROUP_SPANS = [(1, 0, 1, 2), (2, 0, 3, 0)]
GROUP_TEXT = "Rented\nKind: Car · Model: small · Fee: 40\nKind: Car · Model: large · Fee: 48"
TABLES = pytest.mark.parametrize(
    ("rows", "spans", "expected"),
    [
        (DOCUMENT_ROWS, SPANS, MENU_TEXT),
        (TITLED_ROWS, TITLED_SPANS, TITLED_TEXT),
        (GROUP_ROWS, GROUP_SPANS, GROUP_TEXT),
    ],
    ids=["two-lines", "title", "groups"],
)


@TABLES
@pytest.mark.parametrize("heads", [0, 1])
def test_a_table_of_a_word_document(
    rows: list[list[str]], spans: list[tuple[int, int, int, int]], expected: str, heads: int
) -> None:
    document = Document()
    table = document.add_table(rows=len(rows), cols=len(rows[0]))
    for i, cells in enumerate(rows):
        for j, text in enumerate(cells):
            table.cell(i, j).text = text
    for top, left, bottom, right in spans:
        merged = table.cell(top, left).merge(table.cell(bottom, right))
        merged.text = merged.text.strip()
    for i in range(heads):
        table.rows[i]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))
    out = io.BytesIO()
    document.save(out)
    (page,) = read_docx(out.getvalue(), Limits()).pages
    assert page.text == expected


@TABLES
def test_a_table_of_a_slide(
    rows: list[list[str]], spans: list[tuple[int, int, int, int]], expected: str
) -> None:
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    shapes = deck.slides.add_slide(deck.slide_layouts[6]).shapes
    table = shapes.add_table(len(rows), len(rows[0]), 0, 0, Inches(4), Inches(2)).table
    for i, cells in enumerate(rows):
        for j, text in enumerate(cells):
            table.cell(i, j).text = text
    for top, left, bottom, right in spans:
        table.cell(top, left).merge(table.cell(bottom, right))
    out = io.BytesIO()
    deck.save(out)
    (page,) = read_pptx(out.getvalue(), Limits()).pages
    assert page.text == expected


@TABLES
@pytest.mark.parametrize("kind", ["spreadsheet", "text"])
def test_a_table_of_an_open_document(
    rows: list[list[str]],
    spans: list[tuple[int, int, int, int]],
    expected: str,
    kind: str,
    read: ReadFunction,
) -> None:
    sizes = {(top, left): (right - left + 1, bottom - top + 1) for top, left, bottom, right in spans}
    made = []
    for i, cells in enumerate(rows):
        parts = []
        for j, text in enumerate(cells):
            covered = any(t <= i <= b and le <= j <= r and (t, le) != (i, j) for t, le, b, r in spans)
            wide, high = sizes.get((i, j), (1, 1))
            span = f'table:number-columns-spanned="{wide}" table:number-rows-spanned="{high}"'
            parts.append("<table:covered-table-cell/>" if covered else cell(text, span))
        made.append(row(*parts))
    if kind == "text":
        made[0] = f"<table:table-header-rows>{made[0]}</table:table-header-rows>"
    body = f'<table:table table:name="S">{"".join(made)}</table:table>'
    name = "x.ods" if kind == "spreadsheet" else "x.odt"
    if kind == "spreadsheet":
        expected = expected.replace("Fees\n", "\nFees\n\n")  # a heading, below the name of the sheet
    assert read(name, opendocument(kind, body)).pages[0].text.removeprefix("S\n\n") == expected


def test_a_table_of_a_pdf_with_rules_over_two_pages(read: ReadFunction) -> None:
    def page(dishes: Sequence[str]) -> Sheet:
        sheet = Sheet()
        xs, top = (72, 200, 300, 400), 700
        ys = [top - 20 * i for i in range(len(dishes) + 3)]
        sheet.rules += [(xs[0], y, xs[-1], y) for y in (ys[0], *ys[2:])] + [(200, ys[1], 400, ys[1])]
        sheet.rules += [(x, ys[0], x, ys[-1]) for x in (72, 200, 400)] + [(300, ys[1], 300, ys[-1])]
        sheet.text(80, ys[1] + 6, "Dish").text(280, ys[0] - 14, "Price")
        sheet.text(210, ys[1] - 14, "Staff").text(310, ys[1] - 14, "Guest")
        for dish, y in zip(dishes, ys[2:], strict=False):
            sheet.text(80, y - 14, dish).text(210, y - 14, "4.10").text(310, y - 14, "5.90")
        return sheet

    pages = read("x.pdf", drawn_pdf(page(["Soup", "Stew"]), page(["Cake", "Pie"]))).pages
    texts = "\n".join(page.text for page in pages).split("\n")
    assert texts == [
        f"Dish: {dish} · Price / Staff: 4.10 · Price / Guest: 5.90"
        for dish in ("Soup", "Stew", "Cake", "Pie")
    ]


def test_a_text_in_the_middle_of_a_merged_cell_of_a_pdf_stands_in_all_its_rows(read: ReadFunction) -> None:
    sheet = Sheet()
    ys = [700, 680, 660, 640, 620]
    sheet.rules += [(72, y, 400, y) for y in (700, 680, 620)] + [(200, y, 400, y) for y in (660, 640)]
    sheet.rules += [(x, 620, x, 700) for x in (72, 200, 300, 400)]
    sheet.text(80, 686, "Kind").text(210, 686, "Model").text(310, 686, "Fee").text(80, 646, "Car")
    for name, y in zip(("small", "large", "open"), ys[1:], strict=False):
        sheet.text(210, y - 14, name).text(310, y - 14, "40")
    [page] = read("x.pdf", drawn_pdf(sheet)).pages
    assert page.text.split("\n") == [
        f"Kind: Car · Model: {name} · Fee: 40" for name in ("small", "large", "open")
    ]


def html_text(html: str) -> str:
    made = BlockText()
    add_html(made, html)
    return made.page().text


def test_a_marked_header_has_no_more_lines_than_is_sure() -> None:
    table = "<table><tr><th>Team<th colspan=2>Members<tr><td>A<td>Ann<td>Bob<tr><td>B<td>Cy<td>Di</table>"
    assert html_text(table) == ("Team: A · Members: Ann · Members: Bob\nTeam: B · Members: Cy · Members: Di")
    hours = "<table><tr><th colspan=2>Hours<tr><td>Mon<td>closed<tr><td>Tue<td>9-17</table>"
    assert html_text(hours) == "Hours: Mon · Hours: closed\nHours: Tue · Hours: 9-17"
    facts = "<table><tr><th colspan=2>Ada<tr><th>Born<td>1815<tr><th>Died<td>1852</table>"
    assert html_text(facts) == "Ada\nBorn: 1815\nDied: 1852"


# ------------------------------------------------------------------ hostile tables


@pytest.mark.parametrize("gap", [[["", "", "", ""]], []], ids=["gap", "none"])
def test_what_is_told_above_a_table_is_no_header(gap: Sequence[list[str]]) -> None:
    told = [
        ["Savings Bank", "", "", ""],
        ["Account", "DE00 4410", "Ada Wren", ""],
        ["Turnover", "1.10.25 - 31.12.25", "", ""],
    ]
    table = [["Date", "Payee", "Amount", "Balance"], ["01.10.2025", "Hospital", "2.914,30", "4.206,11"]]
    rows = [*told, *gap, *table, ["02.10.2025", "Rent", "-1.415,00", "2.791,11"]]
    lines = list(grid_lines(row for row in plain_rows(rows) if any(row.cells)))
    assert [line.text for line in lines] == [
        "Savings Bank",
        "Account: DE00 4410 · Ada Wren",
        "Turnover: 1.10.25 - 31.12.25",
        "Date: 01.10.2025 · Payee: Hospital · Amount: 2.914,30 · Balance: 4.206,11",
        "Date: 02.10.2025 · Payee: Rent · Amount: -1.415,00 · Balance: 2.791,11",
    ]


@pytest.mark.parametrize(
    ("days", "is_header"),
    [
        (["2024-11-29", "2024-11-30", "2024-12-01"], True),
        (["2024-11-04", "2024-11-11", "2024-11-18"], True),
        (["2024-11-04", "2024-11-06", "2024-11-11"], False),
        (["2024-11-04", "2024-11-31", "2024-12-01"], False),
    ],
)
def test_days_in_a_row_are_the_header_of_a_roster(days: Sequence[str], *, is_header: bool) -> None:
    rows = [["Name", *days], ["Ann Lee", "E", "N", "O"], ["Bo Hay", "N", "N", "E"]]
    found = found_header(list(plain_rows(rows)))
    assert (found is not None and found.names == ["Name", *days]) is is_header


@pytest.mark.parametrize(
    ("rows", "is_header"),
    [
        ([["Duty", "1.184,60 EUR"], ["Tax", "7.902,15 EUR"], ["Delay", "35,00 EUR"]], False),
        ([["Duty", "€ 1,184.60"], ["Tax", "€ 7,902.15"]], False),
        ([["Duty", "Fee 0.50 EUR"], ["Tax", "7.15 EUR"]], True),
        ([["Duty", "1,184.60 EUR"], ["Tax", "7.15 kg"]], True),
    ],
)
def test_an_amount_above_others_in_its_unit_is_no_header(rows: list[list[str]], *, is_header: bool) -> None:
    assert (found_header(list(plain_rows(rows))) is not None) is is_header


def test_long_names_that_reach_down_beside_merged_ones_are_a_header_of_two_lines() -> None:
    upper = GridRow(1, ["Type of grave", "Fee for the whole period (€)", "", "Longer"], {1: 2})
    lower = GridRow(2, ["Type of grave", "old part", "woodland", "Longer"], from_above=frozenset({0, 3}))
    rows = [
        upper,
        lower,
        *plain_rows([["Single grave", "1,150", "980", "260"], ["Urn", "640", "590", "190"]]),
    ]
    found = found_header(rows)
    assert found is not None and found.end == 2
    assert found.names[1:3] == [f"Fee for the whole period (€) / {part}" for part in ("old part", "woodland")]


@pytest.mark.parametrize(
    ("rows", "is_header"),
    [
        (["0 Name Age", "1 Ann 32", "2 Bo 25", "3 Cy 36"], True),
        (["0 Name Town", "1 Ann Rome", "2 Bo Bern", "3 Cy Oslo"], False),
        (["0 Name Age", "1 Ann 32", "2 Bo 25"], False),
        (["0 Name Age", "5 Ann 32", "7 Bo 25", "8 Cy 36"], False),
        (["0 Zoe 41", "1 Ann 32", "2 Bo 25", "3 Cy 36"], False),
    ],
)
def test_a_header_may_be_counted_as_the_rows_below_it(rows: Sequence[str], *, is_header: bool) -> None:
    assert (found_header(list(plain_rows([row.split() for row in rows]))) is not None) is is_header


def test_values_with_their_units_are_no_line_of_units() -> None:
    rows = [["Weight", "Dose", "Syrup"], ["7–9 kg", "60 mg", "3 ml"], ["10–14 kg", "100 mg", "5 ml"]]
    found = found_header(list(plain_rows([*rows, ["15–21 kg", "140 mg", "7 ml"]])))
    assert found is not None and (found.end, found.names) == (1, rows[0])


def test_merged_cells_that_overlap_without_end_cost_little() -> None:
    data = sheet_of([["a", "b", "c"], *([f"a{number}", 1, 2] for number in range(300))])
    path = "xl/worksheets/sheet1.xml"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        part = archive.read(path).decode()
    merges = "<mergeCells>" + '<mergeCell ref="A1:XFD1048576"/>' * 50_000 + "</mergeCells>"
    data = replaced(data, {path: part.replace("</sheetData>", f"</sheetData>{merges}")})
    start = time.process_time()
    assert text_of(data).count("\n") == 299
    assert time.process_time() - start < 5


def test_a_header_over_all_columns_of_a_sheet_costs_little(read: ReadFunction) -> None:
    names = ",".join(f"n{i}" for i in range(16_000))
    start = time.process_time()
    text = (
        read("x.csv", "\n".join([names, names.replace("n", "m"), "1," * 16_000, "2," * 16_000])).pages[0].text
    )
    assert time.process_time() - start < 5 and text.endswith("n15999: 2")
