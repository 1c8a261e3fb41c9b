"""Where the settings of a file of settings begin and end, and the section that each is in.

A setting is understood with the comments above it and what stands further in below it, and is told apart from
one of the same name by the line above its section ("[server]", "network:"). The options that a program lists
("--bwlimit=RATE   limit socket I/O bandwidth") stand apart too, each with the lines that go on with it, and
so do directives ("leapsectz right/UTC"), each below the comment that explains it. Other code stays whole
between its blank lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, compress, pairwise

from localcrag.explained_settings import BLANK_LINES, REMARK, SECTION_LINE, pieces_of_code
from localcrag.types import Passage

_SETTING = re.compile(
    r"[ \t]*(?:[#;]|//)?(?:- )*(?:export )?[\w.\"'/-]+[ \t]*(?:=(?!=)|:(?=[ \t]+\S))[ \t]*(?:\S.*)?"
)
"""A line of a file of settings, which may be commented out: "workers = 6", "port: 8088", "- name: disks",
"#NAutoVTs=6"."""
_NAME = re.compile(r"[ \t]*(?:[#;]|//)?[ \t]*(?:export )?(?P<name>[\w.\"'/-]+)[ \t]*[=:]")
"""The name in the line of a setting."""
_COMMENT = re.compile(r"[ \t]*(?:#|;|//)")
_SIGNS = re.compile(r"(?:[ \t]*(?:#+|;+|//+)[ \t]*(?:\n|\Z))+")
"""Lines of a comment without a word, which only part others."""
_RECORD = re.compile(r"[ \t]*\[\[[^\[\]\n]+\]\][ \t]*(?:#.*)?\n?")
"""The line above a record of several of its kind (TOML): "[[sensors]]"."""
_CLOSING = re.compile(r"[ \t]*[\])}]+[,;]?[ \t]*")
MIN_SETTINGS_SHARE = 0.8
"""The share of the lines of a piece of code, without comments, that are settings if it is cut into them."""
_OPTION = re.compile(r"[ \t]*-{1,2}[A-Za-z0-9?#@]\S*(?: \S+){0,5}(?:[ \t]{2,}|\t)\S.*")
"""A line of the options of a program: its names, two blanks, and what it does."""
_OPTION_START = re.compile(r"[ \t]*-{1,2}[A-Za-z0-9?#@]")
MIN_OPTIONS = 3
"""The fewest options of a piece of code that is a list of them."""
_DIRECTIVE = re.compile(r"(?:[#;] ?|[!%] ?)?[A-Za-z][\w./-]*(?:[ \t]+[^(){}=;\n]*)?")
"""A line of settings without a sign between its name and its value, which may be commented out."""


def spans_of_code(text: str, start: int, end: int, *, top: int = 0) -> Iterator[tuple[int, int]]:
    """The spans of the settings or options of a part of a text that is code; else those of its pieces.

    ``top`` is the place in the text at which its file begins, which may be before it.
    """
    for first, last in pieces_of_code(text, start, end, top=top):
        found = _options(text, first, last) or _directives(text, first, last) or _settings(text, first, last)
        for begins, ends in found:
            told = _SIGNS.match(text, begins, ends)
            begins = told.end() if told else begins
            if begins < ends:
                yield begins, ends


def _options(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of the options that a piece of code lists, each with the lines that go on with it.

    A line goes on if it stands further in than the options. There are none if the piece has other lines, but
    for those above its first option.
    """
    lines = text[start:end].splitlines(keepends=True)
    begins = [at for at, line in enumerate(lines) if _OPTION_START.match(line)]
    described = [at for at in begins if _OPTION.match(lines[at])]
    if len(described) < MIN_OPTIONS or len(described) < MIN_SETTINGS_SHARE * len(begins):
        return []
    depth = max(_indent(lines[at]) for at in begins)
    others = (line for at, line in enumerate(lines) if at > begins[0] and at not in begins)
    if any(line.strip() and _indent(line) <= depth for line in others):
        return []
    places = list(accumulate(map(len, lines), initial=start))
    above = [0] if begins[0] else []
    return [
        (
            places[first] + _indent(lines[first]),
            places[first] + len(text[places[first] : places[last]].rstrip()),
        )
        for first, last in pairwise([*above, *begins, len(lines)])
    ]


