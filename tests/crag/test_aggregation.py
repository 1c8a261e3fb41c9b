"""What is computed over a table, held against Python's own sums over the same rows."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from localcrag.crag.answering.aggregation import aggregated, show_computed
from localcrag.crag.state import ComputedAnswer
from localcrag.crag.table_answers.parsed_tables import tables_of
from localcrag.crag.table_answers.table_matching import matched
from localcrag.crag.table_answers.table_questions import recognised
from localcrag.crag.table_answers.table_values import ColumnKind, column_values, quantity
from localcrag.events import result_of
from localcrag.types import Block, BlockKind, Passage, Status

AMOUNTS = st.integers(-(10**7), 10**7)


def passages(rows: list[str], *, cuts: int = 1, kind: BlockKind = BlockKind.ROW) -> list[Passage]:
    """The rows of a file ``farms.csv`` as they are stored, in so many passages."""
    made, at = [], 0
    size = -(-len(rows) // cuts)
    for ordinal, first in enumerate(range(0, len(rows), size)):
        some = rows[first : first + size]
        text, start, blocks = "\n".join(some), at, []
        for row in some:
            blocks.append(Block(kind, at, at + len(row)))
            at += len(row) + 1
        made.append(
            Passage(
                f"p{ordinal}", "h", "/farms.csv", "farms", "", None, start, at - 1, text, ordinal,
                blocks=tuple(blocks),
            )
        )  # fmt: skip
    return made


def computed(question: str, rows: list[str], cuts: int = 1) -> ComputedAnswer | None:
    form, (table,) = recognised(question), tables_of(passages(rows, cuts=cuts))
    match = matched(form, table) if form is not None else None
    return aggregated(match) if match is not None else None


def value(question: str, rows: list[str], cuts: int = 1) -> str | None:
    found = computed(question, rows, cuts)
    return found.computation.value if found is not None else None


@given(st.lists(AMOUNTS, min_size=2, max_size=40), st.integers(1, 7), st.booleans())
def test_totals_counts_and_extremes_are_those_of_python(amounts: list[int], cuts: int, commas: bool) -> None:
    shown = [f"{amount:,}" if commas else str(amount) for amount in amounts]
    rows = [f"Farm: F{n} · Kind: {'ab'[n % 2]}x · Sheep: {cell}" for n, cell in enumerate(shown)]
    assert value("What is the total number of sheep?", rows, cuts) == f"{sum(amounts):,}"
    assert value("How many farms are there?", rows, cuts) == str(len(rows))
    above = sum(amount > 1000 for amount in amounts)
    assert value("How many farms have more than 1,000 sheep?", rows, cuts) == (str(above) if above else None)
    assert value("How many farms of the kind ax are there?", rows, cuts) == str(len(amounts[::2]))
    of_kind = f"{sum(amounts[::2]):,}"
    assert value("What is the total number of sheep of the kind ax?", rows, cuts) == of_kind
    assume(amounts.count(max(amounts)) == amounts.count(min(amounts)) == 1)
    assert value("Which farm has the most sheep?", rows, cuts) == shown[amounts.index(max(amounts))]
    assert value("Which farm has the fewest sheep?", rows, cuts) == shown[amounts.index(min(amounts))]


def test_any_word_names_the_rows_of_a_column_without_a_name() -> None:
    rows = ["Alabama · Assault: 236", "Alaska · Assault: 263", "Arizona · Assault: 294"]
    assert value("Which state has the most assaults?", rows) == "294"
    assert value("How many states are there?", rows) is None
    assert value("Which state has the most assaults?", [*rows, "Alaska · Assault: 300"]) is None
    named = [f"Region: {row}" for row in rows]
    assert value("Which state has the most assaults?", named) is None


@given(st.lists(st.decimals(0, 10**6, places=2), min_size=2, max_size=30))
def test_cents_are_added_up_exactly(amounts: list[Decimal]) -> None:
    rows = [f"Farm: F{n} · Cost: {amount} EUR" for n, amount in enumerate(amounts)]
    assert value("What is the total cost?", rows) == f"{sum(amounts):,} EUR"


def test_a_total_is_written_as_the_numbers_of_the_file_are() -> None:
    rows = ["Text: Strom · Betrag: -1.240,10", "Text: Bahn · Betrag: 40,60", "Text: Miete · Betrag: -0,75"]
    assert value("What is the total Betrag?", rows) == "-1.200,25"
    assert value("What is the average Betrag?", rows) == "-400,0833"


@given(st.lists(st.text(max_size=30), min_size=1, max_size=20), st.text(max_size=200))
def test_nothing_that_a_document_or_a_user_writes_breaks_it(cells: list[str], question: str) -> None:
    rows = [f"Farm: F{n} · Sheep: {' '.join(cell.split())}" for n, cell in enumerate(cells)]
    form = recognised(question)
    for table in tables_of(passages(rows)):
        for each in filter(None, (form, recognised("Which farm has the most sheep?"))):
            match = matched(each, table)
            assert match is None or aggregated(match) is None or match.rows


def cut_at(rows: list[str], place: int) -> list[Passage]:
    """The rows in two passages; the first ends before the blank at a place."""
    text = "\n".join(rows)
    blocks, at = [], 0
    for row in rows:
        blocks.append((at, at + len(row)))
        at += len(row) + 1
    halves = (0, place), (place + 1, len(text))
    return [
        Passage(
            str(n), "h", "/farms.csv", "", "", None, start, end, text[start:end], n,
            blocks=tuple(
                Block(BlockKind.ROW, max(a, start), min(b, end)) for a, b in blocks if a < end and start < b
            ),
        )
        for n, (start, end) in enumerate(halves)
    ]  # fmt: skip


def test_a_row_cut_at_the_end_of_a_passage_is_one_row() -> None:
    rows = ["Farm: Alm · Sheep: 12", "Farm: Berg am See · Sheep: 30", "Farm: Tal · Sheep: 7"]
    text = "\n".join(rows)
    places = [at for at, character in enumerate(text) if character in " \n"]
    for place in places:
        (table,) = tables_of(cut_at(rows, place))
        cells = [dict(row.cells) for row in table.rows]
        assert cells == [
            {"Farm": "Alm", "Sheep": "12"},
            {"Farm": "Berg am See", "Sheep": "30"},
            {"Farm": "Tal", "Sheep": "7"},
        ], text[place:]


def test_a_row_whose_first_cell_has_no_name_begins_a_passage() -> None:
    rows = ["Alm · Sheep: 12 · Goats: 3", "Berg am See · Sheep: 30 · Goats: 4", "Tal · Sheep: 7 · Goats: 5"]
    text = "\n".join(rows)
    for place in (at for at, character in enumerate(text) if character in " \n"):
        (table,) = tables_of(cut_at(rows, place))
        assert [row.cells for row in table.rows] == [
            {"": "Alm", "Sheep": "12", "Goats": "3"},
            {"": "Berg am See", "Sheep": "30", "Goats": "4"},
            {"": "Tal", "Sheep": "7", "Goats": "5"},
        ], text[place:]


def test_the_last_field_of_a_record_may_be_empty() -> None:
    rows = ["name: Alm\nsheep: 12\nremark:", "name: Tal\nsheep: 7\nremark: sold"]
    (table,) = tables_of(passages(rows))
    assert [row.cells["remark"] for row in table.rows] == ["", "sold"]


def test_ties_are_all_named_and_too_many_are_none() -> None:
    two = [f"Farm: F{n} · Sheep: {9 if n < 2 else n}" for n in range(2, 7)]
    two += ["Farm: A · Sheep: 9", "Farm: B · Sheep: 9"]
    found = computed("Which farm has the most sheep?", two)
    assert found is not None and len(found.rows) == 2
    assert found.text.startswith("A has the most: Sheep 9 [1]\nB has the most: Sheep 9 [2]")
    same = [f"Farm: F{n} · Sheep: 9" for n in range(8)]
    assert computed("Which farm has the most sheep?", same) is None


def test_the_rows_of_a_value_are_counted() -> None:
    choir = ["Name: Ann · Voice: Alto", "Name: Bo · Voice: Bass", "Name: Cy · Voice: Alto"]
    assert value("How many altos are there?", choir) == "2"
    assert value("How many basses are there?", choir) is None
    assert value("How many altos are there?", [f"{row} · Copies: 3" for row in choir]) is None
    assert value("How many carrots?", ["Food: Carrots · Amount: 3 g", "Food: Carrots · Amount: 4 g"]) is None


def test_the_name_of_a_column_may_be_that_of_a_unit() -> None:
    germs = ["Bacteria: A · Gram_Staining: positive", "Bacteria: B · Gram_Staining: negative"]
    assert value("How many of the bacteria are gram positive?", germs) == "1"
    needed = ["Bacteria: A · Neomycin: 1", "Bacteria: B · Neomycin: 40"]
    assert value("Which bacterium needs the most neomycin?", needed) == "40"


SHIFTS = [
    "date: 2026-03-02 · who: Ann · site: Mill · hours: 3.5 · visitors: 41",
    "date: 2026-03-02 · who: Tom · site: Dock · hours: 4 · visitors: 28",
    "date: 2026-03-09 · who: Ann · site: Dock · hours: 2 · visitors: 19",
]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What is the total of hours?", "9.5"),
        ("How many hours were booked in total on Dock?", "6"),
        ("How many hours did Ann work altogether?", "5.5"),
        ("How many visitors in total?", "88"),
    ],
)
def test_what_is_of_one_day_each_adds_up_over_days(question: str, answer: str) -> None:
    assert value(question, SHIFTS) == answer


def test_what_holds_at_a_time_is_not_added_up_over_days() -> None:
    states = [row.replace("hours", "members").replace("visitors", "meter km") for row in SHIFTS]
    assert value("What is the total of members?", states) is None
    assert value("What is the total of the meter km?", states) is None


def test_what_is_left_out_is_said() -> None:
    rows = ["Farm: A · Sheep: 4", "Farm: B · Sheep: n/a", "Farm: C · Sheep: 9", "Farm: Total · Sheep: 13"]
    found = computed("What is the average number of sheep?", rows)
    assert found is not None and found.computation.value == "6.5"
    assert found.computation.left_out == ("1 row without a value of Sheep", "1 row of totals")
    assert (found.computation.rows, found.computation.table_rows) == (2, 4)


@pytest.mark.parametrize(
    ("cells", "kind", "unit"),
    [
        (["2,940", "12"], ColumnKind.NUMBER, ""),
        (["35 EUR", "12 €"], ColumnKind.NUMBER, "eur"),
        (["€1,200", "€80"], ColumnKind.NUMBER, "eur"),
        (["−20 °C", "4 °C"], ColumnKind.NUMBER, "°c"),
        (["6 %", "19 %"], ColumnKind.NUMBER, "%"),
        (["1 day", "30 days", "—"], ColumnKind.NUMBER, "day"),
        (["1,5", "12,25"], ColumnKind.NUMBER, ""),
        (["2024-05-03", "2023-01-31"], ColumnKind.DATE, ""),
        (["3 May 2024", "14 January 2021"], ColumnKind.DATE, ""),
        (["13/03/2024", "05/04/2024"], ColumnKind.DATE, ""),
        (["18:30", "9:05"], ColumnKind.TIME, ""),
        (["yes", "no"], ColumnKind.FLAG, ""),
        (["05/03/2024", "06/04/2024"], ColumnKind.TEXT, ""),
        (["1.234", "2.500"], ColumnKind.TEXT, ""),
        (["300 g", "2 kg"], ColumnKind.TEXT, ""),
        (["30", "12 EUR"], ColumnKind.TEXT, ""),
        (["ca. 30", "12"], ColumnKind.TEXT, ""),
        (["3.61 m (1987)", "4 m"], ColumnKind.TEXT, ""),
        (["007", "12"], ColumnKind.TEXT, ""),
        (["2015-2024", "12"], ColumnKind.TEXT, ""),
        (["none", "12"], ColumnKind.TEXT, ""),
        (["2024-02-31", "2024-01-01"], ColumnKind.TEXT, ""),
        (["—", ""], ColumnKind.TEXT, ""),
    ],
)
def test_a_column_is_of_one_kind_or_text(cells: list[str], kind: ColumnKind, unit: str) -> None:
    found = column_values(cells)
    assert (found.kind, found.unit) == (kind, unit)


def test_numbers_are_read_as_they_are_written() -> None:
    assert column_values(["1,5", "12,25"]).values == (Decimal("1.5"), Decimal("12.25"))
    assert column_values(["$870K", "$3.14M", "$12"]).values == (
        Decimal(870_000),
        Decimal(3_140_000),
        Decimal(12),
    )
    assert column_values(["870k", "3.14M"]).values == (Decimal(870_000), Decimal(3_140_000))
    assert column_values(["870 kg", "3.14 M"]).kind is ColumnKind.TEXT
    assert column_values(["12", "3.14 M"]).kind is ColumnKind.TEXT, "metres, or millions?"
    assert column_values(["$1.2M", "€870K"]).kind is ColumnKind.TEXT
    assert column_values(["1.234,50", "7,00"]).values == (Decimal("1234.50"), Decimal("7.00"))
    assert quantity("€1,200.50") == (Decimal("1200.50"), "eur")
    assert quantity("12 apples and pears") is None


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Which farm had the lowest level?", ["Farm: A · Highest level: 3", "Farm: B · Highest level: 4"]),
        ("What is the total level?", ["Farm: A · Average level: 3", "Farm: B · Average level: 4"]),
        ("Which farm has the most sheep?", ["Farm: A · Sheep sold: 3", "Farm: B · Sheep bought: 4"]),
        ("How many items are there?", ["Item: A · Quantity: 3", "Item: B · Quantity: 4"]),
        ("Which farm has the most reed?", ["Farm: A · Height of reed: 3", "Farm: B · Height of reed: 4"]),
    ],
)
def test_a_column_with_another_meaning_is_not_taken(question: str, rows: list[str]) -> None:
    assert computed(question, rows) is None


def test_a_number_in_brackets_in_a_cell_is_no_citation_of_the_answer() -> None:
    rows = ["Farm: North [1] · Sheep: 12", "Farm: South [2] · Sheep: 30", "Farm: Hill [1] · Sheep: 40"]
    found = computed("Which farm has the most sheep?", rows)
    assert found is not None and found.text.startswith("Hill ‹1› has the most")
    assert [(found.text[mark.start : mark.end], mark.key) for mark in found.marks] == [("[1]", 1)]
    assert found.text.count("[") == 1


def test_what_is_computed_for_a_doubtful_question_is_to_be_checked() -> None:
    found = computed("Which farm has the most sheep?", ["Farm: North · Sheep: 12", "Farm: Hill · Sheep: 40"])
    assert found is not None
    assert result_of(show_computed(found, sure=True)).status is Status.ANSWERED
    assert result_of(show_computed(found, sure=False)).status is Status.UNSURE


@pytest.mark.parametrize(
    ("header", "question", "answer"),
    [
        ("Nitrate mg/l", "Which site has the highest nitrate?", "Birch Weir"),
        ("Lead µg/l", "Which site has the lowest lead?", "Alder Burn"),
        ("Area ha", "Which site has the largest area?", "Birch Weir"),
        ("Area km2", "Which site has the largest area?", "Birch Weir"),
        ("Memory GB", "Which site has the most memory?", "Birch Weir"),
    ],
)
def test_a_unit_behind_the_name_of_a_column_needs_no_mention(header: str, question: str, answer: str) -> None:
    cells = (("Alder Burn", "4.2"), ("Birch Weir", "11.8"), ("Crow Pool", "7.5"))
    found = computed(question, [f"Site: {site} · {header}: {cell} · pH: 7.1" for site, cell in cells])
    assert found is not None and answer in found.text


def cards(*names: str) -> list[Passage]:
    """The events of a calendar, each below its name, with a note between them."""
    text, blocks = "", []
    for name in names:
        for kind, part in (
            (BlockKind.HEADING, name),
            (BlockKind.ROW, f"Event: {name} · When: 2025-06-0{len(name)}"),
            (BlockKind.PARAGRAPH, "Bring gloves."),
        ):
            blocks.append(Block(kind, len(text), len(text) + len(part), int(kind is BlockKind.HEADING)))
            text += f"{part}\n\n"
    return [
        Passage("c", "h", "/club.ics", "Rowing club", "", None, 0, len(text), text, 0, blocks=tuple(blocks))
    ]


@pytest.mark.parametrize(
    "question",
    [
        "How many events are there in the rowing club calendar?",
        "How many events are there?",
        "Wie viele Termine stehen im Kalender?",
    ],
)
def test_the_events_of_a_calendar_are_counted(question: str) -> None:
    (table,) = tables_of(cards("Gala", "Lift", "Dinner"))
    form = recognised(question)
    match = matched(form, table) if form else None
    found = aggregated(match) if match else None
    assert found is not None and found.computation.value == "3"


KURSE = ["Titel: Yoga · Tag: Mittwoch · Gebühr: 89,00", "Titel: Töpfern · Tag: Dienstag · Gebühr: 165,00"]
PUPILS = ["Name: Ann · Level: beginner", "Name: Bo · Level: expert", "Name: Cy · Level: beginner"]
SEATS = ["district: Est · winner: Joly", "district: Ouest · winner: Coderre", "district: Nord · winner: Joly"]
LOG = ["Day: 1 · km: 11", "Day: 2 · km: 19"]
TOOLS = ["Tool: Saw · Shelf: A3 · Value EUR: 980", "Tool: Drill · Shelf: A1 · Value EUR: 420"]
STAFF = ["Name: Ann · Salary: 900", "Name: Bob · Salary: 700"]
ARTIKEL = ["Artikelnr.: K-15 · Ware: Kalk · Preis: 62,50", "Artikelnr.: K-16 · Ware: Ocker · Preis: 71,90"]
GERAETE = ["Gerät: Säge · Wert €: 980", "Gerät: Bohrer · Wert €: 420"]


@pytest.mark.parametrize(
    ("question", "rows", "answer"),
    [
        ("Welcher Titel ist am teuersten?", KURSE, "165,00"),
        ("Welcher Titel ist am günstigsten?", KURSE, "89,00"),
        ("Wie viele Titel gibt es?", KURSE, "2"),
        ("Wie viele Titel gibt es nicht?", KURSE, None),
        ("How many pupils are beginners?", PUPILS, "2"),
        ("How many boats are beginners?", PUPILS, None),
        ("How many members are there?", PUPILS, None),
        ("How many people are there?", PUPILS, "3"),
        ("How many districts did Joly win?", SEATS, "2"),
        ("How many kilometres in total did we paddle?", LOG, "30"),
        ("How many kilometres in total did Ann paddle?", LOG, None),
        ("Which tool is worth the most?", TOOLS, "980"),
        ("Which tool is worth the least?", TOOLS, "420"),
        ("Which shelf is worth the most?", LOG, None),
        ("Who earns the most?", STAFF, "900"),
        ("Welches Gerät ist am meisten wert?", GERAETE, "980"),
        ("Wie viele Artikel gibt es?", ARTIKEL, "2"),
        ("How many cellar keys are there?", ["Key: Cellar · Number: 2", "Key: Flat · Number: 3"], None),
        ("Welcher Artikel ist am teuersten?", ARTIKEL, "71,90"),
        ("Which device has the most power?", ["Item: Spot · Power: 90", "Item: Wash · Power: 30"], "90"),
        ("Which item is the most expensive?", ["Item: Mast · Buy €: 90", "Item: Oar · Buy €: 30"], "90"),
    ],
)
def test_what_is_counted_and_compared_in_other_words(
    question: str, rows: list[str], answer: str | None
) -> None:
    assert value(question, rows) == answer


def test_a_row_with_a_number_is_told_with_the_column_that_tells_rows_apart() -> None:
    rows = [
        f"ID: {number} · Type: {kind} · Name: {name} · Elevation: {height}"
        for number, (kind, name, height) in enumerate(
            [
                ("City", "Quito", 2850),
                ("Mountain", "Aconcagua", 6959),
                ("City", "Rye", 4),
                ("Mountain", "Etna", 3357),
            ]
        )
    ]
    found = computed("What is the highest mountain?", rows)
    assert found is not None and found.text.startswith("The highest: Elevation 6959, for ID 1 (Aconcagua)")


def test_a_row_with_a_code_is_told_with_its_name() -> None:
    found = computed("Welcher Artikel ist am teuersten?", ARTIKEL)
    assert found is not None and found.text.startswith("K-16 (Ocker) is the most expensive")
    alike = [row.replace("Ware: Kalk", "Ware: Ocker") for row in ARTIKEL]
    found = computed("Welcher Artikel ist am teuersten?", [*alike, alike[0].replace("62", "61")])
    assert found is not None and found.text.startswith("K-16 is the most expensive"), "it names no row"


def test_a_row_of_codes_goes_by_its_name_too() -> None:
    """A symbol is no name to whoever does not know it: "Re" is Rhenium."""
    rows = [
        f"id: {symbol} · number: {number} · name (en): {name} · boilingpoint: {point}"
        for symbol, number, name, point in (("Re", 75, "Rhenium", 5870), ("W", 74, "Tungsten", 5825))
    ]
    found = computed("Which has the highest boilingpoint?", rows)
    assert found is not None and found.text.startswith("Re (Rhenium) has the highest")


def test_what_is_heaviest_is_told_by_no_number_that_is_no_weight() -> None:
    rows = [
        f"name: {name} · sleep_total: {hours} · bodywt: {kg}"
        for name, hours, kg in (("Bat", 19.7, 0.02), ("Cow", 4, 600), ("Dog", 10, 14))
    ]
    assert value("Which is the heaviest mammal in the sleep data?", rows) is None
    loads = [f"Truck: {truck} · Load: {load}" for truck, load in zip("ABC", (12, 20, 9), strict=True)]
    assert value("Which truck has the heaviest load?", loads) == "20"
