"""Quantities in units of one kind compared by their value: 3 kW is 3000 W, and half an hour is 30 minutes."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

from localcrag.crag.questions.query_terms import IN_WORDS

_SCALES = (
    {"w": "w watt watts", "kw": "kw kilowatt kilowatts", "mw": "megawatt megawatts"},
    {"wh": "wh", "kwh": "kwh", "mwh": "mwh"},
    {"mm": "mm millimetre millimetres millimeter millimeters",
     "cm": "cm centimetre centimetres centimeter centimeters",
     "m": "m metre metres meter meters", "km": "km kilometre kilometres kilometer kilometers"},
    {"mg": "mg milligram milligrams", "g": "g gram grams gramm",
     "kg": "kg kilo kilos kilogram kilograms kilogramm", "t": "t tonne tonnes"},
    {"ml": "ml millilitre millilitres milliliter milliliters", "cl": "cl",
     "l": "l litre litres liter liters"},
    {"s": "s sec second seconds sekunde sekunden", "min": "min mins minute minutes minuten",
     "h": "h hr hrs hour hours stunde stunden", "day": "day days tag tage tagen",
     "week": "week weeks wk wks woche wochen"},
    {"month": "month months monat monate monaten", "year": "year years yr yrs jahr jahre jahren"},
    {"kb": "kb kilobyte kilobytes", "mb": "mb megabyte megabytes", "gb": "gb gigabyte gigabytes",
     "tb": "tb terabyte terabytes"},
    {"mv": "mv", "v": "v volt volts", "kv": "kv"},
    {"ma": "ma", "a": "amp amps ampere amperes"},
    {"hz": "hz", "khz": "khz", "mhz": "mhz", "ghz": "ghz"},
    {"eur": "€ eur euro euros", "k€": "k€"},
)  # fmt: skip
"""The words for the units of each kind, the smaller before the greater."""
_STEPS = {
    "cm": 10, "m": 1000, "km": 1_000_000, "g": 1000, "kg": 1_000_000, "t": 1_000_000_000, "cl": 10, "l": 1000,
    "min": 60, "h": 3600, "day": 86_400, "week": 604_800, "year": 12,
    "kw": 1000, "mw": 1_000_000, "kwh": 1000, "mwh": 1_000_000,
    "mb": 1000, "gb": 1_000_000, "tb": 1_000_000_000, "v": 1000, "kv": 1_000_000, "a": 1000,
    "khz": 1000, "mhz": 1_000_000, "ghz": 1_000_000_000, "k€": 1000,
}  # fmt: skip
"""How many of the smallest unit of its kind a unit is; 1 if it is that."""
_UNIT_OF = {
    word: (kind, unit)
    for kind, units in enumerate(_SCALES)
    for unit, words in units.items()
    for word in words.split()
}
_UNIT = "|".join(sorted(map(re.escape, _UNIT_OF), key=len, reverse=True))
_LONG_UNIT = "|".join(sorted((word for word in _UNIT_OF if len(word) > 2), key=len, reverse=True))
_QUANTITY = re.compile(
    r"(?<![\w.,:/-])(?P<number>\d{1,3}(?:[, ]\d{3})+(?!\d)|\d+(?:[.,]\d+)?)[ -]?"
    rf"(?P<unit>{_UNIT})(?![\w²³])"
    rf"|\b(?P<said>half an?|an?|{'|'.join(IN_WORDS)})[ -](?P<long>{_LONG_UNIT})\b",
    re.IGNORECASE,
)
"""A number with its unit; "half an hour" is a quantity too."""
_GROUPED = re.compile(r"\d{1,3}(?:[, ]\d{3})+")

Quantity = tuple[int, Decimal]
"""The kind of a quantity and its value in the smallest unit of that kind."""


def quantities_of(text: str) -> dict[tuple[int, int], Quantity]:
    """The quantities in a text by the places where each begins and ends."""
    found = {}
    for match in _QUANTITY.finditer(text):
        kind, unit = _UNIT_OF[(match["unit"] or match["long"]).lower()]
        number = _value(match["number"] or match["said"].lower())
        if number is not None:
            found[match.span()] = (kind, number * _STEPS.get(unit, 1))
    return found


def shared_quantities(question: str, told: str) -> list[tuple[int, int]]:
    """The places of the quantities of a question that a text has, in whatever unit of their kind."""
    asked = quantities_of(question)
    if not asked:
        return []
    values = set(quantities_of(told).values())
    return [place for place, quantity in asked.items() if quantity in values]


def converted(value: Decimal, unit: str, other: str) -> Decimal | None:
    """A value in another unit of the same kind: 5 weeks are 35 days; None if they are not of one kind."""
    kind, known = _UNIT_OF.get(unit, (None, ""))
    other_kind, wanted = _UNIT_OF.get(other, (None, ""))
    if kind is None or kind != other_kind:
        return None
    return value * _STEPS.get(known, 1) / _STEPS.get(wanted, 1)


def _value(text: str) -> Decimal | None:
    """A number in figures or words; None for a text that is none."""
    if text in ("a", "an"):
        return Decimal(1)
    if text.startswith("half"):
        return Decimal("0.5")
    bare = IN_WORDS.get(text, text)
    bare = re.sub(r"[, ]", "", bare) if _GROUPED.fullmatch(bare) else bare.replace(",", ".")
    try:
        return Decimal(bare)
    except InvalidOperation:
        return None
