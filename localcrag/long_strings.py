"""Where strings of several lines stand in code, as a docstring, which belong together over their blank lines.

They are found by their quotation marks and not by a parser: a part of a file is no whole program, and other
languages than Python write them in the same way.
"""

from __future__ import annotations

import re

MAX_CHARACTERS = 1000
"""The longest string that counts; a longer one is a text of its own, with paragraphs to cut it at."""
_MARKS = re.compile("\"\"\"|'''")
_STRING = re.compile(r"(?<!['\"])(\"\"\"|''')(?:\\.|[^\\])*?\1", re.DOTALL)


def long_strings(text: str) -> list[tuple[int, int]]:
    """The spans of the strings between three quotation marks in some code, in order.

    There are none if the marks are odd in number: the text begins or ends within a string then, and nothing
    says which.
    """
    if len(_MARKS.findall(text)) % 2:
        return []
    spans = (found.span() for found in _STRING.finditer(text))
    return [(first, last) for first, last in spans if last - first <= MAX_CHARACTERS]
