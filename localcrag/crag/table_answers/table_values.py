"""The values in the cells of a table: numbers with their units, dates, times, and yes or no.

Reading is strict, as a wrong value would make a wrong sum: the cells of a column are of one kind and in one
unit, or the column counts as text. "2,940" and "2.1 million" are numbers; "ca. 30" and "3.61 m (1987)" are
none. Nor is "05/03/2024" a date where no other date of its column says which is the month, or "1.234" a
number where no other one says whether it is more than a thousand.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache, partial
from statistics import median_high

from localcrag.crag.questions.query_terms import folded, stem
from localcrag.crag.table_answers.cell_dates import dates_of_cells

WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
"""A word or a number in a name of a column, a cell or a question."""
Value = Decimal | date | datetime | time | bool
"""The value of a cell that is no text."""


class ColumnKind(StrEnum):
    """What all cells of a column hold; ``time`` is a time of day, and ``year`` a year in four digits."""

    NUMBER = "number"
    YEAR = "year"
    DATE = "date"
    TIME = "time"
    FLAG = "flag"
    TEXT = "text"


TEMPORAL = frozenset({ColumnKind.YEAR, ColumnKind.DATE, ColumnKind.TIME})
"""The kinds of which one value is earlier than another."""


@dataclass(frozen=True, slots=True)
class ColumnValues:
    """The values of a column, one for each cell, None for one that is missing.

    ``unit`` is that of all of its numbers, in one spelling. ``decimal_comma`` says that they are written with
    one, as in "1.240,50".
    """

    kind: ColumnKind
    values: tuple[Value | None, ...] = ()
    unit: str = ""
    decimal_comma: bool = False


def word_list(text: str) -> tuple[str, ...]:
    """The words of a list that is written as a text."""
    return tuple(text.split())


_MAX_FURTHER_DIGITS = 2
"""How many more digits than most a number has that is no error of a computer's arithmetic."""
_MISSING = frozenset(
    {"", "-", "–", "—", "n/a", "na", "n.a.", "null", "nil", "?", "unknown", "tbd", "tba", "…", "..."}
)
FLAGS = {
    "yes": True,
    "ja": True,
    "true": True,
    "✓": True,
    "✔": True,
    "no": False,
    "nein": False,
    "false": False,
    "✗": False,
    "✘": False,
    "oui": True,
    "non": False,
    "sí": True,
    "si": True,
}
"""What the cells of a column of yes and no hold."""
_UNITS = {
    "eur": "€ eur euro euros",
    "usd": "$ usd dollar dollars",
    "gbp": "£ gbp pound pounds",
    "chf": "chf franc francs",
    "%": "% percent",
    "min": "min minute minutes mins",
    "h": "h hour hours hr hrs",
    "s": "s sec second seconds",
    "day": "d day days",
    "week": "week weeks wk wks",
    "month": "month months",
    "year": "year years yr yrs",
    "km": "km kilometre kilometres kilometer kilometers",
    "m": "m metre metres meter meters",
    "cm": "cm centimetre centimetres",
    "mm": "mm millimetre millimetres",
    "kg": "kg kilo kilos kilogram kilograms",
    "g": "g gram grams",
    "t": "t tonne tonnes",
    "l": "l litre litres liter liters",
    "m²": "m² m2 sqm",
    "km²": "km² km2 sqkm",
    "m³": "m³ m3",
    "mg": "mg milligram milligrams",
    "µg": "µg μg microgram micrograms",
    "ml": "ml millilitre millilitres milliliter milliliters",
    "ha": "ha hectare hectares",
    "kw": "kw kilowatt kilowatts",
    "mw": "mw megawatt megawatts",
    "gw": "gw gigawatt gigawatts",
    "kwh": "kwh",
    "mwh": "mwh",
    "gwh": "gwh",
    "kcal": "kcal",
    "kj": "kj",
    "hz": "hz hertz",
    "mhz": "mhz",
    "ghz": "ghz",
    "kb": "kb",
    "mb": "mb",
    "gb": "gb",
    "tb": "tb",
    "mph": "mph",
    "rpm": "rpm",
    "ppm": "ppm",
    "°c": "°c",
    "°f": "°f",
    "db": "db",
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
UNITS = frozenset(_UNITS)
"""All units, in one spelling."""
CURRENCIES = frozenset({"eur", "usd", "gbp", "chf"})
"""The units of money."""
_IRREGULAR = {
    "spent": "spend", "paid": "pay", "sold": "sell", "bought": "buy", "built": "build", "made": "make",
    "won": "win", "held": "hold", "born": "birth", "people": "person", "men": "man", "women": "woman",
    "children": "child", "bacterium": "bacteria", "weighs": "weight", "weigh": "weight",
    "lasted": "duration", "rev": "revision", "last": "last",
    "living": "alive",
}  # fmt: skip
_MONTHS = {
    name[:length]: number
    for number, name in enumerate(
        word_list("january february march april may june july august september october november december"),
        1,
    )
    for length in (3, len(name))
} | {"sept": 9}
_MULTIPLES = {"k": 1000, "m": 1_000_000, "b": 1_000_000_000, "bn": 1_000_000_000, "million": 1_000_000,
              "billion": 1_000_000_000}  # fmt: skip
"""What the numbers of one column are multiplied by that stand in several of these: "$870K", "$3.14M"."""
_WITHOUT_UMLAUTS = str.maketrans("äöü", "aou")
_SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "−": "-", "’": "'"})
_QUANTITY = re.compile(
    r"(?P<sign>[+-]?)(?P<before>[€$£]|[A-Z]{3}(?= ))? ?(?P<inner>[+-]?)"
    r"(?P<number>(?:\d(?:[\d.,' ]*\d)?|\.\d+)(?:[eE][+-]?\d{1,3})?) ?"
    r"(?P<unit>%|°[CF]|[€$£]|(?![eE]\d)[^\W\d_]+[²³23]?(?:/[^\W\d_]+[²³23]?)?(?: [^\W\d_]+)?)?"
)
_POINT = re.compile(
    r"(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,2}(?:[ ']\d{3})+)(?:\.\d+)?"
    r"|\.\d+|\d+(?:\.\d+)?[eE][+-]?\d{1,3}"
)
"""Numbers with a decimal point, also as programs write them: "5e+05", ".324"."""
_COMMA = re.compile(r"(?:0|[1-9]\d*|[1-9]\d{0,2}(?:\.\d{3})+|[1-9]\d{0,2}(?:[ ']\d{3})+)(?:,\d+)?")
_YEAR = re.compile(r"1\d{3}|20\d\d|2100")
_TIME = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")
_MAX_CELL = 60
"""Characters of a cell that can be a number or a date."""
MAX_KNOWN_WORDS, MAX_KNOWN_CELLS = 2**16, 2**14
"""The most words and texts of cells that are kept as they are compared: a long table repeats them."""


