"""Tables of plain text that are laid out with spaces become rows with the names of their columns."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.documents.block_text import BlockText
from localcrag.documents.delimited_tables import delimited_tables
from localcrag.documents.fixed_width_tables import with_rows
from localcrag.documents.formats import Markup
from localcrag.documents.html_blocks import add_html
from localcrag.documents.mail_body import add_mail_text
from localcrag.documents.structure import structured
from localcrag.types import BlockKind, Page

SITES = """Site        Nitrate mg/l   Date
Alder Burn  4.2            2024-03-01
Mill Pond   11.0           2024-03-02
Gull Weir   -              2024-03-02
"""
SITE_ROWS = [
    "Site: Alder Burn · Nitrate mg/l: 4.2 · Date: 2024-03-01",
    "Site: Mill Pond · Nitrate mg/l: 11.0 · Date: 2024-03-02",
    "Site: Gull Weir · Nitrate mg/l: - · Date: 2024-03-02",
]


def rows(text: str) -> list[str]:
    laid, blocks = with_rows(text)
    return [laid[block.start : block.end] for block in blocks]


def told(page: Page) -> list[tuple[BlockKind, str]]:
    return [(block.kind, page.text[block.start : block.end]) for block in page.blocks]


def test_a_table_becomes_rows_and_the_text_around_it_stays() -> None:
    text = f"The survey of March.\nTable 2: the becks\n{SITES}It rained.\n"
    page = structured(Page(None, text), Markup.PROSE)
    assert told(page) == [
        (BlockKind.PARAGRAPH, "The survey of March.\nTable 2: the becks"),
        *((BlockKind.ROW, row) for row in SITE_ROWS),
        (BlockKind.PARAGRAPH, "It rained."),
    ]
    assert page.text.startswith("The survey of March.\nTable 2: the becks\n\nSite: Alder Burn")


def test_numbers_aligned_to_the_right_and_rules() -> None:
    text = """Item            Price    Stock
