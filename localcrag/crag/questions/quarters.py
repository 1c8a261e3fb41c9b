"""Quarters of a year: "the fourth quarter of 2011" in a question is "Q42011" in a cell."""

from __future__ import annotations

import re

_ORDINALS = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4, "last": 4
}  # fmt: skip
_YEAR = r"(?:19|20)\d\d"
_SAID = re.compile(
    rf"\b(?:(?P<ordinal>{'|'.join(_ORDINALS)}) quarter|quarter (?P<named>[1-4]))"
    rf"(?: of| in)?,? ?(?P<year>{_YEAR})\b",
    re.IGNORECASE,
)
_JOINED = re.compile(
    rf"\b(?:Q(?P<q>[1-4])[ /-]?(?P<behind>{_YEAR})|(?P<before>{_YEAR})[ /-]?Q(?P<q2>[1-4])"
    rf"|(?P<q3>[1-4])Q(?P<last>{_YEAR}))\b",
    re.IGNORECASE,
)


def with_quarters_apart(text: str) -> str:
    """A text with its quarters of a year in one spelling: "Q4 2011"."""
    text = _SAID.sub(
        lambda found: f"quarter Q{found['named'] or _ORDINALS[found['ordinal'].lower()]} {found['year']}",
        text,
    )
    return _JOINED.sub(_apart, text)


def quarters_of(text: str) -> set[str]:
    """The quarters of a year in a text, as "Q4 2011"."""
    return {_apart(found) for found in _JOINED.finditer(with_quarters_apart(text))}


def _apart(found: re.Match[str]) -> str:
    number = found["q"] or found["q2"] or found["q3"]
    return f"Q{number} {found['behind'] or found['before'] or found['last']}"
