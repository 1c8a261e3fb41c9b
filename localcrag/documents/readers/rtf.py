"""Reader of RTF: striprtf makes plain text of it, and marks that stand for nothing else keep its structure.

striprtf writes the end of a cell as "|" and that of a paragraph as a line end, which a text may hold too, and
forgets headings and lists. So a single pass before it puts noncharacters of Unicode in place of the control
words that say this. The pass also bounds how deeply groups are nested, and keeps two patterns of striprtf
from what takes them quadratic time: the addresses of links, and a font table that is not one.
"""

from __future__ import annotations

import re

from localcrag.documents.block_text import BULLET, BlockText
from localcrag.documents.extracted import ExtractedText, Limits, one_line
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.table_grid import plain_rows
from localcrag.documents.table_pairs import document_lines
from localcrag.documents.table_rows import bounded_rows
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind

_CELL, _ROW, _PARAGRAPH, _RESET, _IN_TABLE, _LIST = map(chr, range(0xFDD0, 0xFDD6))
_HEADINGS = [chr(0xFDD6 + level) for level in range(9)]
_DEPTHS = [chr(0xFDE0 + depth) for depth in range(9)]
_MARKS = {
    "cell": _CELL,
    "row": _ROW,
    **dict.fromkeys(("par", "sect", "page"), _PARAGRAPH),
    "pard": _RESET,
    "intbl": _IN_TABLE,
    "listtext": _LIST,
    "nestcell": " ",
}
_NONCHARACTERS = re.compile("[\ufdd0-\ufdef]")
_MARK = re.compile("([\ufdd0-\ufdef])")
_CONTROL = re.compile(
    r"\\(?:[\\{}]|(?:(?P<mark>cell|row|par|sect|page|pard|intbl|nestcell|listtext(?:\\pard)?)|outlinelevel(?P<outline>[0-8])"
    r"|ilvl(?P<depth>[0-8])|s(?P<style>\d{1,4})|(?P<link>fldinst)|(?P<fonts>fonttbl))(?![a-zA-Z0-9-]) ?)"
    r"|(?P<brace>[{}])",
)
_HEADING_STYLE = re.compile(r"\\s(\d{1,4})(?!\d)[^{};]{0,2000}? (?:heading ([1-9])|title);\}", re.IGNORECASE)
_FONT = re.compile(r"\\f(\d{1,5})(?!\d)[^;]{0,200}?\\fcharset(\d{1,3})(?!\d)")
_FONT_TABLE = re.compile(r"\{[^{}]{0,20}\\fonttbl")
_MAX_FONT_TABLE = 1_000_000
"""Characters of the font table that are looked at."""
_NO_CODECS = frozenset({"78", "79", "80", "82", "85", "86", "87", "88", "89"})
"""Character sets of the old Macintosh that Python does not know."""
_TITLE = re.compile(r"\{\\title ([^{}]{0,2000})\}")
_MAX_DEPTH = 1_000
"""Groups of RTF inside one another."""


def read_rtf(data: bytes, limits: Limits) -> ExtractedText:
    """Read headings, paragraphs, lists and the rows of tables; pictures, notes and page headers are left out.

    Raises UnreadableError: damaged, nested too deeply, or more text than ``limits.text``.
    """
    source = _source(data)
    named = _TITLE.search(source)
    title = one_line(_plain(rf"{{\rtf1 {named[1]}}}")) if named else ""
    made = BlockText(limits)
    _Reading(made).read(_plain(_marked(source)))
    return ExtractedText(title, MEDIA_TYPES[DocumentFormat.RTF], (made.page(),))


def _source(data: bytes) -> str:
    """The RTF as text; bytes beyond ASCII, which it should escape, are escaped unless they are UTF-8."""
    if data.isascii() or b"\\bin" in data:  # the bytes of a picture are counted
        return data.decode("latin-1")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return re.sub(rb"[\x80-\xff]", lambda byte: b"\\'%02x" % ord(byte[0]), data).decode("ascii")


