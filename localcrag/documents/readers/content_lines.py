"""The content lines of calendars and cards, "NAME;PARAMETER=value:text" (RFC 5545, RFC 6350, vCard 2.1).

They are read here because no library at hand reads all of them: icalendar 7.3 refuses a whole file for one
line of vCard 2.1, which telephones write, and vobject 0.9 brings pytz and six for what is only shown as text.
"""

from __future__ import annotations

import quopri
import re
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from localcrag.documents.encoding import decode
from localcrag.documents.extracted import clean
from localcrag.errors import UnreadableError

_CONTENT_LINE = re.compile(
    r"(?:[\w-]++\.)?([\w-]++)((?:;(?:[^\":;]++|\"[^\"]*+\")*+)*+):(.*)", re.DOTALL | re.ASCII
)
_PARAMETER = re.compile(r";(?:([\w-]+)=)?((?:[^\";]++|\"[^\"]*+\")*+)")
_ESCAPE = re.compile(r"\\([\\;,nN])")
_FIELD_END = re.compile(r"(?<!\\)(?:\\\\)*;")
_QUOTED_PRINTABLE = "QUOTED-PRINTABLE"
CALENDAR = "VCALENDAR"
"""The component around the events, whose own lines name the calendar."""


class Property(NamedTuple):
    """A content line: its name and parameters in capitals, and its value with its escapes."""

    name: str
    parameters: dict[str, str]
    value: str

    @property
    def text(self) -> str:
        return _plain(self.value)

    @property
    def fields(self) -> list[str]:
        """The parts of a structured value, as those of an address."""
        ends = [match.end() for match in _FIELD_END.finditer(self.value)]
        return [
            _plain(self.value[start:end].removesuffix(";")).strip()
            for start, end in zip([0, *ends], [*ends, len(self.value)], strict=True)
        ]


def components(text: str, kinds: Collection[str]) -> Iterator[tuple[str, list[Property]]]:
    """The components of these kinds, each with its own lines, then :data:`CALENDAR` with those around them.

    What is nested in one, as an alarm, is left out. One that has no end ends with the text.
    """
    kind, depth = "", 0
    properties: list[Property] = []
    calendar: list[Property] = []
    for line in map(_property, _unfolded(text)):
        if line is None:
            continue
        if line.name == "BEGIN":
            depth += 1
            if not kind and (named := line.value.strip().upper()) in kinds:
                kind, depth, properties = named, 0, []
        elif line.name == "END":
            if kind and not depth:
                yield kind, properties
                kind = ""
            depth = max(0, depth - 1)
        elif kind and not depth:
            properties.append(line)
        elif not kind and depth == 1:
            calendar.append(line)
    if kind:
        yield kind, properties
    yield CALENDAR, calendar


def _unfolded(text: str) -> Iterator[str]:
    """The content lines; one that goes on with a space, or after "=" if it is so encoded, is joined."""
    parts: list[str] = []
    is_encoded = False
    for line in text.split("\n"):
        if is_encoded and parts[-1].endswith("="):
            parts.append(line)
        elif parts and line[:1] in (" ", "\t"):
            parts.append(line[1:])
        else:
            yield "".join(parts) if not is_encoded else "\n".join(parts)
            parts = [line]
            is_encoded = _QUOTED_PRINTABLE in line.partition(":")[0].upper()
    yield "".join(parts) if not is_encoded else "\n".join(parts)


def _property(line: str) -> Property | None:
    found = _CONTENT_LINE.fullmatch(line)
    if found is None:
        return None
    parameters: dict[str, str] = {}
    for match in _PARAMETER.finditer(found[2]):
        name, value = (match[1] or "TYPE").upper(), match[2].replace('"', "")
        parameters[name] = f"{parameters[name]},{value}" if name in parameters else value
    value = found[3]
    if _QUOTED_PRINTABLE in (parameters.get("ENCODING", "").upper(), parameters.get("TYPE", "").upper()):
        value = _decoded(value, parameters.get("CHARSET", ""))
    return Property(found[1].upper(), parameters, value)


def _decoded(value: str, charset: str) -> str:
    """A value in quoted-printable; as it is written if that is no text."""
    try:
        return clean(decode(quopri.decodestring(value.encode()), charset))
    except UnreadableError:
        return value


def _plain(value: str) -> str:
    return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)


def first_text(properties: Iterable[Property], name: str) -> str:
    return next((found.text for found in properties if found.name == name), "")
