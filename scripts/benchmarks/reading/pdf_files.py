"""PDF files as programs print them: a running header and footer, page numbers, ruled tables, two columns."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from benchmarks.reading.source_text import Piece, Source

WIDTH, HEIGHT = 595, 842
LEFT, TOP, BOTTOM = 62, 770, 70
GUTTER = 24
BODY, BOLD = "Body", "Body-Bold"
_SIZES = {1: 18, 2: 13, 3: 11}
_SOFT_HYPHEN = "\u00ad"


def pdf(source: Source) -> bytes:
    """A page for each of the source; ``kind: two-column`` sets the text in two columns below the headings."""
    from reportlab.pdfgen.canvas import Canvas

    _fonts()
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(WIDTH, HEIGHT), invariant=1)
    canvas.setTitle(source.title)
    columns = 2 if source.fields.get("kind") == "two-column" else 1
    for number, pieces in enumerate(source.pages, start=1):
        _furniture(canvas, source, number)
        _Column(canvas, columns).draw(pieces)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def _fonts() -> None:
    """Fonts with the letters that the sources have: those that come with Matplotlib, or with PDF."""
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    if BODY in pdfmetrics.getRegisteredFontNames():
        return
    from matplotlib import get_data_path

    for name, file in ((BODY, "DejaVuSans"), (BOLD, "DejaVuSans-Bold")):
        pdfmetrics.registerFont(TTFont(name, f"{get_data_path()}/fonts/ttf/{file}.ttf"))


def _furniture(canvas: Any, source: Source, number: int) -> None:
    canvas.setFont(BODY, 8)
    canvas.drawString(LEFT, HEIGHT - 40, source.fields.get("header", ""))
    canvas.drawString(LEFT, 40, source.fields.get("footer", ""))
    canvas.drawRightString(WIDTH - LEFT, 40, f"Page {number} of {len(source.pages)}")


class _Column:
    """Draws pieces from the top down, and goes on in the next column; OverflowError below the last."""

    def __init__(self, canvas: Any, columns: int) -> None:
        self._canvas = canvas
        self._width = (WIDTH - 2 * LEFT - GUTTER * (columns - 1)) / columns
        self._left = [LEFT + number * (self._width + GUTTER) for number in range(columns)]
        self._y: float = TOP
        self._size = 10.0 if columns == 1 else 9.0
        self._number = 0

    def draw(self, pieces: Sequence[Piece]) -> None:
        if len(self._left) > 1:  # balanced: the second column begins where half of the height is used
            self._balance(pieces)
            return
        for piece in pieces:
            self._draw(piece)

    def _balance(self, pieces: Sequence[Piece]) -> None:
        heights = [self._height(piece) for piece in pieces]
        half, used = sum(heights) / 2, 0.0
        for piece, height in zip(pieces, heights, strict=True):
            if used and used + height / 2 > half and len(self._left) > 1:
                self._left.pop(0)
                self._y = TOP
            self._draw(piece)
            used += height

    def _height(self, piece: Piece) -> float:
        if piece.kind == "table":
            return 16.0 * len(piece.rows)
        return 14.0 * len(list(self._wrapped(piece.plain, BODY, self._size, self._width))) + 8

    def _draw(self, piece: Piece) -> None:
        self._number = self._number + 1 if piece.kind == "number" else 0
        match piece.kind:
            case "heading":
                self._y -= 8
                self._text(piece.plain, BOLD, _SIZES[min(piece.level, 3)])
            case "table":
                self._table(piece.rows)
            case "item":
                self._text(piece.plain, BODY, self._size, "• ")
            case "number":
                self._text(piece.plain, BODY, self._size, f"{self._number}.")
            case _:
                self._text(piece.plain, BODY, self._size)
        self._y -= 6

    def _text(self, text: str, font: str, size: float, mark: str = "") -> None:
        indent = 12 + 4 * max(0, len(mark) - 2) if mark else 0
        if mark:
            self._canvas.setFont(font, size)
            self._canvas.drawString(self._left[0], self._y, mark.strip())
        for line in self._wrapped(text, font, size, self._width - indent):
            self._line(partial(self._canvas.drawString, self._left[0] + indent, self._y, line), font, size)

    def _line(self, draw: Callable[[], None], font: str, size: float) -> None:
        if self._y < BOTTOM:
            raise OverflowError("the text of a page is longer than the page")
        self._canvas.setFont(font, size)
        draw()
        self._y -= size * 1.4

    def _wrapped(self, text: str, font: str, size: float, width: float) -> Iterator[str]:
        """Lines that fit; a word with a soft hyphen may be divided there."""
        line = ""
        for word in text.split():
            for last in (False, True):
                tried = f"{line} {word}".strip().replace(_SOFT_HYPHEN, "")
                if self._wide(tried, font, size) <= width or not line:
                    line = tried
                    break
                first, _, rest = word.partition(_SOFT_HYPHEN)
                if rest and not last and self._wide(f"{line} {first}-", font, size) <= width:
                    line, word = f"{line} {first}-", rest
                yield line
                line = ""
        yield line

    def _wide(self, text: str, font: str, size: float) -> float:
        return float(self._canvas.stringWidth(text, font, size))

    def _table(self, rows: Sequence[Sequence[str]]) -> None:
        """Cells beside one another, each column as wide as its longest cell, the head in bold, with rules."""
        size = self._size - 1
        wide = [max(self._wide(row[at], BOLD, size) for row in rows) + 10 for at in range(len(rows[0]))]
        factor = min(1.0, self._width / sum(wide))
        edges = [self._left[0] + sum(wide[:at]) * factor for at in range(len(wide))]
        for number, row in enumerate(rows):
            font = BODY if number else BOLD

            def cells(row: Sequence[str] = row) -> None:
                for edge, cell in zip(edges, row, strict=True):
                    self._canvas.drawString(edge, self._y, cell)
                self._canvas.line(self._left[0], self._y - 3, self._left[0] + self._width, self._y - 3)

            self._line(cells, font, size * factor if factor < 0.9 else size)
            self._y -= 3
