"""Evidence that tells of another member of a small set than the one that a question asks for.

What a courier costs on a Saturday is not what one costs on a Sunday, a fax number is no mobile number, how
wide a bridge is does not say how long, a limit is no count, and neither a question nor what a test offers to
choose from is an answer. To a judge of relevance they look alike. What tells of both is no reason for doubt,
nor what tells of neither.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.questions.calendar_dates import WEEKDAYS
from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_context import judged_text
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import cells_of, first_cell, is_row, named_cell
from localcrag.crag.table_answers.table_values import FLAGS
from localcrag.types import Strip

_DAYS = {name: number for name, number in WEEKDAYS.items() if len(name) > len("sun")}
_DAY = re.compile(
    rf"\b(?P<day>{'|'.join(sorted(_DAYS, key=len, reverse=True))})s?\b",
    re.IGNORECASE,
)
"""A day of the week, but in the shortest forms."""
_ANY_DAY = re.compile(
    r"\b(?:daily|every ?day|each day|all week|week ?(?:days?|ends?)|workdays?|bank holidays?|täglich"
    r"|werktags?|wochenende|tous les jours|24/7|(?:mon|tue|wed|thu|fri|sat|sun|mo|di|mi|do|fr|sa|so))\b"
    r"|day(?:s)?\s?(?:[–-]|to|through|bis)\s?\w+day",
    re.IGNORECASE,
)
"""What tells of several days of the week, or of one in a short form."""
_LINES = {
    "mobile": r"mobile|cell(?:ular| ?phone)?|handy|portable|gsm",
    "fax": r"fax|telefax",
    "landline": r"landline|festnetz|fixe",
}
"""The kinds of telephone lines, and the words for them."""
_MEASURED = {
    "long": (r"how long\b|\blength\b", r"long|length"),
    "wide": (r"how (?:wide|broad)\b|\bwidth\b", r"wide|width|broad"),
    "high": (r"how (?:high|tall)\b|\bheight\b", r"high|tall|height"),
    "deep": (r"how deep\b|\bdepth\b", r"deep|depth"),
    "thick": (r"how thick\b|\bthickness\b", r"thick|thickness"),
}
"""The dimensions of a thing: how a question asks for each, and how a text tells it."""
_LENGTH = r"\d ?(?:mm|cm|m|km|met(?:re|er)s?|feet|ft|foot|inch(?:es)?|in|yards?|miles?)\.?,? (?:{words})\b"
_NOW_ASKED = re.compile(
    r"\bhow many\b.*\b(?:at the moment|at present|currently|now|so far|today|do we have|are there)\b",
    re.IGNORECASE,
)
_BOUND_ASKED = re.compile(
    r"\b(?:limit|max\w*|min\w*|at (?:most|least)|up to|allowed|may|can|capacity|quota)\b", re.I
)
_BOUND_SET = re.compile(r"^\W*[\w.-]*(?:limit|max|min|quota|threshold|capacity)[\w.-]*\W*[:=]", re.IGNORECASE)
"""How a question asks how many there are, or for a bound, and how a line sets a bound."""
_QUESTION = re.compile(
    r"\W*(?:Q(?:uestion)?\W+)?(?:\d+[.)]\s+)?(?:(?:what|which|whose)(?: \w+){0,3}?|who|when|where|why|how) "
    r"(?:is|are|was|were|do|does|did|can|could|may|must|should|will|would|has|have)\b(?:[^.!?]|\.(?=\d))*\??\s*",
    re.IGNORECASE,
)
"""A text that is nothing but a question."""
_DIFFERENCE_ASKED = re.compile(
    r"\bby how (?:much|many)\b|\bhow (?:much|many) (?:more|less|fewer|higher|lower|dearer|cheaper|heavier"
    r"|lighter|longer|shorter|older|younger|taller|bigger|smaller)\b.*\bthan\b|\bdifference (?:in|between)\b",
    re.IGNORECASE,
)
_DIFFERENCE_TOLD = re.compile(
    r"\b(?:differ\w*|more|less|fewer|than|higher|lower|dearer|cheaper|longer|shorter|older|extra|rise|rose|risen"
    r"|fell|fall|up|down|by|change\w*|increas\w*|decreas\w*|gain\w*|loss|lost|surplus|deficit|over\w*|under\w*"
    r"|plus|minus)\b|[+±]",
    re.IGNORECASE,
)
"""How a question asks for a difference, and how a text tells one: of two figures it is none of both."""
_NEGATED = re.compile(
    r"(?:\b(?:not|never|yet to)|n['’]t)(?: (?:yet|been|be|have|ever))* (?P<verb>[^\W\d_]{3,})"
    r"|\bun(?P<state>[^\W\d_]{4,})",
    re.IGNORECASE,
)
"""How a question says that something was not done: "have not paid", "unpaid"."""
_CHOICE = re.compile(r"^\s*(?P<letter>[A-F])[.)] \S.{0,60}$", re.MULTILINE)
_CHOICE_ASKED = re.compile(
    r"\b(?:options?|choices?|alternatives?|possible answers?|which of)\b", re.IGNORECASE
)
"""A short line behind a capital letter, as no clause of a contract is, and how a question asks for such."""
_NAME = re.compile(r"[A-ZÀ-Þ][\w'’-]+(?: (?:de|van|von|del|la|[A-ZÀ-Þ][\w'’.-]*))*")
_NAME_ASKED = re.compile(
    r"\bnames? of\b|\bwhat (?:is|was) the name\b|^\W*who\b(?! (?:is|was|are|were) [A-ZÀ-Þ])", re.I
)
"""A name, and how a question asks for one."""


def tells_of_another(question: str, kept: Sequence[Strip]) -> bool:
    """Whether the best strip tells of another thing than the one of its kind that is asked for.

    Args:
        question: the question.
        kept: the strips that may be shown, with their probabilities as scores.
    """
    best = best_strip(kept)
    if best is None:
        return False
    told = judged_text(best)
    return (
        _is_of_other_day(question, " ".join(map(judged_text, kept)))
        or (is_row(best) and _is_row_of_other_day(question, best))
        or _is_of_other_line(question, told)
        or _is_of_other_dimension(question, told)
        or (_NOW_ASKED.search(question) is not None and _is_bound(question, best.text))
        or _QUESTION.fullmatch(best.text.strip()) is not None
        or (asks_for_difference(question) and _DIFFERENCE_TOLD.search(told) is None)
        or (is_row(best) and _has_done(question, best))
        or _repeats_name(question, best.text)
        or _is_a_choice(question, best)
    )


def asks_for_difference(question: str) -> bool:
    """Whether a question asks by how much something is more or less than something else."""
    return _DIFFERENCE_ASKED.search(question) is not None


def _is_of_other_day(question: str, told: str) -> bool:
    """Whether a question names days of the week, and a text has others alone."""
    asked, found = (
        {_DAYS[each["day"].casefold()] for each in _DAY.finditer(text)} for text in (question, told)
    )
    return bool(asked and found) and asked.isdisjoint(found) and _ANY_DAY.search(told) is None


def _is_row_of_other_day(question: str, row: Strip) -> bool:
    """Whether a row begins with a day of the week, in any form, and a question names another: "Fri"."""
    asked = {_DAYS[each["day"].casefold()] for each in _DAY.finditer(question)}
    day = WEEKDAYS.get(first_cell(row)[1].strip(" .").casefold())
    return bool(asked) and day is not None and day not in asked


def _is_of_other_line(question: str, told: str) -> bool:
    """Whether a question asks for a kind of telephone line, and a text has another kind alone."""
    asked, found = (
        {kind for kind, words in _LINES.items() if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE)}
        for text in (question, told)
    )
    return bool(asked and found) and asked.isdisjoint(found)


def _is_of_other_dimension(question: str, told: str) -> bool:
    """Whether a question asks for a dimension, and a text tells a length of another one alone."""
    asked = {kind for kind, (asks, _) in _MEASURED.items() if re.search(asks, question, re.IGNORECASE)}
    found = {
        kind
        for kind, (_, words) in _MEASURED.items()
        if re.search(_LENGTH.format(words=words), told, re.IGNORECASE)
    }
    words = [_MEASURED[kind][1] for kind in asked]
    is_told = any(re.search(rf"\b(?:{each})\b", told, re.IGNORECASE) for each in words)
    return bool(asked and found) and not is_told


def _is_bound(question: str, text: str) -> bool:
    """Whether a line sets a bound that a question does not ask for: "subscribers_limit = 450"."""
    lines = [line for line in text.splitlines() if "=" in line or ":" in line]
    return bool(lines) and all(map(_BOUND_SET.match, lines)) and _BOUND_ASKED.search(question) is None


def _has_done(question: str, row: Strip) -> bool:
    """Whether a row says yes in a column for what a question says was not done: "Paid: yes"."""
    verbs = {each for found in _NEGATED.finditer(question) for each in terms(found["verb"] or found["state"])}
    cells = map(named_cell, cells_of(row))
    return any(
        terms(name) and terms(name) <= verbs and FLAGS.get(value.strip().casefold()) for name, value in cells
    )


def _is_a_choice(question: str, best: Strip) -> bool:
    """Whether a strip is one or all of the lettered answers that a test offers to choose from."""
    if not _CHOICE.match(best.text) or _CHOICE_ASKED.search(question):
        return False
    letters = {found["letter"] for found in _CHOICE.finditer(best.passage.text)}
    return {"A", "B", "C"} <= letters


def _repeats_name(question: str, text: str) -> bool:
    """Whether a question asks for a name, and a text has none but the one that the question gives."""
    if not _NAME_ASKED.search(question):
        return False
    given = {word for name in _NAME.findall(question)[1:] for word in terms(name)}
    names = [terms(name) for name in _NAME.findall(text.partition(": ")[2] or text)]
    return bool(names) and all(name & given for name in names)
