"""reStructuredText as blocks of plain text, parsed by docutils, which defines the format.

What a directive or a role of another tool means is not known to docutils: the text of such a role and the
content of such a directive are kept. Nothing is included from other files, and nothing is run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from localcrag.documents.block_text import BULLET, BlockText, defined
from localcrag.documents.fixed_width_tables import add_code
from localcrag.documents.table_pairs import unheaded_lines
from localcrag.documents.table_rows import row_text
from localcrag.errors import UnreadableError
from localcrag.types import BlockKind, Page

if TYPE_CHECKING:
    from docutils.nodes import Element

_SILENT, _NEVER = 5, 6
"""docutils' levels: which messages are written, and which end the parsing."""
_MAX_DEPTH = 6
"""Unknown directives within each other, of which each is parsed by itself."""
_ROLE = re.compile(r":[a-zA-Z][\w.+:-]*:`([^`]*)`")
_TARGET = re.compile(r"\s*<[^<>]*>$")
_DIRECTIVE = re.compile(r"\.\. +(?:\|[^|\n]*\| +)?[\w:.+-]+:: ?([^\n]*)\n?")
_OPTION = re.compile(r"[ \t]*:[\w -]+:[^\n]*(?:\n|\Z)")
_UNLABELLED_HEADER = re.compile(
    r"^(?P<indent>[ \t]*)(?P<border>={2,}(?: +=+)+)[ \t]*\n(?P=indent)(?=[ \t]*[^\s=])", re.MULTILINE
)
"""The border above the header of a simple table, up to the header's first line."""
_BORDER = re.compile("=+")
_HEADER_WORD = re.compile(r"\S+(?: \S+)*")
_MALFORMED_TABLE = "Malformed table."
_EMPTY_CELL = ".."
_NUMERALS = (
    *((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l")),
    *((40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i")),
)
_HIDDEN = frozenset({"comment", "substitution_definition", "target", "pending", "raw", "meta", "topic"})
_SETTINGS: dict[str, object] = {
    "report_level": _SILENT,
    "halt_level": _NEVER,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "doctitle_xform": False,
    "docinfo_xform": False,
    "smart_quotes": False,
    "line_length_limit": 10**9,
    "warning_stream": False,
}


def rst_page(text: str, number: int | None = None) -> Page:
    """A reStructuredText as a page of blocks. Raises UnreadableError if it is nested too deeply."""
    made = BlockText()
    try:
        _Walk(made).children(_parsed(text), 0)
    except RecursionError as error:
        raise UnreadableError("reStructuredText nested too deeply") from error
    return made.page(number)


def _parsed(text: str) -> Element:
    from docutils.core import publish_doctree

    tree: Element = publish_doctree(_with_labelled_headers(text), settings_overrides=_SETTINGS)
    return tree


def _with_labelled_headers(text: str) -> str:
    """A text in which no header of a simple table begins with an empty cell, as docutils drops such a header.

    Two full stops stand for the empty cell, and words that stand between columns move to the nearest one.
    """
    pieces, end = list[str](), 0
    for found in _UNLABELLED_HEADER.finditer(text):
        stop = text.find("\n", found.end())
        columns = [match.span() for match in _BORDER.finditer(found["border"])]
        header = _header_line(text[found.end() : stop], columns)
        if header is not None:
            pieces += [text[end : found.end()], header]
            end = stop
    return "".join([*pieces, text[end:]])


def _header_line(line: str, columns: Sequence[tuple[int, int]]) -> str | None:
    """A line of a header that begins with an empty cell, as docutils reads it; None if it begins with none.

    ``columns`` are the spans of the columns in the border. None, too, if the words do not fit their columns.
    """
    if line[: columns[0][1]].strip():
        return None
    cells = [""] * len(columns)
    for word in _HEADER_WORD.finditer(line):
        middle = (word.start() + word.end()) / 2
        at = min(range(1, len(columns)), key=lambda i: abs(sum(columns[i]) / 2 - middle))
        cells[at] = f"{cells[at]} {word[0]}".strip()
    cells[0] = _EMPTY_CELL
    widths = [stop - start for start, stop in columns]
    if any(len(cell) > width for cell, width in zip(cells[:-1], widths[:-1], strict=True)):
        return None
    line = ""
    for cell, (start, _) in zip(cells, columns, strict=True):
        line = line.ljust(start) + cell
    return line


class _Walk:
    """Appends the blocks of a document tree; ``depth`` counts unknown directives within each other."""

    def __init__(self, made: BlockText, section: int = 0, depth: int = 0) -> None:
        self._made, self._section, self._depth = made, section, depth

    def children(self, node: Element, level: int) -> None:
        for child in node.children:
            self._node(child, level)

    def _node(self, node: Any, level: int) -> None:
        """Append the blocks of a node; ``level`` is the depth of the list that it is in."""
        add = self._made.add
        match name := node.tagname:
            case "section":
                self._section += 1
                self.children(node, level)
                self._section -= 1
            case "title" | "subtitle" | "rubric":
                add(BlockKind.HEADING, _text(node), level=max(1, self._section + (name != "title")))
            case "paragraph" | "line" | "attribution":
                add(BlockKind.PARAGRAPH, _text(node))
            case "literal_block":
                add_code(self._made, node.astext(), level, language=" ".join(node["classes"]))
            case "doctest_block" | "math_block":
                add(BlockKind.CODE, node.astext())
            case "caption":
                add(BlockKind.CAPTION, _text(node))
            case "bullet_list" | "enumerated_list":
                self._list(node, level)
            case "definition_list" | "field_list" | "option_list":
                self._made.part()
                for item in node.children:
                    self._pair(item, level)
            case "footnote" | "citation":
                self._labelled(node, level)
            case "image":
                add(BlockKind.PARAGRAPH, node.get("alt", ""))
            case "table":
                self._table(node)
            case "system_message":
                self._unknown(node, level)
            case "#text":
                pass
            case _ if name not in _HIDDEN or (name == "topic" and "contents" not in node["classes"]):
                self.children(node, level)

    def _list(self, node: Element, level: int) -> None:
        if not level:
            self._made.part()
        first = int(node.get("start", 1))
        for number, item in enumerate(node.children, first):
            marker = BULLET if node.tagname == "bullet_list" else _enumerator(node, number)
            head, *rest = item.children or [None]
            if head is not None and head.tagname == "paragraph":
                self._made.add(BlockKind.ITEM, _text(head), level=level, marker=marker)
            else:
                rest = list(item.children)
            for child in rest:
                self._node(child, level + 1)

    def _pair(self, item: Any, level: int) -> None:
        """A term with its definition, a field with its body, or an option with what it does."""
        *names, body = item.children
        name = " ".join(filter(None, map(_text, names)))
        head, *rest = body.children or [None]
        if head is not None and head.tagname == "paragraph":
            self._made.add(BlockKind.ITEM, defined(name, _text(head)), level=level)
        else:
            self._made.add(BlockKind.ITEM, name, level=level)
            rest = list(body.children)
        for child in rest:
            self._node(child, level + 1)

    def _labelled(self, node: Any, level: int) -> None:
        label, *rest = node.children
        if rest and rest[0].tagname == "paragraph":
            self._made.add(BlockKind.PARAGRAPH, f"[{_text(label)}] {_text(rest.pop(0))}")
        for child in rest:
            self._node(child, level)

    def _table(self, node: Any) -> None:
        from docutils import nodes

        self._made.part()
        for title in node.findall(nodes.title):
            self._made.add(BlockKind.CAPTION, _text(title))
        heads, bodies = ([_row(row) for part in node.findall(kind) for row in part.findall(nodes.row)]
                         for kind in (nodes.thead, nodes.tbody))  # fmt: skip
        names = [" / ".join(filter(None, dict.fromkeys(column))) for column in zip(*heads, strict=False)]
        lines = (row_text(row, names) for row in bodies) if names else unheaded_lines(bodies)
        for line in lines:
            self._made.add(BlockKind.ROW, line)

    def _unknown(self, node: Any, level: int) -> None:
        """The content of a directive that docutils does not know, or a table that it cannot read.

        The message about it repeats it.
        """
        from docutils import nodes

        source = next((block.astext() for block in node.findall(nodes.literal_block)), "")
        directive = _DIRECTIVE.match(source)
        if source and _MALFORMED_TABLE in node.astext():
            self._made.add(BlockKind.CODE, source)
        if directive is None or self._depth >= _MAX_DEPTH:
            return
        content = dedent(source[directive.end() :])
        while option := _OPTION.match(content):
            content = content[option.end() :]
        self._made.add(BlockKind.PARAGRAPH, _without_roles(directive[1]))
        _Walk(self._made, self._section, self._depth + 1).children(_parsed(content), level)


def _row(row: Any) -> list[str]:
    """The cells of a row; one that spans columns stands in each of them."""
    cells: list[str] = []
    for entry in row.children:
        cells += [_text(entry)] * (1 + min(int(entry.get("morecols", 0)), 100))
    return cells


def _text(node: Any) -> str:
    return _without_roles(" ".join(" ".join(_texts(node)).split()))


def _texts(node: Any) -> Iterator[str]:
    """The texts of a node without the messages of docutils, the numbers of lists before their items."""
    if not node.children or next(node.findall(_is_no_text), None) is None:
        yield node.astext()
    elif node.tagname == "enumerated_list":
        for number, item in enumerate(node.children, int(node.get("start", 1))):
            yield _enumerator(node, number)
            yield from _texts(item)
    elif node.tagname != "system_message":
        for child in node.children:
            yield from _texts(child)


def _is_no_text(node: Any) -> bool:
    return node.tagname in ("enumerated_list", "system_message")


def _enumerator(node: Any, number: int) -> str:
    """The number of an item as its list writes it: "2. ", "(b) ", "iv) "."""
    kind = node.get("enumtype", "arabic")
    if kind.endswith("roman"):
        written = _roman(number)
    else:
        written = chr(ord("a") + (number - 1) % 26) if kind.endswith("alpha") else str(number)
    if kind.startswith("upper"):
        written = written.upper()
    return f"{node.get('prefix', '')}{written}{node.get('suffix', '.')} "


def _roman(number: int) -> str:
    """A number in small Roman numerals."""
    written = ""
    for value, numeral in _NUMERALS:
        count, number = divmod(number, value)
        written += numeral * count
    return written


def _without_roles(text: str) -> str:
    """Text in which a role that docutils does not know is its own text: ``:ref:`Fees <fees>``` is "Fees"."""
    return _ROLE.sub(lambda match: _TARGET.sub("", match[1]).lstrip("~!"), text)
