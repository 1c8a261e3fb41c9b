"""``./scripts/demo --picture``: the picture of the README."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from tests.docs.manual import MANUAL, ROOT


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    pytest.importorskip("pty", reason="there are no pseudo-terminals here")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    yield
    sys.modules.pop("tour", None)


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