@lru_cache(maxsize=MAX_KNOWN_WORDS)
def root(word: str) -> str:
    """A word for comparison: a unit in one spelling, any other word without its ending and without umlauts.

    German nouns have them in the plural: "Betrag", "Beträge". "Fees" is the plural of "fee", as "bookings"
    is that of "booking".
    """
    low = folded(word)
    low = low[:-1] if low.endswith(("ees", "ings")) else low
    return _UNIT_OF.get(low) or stem(_IRREGULAR.get(low, low).translate(_WITHOUT_UMLAUTS))


def respelled(text: str) -> str:
    """A text with its units and its irregular words in one spelling: "won 3 kilometres" is "win 3 km"."""
    return WORD.sub(lambda found: _respelled_word(found[0]), text)


def _respelled_word(word: str) -> str:
    low = folded(word)
    return _UNIT_OF.get(low) or _IRREGULAR.get(low, word)


def roots(text: str) -> tuple[str, ...]:
    """The words of a text for comparison, in order."""
    return tuple(root(word) for word in WORD.findall(text))


def is_missing(text: str) -> bool:
    """Whether a cell says that there is no value: it is empty, a dash, "n/a", …"""
    return text.strip().casefold() in _MISSING


def month_number(word: str) -> int | None:
    """The number of a month from its English name or the first three letters of it."""
    return _MONTHS.get(word.casefold())


def values_of_columns(
    columns: Mapping[str, Sequence[str]], years: Container[str] = ()
) -> dict[str, ColumnValues]:
    """The values of the columns of one table, whose numbers are all written with one decimal mark.

    Of "52.408" and "13.121" alone nobody knows whether they are thousands; beside "0.5" they are not.

    Args:
        columns: the cells of each column by its name.
        years: the columns whose names say that numbers such as 1986 are years.
    """
    values = {name: column_values(cells, years=name in years) for name, cells in columns.items()}
    marks = {mark for name, each in values.items() if (mark := _decimal_mark(columns[name], each))}
    if len(marks) != 1:
        return values
    (mark,) = marks
    doubtful = [name for name, each in values.items() if each.kind is ColumnKind.TEXT]
    return values | {name: column_values(columns[name], decimal_mark=mark) for name in doubtful}


def column_values(cells: Sequence[str], *, years: bool = False, decimal_mark: str = "") -> ColumnValues:
    """The values of the cells of a column, which is text if they are not all of one kind and one unit.

    Args:
        cells: the text of each cell.
        years: whether the name of the column says that numbers such as 1986 are years.
        decimal_mark: the mark of numbers that may be more than a thousand ("1.234"), if that is known.
    """
    filled = [cell.strip().translate(_SPACES) for cell in cells if not is_missing(cell)]
    if not filled or any(len(cell) > _MAX_CELL for cell in filled):
        return ColumnValues(ColumnKind.TEXT)
    for read in (_flags, _times, _years, _dates, partial(_numbers, decimal_mark=decimal_mark)):
        if read is _years and not years:
            continue
        if found := read(filled):
            values = iter(found.values)
            spread = tuple(None if is_missing(cell) else next(values) for cell in cells)
            return replace(found, values=spread)
    return ColumnValues(ColumnKind.TEXT)


