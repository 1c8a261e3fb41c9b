"""EPUB: the chapters in reading order, as Markdown."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from urllib.parse import unquote
from xml.etree import ElementTree

from localcrag.documents import zip_guard
from localcrag.documents.encoding import decode
from localcrag.documents.extracted import ExtractedText, Limits, joined, one_line, whole
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.html import markdown_of
from localcrag.errors import UnreadableError

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_CHAPTERS = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read_epub(data: bytes, limits: Limits) -> ExtractedText:
    """Every document of the spine. Raises UnreadableError: damaged, copy protected, a zip bomb."""
    with zip_guard.opened(data, "EPUB", limits) as book:
        package_path = _attribute(_xml(book, _CONTAINER), "rootfile", "full-path")
        package = _xml(book, package_path)
        paths = list(_spine(package, posixpath.dirname(package_path)))
        locked = _locked(book)
        if any(path in locked for path in paths):
            raise UnreadableError("encrypted EPUB (copy protected)")
        names = set(book.namelist())
        chapters = (markdown_of(decode(book.read(path), "utf-8")) for path in paths if path in names)
        text = joined(chapters, limits)
    title = next((one_line(node.text or "") for node in _named(package, "title")), "")
    return whole(title, MEDIA_TYPES[DocumentFormat.EPUB], text)


def _xml(book: zipfile.ZipFile, path: str) -> ElementTree.Element:
    """Expat neither fetches external entities nor lets internal ones grow without bound."""
    try:
        return ElementTree.fromstring(book.read(path))
    except ElementTree.ParseError as error:
        raise UnreadableError(f"damaged EPUB ({path})") from error


def _named(tree: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """Elements of that name, whatever their namespace."""
    return tree.findall(f".//{{*}}{name}")


def _attribute(tree: ElementTree.Element, name: str, attribute: str) -> str:
    found = next((str(value) for node in _named(tree, name) if (value := node.get(attribute))), "")
    if not found:
        raise UnreadableError(f"damaged EPUB (no {name})")
    return found


def _spine(package: ElementTree.Element, folder: str) -> Iterator[str]:
    items = {
        node.get("id", ""): node.get("href", "")
        for node in _named(package, "item")
        if node.get("media-type") in _CHAPTERS
    }
    for reference in _named(package, "itemref"):
        href = items.get(reference.get("idref", ""))
        if href:
            yield posixpath.normpath(posixpath.join(folder, unquote(str(href).partition("#")[0])))


def _locked(book: zipfile.ZipFile) -> set[str]:
    """The parts that are encrypted; in most books none, or only their fonts."""
    if _ENCRYPTION not in book.namelist():
        return set()
    return {unquote(str(node.get("URI"))) for node in _named(_xml(book, _ENCRYPTION), "CipherReference")}
