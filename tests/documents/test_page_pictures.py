"""Pictures of PDF pages: the quoted words have a box, wherever and however they stand on the page."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from localcrag.documents.page_pictures import MAX_HEIGHT_RATIO, boxed_page
from localcrag.documents.quoted_words import quoted_spans
from localcrag.errors import UnreadableError
from localcrag.types import WordBox
from tests.documents.builders import FOX, Sheet, drawn_pdf, pdf
from tests.documents.test_hostile import doubling

HERON = "The grey heron stands still in shallow water."
EGRET = "The little egret runs after its prey."
ROW = "Name: Egret · Length: 60 cm · Weight: 0.5 kg"


def birds(folder: Path, turned: int = 0) -> Path:
    """A page with a heading, two sentences and a table."""
    sheet = Sheet().text(72, 560, "Birds", 18).text(72, 520, HERON).text(72, 500, EGRET)
    rows = [["Name", "Length", "Weight"], ["Heron", "95 cm", "1.5 kg"], ["Egret", "60 cm", "0.5 kg"]]
    sheet.rows([72, 200, 300], 460, rows, pitch=30)
    file = folder / "birds.pdf"
    file.write_bytes(drawn_pdf(sheet, turned=turned))
    return file


def marked_pixels(png: bytes) -> tuple[int, int, int, int] | None:
    """The rectangle around all pixels that are coloured, which only boxes are; None without any."""
    picture = Image.open(io.BytesIO(png)).convert("HSV")
    return picture.getchannel("S").point(lambda value: 255 if value > 40 else 0).getbbox()


def test_the_quoted_words_have_a_box_and_nothing_else(tmp_path: Path) -> None:
    picture = boxed_page(birds(tmp_path), 1, HERON)
    assert picture.boxed and Image.open(io.BytesIO(picture.png)).width == 900
    left, top, right, bottom = marked_pixels(picture.png) or (0, 0, 0, 0)
    baseline = (842 - 520) * 900 / 595
    assert abs(left - 72 * 900 / 595) < 8 and right > left + 250
    assert top < baseline < bottom and bottom - top < 40


def test_a_turned_page_has_its_box_at_the_words_as_they_are_seen(tmp_path: Path) -> None:
    picture = boxed_page(birds(tmp_path, turned=90), 1, HERON)
    left, top, right, bottom = marked_pixels(picture.png) or (0, 0, 0, 0)
    assert picture.boxed and right - left > 5 * (bottom - top) > 0


def test_a_row_of_a_table_is_found_without_the_labels_of_its_cells(tmp_path: Path) -> None:
    png = boxed_page(birds(tmp_path), 1, ROW).png
    _, top, _, bottom = marked_pixels(png) or (0, 0, 0, 0)
    assert top < (842 - 400) * 900 / 595 < bottom and bottom - top < 40


def test_without_a_quote_or_with_a_foreign_one_there_is_no_box(tmp_path: Path) -> None:
    for quote in ("", "Penguins live in the south of the world."):
        picture = boxed_page(birds(tmp_path), 1, quote, width=300)
        assert not picture.boxed and marked_pixels(picture.png) is None


def test_a_page_that_is_very_high_is_drawn_less_wide(tmp_path: Path) -> None:
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(str(tmp_path / "strip.pdf"), pagesize=(20, 4000))
    canvas.showPage()
    canvas.save()
    picture = Image.open(io.BytesIO(boxed_page(tmp_path / "strip.pdf", 1, "").png))
    assert picture.height <= 900 * MAX_HEIGHT_RATIO + 1 and picture.width < 900


def picture_file(folder: Path, name: str, *, turned: int = 0) -> Path:
    """A white picture of 400 by 200 pixels as it is seen, turned as its EXIF field says; of a TIFF two."""
    size, exif = ((200, 400) if turned else (400, 200)), Image.Exif()
    if turned:
        exif[ORIENTATION] = turned
    extra: dict[str, Any] = {"save_all": True, "append_images": [Image.new("RGB", (300, 300), "white")]}
    Image.new("RGB", size, "white").save(folder / name, exif=exif, **(extra if name.endswith("tif") else {}))
    return folder / name


ORIENTATION, QUARTER_TURN = 0x0112, 6
WORDS = (WordBox(0, 3, 0.25, 0.4, 0.35, 0.6), WordBox(4, 9, 0.4, 0.4, 0.5, 0.6))


@pytest.mark.parametrize(("name", "turned"), [("a.png", 0), ("a.webp", 0), ("a.jpg", QUARTER_TURN)])
def test_recognised_words_of_an_image_have_their_boxes(tmp_path: Path, name: str, turned: int) -> None:
    picture = boxed_page(picture_file(tmp_path, name, turned=turned), None, "Two words", words=WORDS)
    assert picture.boxed and Image.open(io.BytesIO(picture.png)).size == (400, 200)
    assert marked_pixels(picture.png) == pytest.approx((95, 75, 205, 125), abs=1)


def test_a_page_of_a_tiff_is_drawn_as_wide_as_asked(tmp_path: Path) -> None:
    fax = picture_file(tmp_path, "fax.tif")
    second = boxed_page(fax, 2, "Two words", width=150, words=WORDS)
    assert second.boxed and Image.open(io.BytesIO(second.png)).size == (150, 150)
    assert not boxed_page(fax, 1, "Two words").boxed
    with pytest.raises(UnreadableError, match="it has no page 3"):
        boxed_page(fax, 3, "")


def test_recognised_words_of_a_page_are_not_looked_for(tmp_path: Path) -> None:
    picture = boxed_page(birds(tmp_path), 1, HERON, words=WORDS)
    left, top, right, bottom = marked_pixels(picture.png) or (0, 0, 0, 0)
    assert abs(left - 225) < 40 and abs(right - 450) < 40 and top > 0.35 * 900 and bottom < 0.7 * 1280


def test_what_cannot_be_drawn_says_why(tmp_path: Path) -> None:
    locked, broken = tmp_path / "locked.pdf", tmp_path / "broken.pdf"
    locked.write_bytes(pdf([FOX], password="secret"))
    broken.write_bytes(b"%PDF-1.4 and nothing more")
    other = tmp_path / "other.png"
    other.write_bytes(b"no picture")
    cases = {
        locked: "encrypted",
        broken: "damaged PDF|encrypted",
        other: "damaged image",
        tmp_path / "gone.pdf": "cannot be opened",
    }
    for file, reason in cases.items():
        with pytest.raises(UnreadableError, match=reason):
            boxed_page(file, 1, FOX)
    with pytest.raises(UnreadableError, match="it has no page 2"):
        boxed_page(birds(tmp_path), 2, HERON)


def test_a_page_that_never_ends_costs_only_its_picture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localcrag.documents.page_pictures.MAX_DRAWING_SECONDS", 1.0)
    hostile = tmp_path / "hostile.pdf"
    hostile.write_bytes(doubling())
    with pytest.raises(UnreadableError, match=r"given up|needs more than 1\.0 GiB of memory"):
        boxed_page(hostile, 1, FOX)  # a fast machine reaches the limit of memory first
    assert boxed_page(birds(tmp_path), 1, HERON).boxed


# ---------------------------------------------------------------------------------- where words stand


def found(page: str, quote: str) -> list[str]:
    return [page[span.start : span.end] for span in quoted_spans(page, quote)]


def test_hyphens_line_breaks_and_ligatures_do_not_matter() -> None:
    assert found("a well-\x02known ﬁsh\r\nof the\u00a0sea.", "well-known fish of the sea") == [
        "well-\x02known ﬁsh\r\nof the\u00a0sea"
    ]
    assert found("He is very hap\x02py now.", "is very happy") == ["is very hap\x02py"]


def test_a_number_is_not_found_within_another_one() -> None:
    assert found("in 2012 there were 12 of them", "12") == ["12"]
    assert quoted_spans("in 2012", "12") == [] and quoted_spans("every day", "day-") != []


def test_paragraphs_in_another_order_are_each_found() -> None:
    page = f"{EGRET} A footer between the two. {HERON}"
    assert found(page, f"{HERON}\n{EGRET}") == [HERON[:-1], EGRET[:-1]]


def test_words_between_which_something_stands_are_found_in_parts() -> None:
    page = "The grey heron stands still Page 7 of 9 in shallow water for a long time."
    parts = found(page, "The grey heron stands still in shallow water for a long time.")
    assert "".join(parts).replace(" ", "") == "Thegreyheronstandsstillinshallowwaterforalongtime"


def test_a_quote_of_marks_alone_is_found_nowhere() -> None:
    assert quoted_spans("a — b", "— …") == [] == quoted_spans("", "words")
