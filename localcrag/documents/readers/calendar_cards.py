"""Reader of calendars (ICS) and contacts (VCF): each event, task and card is a section with one row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta

from localcrag.documents.block_text import BlockText
from localcrag.documents.encoding import charset_of, decode
from localcrag.documents.extracted import ExtractedText, Limits, clean, one_line, whole
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.readers.content_lines import CALENDAR, Property, components, first_text
from localcrag.types import CELL_SEPARATOR, BlockKind

_MOMENT = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d)(?::?\d\d)?(Z?))?")
_DURATION = re.compile(r"\+?P(?:(\d{1,4})W)?(?:(\d{1,5})D)?(?:T(?:(\d{1,5})H)?(?:(\d{1,6})M)?(?:\d{1,8}S)?)?")
_BLANK_LINE = re.compile(r"\n\s*\n")
_MAX_NOTE_CHARACTERS = 200
_EVENTS = {"VEVENT": "Event", "VTODO": "Task", "VJOURNAL": "Note"}
_CARD = "VCARD"
_PERIODS = {"DAILY": "day", "WEEKLY": "week", "MONTHLY": "month", "YEARLY": "year"}
_DAYS = {
    "MO": "Monday", "TU": "Tuesday", "WE": "Wednesday", "TH": "Thursday", "FR": "Friday", "SA": "Saturday",
    "SU": "Sunday",
}  # fmt: skip
_DAY = re.compile(r"([+-]?\d{1,2})?([A-Z]{2})")
_KINDS = ("home", "work", "cell", "mobile", "fax")
_CARD_LABELS = {
    "NICKNAME": "Nickname",
    "ORG": "Organization",
    "TITLE": "Title",
    "ROLE": "Role",
    "TEL": "Phone",
    "EMAIL": "Email",
    "ADR": "Address",
    "BDAY": "Birthday",
    "ANNIVERSARY": "Anniversary",
    "URL": "Web",
    "IMPP": "Chat",
    "CATEGORIES": "Categories",
}


def read_calendar(format_: DocumentFormat, data: bytes, limits: Limits, content_type: str) -> ExtractedText:
    """Read a calendar or the cards of contacts; a file without any stays the text that it is.

    Raises UnreadableError if it exceeds ``limits.text``.
    """
    text = clean(decode(data, charset_of(content_type)))
    made = BlockText(limits)
    title, found = "", False
    for kind, properties in components(text, (*_EVENTS, _CARD)):
        if kind == CALENDAR:
            title = title or first_text(properties, "X-WR-CALNAME") or first_text(properties, "NAME")
            continue
        found = True
        add = _add_card if kind == _CARD else _add_event
        add(made, kind, properties)
    if not found:
        return whole(one_line(title), MEDIA_TYPES[DocumentFormat.TEXT], text)
    return ExtractedText(one_line(title), MEDIA_TYPES[format_], (made.page(),))


def _add(made: BlockText, name: str, cells: Iterable[tuple[str, str]], text: str) -> None:
    """Append a section: its name, and a row of its labelled cells.

    A short text stands in the row, as it hardly says whom or what it is about; a longer one in paragraphs.
    """
    made.add(BlockKind.HEADING, one_line(name), level=1)
    is_short = len(text) <= _MAX_NOTE_CHARACTERS
    shown = [(label, " ".join(value.split())) for label, value in cells]
    shown.append(("Note", " ".join(text.split()) if is_short else ""))
    made.add(BlockKind.ROW, CELL_SEPARATOR.join(f"{label}: {value}" for label, value in shown if value))
    for paragraph in [] if is_short else _BLANK_LINE.split(text):
        made.add(BlockKind.PARAGRAPH, paragraph)


# ------------------------------------------------------------------ events


def _add_event(made: BlockText, kind: str, properties: Sequence[Property]) -> None:
    by_name = {line.name: line for line in reversed(properties)}
    summary = first_text(properties, "SUMMARY") or _EVENTS[kind]
    people = [_person(line) for line in properties if line.name == "ATTENDEE"]
    cells = [
        (_EVENTS[kind], summary),
        ("When", _when(by_name)),
        ("Due", _shown(by_name.get("DUE"))),
        ("Completed", _shown(by_name.get("COMPLETED"))),
        ("Where", first_text(properties, "LOCATION")),
        ("Repeats", _repeats(first_text(properties, "RRULE"))),
        ("Except on", ", ".join(_shown(line) for line in properties if line.name == "EXDATE")),
        ("Organizer", _person(by_name["ORGANIZER"]) if "ORGANIZER" in by_name else ""),
        ("With", ", ".join(filter(None, people))),
        ("Status", first_text(properties, "STATUS").lower().replace("-", " ")),
        ("Categories", ", ".join(line.text for line in properties if line.name == "CATEGORIES")),
        ("Web", first_text(properties, "URL")),
    ]
    _add(made, summary, cells, first_text(properties, "DESCRIPTION"))


def _person(line: Property) -> str:
    """The name of a person with the address, or one of both."""
    name, address = line.parameters.get("CN", "").strip(), re.sub(r"(?i)^mailto:", "", line.text.strip())
    return f"{name} <{address}>" if name and address and name != address else name or address


def _moment(value: str) -> date | datetime | None:
    found = _MOMENT.match(value.strip())
    if found is None:
        return None
    try:
        day = date(*map(int, found.group(1, 2, 3)))
        return datetime(day.year, day.month, day.day, int(found[4]), int(found[5])) if found[4] else day
    except ValueError:
        return None


def _written(moment: date | datetime) -> str:
    return moment.isoformat(" ", "minutes") if isinstance(moment, datetime) else moment.isoformat()


def _zone(line: Property) -> str:
    found = _MOMENT.match(line.value.strip())
    return " UTC" if found and found[6] else f" ({zone})" if (zone := line.parameters.get("TZID", "")) else ""


def _shown(line: Property | None) -> str:
    """A date, with the time and its zone, or a list of them."""
    if line is None:
        return ""
    moments = [_moment(value) for value in line.value.split(",")]
    if not all(moments):
        return line.text
    return ", ".join(_written(moment) for moment in moments if moment) + _zone(line)


def _when(by_name: dict[str, Property]) -> str:
    """When an event takes place: its first day or moment, and its last."""
    line = by_name.get("DTSTART")
    start = _moment(line.value) if line else None
    if line is None or start is None:
        return line.text if line else ""
    last = by_name.get("DTEND", line)
    end = _moment(last.value) if last is not line else _after(start, by_name.get("DURATION"))
    if isinstance(end, datetime) and end > _as_datetime(start):
        if _zone(line) != _zone(last):
            return f"{_shown(line)} to {_shown(last)}"
        same_day = _as_datetime(start).date() == end.date()
        return (
            f"{_written(start)} to {end:%H:%M}{_zone(line)}"
            if same_day
            else (f"{_written(start)} to {_written(end)}{_zone(line)}")
        )
    if end is not None and not isinstance(start, datetime) and end - timedelta(days=1) > start:
        return f"{_written(start)} to {_written(end - timedelta(days=1))}"
    return _shown(line)


def _as_datetime(moment: date | datetime) -> datetime:
    return moment if isinstance(moment, datetime) else datetime(moment.year, moment.month, moment.day)


def _after(start: date | datetime, duration: Property | None) -> date | datetime | None:
    found = _DURATION.fullmatch(duration.value.strip()) if duration else None
    if found is None:
        return None
    weeks, days, hours, minutes = (int(number or 0) for number in found.groups())
    try:
        return start + timedelta(weeks=weeks, days=days, hours=hours, minutes=minutes)
    except OverflowError:
        return None


def _repeats(rule: str) -> str:
    """How an event repeats: "every 2 weeks on Monday, 10 times"."""
    parts = dict(part.split("=", 1) for part in rule.upper().split(";") if "=" in part)
    period = _PERIODS.get(parts.get("FREQ", ""))
    if period is None:
        return rule
    interval = parts.get("INTERVAL", "1")
    words = f"every {period}" if interval == "1" else f"every {interval} {period}s"
    days = [_DAY.fullmatch(day.strip()) for day in parts.get("BYDAY", "").split(",")]
    named = [f"{_ordinal(day[1])}{_DAYS[day[2]]}" for day in days if day is not None and day[2] in _DAYS]
    words += f" on {', '.join(named)}" if named else ""
    words += f" on day {parts['BYMONTHDAY']}" if "BYMONTHDAY" in parts else ""
    until = _moment(parts.get("UNTIL", ""))
    words += f" until {_as_datetime(until).date()}" if until else ""
    return words + (f", {parts['COUNT']} times" if "COUNT" in parts else "")


def _ordinal(number: str | None) -> str:
    """The place of a day in its month: "first ", "last "."""
    names = {"1": "first ", "2": "second ", "3": "third ", "4": "fourth ", "5": "fifth ", "-1": "last "}
    return names.get((number or "").removeprefix("+"), f"{number} " if number else "")


# ------------------------------------------------------------------ cards


def _add_card(made: BlockText, _: str, properties: Sequence[Property]) -> None:
    structured = next((line.fields for line in properties if line.name == "N"), [])
    family, given, further, prefix, suffix = (*structured[:5], *[""] * 5)[:5]
    name = first_text(properties, "FN").strip() or " ".join(
        filter(None, (prefix, given, further, family, suffix))
    )
    name = name or first_text(properties, "ORG").rstrip(";") or first_text(properties, "EMAIL")
    cells = [("Name", name)]
    for known, label in _CARD_LABELS.items():
        cells += [(_labelled(label, line), _card_value(line)) for line in properties if line.name == known]
    _add(made, name, cells, first_text(properties, "NOTE"))


def _labelled(label: str, line: Property) -> str:
    """The label of a value with its kind: "Phone (work)"."""
    kinds = line.parameters.get("TYPE", "").lower().split(",")
    shown = [kind for kind in _KINDS if kind in kinds]
    return f"{label} ({', '.join(shown)})" if shown and label in ("Phone", "Email", "Address") else label


def _card_value(line: Property) -> str:
    if line.name == "ADR":
        box, further, street, town, region, code, country = (*line.fields[:7], *[""] * 7)[:7]
        place = " ".join(filter(None, (code, town)))
        return ", ".join(filter(None, (box, further, street, place, region, country)))
    if line.name == "ORG":
        return ", ".join(filter(None, line.fields))
    if line.name in ("BDAY", "ANNIVERSARY"):
        return _shown(line)
    return re.sub(r"(?i)^(?:tel|mailto):", "", line.text.strip())
