"""The words and the drawn lines of a PDF page with their places, from PDFium.

PDFium is asked about the first and the last character of each word, not about every character: three calls a
word, and the font only when the text object changes. All places are in points; ``y`` grows upwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from ctypes import addressof, c_double, c_float, c_ushort, create_string_buffer
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage
    from pypdfium2.raw import FS_MATRIX

MAX_PAGE_CHARACTERS = 60_000
"""A page with more characters is read as text without places; a page of small print has 10,000."""
_MAX_OBJECTS = 20_000
_MAX_SEGMENTS = 20_000
_MAX_RULE_WIDTH = 3.0
_MIN_RULE_LENGTH = 5.0
_LIGATURE = re.compile(r"(?<=[^\W\d_])[\x1b-\x1f]|[\x1b-\x1f](?=[^\W\d_])")
_LIGATURES = ("ff", "fi", "fl", "ffi", "ffl")
"""What fonts of TeX without a table of characters have from 1B on, and Unicode from FB00 on."""
_SPELLED = str.maketrans({0xFB00 + at: letters for at, letters in enumerate(_LIGATURES)})
_BRACKET_PIECES = range(0xF8E5, 0xF8FF)
_CONTROLS = {*range(1, 0x20)} - set(map(ord, "\t\n\r\x02"))
_SIGNS = str.maketrans(
    dict.fromkeys((*_BRACKET_PIECES, *_CONTROLS), " ") | {0xF0B7: "•", 0xF0A7: "▪", 0xF0D8: "➢", 0xF0FC: "✓"}
)
"""Signs of the fonts Symbol and Wingdings that mean nothing elsewhere: pieces of brackets, and bullets."""
# PDFium writes a hyphen at the end of a line as one control character, without a line end after it.
_WORD = re.compile("[^\\s\x02\ufffe]+[\x02\ufffe]?|[\x02\ufffe]")
_NOTE_NUMBER = re.compile(r"\d{1,3}(?=[^\W\d_])")
"""What may be the raised number of a footnote, written without a space before its first word."""
_RAISED_EMS = 0.2
_BOLD_NAME = re.compile(r"bold|black|heavy|semibd|demi|CMBX|CMSSBX|SFBX|SFSX", re.IGNORECASE)
_MONO_NAME = re.compile(r"courier|mono|MonL\b|typewriter|consol|CMTT|CMSLTT|SFTT|menlo|fixed", re.IGNORECASE)
_FIXED_PITCH, _FORCE_BOLD, _BOLD_WEIGHT = 1, 1 << 18, 600
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_MAX_RIGHT_TO_LEFT_SHARE = 0.1


class Word(NamedTuple):
    """A word from ``x0`` to ``x1`` on the baseline ``y``; ``size`` is the height of its font."""

    x0: float
    x1: float
    y: float
    size: float
    bold: bool
    mono: bool
    text: str


class Rule(NamedTuple):
    """A straight line on the page: horizontal at ``at`` from ``start`` to ``end``, or vertical."""

    horizontal: bool
    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class PageWords:
    """The words of a page in the order of its text, its rules, and texts that stand at another angle."""

    words: list[Word]
    rules: list[Rule]
    aside: list[str]


class _Style(NamedTuple):
    size: float
    bold: bool
    mono: bool
    turn: int


def page_words(text_page: PdfTextPage, others: Sequence[Word] = ()) -> PageWords | None:
    """The words of a page; None if their places tell nothing, as of Arabic or of far too much text.

    ``others`` are upright words that stand on it besides.
    """
    from pypdfium2 import raw

    count = raw.FPDFText_CountChars(text_page.raw)
    if count > MAX_PAGE_CHARACTERS:
        return None
    characters = page_characters(text_page, count)
    if len(_RIGHT_TO_LEFT.findall(characters)) > _MAX_RIGHT_TO_LEFT_SHARE * len(characters):
        return None
    by_turn = _Measure(text_page).words(characters)
    by_turn[0] += others
    turn = max(by_turn, key=lambda turn: len(by_turn[turn]))
    words = by_turn.pop(turn)
    aside = [word.text for others in by_turn.values() for word in others]
    return PageWords(
        words, list(_turned(_rules(text_page.page.raw), turn)), [" ".join(aside)] if aside else []
    )


def page_characters(text_page: PdfTextPage, count: int) -> str:
    """The characters of a page, one for each index of PDFium; those of fonts of signs as others have them."""
    characters = _raw_characters(text_page, count)
    return _LIGATURE.sub(lambda found: chr(ord(found[0]) - 0x1B + 0xFB00), characters).translate(_SIGNS)


def _raw_characters(text_page: PdfTextPage, count: int) -> str:
    from pypdfium2 import raw

    buffer = (c_ushort * (count + 1))()
    if raw.FPDFText_GetText(text_page.raw, 0, count, buffer) == count + 1:
        text = bytes(buffer)[:-2].decode("utf-16-le", "replace")
        if len(text) == count:
            return text
    codes = (raw.FPDFText_GetUnicode(text_page.raw, index) for index in range(count))
    return "".join(chr(code) if 0 < code < 0x110000 else "\x02" if code else " " for code in codes)


class _Measure:
    """Asks PDFium for the place and the font of words of one page."""

    def __init__(self, text_page: PdfTextPage) -> None:
        from pypdfium2 import raw

        self._raw = raw
        self._page = text_page.raw
        self._x, self._y = c_double(), c_double()
        self._box = raw.FS_RECTF()
        self._sides = (c_double(), c_double(), c_double(), c_double())
        self._matrix = raw.FS_MATRIX()
        self._name = create_string_buffer(128)
        self._styles: dict[int, _Style] = {}
        self._fonts: dict[int, tuple[bool, bool]] = {}

    def words(self, characters: str) -> dict[int, list[Word]]:
        """The words of the page by their angle in quarter turns; one that goes over a line in pieces."""
        upright: list[Word] = []
        by_turn: dict[int, list[Word]] = {0: upright}
        origin_of, box_of = self._raw.FPDFText_GetCharOrigin, self._raw.FPDFText_GetLooseCharBox
        page, x_of, y_of, box, style_of = self._page, self._x, self._y, self._box, self._style
        for match in _WORD.finditer(characters):
            start, end = match.span()
            number = _NOTE_NUMBER.match(match[0])
            if number and (raised := self._raised(start, number[0])):
                upright.append(raised)
                start += len(number[0])
            style = style_of(start)
            if style is None:
                continue
            size, bold, mono, turn = style
            origin_of(page, start, x_of, y_of)
            box_of(page, end - 1, box)
            x0, x1, y = x_of.value, box.right, y_of.value
            text = characters[start:end]
            if turn or not (box.bottom <= y <= box.top and x1 > x0):
                by_turn.setdefault(turn, []).extend(self._odd_words(start, text, style))
            else:
                upright.append(Word(x0, x1, y, size, bold, mono, text.translate(_SPELLED)))
        return by_turn

    def _raised(self, start: int, number: str) -> Word | None:
        """The raised number that a word begins with, as a word on its line; None if it is not raised."""
        style, following = self._style(start), self._style(start + len(number))
        if style is None or following is None or style.turn or following.turn:
            return None
        (x0, y), (x1, base) = self._origin(start), self._origin(start + len(number))
        if not (x0 < x1 and _RAISED_EMS * following.size < y - base < following.size):
            return None
        middle = (x0 + x1) / 2  # its end, so that there is room for a space behind it
        return Word(x0, middle, base, style.size, style.bold, style.mono, number)

    def _odd_words(self, start: int, text: str, style: _Style) -> Iterator[Word]:
        """A word that is turned, or whose characters are not on one line."""
        piece, first, last, base = "", 0.0, 0.0, 0.0
        for index, character in enumerate(text, start):
            origin, tight = self._origin(index), self._tight(index)
            x, y = _turned_point(*origin, style.turn)
            ends = (
                _turned_point(tight[0], tight[1], style.turn)[0],
                _turned_point(tight[2], tight[3], style.turn)[0],
            )
            if piece and abs(y - base) > 0.5 * style.size:
                yield Word(first, last, base, style.size, style.bold, style.mono, piece.translate(_SPELLED))
                piece = ""
            if not piece:
                first, base = x, y
            piece += character
            last = max(x + 0.1 * style.size, *ends)
        yield Word(
            first, max(first, last), base, style.size, style.bold, style.mono, piece.translate(_SPELLED)
        )

    def _origin(self, index: int) -> tuple[float, float]:
        self._raw.FPDFText_GetCharOrigin(self._page, index, self._x, self._y)
        return self._x.value, self._y.value

    def _tight(self, index: int) -> tuple[float, float, float, float]:
        left, right, bottom, top = self._sides
        self._raw.FPDFText_GetCharBox(self._page, index, left, right, bottom, top)
        return left.value, bottom.value, right.value, top.value

    def _style(self, index: int) -> _Style | None:
        """The font of a character; None if PDFium made the character up."""
        piece = self._raw.FPDFText_GetTextObject(self._page, index)
        if not piece:
            return None
        address = addressof(piece.contents)
        style = self._styles.get(address)
        if style is None:
            self._raw.FPDFText_GetMatrix(self._page, index, self._matrix)
            a, b, c, d = self._matrix.a, self._matrix.b, self._matrix.c, self._matrix.d
            scale = (c * c + d * d) ** 0.5
            turn = (1 if b > 0 else 3) if abs(b) > abs(a) else 2 if a < 0 and d < 0 else 0
            size = round(self._raw.FPDFText_GetFontSize(self._page, index) * scale, 1)
            style = _Style(max(size, 0.5), *self._font(self._raw.FPDFTextObj_GetFont(piece)), turn)
            self._styles[address] = style
        return style

    def _font(self, font: object) -> tuple[bool, bool]:
        """Whether a font is bold, and whether all its characters are equally wide."""
        if not font:
            return False, False
        address = addressof(font.contents)  # type: ignore[attr-defined]
        if address not in self._fonts:
            self._name.value = b""
            self._raw.FPDFFont_GetBaseFontName(font, self._name, 128)
            name, flags = self._name.value.decode("utf-8", "replace"), self._raw.FPDFFont_GetFlags(font)
            bold = _BOLD_NAME.search(name) or flags & _FORCE_BOLD
            bold = bold or self._raw.FPDFFont_GetWeight(font) >= _BOLD_WEIGHT
            mono = _MONO_NAME.search(name) or (flags > 0 and flags & _FIXED_PITCH)
            self._fonts[address] = bool(bold), bool(mono)
        return self._fonts[address]


def _rules(page: object) -> Iterator[Rule]:
    """The horizontal and vertical lines that a page draws, thin boxes and the edges of boxes among them."""
    from pypdfium2 import raw

    sides = (c_float(), c_float(), c_float(), c_float())
    matrix = raw.FS_MATRIX()
    left_over = _MAX_SEGMENTS
    for index in range(min(raw.FPDFPage_CountObjects(page), _MAX_OBJECTS)):
        drawn = raw.FPDFPage_GetObject(page, index)
        if raw.FPDFPageObj_GetType(drawn) != raw.FPDF_PAGEOBJ_PATH:
            continue
        segments = raw.FPDFPath_CountSegments(drawn)
        left_over -= segments
        if left_over < 0:
            return
        if segments <= 5 and raw.FPDFPageObj_GetBounds(drawn, *sides):
            left, bottom, right, top = (side.value for side in sides)
            if right - left <= _MAX_RULE_WIDTH or top - bottom <= _MAX_RULE_WIDTH:
                yield from _box_rules(left, bottom, right, top)
                continue
        raw.FPDFPageObj_GetMatrix(drawn, matrix)
        yield from _path_rules(drawn, segments, matrix)


def _box_rules(left: float, bottom: float, right: float, top: float) -> Iterator[Rule]:
    if top - bottom < right - left:
        yield Rule(True, (bottom + top) / 2, left, right)
    elif right - left < top - bottom:
        yield Rule(False, (left + right) / 2, bottom, top)


def _path_rules(path: object, count: int, m: FS_MATRIX) -> Iterator[Rule]:
    from pypdfium2 import raw

    x_of, y_of = c_float(), c_float()
    first = before = (0.0, 0.0)
    for index in range(count):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, x_of, y_of)
        x, y = x_of.value, y_of.value
        here = (m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            first = here
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield from _line_rules(before, here)
        if raw.FPDFPathSegment_GetClose(segment):
            yield from _line_rules(here, first)
        before = here


def _line_rules(start: tuple[float, float], end: tuple[float, float]) -> Iterator[Rule]:
    (x0, y0), (x1, y1) = start, end
    if abs(y1 - y0) < 1 and abs(x1 - x0) >= _MIN_RULE_LENGTH:
        yield Rule(True, (y0 + y1) / 2, min(x0, x1), max(x0, x1))
    elif abs(x1 - x0) < 1 and abs(y1 - y0) >= _MIN_RULE_LENGTH:
        yield Rule(False, (x0 + x1) / 2, min(y0, y1), max(y0, y1))


def _turned_point(x: float, y: float, turn: int) -> tuple[float, float]:
    """A point in the coordinates in which text turned by so many quarters to the left is upright."""
    return ((x, y), (y, -x), (-x, -y), (-y, x))[turn]


def _turned(rules: Iterator[Rule], turn: int) -> Iterator[Rule]:
    for rule in rules:
        if not turn:
            yield rule
            continue
        horizontal, at, start, end = rule
        corners = ((start, at), (end, at)) if horizontal else ((at, start), (at, end))
        (x0, y0), (x1, y1) = (_turned_point(*corner, turn) for corner in corners)
        if horizontal == (turn == 2):
            yield Rule(True, y0, min(x0, x1), max(x0, x1))
        else:
            yield Rule(False, x0, min(y0, y1), max(y0, y1))
