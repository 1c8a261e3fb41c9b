"""Questions for a place of an order, or its first places: "second highest", "top three by total".

Such a question is put as one for the most or the least, with the place and the number of places apart.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from localcrag.crag.table_answers.question_words import with_plain_wording
from localcrag.crag.table_answers.table_vocabulary import (
    LOW,
    ORDINAL_NUMBERS,
    SUPERLATIVES,
    TWO_WORDS,
    WORD_NUMBERS,
)

MAX_PLACES = 20
"""The most places that a question may ask for: the top 20."""
_NUMBER = rf"(?P<number>\d{{1,2}}|{'|'.join(WORD_NUMBERS)})"
_SIZES = "highest|largest|biggest|greatest|lowest|smallest"
_BEGIN = (
    r"(?:(?:please )?(?:what|which|who|list|show|give|name|tell)(?: me| us)?(?: (?:is|are|was|were))? )?"
    r"(?:the |our |my )?"
)
_BY = r",? (?:ranked by|by|in terms of|according to|measured by)(?: the| their)? (?P<measure>[^?;:]+?)"
_FIRST_BY = tuple(
    re.compile(rf"{_BEGIN}{first} (?P<what>[^?,;:]+?){_BY}\W*", re.IGNORECASE)
    for first in (
        rf"top {_NUMBER}",
        rf"{_NUMBER} (?P<size>{_SIZES}|top)",
        rf"(?P<size>{_SIZES}) {_NUMBER}",
    )
)
"""How a question asks for the first of an order that it names: "top three customers by total"."""
_FIRST_WITH = re.compile(
    rf"which {_NUMBER} (?P<what>[^?,;:]+?) (?:have|had|has) (?:the )?(?P<most>most|fewest|least|{_SIZES})"
    r" (?P<measure>[^?;:]+?)\W*",
    re.IGNORECASE,
)
"""How it asks for those with the most: "which two customers have the highest total"."""
_DIRECTION = (
    r"(?:,? (?:from )?(?P<from>highest|largest|most|lowest|smallest|least|fewest)(?: to [\w-]+| first))?"
)
_RANKED = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:please )?(?:rank|(?:order|sort)(?= (?:all|the|our|my)\b))(?: all)?(?: of)?(?: the| our| my)?"
        rf" (?P<what>[^?,;:]+?)"
        rf" by(?: the| their)? (?P<measure>[^?;:,]+?){_DIRECTION}\W*",
        rf"{_BEGIN}(?:all (?:the )?)?(?P<what>[^?,;:]+?) (?:ranked|ordered|sorted) by(?: the| their)?"
        rf" (?P<measure>[^?;:,]+?){_DIRECTION}\W*",
    )
)
"""How a question asks for all in an order."""
_PLACES = {
    **ORDINAL_NUMBERS,
    "2nd": "2",
    "3rd": "3",
    **{f"{number}th": str(number) for number in range(4, 11)},
}
_SUPERLATIVES = "|".join(
    (*TWO_WORDS, *(word for word in SUPERLATIVES if word not in ("last", "first", "top")))
)
_PLACE = re.compile(rf"\b(?P<place>{'|'.join(_PLACES)})[ -](?=(?:{_SUPERLATIVES})\b)", re.IGNORECASE)
"""How a question says which place is asked for: "the second highest"."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """The part of an order that is asked for: one place, or the first ``count`` places, all if that is 0."""

    place: int = 1
    count: int = 1


def plain_and_ranking(question: str) -> tuple[str, Ranking | None]:
    """A question in the plain wording of tables, and the part of an order that it asks for.

    Args:
        question: the question in English.
    """
    plain, ranking = without_ranking(question)
    plain = with_plain_wording(plain)
    return (plain, ranking) if ranking is not None else without_ranking(plain)


def without_ranking(question: str) -> tuple[str, Ranking | None]:
    """A question as one for the most or the least, and which part of the order it asks for.

    "Top three customers by total" is "which customers has the highest total", of which there are three.

    Args:
        question: the question in English.

    Returns:
        The question, as it is if it asks for no such part, and the part; None if it asks for none.
    """
    for pattern in (*_FIRST_BY, _FIRST_WITH):
        if (found := pattern.fullmatch(question.strip())) is not None:
            said = found.groupdict()
            number = said["number"].lower()
            count = WORD_NUMBERS.get(number) or int(number)
            most = (said.get("most") or _most_of(said.get("size") or "")).lower()
            if not 1 < count <= MAX_PLACES or _PLACE.search(question):
                return question, None
            return f"which {said['what']} has the {most} {said['measure']}", Ranking(count=count)
    for pattern in _RANKED:
        if (found := pattern.fullmatch(question.strip())) is not None:
            most = _most_of(found["from"] or "")
            return f"which {found['what']} has the {most} {found['measure']}", Ranking(count=0)
    places = list(_PLACE.finditer(question))
    if len(places) != 1:
        return question, None
    (found,) = places
    plain = f"{question[: found.start()]}{question[found.end() :]}"
    return plain, Ranking(place=int(_PLACES[found["place"].lower()]))


def _most_of(word: str) -> str:
    """The word for the end of the order that comes first."""
    direction, _ = SUPERLATIVES.get(word.lower(), ("", ""))
    return "lowest" if direction == LOW else "highest"


def place_words(place: int) -> str:
    """A place in words before a superlative: "second " of 2, "" of the first."""
    return next((f"{word} " for word, number in ORDINAL_NUMBERS.items() if number == str(place)), "")
