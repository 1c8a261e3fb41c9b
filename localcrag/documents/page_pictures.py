"""Pictures of PDF pages and of images with the quoted words boxed, drawn in a process of their own.

A PDF is written by a stranger, and one that is made for it keeps PDFium busy for ever, or ends it. In a
process that costs only the picture. The process is started when a picture is first asked for, and ends by
itself when it was idle for a while.

Words are looked for in the text layer of a PDF page. Words that were recognised in a scan or an image come
with their boxes, which were kept when it was read.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from ctypes import byref, c_int
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from localcrag.documents.format_recognition import PDF_START_BYTES, is_pdf
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
from localcrag.types import WordBox

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
    page: int | None
    quote: str
    width: int
    words: tuple[WordBox, ...]


class _Box(NamedTuple):
    """A rectangle in pixels from the upper left corner."""

    left: float
    top: float
    right: float
    bottom: float


def boxed_page(
    file: Path, page: int | None, quote: str, *, width: int = 900, words: Sequence[WordBox] = ()
) -> PagePicture:
    """A picture of a page of a PDF, or of an image; may be called from any thread.

    Parameters:
        file: the PDF or the image.
        page: the number of the page, counted from 1; None for an image of one page.
        quote: the words to be boxed, as they stand in the stored text; "" for none.
        width: the width of the picture in pixels; an image that is less wide stays as it is.
        words: the boxes of the words, if they were recognised; then the quote is not looked for.

    Raises UnreadableError if the file cannot be read, has no such page, or takes too much to draw.
    """
    job = _Job(file.absolute(), page, quote, min(max(width, MIN_WIDTH), MAX_WIDTH), tuple(words))
    if not available():
        return _drawn(job)
    try:
        picture: PagePicture = _pool().ask(
            job, Budget(MAX_DRAWING_SECONDS, memory_budget(MAX_DRAWING_MEMORY))
        )
    except JobLost as lost:
        raise UnreadableError(f"drawing page {page or 1} {lost}", hint=TEXT_REMAINS_HINT) from lost
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
    try:
        return _drawn_pdf(job) if _is_pdf(job.file) else _drawn_image(job)
    except OSError as error:
        raise UnreadableError(
            f"it cannot be opened: {error.strerror or error}", hint=TEXT_REMAINS_HINT
        ) from error
    except MemoryError as error:
        raise UnreadableError("not enough memory to draw it", hint=TEXT_REMAINS_HINT) from error


def _is_pdf(file: Path) -> bool:
    with file.open("rb") as opened:
        return is_pdf(opened.read(PDF_START_BYTES))


def _drawn_pdf(job: _Job) -> PagePicture:
    """The picture of a page of a PDF. Raises UnreadableError, OSError."""
    from pypdfium2 import PdfDocument, PdfiumError

    from localcrag.documents.readers.pdf import PDFIUM_LOCK
    from localcrag.documents.readers.pdf_forms import open_forms

    try:
        with PDFIUM_LOCK:
            document = PdfDocument(job.file)  # type: ignore[no-untyped-call]
            try:
                has_form = open_forms(document)
                return _drawn_page(_page_of(document, job.page or 1, has_form=has_form), job)
            finally:
                document.close()  # type: ignore[no-untyped-call]
    except PdfiumError as error:
        raise UnreadableError("damaged or encrypted PDF", hint=TEXT_REMAINS_HINT) from error


def _page_of(document: Any, number: int, *, has_form: bool) -> PdfPage:
    """A page, with the values of its fields. Raises UnreadableError."""
    from localcrag.documents.readers.pdf_forms import drawn_page

    if not 1 <= number <= len(document):
        raise UnreadableError(f"it has no page {number}", hint=TEXT_REMAINS_HINT)
    page: PdfPage = drawn_page(document, number - 1) if has_form else document[number - 1]
    return page


def _drawn_page(page: PdfPage, job: _Job) -> PagePicture:
    across, down = (max(1.0, side) for side in page.get_size())  # type: ignore[no-untyped-call]
    scale = _fitting_width(job, across, down) / across
    picture = page.render(scale=scale).to_pil().convert("RGB")  # type: ignore[no-untyped-call]
    if job.words or not job.quote:
        return _boxed(picture, _recognised_boxes(job.words, picture.size))
    return _boxed(picture, _boxes(page, job.quote, picture.size))


def _drawn_image(job: _Job) -> PagePicture:
    """The picture of an image, or of a page of one. Raises UnreadableError, OSError."""
    from PIL import Image, UnidentifiedImageError

    from localcrag.documents.readers.ocr import upright_picture

    try:
        with Image.open(job.file) as image:
            image.seek((job.page or 1) - 1)
            picture = upright_picture(image)
    except EOFError as error:
        raise UnreadableError(f"it has no page {job.page}", hint=TEXT_REMAINS_HINT) from error
    except (UnidentifiedImageError, Image.DecompressionBombError, SyntaxError, ValueError) as error:
        raise UnreadableError("damaged image", hint=TEXT_REMAINS_HINT) from error
    width = min(_fitting_width(job, *picture.size), picture.width)
    picture.thumbnail((width, MAX_HEIGHT_RATIO * width + 1))
    return _boxed(picture, _recognised_boxes(job.words, picture.size))


def _fitting_width(job: _Job, across: float, down: float) -> float:
    """The width of the picture of a page of this form; a very high one is drawn less wide."""
    return job.width * min(1.0, MAX_HEIGHT_RATIO / (down / across))


def _recognised_boxes(words: Sequence[WordBox], size: tuple[int, int]) -> list[_Box]:
    """The boxes of recognised words in pixels of a picture of ``size``."""
    across, down = size
    return _joined_boxes(
        [_Box(word.left * across, word.top * down, word.right * across, word.bottom * down) for word in words]
    )


def _boxed(picture: Image, boxes: list[_Box]) -> PagePicture:
    """The picture as PNG with boxes over it."""
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
