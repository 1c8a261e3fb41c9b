"""The lines of a chat that are understood together only: a question, and the reply of somebody else to it.

"<renzhi> joao: argonaut" answers nothing without "<joao> renzhi, what version are you running?" above it, and
"<renzhi> yes" nothing without what was said before.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import NamedTuple

_TIMED = (
    r"\W?(?:\d{4}-\d\d-\d\d[T ]|\d{1,2}[./]\d{1,2}[./]\d{2,4},? )?\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?\S{0,6}\s+"
)
_LINE = re.compile(
    rf"(?:{_TIMED})?(?:- )?<[@+%&~ ]?(?P<nick>[^\s<>]{{1,30}})>[ \t]+(?P<said>\S.*)"
    rf"|{_TIMED}(?:- )?(?P<name>[^\W\d_][^:<>\n]{{0,29}}):[ \t]+(?P<told>\S.*)",
    re.DOTALL,
)
"""A line of a chat: "11:27:34 <renzhi> yes", "[12/05/2024, 10:15] Ada Wren: yes"."""
_TEXT_LINE = re.compile(r"[^\n]*\S")
_ADDRESSED = re.compile(r"@?(?P<name>[^\s:,<>]{1,30})[:,]?\s")
_QUESTION_MARKS = ("?", "？", "؟")
_SMALL_TALK_ENDS = " :;)(-pPdD^_.!"
MAX_LINES_BETWEEN = 4
"""So many lines may stand between a question and the reply to it."""
MAX_REPLY_WORDS = 12
"""The most words of a reply that does not address who asks."""
MAX_SHORT_WORDS, MAX_SHORT_QUESTION_WORDS = 3, 5
"""The most words of a line, and of a question, that say nothing without the line before."""
MAX_EXCHANGE_CHARACTERS = 600
MIN_SPEAKERS = 2


class _Said(NamedTuple):
    """Who says a line of a chat, and what."""

    speaker: str
    text: str

    @property
    def is_question(self) -> bool:
        return self.text.rstrip(_SMALL_TALK_ENDS).endswith(_QUESTION_MARKS)

    @property
    def is_short(self) -> bool:
        return len(self.text.split()) <= (MAX_SHORT_QUESTION_WORDS if self.is_question else MAX_SHORT_WORDS)


def is_chat_line(text: str, start: int, end: int) -> bool:
    """Whether a part of a text is a line of a chat, with who says it."""
    return _LINE.fullmatch(text, start, end) is not None


def with_exchanges(text: str, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans of the sentences of a text, of which those of a question in a chat and its reply are one.

    A short line that replies to no question belongs to the one before it. Spans of other texts stay as they
    are.
    """
    every = list(spans)
    lines = list(_lines(text, every))
    said = [_said(text[line[0][0] : line[-1][1]]) for line in lines]
    speakers = {each.speaker.casefold() for each in said if each}
    if len(speakers) < MIN_SPEAKERS:
        return every
    exchanges: list[list[int]] = []
    for at, line in enumerate(said):
        exchanges.append([at])
        if line is None:
            continue
        begin = None if line.is_question else _asked_before(said, at, speakers)
        if begin is None and line.is_short:
            begin = _said_before(said, at)
        places = range(len(exchanges) - 1, max(-1, len(exchanges) - 3 - MAX_LINES_BETWEEN), -1)
        place = next((p for p in places if begin in exchanges[p]), None)
        if place is None:
            continue
        first = exchanges[place][0]
        if lines[at][-1][1] - lines[first][0][0] <= MAX_EXCHANGE_CHARACTERS:
            exchanges[place:] = [list(range(first, at + 1))]
    return [
        span
        for exchange in exchanges
        for span in (
            lines[exchange[0]]
            if len(exchange) == 1
            else [(lines[exchange[0]][0][0], lines[exchange[-1]][-1][1])]
        )
    ]


def _lines(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """The spans of the sentences of each line."""
    line: list[tuple[int, int]] = []
    for start, end in spans:
        if line and "\n" in text[line[-1][1] : start]:
            yield line
            line = []
        line.append((start, end))
    if line:
        yield line


def _said(line: str) -> _Said | None:
    found = _LINE.fullmatch(line.strip())
    if found is None:
        return None
    return _Said((found["nick"] or found["name"]).strip(), " ".join((found["said"] or found["told"]).split()))


def _said_before(said: Sequence[_Said | None], at: int) -> int | None:
    """The line of a chat before one, which is no more than a few lines of the program away."""
    places = range(at - 1, max(-1, at - 2 - MAX_LINES_BETWEEN), -1)
    return next((before for before in places if said[before]), None)


def _asked_before(said: Sequence[_Said | None], at: int, speakers: Set[str]) -> int | None:
    """The line of the question that a line replies to: one of somebody else, a few lines before; else None.

    A reply that addresses nobody is short, and comes from the first who says anything.
    """
    reply = said[at]
    if reply is None:
        return None
    addressed = _ADDRESSED.match(reply.text)
    name = addressed["name"].casefold() if addressed and addressed["name"].casefold() in speakers else ""
    for before in range(at - 1, max(-1, at - 2 - MAX_LINES_BETWEEN), -1):
        asked = said[before]
        if asked is None or (name and asked.speaker.casefold() != name):
            continue
        if asked.is_question and asked.speaker != reply.speaker:
            return before if name or len(reply.text.split()) <= MAX_REPLY_WORDS else None
        if not name:
            return None
    return None


def line_ends_in_exchanges(text: str) -> Iterator[int]:
    """The line ends of a text that stand within a question of a chat and its reply."""
    lines = [match.span() for match in _TEXT_LINE.finditer(text)]
    for start, end in with_exchanges(text, lines) if "\n" in text else ():
        yield from (at for at in range(start, end) if text[at] == "\n")
