"""``./scripts/demo --picture`` and ``--page``: the pictures of the README and of the manual."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.docs.manual import MANUAL, ROOT


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    yield
    sys.modules.pop("tour", None)
    sys.modules.pop("page_pictures", None)


def test_blanks_before_a_line_become_a_place_further_right() -> None:
    from tour import indented

    line = '<text x="0" y="9" textLength="70" a="b">&#160;&#160;1.&#160;&lt;a</text>'
    moved = '<text x="20" y="9" textLength="50" a="b">1.&#160;&lt;a</text>'
    assert indented(f'{line}<text x="70" y="9">\n</text>') == moved


def test_no_font_is_fetched() -> None:
    from tour import local_font

    assert "http" not in local_font().replace("http://www.w3.org/2000/svg", "")


def test_the_picture_shows_an_answer_and_its_grades_and_cuts_no_line() -> None:
    from tour import COLUMNS, QUESTIONS

    path = MANUAL / "images/answer.svg"
    words = " ".join("".join(ElementTree.parse(path).getroot().itertext()).replace("\xa0", " ").split())
    assert all(question in words for question in (QUESTIONS[0][1], QUESTIONS[2][1]))
    assert "P=0." in words and "[1]" in words and "Your documents do not answer this." in words
    wide = float(re.findall(r'viewBox="0 0 ([\d.]+)', path.read_text("utf-8"))[0])
    for x, length in re.findall(r'x="([\d.]+)" y="[\d.]+" textLength="([\d.]+)"', path.read_text("utf-8")):
        assert float(x) + float(length) <= COLUMNS * 12.3 <= wide


def test_without_a_browser_the_page_is_not_drawn_and_one_line_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import page_pictures
    from tour import main

    monkeypatch.setattr(page_pictures, "CHROMIUM_NAMES", ("no-such-browser",))
    assert main(["--page", str(tmp_path)]) == 1
    said = capsys.readouterr().err.splitlines()
    assert said == ["there is no Chromium to draw the page with: install Debian's package chromium"]
    assert list(tmp_path.iterdir()) == []


def test_the_pictures_of_the_page_have_the_size_and_the_colours_that_are_asked_for() -> None:
    from page_pictures import COLOURS, HEIGHT, PICTURES, WIDTH
    from PIL import Image

    brightness = {}
    for colours, name in PICTURES.items():
        with Image.open(MANUAL / "images" / name) as picture:
            assert picture.size == (WIDTH, HEIGHT) and len(picture.getcolors() or []) <= COLOURS
            brightness[colours] = picture.convert("L").tobytes()[HEIGHT // 2 * WIDTH + WIDTH // 10]
    assert brightness["light"] > 200 > 60 > brightness["dark"]


def test_marks_of_markdown_do_not_reach_the_pdf(tmp_path: Path) -> None:
    from pypdfium2 import PdfDocument
    from tour import write_pdf

    file = tmp_path / "readme.pdf"
    write_pdf(
        file, "# Notes\n\n[![badge](b.svg)](https://b.example)\n\nSee **the** [guide](https://g.example)."
    )
    document: Any = PdfDocument(file)  # type: ignore[no-untyped-call]
    text = document[0].get_textpage().get_text_range().split()
    document.close()
    assert text == ["Notes", "See", "the", "guide."]
