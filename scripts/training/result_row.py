"""One line of what was measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table: what, on what, by whom, and the figures by name."""

    part: str
    subject: str
    method: str
    figures: dict[str, float]
