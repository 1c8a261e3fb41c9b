"""Pages of PDFs as pictures, with the quoted words boxed; drawn in a process of its own by PDFium.

The stored text of a page is not PDFium's: words that a line end had hyphenated are joined, columns and tables
are put in order. So the quote is looked for without white space and hyphens first, and else word by word.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, NamedTuple

from localcrag.errors import UnreadableError
from localcrag.isolation import isolated_program

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Pixels = NDArray[np.uint8]

MAX_PIXELS = 1800
"""Pixels of the longer side of a picture."""
PIXELS_PER_POINT = 2.0
"""The scale of a page that is not too large for it."""
MAX_PAGE_CHARACTERS = 60_000
"""Characters of a page in which a quote is looked for; a page of small print has 10,000."""
MAX_GAP_WORDS = 3
"""Words of the page between two that were found which are boxed as well: what a hyphen cut in two."""
MAX_GAP_HEIGHTS = 2.0
"""The widest gap between two words in one box, in heights of the line; a wider one parts two columns."""
MIN_FOUND_SHARE = 0.5
"""The share of the quote's words that must be found, or none is boxed."""
_LEFT_OUT = re.compile("[\\s\x02\ufffe\u00ad‐‑-]+")
_WORD = re.compile(r"\w+")
BOX_COLOUR, FILL_COLOUR = (178, 92, 0), (255, 214, 102)
"""Red, green and blue of the frame of a box, and of its inside, which darkens nothing but white."""
BOX_MARGIN = 2
"""Pixels between words and their box."""


@dataclass(frozen=True, slots=True)
class PictureJob:
    """A page to draw: the bytes of the PDF, the number of the page, the quote, and what stands before it."""

    data: bytes
    page: int
    quote: str
    before: str


class Box(NamedTuple):
    """A rectangle on a page, in points from the lower left corner, or in pixels from the upper left one."""

    left: float
    bottom: float
    right: float
    top: float


def main() -> None:
    """Answer jobs of :class:`PictureJob` with PNG, or with the exception that was raised."""
    isolated_program.run(lambda _: picture)


