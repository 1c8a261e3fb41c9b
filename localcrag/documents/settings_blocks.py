"""Files of settings as blocks: the text stays as it is, and the line above each section is a heading.

A section is named by a line in brackets ("[server]", as in TOML, INI and units of systemd) or by a key
without a value, or the name of an item, below which further keys stand further in (YAML)::

    groups:
      - name: disks
        rules:
          - alert: DiskSpaceLow

In a file without such sections a title in a comment, below a rule of its signs, names one::

    #######################
    ### INITIAL CORRECTION

Several records that are alike ("hmn:" above "name: Hmong") are rows, see :mod:`.setting_records`. A table of
an array ("[[sensors]]") has no name that tells it apart, and is no section; if it is a row, the name of the
array is above the first one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate

from localcrag.documents.setting_records import setting_records
from localcrag.documents.yaml_keys import YamlKey, keys_inside, yaml_keys
from localcrag.types import Block, BlockKind, Page

_BRACKETS = re.compile(r"[ \t]*\[[\w.:/*@~-][^\[\]\n,{}]*\][ \t]*(?:[#;].*)?")
_ARRAY_NAME = re.compile(r"[ \t]*\[\[")
_GOES_ON = ("[", ",", "=")
"""How a line of a list of several lines ends, whose next line is no section."""
_COMMENT_START = re.compile(r"[#;](?:[ \t#;]|$)|[#;]\w")
MIN_COMMENT_LINES, MIN_COMMENT_SHARE = 5, 0.5
"""So many lines, and this share of them, are comments in a file of settings, whatever its name is."""
_COMMENT = re.compile(r"(?:[#;]+|//+)[ \t]*")
_TITLE = re.compile(r"[#;]+[ \t]+(?P<title>\S.{2,60}\S)[ \t#;]*")
"""A line of a comment that may be the title of a section."""
_COMMENT_RULE = re.compile(r"[#;][#;=*~ \t-]{9,}")
_MAX_TITLE_CHARACTERS = 120
_MIN_TITLE_WORDS = 2
_ROW = -1
"""The level of a record of several that are alike."""


def settings_page(text: str) -> Page:
    """A file of settings as a page: headings, code between them, and rows for records that are alike."""
    lines = text.split("\n")
    levels = _levels(lines)
    told, told_levels, last = list[str](), list[int](), 0
    for record in setting_records(lines):
        told += lines[last : record.first]
        told_levels += levels[last : record.first]
        if record.first and _ARRAY_NAME.match(lines[record.first - 1]):
            told_levels[-1] = 1
        for row in record.rows:
            told += [row, ""]
            told_levels += [_ROW, 0]
        last = record.end
    told += lines[last:]
    told_levels += levels[last:]
    return Page(None, "\n".join(told), tuple(_blocks(told, told_levels)))


def settings_title(text: str) -> str:
    """The comment in the first line, which says what a file is about; "" without one, or if it is long."""
    line = text.partition("\n")[0].strip()
    marked = _COMMENT.match(line)
    title = line[marked.end() :] if marked and not line.startswith("#!") else ""
    fit = len(title) <= _MAX_TITLE_CHARACTERS and len(title.split()) >= _MIN_TITLE_WORDS
    return title if fit and any(map(str.isalpha, title)) else ""


def _blocks(lines: list[str], levels: list[int]) -> Iterator[Block]:
    text = "\n".join(lines)
    first = 0
    for place, line, level in zip(_places(lines), lines, levels, strict=True):
        if not level:
            continue
        if level == _ROW:
            yield from _code(text, first, place)
            first = place + len(line)
            yield Block(BlockKind.ROW, place, first)
            continue
        is_titled = _TITLE.fullmatch(line)
        rule = text.rfind("\n", 0, place - 1) + 1 if is_titled else place
        start = place + (is_titled.start("title") if is_titled else len(line) - len(line.lstrip()))
        yield from _code(text, first, rule)
        if is_titled:
            yield Block(BlockKind.FURNITURE, rule, place + len(line[: start - place].rstrip()))
        first = place + len(line)
        yield Block(BlockKind.HEADING, start, place + len(line.rstrip()), level)
    yield from _code(text, first, len(text))


def _places(lines: list[str]) -> Iterator[int]:
    return iter([0, *accumulate(len(line) + 1 for line in lines[:-1])])


def _code(text: str, start: int, end: int) -> Iterator[Block]:
    """The code between two places, without the blank lines around it."""
    body = text[start:end].strip("\n")
    if body.strip():
        start = text.index(body, start)
        yield Block(BlockKind.CODE, start, start + len(body.rstrip()))


def _levels(lines: list[str]) -> list[int]:
    """The level of each line that names a section, from 1; 0 for any other line."""
    levels, before = [0] * len(lines), ""
    for at, line in enumerate(lines):
        if _BRACKETS.fullmatch(line.rstrip()) and not before.endswith(_GOES_ON):
            levels[at] = 1
        before = line.rstrip() or before
    if any(levels):
        return levels
    keys = list(yaml_keys(lines))
    named: set[YamlKey] = set()
    for at in range(len(keys) - 1, -1, -1):
        inside = keys_inside(keys, at)
        if inside and (not keys[at].is_item or not named.isdisjoint(inside)):
            named.add(keys[at])
    if not named:
        return _titles(lines)
    above: list[YamlKey] = []
    for section in sorted(named):
        above = [key for key in above if key.begins < section.begins] + [section]
        levels[section.at] = len(above)
    return levels


def _titles(lines: list[str]) -> list[int]:
    """The levels of the lines of a file without other sections that are titles in comments."""
    levels = [0] * len(lines)
    for at, line in enumerate(lines[1:], 1):
        found = _TITLE.fullmatch(line)
        if found and _COMMENT_RULE.fullmatch(lines[at - 1]) and found["title"][-1] not in ".,;:":
            is_ruled = at + 1 < len(lines) and _COMMENT_RULE.fullmatch(lines[at + 1]) is not None
            levels[at] = int(is_ruled or found["title"].isupper())
    return levels


def looks_like_settings(start: bytes) -> bool:
    """Whether a file with these first bytes is one of settings by its comments: "# …" and few other lines."""
    lines = [line for line in start.decode("utf-8", "replace").split("\n") if line.strip()]
    commented = sum(_COMMENT_START.match(line) is not None for line in lines)
    is_begun = bool(lines) and _COMMENT_START.match(lines[0]) is not None
    return is_begun and commented >= max(MIN_COMMENT_LINES, MIN_COMMENT_SHARE * len(lines))
