"""HTML as blocks of plain text: every visible text is kept, and no markup.

The tree is walked here because no library at hand gives such blocks. The structured result of
html-to-markdown lists an inner list before the item around it, joins the paragraphs and the code of an item
without a space, and knows neither the first number of a list nor definition lists; trafilatura leaves out
text that it takes for no part of the main content, among it headings with links in them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from localcrag.documents.block_text import BULLET, BlockText, defined
from localcrag.documents.fixed_width_tables import table_of
from localcrag.documents.html_definitions import definition_parts
from localcrag.documents.html_tables import cell_text, entry_head, is_layout, rows_of, table_lines
from localcrag.documents.html_titles import mark_titles
from localcrag.documents.html_tree import (
    BREAK,
    HEADINGS,
    LISTS,
    VERBATIM,
    AddressText,
    AlternativeText,
    Element,
    PlaceLinkText,
    mark_navigation,
    parse,
)
from localcrag.documents.preformatted_prose import preformatted_blocks
from localcrag.types import BlockKind

_PARAGRAPH_BREAK = re.compile(rf"{BREAK}\s*{BREAK}")
_IMPRINT = re.compile(
    r"(?:copyright\b[ \d]*)?(?:©|\(c\) ?\d{4}|all rights reserved)"
    r"|(?:[^.!?·|]{1,40} [·|–—-] )?(?:(?:this )?(?:page|site|document(?:ation)?) (?:was )?)?"
    r"(?:built|generated|rendered|powered|published)\b"
    r"(?=.{0,40}(?:\d|\b(?:with|by|from|using)\b))",
    re.IGNORECASE,
)
"""How the line begins, at the foot of a page, that says whose the page is, or what made it, and when."""
MAX_SUMMARY_CHARACTERS = 200
LEAST_LEVEL = 6
"""The longest line that opens what is folded away and is a heading, and the lowest level of headings."""
MIN_QUESTION_WORDS = 3
"""The fewest words of a term that is a question."""
MIN_CONTENTS_SHARE = 0.9
"""The share of characters in links to places in the same page from which on a text is a table of contents."""
_FIGURE_CAPTION = re.compile(r"(?:Fig(?:ure|\.)|Abb(?:ildung|\.)|Figura)\s+\d+(?:[.-]\d+)*[.:]?\s.{1,160}")
"""The caption of a picture with its number, where no element says that it is one."""
_LINE_END = re.compile(r"\r\n?")
_MAX_NUMBER = 1_000_000_000
_IN_ITEMS = frozenset({BlockKind.PARAGRAPH, BlockKind.CODE, BlockKind.CAPTION})
"""What an item of a list goes on with."""
_ENDS_HEADING = frozenset({"p", "table", "dl", "blockquote"}) | HEADINGS | LISTS | VERBATIM
"""Elements that cannot be part of a heading; one that was not closed ends before them."""


def add_html(made: BlockText, html: str) -> str:
    """Append the blocks of a page with all its visible text; returns its title, "" if it has none.

    Raises UnreadableError if it is nested too deeply or too long.
    """
    root, title, _ = parse(html)
    mark_titles(root)
    _Walk(made).container(root)
    return title


def add_html_page(made: BlockText, html: str) -> tuple[str, Mapping[str, str], float]:
    """Append the blocks of a page without its navigation; returns title, properties and the share left out.

    The properties are its language (``lang``) and its ``<meta>`` elements by their names. The share is that
    of the characters in navigation, see :func:`~localcrag.documents.html_tree.mark_navigation`. Raises
    UnreadableError as :func:`add_html`.
    """
    root, title, properties = parse(html)
    left_out = mark_navigation(root)
    mark_titles(root)
    _Walk(made).container(root)
    return title, properties, left_out


class _Walk:
    """Reads elements into blocks.

    ``_pending`` is the level, the marker and the lead of the item that has begun and has no block yet.
    """

    def __init__(self, made: BlockText) -> None:
        self._made = made
        self._depth = 0
        self._pending: tuple[int, str, str] | None = None
        self._level = 0
        self._in_footer = False
        self._in_contents = False

    def container(self, element: Element, kind: BlockKind = BlockKind.PARAGRAPH) -> None:
        """Read what is inside an element; ``kind`` is that of the text that stands in it directly."""
        self._children(element.children, kind)

    def _children(self, children: Sequence[Element | str], kind: BlockKind = BlockKind.PARAGRAPH) -> None:
        run: list[str] = []
        for child in children:
            if isinstance(child, str):
                run.append(child)
                continue
            self._text(run, kind)
            run = []
            if not child.navigation:
                outer = self._in_contents
                self._in_contents = outer or child.is_contents()
                self._element(child)
                self._in_contents = outer
        self._text(run, kind)

    def _text(self, run: Sequence[str], kind: BlockKind) -> None:
        joined = "".join(run)
        if not joined.strip():
            return
        if kind is BlockKind.PARAGRAPH and _is_contents(run):
            kind = BlockKind.FURNITURE
        if kind is BlockKind.PARAGRAPH and _is_picture(run, joined):
            kind = BlockKind.CAPTION
        for paragraph in _PARAGRAPH_BREAK.split(joined):
            self._add(kind, " ".join(paragraph.split()))

    def _add(self, kind: BlockKind, text: str, *, level: int = 0) -> None:
        if not text:
            return
        if self._in_footer and kind is BlockKind.PARAGRAPH and _IMPRINT.match(text):
            kind = BlockKind.FURNITURE
        is_before_item = kind is BlockKind.CAPTION and self._pending is not None and not self._pending[2]
        if self._pending is not None and not is_before_item:
            depth, marker, lead = self._pending
            self._pending = None
            if kind is BlockKind.PARAGRAPH:
                text = defined(lead, text) if lead else text
                self._add_item(text, depth, marker)
                return
            if lead:
                self._add_item(lead, depth, marker)
        if self._in_contents and kind is BlockKind.PARAGRAPH:
            kind = BlockKind.FURNITURE
        self._made.add(kind, text, level=level or (self._depth if kind in _IN_ITEMS else 0))

    def _add_item(self, text: str, depth: int, marker: str) -> None:
        """Append an item of a list; one of a table of contents says nothing."""
        kind = BlockKind.FURNITURE if self._in_contents else BlockKind.ITEM
        self._made.add(kind, text, level=depth, marker=marker)

    def _element(self, element: Element) -> None:
        tag = element.tag
        if tag in HEADINGS:
            self._heading(element)
        elif (tag == "summary" and not self._depth and not element.headings) or self._is_title(element):
            self._title(element)
        elif tag in VERBATIM:
            self._preformatted(_verbatim(element))
        elif tag in LISTS:
            self._list(element)
        elif tag == "dl":
            self._definitions(element)
        elif tag == "table":
            self._table(element)
        elif tag in ("caption", "figcaption"):
            self.container(element, BlockKind.CAPTION)
        elif tag == "li":
            self._item(element, BULLET)
        elif tag == "footer":
            outer, self._in_footer = self._in_footer, True
            self.container(element)
            self._in_footer = outer
        else:
            self.container(element)

    def _heading(self, element: Element) -> None:
        after = next(
            (
                place
                for place, child in enumerate(element.children)
                if isinstance(child, Element) and child.tag in _ENDS_HEADING
            ),
            len(element.children),
        )
        title, rest = _one_line(element.children[:after]), element.children[after:]
        if not title and rest and not element.headings > 1:
            title, rest = _one_line(element.children), []
        self._level = int(element.tag[1])
        self._add(BlockKind.HEADING, title, level=self._level)
        self._children(rest)

    def _preformatted(self, text: str) -> None:
        """Text that keeps its lines: code, unless it is prose, or all of it is a table."""
        if not self._depth and self._pending is None and (told := preformatted_blocks(text)):
            for kind, said, level, marker in told:
                if kind is BlockKind.ITEM:
                    self._add_item(said, level, marker)
                else:
                    deeper = min(self._level + level, LEAST_LEVEL) if kind is BlockKind.HEADING else 0
                    self._add(kind, said, level=deeper)
            return
        table = table_of(text)
        if table is None:
            self._add(BlockKind.CODE, text)
            return
        self._made.part()
        for row in table.rows:
            self._add(BlockKind.ROW, row.text)

    def _is_title(self, element: Element) -> bool:
        """Whether it is a title in bold letters; in a list it is an item, or what a step is called."""
        return element.is_title and not self._depth and not self._in_footer and not self._in_contents

    def _title(self, element: Element) -> None:
        """A title, or the line that opens what is folded away below it, as the question of an answer."""
        title = _one_line(element.children)
        if len(title) > MAX_SUMMARY_CHARACTERS:
            self.container(element)
        else:
            self._add(BlockKind.HEADING, title, level=self._level_below())

    def _level_below(self) -> int:
        """The level of a title that no element says to be a heading."""
        return min(self._level + 1, LEAST_LEVEL)

    # ------------------------------------------------------------------ lists

    def _list(self, element: Element) -> None:
        self._begin_list()
        number, step = 1, 1
        ordered = element.tag == "ol"
        if ordered:
            items = sum(child.tag == "li" for child in element.elements())
            step = -1 if "reversed" in element.attributes else 1
            number = _number(element.attributes.get("start"), items if step < 0 else 1)
        for child in element.children:
            if isinstance(child, Element) and child.tag == "li":
                number = _number(child.attributes.get("value"), number) if ordered else number
                self._item(child, f"{number}. " if ordered else BULLET)
                number += step
            else:
                self._children([child])
        self._depth -= 1

    def _item(self, element: Element, marker: str, lead: str = "") -> None:
        self._pending = (max(self._depth - 1, 0), marker, lead)
        self.container(element)
        self._pending = None

    def _definitions(self, element: Element) -> None:
        self._begin_list()
        terms: list[str] = []
        is_answer = False
        for part in definition_parts(element):
            if isinstance(part, str):
                self._text([part], BlockKind.PARAGRAPH)
            elif part.tag == "dt" and self._is_question(part):
                self._terms_alone(terms)
                terms, is_answer = [], True
                self._add(BlockKind.HEADING, _one_line(part.children), level=self._level_below())
            elif part.tag == "dd" and is_answer:
                is_answer = False
                self._depth -= 1
                self.container(part)
                self._depth += 1
            elif part.tag == "dt" and not part.headings:
                if any(isinstance(child, AddressText) for child in part.children):
                    self._terms_alone(terms)
                    terms = []
                terms.append(_one_line(part.children).rstrip(":").rstrip())
            elif part.tag == "dd" and part.characters:
                self._item(part, BULLET, " / ".join(filter(None, terms)))
                terms = []
            elif not part.navigation and part.tag != "dd":
                self._terms_alone(terms)
                terms = []
                self._element(part)
        self._terms_alone(terms)
        self._depth -= 1

    def _is_question(self, term: Element) -> bool:
        """Whether a term of a list that is in no other one is the question of a list of them with answers."""
        text = _one_line(term.children)
        is_short = len(text) <= MAX_SUMMARY_CHARACTERS and len(text.split()) >= MIN_QUESTION_WORDS
        return self._depth == 1 and is_short and text.endswith("?") and not self._in_contents

    def _terms_alone(self, terms: Sequence[str]) -> None:
        for term in terms:
            self._add_item(term, self._depth - 1, BULLET)

    def _begin_list(self) -> None:
        """Begin a list; the item around it, if it has no text of its own, is shown by its lead alone."""
        if self._pending is not None and self._pending[2]:
            depth, marker, lead = self._pending
            self._add_item(lead, depth, marker)
        self._pending = None
        if not self._depth:
            self._made.part()
        self._depth += 1

    # ------------------------------------------------------------------ tables

    def _table(self, table: Element) -> None:
        rows = rows_of(table)
        name, fields = entry_head(rows)
        if name and not self._depth:
            self._add(BlockKind.HEADING, name, level=self._level_below())
            self._add(BlockKind.PARAGRAPH, fields)
            return
        if is_layout(table, rows):
            self.container(table)
            return
        self._children([child for child in table.children if not _is_row_part(child)])
        self._made.part()
        for line in table_lines(rows):
            self._add(BlockKind.ROW, line)


def _is_contents(run: Sequence[str]) -> bool:
    """Whether texts are a table of contents, or an entry of one: links to places in the same page."""
    linked = sum(len(text.strip()) for text in run if isinstance(text, PlaceLinkText))
    return linked >= MIN_CONTENTS_SHARE * sum(len(text.strip()) for text in run if text != BREAK)


def _is_picture(run: Sequence[str], joined: str) -> bool:
    """Whether texts are no more than what stands for pictures, or the numbered caption of one."""
    stands_alone = all(isinstance(text, AlternativeText) for text in run if text.strip())
    return stands_alone or _FIGURE_CAPTION.fullmatch(" ".join(joined.split())) is not None


def _is_row_part(child: Element | str) -> bool:
    return isinstance(child, Element) and child.tag in (
        "tr",
        "thead",
        "tbody",
        "tfoot",
        "form",
        "div",
        "section",
    )


def _one_line(children: Sequence[Element | str]) -> str:
    whole = Element("span", {})
    whole.children = list(children)
    return cell_text(whole)


def _verbatim(element: Element) -> str:
    pieces = "".join(
        ("\n" if child == BREAK else child) if isinstance(child, str) else _verbatim_block(child)
        for child in element.children
    )
    return _LINE_END.sub("\n", pieces).strip("\n")


def _verbatim_block(element: Element) -> str:
    """The text of an element inside code: each ``div`` of it is a line."""
    return f"{_verbatim(element)}\n"


def _number(value: str | None, default: int) -> int:
    try:
        number = int((value or "").strip()[:10])
    except ValueError:
        return default
    return max(-_MAX_NUMBER, min(number, _MAX_NUMBER))
