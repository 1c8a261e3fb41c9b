"""Lines that people and programs write one below the other: "Apologies: Sven Malloy", the entries of a log.

In prose the end of a line means nothing. Where most lines begin with a label or a time, each says something
of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

LABEL = re.compile(r"[ \t]*[^\W\d_][^\n:.!?]{0,39}(?:[ \t]?(?:\.{3,}|…+|_{3,})[ \t]?)?:[ \t]+(?=\S)")
"""What stands before the value of a line such as "Apologies: Sven Malloy" or "Deposit .....: 900 EUR"."""
LEADERS = re.compile(r"\s*(?:\.{4,}|…{2,}|_{4,})(?:\s*(?P<colon>:))?")
"""The dots or the line of a form between a name and its value, or where a value is to be written."""
_TIME = re.compile(
    r"\W?(?:\d{4}-\d\d-\d\d[T ]\d\d?:\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4},? \d\d?[:.]\d\d"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|\d\d:\d\d:\d\d|(?<=[\[(])\d\d?:\d\d[\])]|(?<=<)[^\s<>]{1,30}> )"
)
"""The time at which a line of a log, or of a chat, begins, or who says it: "<ada> yes"."""

_COLUMNS = re.compile(r"\S(?:[ ]*\t\s*| {3,})\S")
"""What stands between the columns of a line that was laid out with tabs or spaces."""
MIN_COLUMN_LINES, COLUMN_SHARE = 3, 0.8
"""So many lines, and this share of them, have columns if each is a row of its own."""
MIN_NAMES, MAX_NAME_CHARACTERS = 4, 50
"""So many lines of so many characters at most are a list of names, if each begins with a capital letter."""


def line_ends(block: str) -> set[int]:
    """Where the lines of a block end, if half of them, and two, begin with labels or times; none otherwise.

    A line that begins with neither and with a small letter goes on with the line before it. Lines that are
    names only, one below the other, end as well, and so do the rows of a table that is laid out in columns.
    """
    lines = block.splitlines(keepends=True)
    if (len(lines) >= MIN_NAMES and all(map(_is_name, lines))) or _are_rows(lines):
        return set(accumulate(map(len, lines[:-1])))
    begins = [bool(LABEL.match(line) or _TIME.match(line)) for line in lines]
    if sum(begins) < max(2, len(lines) / 2):
        return set()
    following = zip(accumulate(map(len, lines)), lines[1:], begins[1:], strict=False)
    return {end for end, line, begun in following if begun or not line.lstrip()[:1].islower()}


def _are_rows(lines: Sequence[str]) -> bool:
    """Whether lines are laid out in columns."""
    with_columns = sum(_COLUMNS.search(line) is not None for line in lines)
    return len(lines) >= MIN_COLUMN_LINES and with_columns >= COLUMN_SHARE * len(lines)


def _is_name(line: str) -> bool:
    """Whether a line is short, begins with a capital letter, and ends without a mark."""
    text = line.strip()
    return text[:1].isupper() and len(text) <= MAX_NAME_CHARACTERS and (text[-1].isalnum() or text[-1] == ")")


def flowing(block: str) -> str:
    """A block without needless white space: its lines run on, but for those that end where they end."""
    ends = sorted(line_ends(block))
    lines = [block[start:end] for start, end in zip([0, *ends], [*ends, len(block)], strict=True)]
    return "\n".join(" ".join(line.split()) for line in lines)
