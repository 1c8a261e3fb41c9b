"""Numbers that a text only has as values which are allowed, of a choice that is written as in a grammar.

"number-up={2|4|6}: prints 2, 4, or 6 pages on a sheet" does not tell how to print the pages from 2 to 4.
"""

from __future__ import annotations

import re

from localcrag.crag.questions.query_terms import terms

_VALUE = r"[\w.%+-]{1,20}"
_ENUMERATED = r"\d+(?:, ?\d+)+(?:,? (?:or|and|oder|und) \d+)?|\d+ (?:or|oder) \d+"
_GRAMMAR = re.compile(
    rf"[{{\[(<]? ?{_VALUE}(?: ?\| ?{_VALUE})+ ?[}}\])>]?|[{{\[] ?\d+(?:, ?\d+)+ ?[}}\]]"
    r"|(?<=\bone of )(?:\w+ )?"
    rf"(?:{_ENUMERATED})|(?<=\bvalues are )(?:{_ENUMERATED})|(?<=\bvalues: )(?:{_ENUMERATED})",
    re.IGNORECASE,
)
"""A choice: "{2|4|6}", "[1,2,4]", "one of 1, 2 or 4", "allowed values are 1 and 2"."""
_ENUMERATION = re.compile(rf"(?<![\w.,])(?:{_ENUMERATED})(?![\w])")
_NUMBER = re.compile(r"\d+")
_KEY = re.compile(r"([\w-]+)(?: ?[=:]| (?:is|must be|one of|may be|can be|values are|values:))? ?$")
"""What the values are of, in front of a choice: "number-up="."""
_COUNTED = re.compile(r"(?<![\w.,])(\d+)[ -]([^\W\d_]+)")


def without_allowed_values(told: str, question: str) -> str:
    """A text without the numbers of its choices, and of sentences that say the same values again.

    A number stays if the question counts with it what the text speaks of ("4 pages on a sheet"), or names
    what the values are of ("number-up 4").

    Args:
        told: the text.
        question: the question.
    """
    choices = list(_GRAMMAR.finditer(told))
    sets = [set(_NUMBER.findall(choice[0])) for choice in choices]
    if not any(sets):
        return told
    spoken_of, asked = terms(told), set(re.findall(r"[\w-]+", question.casefold()))
    counted = {number for number, what in _COUNTED.findall(question) if terms(what) & spoken_of}
    repeated = [
        found
        for found in _ENUMERATION.finditer(told)
        if set(_NUMBER.findall(found[0])) in sets and not any(_meet(found, choice) for choice in choices)
    ]
    named = any(
        key and key[1].casefold() in asked for key in (_KEY.search(told, 0, c.start()) for c in choices)
    )
    for found in sorted([*choices, *repeated], reverse=True, key=re.Match.span):
        numbers = _NUMBER.findall(found[0])
        kept = numbers if named else [number for number in numbers if number in counted]
        told = f"{told[: found.start()]} {' '.join(kept)} {told[found.end() :]}"
    return told


def _meet(one: re.Match[str], other: re.Match[str]) -> bool:
    """Whether two places of a text share a character."""
    return one.start() < other.end() and other.start() < one.end()
