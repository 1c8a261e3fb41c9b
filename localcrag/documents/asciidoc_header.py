"""The header of an AsciiDoc source: its title, its authors, its revision and its attributes.

The lines that only tell AsciiDoc's preprocessor something are taken out before: conditions, whose content is
kept whatever they ask for, as nothing here knows how the document is built.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from localcrag.documents.asciidoc_words import Definitions, shown_line

TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*)")
"""The title of a section, or of the document."""
ATTRIBUTE = re.compile(r":(!?)(\w[\w-]{0,99}+)(!?):(?:[ \t]+(.*))?$")
"""The line that gives an attribute its value, or takes it away."""
COMMENT = re.compile(r"//(?!/)")
COMMENT_FENCE = re.compile(r"/{4,}$")
INCLUDE = re.compile(r"include::([^\[\]]*)\[")
_CONDITION = re.compile(r"(\\?)(?:ifn?def|ifeval|endif)::[^\s\[\]]*\[(.*)\]$")
_CLOSING_MARK = re.compile(r"(?<=[ \t])[=#]{1,6}$")
_ID = re.compile(r"\[\[([^\[\],]+)(?:,(.*))?\]\]$|\[[^\[\]]*#([\w:.-]+).*\]$")
_NO_ID = re.compile(r"[^\w]+")
_UNDERLINES = "=-~^+"
_MIN_UNDERLINE, _MAX_DIFFERENCE = 3, 1
_AUTHOR = re.compile(r"(\w[\w.'-]*(?: +\w[\w.'-]*){0,2}) *(?:<([^<>]+)>)?$")
_REVISION = re.compile(
    r"(?:v?(?P<number>\d[\w.-]*+),|v(?P<only>\d[\w.-]*+)(?=:|$))?(?P<date>[^:]*+)(?::(?P<remark>.*))?$"
)
_SHOWN = ("author", "email", "version", "date", "remark")
_NAMES = {"revdate": "date", "revnumber": "version", "revremark": "remark", "keywords": "tags"}
"""The attributes that other documents have under another name."""
_SETTING = re.compile(
    r"(?:toc|sect(?:num|ion|ids|link|anchor)|icon|highlight|source-|pdf-|html|css|rouge|pygments|coderay|idprefix"
    r"|idseparator|doctype|docinfo|stem|experimental|numbered|compat|xrefstyle|linkcss|linkattrs|style(?:sheet|sdir)"
    r"|backend|no(?:footer|header|title)|show|hide|page-layout|table-|reproducible|data-uri|allow-|env|kroki"
    r"|plantuml|max-|leveloffset|partnums|chapter-|media|prewrap|hardbreaks|attribute-|copycss|favicon|figure-)"
    r"|.*(?:-caption|-label|dir|-refsig|-signifier|-title)$"
)
"""Attributes that say how a document is to look."""


_MAX_FIELDS = 200
"""Attributes of a header that are looked at."""


class Header(NamedTuple):
    """The header of a source.

    Attributes:
        title: the title of the document, "" if it has none.
        fields: the names and values of those attributes that say something about it.
        shown: those that a reader sees below the title, "author: Ada Lovelace".
        end: the number of the line after the header.
    """

    title: str
    fields: dict[str, str]
    shown: list[str]
    end: int


def source_lines(text: str) -> list[str]:
    """The lines of a source without conditions; a condition of one line leaves what it is about."""
    return [kept for line in text.split("\n") for kept in _kept(line.rstrip())]


def _kept(line: str) -> Iterator[str]:
    found = _CONDITION.match(line) if "::" in line else None
    if found is None:
        yield line
    elif found[1]:
        yield line[1:]
    elif found[2] and not line.startswith(("ifeval", "endif")):
        yield found[2]


def read_header(lines: Sequence[str], known: Definitions) -> Header:
    """The header of a source in lines; its attributes are defined in ``known``."""
    at, found = _attributes(lines, 0, known)
    title, fields = "", dict(found)
    if at < len(lines) and (line := title_at(lines, at)) and line.level == 1:
        title, at = line.text, line.end
        at = _people(lines, at, fields)
        at, found = _attributes(lines, at, known, is_blank_end=True)
        fields = found | fields
    for name in ("author", "email", "revnumber", "revdate", "revremark"):
        if value := fields.get(_NAMES.get(name, name)):
            known.define(name, str(value))
    words = {name: shown_line(str(value), known) for name, value in islice(fields.items(), _MAX_FIELDS)}
    shown = [f"{name}: {words[name]}" for name in _SHOWN if words.get(name)]
    return Header(title, words, shown, at)


class Title(NamedTuple):
    """A title among lines: its text, its level, from 1, and the number of the line after it."""

    text: str
    level: int
    end: int


def title_at(lines: Sequence[str], at: int) -> Title | None:
    """The title that begins at a line; None if none does."""
    line = lines[at]
    if found := TITLE.match(line):
        return Title(_CLOSING_MARK.sub("", found[2]).rstrip() or found[2], len(found[1]), at + 1)
    if at + 1 == len(lines) or not is_underline(lines[at + 1], line):
        return None
    return Title(line, _UNDERLINES.index(lines[at + 1][0]) + 1, at + 2)


def section_titles(lines: Sequence[str]) -> dict[str, str]:
    """The titles of the sections by the names that references give them."""
    found: dict[str, str] = {}
    names: list[str] = []
    for at, line in enumerate(lines):
        if identified := _ID.match(line) if line.startswith("[") else None:
            names.append(identified[1] or identified[3])
            if identified[2]:
                found.setdefault(names.pop(), identified[2].strip())
        elif line and (title := title_at(lines, at)):
            for name in (*names, "_" + _NO_ID.sub("_", title.text.lower()).strip("_")):
                found.setdefault(name, title.text)
            names = []
        elif line and not line.startswith(("[", ".")):
            names = []
    return found


def is_underline(line: str, title: str) -> bool:
    """Whether a line makes the line above it a title."""
    if len(line) < _MIN_UNDERLINE or line[0] not in _UNDERLINES or line.strip(line[0]):
        return False
    is_text = title[:1].isalnum() or (title[:1] not in "[.|" and any(map(str.isalnum, title)))
    return is_text and not title[0].isspace() and abs(len(title) - len(line)) <= _MAX_DIFFERENCE


def attribute_value(lines: Sequence[str], at: int, first: str) -> tuple[str, int]:
    r"""The value of an attribute, which goes on after a line that ends in "\", and the line after it."""
    parts = [first]
    while parts[-1].endswith(" \\") and at < len(lines):
        parts[-1] = parts[-1][:-2].removesuffix(" +")
        parts.append(lines[at].strip())
        at += 1
    return " ".join(parts).strip(), at


