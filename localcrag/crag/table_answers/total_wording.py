"""How a question says that it asks for a sum or a mean."""

from __future__ import annotations

import re

_TOTAL_ASKED = re.compile(
    r"(?<!\ba )\b(?:total|totals)\b|\b(?:altogether|in all|all together|in sum|sum of|add(?:s|ed|ing)? up)\b"
    r"|\b(?:in|during|over) the (?:whole|entire)\b"
    r"|\bfor the (?:whole|entire) (?:of|year|month|quarter|period)\b"
    r"|\bthe (?:mean|average) [^\W\d]+ [^\W\d]+"
    r"|\ball(?: [^\W\d]+){1,6} together\b|\btogether\W*$"
    r"|\b(?<!\bthe )(?<!\ba )(?<!\blump )sum(?: in (?:[^\W\d]+|[€$£]))?\W*$"
    r"|\b(?:insgesamt|zusammen|gesamtsumme|summe)\b|\bau total\b|\ben total\b|\bin totale\b",
    re.IGNORECASE,
)
"""How a question says that it asks for a sum or a mean: in English, German, French, Spanish, Italian."""
_SPAN_OF_YEARS = re.compile(
    r"\b(?:from|between|since|von|zwischen|de|entre|da|desde) (?:19|20)\d\d"
    r" (?:to|until|till|through|and|bis|und|à|et|a|y|e|hasta) (?:19|20)\d\d\b",
    re.IGNORECASE,
)


def asks_for_total(question: str) -> bool:
    """Whether a question asks for the sum or mean of several numbers, wherever it says so: "tax, total"."""
    return _TOTAL_ASKED.search(question) is not None


def asks_for_total_of_years(question: str) -> bool:
    """Whether a question asks for the sum or mean of several years, of which no row has it."""
    return asks_for_total(question) and _SPAN_OF_YEARS.search(question) is not None
