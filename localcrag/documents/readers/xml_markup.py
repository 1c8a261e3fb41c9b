"""Reader of XML of any kind: texts as headings, paragraphs, lists and tables, and data as records.

What an element is, its name tells if it is common (TEI, JATS and the like), and else what is in it: text with
elements in it, or long text, is a paragraph. Elements without either are data, and shown as those of
JSON are. A file that is mostly a comment, or cannot be parsed, stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from localcrag.documents.block_text import BlockText
from localcrag.documents.document_fields import fields_of
from localcrag.documents.encoding import decode
from localcrag.documents.extracted import ExtractedText, Limits, clean, whole
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.html_blocks import add_html
from localcrag.documents.readers.html import first_heading
from localcrag.documents.readers.json_records import add_records
from localcrag.documents.xml_records import (
    attributes_of,
    has_html,
    has_text_between,
    inline_text,
    local_name,
    object_of,
    value_of,
)
from localcrag.documents.xml_source import decoded_xml, with_closed_comments, xml_root

if TYPE_CHECKING:
    from lxml.etree import _Element

_LANGUAGES = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")
_LANGUAGE = re.compile(r"[A-Za-z]{2}(?:[-_]\w{2,4})?")
_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)
_MARKUP = re.compile(r"<[^<>]*>")
_ATTRIBUTE = re.compile(r"=\s*(?:\"([^\"<]*)\"|'([^'<]*)')")
MAX_COMMENT_SHARE, MAX_COMMENT_SHARE_OF_DATA = 0.5, 0.1
"""The share of comments in what a file tells from which on it stays as it is, and the share that they must
also have beside the values of its attributes, in which feeds have all they tell."""
_HEADS = frozenset({"head", "title", "heading", "article-title", "headline", "subject"})
_PARAGRAPHS = frozenset({"p", "para", "simpara", "ab", "l", "line", "blockquote", "disp-quote", "quote"})
_LISTS = frozenset({"list", "itemizedlist", "orderedlist", "ul", "ol", "def-list", "listbibl", "ref-list"})
_NUMBERED_LISTS = frozenset({"orderedlist", "ol"})
_NUMBERED_TYPES = frozenset({"ordered", "order", "gloss-ordered"})
_TABLES = frozenset({"table", "informaltable"})
_ROWS, _HEAD_CELLS = frozenset({"row", "tr"}), frozenset({"th"})
_CAPTIONED = frozenset({"table-wrap", "fig", "figure"})
_SECTIONS = frozenset({"div", "sec", "section", "body", "text", "chapter", "part", "item", "entry"})
"""Elements of which attributes say nothing of what they tell."""
_CAPTIONS = frozenset({"caption", "head", "label", "title", "figdesc"})
_TITLE_GROUPS = frozenset({"teiheader", "filedesc", "titlestmt", "title-group", "article-meta"})
"""Elements around the title of the document."""
MIN_LONG_CHARACTERS = 300
"""The characters from which on the text of an element is a paragraph and no value of a field."""
MIN_MIXED_WORDS = 5
"""The words from which on a text with elements in it is a paragraph and no value of a field."""
MAX_HEADING_CHARACTERS = 200
MIN_ALIKE, MIN_TELLING_SHARE = 3, 0.5
"""So many elements of one name are data if less than this share of them have long texts."""
_PARAGRAPH_GAP = re.compile(r"\n[ \t]*\n\s*")
_INDENTED = re.compile(r"\n[ \t]{2,}(?=\S)")
_LAST_LEVEL = 6


def read_xml(data: bytes, limits: Limits) -> ExtractedText:
    """Read XML of any kind. Raises UnreadableError: its entities or its text expand beyond the limits."""
    text = decoded_xml(data)
    root = None if _is_commented(text) else xml_root(text)
    made = BlockText(limits)
    if root is not None:
        _Walk(made, root).file()
    page = made.page()
    if root is None or not page.blocks:
        return whole("", MEDIA_TYPES[DocumentFormat.CODE], clean(decode(data)))
    language = next((named for name in _LANGUAGES if _LANGUAGE.fullmatch(named := root.get(name, ""))), None)
    meta = fields_of([("language", language)])
    return ExtractedText(first_heading(page), MEDIA_TYPES[DocumentFormat.XML], (page,), meta=meta)


def _is_commented(text: str) -> bool:
    """Whether most words of a file stand in its comments, behind the first one, which is about the file."""
    found = list(_COMMENT.finditer(text := with_closed_comments(text)))
    commented = sum(len(comment[1].split()) for comment in found[1:])
    if not commented:
        return False
    bare = _COMMENT.sub(" ", text)
    told = commented + len(_MARKUP.sub(" ", bare).split())
    if commented <= MAX_COMMENT_SHARE * told:
        return False
    values = sum(len(value.split()) for found in _ATTRIBUTE.findall(bare) for value in found)
    return commented > MAX_COMMENT_SHARE_OF_DATA * (told + values)


class _Walk:
    """Reads elements into blocks; ``_html`` is what has been read as HTML and is not appended yet."""

    def __init__(self, made: BlockText, root: _Element) -> None:
        self._made = made
        self._root = root
        self._html: list[str] = []
        self._telling = _telling(root)

    def file(self) -> None:
        """Append the blocks of the file."""
        root = self._root
        while len(root) == 1 and len(root[0]) and root not in self._paragraphs():
            root = root[0]
        if root in self._telling:
            self._block(root, 1)
        else:
            add_records(self._made, value_of(root))
        self._flush()

    def _paragraphs(self) -> set[_Element]:
        return {self._root} if _is_paragraph(self._root) else set()

    def _flush(self) -> None:
        if self._html:
            add_html(self._made, "".join(self._html))
            self._html = []

    def _block(self, element: _Element, level: int) -> None:
        """Read an element that has text; ``level`` is that of a heading in it."""
        name = local_name(element).casefold()
        if name in _TABLES:
            self._html.append(_table(element))
        elif name in _LISTS and _is_list(element):
            self._html.append(_list(element))
        elif _is_paragraph(element):
            self._paragraph(element, level)
        else:
            self._container(element, level)

    def _paragraph(self, element: _Element, level: int) -> None:
        """A text, with the lists and tables that stand in it."""
        run = [escape(element.text or "")]
        if not len(element):
            self._html += _paragraphs(element.text or "")
            return
        for child in element:
            name = local_name(child).casefold()
            if name in _PARAGRAPHS and not len(child) and not child.text:
                self._html += [f"<p>{''.join(run)}</p>"]
                run = []
            elif name in _TABLES | _LISTS | _PARAGRAPHS and child in self._telling:
                self._html += [f"<p>{''.join(run)}</p>"]
                self._block(child, level)
                run = []
            else:
                run.append(_inline(child))
            run.append(escape(child.tail or ""))
        self._html.append(f"<p>{''.join(run)}</p>")

    def _container(self, element: _Element, level: int) -> None:
        """What is in an element: headings, texts, and between them the fields of a record."""
        name = local_name(element).casefold()
        children = list(_children(element))
        data = self._data(children)
        is_captioned = name in _CAPTIONED
        head = None if is_captioned else next(filter(_is_head, children), None)
        fields: list[_Element] = []
        own = {} if name in _SECTIONS or is_captioned or not data - {head} else attributes_of(element)
        for child in children:
            if child is head:
                self._add_fields(fields, own)
                fields, own = [], {}
                self._html.append(
                    f"<h{min(level, _LAST_LEVEL)}>{_inline(child)}</h{min(level, _LAST_LEVEL)}>"
                )
            elif is_captioned and local_name(child).casefold() in _CAPTIONS:
                self._html.append(f"<figcaption>{_inline(child)}</figcaption>")
            elif child in data:
                fields.append(child)
            else:
                self._add_fields(fields, own)
                fields, own = [], {}
                self._block(child, level + (head is not None))
        self._add_fields(fields, own)

    def _data(self, children: Sequence[_Element]) -> set[_Element]:
        """Those of some elements that have no text but that of fields; records of one name go together."""
        groups: dict[str, list[_Element]] = {}
        for child in children:
            groups.setdefault(local_name(child), []).append(child)
        data: set[_Element] = set()
        for group in groups.values():
            telling = sum(child in self._telling for child in group)
            are_records = any(map(len, group))
            is_mostly_data = telling < MIN_TELLING_SHARE * len(group)
            if not telling or (are_records and len(group) >= MIN_ALIKE and is_mostly_data):
                data.update(group)
            elif not are_records or is_mostly_data:
                data.update(child for child in group if child not in self._telling)
        return data

    def _add_fields(self, elements: Sequence[_Element], own: dict[str, str]) -> None:
        if elements or own:
            self._flush()
            add_records(self._made, {**own, **object_of(elements)})


def _children(element: _Element) -> Iterator[_Element]:
    """The elements in an element, and those in a group around the title of the document."""
    for child in element:
        if local_name(child).casefold() in _TITLE_GROUPS:
            yield from _children(child)
        elif local_name(child):
            yield child


def _telling(root: _Element) -> set[_Element]:
    """The elements that are texts, and those around them."""
    found: set[_Element] = set()
    for element in root.iter("*"):
        if element not in found and (_is_paragraph(element) or _is_text_table(element)):
            around: _Element | None = element
            while around is not None and around not in found:
                found.add(around)
                around = around.getparent()
    return found


def _is_paragraph(element: _Element) -> bool:
    """Whether an element is a text: by its name, by the text between elements in it, or by its length."""
    text = element.text or ""
    if len(element):
        return has_text_between(element) and len(inline_text(element).split()) >= MIN_MIXED_WORDS
    if local_name(element).casefold() in _PARAGRAPHS:
        return len(text.split()) > 1
    return len(text) >= MIN_LONG_CHARACTERS and len(" ".join(text.split())) >= MIN_LONG_CHARACTERS


def _is_text_table(element: _Element) -> bool:
    """Whether an element is a table, or a list, of rows and items by name."""
    name = local_name(element).casefold()
    if name in _TABLES:
        return any(local_name(inner).casefold() in _ROWS for inner in element.iter("*"))
    return name in _LISTS and _is_list(element)


def _is_list(element: _Element) -> bool:
    """Whether most that is in an element are items, texts, or labels of them."""
    names = [local_name(child).casefold() for child in element]
    items = sum(name in ("item", "listitem", "list-item", "li", "bibl", "ref", "def-item") for name in names)
    return items > 0 and 2 * items >= len(names)


def _is_head(element: _Element) -> bool:
    is_named = local_name(element).casefold() in _HEADS
    return is_named and 0 < len(" ".join("".join(element.itertext()).split())) <= MAX_HEADING_CHARACTERS


def _inline(element: _Element) -> str:
    """The text of an element as HTML."""
    return escape(inline_text(element))


def _paragraphs(text: str) -> list[str]:
    """A long text as paragraphs, which blank lines part, or the indent of their first lines."""
    if has_html(text):
        return [text]
    cut = _PARAGRAPH_GAP.split(text.strip())
    if len(cut) == 1:
        indented = len(_INDENTED.findall(text))
        cut = _INDENTED.split(text.strip()) if 2 * indented < text.count("\n") else cut
    return [f"<p>{escape(each)}</p>" for each in cut if each.strip()]


def _list(element: _Element) -> str:
    name = local_name(element).casefold()
    kinds = {value.casefold() for key, value in element.items() if key in ("type", "rend", "list-type")}
    tag = "ol" if name in _NUMBERED_LISTS or kinds & _NUMBERED_TYPES else "ul"
    parts: list[str] = []
    head = ""
    label = ""
    for child in element:
        inner = local_name(child).casefold()
        if inner in _CAPTIONS:
            head += f"<p>{_inline(child)}</p>"
        elif inner == "label":
            label = _inline(child)
        else:
            parts.append(f"<li>{f'{label}: ' if label else ''}{_item(child)}</li>")
            label = ""
    return f"{head}<{tag}>{''.join(parts)}</{tag}>"


def _item(element: _Element) -> str:
    """What stands in an item: its text, and the lists in it."""
    parts = [escape(element.text or "")]
    for child in element:
        name = local_name(child).casefold()
        if name in _LISTS and _is_list(child):
            parts.append(_list(child))
        elif name in _PARAGRAPHS:
            parts.append(f"<p>{_item(child)}</p>")
        else:
            parts.append(_inline(child) + ("" if _is_paragraph(element) else " "))
        parts.append(escape(child.tail or ""))
    return "".join(parts)


def _table(element: _Element) -> str:
    """A table as HTML, with its caption."""
    parts = ["<table>"]
    parts += [f"<caption>{_inline(child)}</caption>" for child in element if _is_head(child)]
    for row in element.iter("*"):
        if local_name(row).casefold() not in _ROWS:
            continue
        around = row.getparent()
        in_head = row.get("role") == "label" or (around is not None and local_name(around) == "thead")
        parts.append("<tr>")
        for cell in row:
            tag = "th" if in_head or local_name(cell).casefold() in _HEAD_CELLS else "td"
            spans = "".join(
                f' {to}="{escape(value)}"'
                for key, to in (("colspan", "colspan"), ("cols", "colspan"), ("rowspan", "rowspan"))
                if (value := cell.get(key))
            )
            parts.append(f"<{tag}{spans}>{_inline(cell)}</{tag}>")
        parts.append("</tr>")
    return "".join([*parts, "</table>"])
