"""The text and the elements of an XML file: nothing is read from outside, and no entity is expanded.

A file that is not well-formed is mended: several roots, as exports and SGML have, tags that are never closed,
attributes without quotation marks, and signs that should be written as entities.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from html.entities import html5
from typing import TYPE_CHECKING

from localcrag.documents.encoding import decode
from localcrag.errors import UnreadableError

if TYPE_CHECKING:
    from lxml.etree import XMLParser, _Element

XML_HINT = "Look for what is wrong in it: xmllint --noout FILE."
_XML_DECLARATION = re.compile(r"\s*<\?xml[^>]*\?>")
_ENCODING = re.compile(rb"""\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)""")
_ENTITY = re.compile(r"&([A-Za-z_][\w.-]{0,60});")
_ENTITY_DECLARATION = re.compile(r"<!ENTITY\s+([A-Za-z_][\w.-]{0,60})\s+(?:\"([^\"]*)\"|'([^']*)')")
_ABBREVIATIONS = {"eg": "e.g.", "ie": "i.e.", "etc": "etc."}
"""Entities of KDE's manuals; in HTML one of them is another sign."""
_XML_ENTITIES = ("amp", "lt", "gt", "quot", "apos")
_DOCTYPE = re.compile(r"<!DOCTYPE[^\[>]*+(?:\[(?:(?!\]\s*>).)*+\]\s*)?>", re.DOTALL)
_MARKUP = re.compile(
    r"(?P<kept><!--.*?-->|<!\[CDATA\[.*?\]\]>)|<\?[^>]*>|</(?P<closed>[A-Za-z_][\w:.-]*)\s*>"
    r"|<(?P<name>[A-Za-z_][\w:.-]*)(?P<attributes>(?:\s[^<>]*)?)>|&(?P<reference>#x?[0-9A-Fa-f]+;)"
    r"|(?P<stray>[<&](?!(?:amp|lt|gt|quot|apos);))",
    re.DOTALL,
)
_BARE_VALUE = re.compile(r"(\s[\w:.-]+\s*=\s*)([^\s\"'<>]+)(?=\s|$)")
_ALL_PARTS = "parts"
"""The element that is put around the parts of a file with several roots."""
_MIN_KEPT_SHARE = 0.8
"""The share of the text of a file that mending it must keep."""
_MAX_GROWTH = 10
"""A file whose entities would make it so many times as long is refused."""
_FREE_GROWTH = 1_000_000


def decoded_xml(data: bytes) -> str:
    """The text of an XML file in the encoding that it declares, without that declaration."""
    named = _ENCODING.match(data)
    text = decode(data, named[1].decode("ascii") if named else "")
    return _XML_DECLARATION.sub("", text, count=1)


def declared_entities(text: str) -> set[str]:
    """The names of the entities that an XML text declares itself."""
    return {found[1] for found in _ENTITY_DECLARATION.finditer(text)}


def with_known_entities(text: str, declared: Collection[str] = ()) -> str:
    """The text with entities of HTML as their characters, and others but the ``declared`` as their names."""

    def known(found: re.Match[str]) -> str:
        name = found[1]
        is_kept = name in _XML_ENTITIES or name in declared
        return found[0] if is_kept else _ABBREVIATIONS.get(name) or html5.get(f"{name};", name)

    return _ENTITY.sub(known, text)


def with_closed_comments(text: str) -> str:
    """The text without the beginnings of comments and literal sections that nothing ends."""
    for begin, end in (("<!--", "-->"), ("<![CDATA[", "]]>")):
        last = text.rfind(end) + 1
        text = text[:last] + text[last:].replace(begin, " ")
    return text


def xml_root(text: str) -> _Element | None:
    """The root of a decoded XML text, without comments; None if too much of it would be lost.

    Of a text with several roots it is an element around them. Raises UnreadableError if its entities would
    expand without bound.
    """
    from lxml import etree

    if _expanded_length(text) > _MAX_GROWTH * len(text) + _FREE_GROWTH:
        raise UnreadableError(
            "XML whose entities expand without bound",
            hint="Save a copy of it without the entities it declares.",
        )
    text = with_known_entities(text)
    try:
        return etree.fromstring(text.encode(), _parser(recover=False))
    except (etree.LxmlError, ValueError):
        return _mended_root(text)


def _parser(*, recover: bool) -> XMLParser:
    from lxml import etree

    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        remove_comments=True,
        remove_pis=True,
        recover=recover,
    )


def _mended_root(text: str) -> _Element | None:
    """The root of a text that is not well-formed; None if too much of it would be lost."""
    from lxml import etree

    text = with_closed_comments(_without_doctype(text))
    closed = {found["closed"] for found in _MARKUP.finditer(text) if found["closed"]}

    def mended(found: re.Match[str]) -> str:
        if found["kept"]:
            return found[0]
        if found["reference"]:
            return found[0] if _is_character(found["reference"]) else ""
        if found["stray"]:
            return "&lt;" if found["stray"] == "<" else "&amp;"
        if not (name := found["name"]):
            return found[0] if found["closed"] else ""
        attributes = _BARE_VALUE.sub(r'\1"\2"', found["attributes"]).replace("&", "&amp;")
        is_empty = name not in closed and not attributes.endswith("/")
        return f"<{name}{attributes}{'/' if is_empty else ''}>"

    mended_text = f"<{_ALL_PARTS}>{_MARKUP.sub(mended, text)}</{_ALL_PARTS}>"
    try:
        root = etree.fromstring(mended_text.encode(), _parser(recover=True))
    except (etree.LxmlError, ValueError):
        return None
    if (
        root is None
        or not len(root)
        or _letters("".join(root.itertext())) < _MIN_KEPT_SHARE * _letters(_said(text))
    ):
        return None
    only = root[0] if len(root) == 1 else None
    has_text = bool((root.text or "").strip() or (only is not None and (only.tail or "").strip()))
    return root if only is None or has_text else only


def _without_doctype(text: str) -> str:
    """The text without the declaration of its document type; a later one is none."""
    found = _DOCTYPE.match(text, at) if (at := text.find("<!DOCTYPE")) >= 0 else None
    return text[: found.start()] + text[found.end() :] if found else text


def _said(text: str) -> str:
    """The text of a file without its markup."""
    return _MARKUP.sub(lambda found: found[0] if (found["kept"] or "").startswith("<![") else " ", text)


def _letters(text: str) -> int:
    return sum(map(str.isalnum, text))


def _is_character(reference: str) -> bool:
    """Whether a reference to a character, "#233;", is to one that XML allows."""
    digits = reference[1:-1]
    try:
        code = int(digits[1:], 16) if digits[0] in "xX" else int(digits)
    except ValueError:
        return False
    return code in (9, 10, 13) or 32 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or 0x10000 <= code < 0x110000


def _expanded_length(text: str) -> float:
    """The characters of a text if its own entities were expanded; infinite if one contains itself."""
    declared = {found[1]: found[2] or found[3] or "" for found in _ENTITY_DECLARATION.finditer(text)}
    lengths: dict[str, float] = {}

    def length(name: str, around: frozenset[str]) -> float:
        if name not in lengths:
            if name in around or len(around) > len(declared):
                return float("inf")
            value = declared[name]
            inner = sum(length(n, around | {name}) for n in _ENTITY.findall(value) if n in declared)
            lengths[name] = len(value) + inner
        return lengths[name]

    if not declared:
        return len(text)
    body = _without_doctype(text)
    return len(body) + sum(length(name, frozenset()) for name in _ENTITY.findall(body) if name in declared)
