"""Numbers that a text tells by a range or a bound: "17 kg" by "15-21 kg", "aged 14" by "under 16".

A number is only within a range of the same thing: both have the same unit, or units of one kind ("five weeks"
by "90 to 31 days"), or the text has the word that the question counts or names ("100 people", "grade 6"). A
year is told by a range of years alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from localcrag.crag.questions.query_terms import IN_WORDS
from localcrag.crag.table_answers.table_values import UNITS, quantity, root, roots
from localcrag.crag.table_answers.table_vocabulary import FUNCTION_WORDS
from localcrag.crag.table_answers.unit_scales import converted

NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
"""A number in figures, a version, a time or a date."""
_FIGURE = r"\d+(?:[.,]\d+)*(?![:/]?\d)"
_VALUE = rf"(?:{_FIGURE}|\b(?:{'|'.join(IN_WORDS)})\b)"
_UNIT = r"(?:[ -]?(?:°[CF]|%|[€$£]|[^\W\d_]+[²³]?))"
_RANGE = re.compile(
    rf"(?P<between>\b(?:between|from|zwischen|von|entre|de) )?(?<![\d.,:/-])(?P<low>{_VALUE})(?:{_UNIT})??"
    rf" ?(?P<to>[-–—]|\b(?:to|and|bis|und|à|et)\b) ?(?P<high>{_VALUE})(?P<unit>{_UNIT})?",
    re.IGNORECASE,
)
_BELOW = "under|below|less than|younger than|up to|at most|no more than|until|unter|bis zu|höchstens"
_ABOVE = "over|above|more than|older than|at least|no less than|from|exceeding|über|ab|mindestens"
_BOUND = re.compile(
    rf"\b(?:(?P<below>{_BELOW})|(?P<above>{_ABOVE}))(?: the age of)? [€$£]?"
    rf"(?P<value>{_VALUE})(?P<unit>{_UNIT})?",
    re.IGNORECASE,
)
_OPEN_END = re.compile(
    rf"(?P<value>{_VALUE})(?P<unit>{_UNIT})?(?:\+| (?:or|and) (?:more|above|over|older|upwards))",
    re.IGNORECASE,
)
_OPEN_START = re.compile(
    rf"(?P<value>{_VALUE})(?P<unit>{_UNIT})? (?:or|and) (?:fewer|less|under|below|younger)", re.IGNORECASE
)
_STRICT = (
    "under",
    "below",
    "less",
    "younger",
    "unter",
    "over",
    "above",
    "more",
    "older",
    "exceeding",
    "über",
)
"""How a bound begins that is not itself within."""
_WORD_BEFORE = re.compile(r"([^\W\d_]+)[^\w]*$")
_WORD_BEHIND = re.compile(_UNIT)
_YEAR = re.compile(r"(?:19|20)\d\d")
_GROUPED = re.compile(r"\d{1,3}(?:[.,]\d{3})+")
_IN_WORDS_WITH_UNIT = re.compile(
    rf"\b(?P<number>{'|'.join(IN_WORDS)})[ -](?P<unit>[^\W\d_]+s)\b", re.IGNORECASE
)
"""A number in words with a unit in the plural: "five weeks", and not "the second week"."""
_AGE = root("year")
_OF_AN_AGE = frozenset({"am", "aged", "age", "turns", "turned"})
"""Words before a number that need not stand in the text."""

Limits = tuple[Decimal | None, Decimal | None, bool, str]
"""The least and the greatest value of a range, whether they are not within it, and its unit."""


def asked_numbers(question: str) -> list[tuple[int, int]]:
    """The places of the numbers of a question: of those in figures, and of words that count a unit."""
    places = [found.span() for found in NUMBER.finditer(question)]
    places += [
        found.span("number")
        for found in _IN_WORDS_WITH_UNIT.finditer(question)
        if _unit_of(found["unit"]) in UNITS
    ]
    return sorted(places)


def is_within_range(question: str, start: int, end: int, told: str) -> bool:
    """Whether a text has a range or a bound that the number at ``[start, end)`` of a question is within."""
    number = _number(question[start:end])
    if number is None:
        return False
    unit, is_year = _asked_unit(question, end), bool(_YEAR.fullmatch(question[start:end]))
    words = set(roots(told))
    if unit and unit not in UNITS and unit not in words:
        return False
    before = _WORD_BEFORE.search(question[:start])
    named = before[1].lower() if before and not unit else ""
    if named and named not in FUNCTION_WORDS | _OF_AN_AGE and root(named) not in words:
        return False
    return any(
        _is_of(limits, number, unit, words)
        for limits in _ranges(told)
        if not is_year or unit or all(limit and _YEAR.fullmatch(str(limit)) for limit in limits[:2])
    )


def _is_of(limits: Limits, number: Decimal, unit: str, words: set[str]) -> bool:
    """Whether a number with a unit or a noun is within a range of its own unit, or of one of its kind."""
    if _is_same(unit, limits[3], words):
        return _holds(limits, number)
    scaled = converted(number, unit, limits[3])
    return scaled is not None and _holds(limits, scaled)


def _ranges(told: str) -> Iterator[Limits]:
    """The ranges and bounds of a text."""
    for found in _RANGE.finditer(told):
        if found["to"].lower() in ("and", "und", "et", "à") and not found["between"]:
            continue
        low, high = _number(found["low"]), _number(found["high"])
        unit = _unit_of(found["unit"])
        if low is None or high is None or low == high:
            continue
        if low < high:
            yield low, high, False, unit
        elif unit in UNITS:
            yield high, low, False, unit
    for found in _BOUND.finditer(told):
        value, is_strict = (
            _number(found["value"]),
            (found["below"] or found["above"]).lower().startswith(_STRICT),
        )
        limits = (None, value) if found["below"] else (value, None)
        yield *limits, is_strict, _unit_of(found["unit"])
    for found in _OPEN_END.finditer(told):
        yield _number(found["value"]), None, False, _unit_of(found["unit"])
    for found in _OPEN_START.finditer(told):
        yield None, _number(found["value"]), False, _unit_of(found["unit"])


def _holds(limits: Limits, number: Decimal) -> bool:
    """Whether a number is within the limits of a range, which has at least one."""
    low, high, is_strict, _ = limits
    if low is None and high is None:
        return False
    if is_strict and number in (low, high):
        return False
    return (low is None or low <= number) and (high is None or number <= high)


def _is_same(asked: str, unit: str, words: set[str]) -> bool:
    """Whether a range with a unit is of what is counted in the unit that is asked for."""
    if unit in UNITS:
        return not asked or asked == unit
    return asked not in UNITS or asked in (_AGE, unit) or asked in words


def _asked_unit(question: str, end: int) -> str:
    """The unit or the noun behind a number of a question; "" if there is none."""
    behind = _WORD_BEHIND.match(question, end)
    word = behind[0].strip(" -") if behind else ""
    return "" if word.lower() in FUNCTION_WORDS else _unit_of(word)


def _unit_of(word: str | None) -> str:
    """A unit in one spelling, or the stem of another word."""
    bare = (word or "").strip(" -")
    known = quantity(f"1 {bare}") if bare else None
    return known[1] if known and known[1] in UNITS else root(bare.lower())


def _number(text: str) -> Decimal | None:
    """The value of a number in figures or an English word; None for anything else."""
    bare = IN_WORDS.get(text.casefold(), text)
    bare = re.sub(r"[.,]", "", bare) if _GROUPED.fullmatch(bare) else bare.replace(",", ".")
    try:
        return Decimal(bare)
    except InvalidOperation:
        return None
