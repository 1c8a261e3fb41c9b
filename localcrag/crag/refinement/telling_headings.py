"""Headings that are shown with a strip since they alone tell what a question asks for.

The number of a section, the release or the day of an entry, the name of what is described, and what tells
like rows apart stand above the text that answers, and not in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localcrag.crag.questions.calendar_dates import dates_of, without_dates
from localcrag.crag.questions.query_terms import figures_of
from localcrag.crag.refinement.knowledge_strips import span, strip_at
from localcrag.crag.refinement.mail_senders import sender_line
from localcrag.crag.refinement.naming_headings import naming_heading
from localcrag.crag.refinement.strip_context import (
    Neighbours,
    heading_blocks_above,
    headings_above,
    passage_before,
)
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import column_names, is_row
from localcrag.types import HEADING_SEPARATOR, BlockKind, Strip

_WHICH = r"\b(?:which|what(?: (?:is|was) the)?|welche[rsmn]?|quel(?:le)?)"
_SECTION_ASKED = re.compile(
    rf"{_WHICH} (?:chapter|kapitel|section|abschnitt|article|artikel|paragraph|clause)\b", re.IGNORECASE
)
_ENTRY_ASKED = re.compile(
    rf"{_WHICH} (?:(?:[\w.+-]+ ){{0,2}}(?:version|release|edition|ausgabe)"
    r"|year|jahr|month|monat|week|woche|day|tag|date)\b"
    r"|^(?:(?:since|until|by|seit|bis|ab|depuis) )?(?:when|wann|quand|cuándo|quando)\b",
    re.IGNORECASE,
)
"""What a question asks that a heading may answer: the number of a section, the release or day of an entry."""
_BESIDE_ENTRY = re.compile(
    r"\b(?:changes?|in|version|release[sd]?|on|of|v)\b|v?\d+(?:[.:_-]\w+)*|\b(?:mon|tue|wed|thu|fri|sat|sun)\w*"
    r"|[\W_]",
    re.IGNORECASE,
)
"""What may stand in a heading beside a date without saying anything more."""
MAX_PASSAGES_BACK, MAX_PASSAGES_TO_TITLE = 6, 16
"""How many passages before that of a strip are looked through for its headings, and for the title."""
_WHEN_ASKED = re.compile(
    r"(?:(?:since|until|by|seit|bis|ab|depuis) )?(?:when|wann|quando?|cu[áa]ndo)\b", re.I
)
_OF_ENTRY = re.compile(r"\bthis (?:is the (?:\w+ )?)?(?:release|version|edition)\b", re.I)
"""How a text speaks of the entry that it stands in, whose heading tells which that is."""
_EVENT_ASKED = re.compile(
    rf"\b(?:in|since|with|from|as of|until|seit|mit|ab|bis|dans|depuis|avec) {_WHICH}\b", re.I
)
"""How a question asks in which release or on which day something happened."""
_RELEASE_ACTS = re.compile(
    rf"{_WHICH} (?:[\w.+-]+ ){{0,2}}(?:version|release|edition)s?"
    r" (?!(?:of|is|are|was|were|do|does|did|has|have)\b)\w",
    re.I,
)
"""How a question asks which release did something: "which release dropped Qt 5"."""
_TELLS_RELEASE = re.compile(
    r"\b(?:in|since|with|from|as of|by) (?:version |release )?v?\d+(?:\.\d+)*\b", re.I
)
"""How a text tells the release in which something happened."""
_NUMBERED_ENTRY = re.compile(
    r"\b(?:v|version|release|edition|ausgabe|week|woche|kw|semaine|day|tag|year|jahr|month|monat)\.? ?\d",
    re.I,
)
_CLOCK = re.compile(r"(?<![\w.:-])[0-2]?\d:[0-5]\d(?::\d\d)?(?![\d:])")
"""The time of a day: "09:05"."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_NUMBER = re.compile(r"(?<![\w.])v?\d+(?:[._-]\d+)*", re.I)


