"""Questions over a table that code can answer: how many, which has the most, what is the total.

:func:`recognised` reads the form of a question, in English or in a language that is put into English
(:mod:`.foreign_wording`), from its words alone; whether a table has the columns and values that it names is
for :mod:`.table_matching`. It refuses what it does not understand: a negation, alternatives, two of "most"
and "least" in one question, a comparison by group.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal

from localcrag.crag.table_answers.foreign_wording import in_english
from localcrag.crag.table_answers.table_values import quantity, root
from localcrag.crag.table_answers.table_vocabulary import (
    COMPARATIVES,
    COMPARATORS,
    FUNCTION_WORDS,
    GENERIC_ABOUT,
    HIGH,
    LIGHT_VERBS,
    NEGATIONS,
    SUPERLATIVES,
    TEMPORAL_COMPARATORS,
    TOTAL_PHRASES,
    TWO_WORDS,
    UNSUPPORTED,
    VERBS,
    WORD_NUMBERS,
)
from localcrag.types import Aggregate

_TOKEN = re.compile(
    r"(?P<number>[€$£]?\d+(?:[.,:]\d+)*(?: ?(?:%|[€$£]))?)(?![\w])"
    r"|(?P<word>[^\W_]+(?:['’.&+-][^\W_]+)*)|(?P<mark>[?!.;:,&/()]|\S)"
)
MAX_WORDS = 40
"""The most words of a question over a table; a longer one says more than a table does."""
MAX_RANKED = 20
"""The most rows that a question may ask for: the top 20."""


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


@dataclass(slots=True)
class TableQuestion:
    """The form of a question over a table.

    ``subject`` are the places of the tokens that name what is counted, or which one is asked for. ``about``
    is the quantity that a superlative is about, "" for "most" and the like, and ``count`` the number of rows
    that are asked for. ``highest`` says which end is asked for. ``asking`` is the word that asks, and
    ``superlative`` the words for the most.
    """

    tokens: list[QuestionToken]
    operation: Aggregate
    subject: list[int] = field(default_factory=list)
    about: str = ""
    highest: bool = True
    count: int = 1
    superlative: str = ""
    asking: str = ""
    distinct: bool = False
    in_total: bool = False
    conditions: list[NumberCondition] = field(default_factory=list)
    spending: bool = False

    @property
    def says_has(self) -> bool:
        """Whether it asks what something has, and not what it is."""
        return any(token.low in LIGHT_VERBS.union(("has", "have", "had")) for token in self.tokens)

    def open_tokens(self) -> list[int]:
        """The places of the tokens that are not accounted for."""
        return [at for at, token in enumerate(self.tokens) if not token.used]


def recognised(question: str) -> TableQuestion | None:
    """The form of a question over a table; None for a question of another form, or one that is not clear."""
    tokens = _tokens(in_english(question))
    if not tokens or len(tokens) > MAX_WORDS:
        return None
    words = [token.low for token in tokens]
    if any(_is_unsupported(word) for word in words):
        return None
    conditions = _conditions(tokens)
    if conditions is None:
        return None
    if NEGATIONS & {token.low for token in tokens if not token.used}:
        return None
    found = _counted(tokens) or _extreme(tokens) or _summed(tokens)
    if found is None:
        return None
    found.conditions = conditions
    for token in tokens:
        token.used = token.used or token.low in FUNCTION_WORDS
    return found


def _tokens(question: str) -> list[QuestionToken]:
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


def _is_unsupported(word: str) -> bool:
    return word in UNSUPPORTED or word.endswith(("n't", "n’t"))


def _take(tokens: list[QuestionToken], start: int, length: int) -> None:
    """Mark tokens as accounted for."""
    for token in tokens[start : start + length]:
        token.used = True


def _conditions(tokens: list[QuestionToken]) -> list[NumberCondition] | None:
    """The comparisons with numbers, whose tokens are then accounted for; None if one has no number."""
    found: list[NumberCondition] = []
    words = [token.low for token in tokens]
    at = 0
    while at < len(words):
        sign, length, about, temporal = _comparator(words, at)
        if not sign:
            at += 1
            continue
        number = _number(tokens, at + length)
        if number is None:
            if length > 1 or about or words[at] in ("over", "above", "below", "under", "exactly"):
                return None
            at += 1
            continue
        value, unit, taken = number
        end = at + length + taken
        _take(tokens, at, length + taken)
        found.append(NumberCondition(sign, value, unit, at, end, about, temporal))
        at = end
    return found


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


def _number(tokens: list[QuestionToken], at: int) -> tuple[Decimal, str, int] | None:
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


def _counted(tokens: list[QuestionToken]) -> TableQuestion | None:
    """The form of "how many …"; None for another form."""
    words = [token.low for token in tokens]
    if words[:2] != ["how", "many"] or _superlatives(tokens):
        return None
    _take(tokens, 0, 2)
    at, distinct = 2, False
    while at < len(words) and words[at] in ("different", "distinct", "of", "the"):
        distinct = distinct or words[at] in ("different", "distinct")
        tokens[at].used = True
        at += 1
    subject = _noun_phrase(tokens, at)
    in_total = _take_total_phrase(tokens)
    return TableQuestion(
        tokens, Aggregate.COUNT, subject, asking="how many", distinct=distinct, in_total=in_total
    )


def _noun_phrase(tokens: list[QuestionToken], at: int) -> list[int]:
    """The places of the tokens from one on, up to a verb, a preposition or a comparison."""
    places: list[int] = []
    while at < len(tokens) and tokens[at].low not in FUNCTION_WORDS | VERBS and not tokens[at].used:
        places.append(at)
        at += 1
    return places


def _take_total_phrase(tokens: list[QuestionToken]) -> bool:
    """Whether the question says "in total" or the like, which is then accounted for."""
    words = [token.low for token in tokens]
    for phrase in TOTAL_PHRASES:
        for at in range(len(words) - len(phrase) + 1):
            if tuple(words[at : at + len(phrase)]) == phrase:
                _take(tokens, at, len(phrase))
                return True
    return False


def _superlatives(tokens: list[QuestionToken]) -> list[tuple[int, int, str, str]]:
    """The superlatives: the place and the number of words of each, its direction and what it is about."""
    words = ["" if token.used else token.low for token in tokens]
    found: list[tuple[int, int, str, str]] = []
    at = 0
    while at < len(words):
        if pair := TWO_WORDS.get(" ".join(words[at : at + 2])):
            found.append((at, 2, *pair))
            at += 2
            continue
        if one := SUPERLATIVES.get(words[at]):
            found.append((at, 1, *one))
        at += 1
    return found


def _extreme(tokens: list[QuestionToken]) -> TableQuestion | None:
    """The form of "which … has the most …" and "what is the highest …"; None for another form."""
    words = [token.low for token in tokens]
    found = _superlatives(tokens)
    if len(found) != 1 or words[0] not in (
        "which",
        "who",
        "what",
        "when",
        "where",
        "list",
        "name",
        "show",
        "give",
        "at",
        "in",
        "on",
    ):
        return None
    (at, length, direction, about), *_ = found
    asking = next((word for word in words[:2] if word in ("which", "who", "what", "when", "where")), "list")
    superlative = " ".join(words[at : at + length])
    _take(tokens, at, length)
    count = 1
    for beside in (at - 1, at + length):
        if 0 <= beside < len(tokens) and not tokens[beside].used:
            number = _number(tokens, beside)
            if number and number[1] == "" and number[0] == int(number[0]) and 1 < number[0] <= MAX_RANKED:
                count = int(number[0])
                tokens[beside].used = True
                break
    _take_number_of(tokens, at + length)
    if superlative == "top" and count == 1:
        return None
    begin = words.index(asking) + 1 if asking in ("which", "what") else at + length
    if count == 1 and begin < len(tokens) and (said := WORD_NUMBERS.get(words[begin])):
        count = said
        tokens[begin].used = True
        begin += 1
    subject = _noun_phrase(tokens, begin)
    operation = Aggregate.HIGHEST if direction == HIGH else Aggregate.LOWEST
    if about in ("age", "time"):
        operation = Aggregate.LATEST if direction == HIGH else Aggregate.EARLIEST
    return TableQuestion(
        tokens,
        operation,
        subject,
        about,
        highest=direction == HIGH,
        count=count,
        superlative=superlative,
        asking=asking,
    )


def _take_number_of(tokens: list[QuestionToken], at: int) -> None:
    """Account for "number of" or "amount of" at a place."""
    if [token.low for token in tokens[at : at + 2]] in (["number", "of"], ["amount", "of"]):
        _take(tokens, at, 2)


def generic_about(superlative: str) -> str:
    """What a word such as "highest" is about if the question names no column; "" for "most"."""
    return GENERIC_ABOUT.get(superlative, "")


def _summed(tokens: list[QuestionToken]) -> TableQuestion | None:
    """The form of "what is the total …", "what is the average …" and "how much did we spend …"."""
    words = [token.low for token in tokens]
    if _superlatives(tokens):
        return None
    averages = [at for at, word in enumerate(words) if word in ("average", "mean")]
    totals = [at for at, word in enumerate(words) if word in ("total", "sum")]
    much = words[:2] == ["how", "much"]
    if len(averages) + len(totals) > 1 or words[0] not in ("what", "how", "give", "tell", "show"):
        return None
    if averages and words[0] != "how":
        _take(tokens, averages[0], 1)
        _take_number_of(tokens, averages[0] + 1)
        return TableQuestion(tokens, Aggregate.AVERAGE, asking="what")
    if totals and words[0] != "how":
        _take(tokens, totals[0], 1)
        _take_number_of(tokens, totals[0] + 1)
        return TableQuestion(tokens, Aggregate.TOTAL, asking="what", in_total=True)
    spending = [at for at, token in enumerate(tokens) if token.root in (root("spend"), root("pay"))]
    if much and len(spending) == 1:
        in_total = _take_total_phrase(tokens)
        return TableQuestion(
            tokens, Aggregate.TOTAL, subject=spending, asking="how much", in_total=in_total, spending=True
        )
    return None
