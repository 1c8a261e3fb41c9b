"""Files of settings as blocks: the text stays as it is, and the line above each section is a heading.

A section is named by a line in brackets ("[server]", as in TOML, INI and units of systemd) or by a key
without a value, or the name of an item, below which further keys stand further in (YAML)::

    groups:
      - name: disks
        rules:
          - alert: DiskSpaceLow

A record of several of its kind ("[[sensors]]") has no name that tells it apart, and is no section.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from localcrag.types import Block, BlockKind, Page

_BRACKETS = re.compile(r"[ \t]*\[[\w.:/*@~-][^\[\]\n,{}]*\][ \t]*(?:[#;].*)?")
_GOES_ON = ("[", ",", "=")
"""How a line of a list of several lines ends, whose next line is no section."""
_KEY = re.compile(r"[ ]*(?P<item>(?:-[ ]+)*)(?P<key>[\w.\"'/$-][^:\n]*):(?:[ ]+(?P<value>\S.*)|[ ]*)")
"""A line of YAML without its comment: "rules:", "- name: disks"."""
_BEHIND = re.compile(r"(?:^|\s)#.*")
_MAX_LINE_CHARACTERS = 400
_BLOCK_VALUE = re.compile(r"[|>][-+\d]*")
"""A value whose lines stand below it as they are."""
_COMMENT = re.compile(r"(?:[#;]+|//+)[ \t]*")
_MAX_TITLE_CHARACTERS = 120
_MIN_TITLE_WORDS = 2


def settings_page(text: str) -> Page:
    """A file of settings as a page: headings, and code between them."""
    return Page(None, text, tuple(_blocks(text)))


def settings_title(text: str) -> str:
    """The comment in the first line, which says what a file is about; "" without one, or if it is long."""
    line = text.partition("\n")[0].strip()
    marked = _COMMENT.match(line)
    title = line[marked.end() :] if marked and not line.startswith("#!") else ""
    fit = len(title) <= _MAX_TITLE_CHARACTERS and len(title.split()) >= _MIN_TITLE_WORDS
    return title if fit and any(map(str.isalpha, title)) else ""


def _blocks(text: str) -> Iterator[Block]:
    lines = text.split("\n")
    levels = _levels(lines)
    first = 0
    for place, line, level in zip(_places(lines), lines, levels, strict=True):
        if not level:
            continue
        yield from _code(text, first, place)
        start = place + len(line) - len(line.lstrip())
        first = place + len(line)
        yield Block(BlockKind.HEADING, start, start + len(line.strip()), level)
    yield from _code(text, first, len(text))


def _places(lines: list[str]) -> Iterator[int]:
    return iter([0, *accumulate(len(line) + 1 for line in lines[:-1])])


def _code(text: str, start: int, end: int) -> Iterator[Block]:
    """The code between two places, without the blank lines around it."""
    body = text[start:end].strip("\n")
    if body.strip():
        start = text.index(body, start)
        yield Block(BlockKind.CODE, start, start + len(body.rstrip()))


class _Key(NamedTuple):
    """A key of YAML in the line ``at``: its column, whether it begins an item, and whether it has a value."""

    at: int
    column: int
    is_item: bool
    has_value: bool

    @property
    def begins(self) -> int:
        """The column from which on others are inside: an item begins before its first key."""
        return self.column - self.is_item


def _levels(lines: list[str]) -> list[int]:
    """The level of each line that names a section, from 1; 0 for any other line."""
    levels, before = [0] * len(lines), ""
    for at, line in enumerate(lines):
        if _BRACKETS.fullmatch(line.rstrip()) and not before.endswith(_GOES_ON):
            levels[at] = 1
        before = line.rstrip() or before
    if any(levels):
        return levels
    keys = list(_keys(lines))
    named: set[_Key] = set()
    for at in range(len(keys) - 1, -1, -1):
        inside = _inside(keys, at)
        if inside and (not keys[at].is_item or not named.isdisjoint(inside)):
            named.add(keys[at])
    above: list[_Key] = []
    for section in sorted(named):
        above = [key for key in above if key.begins < section.begins] + [section]
        levels[section.at] = len(above)
    return levels


def _inside(keys: list[_Key], at: int) -> list[_Key]:
    """The keys of a section that a key begins: those further in, and those of its item, if it begins one."""
    own, inside = keys[at], []
    if own.has_value and not own.is_item:
        return []
    for key in keys[at + 1 :]:
        if key.column < own.column or (key.column == own.column and (key.is_item or not own.is_item)):
            break
        inside.append(key)
    return inside


def _keys(lines: list[str]) -> Iterator[_Key]:
    """The keys of YAML among some lines, but for those in values of several lines."""
    within: int | None = None
    for at, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if not line.strip() or len(line) > _MAX_LINE_CHARACTERS or (within is not None and indent > within):
            continue
        within = None
        if (key := _KEY.fullmatch(_BEHIND.sub("", line).rstrip())) is None:
            continue
        if _BLOCK_VALUE.fullmatch(key["value"] or ""):
            within = indent
        yield _Key(at, key.start("key"), bool(key["item"]), bool(key["value"]))
