"""Seasons and school years, which go from one year into the next: "2012/13", "2025-26"."""

from __future__ import annotations

import re
from collections.abc import Container

SEASON_PATTERN = r"(?:19|20)\d\d/(?:(?:19|20)\d\d|\d\d)(?![\d/])"
"""A season in a question."""
_SEASON = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/–_](?:(?:19|20)(?=\d\d(?!\d)))?(\d\d)(?![-/–_]?\d)")

_SHORT = re.compile(r"(?<![\w/.-])(1[3-9]|[2-4]\d)/(\d\d)(?![\w/-]|\.\d)")
"""A season of this century without that, which is no day of a month, nor a month of a year."""


def seasons_of(text: str) -> set[str]:
    """The seasons in a text, in the spelling "2012/13"."""
    return {f"{found[1]}/{found[2]}" for found in _SEASON.finditer(text) if _follows(found)}


def with_whole_seasons(question: str) -> str:
    """A question with the century in its seasons: "the fees of 25/26" are those of "2025/26"."""
    return _SHORT.sub(lambda found: f"20{found[0]}" if _follows(found) else found[0], question)


def season_of(text: str) -> str:
    """The season that a text is, in the spelling "2012/13"; "" if it is none."""
    found = _SEASON.fullmatch(text)
    return f"{found[1]}/{found[2]}" if found is not None and _follows(found) else ""


def without_seasons(text: str, told: Container[str] | None = None) -> str:
    """A text without its seasons, or without those of them that are told."""

    def kept(found: re.Match[str]) -> str:
        is_left_out = told is None or f"{found[1]}/{found[2]}" in told
        return " " if _follows(found) and is_left_out else found[0]

    return _SEASON.sub(kept, text)


def _follows(found: re.Match[str]) -> bool:
    """Whether the second year is the one after the first."""
    return (int(found[1]) + 1) % 100 == int(found[2])