def quantity(text: str) -> tuple[Decimal, str] | None:
    """A number with its unit, as a person writes it in English; None for anything else."""
    found = _numbers([text.strip().translate(_SPACES)])
    value = found.values[0] if found else None
    return (value, found.unit) if found and isinstance(value, Decimal) else None


def _flags(cells: Sequence[str]) -> ColumnValues | None:
    if any(cell.casefold() not in FLAGS for cell in cells):
        return None
    return ColumnValues(ColumnKind.FLAG, tuple(FLAGS[cell.casefold()] for cell in cells))


def _times(cells: Sequence[str]) -> ColumnValues | None:
    found = [_TIME.fullmatch(cell) for cell in cells]
    if not all(found):
        return None
    times = (time(int(m[1]), int(m[2]), int(m[3] or 0)) for m in found if m)
    return ColumnValues(ColumnKind.TIME, tuple(times))


def _years(cells: Sequence[str]) -> ColumnValues | None:
    if not all(_YEAR.fullmatch(cell) for cell in cells):
        return None
    return ColumnValues(ColumnKind.YEAR, tuple(Decimal(cell) for cell in cells))


def _dates(cells: Sequence[str]) -> ColumnValues | None:
    found = dates_of_cells(cells)
    return None if found is None else ColumnValues(ColumnKind.DATE, found)


def _decimal_mark(cells: Sequence[str], values: ColumnValues) -> str:
    """The mark that the numbers of a column surely have before their decimals; "" if they have none."""
    if values.kind is not ColumnKind.NUMBER:
        return ""
    if values.decimal_comma:
        return ","
    return "." if any("." in cell for cell in cells if not is_missing(cell)) else ""


def _numbers(cells: Sequence[str], *, decimal_mark: str = "") -> ColumnValues | None:
    """Numbers in one unit, with a decimal point or all with a decimal comma; None if that is not clear."""
    found = [match for cell in cells if (match := _QUANTITY.fullmatch(cell))]
    if len(found) != len(cells) or any(match["sign"] and match["inner"] for match in found):
        return None
    units, factors = {_unit(match) for match in found}, [1] * len(found)
    if len(units) > 1 and (multiples := _in_multiples(found)):
        units, factors = {multiples[0]}, multiples[1]
    if len(units) != 1 or None in units:
        return None
    texts = [match["number"] for match in found]
    with_point = all(_POINT.fullmatch(text) for text in texts)
    with_comma = all(_COMMA.fullmatch(text) for text in texts)
    if not with_point and not with_comma:
        return None
    dotted = [text for text in texts if "." in text]
    if with_point and with_comma and dotted:
        if not decimal_mark:
            return None  # 1.234 may be more than a thousand
        with_point = decimal_mark == "."
    marks = str.maketrans("", "", ", '") if with_point else str.maketrans(",", ".", ". '")
    values = (
        _plain(Decimal(f"{match['sign'] or match['inner']}{match['number'].translate(marks)}") * factor)
        for match, factor in zip(found, factors, strict=True)
    )
    return ColumnValues(ColumnKind.NUMBER, tuple(values), units.pop() or "", not with_point)


def _in_multiples(found: Sequence[re.Match[str]]) -> tuple[str, list[int]] | None:
    """The unit of amounts of which some are in thousands, some in millions, and how much one of each is.

    None of numbers that nothing shows to be such: metres, without money before them or thousands beside.
    """
    said = [(match["unit"] or "").casefold() for match in found]
    before = {_UNIT_OF.get((match["before"] or "").casefold(), match["before"] or "") for match in found}
    is_told = before <= CURRENCIES or {"k", "million", "billion"} & {*said}
    if len(before) != 1 or not is_told or not {*said} - {""} <= _MULTIPLES.keys():
        return None
    return before.pop(), [_MULTIPLES.get(each, 1) for each in said]


def _plain(value: Decimal) -> Decimal:
    """A number as it is written without an exponent, if it is a whole one: 5e+05 is 500000."""
    return Decimal(int(value)) if int(value.as_tuple().exponent) > 0 else value


def _unit(match: re.Match[str]) -> str | None:
    """The unit of a number in one spelling; None if it has two."""
    before, after = match["before"] or "", match["unit"] or ""
    if before and after and after.casefold() not in ("million", "billion", "m", "k"):
        return None
    unit = f"{before} {after}".strip().casefold()
    return _UNIT_OF.get(unit) or (unit.removesuffix("s") if len(unit) > 2 and "/" not in unit else unit)


def usual_digits(values: Iterable[Value | None]) -> int:
    """The digits behind the point of some numbers, but for those that are an error: 0.42710000000000004."""
    digits = [-int(value.as_tuple().exponent) for value in values if isinstance(value, Decimal)]
    return max(0, min(max(digits), median_high(digits) + _MAX_FURTHER_DIGITS)) if digits else 0