def _attributes(
    lines: Sequence[str], at: int, known: Definitions, *, is_blank_end: bool = False
) -> tuple[int, dict[str, object]]:
    """The number of the first line that is no attribute, and the attributes before it."""
    fields: dict[str, object] = {}
    while at < len(lines):
        line = lines[at]
        if entry := ATTRIBUTE.match(line):
            value, at = attribute_value(lines, at + 1, entry[4] or "")
            if entry[1] or entry[3]:
                known.forget(entry[2])
                continue
            value = known.define(entry[2], value.removesuffix("@"))
            name = entry[2].lower()
            if value and not _SETTING.match(name):
                fields.setdefault(_NAMES.get(name, name), value)
        elif COMMENT.match(line) or INCLUDE.match(line) or not (line or is_blank_end):
            at += 1
        else:
            break
    return at, fields


def _people(lines: Sequence[str], at: int, fields: dict[str, object]) -> int:
    """Add the authors and the revision below a title to the fields; the line after them is returned."""
    people = [_AUTHOR.match(each.strip()) for each in lines[at].split(";")] if at < len(lines) else []
    if not people or not all(people) or title_at(lines, at):
        return at
    named = [(each[1].replace("_", " "), each[2]) for each in people if each]
    fields["author"] = ", ".join(name for name, _ in named)
    if addresses := [address for _, address in named if address]:
        fields["email"] = ", ".join(addresses)
    at += 1
    revision = _REVISION.match(lines[at]) if at < len(lines) and not ATTRIBUTE.match(lines[at]) else None
    if not revision or not any(map(str.isdigit, lines[at])) or COMMENT.match(lines[at]):
        return at
    found = revision.groupdict()
    said = (
        ("version", found["number"] or found["only"]),
        ("date", found["date"]),
        ("remark", found["remark"]),
    )
    fields |= {name: value.strip() for name, value in said if value and value.strip()}
    return at + 1