def picture(job: PictureJob) -> bytes:
    """The page of a job as PNG. Raises UnreadableError for a file that cannot be drawn."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(job.data)  # type: ignore[no-untyped-call]
        try:
            if not 1 <= job.page <= len(document):
                raise UnreadableError("the document has no such page", hint="its text can be shown")
            return png(_drawn(document[job.page - 1], job))
        finally:
            document.close()  # type: ignore[no-untyped-call]
    except pypdfium2.PdfiumError as error:
        raise UnreadableError("the page cannot be drawn", hint="its text can be shown") from error


def _drawn(page: Any, job: PictureJob) -> Pixels:
    """The pixels of a page, of shape (height, width, 3), with the boxes on them. Raises PdfiumError."""
    import numpy as np

    scale = min(PIXELS_PER_POINT, MAX_PIXELS / max(1.0, *page.get_size()))
    bitmap = page.render(scale=scale, rev_byteorder=True)
    pixels = np.array(bitmap.to_numpy()[:, :, :3])
    place = bitmap.get_posconv(page)
    for box in quoted_boxes(page.get_textpage(), job.quote, job.before):
        first, second = place.to_bitmap(box.left, box.bottom), place.to_bitmap(box.right, box.top)
        (left, right), (top, bottom) = (sorted(pair) for pair in zip(first, second, strict=True))
        _draw_box(pixels, left - BOX_MARGIN, top - BOX_MARGIN, right + BOX_MARGIN, bottom + BOX_MARGIN)
    return pixels


def quoted_boxes(text_page: Any, quote: str, before: str) -> list[Box]:
    """A box around each line of a quote, in points; none if it is not found."""
    from pypdfium2 import raw

    count = raw.FPDFText_CountChars(text_page.raw)
    if count > MAX_PAGE_CHARACTERS:
        return []
    characters = "".join(_character(raw.FPDFText_GetUnicode(text_page.raw, index)) for index in range(count))
    lines: list[Box] = []
    for index in found_characters(characters, quote, before):
        if characters[index].isspace():
            continue
        box = Box(*text_page.get_charbox(index, loose=True))
        if lines and _continues(lines[-1], box):
            lines[-1] = _joined(lines[-1], box)
        elif box.right > box.left and box.top > box.bottom:
            lines.append(box)
    return lines


def found_characters(characters: str, quote: str, before: str) -> Sequence[int]:
    """The places in the characters of a page at which a quote stands, in order.

    Parameters:
        characters: the characters of the page, one for each index of PDFium.
        quote: what to find; white space and hyphens do not count.
        before: what stands before it in the stored text: it tells which one is meant of several.
    """
    places = [index for index, c in enumerate(characters) if not _LEFT_OUT.fullmatch(c)]
    whole, wanted = "".join(characters[index] for index in places), _LEFT_OUT.sub("", quote)
    if not wanted:
        return []
    starts = [found.start() for found in re.finditer(re.escape(wanted), whole)]
    if starts:
        number = min(_LEFT_OUT.sub("", before).count(wanted), len(starts) - 1)
        start = starts[number]
        return range(places[start], places[start + len(wanted) - 1] + 1)
    return list(_aligned_words(characters, quote))


def _aligned_words(characters: str, quote: str) -> Iterator[int]:
    """The places of the quote's words in the longest runs that stand on the page in their order."""
    words = list(_WORD.finditer(characters))
    on_page, wanted = [word[0].casefold() for word in words], _WORD.findall(quote.casefold())
    blocks = SequenceMatcher(None, on_page, wanted, autojunk=False).get_matching_blocks()[:-1]
    if not wanted or sum(block.size for block in blocks) < MIN_FOUND_SHARE * len(wanted):
        return
    end = -1
    for block in blocks:
        gap = range(end, block.a) if 0 <= block.a - end <= MAX_GAP_WORDS and end >= 0 else range(0)
        for number in (*gap, *range(block.a, block.a + block.size)):
            yield from range(*words[number].span())
        end = block.a + block.size


def png(pixels: Pixels) -> bytes:
    """Pixels of shape (height, width, 3) as PNG (https://www.w3.org/TR/png-3/), eight bits a channel."""
    import numpy as np

    height, width, _ = pixels.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each row begins with its filter, 0: none
    rows[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _draw_box(pixels: Any, left: int, top: int, right: int, bottom: int) -> None:
    """Draw a frame, and colour what is white in it; what lies beyond the picture is cut off."""
    import numpy as np

    height, width, _ = pixels.shape
    left, right = max(0, left), min(width, right)
    top, bottom = max(0, top), min(height, bottom)
    if left >= right or top >= bottom:
        return
    inside = pixels[top:bottom, left:right]
    np.minimum(inside, np.array(FILL_COLOUR, np.uint8), out=inside)
    inside[[0, -1], :] = BOX_COLOUR
    inside[:, [0, -1]] = BOX_COLOUR


def _character(code: int) -> str:
    """The character of a code of PDFium; half of a pair, or a code that is none, is a blank."""
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " "


def _continues(line: Box, box: Box) -> bool:
    """Whether a character goes on with a line: it stands at the same height, and not far behind it."""
    overlap = min(line.top, box.top) - max(line.bottom, box.bottom)
    height = max(line.top - line.bottom, box.top - box.bottom)
    near = -height <= box.left - line.right <= MAX_GAP_HEIGHTS * height
    return near and overlap >= 0.5 * min(line.top - line.bottom, box.top - box.bottom)


def _joined(first: Box, second: Box) -> Box:
    return Box(
        min(first.left, second.left),
        min(first.bottom, second.bottom),
        max(first.right, second.right),
        max(first.top, second.top),
    )
