"""Values that stand in a text: dates, numbers with their units, addresses, codes, names, and labelled values.

Each is a span with its value in one form: "3 May 2023" is 2023-05-03, "1,250 EUR" is 1250, "twice" is 2.
What can be read in two ways ("05/03/2024", "1.234") is no value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date

from localcrag.crag.questions.query_terms import STOP_WORDS
from localcrag.crag.structured_answers.field_wording import MEASURES
from localcrag.crag.table_answers.table_values import is_missing, month_number, quantity, root, word_list
from localcrag.output_schema.output_shape import LeafKind
from localcrag.types import CELL_SEPARATOR, ScalarValue


@dataclass(frozen=True, slots=True)
class ValueSpan:
    """A value at characters ``[start, end)`` of a text.

    ``unit`` is that of a number, in one spelling, "" if there is none. ``labelled`` says that the value is
    all that stands behind a label ("Chair: Ruth Adeyemi").
    """

    start: int
    end: int
    value: ScalarValue
    unit: str = ""
    labelled: bool = False

    def overlaps(self, other: ValueSpan) -> bool:
        """Whether two spans of one text have a character in common."""
        return self.start < other.end and other.start < self.end


_MONTH = r"(?:January|February|March|April|May|June|July|August|September|October|November|December|" + (
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)"
)
_DATE = re.compile(
    r"(?<![\d/.-])(?P<y1>\d{4})-(?P<m1>\d\d)-(?P<d1>\d\d)(?!\d|[-/]\d)"
    rf"|(?<!\d)(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?\.? (?:of )?(?P<m2>{_MONTH})\.?,? (?P<y2>\d{{4}})\b"
    rf"|\b(?P<m3>{_MONTH})\.? (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<y3>\d{{4}})\b"
    r"|(?<![\d.])(?P<d4>\d{1,2})\. ?(?P<m4>\d{1,2})\. ?(?P<y4>\d{4})\b"
    r"|(?<![\d/])(?P<d5>\d{1,2})/(?P<m5>\d{1,2})/(?P<y5>\d{4})(?![\d/])"
)
_TIME = re.compile(r"(?<![\d:])([01]?\d|2[0-3])[:h]([0-5]\d)(?::([0-5]\d))?(?![\d:])")
_NUMBER = re.compile(
    r"(?P<before>[€$£]|\b[A-Z]{3} )?(?<![\w./:-])(?P<sign>[+−-]?)"
    rf"(?P<number>\d(?:[\d.,']*\d)?)(?!\.? (?:of )?{_MONTH}\b)"
    r"(?P<unit> ?(?:%|°[CF]?|[€$£])|[a-zA-Zµ]{1,3}\b| (?:[A-Za-zµ]+\b))?"
    r"(?![\w/-]|[.,:]\d)"
)
_NUMERALS: Mapping[str, int] = {
    word: number
    for number, word in enumerate(
        word_list("zero one two three four five six seven eight nine ten eleven twelve")
    )
} | {"once": 1, "twice": 2, "thrice": 3}
_WITH_UNIT = re.compile(r" ?(?:[%€$£]|°[CF]?|[A-Za-zµ]+)")
_SIGN_BEFORE = re.compile(r"(?:[€$£]|\b[A-Z]{3}) ?$")
_TIMES = root("times")
_NUMERAL = re.compile(rf"(?<![\w-])({'|'.join(_NUMERALS)})(?: ([a-z]+)\b)?(?![\w-])", re.IGNORECASE)
_EMAIL = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_URI = re.compile(r"\b(?:https?://|www\.)[^\s<>\"')\]]+[^\s<>\"')\].,;:!?]")
_LABELLED = re.compile(
    rf"(?:^|\n|{re.escape(CELL_SEPARATOR)})(?P<label>[^\n:·]{{1,60}}): *(?P<value>[^\n·]*[^\s·])"
)
_CELL = re.compile(
    rf"(?:^|{re.escape(CELL_SEPARATOR)})(?P<value>[^\n·:]*[^\s·:])(?={re.escape(CELL_SEPARATOR)}|$)"
)
_ABBREVIATED = re.compile(r"\b(?:[A-Za-z]\.){2,}$|\b(?:Inc|Ltd|Co|Corp|Jr|Sr)\.$")
_BEFORE_ADDRESS = re.compile(r"^([^,(<]+?)(?:, (?=[^,\d]+ \d)| \(| <(?=\S+@)).*$")
_SHORT = r"(?:(?:Mrs|Prof|Rev|Inc|Ltd|Corp|Bros|[A-ZÀ-ÖØ-Þ][a-z]?)\.)"
_WORD = rf"(?:{_SHORT}|[A-ZÀ-ÖØ-Þ](?:[\w'’-]|\.(?=\w))*|[A-Za-z]*\d[\w-]*)"
_LEGAL_FORM = r"(?: (?:plc|mbH|oHG|gGmbH|e\.V\.|a\.s\.|s\.r\.o\.)(?!\w))?"
_NAME = re.compile(rf"(?<![\w-]){_WORD}(?: (?:(?:of|the|and|de|von|van|für|&) )*{_WORD})*{_LEGAL_FORM}")
_CODE = re.compile(r"(?<![\w/.-])(?=[A-Za-z0-9./-]*\d)[A-Za-z0-9]+(?:[./-][A-Za-z0-9]+)*(?![\w/-])")
_TITLE = re.compile(r"(?m)^(?!Dear )[A-ZÀ-ÖØ-Þ][\w'’&-]*(?: [\w'’&.-]+){1,6}(?<!\.)(?=,[^.:;\n]*$|$)")
_NO_NAMES = STOP_WORDS | {"no", "not", "none", "nothing", "all"}
_TITLES = frozenset({"dr.", "mr.", "mrs.", "ms.", "prof.", "st."})


def dates(text: str) -> Iterator[ValueSpan]:
    """The days in a text, as ISO dates."""
    for found in _DATE.finditer(text):
        parts = {name: value for name, value in found.groupdict().items() if value}
        by_letter = {name[0]: value for name, value in parts.items()}
        word = by_letter["m"]
        month = int(word) if word.isdigit() else month_number(word)
        day, year = int(by_letter["d"]), int(by_letter["y"])
        if "d5" in parts and month is not None:
            if day <= 12 and month <= 12 and day != month:
                continue
            day, month = (day, month) if month <= 12 else (month, day)
        try:
            value = date(year, month or 0, day)
        except ValueError:
            continue
        yield ValueSpan(found.start(), found.end(), value.isoformat())


def times(text: str) -> Iterator[ValueSpan]:
    """The times of day in a text, as hh:mm:ss."""
    for found in _TIME.finditer(text):
        yield ValueSpan(found.start(), found.end(), f"{int(found[1]):02}:{found[2]}:{found[3] or '00'}")


def numbers(text: str) -> Iterator[ValueSpan]:
    """The numbers in a text that are no part of a date, a time or a code; also small ones in words."""
    taken = [*dates(text), *times(text)]
    for found in _NUMBER.finditer(text):
        span = ValueSpan(found.start("number"), found.end("number"), "")
        read = quantity(found["number"])
        if read is None or any(span.overlaps(other) for other in taken):
            continue
        value = -read[0] if found["sign"] in ("-", "−") else read[0]
        unit = root((found["unit"] or found["before"] or "").strip())
        number = int(value) if value == value.to_integral_value() else float(value)
        start = found.start("sign") if found["sign"] else found.start("number")
        yield ValueSpan(start, found.end("number"), number, unit)
    for found in _NUMERAL.finditer(text):
        word = found[1].lower()
        unit = _TIMES if word in ("once", "twice", "thrice") else root(found[2] or "")
        yield ValueSpan(found.start(1), found.end(1), _NUMERALS[word], unit)


def measures(text: str) -> Iterator[ValueSpan]:
    """The numbers with units in a text, as they are written: "35 mg", "1,250 EUR", "€ 30"."""
    for span in numbers(text):
        found = _WITH_UNIT.match(text, span.end) if span.unit in MEASURES else None
        end = found.end() if found else span.end
        before = _SIGN_BEFORE.search(text, 0, span.start)
        start = before.start() if before and not found else span.start
        if (start, end) != (span.start, span.end):
            yield ValueSpan(start, end, text[start:end], span.unit)


def labelled(text: str) -> Iterator[ValueSpan]:
    """What stands behind the labels of a text, and in the cells of a row without a label.

    Of a name with an address it is the name.
    """
    for pattern in (_LABELLED, _CELL) if CELL_SEPARATOR in text else (_LABELLED,):
        for found in pattern.finditer(text):
            value = found["value"].rstrip(";,")
            value = value if _ABBREVIATED.search(value) else value.rstrip(".")
            if address := _BEFORE_ADDRESS.match(value):
                value = address[1]
            if value and not is_missing(value):
                start = found.start("value")
                yield ValueSpan(start, start + len(value), value, labelled=pattern is _LABELLED)


def names(text: str) -> Iterator[ValueSpan]:
    """The names in a text: capitalised words and what belongs to them ("Museum of Clocks", "Pump FT-20").

    Within a line that is a title, only the whole title is a name, up to its first comma.
    """
    titles = list(_TITLE.finditer(text))
    for found in titles:
        yield ValueSpan(found.start(), found.end(), found[0])
    for found in _NAME.finditer(text):
        if any(title.start() < found.start() < title.end() for title in titles):
            continue
        value = found[0]
        first, _, rest = value.partition(" ")
        start = found.start()
        if (first.lower() in STOP_WORDS or first == "Dear") and rest:
            value, start = rest, start + len(first) + 1
        if not value.lower().endswith(tuple(_TITLES)):
            value = value.rstrip(".,")
        is_label = text[start + len(value) :].startswith(":")
        if any(map(str.isupper, value)) and value.lower() not in _NO_NAMES and not is_label:
            yield ValueSpan(start, start + len(value), value)


def codes(text: str) -> Iterator[ValueSpan]:
    """The words with a digit in a text that are no part of a date or a time: numbers, codes, references."""
    taken = [*dates(text), *times(text)]
    for found in _CODE.finditer(text):
        span = ValueSpan(found.start(), found.end(), found[0])
        if not any(span.overlaps(other) for other in taken):
            yield span


def texts(text: str) -> Iterator[ValueSpan]:
    """What may be the text of a field: what labels name, names, measures and codes, each span once."""
    seen: set[tuple[int, int]] = set()
    lines = [ValueSpan(*found.span(), "") for found in _LABELLED.finditer(text)]
    free = [span for span in names(text) if not any(span.overlaps(other) for other in lines)]
    measured = [span for span in measures(text) if not any(span.overlaps(other) for other in lines)]
    for span in (*labelled(text), *free, *measured, *codes(text)):
        if (span.start, span.end) not in seen:
            seen.add((span.start, span.end))
            yield span


def _matches(pattern: re.Pattern[str]) -> Callable[[str], Iterator[ValueSpan]]:
    def spans(text: str) -> Iterator[ValueSpan]:
        return (ValueSpan(found.start(), found.end(), found[0]) for found in pattern.finditer(text))

    return spans


SPANS_OF: Mapping[LeafKind, Callable[[str], Iterator[ValueSpan]]] = {
    LeafKind.TEXT: texts,
    LeafKind.NUMBER: numbers,
    LeafKind.INTEGER: numbers,
    LeafKind.DATE: dates,
    LeafKind.TIME: times,
    LeafKind.EMAIL: _matches(_EMAIL),
    LeafKind.URI: _matches(_URI),
}
"""What finds the values of a kind in a text; booleans and choices are not found as spans."""
