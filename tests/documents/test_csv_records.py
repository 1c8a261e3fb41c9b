"""Files of rows without a header, and texts that are such files."""

from __future__ import annotations

import pytest

from localcrag.documents.extracted import Limits
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers import parse
from localcrag.documents.readers.csv_records import as_rows, has_no_header

TOWNS = [
    "Aix",
    "Arles",
    "Auch",
    "Brest",
    "Caen",
    "Dax",
    "Foix",
    "Gap",
    "Laon",
    "Lille",
    "Lyon",
    "Metz",
    "Nancy",
    "Nice",
    "Paris",
    "Rennes",
]
HARBOURS = ["Ashcombe", "Bellport", "Corrie", "Dunmore", "Elgin", "Fowey", "Girvan", "Helford", "Iona"]


def parsed(format_: DocumentFormat, text: str) -> tuple[str, str]:
    """The text of a document, and its media type."""
    read = parse(format_, text.encode(), Limits())
    return read.pages[0].text, read.media_type


def test_the_first_of_names_in_order_is_a_row() -> None:
    text = "\n".join(f"{town},{town[::-1]}ia" for town in TOWNS)
    assert parsed(DocumentFormat.CSV, text)[0].startswith("column 1: Aix · column 2: xiAia\ncolumn 1: Arles")


def test_the_first_of_codes_is_a_row() -> None:
    text = "\n".join(f"{name};{name[:3].upper()}" for name in HARBOURS)
    shown = parsed(DocumentFormat.CSV, text)[0]
    assert shown.startswith("column 1: Ashcombe · column 2: ASH\n")
    assert shown.count("column 1: ") == len(HARBOURS)


@pytest.mark.parametrize(
    "header",
    ["Town,Twin", "Alphabetical name,Twin", "aname,twin", "Azur,Azur code", "Zed,Twin", "Bruges,Ghent"],
)
def test_names_of_columns_are_a_header(header: str) -> None:
    rows = [header, *(f"{town},{town[::-1]}ia" for town in TOWNS)]
    assert not has_no_header([row.split(",") for row in rows])


def test_few_rows_or_rows_of_several_lengths_tell_nothing() -> None:
    rows = [[town, town[::-1]] for town in TOWNS]
    assert has_no_header(rows)
    assert not has_no_header(rows[:7])
    assert not has_no_header([*rows, ["Tours"]])
    assert not has_no_header([["Aix", ""], *rows[1:]])
    assert not has_no_header([[town.lower(), "x"] for town in TOWNS])


DEPTHS = "\n".join(f"{name}\tScotland\t{at * 1.5}" for at, name in enumerate(HARBOURS))


def test_a_text_whose_lines_have_as_many_cells_is_read_as_rows() -> None:
    text, media_type = parsed(DocumentFormat.TEXT, f"# Depths in metres\n{DEPTHS}\n")
    assert media_type == MEDIA_TYPES[DocumentFormat.CSV]
    assert text.startswith("Depths in metres\n\ncolumn 1: Ashcombe · column 2: Scotland · column 3: 0.0\n")


@pytest.mark.parametrize(
    "text",
    [
        DEPTHS.replace("\t", " | "),
        DEPTHS.replace("\t", ";"),
        DEPTHS.replace("\t", ","),
        "name\tland\tdepth\n" + DEPTHS,
    ],
)
def test_such_a_text_may_be_parted_otherwise_and_have_a_header(text: str) -> None:
    assert as_rows(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(DEPTHS.split("\n")[:6]),
        DEPTHS + "\nThese were measured in June.",
        DEPTHS.replace("Scotland\t", ""),
        "\n".join(f"{name}, who came, and went, again" for name in HARBOURS),
        DEPTHS.replace("Corrie", '"Corrie'),
        "",
    ],
)
def test_other_texts_stay_texts(text: str) -> None:
    assert as_rows(text) is None
    if text:
        assert parsed(DocumentFormat.TEXT, text)[1] == MEDIA_TYPES[DocumentFormat.TEXT]


def test_bars_of_which_all_lines_have_as_many_part_cells_that_are_full_of_commas() -> None:
    rows = [f"{name}|sand, mud, and rock|{at}" for at, name in enumerate(HARBOURS)]
    text = parsed(DocumentFormat.CSV, "\n".join(["Harbour|Ground, as seen|Depth", *rows, ""]))[0]
    assert "Harbour: Bellport · Ground, as seen: sand, mud, and rock · Depth: 1" in text


def test_pairs_that_tabs_part_are_rows() -> None:
    pairs = "\n".join(f"{town}\t{town[::-1]}ia" for town in TOWNS)
    text, media_type = parsed(DocumentFormat.TEXT, pairs)
    assert media_type == MEDIA_TYPES[DocumentFormat.CSV]
    assert "\ncolumn 1: Brest · column 2: tserBia\n" in text
    assert as_rows(pairs.replace("Caen", "Caen\tCalvados")) is None
    assert as_rows("\n".join(f"{town}\t" for town in TOWNS)) is None
    assert as_rows("\n".join(f"{town}\t{town * 20}" for town in TOWNS)) is None


def test_letters_with_accents_are_in_order_with_the_others() -> None:
    names = ["Ägypten", *(f"B{town}" for town in TOWNS)]
    assert not has_no_header([[name, "X"] for name in names])
    assert has_no_header([[name, "X"] for name in ["Agypta", *names]])


def test_lines_of_as_many_words_are_rows_if_two_are_numbers() -> None:
    stars = "".join(f"{town} {at}.{at} {5000 + at} G{at} \n" for at, town in enumerate(TOWNS))
    text, media_type = parsed(DocumentFormat.TEXT, stars)
    assert media_type == MEDIA_TYPES[DocumentFormat.CSV]
    assert text.startswith("column 1: Aix · column 2: 0.0 · column 3: 5000 · column 4: G0\n")
    headed = parsed(DocumentFormat.TEXT, "star magnitude kelvin class\n" + stars)[0]
    assert headed.startswith("star: Aix · magnitude: 0.0 · kelvin: 5000 · class: G0\n")
    assert as_rows("\n".join(f"{town} is {at} here" for at, town in enumerate(TOWNS))) is None
    assert as_rows(stars + "and one more\n") is None
    mixed = "star magnitude  kelvin class\n" + stars.replace(" ", "\t")
    assert parsed(DocumentFormat.TEXT, mixed)[0] == headed
