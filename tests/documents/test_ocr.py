"""Images: skipped with the way to read them, read by a stand-in for the engine, and by the engine itself."""

from __future__ import annotations

import io
import socket
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pypdfium2
import pytest
from PIL import Image

from localcrag.documents import format_names, process_pool
from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.format_names import can_recognise
from localcrag.documents.readers import ocr
from localcrag.documents.readers import pdf as reader
from localcrag.documents.readers.ocr import add_recognised, read_image, scanned_page
from localcrag.documents.readers.recognised_text import RecognisedLine
from localcrag.documents.readers.recognised_words import recognised_line, slope_of
from localcrag.documents.readers.scan_layout import paragraphs_of
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page, WordBox
from tests.documents.builders import FOX, pdf, zipped
from tests.documents.conftest import ReadFunction


def image(name: str = "PNG", pages: int = 1) -> bytes:
    out = io.BytesIO()
    frames = [Image.new("RGB", (40, 20), "white") for _ in range(pages)]
    extra = {"save_all": True, "append_images": frames[1:]} if pages > 1 else {}
    frames[0].save(out, name, **extra)
    return out.getvalue()


def line(text: str, left: float, top: float, right: float, height: float = 10) -> RecognisedLine:
    return RecognisedLine(text, (left, top, right, top + height))