def _marked(source: str) -> str:
    """The RTF with marks for its structure. Raises UnreadableError if it is nested too deeply."""
    source = _NONCHARACTERS.sub("", source)
    levels = {style: int(level or 1) for style, level in _HEADING_STYLE.findall(source)}
    depth = 0

    def mark(found: re.Match[str]) -> str:
        nonlocal depth
        match found.lastgroup:
            case "brace":
                depth += 1 if found["brace"] == "{" else -1
                if depth > _MAX_DEPTH:
                    raise UnreadableError("RTF nested too deeply")
            case "mark":
                return _escaped(_MARKS[found["mark"].removesuffix("\\pard")])
            case "outline":
                return _escaped(_HEADINGS[int(found["outline"])])
            case "depth":
                return _escaped(_DEPTHS[int(found["depth"])])
            case "style" if found["style"] in levels:
                return _escaped(_HEADINGS[levels[found["style"]] - 1])
            case "link":
                return "\\fldinst\n"
            case "fonts":
                return "\\*\\fonttbl "
        return found[0]

    return _CONTROL.sub(mark, "{" + _font_table(source) + source[1:])


def _escaped(mark: str) -> str:
    return f"{{\\uc0\\u{ord(mark)} }}"


def _font_table(source: str) -> str:
    """A font table that says of each font which character set it has, and nothing else."""
    start = _FONT_TABLE.search(source)
    if start is None:
        return ""
    fonts = dict(_FONT.findall(source, start.start(), start.start() + _MAX_FONT_TABLE))
    entries = (
        f"{{\\f{font}\\fcharset{code} x;}}\n" for font, code in fonts.items() if code not in _NO_CODECS
    )
    return f"{{\\fonttbl{''.join(entries)}}}"


def _plain(source: str) -> str:
    from striprtf.striprtf import rtf_to_text

    try:
        text: str = rtf_to_text(source, errors="replace")  # type: ignore[no-untyped-call]
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    except (ValueError, TypeError, LookupError, OverflowError) as error:
        raise UnreadableError("damaged RTF") from error


class _Reading:
    """Writes the blocks of a text with marks to ``made``."""

    def __init__(self, made: BlockText) -> None:
        self._made = made
        self._text: list[str] = []
        self._cells: list[str] = []
        self._table: list[list[str]] = []
        self._level = self._depth = 0
        self._in_table = self._in_list = False

    def read(self, text: str) -> None:
        """Append all blocks."""
        for piece in _MARK.split(text):
            if not _NONCHARACTERS.match(piece):
                self._text.append(piece)
            elif piece in _HEADINGS:
                self._level = _HEADINGS.index(piece) + 1
            elif piece in _DEPTHS:
                self._depth = _DEPTHS.index(piece)
            elif piece == _CELL:
                self._cells.append(self._words())
            elif piece == _ROW:
                self._end_row()
            elif piece == _PARAGRAPH and not self._in_table:
                self._end_paragraph()
            elif piece == _PARAGRAPH:
                self._text.append(" ")
            elif piece == _LIST:
                self._in_list = True
            else:
                self._in_table = piece == _IN_TABLE
                self._level = 0
        self._end_row()
        self._end_paragraph()
        self._end_table()

    def _words(self) -> str:
        words = " ".join("".join(self._text).split())
        self._text.clear()
        self._in_list = False
        return words

    def _end_row(self) -> None:
        if self._cells:
            rest = self._words()
            self._table.append([*self._cells, rest] if rest else [*self._cells])
            self._cells.clear()

    def _end_paragraph(self) -> None:
        label, tab, _ = "".join(self._text).partition("\t") if self._in_list else ("", "", "")
        listed, label = self._in_list, " ".join(label.split())
        words = self._words()
        if not words:
            return
        self._end_table()
        if self._level:
            self._made.add(BlockKind.HEADING, words, level=self._level)
        elif listed and tab:
            marker = f"{label} " if label[:1].isalnum() else BULLET
            self._made.add(BlockKind.ITEM, words.removeprefix(label), level=self._depth, marker=marker)
        else:
            self._made.add(BlockKind.PARAGRAPH, words)

    def _end_table(self) -> None:
        if self._table:
            self._made.part()
        for row in document_lines(bounded_rows(plain_rows(row for row in self._table if any(row)))):
            self._made.add(BlockKind.ROW, row)
        self._table.clear()
