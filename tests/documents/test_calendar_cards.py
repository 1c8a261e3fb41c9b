"""Calendars and contacts: each event, task and card is a section with one row."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcrag.documents.extracted import ExtractedText, Limits
from localcrag.documents.format_recognition import format_of
from localcrag.documents.formats import DocumentFormat
from localcrag.documents.readers import parse
from localcrag.types import BlockKind

LONG = "of last year and of the year before, " * 6 + "all"
CALENDAR = f"""BEGIN:VCALENDAR
VERSION:2.0
X-WR-CALNAME:Rowing club
BEGIN:VTIMEZONE
TZID:Europe/Oslo
BEGIN:STANDARD
DTSTART:19961027T030000
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
DTSTART;TZID=Europe/Oslo:20260303T140000
DTEND;TZID=Europe/Oslo:20260303T153000
SUMMARY:Board meeting\\, spring
LOCATION:Boat house\\; upper floor
DESCRIPTION:Bring the accounts {LONG}.\\n\\nThe new oars are
  voted on.
ORGANIZER;CN="Lund, Ada":mailto:ada@example.org
ATTENDEE;CN=Ben Ost;PARTSTAT=ACCEPTED:mailto:ben@example.org
ATTENDEE:mailto:cy@example.org
BEGIN:VALARM
DESCRIPTION:Reminder
END:VALARM
END:VEVENT
BEGIN:VTODO
SUMMARY:Varnish the eight
DUE;VALUE=DATE:20260401
STATUS:NEEDS-ACTION
END:VTODO
END:VCALENDAR
"""
CARDS = """BEGIN:VCARD
VERSION:3.0
FN:Ada Lund
ORG:Old Mill;Kiln
item1.TEL;TYPE=CELL:+47 555 01
TEL;TYPE=WORK,VOICE:+47 555 99
EMAIL;TYPE=INTERNET:ada@example.org
ADR;TYPE=HOME:;;Quay 3;Tidemouth;;4021;Norway
BDAY:19800201
PHOTO;ENCODING=b;TYPE=JPEG:aGVsbG8=
 aGVsbG8=
