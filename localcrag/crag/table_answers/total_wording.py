"""How a question says that it asks for a sum."""

from __future__ import annotations

import re

_TOTAL_ASKED = re.compile(
    r"(?<!\ba )\b(?:total|totals)\b|\b(?:altogether|in all|all together|in sum|sum of|adds? up|added up)\b"
    r"|\btogether\W*$|\b(?:insgesamt|zusammen|gesamtsumme|summe)\b|\bau total\b|\ben total\b|\bin totale\b",
    re.IGNORECASE,
)
"""How a question says that it asks for a sum: in English, German, French, Spanish, Italian."""


def asks_for_total(question: str) -> bool:
    """Whether a question asks for the sum of several numbers, wherever it says so: "tax of May, total"."""
    return _TOTAL_ASKED.search(question) is not None
