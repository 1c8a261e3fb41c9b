"""Seasons and school years, which go from one year into the next: "2012/13", "2025-26"."""

from __future__ import annotations

import re

SEASON_PATTERN = r"(?:19|20)\d\d/(?:(?:19|20)\d\d|\d\d)(?![\d/])"
"""A season in a question."""
_SEASON = re.compile(r"(?<!\d)((?:19|20)\d\d)[-/–_](?:(?:19|20)(?=\d\d(?!\d)))?(\d\d)(?![-/–_]?\d)")


def seasons_of(text: str) -> set[str]:
    """The seasons in a text, in the spelling "2012/13"."""
    return {f"{found[1]}/{found[2]}" for found in _SEASON.finditer(text) if _follows(found)}


def season_of(text: str) -> str:
    """The season that a text is, in the spelling "2012/13"; "" if it is none."""
    found = _SEASON.fullmatch(text)
    return f"{found[1]}/{found[2]}" if found is not None and _follows(found) else ""


def without_seasons(text: str) -> str:
    """A text without its seasons."""
    return _SEASON.sub(lambda found: " " if _follows(found) else found[0], text)


def _follows(found: re.Match[str]) -> bool:
    """Whether the second year is the one after the first."""
    return (int(found[1]) + 1) % 100 == int(found[2])
