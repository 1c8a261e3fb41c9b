"""The fields that a document itself gives (author, tags, dates), in the form in which filters compare them.

Front matter and the properties of files come from strangers: names and values are bounded in number and
length, values that no filter could compare are left out, and nothing here raises an error.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from email.utils import parsedate
from itertools import islice

from localcrag.documents.extracted import clean, one_line
from localcrag.filters import DAY_PATTERN, is_key
from localcrag.types import FieldValue, Meta

MAX_FIELDS = 32
"""Fields of one document; the first ones are kept."""
MAX_NAME_CHARACTERS = 40
MAX_VALUE_CHARACTERS, MAX_ITEM_CHARACTERS = 300, 80
"""Characters of a text, and of one text of a list; longer ones are cut."""
MAX_ITEMS = 30
MAX_CHARACTERS = 3000
"""Characters of all names and values of one document, which are kept with each of its passages."""
_MAX_TRIED = 200
"""Fields of a document that are looked at."""
_LISTS = frozenset({"tags", "keywords", "categories"})
"""The fields that are a list even if the document names one text only, or several with commas."""
_NO_NAME = re.compile(r"[^a-z0-9]+")
_LIST_MARK = re.compile(r"[,;]")
_PDF_DAY = re.compile(r"(?:D:)?([12][0-9]{3})([01][0-9])([0-3][0-9])")


def fields_of(given: Iterable[tuple[str, object]]) -> Meta:
    """The fields among these names and values; the first of a name counts.

    Names are in small letters, digits and "_". A value is text, a number, a truth value or a list of texts; a
    date is the text of its day, "2024-06-01". A value with values of its own gives a field for each:
    ``author_name``. The title is no field here, as every document has one.
    """
    found: dict[str, FieldValue] = {}
    room = MAX_CHARACTERS
    for name, value in islice(_flat(given), _MAX_TRIED):
        key = field_name(name)
        if not key or key in found or not is_key(key) or (made := _value(key, value)) is None:
            continue
        room -= len(key) + (sum(map(len, made)) if isinstance(made, tuple) else len(str(made)))
        if room < 0 or len(found) == MAX_FIELDS:
            break
        found[key] = made
    return found


def field_name(name: str) -> str:
    """A name as that of a field: "Größe (mm)" is "grosse_mm"; "" if nothing is left of it."""
    letters = unicodedata.normalize("NFKD", name[:200].casefold())
    key = _NO_NAME.sub("_", "".join(c for c in letters if not unicodedata.combining(c))).strip("_")
    return (f"_{key}" if key[:1].isdigit() else key)[:MAX_NAME_CHARACTERS].rstrip("_")


def pdf_day(text: str) -> str:
    """The day of a date as PDF writes it ("D:20240601120000Z"), "2024-06-01"; "" if it is none."""
    found = _PDF_DAY.match(text.strip())
    return _checked_day("-".join(found.groups())) if found else ""


def mail_day(text: str) -> str:
    """The day of a date as mails write it ("Sat, 1 Jun 2024 10:00:00 +0200"); "" if it is none."""
    try:
        parts = parsedate(text[:200])
    except (ValueError, IndexError, TypeError, OverflowError):
        return ""
    return _checked_day(f"{parts[0]:04}-{parts[1]:02}-{parts[2]:02}") if parts else ""


def _flat(given: Iterable[tuple[str, object]]) -> Iterable[tuple[str, object]]:
    """The names and values, with those of an inner mapping in its place, one level deep."""
    for name, value in given:
        if isinstance(value, Mapping):
            yield from ((f"{name}_{inner}", item) for inner, item in islice(value.items(), MAX_ITEMS))
        else:
            yield str(name), value


def _value(key: str, value: object) -> FieldValue | None:
    """The value of a field; None if there is nothing to compare."""
    match value:
        case bool():
            return value
        case int() | float():
            return _number(value)
        case list() | tuple() | set():
            return _items(value)
        case str() if key in _LISTS:
            return _items(_LIST_MARK.split(value[: MAX_CHARACTERS * 2]))
        case str() | date():
            return _text(value, MAX_VALUE_CHARACTERS) or None
        case _:
            return None


def _number(value: float) -> FieldValue | None:
    try:
        if math.isfinite(value) and abs(value) < 1e300:
            return value
    except OverflowError:  # an integer beyond floats
        pass
    return None


def _items(values: Iterable[object]) -> FieldValue | None:
    """The texts of a list, each once; that of an inner mapping is its name."""
    texts = []
    for value in islice(values, MAX_ITEMS):
        inner = value.get("name") if isinstance(value, Mapping) else value
        if isinstance(inner, (str, int, float, date)) and (text := _text(inner, MAX_ITEM_CHARACTERS)):
            texts.append(text)
    return tuple(dict.fromkeys(texts)) or None


def _text(value: str | float | date, limit: int) -> str:
    """A value as a text of one line; of a date and a time only the day."""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, bool):
        return "yes" if value else "no"
    try:
        text = one_line(clean(str(value)), limit)
    except ValueError:  # an integer of thousands of digits
        return ""
    return text[:10] if DAY_PATTERN.match(text) and _checked_day(text[:10]) and _is_time(text[10:]) else text


_TIME = re.compile(r"[T ]?\s?(?:[0-9:.,]+)?\s?(?:Z|UTC|[+-][0-9:]+)?")


def _is_time(text: str) -> bool:
    """Whether a text is a time of day, with its zone perhaps, or empty."""
    return bool(_TIME.fullmatch(text))


def _checked_day(text: str) -> str:
    """The text, if there is such a day, else ""."""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        return ""
