"""Pictures of PDF pages with the quoted words boxed, drawn by PDFium in a process of its own.

A PDF is written by a stranger, and one that is made for it keeps PDFium busy for ever, or ends it. In a
process that costs only the picture. The process is started when a picture is first asked for, and ends by
itself when it was idle for a while.
"""

from __future__ import annotations

import io
from ctypes import byref, c_int
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from localcrag.documents.quoted_words import QuoteSpan, quoted_spans
from localcrag.errors import UnreadableError
from localcrag.isolation import isolated_program
from localcrag.isolation.isolated_pool import IsolatedPool
from localcrag.isolation.isolated_process import (
    GIBIBYTE,
    JobLost,
    ProcessNotStarted,
    available,
    memory_budget,
)
from localcrag.isolation.message_frames import Budget

if TYPE_CHECKING:
    from PIL.Image import Image
    from pypdfium2 import PdfPage, PdfTextPage

MIN_WIDTH, MAX_WIDTH = 100, 2400
"""The least and the most pixels of the width of a picture."""
MAX_HEIGHT_RATIO = 4
"""A page that is more times higher than wide is drawn less wide."""
MAX_DRAWING_SECONDS = 20.0
"""Seconds of processor time for one picture."""
MAX_DRAWING_MEMORY = GIBIBYTE
"""Bytes of memory for one picture."""
IDLE_SECONDS = 60.0
"""Seconds without a picture after which the process ends."""
MAX_PROCESSES = 2
MAX_SEARCHED_CHARACTERS = 200_000
"""A page with more characters is drawn without boxes."""
TEXT_REMAINS_HINT = "the text of the page can be shown all the same"
_MARKER_COLOUR, _EDGE_COLOUR = (255, 236, 153), (196, 92, 10)
_PADDING_SHARE = 0.12
"""Space around the words in a box, as a share of the height of their line."""
_SAME_LINE_SHARE, _GAP_HEIGHTS = 0.5, 1.5
_PROGRAM = (
    "import sys; sys.path[:] = sys.argv[1:]; from localcrag.documents.page_pictures import main; main()"
)


@dataclass(frozen=True, slots=True)
class PagePicture:
    """The picture of a page; ``boxed`` says whether the quoted words were found on it and have boxes."""

    png: bytes
    boxed: bool


@dataclass(frozen=True, slots=True)
class _Job:
    file: Path
    page: int
    quote: str
    width: int