def with_telling_headings(
    picked: Sequence[Strip], question: str, neighbours: Neighbours | None = None
) -> list[Strip]:
    """The strips, each after its heading if the question asks for what only that tells.

    "In which release was it removed?" is answered by "Changes in 2.52.1" above "Remove rsh:// URI scheme". Of
    the headings above a strip it is the nearest one that tells: "Removed" may stand between the two. Rows of
    the same columns that stand below different headings are told apart by these alone. "Which hook …?" is
    answered by the heading that names it (:mod:`.naming_headings`), and "who thought of it?", if best by a
    sentence of a mail that says "I", below the line that says from whom it is (:mod:`.mail_senders`).

    Args:
        picked: the strips, in their order.
        question: the question.
        neighbours: if given, a heading may stand in an earlier passage.
    """
    asked = question.strip()
    of_section, of_entry = _SECTION_ASKED.search(asked), _ENTRY_ASKED.search(asked)
    is_when = _WHEN_ASKED.match(asked) is not None
    is_telling = _dates_entry if is_when else _says_when if of_entry else _has_digit
    is_enough = _has_digit if of_section else _says_when if is_when else _names_number
    of_event = of_entry is not None and _EVENT_ASKED.search(asked) is not None
    of_release = of_entry is not None and _RELEASE_ACTS.search(asked) is not None
    rows = [strip for strip in picked if is_row(strip)]
    best = best_strip(picked)
    result: list[Strip] = []
    for strip in picked:
        heading = None
        if of_section or of_entry:
            above = _headings_of(strip, neighbours)
            heading = next((each for each in above if is_telling(each.text)), None)
            is_told = is_enough(_without_numbers(strip.text, asked)) and not _OF_ENTRY.search(strip.text)
            is_of_entry = of_event or (of_release and not _TELLS_RELEASE.search(strip.text))
            if heading and is_told and not (is_of_entry and _names_entry(heading.text)):
                heading = None
        else:
            heading = naming_heading(strip, asked, _headings_of(strip, neighbours, to_title=True))
        if heading is None and strip is best:
            heading = sender_line(strip, asked, neighbours)
        if heading is None and any(_is_told_apart_by_heading(strip, row) for row in rows if is_row(strip)):
            heading = next(_headings_of(strip, None), None)
        if heading is not None and span(heading) not in map(span, result):
            result.append(heading)
        result.append(strip)
    return result


def _is_told_apart_by_heading(row: Strip, other: Strip) -> bool:
    """Whether two rows have the same columns and stand below different headings."""
    return column_names(row) == column_names(other) and headings_above(row) != headings_above(other)


def _names_entry(heading: str) -> bool:
    """Whether a heading is nothing but the day or the version of an entry: "3.3.0 – 2026-01-08"."""
    return not _BESIDE_ENTRY.sub("", without_dates(heading)).strip() and _says_when(heading)


def _dates_entry(heading: str) -> bool:
    """Whether a heading has a date, a year, or the number of a release; that of a contract is none."""
    dated = dates_of(heading) or _YEAR.search(heading) or _NUMBERED_ENTRY.search(heading)
    return bool(dated) or _names_entry(heading)


def _says_when(text: str) -> bool:
    """Whether a text has a date, a year, or the number of a version; the time of a day is not enough."""
    text = _CLOCK.sub(" ", text)
    return bool(figures_of(text) or _YEAR.search(text))


def _names_number(text: str) -> bool:
    """Whether a text has a date, a year, or a version, an edition or a week by its number."""
    return _says_when(text) or _NUMBERED_ENTRY.search(text) is not None


def _without_numbers(text: str, question: str) -> str:
    """A text without the numbers that a question has: "Python 3.14" tells of no release of anything else."""
    said = set(_NUMBER.findall(question))
    return _NUMBER.sub(lambda found: " " if found[0] in said else found[0], text)


def _has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))


def _headings_of(strip: Strip, neighbours: Neighbours | None, *, to_title: bool = False) -> Iterator[Strip]:
    """The headings above a strip, the nearest first, as far as they can be shown.

    With ``to_title`` the last one is that with the title of the page, though it be of the level of others.
    """
    passage, inner = strip.passage, heading_blocks_above(strip)
    for block in reversed(inner):
        yield strip_at(passage, block.start, block.end, strip.score)
    outer = [text for text in passage.heading.split(HEADING_SEPARATOR) if text]
    outer += [passage.title] if to_title and passage.title else []
    lowest = min((block.level for block in inner), default=None)
    for _ in range(MAX_PASSAGES_TO_TITLE if to_title else MAX_PASSAGES_BACK):
        before = passage_before(passage, neighbours) if outer else None
        if before is None:
            return
        passage = before
        for block in reversed(passage.blocks):
            text = " ".join(passage.text_between(block.start, block.end).split())
            is_above = lowest is None or block.level < lowest or (to_title and text == passage.title)
            if block.kind is BlockKind.HEADING and is_above and text in outer:
                lowest = block.level
                outer.remove(text)
                yield strip_at(passage, block.start, block.end, strip.score)