def corners(left: float, top: float, right: float, bottom: float) -> list[tuple[float, float]]:
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def texts(lines: list[RecognisedLine]) -> list[str]:
    return [paragraph.text for paragraph in paragraphs_of(lines)]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that finds two lines in every image."""
    found = SimpleNamespace(
        txts=("second line", " Some"),
        boxes=[corners(0, 30, 90, 40), corners(0, 10, 90, 20)],
        word_results=(
            (("second", 0.9, corners(0, 30, 48, 40)), ("line", 0.9, corners(56, 30, 88, 40))),
            (("Some", 0.9, corners(0, 10, 32, 20)),),
        ),
    )
    for module in (format_names, ocr, reader):
        monkeypatch.setattr(module, "can_recognise", lambda: True)
    monkeypatch.setattr(ocr, "_engine", lambda: lambda pixels, return_word_box: found)


@pytest.fixture
def without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (format_names, ocr, reader):
        monkeypatch.setattr(module, "can_recognise", lambda: False)


def test_a_reader_that_recognises_text_may_use_more_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets = []
    for can in (False, True):
        monkeypatch.setattr(process_pool, "can_recognise", lambda can=can: can)
        monkeypatch.setattr(process_pool, "memory_budget", lambda wanted: wanted)
        budgets.append(process_pool.reading_budget(0).memory)
    assert budgets == [process_pool.MAX_READ_MEMORY, 2 * process_pool.MAX_READ_MEMORY]


@pytest.mark.usefixtures("without_engine")
@pytest.mark.parametrize("name", ["x.png", "x.JPG", "x.tiff", "x.webp", "x"])
def test_an_image_is_skipped_with_the_way_to_read_it(read: ReadFunction, name: str) -> None:
    with pytest.raises(UnreadableError, match=r"^an image: localcrag\[ocr\] reads it$") as caught:
        read(name, image())
    assert "pip install" in caught.value.hint


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "BMP", "WEBP"])
def test_an_image_gives_the_paragraphs_that_are_recognised(read: ReadFunction, kind: str) -> None:
    document = read(f"scan.{kind.lower()}", image(kind))
    assert document.media_type == f"image/{kind.lower()}" and document.title == "scan"
    assert [(page.number, page.text) for page in document.pages] == [(None, "Some second line")]


@pytest.mark.usefixtures("engine")
def test_a_tiff_has_pages_and_a_zip_may_hold_scans(read: ReadFunction) -> None:
    assert [page.number for page in read("fax.tif", image("TIFF", pages=3)).pages] == [1, 2, 3]
    assert read("x.zip", zipped({"a.png": image()})).pages[0].text == "a.png\n\nSome second line"


@pytest.mark.usefixtures("engine")
def test_a_page_of_a_pdf_without_text_is_recognised(read: ReadFunction) -> None:
    document = read("x.pdf", pdf([FOX], [], ["The end."]))
    assert [(page.number, page.text) for page in document.pages] == [
        (1, FOX),
        (2, "Some second line"),
        (3, "The end."),
    ]


@pytest.mark.usefixtures("engine")
def test_images_that_cannot_be_read(monkeypatch: pytest.MonkeyPatch, read: ReadFunction) -> None:
    for data in (b"nothing of the kind", image()[:40]):
        with pytest.raises(UnreadableError, match=r"^damaged image$"):
            read("x.png", data)
    monkeypatch.setattr(ocr, "_MAX_PIXELS", 100)
    with pytest.raises(UnreadableError, match=r"^an image of 0 million pixels \(limit 0\)$"):
        read("x.png", image())


def test_lines_become_paragraphs_by_the_gaps_between_them() -> None:
    lines = [
        line("Title", 0, 0, 50, 20),
        line("The treat-", 0, 30, 90),
        line("ment of", 0, 45, 90),
        line("Anglo-", 0, 60, 90),
        line("Saxon kings.", 0, 75, 90),
        line("35 EUR", 60, 111, 90),
        line("Boat", 0, 110, 40),
    ]
    assert texts(lines) == ["Title", "The treatment of Anglo- Saxon kings.", "Boat 35 EUR"]
    assert texts([]) == []


def test_a_table_in_a_picture_is_read_row_by_row_with_its_headers_and_boxes() -> None:
    cells = [
        ("Group", "Fee", "Due"),
        ("Adults", "84.00 EUR", "31 March"),
        ("Students", "42.50 EUR", "30 April"),
    ]
    cells += [("Guests, per day", "6.00 EUR", "on the day")]
    rows = [
        replace(
            line(text, left, 40 + 20 * n, left + 5 * len(text)),
            words=(WordBox(0, len(text), 0.1, 0.1, 0.2, 0.2),),
        )
        for n, row in enumerate(cells)
        for text, left in zip(row, (0, 150, 300), strict=True)
    ]
    title, after = line("Fees for the season", 0, 0, 95), line("The key costs 25 EUR.", 0, 150, 105)
    found = paragraphs_of([title, *rows, after])
    assert [(each.kind, each.text) for each in found] == [
        (BlockKind.PARAGRAPH, "Fees for the season"),
        (BlockKind.ROW, "Group: Adults · Fee: 84.00 EUR · Due: 31 March"),
        (BlockKind.ROW, "Group: Students · Fee: 42.50 EUR · Due: 30 April"),
        (BlockKind.ROW, "Group: Guests, per day · Fee: 6.00 EUR · Due: on the day"),
        (BlockKind.PARAGRAPH, "The key costs 25 EUR."),
    ]
    boxed = [[each.text[box.start : box.end] for box in each.boxes] for each in found]
    assert boxed == [[], *map(list, cells[1:]), []]


def test_columns_of_text_in_a_picture_are_no_table() -> None:
    said = "and so they went on to see", "what had been left of the old mill"
    lines = [line(text, 200 * at, 20 * n, 200 * at + 150) for n in range(3) for at, text in enumerate(said)]
    assert {each.kind for each in paragraphs_of(lines)} == {BlockKind.PARAGRAPH}


def test_a_letter_with_more_gaps_than_lines_has_its_paragraphs_and_the_lines_of_its_address() -> None:
    head = [line("Larkfield Housing", 0, 0, 40), line("14 Mill Lane", 0, 15, 30)]
    short = [line("2 October", 0, 45, 20), line("Dear Ms Okafor,", 0, 75, 40)]
    body = [line("The boiler was inspected and the", 0, 105, 90), line("valve leaks.", 0, 120, 30)]
    end = [line("Yours,", 0, 150, 15), line("P. Varga", 0, 180, 20)]
    assert texts([*head, *short, *body, *end]) == [
        "Larkfield Housing\n14 Mill Lane",
        "2 October",
        "Dear Ms Okafor,",
        "The boiler was inspected and the valve leaks.",
        "Yours,",
        "P. Varga",
    ]


def test_two_columns_are_read_one_after_the_other() -> None:
    left = [line(f"left {n}", 0, 20 + 15 * n, 90) for n in range(4)]
    right = [line(f"right {n}", 100, 20 + 15 * n, 190) for n in range(4)]
    both = [text for pair in zip(left, right, strict=True) for text in pair]
    title = line("A title above them", 40, 0, 150)
    assert texts([title, *both]) == [
        "A title above them",
        "left 0 left 1 left 2 left 3",
        "right 0 right 1 right 2 right 3",
    ]
    cells = [line(f"{x}{n}", x, 20 + 15 * n, x + 20) for n in range(4) for x in (0, 100, 170)]
    assert len(texts(cells)) == 4 and texts(cells)[0].endswith(": 00 · column 2: 1000 · column 3: 1700")


def test_lines_of_a_script_without_spaces_are_joined_without_one() -> None:
    assert texts([line("汉字没有空格，", 0, 0, 90), line("所以直接相连。", 0, 15, 90)]) == [
        "汉字没有空格，所以直接相连。"
    ]


# ---------------------------------------------------------------------------------- the words' boxes


@pytest.mark.usefixtures("engine")
def test_the_words_of_an_image_keep_their_boxes(read: ReadFunction) -> None:
    (page,) = read("scan.png", image()).pages
    assert [page.text[box.start : box.end] for box in page.boxes] == ["Some", "second", "line"]
    some, second, last = page.boxes
    assert (some.left, some.right) == (0, 32 / 40) and 10 / 20 < some.top < some.bottom < 20 / 20
    assert (second.left, last.left) == (0, 56 / 40) and second.top == last.top
    assert page.boxes_within(0, 5) == (some,) and page.boxes_within(6, 13) == (second, last)


@pytest.mark.usefixtures("engine")
def test_boxes_are_counted_in_the_text_of_a_page_with_several_paragraphs() -> None:
    made = BlockText()
    for _ in range(2):
        add_recognised(made, Image.new("RGB", (100, 50)))
    page = made.page(1)
    assert [page.text[box.start : box.end] for box in page.boxes] == ["Some", "second", "line"] * 2


def words_of(text: str, *pieces: str) -> list[tuple[str, float, float]]:
    """The words of a line of these pieces, each letter 10 pixels wide, in a picture of 100 pixels."""
    given, at = [], 0
    for piece in pieces:
        given.append((piece, 0.9, corners(at, 0, at + 10 * len(piece), 10)))
        at += 10 * len(piece) + 10
    made = recognised_line(text, corners(0, 0, 100, 10), given, (100, 10))
    return [(made.text[box.start : box.end], round(box.left, 2), round(box.right, 2)) for box in made.words]


def test_a_word_has_a_box_around_all_its_pieces() -> None:
    assert words_of("a bcd.", "a", "bcd.") == [("a", 0, 0.1), ("bcd.", 0.2, 0.6)]
    assert words_of("ä  öß", "ä", "ö", "ß") == [("ä", 0, 0.1), ("öß", 0.2, 0.5)]
    assert words_of("汉字 4", "汉", "字", "4") == [("汉", 0, 0.1), ("字", 0.2, 0.3), ("4", 0.4, 0.5)]


def test_without_pieces_that_fit_the_letters_are_taken_for_equally_wide() -> None:
    expected = [("some", 0, 0.4), ("words", 0.5, 1)]
    assert words_of("some words") == expected == words_of("some words", "other", "words")


def test_the_hyphen_that_is_dropped_has_no_box_either() -> None:
    one, two = (recognised_line(text, corners(0, at, 90, at + 10), [], (90, 40)) for text, at in SPLIT)
    (paragraph,) = paragraphs_of([one, two])
    assert [paragraph.text[box.start : box.end] for box in paragraph.boxes] == ["the", "treat", "ment", "of"]


SPLIT = (("the treat-", 0), ("ment of", 15))


# ---------------------------------------------------------------------------------- the engine itself


def test_the_engine_is_forbidden_to_send_usage_data_before_it_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "rapidocr"
    (package / "models").mkdir(parents=True)
    for name in ("ch_det_small.onnx", "ch_rec_small.onnx"):
        (package / "models" / name).touch()
    said = 'import os\nsaid = os.environ.get("ORT_DISABLE_TELEMETRY")\nRapidOCR = lambda params: said\n'
    (package / "__init__.py").write_text(said)
    monkeypatch.delenv(ocr.NO_TELEMETRY, raising=False)
    monkeypatch.setattr(ocr, "can_recognise", lambda: True)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "rapidocr", raising=False)
    try:
        assert ocr._engine.__wrapped__() == "1"
    finally:
        sys.modules.pop("rapidocr", None)  # undoing a deletion would bring the stand-in back


@pytest.mark.skipif(not can_recognise(), reason="rapidocr (localcrag[ocr]) is not installed")
def test_a_rendered_page_is_recognised_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    lines = [FOX, "Category: Motorcycle, fee 35 EUR", "Größe der Dosis: zwei Tabletten täglich"]
    page = pypdfium2.PdfDocument(pdf(lines))[0]  # type: ignore[no-untyped-call]
    page.set_cropbox(60, 740, 340, 800)
    scan = page.render(scale=200 / 72).to_pil()
    found = scanned_page(scan, 3)
    want, got = (Counter(words.split()) for words in (" ".join(lines), found.text))
    assert (want & got).total() >= 0.9 * want.total()
    out = io.BytesIO()
    scan.save(out, "PNG")
    assert read_image(out.getvalue(), Limits()).pages[0].text == found.text
    assert boxes_are_at_their_words(found, page)


def boxes_are_at_their_words(found: Page, page: Any) -> bool:
    """Whether each recognised word has its box where the text layer of the page has the word."""
    layer = page.get_textpage()
    text = layer.get_text_range()
    for box in found.boxes:
        start = text.find(found.text[box.start : box.end])
        if start < 0:
            continue
        places = [layer.get_charbox(at) for at in range(start, start + box.end - box.start)]
        middle = (min(place[0] for place in places) + max(place[2] for place in places)) / 2
        height = (min(place[1] for place in places) + max(place[3] for place in places)) / 2
        across, down = 60 + 280 * (box.left + box.right) / 2, 800 - 60 * (box.top + box.bottom) / 2
        if abs(across - middle) > 6 or abs(down - height) > 4:
            return False
    return len(found.boxes) > 12


def test_narrow_columns_above_a_title_are_read_one_after_the_other() -> None:
    columns = [
        line(f"{name} has said so {number}.", 110 * at, 12 * number, 110 * at + 100)
        for at, name in enumerate(("Ann", "Bob", "Cleo", "Dan"))
        for number in range(9)
    ]
    title = [line("What they all said", 40, 130, 400, 20), line("by Eve Lund", 40, 155, 140)]
    told = texts([*title, *columns])
    assert told[-2:] == ["What they all said", "by Eve Lund"]
    assert told[0].startswith("Ann has said so 0. Ann has said so 1.")
    assert [text.split()[0] for text in told[:-2]] == ["Ann", "Bob", "Cleo", "Dan"]
    cells = [
        line(f"{at}{number}", 110 * at, 12 * number, 110 * at + 90) for at in range(4) for number in range(9)
    ]
    assert "00 · column 2: 10" in texts(cells)[0], "cells of a word are read row by row"


def test_an_installation_that_lacks_a_part_is_a_reason_to_skip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in (("rapidocr", "import a_part_that_is_missing\n"), ("onnxruntime", "")):
        monkeypatch.delitem(sys.modules, name, raising=False)
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    ocr._engine.cache_clear()
    with pytest.raises(UnreadableError, match=r"^rapidocr cannot be loaded: .*a_part_that_is_missing"):
        read_image(image(), Limits())


def test_the_amounts_beside_the_items_of_a_bill_are_no_column_of_text() -> None:
    """They are as wide as one on a narrow bill; no item is the header of the others."""
    found = [
        line("Customs office of Singen", 90, 10, 510),
        line("Reference: AT/C/40/117205", 90, 30, 500),
        line("Recipient: Kettler & Sons", 90, 50, 540),
        line("Duty", 90, 90, 170), line("1,184.60 EUR", 560, 88, 780),
        line("Import turnover tax", 90, 110, 440), line("7,902.15 EUR", 560, 108, 780),
        line("Charge for delay", 90, 130, 430), line("35.00 EUR", 620, 128, 780),
        line("Sum", 90, 170, 190), line("9,121.75 EUR", 560, 168, 780),
    ]  # fmt: skip
    told = texts(found)
    assert "Duty: 1,184.60 EUR" in told and "Import turnover tax: 7,902.15 EUR" in told
    assert "Charge for delay: 35.00 EUR" in told


def test_the_sum_of_a_bill_is_a_line_of_its_own() -> None:
    found = [
        line("Total", 90, 10, 190), line("185.40", 560, 10, 680),
        line("Paid by card", 90, 24, 300), line("Collected: B. Tate", 310, 24, 670),
        line("on the day after the show", 90, 38, 560),
    ]  # fmt: skip
    assert texts(found) == ["Total 185.40\nPaid by card Collected: B. Tate on the day after the show"]


def askew(left: float, top: float, right: float, slope: float) -> list[tuple[float, float]]:
    """The corners of a line of a page that lies askew."""
    return [(x, y + slope * x) for x, y in corners(left, top, right, top + 10)]


@pytest.mark.parametrize(("slope", "found"), [(0.03, 0.03), (-0.03, -0.03), (0.002, 0.0), (0.3, 0.0)])
def test_the_slope_of_a_page_is_that_of_its_long_lines(slope: float, found: float) -> None:
    lines = [askew(0, top, 400, slope) for top in (0, 20, 40)]
    short = [askew(0, 60, 8, 0.5)]
    assert slope_of([*lines, *short]) == pytest.approx(found)
    assert slope_of(short) == slope_of([]) == 0.0


def test_lines_of_a_page_that_lies_askew_stand_beside_one_another() -> None:
    """The right end of the page is a line lower than its left; the words stay where they are on it."""
    told = [
        ("Item", 0, 40),
        ("Price", 500, 560),
        ("Tea", 0, 30),
        ("2.10", 500, 540),
        ("Milk", 0, 40),
        ("0.90", 500, 540),
    ]
    boxes = [askew(left, 14 * (at // 2), right, 0.03) for at, (_, left, right) in enumerate(told)]
    slope = slope_of([askew(0, 0, 400, 0.03)])
    for fall, read in ((slope, ["Item: Tea · Price: 2.10", "Item: Milk · Price: 0.90"]), (0.0, None)):
        found = [
            recognised_line(text, box, (), (600, 100), fall)
            for (text, *_), box in zip(told, boxes, strict=True)
        ]
        assert (texts(found) == read) is (fall > 0)
        assert found[1].words[0].top > found[0].words[0].top, "on the picture"
