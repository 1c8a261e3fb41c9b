"""Reader of images and scanned pages: their text is recognised by rapidocr, which ``localcrag[ocr]`` brings.

rapidocr carries its models in its package (PP-OCR, run by onnxruntime), and is told to use those, so that it
asks no server for others. Published builds of onnxruntime send usage data to their maker unless a variable
of the environment forbids it before they are loaded; a socket of compiled code is not seen by the egress
guard. So that variable is set here.
"""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import median
from threading import Lock
from typing import TYPE_CHECKING, Any

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.formats import IMAGE_NEEDS_OCR, OCR_HINT, can_recognise
from localcrag.errors import UnreadableError
from localcrag.isolation.isolated_program import allow_more_time
from localcrag.types import BlockKind, Page

if TYPE_CHECKING:
    from PIL.Image import Image

NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
"""The variable that keeps onnxruntime from sending usage data and from naming the machine."""
_SECONDS_PER_IMAGE = 30.0
"""Seconds of processor time that the text of an image may take."""
_MAX_PIXELS = 100_000_000
_MAX_FRAMES = 500
"""Pages of one image that are read."""
_MAX_LEAD = 10
"""Lines above two columns, such as those of a title."""
_MIN_COLUMN_LINES = 3
_MIN_COLUMN_SHARE = 0.3
"""The least share of the width of a page that most lines of a column fill; cells of a table fill less."""
_PARAGRAPH_DISTANCE = 1.4
"""The distance to the next line that ends a paragraph, in multiples of the usual one."""
_RECOGNITION_LOCK = Lock()


@dataclass(frozen=True, slots=True)
class RecognisedLine:
    """A recognised line of text and its ``box`` (left, top, right, bottom) in pixels."""

    text: str
    box: tuple[float, float, float, float]

    @property
    def middle(self) -> float:
        """The height of its middle, from the top."""
        return (self.box[1] + self.box[3]) / 2

    @property
    def height(self) -> float:
        """The height of its box."""
        return self.box[3] - self.box[1]


def read_image(data: bytes, limits: Limits) -> ExtractedText:
    """Read the text of an image, of a TIFF that of each of its pages.

    Raises UnreadableError: ``localcrag[ocr]`` is not installed, damaged, or too large.
    """
    if not can_recognise():
        raise UnreadableError(IMAGE_NEEDS_OCR, hint=OCR_HINT)
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as image:
            frames = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
            media_type = Image.MIME.get(image.format or "", "image/png")
            pages = []
            for number in range(min(frames, _MAX_FRAMES)):
                image.seek(number)
                made = BlockText(limits)
                add_recognised(made, image)
                pages.append(made.page(number + 1 if frames > 1 else None))
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError, ValueError) as error:
        raise UnreadableError("damaged image") from error
    return ExtractedText("", media_type, tuple(page for page in pages if page.blocks))


def scanned_page(image: Image, number: int | None, limits: Limits | None = None) -> Page:
    """The page of a document that is the picture ``image``; it has no blocks if no text is recognised.

    Raises UnreadableError: ``localcrag[ocr]`` is not installed, or the image is too large.
    """
    made = BlockText(limits)
    add_recognised(made, image)
    return made.page(number)


def add_recognised(made: BlockText, image: Image) -> None:
    """Append the paragraphs that are recognised in an image. Raises UnreadableError if it is too large."""
    pixels = image.width * image.height
    if pixels > _MAX_PIXELS:
        raise UnreadableError(
            f"an image of {pixels / 1e6:.0f} million pixels (limit {_MAX_PIXELS // 1_000_000})",
            hint="Scale it down.",
        )
    allow_more_time(_SECONDS_PER_IMAGE)
    for paragraph in paragraphs_of(recognised(image)):
        made.add(BlockKind.PARAGRAPH, paragraph)


def recognised(image: Image) -> list[RecognisedLine]:
    """The lines of text in an image, in any order. Raises UnreadableError without ``localcrag[ocr]``."""
    import numpy as np
    from PIL import Image, ImageOps

    engine = _engine()
    upright = ImageOps.exif_transpose(image).convert("RGBA")
    paper = Image.new("RGBA", upright.size, "white")
    pixels = np.asarray(Image.alpha_composite(paper, upright).convert("RGB"))[:, :, ::-1]  # blue first
    with _RECOGNITION_LOCK:
        found = engine(pixels)
    if found.txts is None or found.boxes is None:
        return []
    return [_line(text, box) for text, box in zip(found.txts, found.boxes, strict=True) if text.strip()]


