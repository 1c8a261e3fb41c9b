"""Scans from the file to the citation: ingested, asked, and opened over HTTP with the quoted words boxed.

A stand-in recognises them; it runs in the readers' processes, and finds the lines where they are.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pypdfium2
import pytest
from lxml import html
from PIL import Image

from localcrag.cli.main import main
from localcrag.serve.endpoint import UNIX
from tests.documents.builders import pdf
from tests.documents.test_page_pictures import marked_pixels
from tests.fakes.scan_engine import write_scan_engine
from tests.serve.http_api.conftest import WarmDoor

pytestmark = pytest.mark.skipif(not UNIX, reason="processes of Unix")
DOSE = "The usual dose of Zeldrine is 35 mg once a day."
KEEPER = "The keeper of Orsk feeds eleven geese."
PAGE = (60.0, 730.0, 340.0, 800.0)
"""Left, bottom, right and top of the part of a page that is scanned, in points."""
FIRST_LINE, SECOND_LINE = 780, 766
"""The base lines of its lines, in points from the lower edge of the page."""


def scanned(*lines: str) -> Image.Image:
    """A page with these lines as a picture of 150 pixels an inch."""
    page = pypdfium2.PdfDocument(pdf(lines))[0]  # type: ignore[no-untyped-call]
    page.set_cropbox(*PAGE)
    picture: Image.Image = page.render(scale=150 / 72).to_pil()
    return picture


@dataclass(frozen=True)
class Scans:
    """A scanned PDF and a picture of a text, in the knowledge base ``scans`` of a door."""

    door: WarmDoor
    leaflet: Path
    note: Path

    def asked(self, question: str, *options: str) -> Any:
        """The answer of ``localcrag ask --json``."""
        out = io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", out)
            patch.setattr("localcrag.cli.command_state.go_offline", lambda: None)  # it would last
            main(["--home", str(self.door.home), "ask", question, "--kb", "scans", "--json", *options])
        return json.loads(out.getvalue())


@pytest.fixture(scope="module")
def scans(warm_door: WarmDoor, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scans]:
    folder = tmp_path_factory.mktemp("scans")
    found = Scans(warm_door, folder / "leaflet.pdf", folder / "note.png")
    leaflet, note = (
        ("Zeldrine tablets: information.", DOSE),
        (KEEPER, "Nobody else may feed them.", "So be it."),
    )
    scanned(*leaflet).save(found.leaflet, resolution=150)
    scanned(*note).save(found.note)
    engine = tmp_path_factory.mktemp("engine")
    write_scan_engine(engine, leaflet, note)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(engine))
        arguments = ["ingest", str(folder), "--kb", "scans", "--json"]
        assert main(["--home", str(warm_door.home), *arguments]) == 0
    yield found


def opened(scans: Scans, citation: Any) -> tuple[Any, bytes]:
    """The text and the picture of a citation, over HTTP."""
    place = {
        name: citation[name] for name in ("source", "page", "start", "end") if citation[name] is not None
    }
    with scans.door.client() as client:
        text = client.get("/api/citations/text", params={"kb": "scans", **place}).json()
        drawn = client.get("/api/citations/page", params={"kb": "scans", **place})
    assert drawn.headers["content-type"] == "image/png", drawn.text
    return text, drawn.content


def is_around_line(png: bytes, baseline: float, end: float) -> bool:
    """Whether the marked pixels are those around a line that goes from 72 points to ``end`` in the page."""
    left, top, right, bottom = marked_pixels(png) or (0, 0, 0, 0)
    scale = Image.open(io.BytesIO(png)).width / (PAGE[2] - PAGE[0])
    return (
        abs(left / scale - (72 - PAGE[0])) < 6
        and abs(right / scale - (end - PAGE[0])) < 10
        and top / scale < PAGE[3] - baseline - 4 < PAGE[3] - baseline < bottom / scale + 2
        and (bottom - top) / scale < 18
    )


def test_a_scanned_page_is_cited_and_its_words_are_boxed(scans: Scans) -> None:
    answer = scans.asked("What is the usual dose of Zeldrine?")
    (citation,) = answer["citations"]
    assert answer["status"] == "answered" and "35 mg" in citation["quote"]
    assert (citation["source"], citation["page"]) == (str(scans.leaflet), 1)
    text, png = opened(scans, citation)
    assert text["picture"] and text["quote"] == citation["quote"]
    assert is_around_line(png, SECOND_LINE, 72 + 256)


def test_an_image_is_cited_and_its_words_are_boxed(scans: Scans, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    answer = scans.asked("How many geese does the keeper of Orsk feed?", "--report", str(report))
    (citation,) = answer["citations"]
    assert "eleven geese" in citation["quote"] and citation["page"] is None
    text, png = opened(scans, citation)
    assert text["picture"] and text["page"] is None
    assert is_around_line(png, FIRST_LINE, 72 + 214)
    tree = html.document_fromstring(report.read_text("utf-8"))  # type: ignore[no-untyped-call]
    assert tree.xpath("//img/@alt") == ["The document, with the quoted words boxed"]
