"""The words of a question over a table, and what limits the rows: numbers to compare, what is lacking."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from localcrag.crag.table_answers.table_values import quantity, root
from localcrag.crag.table_answers.table_vocabulary import (
    COMPARATIVES,
    COMPARATORS,
    FUNCTION_WORDS,
    NEGATIONS,
    TEMPORAL_COMPARATORS,
    VERBS,
    WORD_NUMBERS,
)

_TOKEN = re.compile(
    r"(?P<number>[€$£]?\d+(?:[.,:]\d+)*(?: ?(?:%|[€$£]))?)(?![\w])"
    r"|(?P<word>[^\W_]+(?:['’.&+-][^\W_]+)*)|(?P<mark>[?!.;:,&/()]|\S)"
)

_CONTRACTION = re.compile(r"\b([^\W\d_]+)n['’]t\b", re.IGNORECASE)
_SHORTENED = {"ca": "can", "wo": "will", "sha": "shall"}
"""What a verb is that a contraction shortens: "can't"."""
_STOCK_STATES = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), plain)
    for words, plain in (
        (
            r"out of stock|sold out|unavailable|not available|ausverkauft|vergriffen|épuisée?s?|agotad[oa]s?",
            "not in stock",
        ),
        (r"available|vorrätig|verfügbar|lieferbar|disponibles?|(?:in|auf|am) lager", "in stock"),
    )
)
"""Words for what is in stock and what is not, in English, German, French and Spanish."""


@dataclass(slots=True)
class QuestionToken:
    """A word or a number of a question; ``used`` says that it is accounted for."""

    text: str
    root: str
    is_number: bool = False
    used: bool = False

    @property
    def low(self) -> str:
        """The word in lower case."""
        return self.text.lower()


@dataclass(frozen=True, slots=True)
class NumberCondition:
    """A comparison with a number: its sign, the number with its unit, and where it stands in the question.

    ``at`` is the place of the first token after it, ``before`` that of the first one of it. ``about`` is
    the quantity that a comparative such as "longer" is about, or "".
    """

    sign: str
    number: Decimal
    unit: str
    before: int
    at: int
    about: str = ""
    temporal: bool = False


def with_plain_negations(question: str) -> str:
    """A question with "haven't" as "have not", and with "sold out" and the like as "not in stock"."""
    question = _CONTRACTION.sub(lambda found: f"{_SHORTENED.get(found[1].lower(), found[1])} not", question)
    for pattern, plain in _STOCK_STATES:
        question = pattern.sub(plain, question)
    return question


def tokens_of(question: str) -> list[QuestionToken]:
    """The words and numbers of a question, which ends at its first mark; none if something follows it."""
    tokens: list[QuestionToken] = []
    ended = False
    for match in _TOKEN.finditer(question.strip()):
        if match["mark"]:
            ended = ended or match["mark"] in "?!.;:"
            if match["mark"] in "()/":
                return []
            continue
        if ended:
            return []
        text = match["number"] or match["word"]
        tokens.append(QuestionToken(text, root(text), is_number=bool(match["number"])))
    return tokens


def take(tokens: list[QuestionToken], start: int, length: int) -> None:
    """Mark tokens as accounted for."""
    for token in tokens[start : start + length]:
        token.used = True


def number_conditions(tokens: list[QuestionToken]) -> list[NumberCondition] | None:
    """The comparisons with numbers, whose tokens are then accounted for; None if one has no number."""
    found: list[NumberCondition] = []
    words = [token.low for token in tokens]
    at = 0
    while at < len(words):
        sign, length, about, temporal = _comparator(words, at)
        if not sign:
            at += 1
            continue
        number = number_at(tokens, at + length)
        if number is None:
            if length > 1 or about or words[at] in ("over", "above", "below", "under", "exactly"):
                return None
            at += 1
            continue
        value, unit, taken = number
        end = at + length + taken
        take(tokens, at, length + taken)
        found.append(NumberCondition(sign, value, unit, at, end, about, temporal))
        at = end
    return found


def lacking_of(tokens: list[QuestionToken]) -> list[int]:
    """The places of what follows the one "no" or "without", which is then accounted for; none otherwise."""
    found = [at for at, token in enumerate(tokens) if token.low in ("no", "without") and not token.used]
    if len(found) != 1:
        return []
    start = found[0] + 1
    while start < len(tokens) and tokens[start].low in ("a", "an", "any"):
        start += 1
    places = noun_phrase(tokens, start)
    if places:
        take(tokens, found[0], 1)
    return places


def negation_of(tokens: list[QuestionToken]) -> int:
    """The place of the one "not", which is then accounted for; -1 if there is none or more than one."""
    negations = [at for at, token in enumerate(tokens) if token.low in NEGATIONS and not token.used]
    if len(negations) != 1 or tokens[negations[0]].low != "not":
        return -1
    take(tokens, negations[0], 1)
    return negations[0]


def _comparator(words: list[str], at: int) -> tuple[str, int, str, bool]:
    """The sign of the comparison that begins at a word, its number of words, and what it is about."""
    for sign, phrase in COMPARATORS:
        if words[at : at + len(phrase)] == phrase:
            return sign, len(phrase), "", False
    if words[at] in COMPARATIVES and words[at + 1 : at + 2] == ["than"]:
        sign, about = COMPARATIVES[words[at]]
        return sign, 2, about, False
    if words[at] in TEMPORAL_COMPARATORS:
        return TEMPORAL_COMPARATORS[words[at]], 1, "", True
    return "", 0, "", False


def number_at(tokens: list[QuestionToken], at: int) -> tuple[Decimal, str, int] | None:
    """The number that begins at a token, its unit, and how many tokens it has."""
    if at >= len(tokens):
        return None
    if not tokens[at].is_number:
        word = WORD_NUMBERS.get(tokens[at].low) or {"one": 1, "zero": 0}.get(tokens[at].low)
        return None if word is None else (Decimal(word), "", 1)
    found = quantity(tokens[at].text)
    if found is None:
        return None
    value, unit = found
    following = tokens[at + 1].low if at + 1 < len(tokens) else ""
    if not unit and following in ("million", "billion"):
        return value, following, 2
    return value, unit, 1


def noun_phrase(tokens: list[QuestionToken], at: int) -> list[int]:
    """The places of the tokens from one on, up to a verb, a preposition or a comparison."""
    places: list[int] = []
    while at < len(tokens) and tokens[at].low not in FUNCTION_WORDS | VERBS and not tokens[at].used:
        places.append(at)
        at += 1
    return places
