"""HTML as a small tree of the elements that lay a page out, with its navigation marked.

The parser is that of lxml (libxml2), which mends broken HTML as it reads. It calls a target for each tag
instead of building its own tree: that takes time in proportion to the size even if a tag has 300,000
attributes, and elements inside a line, such as ``<b>`` or ``<span>``, need no place in the tree at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from localcrag.documents.extracted import one_line
from localcrag.documents.html_superscripts import raised
from localcrag.documents.latex_words import words
from localcrag.errors import UnreadableError

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
LISTS = frozenset({"ul", "ol", "menu", "dir"})
VERBATIM = frozenset({"pre", "listing", "xmp", "plaintext"})
"""Elements whose line ends and spaces are kept."""
_SECTIONS = frozenset(
    (
        *("address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog", "div"),
        *("dl", "dt", "fieldset", "figure", "footer", "form", "header", "hgroup", "html", "legend", "li"),
        *("main", "nav", "optgroup", "p", "search", "section", "summary"),
    )
)
_TABLE_TAGS = frozenset({"caption", "figcaption", "table", "tbody", "td", "tfoot", "th", "thead", "tr"})
_KEPT = HEADINGS | LISTS | VERBATIM | _SECTIONS | _TABLE_TAGS | {"hr"}
_DROPPED = frozenset(
    (
        *("annotation", "annotation-xml", "audio", "button", "canvas", "datalist", "iframe"),
        *("noembed", "noframes", "noscript", "object", "script", "select", "style", "svg", "template"),
        *("textarea", "video"),
    )
)
"""Elements that a reader of the page does not see, or sees as a picture or as something to press."""
_BOLD_TAGS = frozenset({"b", "strong"})
_BOLD_STYLE = re.compile(r"font-weight\s*:\s*(?:bold|[6-9]00)", re.IGNORECASE)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_PERMALINK = re.compile(r"[\s#¶§↑↩⏎🔗\uf0c1\ufe0e\ufe0f]+")
"""The text of a link that only points to its own place, as stands beside a heading or ends a footnote."""
_NAVIGATION_ROLES = frozenset({"navigation", "menubar", "menu"})
_TURNING_RELATIONS = frozenset({"next", "prev", "previous", "up"})
_TURNING_KEYS = frozenset("npu")
"""The access keys that manuals have for the next page, the previous one and the one above."""
_MIN_TURNING_LINKS = 2
_MIN_TURNING_DENSITY = 0.25
"""The share of characters in links from which on a block with links that turn pages is navigation."""
_MAX_TURNING_CHARACTERS = 240
"""The characters up to which such a block without a paragraph is navigation, with long names of chapters."""
_WRAPPERS = frozenset({"div", "section", "header", "main", "article", "body", "html", "form", "center"})
_MAX_DEPTH = 250
"""Levels of elements in the tree; the text of deeper ones belongs to the last."""
_MAX_OPEN_ELEMENTS = 2000
_MAX_TITLE_CHARACTERS = 2000
_MAX_PROPERTIES, _MAX_NAME_CHARACTERS = 100, 60
_CONTENTS_CLASS = re.compile(
    r"(?:^|[\s_-])(?:toc|(?:short|table-?of-?)?contents|list-of-[a-z]+|lot|toctree-wrapper)(?:$|[\s_])",
    re.IGNORECASE,
)
"""What the class of a table of contents is called by DocBook, Texinfo, Sphinx and others."""
_MIN_CONTENTS_DENSITY = 0.5
"""The share of characters in links from which on such an element is one: numbers stand beside the links."""
_MIN_LINK_DENSITY = 0.9
"""The share of characters in links from which on a list is navigation, at the start or end of a page."""
_MIN_LINKS = 3
_MAX_EDGE_SHARE = 0.25
_BOOKMARKS = re.compile(r"\s*<!DOCTYPE NETSCAPE-Bookmark-file-1>", re.IGNORECASE)
"""How the file begins to which a browser exports its bookmarks."""
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*://\S{1,500}", re.IGNORECASE)
"""The address of a bookmark; scripts and searches of the browser have none."""
BREAK = "\v"
"""What stands for ``<br>`` in a text."""


class LinkText(str):
    """A text inside a link."""

    __slots__ = ()


class PlaceLinkText(LinkText):
    """A text inside a link to a place in the same page."""

    __slots__ = ()


class AlternativeText(str):
    """What stands for a picture."""

    __slots__ = ()


class AddressText(str):
    """The address of a bookmark, behind its name."""

    __slots__ = ()


class Element:
    """An element; ``children`` are elements and texts.

    ``characters`` counts those of all texts inside, ``linked`` those inside links and ``links`` these texts;
    ``turning`` counts the links that turn pages, ``headings`` the headings inside and ``bold`` the characters
    in bold letters. ``navigation`` says that it is to be left out, ``is_title`` that it is the title of what
    stands below it.
    """

    __slots__ = (
        *("attributes", "bold", "characters", "children", "headings", "is_title", "linked", "links"),
        *("navigation", "tag", "turning"),
    )

    def __init__(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.tag, self.attributes = tag, attributes
        self.children: list[Element | str] = []
        self.characters = self.linked = self.links = self.headings = self.turning = self.bold = 0
        self.navigation = self.is_title = False

    def elements(self) -> Iterator[Element]:
        """The children that are elements."""
        return (child for child in self.children if isinstance(child, Element))

    def descendants(self) -> Iterator[Element]:
        """All elements inside it, in no particular order."""
        waiting = list(self.elements())
        while waiting:
            element = waiting.pop()
            yield element
            waiting += element.elements()

    def is_contents(self) -> bool:
        """Whether it is a table of contents, or a list of figures or tables, by its class and its links."""
        return (
            self.links >= _MIN_LINKS
            and self.linked >= _MIN_CONTENTS_DENSITY * self.characters
            and self.headings <= 1
            and _CONTENTS_CLASS.search(self.attributes.get("class", "")) is not None
        )


def parse(html: str) -> tuple[Element, str, Mapping[str, str]]:
    """The tree of a page, its title, "" if it has none, and its properties.

    They are its language (``lang``) and the contents of its ``<meta>`` elements, by their names. In the
    bookmarks of a browser the address of a link follows its text. Raises UnreadableError if elements are
    nested too deeply.
    """
    from lxml import etree

    target = _TreeBuilder(keeps_addresses=_BOOKMARKS.match(html) is not None)
    parser = etree.HTMLParser(target=target, encoding="utf-8", huge_tree=True)  # texts of any length
    try:
        etree.fromstring(html.encode("utf-8", "replace"), parser)
    except etree.LxmlError as error:
        if html.strip() and not target.root.children:
            raise UnreadableError(f"HTML that cannot be parsed ({one_line(str(error))})") from error
    return target.root, target.title, target.properties


class _TreeBuilder:
    """The target of the parser, which makes the tree of what it is told."""

    def __init__(self, *, keeps_addresses: bool = False) -> None:
        self._keeps_addresses = keeps_addresses
        self.root = Element("html", {})
        self.properties: dict[str, str] = {}
        self.title = ""
        self._stack = [self.root]
        self._is_kept: list[bool] = []
        self._is_bold: list[bool] = []
        self._bold = self._raised = 0
        self._unseen = 0
        self._link: str | None = None
        self._title: list[str] | None = None

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._unseen or _is_unseen(tag, attributes):
            self._unseen += 1
            return
        is_heading = attributes.get("role") == "heading"
        kept = tag in _KEPT or is_heading
        if kept and len(self._stack) > _MAX_DEPTH:
            if len(self._is_kept) > _MAX_OPEN_ELEMENTS:
                raise UnreadableError("HTML nested too deeply")
            self.data(" ")
            kept = False
        self._is_kept.append(kept)
        self._is_bold.append(tag in _BOLD_TAGS or bool(_BOLD_STYLE.search(attributes.get("style", ""))))
        self._bold += self._is_bold[-1]
        self._raised += tag == "sup"
        if tag in ("html", "meta") and len(self.properties) < _MAX_PROPERTIES:
            self._add_property(tag, attributes)
        if kept:
            element = Element(_heading_tag(attributes) if is_heading else tag, attributes)
            element.navigation = tag == "nav" or attributes.get("role") in _NAVIGATION_ROLES
            element.headings = int(element.tag in HEADINGS)
            self._stack[-1].children.append(element)
            self._stack.append(element)
        elif tag == "br":
            self._stack[-1].children.append(BREAK)
        elif tag == "a":
            self._link = attributes.get("href")
            self._stack[-1].turning += _turns_pages(attributes)
        elif tag == "img" and (alternative := attributes.get("alt")):
            is_formula = "math" in attributes.get("class", "").split()
            self.data(AlternativeText(f" {words(alternative, {}) if is_formula else alternative} "))
        elif tag == "title" and not self.title:
            self._title = []

    def _add_property(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = "lang" if tag == "html" else attributes.get("name") or attributes.get("property") or ""
        content = attributes.get("lang" if tag == "html" else "content", "")
        if content:
            self.properties.setdefault(name[:_MAX_NAME_CHARACTERS].lower(), content[:_MAX_TITLE_CHARACTERS])

    def end(self, tag: str) -> None:
        if self._unseen:
            self._unseen -= 1
            return
        self._bold -= self._is_bold.pop()
        self._raised -= tag == "sup"
        if self._is_kept.pop():
            element = self._stack.pop()
            above = self._stack[-1]
            above.characters += element.characters
            above.linked += element.linked
            above.links += element.links
            above.headings += element.headings
            above.turning += element.turning
            above.bold += element.bold
        elif tag == "a":
            address, self._link = self._link or "", None
            if self._keeps_addresses and _ADDRESS.fullmatch(address):
                self.data(AddressText(f": {address}"))
        elif tag == "title" and self._title is not None:
            self.title = one_line("".join(self._title), _MAX_TITLE_CHARACTERS)
            self._title = None

    def data(self, text: str) -> None:
        if self._unseen:
            return
        if self._title is not None:
            self._title.append(text)
            return
        above = self._stack[-1]
        text = raised(above.children, text) if self._raised else text
        size = len(text.strip())
        if self._link is not None and size:
            if self._link.startswith("#") and _PERMALINK.fullmatch(text):
                return
            text = PlaceLinkText(text) if self._link.startswith("#") else LinkText(text)
            above.linked += size
            above.links += 1
        above.characters += size
        above.bold += size if self._bold else 0
        above.children.append(text)

    def close(self) -> None:
        """The parser asks for this at the end."""


def _is_unseen(tag: str, attributes: Mapping[str, str]) -> bool:
    if tag in _DROPPED:
        return True
    if not attributes or tag in ("html", "body"):  # a script shows these
        return False
    if tag == "sup" and "reference" in attributes.get("class", "").split():  # the mark of a source in a wiki
        return True
    hidden = attributes.get("hidden", "until-found") != "until-found"
    return hidden or bool(_HIDDEN_STYLE.search(attributes.get("style", "")))


def _turns_pages(attributes: Mapping[str, str]) -> bool:
    """Whether a link leads to the next page of a manual, the previous one or the one above."""
    if "href" not in attributes:
        return False
    relations = attributes.get("rel", "").lower().split()
    return not _TURNING_RELATIONS.isdisjoint(relations) or attributes.get("accesskey", "") in _TURNING_KEYS


def _heading_tag(attributes: Mapping[str, str]) -> str:
    level = attributes.get("aria-level", "2")
    return f"h{level}" if level in ("1", "2", "3", "4", "5", "6") else "h2"


# ------------------------------------------------------------------------------------ navigation


def mark_navigation(root: Element) -> float:
    """Mark the lists of links at the edges of a page; the share of characters in all its navigation.

    What turns the pages of a manual ("Next: Closures, Up: Using it") is marked wherever it stands.
    Such a list has at least three links, and nine tenths of its text are in them. At the end of a page it
    also lies in a part of the page of its own, without a heading or an introduction above it: the list under
    "See also" is content. Lists with more than a quarter of the page's characters stay, as they are what the
    page is for. If nothing else is left of the page, all navigation stays, and the share is 0.
    """
    _mark_turning(root)
    edges = [*_mark_edge(root, from_end=False), *_mark_edge(root, from_end=True)]
    if sum(edge.characters for edge in edges) > _MAX_EDGE_SHARE * root.characters:
        for edge in edges:
            edge.navigation = False
    left_out = _navigation_characters(root)
    if left_out == root.characters:
        for element in root.descendants():
            element.navigation = False
        return 0.0
    return left_out / root.characters


def _mark_turning(root: Element) -> None:
    """Mark the blocks that turn pages, and their repetitions, whose links need not say what they are."""
    marked = [element for element in root.descendants() if _only_turns_pages(element)]
    sizes = {(element.characters, element.links) for element in marked}
    known = {_words(element) for element in marked}
    for element in root.descendants():
        if (element.characters, element.links) in sizes and _words(element) in known:
            element.navigation = True


def _words(element: Element) -> str:
    return " ".join("".join(texts(element)).split())


def _only_turns_pages(element: Element) -> bool:
    if element.turning < _MIN_TURNING_LINKS or element.headings:
        return False
    if element.linked >= _MIN_TURNING_DENSITY * element.characters:
        return True
    return element.characters <= _MAX_TURNING_CHARACTERS and not any(
        inside.tag == "p" or inside.tag in LISTS or inside.tag in VERBATIM for inside in element.descendants()
    )


def _navigation_characters(root: Element) -> int:
    total, waiting = 0, [root]
    while waiting:
        element = waiting.pop()
        if element.navigation:
            total += element.characters
        else:
            waiting += element.elements()
    return total


def _mark_edge(root: Element, *, from_end: bool) -> list[Element]:
    """Mark the lists of links at one edge of a page; they are returned."""
    marked: list[Element] = []
    inside: Element | None = root
    while inside is not None:
        inside = _marked_in(inside, from_end, marked)
    return marked


def _marked_in(parent: Element, from_end: bool, marked: list[Element]) -> Element | None:
    """Mark the lists of links at an edge of an element; the child to go on with, None at the last."""
    children = [child for child in parent.children if isinstance(child, Element) or child.strip()]
    if from_end:
        children.reverse()
    for place, child in enumerate(children):
        if isinstance(child, str):
            return None
        if child.navigation or not child.characters:
            continue
        introduction = children[place + 1 : place + 2] if from_end else []
        if not _is_list_of_links(child) or (from_end and not _stands_apart(child, introduction)):
            return child if child.tag in _WRAPPERS else None
        child.navigation = True
        marked.append(child)
    return None


def _is_list_of_links(element: Element) -> bool:
    return (
        element.links >= _MIN_LINKS
        and not element.headings
        and element.linked >= _MIN_LINK_DENSITY * element.characters
        and (element.tag not in ("p", "table", *VERBATIM))
    )


def _stands_apart(element: Element, introduction: Sequence[Element | str]) -> bool:
    if element.tag in LISTS or not introduction:
        return False
    above = introduction[0]
    if isinstance(above, str):
        return not above.rstrip().endswith(":")
    return above.tag not in HEADINGS and not "".join(texts(above)).rstrip().endswith(":")


def texts(element: Element) -> Iterator[str]:
    """The texts inside an element in their order, with a space between one block and the next."""
    for child in element.children:
        if isinstance(child, str):
            yield " " if child == BREAK else child
        else:
            yield " "
            yield from texts(child)
            yield " "