NOTE:Has the key\\, and feeds the cat.
END:VCARD
BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:Wei=C3=9F;J=C3=BCr=
gen
TEL;HOME;VOICE:055 12 34
END:VCARD
"""


def read(text: str, format_: DocumentFormat = DocumentFormat.CALENDAR) -> ExtractedText:
    return parse(format_, text.replace("\n", "\r\n").encode(), Limits())


def told(found: ExtractedText) -> list[tuple[BlockKind, str]]:
    (page,) = found.pages
    return [(block.kind, page.text[block.start : block.end]) for block in page.blocks]


def when(lines: str) -> str:
    """The row of an event with these lines, without its name."""
    found = told(read(f"BEGIN:VEVENT\nSUMMARY:x\n{lines}\nEND:VEVENT\n"))
    return found[1][1].removeprefix("Event: x · ")


def test_events_and_tasks() -> None:
    found = read(CALENDAR)
    assert (found.title, found.media_type) == ("Rowing club", "text/calendar")
    assert told(found) == [
        (BlockKind.HEADING, "Board meeting, spring"),
        (
            BlockKind.ROW,
            "Event: Board meeting, spring · When: 2026-03-03 14:00 to 15:30 (Europe/Oslo)"
            " · Where: Boat house; upper floor · Organizer: Lund, Ada <ada@example.org>"
            " · With: Ben Ost <ben@example.org>, cy@example.org",
        ),
        (BlockKind.PARAGRAPH, f"Bring the accounts {LONG}."),
        (BlockKind.PARAGRAPH, "The new oars are voted on."),
        (BlockKind.HEADING, "Varnish the eight"),
        (BlockKind.ROW, "Task: Varnish the eight · Due: 2026-04-01 · Status: needs action"),
    ]


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        ("DTSTART:20260105T170000Z\nDURATION:PT1H30M", "When: 2026-01-05 17:00 to 18:30 UTC"),
        ("DTSTART:20260105T170000", "When: 2026-01-05 17:00"),
        ("DTSTART:20260105T220000Z\nDURATION:PT3H", "When: 2026-01-05 22:00 to 2026-01-06 01:00 UTC"),
        (
            "DTSTART;TZID=Europe/Oslo:20260105T080000\nDTEND;TZID=Europe/London:20260105T090000",
            "When: 2026-01-05 08:00 (Europe/Oslo) to 2026-01-05 09:00 (Europe/London)",
        ),
        ("DTSTART;VALUE=DATE:20260710\nDTEND;VALUE=DATE:20260713", "When: 2026-07-10 to 2026-07-12"),
        ("DTSTART;VALUE=DATE:20260710\nDTEND;VALUE=DATE:20260711", "When: 2026-07-10"),
        ("DTSTART:20261399T990000", "When: 20261399T990000"),
        (
            "RRULE:FREQ=WEEKLY;INTERVAL=2;BYDAY=MO,TH;UNTIL=20260630T000000Z\nEXDATE:20260216T170000Z",
            "Repeats: every 2 weeks on Monday, Thursday until 2026-06-30 · Except on: 2026-02-16 17:00 UTC",
        ),
        ("RRULE:FREQ=MONTHLY;BYDAY=-1FR;COUNT=10", "Repeats: every month on last Friday, 10 times"),
    ],
)  # fmt: skip
def test_when(lines: str, shown: str) -> None:
    assert when(lines) == shown


def test_cards() -> None:
    assert told(read(CARDS, DocumentFormat.CONTACTS)) == [
        (BlockKind.HEADING, "Ada Lund"),
        (
            BlockKind.ROW,
            "Name: Ada Lund · Organization: Old Mill, Kiln · Phone (cell): +47 555 01"
            " · Phone (work): +47 555 99 · Email: ada@example.org · Address (home): Quay 3, 4021 Tidemouth,"
            " Norway · Birthday: 1980-02-01 · Note: Has the key, and feeds the cat.",
        ),
        (BlockKind.HEADING, "Jürgen Weiß"),
        (BlockKind.ROW, "Name: Jürgen Weiß · Phone (home): 055 12 34"),
    ]


def test_the_format_is_known_by_name_and_content() -> None:
    assert format_of("club.ics", b"") is DocumentFormat.CALENDAR
    assert format_of("people.vcf", b"") is DocumentFormat.CONTACTS
    assert format_of("export", CALENDAR.encode()) is DocumentFormat.CALENDAR
    assert format_of("export", CARDS.encode()) is DocumentFormat.CONTACTS


def test_damaged_files() -> None:
    assert told(read("BEGIN:VEVENT\nnonsense\nSUMMARY:Regatta\n")) == [
        (BlockKind.HEADING, "Regatta"),
        (BlockKind.ROW, "Event: Regatta"),
    ]
    found = read("no calendar at all")
    assert (found.media_type, found.pages[0].text) == ("text/plain", "no calendar at all")


def test_a_name_that_is_no_text_stays_as_it_is_written() -> None:
    card = "BEGIN:VCARD\nN;ENCODING=QUOTED-PRINTABLE:=AA1\\\\\nORG:Ferry office\nEND:VCARD\n"
    assert "Ferry office" in read(card, DocumentFormat.CONTACTS).pages[0].text


@given(st.text(alphabet='BEGINVT:;="\\\n =aA1,', max_size=300))
def test_no_file_breaks_it(text: str) -> None:
    read(f"BEGIN:VEVENT\n{text}\nEND:VEVENT\n")
    read(f"BEGIN:VCARD\nN;ENCODING=QUOTED-PRINTABLE:{text}", DocumentFormat.CONTACTS)


@pytest.mark.parametrize("part", ['A;B="', "a;", "\n ", "BEGIN:VEVENT\n", "\\", "N;QUOTED-PRINTABLE:=\n"])
def test_hostile_files_take_linear_time(part: str) -> None:
    start = time.process_time()
    read(f"BEGIN:VCARD\nFN:{part * 200_000}")
    assert time.process_time() - start < 10
