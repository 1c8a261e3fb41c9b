"""The words of an element of an OpenDocument, its notes and text boxes, and the names of its namespaces."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lxml.etree import _Element


def in_namespace(name: str) -> str:
    """The prefix of the names of a namespace of OpenDocument, such as ``text``."""
    return f"{{urn:oasis:names:tc:opendocument:xmlns:{name}:1.0}}"


_OFFICE, _TEXT, _DRAW = in_namespace("office"), in_namespace("text"), in_namespace("drawing")
PARAGRAPHS = (f"{_TEXT}h", f"{_TEXT}p")
"""A heading and a paragraph."""
NOTE = f"{_TEXT}note"
FRAMES = frozenset(_DRAW + name for name in ("frame", "custom-shape", "rect", "g", "a"))
"""Boxes that may hold paragraphs."""
SKIPPED = frozenset(
    {
        *(_TEXT + name for name in ("tracked-changes", "table-of-content", "alphabetical-index")),
        *(_TEXT + name for name in ("illustration-index", "table-index", "object-index", "user-index")),
        *(_OFFICE + name for name in ("annotation", "annotation-end", "forms", "binary-data")),
        *(_DRAW + name for name in ("image", "object", "object-ole")),
        *(in_namespace("svg-compatible") + name for name in ("title", "desc")),
    }
)
"""Elements without a text of their own: deleted passages, tables of contents, comments, pictures."""
_SPACES = frozenset(_TEXT + name for name in ("s", "tab", "line-break"))
_NOTE_MARK = f"{_TEXT}note-citation"


def words(element: _Element) -> str:
    """The words of an element with the marks of its notes, each run of white space as one space."""
    return " ".join("".join(strings(element)).split())


def note_mark(note: _Element) -> str:
    """The number or sign of a note, in brackets."""
    return f"[{''.join(mark.text or '' for mark in note.iterchildren(_NOTE_MARK))}]"


def strings(element: _Element, *, lines: bool = False) -> Iterator[str]:
    """The strings of an element and, of a note in it, the mark; text boxes in a paragraph are left out.

    With ``lines`` a line break is a line end and blanks are counted, else both are a space.
    """
    yield element.text or ""
    for child in element:
        if child.tag in _SPACES:
            yield _space(child) if lines else " "
        elif child.tag == NOTE:
            yield note_mark(child)
        elif child.tag in PARAGRAPHS or (child.tag in FRAMES and element.tag not in PARAGRAPHS):
            yield from (" ", *strings(child, lines=lines))
        elif isinstance(child.tag, str) and child.tag not in SKIPPED and child.tag not in FRAMES:
            yield from strings(child, lines=lines)
        yield child.tail or ""


def notes_and_boxes(element: _Element) -> Iterator[_Element]:
    """The notes and text boxes in an element that are in no other one."""
    for child in element:
        if child.tag == NOTE or child.tag in FRAMES:
            yield child
        elif child.tag not in SKIPPED:
            yield from notes_and_boxes(child)


def _space(element: _Element) -> str:
    if element.tag == f"{_TEXT}line-break":
        return "\n"
    count = element.get(f"{_TEXT}c", "1")
    return "\t" if element.tag == f"{_TEXT}tab" else " " * (int(count) if len(count) < 3 else 1)
