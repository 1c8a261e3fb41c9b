"""The words of a question over a table, and what limits the rows: numbers to compare, what is lacking."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal

from localcrag.crag.table_answers.season_years import SEASON_PATTERN
from localcrag.crag.table_answers.table_values import quantity, root
from localcrag.crag.table_answers.table_vocabulary import (
    AUXILIARIES,
    COMPARATIVES,
    COMPARATORS,
    FUNCTION_WORDS,
    NEGATIONS,
    PERIODS_BEHIND,
    PLURALS,
    SPENDING_VERBS,
    SPLIT_COMPARATORS,
    TEMPORAL_COMPARATORS,
    VERBS,
    WORD_NUMBERS,
)

_TOKEN = re.compile(
    rf"(?P<number>{SEASON_PATTERN}|[€$£]?\d+(?:[.,:]\d+)*(?: ?(?:%|[€$£]))?)(?![\w])"
    r"|(?P<word>[^\W_]+(?:['’.&+-][^\W_]+)*)|(?P<mark>[?!.;:,&/()]|\S)"
)

_CONTRACTION = re.compile(r"\b([^\W\d_]+)n['’]t\b", re.IGNORECASE)
_SHORT_IS = re.compile(r"\b(what|who|where|when)['’]s\b", re.IGNORECASE)
"""A word that asks with a shortened "is"."""
_SHORTENED = {"ca": "can", "wo": "will", "sha": "shall"}
"""What a verb is that a contraction shortens: "can't"."""
_FILE_NAME = re.compile(r"(?<![\w.-])[\w-]+\.[A-Za-z][A-Za-z0-9]{1,4}(?![\w-])")
"""The name of a file, which is one word."""
_MEANING = re.compile(r",? \bI mean\b,? ")
"""How a question goes on to say the same in other words."""
_TOPIC = re.compile(r"([^\W\d_][\w-]*(?: [\w-]+){0,2}): +(?=\S)")
"""How a question begins that says first what it is about."""
_ADDING = re.compile(r"\b(?:add|sum)(?:s|ed|med)? up to\b", re.IGNORECASE)
"""How a question asks for a sum with a verb."""
_ADD_WHAT = re.compile(r"(?:please )?(?:add|tot|total) up (?:what|how much) (?=\S)", re.IGNORECASE)
_ADD_THINGS = re.compile(
    r"(?:please )?(?:add|tot|total) up (?:all (?:of )?)?(?=(?:the|my|our|his|her|its|their)\b)", re.IGNORECASE
)
"""How a question begins that bids to add up: "add up what she was paid", "add up all her fees"."""
_ADD_ALL = re.compile(
    r"(?:please )?(?:add|count|tot|total) up (?:for (?:me|us) )?all (?:of )?"
    r"(?!(?:the|my|our|his|her|its|their)\b)",
    re.IGNORECASE,
)
"""How a question begins that bids to add up all of a kind: "add up for me all windows"."""
_BIDDING = re.compile(
    r"(?:please )?(?:add|calculate|count|find|tell|tot|work)\b[^:?!.]{0,40}: (?=(?:how|what|which|who)\b)",
    re.IGNORECASE,
)
"""What bids to count before a question that asks for a count: "Count for the report: how many"."""
_BIDDING_AFTER = re.compile(
    r"\?\s*(?:please )?(?:add (?:them|it|that) up|count(?: them)?|work it out)(?: please)?\W*$", re.IGNORECASE
)
"""What bids to do so behind it: "How many are there? Please count"."""
_BEFORE_HOW_MANY = re.compile(r"(?:at|during|for|from|in|of|on|to|with) (?=how many\b)", re.IGNORECASE)
"""What says of the rows that are counted how they are meant: "on how many days"."""
_HOW_OFTEN = re.compile(
    r"how (?:many times|often(?= (?:did|had|has|have|was|were)\b))(?! (?:as|more)\b)", re.IGNORECASE
)
"""How a question asks how many rows there are of what happened, and not for an interval: "is it cleaned"."""
_AT_PRESENT = re.compile(r"\bat (?:present|the moment)\b,?", re.IGNORECASE)
"""What says no more than "now"."""
_LEFT_OUT = re.compile(
    r"\s*\((?:without|not counting|excluding|except(?: for)?|leaving out) (?:the )?"
    r"(?P<what>[^\W\d_][\w -]*?)(?: ones?)?\)",
    re.IGNORECASE,
)
"""How a question says in parentheses which rows do not count: "(without the disputed one)"."""
_WITHOUT_TAX = re.compile(
    r",? (?:without|excluding|excl\.?|exclusive of|ex\.?|before|net of|not counting|ohne) (?:the )?"
    r"(?:vat|tax|taxes|mwst\.?|tva|iva)\b,?",
    re.IGNORECASE,
)
"""How a question says that it asks for net amounts."""
_SINGLE = re.compile(r"\b(?:single|individual) (?=(?:line|row|entry|item|position)s?\b)", re.IGNORECASE)
"""What says no more of a row than that it is one."""
_TOTAL_AT_END = re.compile(
    r"(?!(?:what|how|which|who|where|when|is|are|was|were|did|do|does|give|tell|show|list)\b)"
    r"(?P<what>[^?!.;:]+?),? (?:in total|total|altogether|all together)\W*",
    re.IGNORECASE,
)
"""A question of no sentence that says at its end that it asks for a sum: "VAT paid in May, total"."""
_END_OF_YEAR = re.compile(
    r"\b(?:the )?(?P<end>first|last) (?:three months|3 months|quarter) of (?P<year>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
"""The first or the last quarter of a year, in words."""
_PERIOD_OWNS = re.compile(
    r"\bthis (?P<period>year|quarter|month)['’]s (?P<what>[\w-]+(?: [\w-]+){0,2}?)"
    r"(?= (?:is|are|was|were|have|has|had)\b)",
    re.IGNORECASE,
)
"""How a question says of what a period has that it is of it: "this year's measurements are"."""
_PAST_LIGHT_VERBS = frozenset({"came", "went", "got", "gave", "fell"})
"""Verbs behind a noun that say no more than that there is such a thing: "lambs came out of it"."""
_NUMBER_OF = re.compile(
    r"\W*(?:(?:what(?: is|'s|’s)|give me|tell me) )?(?:the )?number of (?=(?:[\w-]+ ){0,3}?[\w-]+s\b)",
    re.IGNORECASE,
)
"""How a question begins that asks for a number with a noun: "number of chargers on Maui"."""
_OR_MORE = re.compile(
    r"(?P<number>[€$£]?\d+(?:[.,]\d+)*(?: ?%| (?!or\b)[^\W\d_]+)?) or"
    r" (?:(?P<more>more|higher|greater|larger|longer|older|above)|less|fewer|lower|shorter|younger|below)\b"
    r"(?! than\b)",
    re.IGNORECASE,
)
"""How a question compares with a number behind it: "60 or more", "11 hours or more"."""
_MAX_COMPARED_WORDS = 3
"""The most words that name a column between "fewer" and "than"."""
_DETERMINERS = frozenset({"the", "its", "their", "our", "a", "an"})
_STOCK_STATES = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), plain)
    for words, plain in (
        (
            r"out of stock|sold out|unavailable|not available|ausverkauft|vergriffen|épuisée?s?|agotad[oa]s?",
            "not in stock",
        ),
        (r"(?:to|must|should|needs?)(?: be)? (?:re-?order|restock)(?:ed|ing)?", "below the minimum"),
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
    the quantity that a comparative such as "longer" is about, or "". If it compares with a column, "below the
    minimum", it has no number, and ``bound`` are the places of the words that name the column; ``compared``
    are those of the other column if it is named within, "fewer in stock than the minimum".
    """

    sign: str
    number: Decimal | None
    unit: str
    before: int
    at: int
    about: str = ""
    temporal: bool = False
    bound: tuple[int, ...] = ()
    compared: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ColumnChange:
    """A change from one column to another whose names differ in one word; ``is_share`` says: in per cent."""

    first: str
    last: str
    is_share: bool


