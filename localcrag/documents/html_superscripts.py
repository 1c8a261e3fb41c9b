"""What is raised in HTML (``<sup>``): the mark of a note is no digit of the number before it.

"1996<sup>1</sup>" is 1996 with a note, "10<sup>6</sup>" is 10⁶, "m<sup>2</sup>" is m2, "21<sup>st</sup>" is
21st.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_FIGURE = re.compile(r"[-+−–]?\d{1,3}")
_MARK = re.compile(r"\d{1,2}(?:, ?\d{1,2})*|[a-z]|[*†‡§]+")
"""How notes are marked: 1, "2,3", a, *."""
_LISTED = re.compile(r"\d{1,2}(?:, ?\d{1,2})+")
_NUMBER_BEFORE = re.compile(r"(?<![\w.,])\d[\d.,]*\Z")
_BASE = re.compile(r"\d{1,2}|100|1000")
"""A number that is raised to a power, rather than one that has a note."""
_UNIT_BEFORE = re.compile(r"(?<![^\W\d_])[^\W\d_]{1,3}\Z")
_POWERS = frozenset("23")
_RAISED = str.maketrans("0123456789-+−–", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺⁻⁻")


def raised(before: Sequence[object], text: str) -> str:
    """A raised text as it stands behind other children of an element: "" for the mark of a note.

    What is no figure, no letter and no sign is as it is, and so is what begins a text or stands in brackets.
    """
    last = before[-1] if before else ""
    said = text.strip()
    if isinstance(last, str) and last.endswith("["):
        return text
    if not isinstance(last, str) or not last or last[-1].isspace() or not _MARK.fullmatch(said):
        is_power = isinstance(last, str) and last[-1:].isdigit() and _FIGURE.fullmatch(said)
        return said.translate(_RAISED) if is_power else text
    if number := _NUMBER_BEFORE.search(last):
        if not _BASE.fullmatch(number[0]) or _LISTED.fullmatch(said):
            return ""
        return said.translate(_RAISED) if said.isdigit() else text
    if said.isdigit():
        return text if _UNIT_BEFORE.search(last) and said in _POWERS else ""
    return "" if _LISTED.fullmatch(said) else text