def _line(text: str, corners: Sequence[Sequence[float]]) -> RecognisedLine:
    across, down = [float(x) for x, _ in corners], [float(y) for _, y in corners]
    return RecognisedLine(text.strip(), (min(across), min(down), max(across), max(down)))


@cache
def _engine() -> Any:
    """The engine of rapidocr, with the models of its own package and no others."""
    package = find_spec("rapidocr")
    if package is None or package.origin is None or not can_recognise():
        raise UnreadableError(IMAGE_NEEDS_OCR, hint=OCR_HINT)
    os.environ[NO_TELEMETRY] = "1"
    from rapidocr import RapidOCR

    folder = Path(package.origin).parent / "models"
    models = {name: next(folder.glob(f"*_{name.lower()}_*.onnx"), None) for name in ("Det", "Rec")}
    if None in models.values():
        raise UnreadableError("rapidocr has no models in its package", hint=OCR_HINT)
    paths = {f"{name}.model_path": str(path) for name, path in models.items()}
    return RapidOCR(params={"Global.use_cls": False, "Global.log_level": "critical", **paths})


# ---------------------------------------------------------------------------------- lines to paragraphs


def paragraphs_of(lines: Sequence[RecognisedLine]) -> list[str]:
    """The text of the lines from top to bottom, column by column, cut where the lines stand further apart."""
    paragraphs: list[str] = []
    for column in _columns(sorted(lines, key=lambda line: line.middle)):
        rows = _rows(column)
        if not rows:
            continue
        distances = [below[0].middle - above[0].middle for above, below in pairwise(rows)]
        usual = median(distances) if distances else 0
        text = _text(rows[0])
        for distance, above, row in zip(distances, rows, rows[1:], strict=False):
            heights = sorted((above[0].height, row[0].height))
            if distance > _PARAGRAPH_DISTANCE * usual or heights[1] > _PARAGRAPH_DISTANCE * heights[0]:
                paragraphs.append(text)
                text = _text(row)
            else:
                text = _joined(text, _text(row))
        paragraphs.append(text)
    return paragraphs


def _joined(text: str, following: str) -> str:
    """Two lines of a paragraph as one; a hyphen at the end of the first is dropped before a small letter."""
    if text.endswith("-") and text[-2:-1].isalpha() and following[:1].islower():
        return text[:-1] + following
    return f"{text} {following}"


def _text(row: Sequence[RecognisedLine]) -> str:
    return " ".join(line.text for line in sorted(row, key=lambda line: line.box[0]))


def _rows(lines: Sequence[RecognisedLine]) -> list[list[RecognisedLine]]:
    """The lines, sorted by height, with those beside one another in one row."""
    rows: list[list[RecognisedLine]] = []
    for line in lines:
        if rows and line.middle - rows[-1][0].middle < min(line.height, rows[-1][0].height) / 2:
            rows[-1].append(line)
        else:
            rows.append([line])
    return rows


def _columns(lines: list[RecognisedLine]) -> list[list[RecognisedLine]]:
    """The lines above two columns, then those of each column; all of them if there are no columns."""
    for lead in range(min(_MAX_LEAD, len(lines))):
        parted = _parted(lines[lead:])
        if parted is not None:
            left, right = parted
            return [lines[:lead], *_columns(left), *_columns(right)]
    return [lines]


def _parted(lines: list[RecognisedLine]) -> tuple[list[RecognisedLine], list[RecognisedLine]] | None:
    """The lines to the left and to the right of an empty strip between columns of text; None without one."""
    if len(lines) < 2 * _MIN_COLUMN_LINES:
        return None
    ordered = sorted(lines, key=lambda line: line.box[0])
    width = max(line.box[2] for line in lines) - ordered[0].box[0]
    edge = ordered[0].box[2]
    for index, line in enumerate(ordered):
        if line.box[0] > edge:
            sides = ordered[:index], ordered[index:]
            if all(
                len(side) >= _MIN_COLUMN_LINES
                and median(one.box[2] - one.box[0] for one in side) >= _MIN_COLUMN_SHARE * width
                for side in sides
            ):
                left, right = (sorted(side, key=lambda one: one.middle) for side in sides)
                return left, right
        edge = max(edge, line.box[2])
    return None
