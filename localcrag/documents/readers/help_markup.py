"""Reader of documentation in XML, DocBook and Mallard (the help of GNOME): its elements become those of HTML.

Nothing outside the file is read: what it includes from others is left out, and an entity of another file is
its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING

from localcrag.documents.block_text import BlockText
from localcrag.documents.document_fields import fields_of
from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.html_blocks import add_html
from localcrag.documents.readers.html import first_heading
from localcrag.documents.xml_source import XML_HINT, declared_entities, decoded_xml, with_known_entities
from localcrag.errors import UnreadableError

if TYPE_CHECKING:
    from lxml.etree import _Element

_LANGUAGES = ("{http://www.w3.org/XML/1998/namespace}lang", "lang")
_LANGUAGE = re.compile(r"[A-Za-z]{2}(?:[-_]\w{2,4})?")
_SECTIONS = frozenset(
    (
        *("appendix", "article", "bibliography", "book", "chapter", "colophon", "dedication", "glossary"),
        *("page", "part", "preface", "qandadiv", "reference", "refentry", "refsect1", "refsect2", "refsect3"),
        *(
            "refsection",
            "refsynopsisdiv",
            "sect1",
            "sect2",
            "sect3",
            "sect4",
            "sect5",
            "section",
            "simplesect",
        ),
    )
)
_TITLED = _SECTIONS | {"info", "articleinfo", "bookinfo", "chapterinfo", "sectioninfo", "refnamediv"}
"""The elements of which a title is that of a section."""
_INFO_TITLES = frozenset({"title", "subtitle"})
_DROPPED = frozenset(
    (
        *(
            "anchor",
            "area",
            "areaspec",
            "colophon",
            "comment",
            "credit",
            "imagedata",
            "imageobject",
            "include",
        ),
        *("index", "indexterm", "links", "remark", "revhistory", "toc", "videoobject"),
    )
)
_TAGS = {
    **dict.fromkeys(("para", "simpara", "formalpara", "p", "synopfragment"), "p"),
    **dict.fromkeys(("itemizedlist", "list", "simplelist"), "ul"),
    **dict.fromkeys(("orderedlist", "procedure", "steps", "substeps"), "ol"),
    **dict.fromkeys(("listitem", "item", "step", "member"), "li"),
    **dict.fromkeys(("variablelist", "terms", "glosslist"), "dl"),
    "term": "dt",
    "glossdef": "dd",
    **dict.fromkeys(("programlisting", "screen", "literallayout", "synopsis"), "pre"),
    **dict.fromkeys(("table", "informaltable"), "table"),
    **dict.fromkeys(("thead", "tbody", "tfoot", "tr", "td", "th"), ""),
    "row": "tr",
    "entry": "td",
    **dict.fromkeys(("blockquote", "epigraph"), "blockquote"),
    **dict.fromkeys(("caption", "textobject"), "figcaption"),
    **dict.fromkeys(
        (
            *("note", "tip", "warning", "important", "caution", "example", "informalexample", "figure"),
            *("informalfigure", "answer", "mediaobject", "media", "listing", "sidebar", "abstract"),
            *("cmdsynopsis", "funcsynopsis", "address", "refnamediv", "equation", "screenshot", "refmeta"),
        ),
        "div",
    ),
}
"""The elements of HTML that elements become; "" if they keep their name."""
_JOINED = {"keycombo": "+", "keyseq": "+", "menuchoice": " → ", "guiseq": " → "}
"""What stands between the parts of a shortcut, or of a way through menus."""
_BLOCKS = frozenset({"page", "section", "item", "note", "example", "listing", "figure", "td", "p"})
_LAST_LEVEL = 6


def read_help_markup(data: bytes, limits: Limits) -> ExtractedText:
    """Read a file of DocBook or Mallard. Raises UnreadableError if it is damaged beyond repair."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities="internal", no_network=True, load_dtd=False, recover=True)
    text = decoded_xml(data)
    text = with_known_entities(text, declared_entities(text))
    try:
        root = etree.fromstring(text.encode(), parser)
    except (etree.LxmlError, ValueError) as error:
        raise UnreadableError("XML that cannot be parsed", hint=XML_HINT) from error
    if root is None:
        raise UnreadableError("XML that cannot be parsed", hint=XML_HINT)
    made = BlockText(limits)
    add_html(made, "".join(_html(root, 1)))
    page = made.page()
    language = next((named for name in _LANGUAGES if _LANGUAGE.fullmatch(named := root.get(name, ""))), None)
    media_type = MEDIA_TYPES[DocumentFormat.HELP]
    return ExtractedText(first_heading(page), media_type, (page,), meta=fields_of([("language", language)]))


