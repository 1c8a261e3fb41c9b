"""Follow-ups that put one thing in the place of another: "And Bergeron?", "and in Rome?", "who won there?".

They are the last question with a part of it replaced, which is told by the words alone and reads as a person
would ask it. What is not sure stays for the rules and the model (:mod:`.condense`).
"""

from __future__ import annotations

import re

from localcrag.crag.questions.query_terms import STOP_WORDS, folded

MAX_WORDS = 5
"""The most words that are put in the place of others."""
_PREPOSITIONS = "after|as|at|before|by|during|for|from|in|of|on|since|to|under|until|with|within"
_CONTINUED = re.compile(
    r"(?:(?:and|or|but|ok|so)[ ,]+)*(?:(?P<about>what|how) about )?(?P<rest>\S[^.?!]*?)\s*[?.!]*",
    re.IGNORECASE,
)
_JOINED = re.compile(r"(?:(?:but|ok|so)[ ,]+)*(?:and|or)\b", re.IGNORECASE)
_PLACED = re.compile(rf"(?P<preposition>{_PREPOSITIONS}) (?P<what>.+)", re.IGNORECASE)
_PHRASE = rf"(?P<what>[^,;:?.!]+?)(?= (?:{_PREPOSITIONS}) |[,;:]| ?[?.!]*$)"
"""What stands behind a preposition, up to the next one or the end."""
_NAME = re.compile(r"(?<!^)(?<![\w-])[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)*")
_BEHIND = re.compile(rf"\b(?:{_PREPOSITIONS})(?: the)? $", re.IGNORECASE)
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_ATTRIBUTE = re.compile(r"\bthe (?P<what>[a-z][\w-]*(?: [a-z][\w-]*)?)(?= of )")
_OF_THING = re.compile(r"the (?P<what>[a-z][\w-]*(?: [a-z][\w-]*)?)")
_THERE = re.compile(r"(?<!is )(?<!are )(?<!was )(?<!were )\bthere(?P<end>\s*[?.!]*)$", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:in|at|on) (?:the )?[A-ZÀ-Þ][\w'’-]*(?: [A-ZÀ-Þ][\w'’-]*)*")


def put_in_place(question: str, last: str) -> str:
    """The last question with what a follow-up puts in the place of a part of it; "" if it is not sure which.

    "And for adults?" takes the place of what stands behind the same preposition, a name that of a name, a
    year that of a year, and "and the price?" that of "the dose of …".

    Args:
        question: the follow-up.
        last: the question before it, as it was understood.
    """
    found = _CONTINUED.fullmatch(question.strip())
    if found is None or not (found["about"] or _JOINED.match(question.strip())):
        return ""
    rest = found["rest"]
    if len(rest.split()) > MAX_WORDS + 1:
        return ""
    if placed := _PLACED.fullmatch(rest):
        spans = _behind(placed["preposition"], last)
        return _replaced(last, spans[-1:], placed["what"])
    if _YEAR.fullmatch(rest):
        return _replaced(last, [match.span() for match in _YEAR.finditer(last)], rest)
    if _is_name(rest):
        names = [match.span() for match in _NAME.finditer(last) if folded(match[0]) not in STOP_WORDS]
        free = [span for span in names if not _BEHIND.search(last[: span[0]])]
        return _replaced(last, free or names, rest)
    if thing := _OF_THING.fullmatch(rest):
        return _replaced(last, [match.span("what") for match in _ATTRIBUTE.finditer(last)], thing["what"])
    return ""


def with_place(question: str, last: str) -> str:
    """A question whose "there" is the place of the question before it; the question itself without one."""
    places = _PLACE.findall(last)
    if len(places) != 1:
        return question
    return _THERE.sub(lambda found: f"{places[0]}{found['end']}", question)


def _behind(preposition: str, text: str) -> list[tuple[int, int]]:
    """The places of what stands behind a preposition in a text."""
    pattern = re.compile(rf"\b{preposition} {_PHRASE}", re.IGNORECASE)
    return [match.span("what") for match in pattern.finditer(text)]


def _is_name(text: str) -> bool:
    words = text.removeprefix("the ").split()
    return bool(words) and all(word[:1].isupper() or word.isdigit() for word in words) and text[0].isalpha()


def _replaced(text: str, spans: list[tuple[int, int]], new: str) -> str:
    """A text with another part in the one place that there is; "" if there is none, or several."""
    if len(spans) != 1:
        return ""
    [(start, end)] = spans
    return "" if folded(text[start:end]) == folded(new) else f"{text[:start]}{new}{text[end:]}"
