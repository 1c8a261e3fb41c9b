"""Manual pages with the macros of man(7) as blocks of plain text.

A tagged paragraph, such as an option with what it does, is an item with its tag in front: "-a, --all: do not
ignore entries". So is an option that a program wrote without a tag: as a paragraph, above a line that stands
further in or above paragraphs of ".IP". Tables of tbl(1) are rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from localcrag.documents.block_text import BULLET, BlockText
from localcrag.documents.roff_lines import RoffLine, RoffLines
from localcrag.documents.table_pairs import plain_lines
from localcrag.documents.table_rows import with_headers
from localcrag.types import BlockKind

_FONTS = frozenset({"B", "I", "R", "SM", "SB"})
_ALTERNATING_FONTS = frozenset({"BR", "RB", "BI", "IB", "IR", "RI"})
_REMARK = re.compile(r"(?:\([^()]*\))?")
"""What stands behind the tag of an item on a line of its own, if anything does."""
_BREAKS = frozenset({"PP", "P", "LP", "HP", "sp", "br", "Sp"})
_CODE_BEGINS, _CODE_ENDS = frozenset({"nf", "EX", "Vb"}), frozenset({"fi", "EE", "Ve"})
_OTHERS = "TH SH SS TP TQ IP RS RE SY YS OP UR UE MT ME TS so"
_MACROS = frozenset(_OTHERS.split()) | _FONTS | _ALTERNATING_FONTS | (_BREAKS - {"Sp"})
_BULLETS = frozenset("•*-–—+o·○□")
_NUMBERED = re.compile(r"\(?\w{1,3}[.)]$")
_BULLET_IN_FRONT = re.compile("[•·○] *(?=\\S)")
_OPTION = re.compile(r"--?[^\W_]|-[?#@]")
"""How an option begins."""
_TAB_OPTION = re.compile(r"tab\s*\((.)\)")
_ENDS_OF_SENTENCES = ".:;!?,"
_MAX_TAG = 120
"""Characters of a tag that no macro calls one."""
_MAX_DEPTH = 8


def add_man(made: BlockText, text: str) -> str:
    """Append the blocks of a page; returns its title, as "ls(1)", or "" if it has none."""
    walk = _Walk(made, RoffLines(text, _MACROS))
    walk.read()
    return walk.title


class _Walk:
    """Reads lines into blocks.

    ``_awaits`` is what the next text is for: the level of a heading, or 0 for a tag; None for a paragraph.
    ``_is_option`` says that the lead is an option that no macro calls a tag, ``_is_indented`` that the first
    line of a paragraph stands further in.
    """

    def __init__(self, made: BlockText, lines: RoffLines) -> None:
        self._made, self._lines = made, lines
        self.title = ""
        self._words: list[str] = []
        self._code: list[str] | None = None
        self._lead = self._marker = ""
        self._is_item = self._glued = self._is_option = self._is_indented = False
        self._awaits: int | None = None
        self._depth = self._level = 0
        self._address, self._before = "", 0

    def read(self) -> None:
        """Append all blocks."""
        for line in self._lines.all():
            if line.macro:
                self._macro(line)
            else:
                self._text(line.text, glued=line.goes_on)
        self._end_code()

    def _macro(self, line: RoffLine) -> None:
        match line.macro:
            case "TH":
                self.title = page_title(line.arguments)
            case "SH" | "SS":
                self._end_code()
                self._awaits, self._depth = (1 if line.macro == "SH" else 2), 0
                self._text(line.text)
            case "TP":
                self._begin_item()
                self._awaits = 0
            case "TQ":
                self._flush_words()
                self._awaits = 0
            case "IP" if line.arguments or not self._goes_on():
                self._begin_item(line.arguments[0] if line.arguments else "")
            case "RS":
                if not self._is_tag():
                    self._flush()
                self._depth = min(self._depth + 1, _MAX_DEPTH)
            case "RE":
                self._flush()
                self._depth = max(0, self._depth - 1)
            case "SY" | "YS":
                self._break()
                self._text(line.text)
            case "OP":
                self._text(f"[{line.text}]")
            case "UR" | "MT" | "UE" | "ME":
                self._link(line)
            case "TS":
                self._table()
            case name if name in _FONTS:
                self._text(line.text, glued=line.goes_on)
            case name if name in _ALTERNATING_FONTS:
                self._text("".join(line.arguments), glued=line.goes_on)
            case name if name in _BREAKS:
                self._break(blank=name != "br")
            case name if name in _CODE_BEGINS:
                self._flush()
                self._code = self._code or []
            case name if name in _CODE_ENDS:
                self._end_code()

    def _text(self, text: str, *, glued: bool = False) -> None:
        if self._code is not None and self._awaits is None:
            self._code.append(text)
            return
        if not text.strip():
            self._flush()
            return
        if self._awaits:
            self._made.add(BlockKind.HEADING, " ".join(text.split()), level=self._awaits)
            self._awaits = None
        elif self._awaits == 0:
            self._lead = ", ".join(filter(None, (self._lead, " ".join(text.split()))))
            self._awaits = None
        else:
            if text[0].isspace() and not self._glued and not self._describes_option(text):
                self._flush()
            if not self._words:
                self._is_indented = text[0].isspace()
            if self._glued and self._words:
                self._words[-1] += text.strip()
            else:
                self._words.append(text.strip())
            self._glued = glued

    def _begin_item(self, tag: str = "") -> None:
        """Begin an item with that tag, which may be a bullet or a number."""
        self._end_code()
        self._level = self._depth
        tag = tag.strip()
        if tag in _BULLETS:
            self._marker, self._is_item = BULLET, True
        elif _NUMBERED.match(tag):
            self._marker, self._is_item = f"{tag} ", True
        else:
            self._lead = tag

    def _is_tag(self) -> bool:
        """Whether the short paragraph before an indented text is its tag, as DocBook writes them."""
        text = " ".join(self._words)
        if self._is_item or self._lead or not 0 < len(text) <= _MAX_TAG or text[-1] in _ENDS_OF_SENTENCES:
            return False
        self._lead, self._level = text, self._depth
        self._words = []
        return True

    def _describes_option(self, text: str = "") -> bool:
        """Whether a paragraph, which may begin with a text, tells what the option before it does.

        The option is then its tag. Lines of an example, which stand further in or begin with options as well,
        are no tags.
        """
        words = " ".join(self._words)
        if self._is_indented or not _OPTION.match(words) or _OPTION.match(text.lstrip()):
            return False
        self._is_option = self._is_tag()
        return self._is_option

    def _goes_on(self) -> bool:
        """Whether a paragraph of ".IP" without a tag belongs to the option before it."""
        return self._code is None and (self._is_option or self._describes_option())

    def _break(self, *, blank: bool = True) -> None:
        """End a paragraph or a line; an item goes on behind its tag and a remark on it: "(Keyword: keep)"."""
        if self._code is None:
            if blank or not self._lead or not _REMARK.fullmatch(" ".join(self._words)):
                self._flush()
        elif blank:
            self._code.append("")

    def _flush(self) -> None:
        """End the paragraph or item that has begun; one with a tag and no text is its tag."""
        self._awaits = None
        words = " ".join(" ".join(self._words).split())
        self._words, self._glued = [], False
        lead, marker = self._lead, self._marker
        is_item = self._is_item or bool(lead)
        self._lead, self._marker, self._is_item, self._is_option = "", "", False, False
        level = self._level
        if not is_item and (bullet := _BULLET_IN_FRONT.match(words)):
            words, marker, is_item, level = words[bullet.end() :], BULLET, True, max(0, self._depth - 1)
        if is_item:
            text = f"{lead.removesuffix(':')}: {words}" if lead and words else lead or words
            self._made.add(BlockKind.ITEM, text, level=level, marker=marker)
        else:
            self._made.add(BlockKind.PARAGRAPH, words)

    def _flush_words(self) -> None:
        """End an item before a further tag, unless it is the tag of the same item."""
        if self._words:
            self._flush()

    def _end_code(self) -> None:
        self._flush()
        if self._code is not None:
            self._made.add(BlockKind.CODE, "\n".join(line.rstrip() for line in self._code))
            self._code = None

    def _link(self, line: RoffLine) -> None:
        """A link shows its text, or its address if it has none."""
        if line.macro in ("UR", "MT"):
            self._address, self._before = line.text, len(self._words)
        elif len(self._words) == self._before:
            self._text(self._address + line.text)
        elif self._words:
            self._words[-1] += line.text

    def _table(self) -> None:
        self._end_code()
        self._made.part()
        rows = list(_rows(self._lines))
        for row in plain_lines(rows) or with_headers(rows):
            self._made.add(BlockKind.ROW, row)
        self._made.part()


def page_title(arguments: list[str]) -> str:
    """The title of a page as it is referred to: "ls(1)"."""
    name, section = [*arguments, "", ""][:2]
    name = name.lower() if name.isupper() else name
    return f"{name}({section})" if name and section else name


def _rows(lines: RoffLines) -> Iterator[list[str]]:
    """The rows of a table of tbl(1) that have cells."""
    separator, in_format = "\t", True
    above: list[str] = []
    source = lines.until("TE")
    for line in source:
        if in_format:
            if option := _TAB_OPTION.search(line):
                separator = option[1]
            in_format = not line.rstrip().endswith(".")
            continue
        if line.startswith(".T&"):
            in_format = True
            continue
        if line.startswith(".") and not line.startswith(".\\"):
            continue
        cells = [cell.strip() for cell in _cells(line, separator, source, lines)]
        cells = ["" if cell in ("_", "=", "\\_") else cell for cell in cells]
        cells = [above[at] if cell == "\\^" and at < len(above) else cell for at, cell in enumerate(cells)]
        above = cells
        shown = [" ".join(lines.plain(cell).split()) for cell in cells]
        if any(shown):
            yield shown


def _cells(line: str, separator: str, source: Iterator[str], lines: RoffLines) -> Iterator[str]:
    """The cells of a row as they stand; a block of text goes on over several lines."""
    while True:
        pieces = line.split(separator)
        yield from (piece for piece in pieces if piece != "T{")
        if pieces[-1] != "T{":
            return
        text, line = _block(source, lines)
        if not line:
            yield text
            return
        yield text
        line = line.removeprefix(separator)


def _block(source: Iterable[str], lines: RoffLines) -> tuple[str, str]:
    """The text of a cell that is a block, and the rest of its last line."""
    words: list[str] = []
    for line in source:
        if line.startswith("T}"):
            return " ".join(words), line[2:]
        words.append(_words_of_request(lines.arguments(line[1:])) if line[:1] in (".", "'") else line)
    return " ".join(words), ""


def _words_of_request(words: list[str]) -> str:
    """The text of a macro for fonts; "" for any other."""
    if words and words[0] in _ALTERNATING_FONTS:
        return "".join(words[1:])
    return " ".join(words[1:]) if words and words[0] in _FONTS else ""
