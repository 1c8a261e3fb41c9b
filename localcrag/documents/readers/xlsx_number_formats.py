"""Numbers of a sheet as its number formats show them: per cents, decimals, and the sign of a currency.

Of a format only its first section counts, that of positive numbers. Group separators are left out, so that a
number is written as numbers are elsewhere.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)(?:-[^\]]*)?\]|\[[^\]]*\]|[_*].')
"""Text in a format: quoted, behind a backslash, a currency with its language; colours, and what fills."""
_CURRENCY = re.compile(r"[€$£¥₹]|\b(?:EUR|USD|GBP|CHF)\b")
_PERCENT = re.compile(r"0(?:\.(0+))?\s?%")
_DIGIT = re.compile(r"[0#?]")
_DECIMALS = re.compile(r"[0#?]\.(0+)(?![0E,])")
"""Decimals that are always shown, in a format without powers of ten."""
MONEY_DECIMALS = 2
"""The decimals of an amount of money that is not whole, whatever its format says."""
MAX_FORMATS = 1000
"""The formats that are remembered."""


def formatted(number: float, shown: str, number_format: str) -> str:
    """A number, written as ``shown``, with what its format adds: "7.5%", "€1.50", "142.00", "320 EUR".

    Decimals are added, but those that a number without a currency has are kept.
    """
    found = _parsed(number_format)
    if found.is_percent:
        return f"{round(Decimal(str(number)) * 100, found.decimals):f}%"
    if not found.currency:
        own = max(0, -int(Decimal(str(number)).as_tuple().exponent)) if number != int(number) else 0
        return f"{number:.{found.decimals}f}" if own < found.decimals else shown
    decimals = MONEY_DECIMALS if number != int(number) else min(found.decimals, MONEY_DECIMALS)
    amount = f"{number:.{decimals}f}" if decimals else shown
    if not found.is_before:
        return f"{amount} {found.currency}"
    gap = " " if found.currency.isalpha() else ""
    sign = f"{found.currency}{gap}"
    return f"-{sign}{amount[1:]}" if amount.startswith("-") else f"{sign}{amount}"


class _Format(NamedTuple):
    """The currency, whether it stands before the number, the decimals, and whether it is a per cent."""

    currency: str
    is_before: bool
    decimals: int
    is_percent: bool


@lru_cache(maxsize=MAX_FORMATS)
def _parsed(number_format: str) -> _Format:
    plain = _LITERAL.sub(lambda found: "".join(filter(None, found.groups())), number_format.split(";")[0])
    if percent := _PERCENT.search(plain):
        return _Format("", False, len(percent[1] or ""), True)
    currency, digit, zeros = _CURRENCY.search(plain), _DIGIT.search(plain), _DECIMALS.search(plain)
    decimals = len(zeros[1]) if zeros else 0
    if currency is None or digit is None:
        return _Format("", False, decimals, False)
    return _Format(currency[0], currency.start() < digit.start(), decimals, False)
