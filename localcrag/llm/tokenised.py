"""A prompt as a model reads it."""

from __future__ import annotations

from dataclasses import dataclass

Gaps = tuple[tuple[int, int], ...]
"""Positions [start, end) whose tokens were read and then forgotten, in order."""


@dataclass(frozen=True, slots=True)
class Tokenised:
    """A prompt as tokens. Once the first ``settled`` of them are read, those in ``gaps`` are forgotten,
    and the rest is read without sight of them.
    """

    ids: tuple[int, ...]
    gaps: Gaps = ()
    settled: int = 0