def with_plain_wording(question: str) -> str:
    """A question with "haven't" as "have not", with states of stock in one wording, and its topic at its end.

    "Sold out" is "not in stock", "to be reordered" is "below the minimum", and "budget: which line is the
    largest?" is "which line is the largest of the budget". "Add up what she earned" is "how much
    she earned in total", "add up all windows" is "how many windows in total", "tax of May, total" is "what is
    the total tax of May", "the last three months of 2025" is "Q4 2025", "this year's sales are" is "sales
    of this year are", "6 or more" is "at least 6", "without VAT" is "net", "the number of" is "how many", "on
    how many days" is "how many days", and "how often was" is "how many entries was".
    """
    question = _FILE_NAME.sub(lambda found: found[0].replace("_", "-"), question.strip())
    question = _SHORT_IS.sub(r"\1 is", _MEANING.sub(" ", question))
    question = _BIDDING_AFTER.sub("?", _BIDDING.sub("", _AT_PRESENT.sub("", question), count=1))
    question = _WITHOUT_TAX.sub(" net", _LEFT_OUT.sub(r" without \g<what>", question))
    if (found := _TOPIC.match(question)) is not None:
        question = f"{question[found.end() :].rstrip(' ?!.')} of the {found[1]}"
    if (found := _BEFORE_HOW_MANY.match(question)) is not None:
        question = question[found.end() :]
    if (found := _NUMBER_OF.match(question)) is not None:
        question = f"how many {question[found.end() :]}"
    if (found := _HOW_OFTEN.match(question)) is not None:
        question = f"how many entries{question[found.end() :]}"
    if (found := _ADD_WHAT.match(question)) is not None:
        question = f"how much {question[found.end() :].rstrip(' ?!.')} in total"
    elif (found := _ADD_ALL.match(question)) is not None:
        question = f"how many {question[found.end() :].rstrip(' ?!.')} in total"
    elif (found := _ADD_THINGS.match(question)) is not None:
        question = f"what is the total of {question[found.end() :]}"
    elif (found := _TOTAL_AT_END.fullmatch(question)) is not None:
        question = f"what is the total {found['what']}"
    question = _END_OF_YEAR.sub(
        lambda found: f"{'Q1' if found['end'].lower() == 'first' else 'Q4'} {found['year']}", question
    )
    question = _OR_MORE.sub(
        lambda found: f"at {'least' if found['more'] else 'most'} {found['number']}", question
    )
    question = _PERIOD_OWNS.sub(r"\g<what> of this \g<period>", question)
    question = _ADDING.sub("amount to", _SINGLE.sub("", question))
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
    """The comparisons with numbers or columns, whose tokens are accounted for; None if one has neither."""
    found: list[NumberCondition] = []
    words = [token.low for token in tokens]
    at = 0
    while at < len(words):
        sign, length, about, temporal = _comparator(words, at)
        if not sign and (split := _split_comparison(tokens, at)):
            found.append(split)
            at = split.at
            continue
        if not sign:
            at += 1
            continue
        number = number_at(tokens, at + length)
        if number is None and not temporal and (bound := _bound_at(tokens, at + length)):
            end = bound[-1] + 1
            take(tokens, at, end - at)
            found.append(NumberCondition(sign, None, "", at, end, about, bound=bound))
            at = end
            continue
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


