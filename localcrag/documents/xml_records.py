"""The data of an XML file as the values that JSON has, so that both are shown alike.

An element is an object of its attributes and the elements in it, or its text. Elements of the same name
beside each other are a list, and so is an element that only holds them ("dependencies" of "dependency").
Those of a record that an attribute names are its fields: ``<tag k="highway" v="path"/>`` is "highway: path".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from localcrag.documents.block_text import BlockText
from localcrag.documents.html_blocks import add_html
from localcrag.documents.record_blocks import Json

if TYPE_CHECKING:
    from lxml.etree import _Element

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_TECHNICAL_ATTRIBUTES = frozenset(
    {"schemaLocation", "noNamespaceSchemaLocation", "version", "space", "base", "lang"}
)
_NAMING_ATTRIBUTES = ("name", "key", "k", "property", "field", "dictRef")
"""The attributes that may name a field, the surest first."""
_VALUE_ATTRIBUTES = ("value", "v", "val", "content")
"""The attributes that may hold the value of a field without a text."""
_UNIT_ATTRIBUTES = ("unit", "units", "uom")
"""The attributes that may hold the unit of a value."""
_DATA_TYPE = "dataType"
"""The attribute that says how a value is written, and nothing of what it is."""
MIN_FIELDS, MAX_FIELDS = 2, 60
"""How many elements are the fields of a record, that an attribute names."""
_LEVELS_OF_RECORD, _MAX_COMPARED = 3, 5
"""How far above its fields a record may be that stands beside others, and how many of these are looked at."""
_HTML = re.compile(
    r"</?(?:a|b|br|code|div|em|h[1-6]|i|img|li|ol|p|pre|span|strong|table|td|tr|ul)\b[^<>]*>", re.I
)
"""A tag of HTML within the text of an element, as feeds have them."""


def local_name(element: _Element) -> str:
    """The name of an element without its namespace; "" for anything else that stands between elements."""
    tag = element.tag
    return tag.rpartition("}")[2].rpartition(":")[2] if isinstance(tag, str) else ""


def has_html(text: str) -> bool:
    """Whether a text has tags of HTML in it."""
    return "<" in text and _HTML.search(text) is not None


def plain_value(text: str) -> str:
    """The text of an element in one line, without tags of HTML in it."""
    if has_html(text):
        made = BlockText()
        add_html(made, text)
        text = made.page().text
    return " ".join(text.split())


def has_text_between(element: _Element) -> bool:
    """Whether text stands between the elements in an element."""
    return bool((element.text or "").strip()) or any((child.tail or "").strip() for child in element)


def inline_text(element: _Element) -> str:
    """The text in an element; the texts of elements in it are parted if nothing stands between them."""
    if not len(element):
        return element.text or " "
    if not has_text_between(element):
        return " ".join(map(inline_text, element))
    inside = (f"{inline_text(child)}{child.tail or ''}" for child in element)
    return f"{element.text or ''}{''.join(inside)}"


def value_of(element: _Element) -> Json:
    """An element as a value: a text, an object or a list; "" if it is empty."""
    own: dict[str, Json] = {**attributes_of(element)}
    if not len(element) or has_text_between(element):
        text = plain_value(inline_text(element))
        return {**own, **({local_name(element): text} if text else {})} if own else text
    fields, others = _fields_and_others(element)
    inside = {**fields, **object_of(others)}
    if not own and len(inside) == 1:
        (name, value), *_ = inside.items()
        if len(element) > 1 or _is_plural(local_name(element), name):
            return value if isinstance(value, list) or len(element) > 1 else [value]
    return {**own, **inside}


def _fields_and_others(record: _Element) -> tuple[dict[str, Json], list[_Element]]:
    """The fields of a record whose elements are named by an attribute, and its other elements.

    Half of the names must be those of fields in another record: holidays that have names are no fields. None
    of them may be that of something else in the record, which one of both would hide.
    """
    for naming in _NAMING_ATTRIBUTES:
        named = [each for each in record if not len(each) and each.get(naming) and _field_value(each)]
        names = [_field_name(each, naming) for each in named]
        if not MIN_FIELDS <= len(set(names)) == len(names) <= MAX_FIELDS:
            continue
        others = [each for each in record if each not in named]
        if not {*names}.isdisjoint((*attributes_of(record), *map(local_name, others))):
            continue
        own = {each.get(naming) for each in named}
        if 2 * len(own & _names_in_others(record, naming, {each.tag for each in named})) >= len(own):
            fields: dict[str, Json] = {}
            for each, name in zip(named, names, strict=True):
                fields[name] = _field_value(each)
                holder = "" if (each.text or "").strip() else _attribute(each, _VALUE_ATTRIBUTES)[0]
                told = {naming, holder, _attribute(each, _UNIT_ATTRIBUTES)[0], _DATA_TYPE}
                fields |= {f"{name}.{k}": v for k, v in attributes_of(each).items() if k not in told}
            return fields, others
    return {}, list(record)


def _names_in_others(record: _Element, naming: str, tags: Collection[str]) -> set[str | None]:
    """What an attribute names in the next records of the same kind as this one, or as one around it."""
    around: _Element | None = record
    for _ in range(_LEVELS_OF_RECORD):
        if around is None:
            break
        others = [*_beside(around, preceding=False), *_beside(around, preceding=True)]
        if others:
            return {each.get(naming) for other in others for each in other.iter(*tags)}
        around = around.getparent()
    return set()


def _beside(element: _Element, *, preceding: bool) -> Iterator[_Element]:
    """The nearest elements of the same name before or behind an element."""
    return islice(element.itersiblings(element.tag, preceding=preceding), _MAX_COMPARED)


def _field_name(element: _Element, naming: str) -> str:
    """The name of a field, without its namespace, with its language and its unit: "meltingpoint (kelvin)"."""
    name = " ".join((element.get(naming) or "").split()).rpartition(":")[2]
    unit = _attribute(element, _UNIT_ATTRIBUTES)[1].rpartition(":")[2]
    marks = (mark for mark in (element.get(_LANGUAGE), unit) if mark)
    return " ".join((name, *(f"({mark})" for mark in marks)))


def _field_value(element: _Element) -> str:
    """The text of a field, or the attribute that holds its value; "" if it has neither."""
    return plain_value(element.text or "") or _attribute(element, _VALUE_ATTRIBUTES)[1]


def _attribute(element: _Element, names: Sequence[str]) -> tuple[str, str]:
    """The name and the value of the first of some attributes that an element has; ("", "") without one."""
    return next(((name, value) for name in names if (value := element.get(name))), ("", ""))


def attributes_of(element: _Element) -> dict[str, str]:
    """The attributes of an element that say something of what it tells, by their names."""
    found = ((str(name).rpartition("}")[2], " ".join(value.split())) for name, value in element.items())
    return {name: value for name, value in found if value and name not in _TECHNICAL_ATTRIBUTES}


def object_of(elements: Iterable[_Element]) -> dict[str, Json]:
    """Some elements that stand beside each other as an object, without those that are empty."""
    named: dict[str, list[_Element]] = {}
    for element in elements:
        if name := local_name(element):
            language = element.get(_LANGUAGE) if not len(element) else None
            named.setdefault(f"{name} ({language})" if language else name, []).append(element)
    made: dict[str, Json] = {}
    for name, group in named.items():
        made |= _named_values(name, group)
    return made


def _named_values(name: str, group: Sequence[_Element]) -> dict[str, Json]:
    values = [value for value in map(value_of, group) if value not in ("", {}, [])]
    if not values:
        return {}
    if len(group) > 1:
        return {name: values}
    own, only = local_name(group[0]), values[0]
    if not len(group[0]) and isinstance(only, dict) and own in only:
        return {name: only[own], **{f"{name}.{key}": value for key, value in only.items() if key != own}}
    return {name: only}


def _is_plural(around: str, inside: str) -> bool:
    """Whether the name of an element is that of several of what is in it: "dependencies", "modelList"."""
    plural, single = around.casefold(), inside.casefold()
    return plural in (f"{single}s", f"{single}es", f"{single[:-1]}ies", f"{single}list", f"{single}_list")
