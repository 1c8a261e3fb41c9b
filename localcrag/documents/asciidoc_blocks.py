"""AsciiDoc as blocks of plain text: headings, items, tables, code, without the marks of AsciiDoc.

The attributes of blocks, anchors, comments and the settings of the document are left out. What is included
from other files is not read.

asciidoctrine 0.2, the one parser in Python that is free and needs no Ruby, takes half a second for a
kilobyte, and refuses a source whose block never ends or that includes a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import dedent

from localcrag.documents.asciidoc_header import (
    ATTRIBUTE,
    COMMENT,
    COMMENT_FENCE,
    INCLUDE,
    TITLE,
    Header,
    attribute_value,
    is_underline,
    read_header,
    section_titles,
    source_lines,
    title_at,
)
from localcrag.documents.asciidoc_lists import ITEM, TERM, OpenLists, task
from localcrag.documents.asciidoc_style import is_style_line
from localcrag.documents.asciidoc_styled import StyledBlocks
from localcrag.documents.asciidoc_words import Definitions, plain
from localcrag.documents.block_text import BULLET, BlockText
from localcrag.documents.extracted import Limits, one_line
from localcrag.documents.source_walk import SourceWalk
from localcrag.types import CELL_SEPARATOR, BlockKind, Page

_CODE_FENCE = re.compile(r"(-{4,}|\.{4,})$|(```)[\w+#.-]*$")
_PASS_FENCE = re.compile(r"\+{4,}$")
_TABLE_FENCE = re.compile(r"([|,:!])={3,}$")
_FENCE = re.compile(r"(?:={4,}|\*{4,}|_{4,}|--)$")
"""The first or last line of a block whose content is read as any other."""
_RULE = re.compile(r"(?:'{3,}|<{3,}|---|\*\*\*|- - -|\* \* \*)$")
"""A line that only parts others, or ends a page."""
_CAPTION = re.compile(r"\.(\.?[^ \t.].*)$")
_MACRO = re.compile(r"(\w[\w-]*)::((?:[^\s\[\]][^\[\]]*)?)\[(.*)\]$")
_QUOTED_LINE = re.compile(r">[ \t]?")


def asciidoc_page(text: str, limits: Limits | None = None) -> tuple[Header, Page]:
    """An AsciiDoc source as its header and a page of blocks.

    Raises UnreadableError if it becomes longer than the limits allow.
    """
    made, known, lines = BlockText(limits), Definitions(), source_lines(text.replace("\0", ""))
    header = read_header(lines, known)
    known.titles.update(section_titles(lines))
    title = plain(header.title, known)
    made.add(BlockKind.HEADING, title, level=1)
    made.add(BlockKind.ROW, CELL_SEPARATOR.join(header.shown))
    _Walk(made, lines[header.end :], known).all()
    return header._replace(title=one_line(title)), made.page()


class _Walk(SourceWalk):
    """Appends the blocks of the lines of an AsciiDoc source, one after the other."""

    def __init__(self, made: BlockText, lines: Sequence[str], known: Definitions) -> None:
        super().__init__(made, lines)
        self._known = known
        self._term = ""
        self._lists = OpenLists()
        self._around: list[tuple[str, OpenLists]] = []
        self._out = StyledBlocks(made, known)

    def all(self) -> None:
        """Append all blocks."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            self._at += 1
            if not line:
                if not self._term or self._paragraph:
                    self._end()
            elif not (
                self._is_silent(line)
                or self._fenced(line)
                or (self._is_free() and self._begun(line))
                or self._listed(line)
            ):
                self._paragraph.append(line)
        self._end()
        self._out.add(BlockKind.PARAGRAPH, "")

    def _is_free(self) -> bool:
        """Whether the next line begins a block, as none goes on."""
        return not self._paragraph and self._item is None

    def _is_silent(self, line: str) -> bool:
        """Pass over a line that no reader sees: a comment, an attribute of a block, a file to include."""
        if COMMENT_FENCE.match(line):
            self._end()
            self._taken(line, line.__eq__)
        elif line == "+":
            self._end()
            self._out.is_attached = True
        elif is_style_line(line):
            self._end()
            self._out.style.add(line)
            if self._out.style.credit:
                self._out.add(BlockKind.CAPTION, self._out.plain(self._out.style.credit), keeps_style=True)
                self._out.style.credit = ""
        elif INCLUDE.match(line):
            self._end()
        else:
            return COMMENT.match(line) is not None
        return True

    def _fenced(self, line: str) -> bool:
        """Append the block that a line fences; whether it does."""
        is_second = len(self._paragraph) == 1 and self._paragraph[0] == self._lines[self._at - 2]
        if is_second and self._item is None and is_underline(line, self._paragraph[0]):
            self._at -= 2
            self._paragraph = []
            return self._title()
        if code := _CODE_FENCE.match(line):
            self._out.add_code(self._inside(code[1] or code[2]))
        elif _PASS_FENCE.match(line):
            self._out.add_passed(self._inside(line))
        elif table := _TABLE_FENCE.match(line):
            self._out.add_table(table[1], self._inside(line), self._cell)
        elif _FENCE.match(line):
            self._end()
            if self._out.style.is_code and line == "--":
                self._out.add_code(self._inside(line))
            elif self._out.style.name == "verse":
                self._out.add_verse(self._inside(line))
            elif self._out.style.name == "comment":
                self._inside(line)
            else:
                self._enclosed(line)
        else:
            return False
        return True

    def _enclosed(self, fence: str) -> None:
        """Begin or end the content of a fenced block, in which the lists around it do not go on."""
        self._out.style.end(but_label=True)
        if any(fence == other for other, _ in self._around):
            while self._around:
                other, self._lists = self._around.pop()
                if other == fence:
                    break
        else:
            self._lists.end(is_attached=self._out.is_attached)
            self._around.append((fence, self._lists))
            self._lists = OpenLists()
        self._out.is_attached = False

    def _begun(self, line: str) -> bool:
        """Append the block that begins with a line and is told by it; whether it is."""
        if TITLE.match(line):
            self._at -= 1
            return self._title()
        if entry := ATTRIBUTE.match(line):
            value, self._at = attribute_value(self._lines, self._at, entry[4] or "")
            if entry[1] or entry[3]:
                self._known.forget(entry[2])
            else:
                self._known.define(entry[2], value)
        elif caption := _CAPTION.match(line):
            said = self._out.style.named.get("caption", "") + caption[1]
            self._out.add(BlockKind.CAPTION, self._out.plain(said), keeps_style=True)
        elif macro := _MACRO.match(line):
            self._out.add_macro(*macro.groups())
        elif self._out.style.takes_lines or (
            line[0].isspace() and not ITEM.match(line) and not TERM.match(line)
        ):
            self._lined(line)
        else:
            return _RULE.match(line) is not None
        return True

    def _listed(self, line: str) -> bool:
        """Begin the item of a list that begins with a line; whether one does."""
        is_free = self._is_free() or self._item is not None
        if (item := ITEM.match(line)) and (is_free or item[1][0] in "*-•"):
            self._end()
            if not self._lists:
                self._made.part()
            level, marker = self._lists.begun(item[1], self._out.style.start)
            self._out.flush_label()
            self._item, self._paragraph = (level, marker or BULLET), [task(item[2])]
        elif is_free and (term := TERM.match(line)):
            words, deeper = self._out.plain(term[1]), self._lists.begun(term[2], 0)[0]
            if self._term and not self._paragraph and self._item == (deeper, BULLET):
                words = f"{self._term}, {words}"
            else:
                self._end()
                self._out.flush_label()
            self._term, self._item = words, (deeper, BULLET)
            self._paragraph = [term[3]] if term[3] else []
        else:
            return False
        self._out.is_attached = False
        return True

    def _end(self) -> None:
        """Append the paragraph or the item that was begun."""
        lines, item, term = self._paragraph, self._item, self._term
        self._paragraph, self._item, self._term = [], None, ""
        if item:
            text = self._out.plain("\n".join(line.strip() for line in lines))
            if term:
                text = f"{term}{' ' if term[-1] in '?!.:' else ': '}{text}" if text else term
            self._out.add_item(text, *item)
        elif lines:
            self._lists.end(is_attached=self._out.is_attached)
            if lines[0].startswith("> "):
                lines = [_QUOTED_LINE.sub("", line, count=1) for line in lines]
            self._out.add(BlockKind.PARAGRAPH, self._out.plain("\n".join(line.strip() for line in lines)))

    def _inside(self, fence: str) -> list[str]:
        """The lines of a fenced block; none if it never ends, so that its lines are read as any others."""
        self._end()
        self._lists.end(is_attached=self._out.is_attached)
        return self._taken(fence, fence.__eq__) or []

    def _title(self) -> bool:
        title = title_at(self._lines, self._at)
        if title:
            self._at = title.end
            self._lists.end()
            self._out.add(BlockKind.HEADING, self._out.plain(title.text), level=title.level)
        return title is not None

    def _lined(self, first: str) -> None:
        """Append the lines up to a blank one as code or verse."""
        begin = self._at - 1
        while self._at < len(self._lines) and self._lines[self._at] and self._lines[self._at] != "+":
            self._at += 1
        lines = [first, *self._lines[begin + 1 : self._at]]
        if self._out.style.name == "verse":
            self._out.add_verse(lines)
        elif self._out.style.name == "comment":
            self._out.style.end()
        else:
            self._out.add_code(dedent("\n".join(lines)).split("\n"))

    def _cell(self, text: str, style: str) -> str:
        """The words of a cell of a table, which may be AsciiDoc of its own."""
        if style in ("l", "m"):
            return text.strip()
        if style != "a":
            return " ".join(self._out.plain(text.strip()).split())
        made = BlockText()
        _Walk(made, [line.rstrip() for line in text.strip().split("\n")], self._known).all()
        return " ".join(made.page().text.split())
