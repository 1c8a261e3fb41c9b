"""Reader of EPUB: the chapters in reading order."""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator, Sequence
from urllib.parse import unquote
from xml.etree import ElementTree

from localcrag.documents import zip_guard
from localcrag.documents.block_text import BlockText
from localcrag.documents.document_fields import fields_of
from localcrag.documents.encoding import decode
from localcrag.documents.extracted import ExtractedText, Limits, one_line
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.html_blocks import add_html
from localcrag.errors import UnreadableError
from localcrag.types import Meta

_CONTAINER_PATH = "META-INF/container.xml"
_ENCRYPTION_PATH = "META-INF/encryption.xml"
_FIELDS = {
    "creator": "author",
    "date": "date",
    "language": "language",
    "subject": "tags",
    "description": "description",
    "publisher": "publisher",
}
_CHAPTER_TYPES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml")


def read_epub(data: bytes, limits: Limits) -> ExtractedText:
    """Read every document of the spine. Raises UnreadableError: damaged, copy protected, a zip bomb."""
    with zip_guard.opened(data, "EPUB", limits) as book:
        folder = _folder(book.namelist())
        package_path = folder + _attribute(_xml(book, folder + _CONTAINER_PATH), "rootfile", "full-path")
        package = _xml(book, package_path)
        paths = list(_spine(package, posixpath.dirname(package_path)))
        encrypted = _encrypted_parts(book, folder)
        if any(path in encrypted for path in paths):
            raise UnreadableError("encrypted EPUB (copy protected)")
        names = set(book.namelist())
        made = BlockText(limits)
        for path in paths:
            if path in names:
                add_html(made, decode(book.read(path), "utf-8"))
    title = next((one_line(node.text or "") for node in _named(package, "title")), "")
    return ExtractedText(title, MEDIA_TYPES[DocumentFormat.EPUB], (made.page(),), meta=_fields(package))


def _folder(names: Sequence[str]) -> str:
    """The folder of the archive that the book is in, with "/" at its end; "" unless someone packed one."""
    found = min((name for name in names if name.endswith(f"/{_CONTAINER_PATH}")), key=len, default="")
    return "" if _CONTAINER_PATH in names else found.removesuffix(_CONTAINER_PATH)


def _fields(package: ElementTree.Element) -> Meta:
    """The fields in the metadata of the package; several authors or subjects are a list."""
    pairs: list[tuple[str, object]] = []
    for name, field in _FIELDS.items():
        texts = [node.text for node in _named(package, name) if node.text and node.text.strip()]
        if texts:
            pairs.append((field, texts if len(texts) > 1 else texts[0]))
    modified = (node.text for node in _named(package, "meta") if node.get("property") == "dcterms:modified")
    return fields_of([*pairs, ("modified", next(modified, None))])


def _xml(book: zipfile.ZipFile, path: str) -> ElementTree.Element:
    """The parsed XML of a part of the book. Raises UnreadableError if it is damaged.

    Expat neither fetches external entities nor expands internal ones without bound.
    """
    try:
        return ElementTree.fromstring(book.read(path))
    except ElementTree.ParseError as error:
        raise UnreadableError(f"damaged EPUB ({path})") from error


def _named(tree: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    """The elements of that name, whatever their namespace."""
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
        if node.get("media-type") in _CHAPTER_TYPES
    }
    for reference in _named(package, "itemref"):
        href = items.get(reference.get("idref", ""))
        if href:
            yield posixpath.normpath(posixpath.join(folder, unquote(str(href).partition("#")[0])))


def _encrypted_parts(book: zipfile.ZipFile, folder: str) -> set[str]:
    """The names of the encrypted parts; most books have none, or only fonts."""
    path = folder + _ENCRYPTION_PATH
    if path not in book.namelist():
        return set()
    references = _named(_xml(book, path), "CipherReference")
    return {folder + unquote(str(node.get("URI"))) for node in references}