class _Box(NamedTuple):
    """A rectangle in pixels from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float


def page_picture(file: Path, page: int, quote: str, *, width: int = 900) -> bytes:
    """The PNG of a page with the quoted words boxed; the parameters are those of :func:`boxed_page`.

    Raises UnreadableError.
    """
    return boxed_page(file, page, quote, width=width).png


def boxed_page(file: Path, page: int, quote: str, *, width: int = 900) -> PagePicture:
    """The picture of a page of a PDF; may be called from any thread.

    Parameters:
        file: the PDF.
        page: the number of the page, counted from 1.
        quote: the words to be boxed, as they stand in the stored text; "" for none.
        width: the width of the picture in pixels.

    Raises UnreadableError if the file cannot be read, has no such page, or takes too much to draw.
    """
    job = _Job(file.absolute(), page, quote, min(max(width, MIN_WIDTH), MAX_WIDTH))
    if not available():
        return _drawn(job)
    try:
        picture: PagePicture = _pool().ask(
            job, Budget(MAX_DRAWING_SECONDS, memory_budget(MAX_DRAWING_MEMORY))
        )
    except JobLost as lost:
        raise UnreadableError(f"drawing page {page} {lost}", hint=TEXT_REMAINS_HINT) from lost
    except ProcessNotStarted as error:
        raise UnreadableError(
            f"a process to draw pages cannot be started: {error}", hint=TEXT_REMAINS_HINT
        ) from error
    return picture


@cache
def _pool() -> IsolatedPool:
    """The processes that draw; none is started yet."""
    return IsolatedPool(MAX_PROCESSES, _PROGRAM, IDLE_SECONDS, "pictures")


# ---------------------------------------------------------------------------------- in the process


def main() -> None:
    """Answer jobs with a PagePicture, or with the exception that was raised."""
    isolated_program.run(_prepare, IDLE_SECONDS)


def _prepare(_: Any) -> isolated_program.Answer:
    return _drawn


def _drawn(job: _Job) -> PagePicture:
    """The picture, drawn in this process. Raises UnreadableError."""
    from pypdfium2 import PdfDocument, PdfiumError

    from localcrag.documents.readers.pdf import PDFIUM_LOCK

    try:
        with PDFIUM_LOCK:
            document = PdfDocument(job.file)  # type: ignore[no-untyped-call]
            try:
                return _drawn_page(_page_of(document, job.page), job)
            finally:
                document.close()  # type: ignore[no-untyped-call]
    except PdfiumError as error:
        raise UnreadableError("damaged or encrypted PDF", hint=TEXT_REMAINS_HINT) from error
    except OSError as error:
        raise UnreadableError(
            f"it cannot be opened: {error.strerror or error}", hint=TEXT_REMAINS_HINT
        ) from error
    except MemoryError as error:
        raise UnreadableError("not enough memory to draw it", hint=TEXT_REMAINS_HINT) from error


def _page_of(document: Any, number: int) -> PdfPage:
    if not 1 <= number <= len(document):
        raise UnreadableError(f"it has no page {number}", hint=TEXT_REMAINS_HINT)
    page: PdfPage = document[number - 1]
    return page


def _drawn_page(page: PdfPage, job: _Job) -> PagePicture:
    across, down = (max(1.0, side) for side in page.get_size())  # type: ignore[no-untyped-call]
    scale = job.width * min(1.0, MAX_HEIGHT_RATIO / (down / across)) / across
    picture = page.render(scale=scale).to_pil().convert("RGB")  # type: ignore[no-untyped-call]
    boxes = _boxes(page, job.quote, picture.size) if job.quote else []
    out = io.BytesIO()
    _marked(picture, boxes).save(out, "PNG")
    return PagePicture(out.getvalue(), bool(boxes))


def _boxes(page: PdfPage, quote: str, size: tuple[int, int]) -> list[_Box]:
    """The boxes around the quoted words: one for each line, or part of a line, that they stand in."""
    from localcrag.documents.readers.pdf_words import page_characters

    text_page = page.get_textpage()  # type: ignore[no-untyped-call]
    count = text_page.count_chars()
    if count > MAX_SEARCHED_CHARACTERS:
        return []
    spans = quoted_spans(page_characters(text_page, count), quote)
    return _joined_boxes([box for span in spans for box in _word_boxes(page, text_page, span, size)])


def _word_boxes(page: PdfPage, text_page: PdfTextPage, span: QuoteSpan, size: tuple[int, int]) -> list[_Box]:
    """The boxes of some characters, as PDFium groups them, in pixels of a picture of ``size``."""
    boxes = []
    for index in range(text_page.count_rects(span.start, span.end - span.start)):  # type: ignore[no-untyped-call]
        left, bottom, right, top = text_page.get_rect(index)  # type: ignore[no-untyped-call]
        (x0, y0), (x1, y1) = (_pixel(page, size, *corner) for corner in ((left, top), (right, bottom)))
        boxes.append(_Box(min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)))
    return boxes


def _pixel(page: PdfPage, size: tuple[int, int], x: float, y: float) -> tuple[int, int]:
    """A point of the page in pixels; the rotation of the page and its visible part count."""
    from pypdfium2 import raw

    across, down = c_int(), c_int()
    raw.FPDF_PageToDevice(page.raw, 0, 0, *size, 0, x, y, byref(across), byref(down))
    return across.value, down.value


def _joined_boxes(boxes: list[_Box]) -> list[_Box]:
    """The boxes, those that follow one another in a line joined."""
    joined: list[_Box] = []
    for box in boxes:
        if joined and _follows(joined[-1], box):
            last = joined.pop()
            box = _Box(*map(min, last[:2], box[:2]), *map(max, last[2:], box[2:]))
        joined.append(box)
    return joined


def _follows(before: _Box, box: _Box) -> bool:
    """Whether a box stands in the same line as the one before, without a wide gap."""
    height = max(before.bottom - before.top, box.bottom - box.top)
    overlap = min(before.bottom, box.bottom) - max(before.top, box.top)
    lower = min(before.bottom - before.top, box.bottom - box.top)
    gap = max(box.left - before.right, before.left - box.right)
    return overlap >= _SAME_LINE_SHARE * lower and gap <= _GAP_HEIGHTS * height


def _marked(picture: Image, boxes: list[_Box]) -> Image:
    """The picture with the boxes over it: the words in them stay as dark as they are."""
    if not boxes:
        return picture
    from PIL import Image, ImageChops, ImageDraw

    marker = Image.new("RGB", picture.size, "white")
    padded = [_padded(box) for box in boxes]
    for box in padded:
        ImageDraw.Draw(marker).rectangle(box, fill=_MARKER_COLOUR)
    marked = ImageChops.multiply(picture, marker)
    for box in padded:
        ImageDraw.Draw(marked).rectangle(box, outline=_EDGE_COLOUR, width=max(1, picture.width // 600))
    return marked


def _padded(box: _Box) -> tuple[float, float, float, float]:
    pad = max(2.0, (box.bottom - box.top) * _PADDING_SHARE)
    return box.left - pad, box.top - pad, box.right + pad, box.bottom + pad