def _directives(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """The spans of the directives of a piece of code, with the comments above; none if it has other lines."""
    lines = text[start:end].splitlines(keepends=True)
    told = [line for line in lines if line.strip()]
    remarks = [REMARK.fullmatch(line.rstrip("\r\n")) is not None for line in told]
    if len(remarks) - sum(remarks) < 2 or not any(remarks):
        return []
    if not all(
        is_remark or _DIRECTIVE.fullmatch(line.rstrip())
        for line, is_remark in zip(told, remarks, strict=True)
    ):
        return []
    spans, at, is_told = list[tuple[int, int]](), start, False
    for line, place in zip(lines, accumulate(map(len, lines), initial=start), strict=False):
        is_remark = REMARK.fullmatch(line.rstrip("\r\n")) is not None
        if is_remark and is_told:
            spans.append((at, at + len(text[at:place].rstrip())))
            at = place
        is_told = (is_told or bool(line.strip())) and not is_remark
    return [*spans, (at, end)]


def _settings(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The spans of the settings of a piece of code, each with its comments; the piece if it has none.

    Lines that stand further in than a setting belong to it, and so does one that sets what is commented out
    in the line above it. The settings of one record of several, below
    "[[sensors]]", are understood together only.
    """
    lines = text[start:end].splitlines(keepends=True)
    if any(map(_RECORD.fullmatch, lines)):
        yield from _records(lines, start)
        return
    tells = list(map(_tells, lines))
    telling = list(compress(lines, tells))
    are_settings = [_SETTING.match(line) is not None for line in telling]
    if sum(are_settings) < max(2, len(telling) * MIN_SETTINGS_SHARE) or any(map(_CLOSING.fullmatch, telling)):
        yield start, end
        return
    at, depth, begun = start, 0, ""
    places = accumulate(map(len, lines), initial=start)
    for line, is_telling, place in zip(lines, tells, places, strict=False):
        if begun and (_is_section(line) or _indent(line) <= depth):
            if _is_example(begun, line):
                begun = line
                continue
            yield at, at + len(text[at:place].rstrip())
            at, begun = place, ""
        if not begun and is_telling:
            depth, begun = _indent(line), line
    yield at, end


def _is_example(begun: str, line: str) -> bool:
    """Whether a setting is commented out above a line that sets the same: that is what holds."""
    names = [_NAME.match(each) for each in (begun, line)]
    is_same = all(names) and len({name["name"] for name in names if name}) == 1
    return is_same and _COMMENT.match(begun) is not None and _COMMENT.match(line) is None


def _tells(line: str) -> bool:
    """Whether a line sets something or could: it is no comment in words, and names no section."""
    is_comment = _COMMENT.match(line) and (REMARK.fullmatch(line.rstrip()) or not _SETTING.match(line))
    return bool(line.strip()) and not is_comment and not _is_section(line)


def _records(lines: list[str], start: int) -> Iterator[tuple[int, int]]:
    """The spans of the records of a file of settings, each below the line that names its kind."""
    places = list(accumulate(map(len, lines), initial=start))
    begins = [0]
    for at, line in enumerate(lines):
        if _RECORD.fullmatch(line):
            while at and _COMMENT.match(lines[at - 1]):
                at -= 1
            begins += [at] if at > begins[-1] else []
    for first, last in pairwise([*begins, len(lines)]):
        text = "".join(lines[first:last])
        yield places[first], places[first] + len(text.rstrip())


def _is_section(line: str) -> bool:
    """Whether a line stands above a section of settings."""
    return SECTION_LINE.fullmatch(line.rstrip("\r\n")) is not None


def section_of(passage: Passage, start: int) -> str:
    """The line above the section of settings in which a strip begins; "" if none is, or it begins with it."""
    *_, above = BLANK_LINES.split(passage.text[:start])
    own = next((line for line in passage.text[start:].splitlines() if not _COMMENT.match(line)), "")
    if own.startswith("["):
        return ""
    for line in reversed(above.splitlines()):
        if _is_section(line) and (line.startswith("[") or _indent(line) < _indent(own)):
            return line.strip()
    return ""


def setting_name(text: str) -> str:
    """The name of the one setting in a text with its comments; "" if it has none, or several beside it."""
    set_here = [line for line in text.splitlines() if _tells(line)]
    depth = min(map(_indent, set_here), default=0)
    names = [_NAME.match(line) for line in set_here if _indent(line) == depth]
    return names[0]["name"] if len(names) == 1 and names[0] else ""


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
