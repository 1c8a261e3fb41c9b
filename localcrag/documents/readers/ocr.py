"""Reader of images and scanned pages: their text is recognised by rapidocr, which ``localcrag[ocr]`` brings.

rapidocr carries its models in its package (PP-OCR, run by onnxruntime), and is told to use those, so that it
asks no server for others. Published builds of onnxruntime send usage data to their maker unless a variable
of the environment forbids it before they are loaded; a socket of compiled code is not seen by the egress
guard. So that variable is set here.
"""

from __future__ import annotations

import io
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from localcrag.documents.block_text import BlockText
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.format_names import IMAGE_NEEDS_OCR, OCR_HINT, can_recognise
from localcrag.documents.readers.recognised_text import RecognisedLine
from localcrag.documents.readers.recognised_words import recognised_line, slope_of
from localcrag.documents.readers.scan_layout import paragraphs_of
from localcrag.errors import UnreadableError
from localcrag.isolation.isolated_program import allow_more_time
from localcrag.types import Page

if TYPE_CHECKING:
    from PIL.Image import Image

NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
"""The variable that keeps onnxruntime from sending usage data and from naming the machine."""
_SECONDS_PER_IMAGE = 30.0
"""Seconds of processor time that the text of an image may take."""
_MAX_PIXELS = 100_000_000
_MAX_FRAMES = 500
"""Pages of one image that are read."""
_RECOGNITION_LOCK = Lock()


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
        made.add_recognised(paragraph.kind, paragraph.text, paragraph.boxes)


def recognised(image: Image) -> list[RecognisedLine]:
    """The lines of text in an image, in any order. Raises UnreadableError without ``localcrag[ocr]``."""
    import numpy as np

    engine, upright = _engine(), upright_picture(image)
    pixels = np.asarray(upright)[:, :, ::-1]  # blue first
    with _RECOGNITION_LOCK:
        found = engine(pixels, return_word_box=True)
    if found.txts is None or found.boxes is None:
        return []
    lines = len(found.txts)
    pieces = found.word_results if len(found.word_results) == lines else [()] * lines
    slope = slope_of(found.boxes)
    return [
        recognised_line(text, corners, words, upright.size, slope)
        for text, corners, words in zip(found.txts, found.boxes, pieces, strict=True)
        if text.strip()
    ]


def upright_picture(image: Image) -> Image:
    """An image as a viewer shows it, on white paper: turned as its EXIF fields say, without transparency."""
    from PIL import Image, ImageOps

    upright = ImageOps.exif_transpose(image).convert("RGBA")
    paper = Image.new("RGBA", upright.size, "white")
    return Image.alpha_composite(paper, upright).convert("RGB")


@cache
def _engine() -> Any:
    """The engine of rapidocr, with the models of its own package and no others."""
    package = find_spec("rapidocr")
    if package is None or package.origin is None or not can_recognise():
        raise UnreadableError(IMAGE_NEEDS_OCR, hint=OCR_HINT)
    os.environ[NO_TELEMETRY] = "1"
    try:
        from rapidocr import RapidOCR
    except ImportError as error:
        raise UnreadableError(f"rapidocr cannot be loaded: {error}", hint=OCR_HINT) from error
    folder = Path(package.origin).parent / "models"
    models = {name: next(folder.glob(f"*_{name.lower()}_*.onnx"), None) for name in ("Det", "Rec")}
    if None in models.values():
        raise UnreadableError("rapidocr has no models in its package", hint=OCR_HINT)
    paths = {f"{name}.model_path": str(path) for name, path in models.items()}
    return RapidOCR(params={"Global.use_cls": False, "Global.log_level": "critical", **paths})
