"""Images: skipped with the way to read them, read by a stand-in for the engine, and by the engine itself."""

from __future__ import annotations

import io
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import pytest

from localcrag.documents import formats
from localcrag.documents.extracted import Limits
from localcrag.documents.readers import ocr
from localcrag.documents.readers import pdf as reader
from localcrag.documents.readers.ocr import RecognisedLine, paragraphs_of, read_image, scanned_page
from localcrag.errors import UnreadableError
from tests.documents.builders import FOX, pdf, zipped
from tests.documents.conftest import ReadFunction


def image(name: str = "PNG", pages: int = 1) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    frames = [Image.new("RGB", (40, 20), "white") for _ in range(pages)]
    extra = {"save_all": True, "append_images": frames[1:]} if pages > 1 else {}
    frames[0].save(out, name, **extra)
    return out.getvalue()


def line(text: str, left: float, top: float, right: float, height: float = 10) -> RecognisedLine:
    return RecognisedLine(text, (left, top, right, top + height))


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that finds two lines in every image."""
    found = SimpleNamespace(
        txts=("second line", " Some"),
        boxes=[[(0, 30), (90, 30), (90, 40), (0, 40)], [(0, 10), (90, 10), (90, 20), (0, 20)]],
    )
    for module in (formats, ocr, reader):
        monkeypatch.setattr(module, "can_recognise", lambda: True)
    monkeypatch.setattr(ocr, "_engine", lambda: lambda pixels: found)


@pytest.fixture
def without_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (formats, ocr, reader):
        monkeypatch.setattr(module, "can_recognise", lambda: False)


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
    assert paragraphs_of(lines) == ["Title", "The treatment of Anglo- Saxon kings.", "Boat 35 EUR"]
    assert paragraphs_of([]) == []


def test_two_columns_are_read_one_after_the_other() -> None:
    left = [line(f"left {n}", 0, 20 + 15 * n, 90) for n in range(4)]
    right = [line(f"right {n}", 100, 20 + 15 * n, 190) for n in range(4)]
    both = [text for pair in zip(left, right, strict=True) for text in pair]
    title = line("A title above them", 40, 0, 150)
    assert paragraphs_of([title, *both]) == [
        "A title above them",
        "left 0 left 1 left 2 left 3",
        "right 0 right 1 right 2 right 3",
    ]
    cells = [line(f"{x}{n}", x, 20 + 15 * n, x + 20) for n in range(4) for x in (0, 100, 170)]
    assert paragraphs_of(cells)[0].startswith("00 1000 1700 01 1001")


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
    assert ocr._engine.__wrapped__() == "1"
    monkeypatch.delitem(sys.modules, "rapidocr", raising=False)


@pytest.mark.skipif(find_spec("rapidocr") is None, reason="rapidocr (localcrag[ocr]) is not installed")
def test_a_rendered_page_is_recognised_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    import pypdfium2

    def refuse(*_: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    lines = [FOX, "Category: Motorcycle, fee 35 EUR", "Größe der Dosis: zwei Tabletten täglich"]
    page = pypdfium2.PdfDocument(pdf(lines))[0]  # type: ignore[no-untyped-call]
    scan = page.render(scale=200 / 72).to_pil()
    text = scanned_page(scan, 3).text
    want, got = (Counter(words.split()) for words in (" ".join(lines), text))
    assert (want & got).total() >= 0.9 * want.total()
    out = io.BytesIO()
    scan.save(out, "PNG")
    assert read_image(out.getvalue(), Limits()).pages[0].text == text
