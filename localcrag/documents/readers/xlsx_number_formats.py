"""Numbers of a sheet as its number formats show them: per cents, and the sign of a currency.

Of a format only its first section counts, that of positive numbers. Group separators are left out, so that a
number is written as numbers are elsewhere.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)(?:-[^\]]*)?\]|\[[^\]]*\]|[_*].')
"""Text in a format: quoted, behind a backslash, a currency with its language; colours, and what fills."""
_CURRENCY = re.compile(r"[€$£¥₹]|\b(?:EUR|USD|GBP|CHF)\b")
_PERCENT = re.compile(r"0(?:\.(0+))?\s?%")
_DIGIT = re.compile(r"[0#?]")
MONEY_DECIMALS = 2
"""The decimals of an amount of money that is not whole."""
MAX_FORMATS = 1000
"""The formats that are remembered."""


def formatted(number: float, shown: str, number_format: str) -> str:
    """A number, written as ``shown``, with what its format adds: "7.5%", "€1.50", "320 EUR"."""
    sign, is_before, decimals = _parsed(number_format)
    if decimals is not None:
        return f"{round(Decimal(str(number)) * 100, decimals):f}%"
    if not sign:
        return shown
    amount = f"{number:.{MONEY_DECIMALS}f}" if number != int(number) else shown
    if not is_before:
        return f"{amount} {sign}"
    gap = " " if sign.isalpha() else ""
    return f"-{sign}{gap}{amount[1:]}" if amount.startswith("-") else f"{sign}{gap}{amount}"


@lru_cache(maxsize=MAX_FORMATS)
def _parsed(number_format: str) -> tuple[str, bool, int | None]:
    """The currency, whether it stands before the number, and the decimals if it is a per cent, else None."""
    plain = _LITERAL.sub(lambda found: "".join(filter(None, found.groups())), number_format.split(";")[0])
    if percent := _PERCENT.search(plain):
        return "", False, len(percent[1] or "")
    currency, digit = _CURRENCY.search(plain), _DIGIT.search(plain)
    if currency is None or digit is None:
        return "", False, None
    return currency[0], currency.start() < digit.start(), None