------------------------------
Oak plank        12.50       4
Nails, box        3.20     120
------------------------------
Total            15.70     124
"""
    assert rows(text) == [
        "Item: Oak plank · Price: 12.50 · Stock: 4",
        "Item: Nails, box · Price: 3.20 · Stock: 120",
        "Item: Total · Price: 15.70 · Stock: 124",
    ]
    assert rows("id   name\n---- ---------\n1    Ann Smith\n22   Bo\n") == [
        "id: 1 · name: Ann Smith",
        "id: 22 · name: Bo",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "Item\tEUR\tUnit\noak\t3\tm\npine\t2\tm\n",
            ["Item: oak · EUR: 3 · Unit: m", "Item: pine · EUR: 2 · Unit: m"],
        ),
        (
            "+----+------+\n| id | name |\n+----+------+\n|  1 | Ann  |\n|  2 | Bo   |\n+----+------+\n",
            ["id: 1 · name: Ann", "id: 2 · name: Bo"],
        ),
        (
            "POD     STATUS\nweb-1   Running\ndb-0    Waiting\n",
            ["POD: web-1 · STATUS: Running", "POD: db-0 · STATUS: Waiting"],
        ),
        (
            "Town     2021   2022\nBerlin     12     14\nOslo        3      4\n",
            ["Town: Berlin · 2021: 12 · 2022: 14", "Town: Oslo · 2021: 3 · 2022: 4"],
        ),
        (
            "Plot  Crop          kg\n4     beans and the   7\n      last peas\n5     kale            9\n",
            ["Plot: 4 · Crop: beans and the last peas · kg: 7", "Plot: 5 · Crop: kale · kg: 9"],
        ),
        (
            "Item   EUR\nOak    3.20\nPine   2.10\nElm    7.0\n\nWell  Depth\nCop   30\nBurn  22\nFen   19\n",
            [
                *("Item: Oak · EUR: 3.20", "Item: Pine · EUR: 2.10", "Item: Elm · EUR: 7.0"),
                *("Well: Cop · Depth: 30", "Well: Burn · Depth: 22", "Well: Fen · Depth: 19"),
            ],
        ),
    ],
)  # fmt: skip
def test_other_layouts(text: str, found: list[str]) -> None:
    assert rows(text) == found


@pytest.mark.parametrize(
    "text",
    [
        "Name       Ann Smith\nPhone      555 0142\nAge        42\nZip        8001\n",
        "Ann Smith   Engineer    Berlin\nBo Lund     Designer    Oslo\nCy Young    Manager     Rome\n",
        "2024-01-01 12:00  INFO   start\n2024-01-01 12:01  WARN   slow\n2024-01-01 12:02  INFO   end\n",
        "Name: Ann        Date: 3 May\n\nStreet: x        City: y\n\nTotal: 3         Z: 4\n",
        "A column of prose  and here stands\ndown the page in   the second one\n2024 was wet       of it\n",
        "Site  Nitrate\nAlder Burn  4.2\nMill 11  x\n",
        "Look   white, dry  yellow\nSmell  no          bath\npH     14          11\nMass   1.1         1\n",
        "Ann,Bo,Cy\nDee,Ed,Flo\nGus,Hal,Ida\nJo,Kai,Lu\n",
        "Ann, aged, 42\nBo, aged, 43\nCy, aged, 44\nDee, aged, 45\n",
        'She said "no" "never"\nand 12 13\nand 14 15\nand 16 17\n',
        "a,b,c\n1,2,3\n4,5\n6,7,8\n",
        "|usr_26.txt|  Repeating\n\t|26.1|\tLines\n\t|26.2|\tAdding\n\t|26.3|\tChanging\n",
    ],
)
def test_what_is_not_sure_stays_as_it_is(text: str) -> None:
    assert with_rows(text) == (text, [])


FRAMED = """----------------------------------
|          |          |           |
| Left     | Middle   | Right     |
|          |          |           |
----------------------------------
|          |          |           |
| 3 panes  | 1 pane   | 2 panes   |
----------------------------------
"""


def test_blank_rows_of_a_frame_are_passed_over() -> None:
    assert rows(FRAMED) == ["Left: 3 panes · Middle: 1 pane · Right: 2 panes"]


def test_a_drawing_without_rows_stays_as_it_is() -> None:
    drawing = (
        FRAMED[: FRAMED.index("|          |          |           |\n| 3")]
        + "|   MERGED                       |\n"
    )
    assert with_rows(drawing) == (drawing, [])


def test_tables_in_mails_and_preformatted_text() -> None:
    made = BlockText()
    add_mail_text(made, f"Dear all,\nthe results:\n{SITES}\nAda")
    assert told(made.page())[1:-1] == [(BlockKind.ROW, row) for row in SITE_ROWS]
    made = BlockText()
    add_html(made, f"<p>Results</p><pre>\n{SITES}</pre><pre>x  = 1\ny  = 2\n</pre>")
    assert told(made.page()) == [
        (BlockKind.PARAGRAPH, "Results"),
        *((BlockKind.ROW, row) for row in SITE_ROWS),
        (BlockKind.CODE, "x  = 1\ny  = 2"),
    ]


@given(st.text(alphabet="ab1 \t|-\n", max_size=300))
def test_blocks_are_places_in_the_text(text: str) -> None:
    laid, blocks = with_rows(text)
    assert all(laid[block.start : block.end].strip() for block in blocks)
    page = structured(Page(None, text), Markup.PROSE)
    ends = [0, *(block.end for block in page.blocks)]
    assert all(end <= block.start < block.end for end, block in zip(ends, page.blocks, strict=False))


@pytest.mark.parametrize(
    "line", ["word  word\n", "word\n", "a\tb\n", "1  2  3\n", "a | b\n", "----  --\n", "x  \n\n"]
)
def test_long_texts_take_time_in_proportion(line: str) -> None:
    text = line * 20_000
    start = time.process_time()
    with_rows(text)
    assert time.process_time() - start < 10


BLOCKS = """     Compress   Decompress  Corpus
Flag    usage        usage   Size

 -1     1200k         500k   914704
 -2     2000k         900k   877703
 -9     7600k        3700k   828642
"""


def test_a_header_of_several_lines_that_a_blank_line_sets_apart_from_rows_of_numbers() -> None:
    assert rows(BLOCKS)[1] == (
        "Flag: -2 · Compress / usage: 2000k · Decompress / usage: 900k · Corpus / Size: 877703"
    )
    assert len(rows(BLOCKS)) == 3
    assert not rows(BLOCKS.replace("900k", "a few")), "what is no number may be a sentence"
    assert rows(BLOCKS.replace("usage   Size", "usage"))[0].endswith("usage: 500k · Corpus: 914704")
    assert not rows(BLOCKS.replace("usage   Size", "usage").replace("Corpus", "")), "a column has no name"


RACES = """           Disarm Search Stealth Infra

Human         5      5      5    None
Half-Elf      6      7      7    20 feet
Dwarf         6      8      3    50 feet
"""
CLASSES = """                   Save  Stea-        Magic
        Fight Bows Throw  lth  Disarm Device

Warrior  10     6    3     2      4      3
Mage      2     1   10     5      6     10
Priest    4     3    6     5      3      8
"""


def test_names_that_one_blank_parts_are_of_the_column_that_each_stands_above() -> None:
    assert rows(RACES)[2] == "Dwarf · Disarm: 6 · Search: 8 · Stealth: 3 · Infra: 50 feet"
    assert rows(CLASSES)[1] == (
        "Mage · Fight: 2 · Bows: 1 · Save Throw: 10 · Stealth: 5 · Disarm: 6 · Magic Device: 10"
    )
    choices = RACES.replace("50 feet", "Yes").replace("20 feet", "No")
    assert rows(choices)[2].endswith("Infra: Yes")
    assert not rows(RACES.replace("50 feet", "far and wide")), "what is no value may be a sentence"


def test_any_number_of_tabs_parts_the_cells_and_a_note_behind_belongs_to_the_last() -> None:
    table = """Gear\tLeast speed\tMost speed
