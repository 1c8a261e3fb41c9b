"""The numbers of a question that its evidence tells of, and those that it does not.

A number that is asked about and missing is a reason to check an answer, whatever the judges say of it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import PurePath

from localcrag.crag.doubts.allowed_values import without_allowed_values
from localcrag.crag.questions.calendar_dates import (
    are_shared,
    dates_of,
    month_begun,
    month_of,
    months_asked,
    readings_of,
)
from localcrag.crag.questions.codes import codes_of
from localcrag.crag.questions.query_terms import IN_WORDS, STOP_WORDS, folded
from localcrag.crag.refinement.calendar_spans import holds_on
from localcrag.crag.refinement.strip_context import headings_above, judged_text
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import cells_of, is_row, named_cell
from localcrag.crag.rows.told_ranges import NUMBER, is_within_range
from localcrag.crag.table_answers.season_years import seasons_of, with_whole_seasons, without_seasons
from localcrag.crag.table_answers.unit_scales import shared_quantities
from localcrag.types import HEADING_SEPARATOR, Strip

_WORD = re.compile(r"[a-z]+")
_DIGITS = re.compile(r"\d+")
_NUMBERED_NAME = re.compile(r"(?<![^\W_])([^\W\d_]{2,})[ _-]?(\d{1,4})(?![\d.,:/-]*\d)(?![^\W\d_])")
"""A name with its number: "Lumio 45", "P-240"."""
_VERSION_MARK = re.compile(r"(?<=\d)\.")
_OFFERED = re.compile(
    rf"({NUMBER.pattern})(?: [^\W\d]+){{0,2}} (?:or|oder|ou) (?:[^\W\d]+ ){{0,2}}({NUMBER.pattern})"
)
"""Two numbers that a question offers: "1000 kilobytes or 1024"."""
_CODE = re.compile(r"(?<![^\W_])([^\W\d_]{1,4})(\d{1,4})(?![.,:/-]*\d)(?![^\W_])")
"""The mark of one thing of several, letters with a number: "L3", "EG12"."""
_QUARTER = re.compile(r"\bQ[1-4][-_ ]?((?:19|20)\d\d)\b|\b((?:19|20)\d\d)[-_ ]?Q[1-4]\b", re.IGNORECASE)
"""A quarter of a year: "Q22011", "2011-Q2"."""
_DIMENSIONS = re.compile(r"(?<![\w.])[1-4]-?D\b")
"""How many dimensions something has: "a 3D model"."""
_NAME_WITH_DIGITS = re.compile(r"(?<!\w)(?=[^\W\d_])\w*\d\w*")
"""A word of letters with digits: "fail2ban", "ext4"."""


def missing_numbers(strips: Sequence[Strip], question: str) -> list[str]:
    """The numbers of a question that no strip has, nor its headings, its title or its source, in order.

    Separators do not count ("1,000" is "1000"), nor do zeros in front ("05" is "5"); small ones may stand in
    English words ("2nd" is "second"). A version is told by one within it ("2.53" by "2.53.0"), and of two
    that the question offers ("1000 or 1024 bytes?") one is enough. A day is told in any notation, and by a
    row that holds on it, and a number with its unit by the range or the bound that it lies in ("17 kg" by
    "15–21 kg", "up to 30 kg"), or in another unit ("3 kW" by "3000 W"). A mark ("L3") is
    told if the passage of a strip has it, and no other mark of its letters. The digits of a name ("fail2ban",
    "ext4") are no number, unless a passage has the name with another one ("ext3"). Values that are allowed
    ("{2|4|6}") tell of no number by themselves. "3D" asks for no 3, and "Q22011" tells of 2011.

    Args:
        strips: the strips that were kept.
        question: the question.
    """
    if _DIGITS.search(question) is None:
        return []
    told = without_allowed_values(" ".join(map(_told_with, strips)), question)
    question = without_seasons(with_whole_seasons(question), seasons_of(told))
    question = _without_names(_without_told_days(question, told, strips), strips)
    question = _DIMENSIONS.sub(" ", question)
    asked = dict.fromkeys(NUMBER.findall(question))
    known = {_plain(each) for found in (NUMBER, _DIGITS) for each in found.findall(told)}
    known |= {date.partition("-")[0] for date in dates_of(told)}
    known |= {year for years in _QUARTER.findall(told) for year in years}
    known |= {IN_WORDS[word] for word in _WORD.findall(told.casefold()) if word in IN_WORDS}
    within = {
        found[: mark.start()] for found in NUMBER.findall(told) for mark in _VERSION_MARK.finditer(found)
    }
    in_range = {
        each[0] for each in NUMBER.finditer(question) if is_within_range(question, *each.span(), told)
    }
    same = shared_quantities(question, told)
    in_range |= {
        each[0]
        for each in NUMBER.finditer(question)
        if any(start <= each.start() < end for start, end in same)
    }
    in_range |= _numbers_of_marks(strips, question)
    missing = [number for number in asked if _plain(number) not in known and number not in within]
    offered = [set(pair.groups()) for pair in _OFFERED.finditer(question)]
    return [
        number
        for number in missing
        if not any(number in pair and pair - set(missing) for pair in offered) and number not in in_range
    ]


def contradicted_numbers(strips: Sequence[Strip], question: str) -> list[str]:
    """The names with a number of a question of which the best strip's document has another number, in order.

    What the manual of the "Lumio 60" says is not told of a "Lumio 45". It is a contradiction if the title, a
    heading or the source has the name with other numbers alone, and the strip does not have it as asked.

    Args:
        strips: the strips that were kept.
        question: the question.
    """
    best = best_strip(strips)
    if best is None:
        return []
    about = f"{best.passage.title} {headings_above(best)} {PurePath(best.passage.source).stem}"
    numbers = defaultdict[str, set[str]](set)
    for name, number in _named_numbers(about):
        numbers[name].add(number)
    told = set(_named_numbers(_told_with(best)))
    return [
        f"{match[1]} {match[2]}"
        for match in _NUMBERED_NAME.finditer(question)
        if (pair := (match[1].casefold(), _plain(match[2]))) not in told and numbers.get(pair[0])
    ]


def is_of_other_month(strips: Sequence[Strip], question: str) -> bool:
    """Whether a question asks of a month of a year, and the best strip is a row that is of other months.

    A row that begins on 1 January 1988, be it of that month or of the year, does not tell of May 1988.

    Args:
        strips: the strips that were kept.
        question: the question.
    """
    asked = months_asked(question)
    best = best_strip(strips)
    if not asked or best is None or not is_row(best):
        return False
    values = [named_cell(cell)[1] for cell in cells_of(best)]
    months = {month for value in values if (month := month_of(value) or month_begun(value))}
    return bool(months) and months.isdisjoint(asked)


def _named_numbers(text: str) -> Iterator[tuple[str, str]]:
    """The names in a text that have a number behind them, each with its number."""
    for match in _NUMBERED_NAME.finditer(text):
        if folded(match[1]) not in STOP_WORDS:
            yield match[1].casefold(), _plain(match[2])


def _numbers_of_marks(strips: Sequence[Strip], question: str) -> set[str]:
    """The numbers in the marks of a question that a passage has, and no other mark of the same letters."""
    told = [set(_CODE.findall(strip.passage.text)) for strip in strips]
    return {
        number
        for letters, number in _CODE.findall(question)
        if any({each for each in marks if each[0] == letters} == {(letters, number)} for marks in told)
    }


def _without_names(question: str, strips: Sequence[Strip]) -> str:
    """A question without its names that have digits; those that passages have with other digits are kept.

    So are codes in capitals ("E21"), and a version behind a name ("python3.11").
    """
    codes = codes_of(question)
    known = {name.casefold() for strip in strips for name in _NAME_WITH_DIGITS.findall(strip.passage.text)}

    def kept(match: re.Match[str]) -> str:
        name, shape = match[0].casefold(), _DIGITS.sub("0", match[0].casefold())
        others = {each for each in known if _DIGITS.sub("0", each) == shape} - {name}
        has_version = re.match(r"[.,:/-]\d", question[match.end() :]) is not None
        return match[0] if others or has_version or any(match[0] in code for code in codes) else " "

    return _NAME_WITH_DIGITS.sub(kept, question)


def _told_with(strip: Strip) -> str:
    """A strip with its context, its source and the outermost heading above its passage."""
    outermost, _, _ = strip.passage.heading.partition(HEADING_SEPARATOR)
    return f"{judged_text(strip)} {outermost} {strip.passage.source}"


def _without_told_days(question: str, told: str, strips: Sequence[Strip]) -> str:
    """A question without the days that a text tells of, in whatever notation, or that a row holds on."""
    known = set[str]().union(*(days for _, _, days in readings_of(told)))
    for start, end, days in reversed(readings_of(question)):
        if are_shared(days, known) or any(holds_on(strip, days) for strip in strips):
            question = f"{question[:start]} {question[end:]}"
    return question


def _plain(number: str) -> str:
    """A number without separators and zeros in front."""
    return "".join(_DIGITS.findall(number)).lstrip("0") or "0"
