"""Lines in bold letters that are the titles of what stands below them, where no element says that they are.

Many a page or letter has its titles so: ``<p><b>Limits</b></p>``, or a line of ``**Limits**``. A line is one
if it reads like a title or a question, and plain text stands below it. What tells something by itself, "The
gate is locked at 22:00", stays a paragraph, since a title is never shown as an answer. But where most lines
of a kind are titles, such as the numbered questions of a list of answers, the others are as well: what stands
below one that was passed over would be taken for a part of the one before.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_MAX_QUESTION_CHARACTERS = 200
_MAX_TITLE_CHARACTERS, _MAX_TITLE_WORDS = 60, 8
_MIN_SERIES = 3
"""The fewest lines of a kind that are titles since most of them are."""
_MAX_BOLD_SHARE = 0.5
"""The share of bold characters, or blocks, from which on a text is printed so: nothing stands out."""
_NUMBER = re.compile(r"(?:\(?\d{1,3}(?:\.\d{1,3})*[.)]?|[A-Z][.)]|[QF]\d*[.:])\s+")
"""What may stand before a title: "(12)", "4.1", "B." or "Q3:"."""
_TELLS = re.compile(r"\d|@|://|[.,;:]$")
"""What a title that is no question does not have: figures, addresses, or the end of something longer."""
_NAME = re.compile(r"[A-Za-z]\w*(?:[_.-]\w+)+")
"""The name of a setting or command: "icinga2_run_sudo"."""
_QUESTION_MARKS = ("?", "？")


def are_titles(lines: Sequence[str]) -> list[bool]:
    """Whether each of the bold lines of a document, below which plain text stands, is a title."""
    alone = [_is_title(line) for line in lines]
    found = list(alone)
    numbered = [place for place, line in enumerate(lines) if _NUMBER.match(line)]
    asking = sum(title and line.endswith(_QUESTION_MARKS) for title, line in zip(alone, lines, strict=True))
    for kind in (numbered, range(len(lines)) if 2 * asking > len(lines) else ()):
        if len(kind) >= _MIN_SERIES and 2 * sum(alone[place] for place in kind) > len(kind):
            for place in kind:
                found[place] = found[place] or len(lines[place]) <= _MAX_QUESTION_CHARACTERS
    return found


def _is_title(text: str) -> bool:
    """Whether a bold line reads like a title, or is a question, "(12) Is this a bug?"."""
    number = _NUMBER.match(text)
    words = text[number.end() :] if number else text
    if not words or not words[0].isalnum() or not any(map(str.isalpha, words)):
        return False
    if words.endswith(_QUESTION_MARKS):
        return len(words) <= _MAX_QUESTION_CHARACTERS
    short = len(words) <= _MAX_TITLE_CHARACTERS and len(words.split()) <= _MAX_TITLE_WORDS
    return short and (_TELLS.search(words) is None or _NAME.fullmatch(words) is not None)


def above_plain_text(bold: Sequence[bool], headings: Sequence[bool]) -> list[int]:
    """The places of the blocks in bold letters below which plain text stands, no heading and nothing bold."""
    plain_below = [
        not is_bold and not is_heading for is_bold, is_heading in zip(bold, headings, strict=True)
    ][1:]
    return [place for place, plain in enumerate(plain_below) if bold[place] and plain]


def stand_out(bold: int, whole: int) -> bool:
    """Whether the bold characters, or blocks, of a text are few enough for a bold line to mean something."""
    return bold <= _MAX_BOLD_SHARE * whole
