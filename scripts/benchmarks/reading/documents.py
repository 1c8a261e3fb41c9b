"""The documents: made from the sources of a folder, and those that installed packages carry.

A source ``NAME.SUFFIX.md`` is made into a file ``NAME.SUFFIX`` of that format; ``NAME.SUFFIX.txt`` is code,
stored under the name without ``.txt``; any other source is a document as it stands.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from pathlib import Path, PurePosixPath

from benchmarks.reading.office_files import docx, pptx, xlsx
from benchmarks.reading.pdf_files import pdf
from benchmarks.reading.source_text import Source, parsed, text_of
from benchmarks.reading.text_files import eml, ipynb, txt
from benchmarks.reading.web_files import epub, html

PACKAGE_MARK = "package:"
"""Begins the name of a document that a package carries: ``package:PACKAGE/path``."""
_MAKERS: Mapping[str, Callable[[Source], bytes]] = {
    "docx": docx,
    "eml": eml,
    "epub": epub,
    "html": html,
    "ipynb": ipynb,
    "pdf": pdf,
    "pptx": pptx,
    "txt": txt,
    "xlsx": xlsx,
}
_KINDS = {
    "eml": "mail",
    "ipynb": "notebook",
    "js": "code",
    "md": "markdown",
    "py": "code",
    "txt": "text",
}
"""The kinds that are not named as their suffix."""
_SOFT_HYPHEN = "\u00ad"


@dataclass(frozen=True)
class Document:
    """One document: its name and kind, what makes its bytes, and its words by page.

    The words are one page if the format has none. Its headings, the rows of its tables, and what surrounds
    its text (running headers and footers, navigation) are known if it is made here.
    """

    name: str
    kind: str
    make: Callable[[], bytes] = field(repr=False, compare=False)
    pages: tuple[str, ...]
    headings: tuple[str, ...] = ()
    furniture: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def data(self) -> bytes:
        """Its bytes, which are made when they are needed: hundreds of office files take seconds."""
        return self.make()

    @property
    def file_name(self) -> str:
        """The name of its file."""
        return PurePosixPath(self.name.removeprefix(PACKAGE_MARK)).name


def documents(sources: Path) -> list[Document]:
    """All documents that can be made from a folder of sources, by name."""
    return [_made(path) for path in sorted(sources.iterdir())]


def packaged(name: str) -> Document | None:
    """The document of a package; None if the package is not installed, or has no such file."""
    package, _, path = name.removeprefix(PACKAGE_MARK).partition("/")
    found = importlib.util.find_spec(package)
    for folder in (found.submodule_search_locations if found else None) or ():
        file = Path(folder, path)
        if file.is_file():
            text = file.read_text("utf-8")
            return Document(name, "package files", file.read_bytes, (text,))
    return None


def write(found: list[Document], folder: Path) -> Path:
    """The files of the documents in a new folder."""
    folder.mkdir(parents=True)
    for document in found:
        (folder / document.file_name).write_bytes(document.data)
    return folder


def _made(path: Path) -> Document:
    text = path.read_text("utf-8")
    inner, _, last = path.name.rpartition(".")
    if last == "txt" and "." in inner:
        return Document(inner, _kind(inner, {}), text.encode, (text,))
    if "." in inner:
        return _formatted(inner, parsed(text))
    words = "\n".join(map(" ".join, _csv_rows(text))) if last == "csv" else text
    return Document(
        path.name,
        _kind(path.name, {}),
        text.encode,
        (words,),
        headings=tuple(_headings(text, path.name)),
        rows=tuple(_rows(text, last)),
    )


def _formatted(name: str, source: Source) -> Document:
    """The document of that name whose format its suffix says."""
    suffix = name.rpartition(".")[2]
    pages = source.pages if suffix in ("pdf", "pptx") else (source.pieces,)
    words = [text_of(page).replace(_SOFT_HYPHEN, "") for page in pages]
    words[0] = "\n".join((*source.fields.values(), words[0]))
    return Document(
        name,
        _kind(name, source.fields),
        partial(_MAKERS[suffix], source),
        tuple(words),
        headings=tuple(piece.plain for piece in source.pieces if piece.kind == "heading"),
        furniture=tuple(_furniture(source)),
        rows=tuple(row for piece in source.pieces if piece.kind == "table" for row in piece.rows[1:]),
    )


def _kind(name: str, fields: Mapping[str, str]) -> str:
    suffix = name.rpartition(".")[2]
    default = "minutes" if name.startswith("minutes") else _KINDS.get(suffix, suffix)
    return fields.get("kind", default)


def _headings(text: str, name: str) -> Iterator[str]:
    """The headings of a document that is its own source: Markdown's, reStructuredText's, numbered items."""
    if name.endswith(".md"):
        yield from re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?s)```.*?```", "", text))
    elif name.endswith(".rst"):
        yield from re.findall(r"(?m)^(\w.*)\n[=*-]{4,}$", text)
    elif name.startswith("minutes"):
        yield from re.findall(r"(?m)^(\d\. .+)$", text)


def _rows(text: str, suffix: str) -> Iterator[tuple[str, ...]]:
    """The rows of the tables of a document that is its own source, without their heads."""
    if suffix == "csv":
        yield from islice(_csv_rows(text), 1, None)
    elif suffix == "jsonl":
        yield from (tuple(map(str, json.loads(line).values())) for line in text.splitlines())
    elif suffix == "md":
        for piece in parsed(text).pieces:
            yield from piece.rows[1:]
    elif suffix == "rst":
        for table in re.findall(r"(?m)^={4,}(?: +={4,})+\n.*\n={4,}.*\n((?:\w.*\n)+)", text):
            yield from (tuple(re.split(r" {2,}", row.strip())) for row in table.splitlines())


def _csv_rows(text: str) -> Iterator[tuple[str, ...]]:
    lines = text.splitlines()
    delimiter = max(",;\t", key=lambda mark: min(line.count(mark) for line in lines[-3:]))
    yield from map(tuple, csv.reader(lines, delimiter=delimiter))


def _furniture(source: Source) -> Iterator[str]:
    """What stands around the text: running headers and footers, the sidebar, the links of the navigation."""
    for name in ("header", "footer", "aside", "nav"):
        if said := source.fields.get(name):
            yield " ".join(said.split(", ")) if name == "nav" else said
