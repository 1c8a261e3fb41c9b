"""The properties of files as fields: those of Office (``docProps/core.xml``), OpenDocument and PDF."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree

from localcrag.documents.document_fields import fields_of, pdf_day
from localcrag.types import Meta

_CORE_PATH = "docProps/core.xml"
_CORE_NAMES = {
    "title": "title",
    "creator": "author",
    "created": "created",
    "modified": "modified",
    "keywords": "tags",
    "contentStatus": "status",
    "category": "category",
    "subject": "subject",
    "description": "description",
    "language": "language",
}
_OPENDOCUMENT_NAMES = {
    "initial-creator": "author",
    "creator": "author",
    "creation-date": "created",
    "date": "modified",
    "subject": "subject",
    "description": "description",
    "language": "language",
}
_PDF_NAMES = {"Author": "author", "Keywords": "tags", "Subject": "subject"}
_PDF_DAYS = {"CreationDate": "created", "ModDate": "modified"}
_USER_NAME = "{urn:oasis:names:tc:opendocument:xmlns:meta:1.0}name"


def core_properties(container: zipfile.ZipFile) -> tuple[str, Meta]:
    """The title and the fields in the properties of an Office file, ("", {}) if it has none.

    Expat neither fetches external entities nor expands internal ones without bound.
    """
    try:
        root = ElementTree.fromstring(container.read(_CORE_PATH))
    except (KeyError, ElementTree.ParseError):
        return "", {}
    found = {name: text for name, text in _texts(root) if name in _CORE_NAMES}
    fields = fields_of((field, found[name]) for name, field in _CORE_NAMES.items() if name in found)
    return found.get("title", ""), {key: value for key, value in fields.items() if key != "title"}


def opendocument_fields(meta: Any) -> Meta:
    """The fields in the root of ``meta.xml`` of an OpenDocument, those that its user has named among them."""
    found = list(_texts(meta))
    first = dict(reversed(found))
    pairs: list[tuple[str, object]] = [
        (field, first[name]) for name, field in _OPENDOCUMENT_NAMES.items() if name in first
    ]
    if keywords := [text for name, text in found if name == "keyword"]:
        pairs.append(("tags", keywords[0] if len(keywords) == 1 else keywords))
    pairs += [
        (str(name), node.text)
        for node in meta.iter()
        if isinstance(node.tag, str) and _local(node.tag) == "user-defined" and (name := node.get(_USER_NAME))
    ]
    return fields_of(pairs)


def pdf_fields(value: Callable[[str], str]) -> Meta:
    """The fields in the Info dictionary of a PDF; ``value`` gives that of a name, "" if there is none."""
    given: Mapping[str, str] = {
        **{field: value(name) for name, field in _PDF_NAMES.items()},
        **{field: pdf_day(value(name)) for name, field in _PDF_DAYS.items()},
    }
    return fields_of(given.items())


def _texts(root: Any) -> Iterator[tuple[str, str]]:
    """The names without namespaces and the texts of all elements that have text."""
    for node in root.iter():
        if isinstance(node.tag, str) and node.text and node.text.strip():
            yield _local(node.tag), node.text.strip()


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]