def _name(element: _Element) -> str:
    """The name of an element without its namespace; "" for a comment, or an entity that is not known."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _html(element: _Element, level: int) -> Iterator[str]:
    """An element as HTML; ``level`` is that of a heading in it."""
    name, parent = _name(element), element.getparent()
    around = "" if parent is None else _name(parent)
    if not name or name in _DROPPED:
        return
    if name.endswith("info") and name in _TITLED:
        for child in element:
            if _name(child) in _INFO_TITLES:
                yield from _html(child, level)
    elif name in _SECTIONS:
        yield from _wrapped("section", element, level + (around != "" and name != "refsynopsisdiv"))
    elif name == "title" and (around in _TITLED or not around):
        yield from _wrapped(f"h{min(level, _LAST_LEVEL)}", element, level)
    elif name == "question":
        tag = f"h{min(level + 1, _LAST_LEVEL)}"
        yield f"<{tag}>{escape(' '.join(''.join(element.itertext('*')).split()))}</{tag}>"
    elif (name, around) in (("title", "item"), ("glossterm", "glossentry")):
        yield from _wrapped("dt", element, level)
    elif name in ("title", "subtitle"):
        yield from _wrapped("caption" if around in ("table", "figure") else "p", element, level)
    elif name == "item" and around == "terms":
        yield "".join(_html(title, level)) if (title := _child(element, "title")) is not None else ""
        yield "<dd>"
        for child in element:
            yield from () if _name(child) == "title" else _html(child, level)
        yield "</dd>"
    elif name == "glossentry" and around != "glosslist":
        yield from _wrapped("dl", element, level)
    elif name == "listitem" and around == "varlistentry":
        yield from _wrapped("dd", element, level)
    elif name == "entry" and _is_in_head(element):
        yield from _wrapped("th", element, level)
    elif name in _JOINED:
        parts = [escape(element.text or "")]
        for child in element:
            parts += ["" if _name(child) == "shortcut" else "".join(_html(child, level))]
            parts += [escape(child.tail or "")]
        yield _JOINED[name].join(part.strip() for part in parts if part.strip())
        keys = _child(element, "shortcut")
        yield "" if keys is None else f" ({''.join(_inside(keys, level)).strip()})"
    elif name == "quote" and around not in _BLOCKS:
        yield "“"
        yield from _inside(element, level)
        yield "”"
    elif name == "footnote":
        yield f" ({''.join(' '.join(child.itertext()) for child in element).strip()})"
    elif name == "code" and around in _BLOCKS - {"p"}:
        yield from _wrapped("pre", element, level)
    elif name in _TAGS:
        yield from _wrapped(_TAGS[name] or name, element, level)
    else:
        yield from _inside(element, level)


def _child(element: _Element, name: str) -> _Element | None:
    return next((child for child in element if _name(child) == name), None)


def _is_in_head(entry: _Element) -> bool:
    row = entry.getparent()
    group = None if row is None else row.getparent()
    return group is not None and _name(group) == "thead"


def _wrapped(tag: str, element: _Element, level: int) -> Iterator[str]:
    yield f"<{tag}>"
    yield from _inside(element, level)
    yield f"</{tag}>"


def _inside(element: _Element, level: int) -> Iterator[str]:
    yield escape(element.text or "")
    for child in element:
        yield from _html(child, level)
        yield escape(child.tail or "")