def _split_comparison(tokens: list[QuestionToken], at: int) -> NumberCondition | None:
    """The comparison of two columns that begins at a word, "fewer in stock than the minimum"; None if none.

    Its comparing words are accounted for, and the words within it are if they say nothing by themselves.
    """
    sign = SPLIT_COMPARATORS.get(tokens[at].low, "")
    behind = [token.low for token in tokens[at + 1 : at + _MAX_COMPARED_WORDS + 2]] if sign else []
    if "than" not in behind[1:]:
        return None
    than = at + 1 + behind.index("than")
    compared = tuple(n for n in range(at + 1, than) if tokens[n].low not in FUNCTION_WORDS)
    bound = _bound_at(tokens, than + 1)
    is_named = compared and not any(tokens[n].low in VERBS or tokens[n].is_number for n in compared)
    if not bound or not is_named or number_at(tokens, than + 1) is not None:
        return None
    end = bound[-1] + 1
    take(tokens, at, 1)
    take(tokens, than, end - than)
    return NumberCondition(sign, None, "", at, end, bound=bound, compared=compared)


def _bound_at(tokens: list[QuestionToken], at: int) -> tuple[int, ...]:
    """The places of the words that may name a column to compare with, from a place on; none otherwise."""
    while at < len(tokens) and tokens[at].low in _DETERMINERS:
        at += 1
    return tuple(noun_phrase(tokens, at))


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


def names_period(words: Sequence[str], at: int) -> bool:
    """Whether a word says which time is meant: "first quarter", "last June", but not "the last month"."""
    if words[at] == "last" and words[max(0, at - 1)] == "the":
        return False
    return not PERIODS_BEHIND.get(words[at], frozenset()).isdisjoint(words[at + 1 : at + 2])


def noun_phrase(tokens: list[QuestionToken], at: int) -> list[int]:
    """The places of the tokens from one on, up to a verb, a preposition or a comparison."""
    places: list[int] = []
    while at < len(tokens) and tokens[at].low not in FUNCTION_WORDS | VERBS and not tokens[at].used:
        places.append(at)
        at += 1
    return places


def without_participle(tokens: list[QuestionToken], subject: list[int]) -> list[int]:
    """A noun phrase without the participle that ends it: "windows facing the quay", "clubs played"."""
    following = [token.low for token in tokens[subject[-1] + 1 : subject[-1] + 2]] if len(subject) > 1 else []
    noun, verb = (tokens[at].low for at in subject[-2:]) if len(subject) > 1 else ("", "")
    is_past = verb.endswith("ed") or verb in _PAST_LIGHT_VERBS
    if is_past and (noun in PLURALS or noun.endswith("s")):
        return subject[:-1]
    is_participle = bool(_DETERMINERS.intersection(following)) and tokens[subject[-1]].low.endswith("ing")
    return subject[:-1] if is_participle else subject


def spending_verbs(tokens: list[QuestionToken]) -> Iterator[int]:
    """The places of the verbs that are about money that someone spent, claimed or the like."""
    after_auxiliary = False
    for at, token in enumerate(tokens):
        if token.root in (root("spend"), root("pay")) or (after_auxiliary and token.low in SPENDING_VERBS):
            yield at
        after_auxiliary = after_auxiliary or token.low in AUXILIARIES
