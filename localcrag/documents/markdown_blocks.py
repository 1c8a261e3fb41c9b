"""Markdown as blocks of plain text: emphasis and the targets of links are dropped, words and code are kept.

The parser is markdown-it, with the tables of GitHub; HTML inside a Markdown text loses its tags. Front matter
becomes a row: "title: Fees · tags: travel, motorcycles". What Obsidian adds to Markdown is read by
:mod:`.obsidian_markup`. A list that stands so far in that it would be code, or a part of the paragraph above
it, is a list; and a table of contents, whose links lead to places of the same text, is furniture.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import unescape
from itertools import islice
from textwrap import dedent
from typing import TYPE_CHECKING

from localcrag.documents.block_text import BULLET, BlockText
from localcrag.documents.bold_titles import above_plain_text, are_titles, stand_out
from localcrag.documents.extracted import one_line
from localcrag.documents.fixed_width_tables import add_code
from localcrag.documents.front_matter import front_matter
from localcrag.documents.obsidian_markup import is_embedded, use_obsidian
from localcrag.documents.table_pairs import is_pair, pair_text, unheaded_lines
from localcrag.documents.table_rows import row_text
from localcrag.labelled_lines import flowing
from localcrag.types import CELL_SEPARATOR, BlockKind, Page

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_MAX_SHOWN_FIELDS, _MAX_FIELD_DEPTH = 200, 5
"""Fields of front matter, and levels of lists in them, that are kept as text."""
_TAG = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]*>", re.DOTALL)
_TASK = re.compile(r"\[([ xX])\] +(?=\S)")
"""The box before an item of a task list."""
_NOTE = re.compile(r"^\[\^([\w.-]{1,40})\]:\s+")
_NOTE_MARK = re.compile(r"\[\^[\w.-]{1,40}\]")
"""A footnote, "[^1]: Since May.", and the mark of one in a text."""
_DEFINITION = re.compile(r"\n:[ \t]+")
"""The definition of a term on the line above."""
_BULLET_LINE = re.compile(r"[*+-] +\S")
_LIST_BELOW = re.compile(r"\n(?=[ \t]*[*+-] +\S)")
"""Where a list begins that stands too far in below its paragraph to be one for the parser."""
_EMPHASIS = frozenset({"strong_open", "strong_close", "em_open", "em_close"})
_LEAVES = frozenset(
    (
        *("heading_open", "inline", "code_block", "fence", "html_block", "table_open"),
        *("bullet_list_open", "ordered_list_open", "blockquote_open"),
    )
)
"""Tokens that a text without lists in lists has one of for each of its blocks."""
_LEAST_LEVEL = 6
"""The lowest level of headings."""
_MIN_CONTENTS = 3
"""The fewest lines that begin with a link to a place in the same document and make a table of contents."""
_BREAK_TAG = re.compile(r"<br\s*/?>", re.IGNORECASE)


def markdown_page(text: str, number: int | None = None) -> Page:
    """A Markdown text as a page of blocks."""
    made = BlockText()
    fields, body = front_matter(text)
    shown = {one_line(key): _field_text(value) for key, value in islice(fields.items(), _MAX_SHOWN_FIELDS)}
    if any(shown.values()):
        made.add(
            BlockKind.ROW, CELL_SEPARATOR.join(f"{key}: {value}" for key, value in shown.items() if value)
        )
    add_markdown(made, body)
    return made.page(number)


def add_markdown(made: BlockText, text: str) -> None:
    """Append the blocks of a Markdown text."""
    parsed = _markdown().parse(text)
    titles = _titles(parsed)
    tokens = iter(parsed)
    lists: list[_List] = []
    level = 0
    for token in tokens:
        match token.type:
            case "heading_open":
                level = int(token.tag[1])
                made.add(BlockKind.HEADING, plain(next(tokens)), level=level)
            case "inline" if id(token) in titles and not _is_contents(token.children or []):
                made.add(BlockKind.HEADING, plain(token), level=min(level + 1, _LEAST_LEVEL))
            case "bullet_list_open" | "ordered_list_open":
                if not lists:
                    made.part()
                lists.append(_List(token))
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
            case "list_item_open":
                lists[-1].begin(token)
            case "inline":
                marker = lists[-1].marker() if lists else ""
                if _is_contents(token.children or []):
                    made.add(BlockKind.FURNITURE, plain(token))
                elif marker:
                    made.add(BlockKind.ITEM, _ticked(plain(token)), level=len(lists) - 1, marker=marker)
                elif below := _LIST_BELOW.search(token.content):
                    add_markdown(made, token.content[: below.start()])
                    add_markdown(made, dedent(token.content[below.start() + 1 :]))
                else:
                    kind = BlockKind.CAPTION if is_embedded(token) else BlockKind.PARAGRAPH
                    made.add(kind, plain(token), level=len(lists))
            case "code_block" if _is_list(token.content):
                add_markdown(made, dedent(token.content))
            case "fence" | "code_block":
                add_code(made, token.content, len(lists), language=token.info)
            case "html_block":
                made.add(BlockKind.PARAGRAPH, _without_tags(token.content))
            case "table_open":
                made.part()
                for row in _table_rows(tokens):
                    made.add(BlockKind.ROW, row)


def _titles(tokens: Sequence[Token]) -> frozenset[int]:
    """The ids of the tokens of paragraphs in bold letters that are the titles of what stands below them."""
    leaves = [token for token in tokens if token.level <= 1 and token.type in _LEAVES]
    bold = [token.type == "inline" and token.level == 1 and _is_bold(token) for token in leaves]
    if not stand_out(sum(bold), len(leaves)):
        return frozenset()
    headings = [token.type == "heading_open" for token in leaves]
    titled = [leaves[place] for place in above_plain_text(bold, headings)]
    found = are_titles([plain(token) for token in titled])
    return frozenset(id(token) for token, is_title in zip(titled, found, strict=True) if is_title)


def _is_bold(inline: Token) -> bool:
    """Whether all of a text is in bold letters, in one line."""
    children = [
        child for child in inline.children or [] if child.content or not child.type.startswith("text")
    ]
    types = [child.type for child in children]
    return (
        bool(types)
        and types[0] == "strong_open"
        and types.index("strong_close") == len(types) - 1
        and not {"softbreak", "hardbreak"}.intersection(types)
    )


def _is_list(code: str) -> bool:
    """Whether what stands as far in as code is a list: every line is an item of it, or goes on in one."""
    lines = [line for line in dedent(code).split("\n") if line.strip()]
    return bool(lines and _BULLET_LINE.match(lines[0])) and all(
        line[0].isspace() or _BULLET_LINE.match(line) for line in lines
    )


def _is_contents(children: Sequence[Token]) -> bool:
    """Whether each line of a text is a link to a place in the same document, or several begin with one."""
    lines: list[list[Token]] = [[]]
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            lines.append([])
        elif child.type not in _EMPHASIS and (child.content.strip() or not child.type.startswith("text")):
            lines[-1].append(child)
    if not all(map(_begins_with_place, lines)):
        return False
    return len(lines) >= _MIN_CONTENTS or all(line[-1].type == "link_close" for line in lines)


def _begins_with_place(line: Sequence[Token]) -> bool:
    """Whether a line begins with a link to a place in the same document."""
    return bool(line) and line[0].type == "link_open" and str(line[0].attrGet("href")).startswith("#")


class _List:
    """A list that is being read; only the first paragraph of an item has its marker."""

    def __init__(self, token: Token) -> None:
        self._ordered = token.type == "ordered_list_open"
        self._marker = ""

    def begin(self, token: Token) -> None:
        self._marker = f"{token.info}{token.markup} " if self._ordered else BULLET

    def marker(self) -> str:
        marker, self._marker = self._marker, ""
        return marker


def plain(inline: Token) -> str:
    """The words of an inline token, without its markup; a line end is a space, unless lines have labels."""
    return flowing(_DEFINITION.sub(": ", "".join(_words(inline.children or []))))


def _ticked(item: str) -> str:
    """An item of a list, with the box of a task list as a sign: "☐ call the roofer"."""
    return (
        _TASK.sub(lambda box: "☐ " if box[1] == " " else "☑ ", item, count=1) if _TASK.match(item) else item
    )


def _words(children: Sequence[Token]) -> Iterator[str]:
    for child in children:
        if child.type in ("softbreak", "hardbreak"):
            yield "\n"
        elif child.type == "html_inline":
            yield " " if _BREAK_TAG.fullmatch(child.content) else ""
        elif child.type == "image":
            yield "".join(_words(child.children or []))
        elif child.type == "text":
            yield _NOTE_MARK.sub("", _NOTE.sub(r"[\1] ", child.content))
        else:
            yield child.content


def _table_rows(tokens: Iterator[Token]) -> Iterator[str]:
    """The rows of the table that has begun, each with its headers; the tokens of the table are consumed."""
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "table_close":
            break
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(plain(token))
    header, *body = rows
    if is_pair(header, body):
        yield from map(pair_text, rows)
    elif any(header):
        yield from (row_text(row, header) for row in body if any(row))
    else:
        yield from unheaded_lines(body)


def _without_tags(html: str) -> str:
    return one_line(unescape(_TAG.sub(" ", html)), 100_000)


def _field_text(value: object, depth: int = 0) -> str:
    if isinstance(value, (list, tuple, dict)) and depth == _MAX_FIELD_DEPTH:
        return ""
    if isinstance(value, (list, tuple)):
        return ", ".join(filter(None, (_field_text(item, depth + 1) for item in value)))
    if isinstance(value, dict):
        parts = ((key, _field_text(item, depth + 1)) for key, item in value.items())
        return ", ".join(f"{key} {shown}" for key, shown in parts if shown)
    if isinstance(value, bool):
        return "yes" if value else "no"
    try:
        return "" if value is None else one_line(str(value))
    except ValueError:  # an integer of thousands of digits
        return ""


@cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return use_obsidian(MarkdownIt("commonmark").enable(["table", "strikethrough"]))