----\t-----------\t----------
  1\t\t10\t\t35
  2\t\t20\t\t 50\t\tusual on most roads
 16\t\t30\t\t 80\t\t""
"""
    assert rows(table) == [
        "Gear: 1 · Least speed: 10 · Most speed: 35",
        "Gear: 2 · Least speed: 20 · Most speed: 50 – usual on most roads",
        "Gear: 16 · Least speed: 30 · Most speed: 80",
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            'id,stop_name,lat\n1,"Pier, north",54.1\n2,Mill,54.2\n3,,54.3\n',
            [
                "id: 1 · stop_name: Pier, north · lat: 54.1",
                "id: 2 · stop_name: Mill · lat: 54.2",
                "id: 3 · lat: 54.3",
            ],
        ),
        (
            "Site|En No|State|\nPilgrim|46521|MA|\nKewaunee|46562||\nOyster|46563|NJ|\n",
            [
                "Site: Pilgrim · En No: 46521 · State: MA",
                "Site: Kewaunee · En No: 46562",
                "Site: Oyster · En No: 46563 · State: NJ",
            ],
        ),
        (
            "Ort;Jahr;Menge\nKiel;2020;1,5\nBonn;2021;1,7\nUlm;2022;2,5\n",
            [
                "Ort: Kiel · Jahr: 2020 · Menge: 1,5",
                "Ort: Bonn · Jahr: 2021 · Menge: 1,7",
                "Ort: Ulm · Jahr: 2022 · Menge: 2,5",
            ],
        ),
        (
            '"district" "people"\n"SK Ulm" 117233\n"LK Calw" NA\n"LK Biberach" 180000\n',
            [
                "district: SK Ulm · people: 117233",
                "district: LK Calw · people: NA",
                "district: LK Biberach · people: 180000",
            ],
        ),
        (
            '"mpg" "cyl"\n"Fiat 128" 32.4 4\n"Merc 450" 16.4 8\n"Duster" 14.3 8\n',
            [
                "name: Fiat 128 · mpg: 32.4 · cyl: 4",
                "name: Merc 450 · mpg: 16.4 · cyl: 8",
                "name: Duster · mpg: 14.3 · cyl: 8",
            ],
        ),
    ],
)
def test_cells_that_are_parted_by_commas_or_semicolons_or_quoted(text: str, found: list[str]) -> None:
    assert rows(text) == found
    laid, _ = with_rows(f"Notes first.\n\n{text}\nAnd a word after it.\n")
    assert laid.startswith("Notes first.\n\n") and laid.endswith("\nAnd a word after it.\n")
    assert all(row in laid for row in found)


def test_tables_whose_cells_blanks_part_are_rows() -> None:
    nations = "  TFR contraception  GDP region\n" + "".join(
        f"Land-{letter}      2.{at} {at if at % 2 else 'NA'}   28{at}  Asia\n"
        for at, letter in enumerate("abcdefghi")
    )
    found = rows(nations)
    assert found[0] == "name: Land-a · TFR: 2.0 · contraception: NA · GDP: 280 · region: Asia"
    assert len(found) == 9
    weeks = "week    observed state\n" + "".join(f"19900{at}\t{at}\t  0\n" for at in range(1, 10))
    assert rows(weeks)[0] == "week: 199001 · observed: 1 · state: 0" and len(rows(weeks)) == 9
    mice = "strain sex weight\n" + "".join(f"C57/{at} f 2{at} \n" for at in range(9))
    assert not rows(mice), "one column of numbers is not enough"
    mice = mice.replace("weight\n", "weight density\n").replace(" \n", " 0.06\n")
    assert rows(mice)[0] == "strain: C57/0 · sex: f · weight: 20 · density: 0.06" and len(rows(mice)) == 9
    for other in (
        nations.strip(),
        nations.replace("Asia\n", "\n"),
        f"{nations}and so on\n",
        "\n".join(nations.split("\n")[:8]),
        "we said it once\n" + "and then it was said\n" * 9,
    ):
        assert not [*delimited_tables(other.rstrip("\n").split("\n"))], other


def test_many_lines_with_as_many_semicolons_are_rows_without_names() -> None:
    stations = [
        f"BI{letter}R;04;0{at}5;Port {letter};;Iceland;6" for at, letter in enumerate("ABCDEFGHIJKLM")
    ]
    assert rows("\n".join(stations))[:1] == [
        "column 1: BIAR · column 2: 04 · column 3: 005 · column 4: Port A · column 6: Iceland · column 7: 6"
    ]
    assert len(rows("\n".join(stations))) == 13
    assert rows("\n".join(stations[:11])) == [], "too few"
    assert rows("\n".join(line.replace(";", "; ") for line in stations)) == [], "sentences"
    assert (
        rows("\n".join(line.replace("0", "o").replace("6", "x").replace("5", "y") for line in stations)) == []
    )
    assert rows("\n".join(f"a[{at}] = 1; b = 2; c = 3; d;" for at in range(20))) == [], "code"
