"""Org files as blocks of plain text: headings, items, tables, code, without the marks of Org.

What Emacs keeps for itself is left out: settings, identifiers, logged times, formulas of tables, comments.

orgparse 0.5 does not parse them: it refuses a file in which one date or one effort is impossible, leaves out
the text below a drawer that never ends and a line of prose with a deadline, takes quadratic time for long
lines, and knows neither lists nor code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localcrag.documents.block_text import BULLET, BlockText
from localcrag.documents.extracted import Limits
from localcrag.documents.source_walk import SourceWalk
from localcrag.documents.table_grid import GridRow
from localcrag.documents.table_pairs import document_lines
from localcrag.types import CELL_SEPARATOR, BlockKind, Page

_HEADING = re.compile(r"(\*+)[ \t]+(.*)")
_PRIORITY = re.compile(r"\[#[A-Z0-9]\][ \t]*")
_TAGS = re.compile(r"[ \t]+:([\w@#%:]+):[ \t]*$")
_KEYWORD = re.compile(r"[ \t]*#\+(\w+)(?:\[[^\]\n]*\])?:[ \t]*(.*)")
_SHOWN_KEYWORDS = ("author", "date", "description", "subtitle")
_BEGIN = re.compile(r"[ \t]*#\+begin_(\w+)", re.IGNORECASE)
_CODE_BLOCKS = frozenset({"src", "example", "export"})
_ESCAPE = re.compile(r"(?<![^ \t]),(?=,*(?:\*|#\+))")
"""The comma before a line of code that would be a heading or a keyword."""
_COMMENT = re.compile(r"[ \t]*#(?:[ \t]|$|\+)")
_FIXED = re.compile(r"[ \t]*:(?:[ \t](.*)|$)")
_DRAWER = re.compile(r"[ \t]*:([\w-]+):[ \t]*$")
_PROPERTY = re.compile(r"[ \t]*:([\w-]+)\+?:[ \t]+(.*)")
_OWN_PROPERTIES = frozenset({"id", "custom_id", "category", "header-args", "visibility", "ordered"})
"""Properties that mean something to Emacs alone."""
_PLANNING = re.compile(r"\b(DEADLINE|SCHEDULED|CLOSED):[ \t]*([<\[][^>\]\n]*[>\]])")
_ITEM = re.compile(
    r"([ \t]*)([-+]|[ \t]\*|\d{1,4}[.)]|[A-Za-z][.)])[ \t]+(?:\[@\d+\][ \t]*)?(\[[ Xx-]\][ \t]+)?(?=\S)"
)
_TERM = re.compile(r"[ \t]+::(?:[ \t]+|$)")
_TABLE_LINE = re.compile(r"[ \t]*\|")
_TABLE_RULE = re.compile(r"[ \t]*\|[-+|]*-[-+|]*[ \t]*$")
_LINK = re.compile(r"\[\[([^\[\]\n]*)\](?:\[([^\[\]\n]*)\])?\]")
_TIME = re.compile(r"[<\[](\d{4}-\d\d-\d\d(?: [^<>\[\]\n]*)?)[>\]]")
_NOTE_MARK = re.compile(r"\[fn:[\w-]+\]")
_NOTE = re.compile(r"\[fn:([\w-]+)\][ \t]*(?=\S)")
_EMPHASIS = re.compile(r"(?<![\w*/_+=~])([*/_+=~])(?=\S)([^\n]{0,400}?)(?<=\S)\1(?![\w*/_+=~])")
_INDENT_CHARACTERS = 2
_BOXES = {" ": "☐ ", "X": "☑ ", "x": "☑ ", "-": "☐ "}


def org_page(text: str, limits: Limits | None = None) -> Page:
    """An Org text as a page of blocks. Raises UnreadableError if it becomes longer than the limits allow."""
    made = BlockText(limits)
    _Walk(made, text.split("\n")).all()
    return made.page()


class _Walk(SourceWalk):
    """Appends the blocks of the lines of an Org text, one after the other."""

    def __init__(self, made: BlockText, lines: Sequence[str]) -> None:
        super().__init__(made, lines)
        self._deeper = 0

    def all(self) -> None:
        """Append all blocks."""
        self._keywords()
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            if heading := _HEADING.match(line):
                self._end()
                self._heading(len(heading[1]), heading[2])
            elif not self._apart(line) and not line.strip():
                self._end()
        self._end()

    def _keywords(self) -> None:
        """The title of the document as its heading, and a row of what else its first lines say of it."""
        said: dict[str, str] = {}
        for line in self._lines:
            found = _KEYWORD.match(line)
            if found:
                said.setdefault(found[1].lower(), _plain(found[2]))
            elif line.strip() and not _COMMENT.match(line):
                break
        self._made.add(BlockKind.HEADING, said.get("title", ""), level=1)
        self._deeper = int(bool(said.get("title")))
        shown = (f"{name}: {said[name]}" for name in _SHOWN_KEYWORDS if said.get(name))
        self._made.add(BlockKind.ROW, CELL_SEPARATOR.join(shown))

    def _heading(self, level: int, title: str) -> None:
        tags = _TAGS.search(title)
        title = _PRIORITY.sub("", title[: tags.start()] if tags else title)
        self._made.add(BlockKind.HEADING, _plain(title), level=level + self._deeper)
        if tags:
            self._made.add(BlockKind.ROW, f"tags: {', '.join(filter(None, tags[1].split(':')))}")

    def _apart(self, line: str) -> bool:
        """Append what a line begins, or takes further; whether it is more than a blank line."""
        if (begun := _BEGIN.match(line)) and (inside := self._until(f"#+end_{begun[1]}")) is not None:
            self._block(begun[1].lower(), inside)
        elif (drawer := _DRAWER.match(line)) and (inside := self._until(":end:")) is not None:
            self._drawer(drawer[1].lower(), inside)
        elif drawer:
            pass  # it never ends, so that only its name is left out
        elif _TABLE_LINE.match(line):
            self._table(line)
        elif fixed := _FIXED.match(line):
            self._fixed(fixed[1] or "")
        elif keyword := _KEYWORD.match(line):
            if keyword[1].lower() == "caption":
                self._end()
                self._made.add(BlockKind.CAPTION, _plain(keyword[2]))
        elif _COMMENT.match(line):
            pass
        elif planned := _PLANNING.findall(line):
            self._end()
            said = CELL_SEPARATOR.join(f"{name.capitalize()}: {_plain(time)}" for name, time in planned)
            self._made.add(BlockKind.ROW, said)
        elif item := _ITEM.match(line):
            self._end(is_list=True)
            level = len(item[1].expandtabs()) // _INDENT_CHARACTERS
            marker = f"{item[2]} " if item[2][0].isalnum() else BULLET
            self._item = level, marker
            box = _BOXES[item[3][1]] if item[3] else ""
            self._paragraph = [box + _TERM.sub(": ", line[item.end() :], count=1)]
        elif line.strip():
            if self._item and not line[0].isspace():
                self._end()
            self._paragraph.append(line)
        else:
            return False
        return True

    def _end(self, *, is_list: bool = False) -> None:
        """Append the paragraph or the item that was begun; ``is_list`` if an item is next."""
        text = _plain(" ".join(line.strip() for line in self._paragraph))
        note = _NOTE.match(text)
        text = _NOTE_MARK.sub("", f"[{note[1]}] {text[note.end() :]}" if note else text)
        if self._item:
            level, marker = self._item
            self._made.add(BlockKind.ITEM, text, level=level, marker=marker)
        else:
            self._made.add(BlockKind.PARAGRAPH, text)
            if is_list:
                self._made.part()
        self._paragraph, self._item = [], None

    def _until(self, end: str) -> list[str] | None:
        """The lines up to the one that ends them, in letters of any case; None if no line does."""
        wanted = end.lower()
        return self._taken(wanted, lambda line: line.strip().lower() == wanted)

    def _block(self, name: str, inside: Sequence[str]) -> None:
        self._end()
        if name in _CODE_BLOCKS:
            self._made.add(BlockKind.CODE, "\n".join(_ESCAPE.sub("", line) for line in inside))
        elif name != "comment":
            for paragraph in "\n".join(line.strip() for line in inside).split("\n\n"):
                self._made.add(BlockKind.PARAGRAPH, _plain(" ".join(paragraph.split("\n"))))

    def _drawer(self, name: str, inside: Sequence[str]) -> None:
        self._end()
        if name != "properties":
            return
        found = filter(None, map(_PROPERTY.match, inside))
        shown = [(each[1], _plain(each[2])) for each in found if each[1].lower() not in _OWN_PROPERTIES]
        said = (f"{name.replace('_', ' ').capitalize()}: {value}" for name, value in shown if value)
        self._made.add(BlockKind.ROW, CELL_SEPARATOR.join(said))

    def _fixed(self, first: str) -> None:
        self._end()
        lines = [first, *(more[1] or "" for more in self._following(_FIXED))]
        self._made.add(BlockKind.CODE, "\n".join(lines))

    def _table(self, first: str) -> None:
        self._end()
        self._made.part()
        for line in document_lines(_rows([first, *(row.string for row in self._following(_TABLE_LINE))])):
            self._made.add(BlockKind.ROW, line)


def _rows(lines: Sequence[str]) -> Iterator[GridRow]:
    """The rows of a table; those above its first rule are its header if rows stand below it."""
    rules = [number for number, line in enumerate(lines) if _TABLE_RULE.match(line)]
    inner = [rule for rule in rules if any(number not in rules for number in range(rule))]
    head = inner[0] if inner and len(lines) - 1 > inner[0] else 0
    for number, line in enumerate(lines):
        if not _TABLE_RULE.match(line):
            cells = [_plain(cell.strip()) for cell in line.strip().strip("|").split("|")]
            yield GridRow(number + 1, cells, is_head=number < head)


def _plain(text: str) -> str:
    """Words without the marks of links, times, and emphasis."""
    text = _LINK.sub(lambda link: link[2] or link[1], text)
    text = _TIME.sub(r"\1", text)
    return _EMPHASIS.sub(r"\2", text).replace("\\\\", " ").strip()
