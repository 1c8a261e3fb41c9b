"""Questions over a table that code can answer: how many, which has the most, what is the total.

:func:`recognised` reads the form of a question, in English or in a language that is put into English
(:mod:`.foreign_wording`), from its words alone; whether a table has the columns and values that it names is
for :mod:`.table_matching`. It refuses what it does not understand: alternatives, two of "most" and "least" in
one question, a comparison by group, a negation in a question that neither counts nor lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from localcrag.crag.table_answers.foreign_wording import in_english
from localcrag.crag.table_answers.question_words import (
    ColumnChange,
    NumberCondition,
    QuestionToken,
    lacking_of,
    names_period,
    negation_of,
    noun_phrase,
    number_at,
    number_conditions,
    spending_verbs,
    take,
    tokens_of,
    with_plain_wording,
    without_participle,
)
from localcrag.crag.table_answers.rank_wording import MAX_PLACES, plain_and_ranking
from localcrag.crag.table_answers.table_values import root, word_list
from localcrag.crag.table_answers.table_vocabulary import (
    AUXILIARIES,
    FUNCTION_WORDS,
    GENERIC_ABOUT,
    HIGH,
    LIGHT_VERBS,
    NEGATIONS,
    PLURALS,
    ROW_NAMES,
    SUPERLATIVES,
    TOTAL_PHRASES,
    TWO_WORDS,
    UNSUPPORTED,
    VERBS,
    WORD_NUMBERS,
)
from localcrag.types import Aggregate, Passage

MAX_WORDS = 40
"""The most words of a question over a table; a longer one says more than a table does."""

_BEFORE_MOST = frozenset(word_list("which who what when where list name show give at in on"))
"""How a question begins that asks for the most or the least."""
_OF_THEM = frozenset(word_list("the these those our my your"))
"""How "which of the copiers" goes on before what is asked about."""
_FINAL_PHRASES = (("in", "the", "end"), ("finally",), ("eventually",))
"""How a question says that it asks for what something cost at last."""
_ADDING_PHRASES = (("amount", "to"),)
"""How a question says with a verb that it asks for a sum; see :func:`.question_words.with_plain_wording`."""


@dataclass(slots=True)
class TableQuestion:
    """The form of a question over a table.

    ``subject`` are the places of the tokens that name what is counted, or which one is asked for. ``about``
    is the quantity that a superlative is about, "" for "most" and the like, and ``count`` the number of rows
    that are asked for. ``highest`` says which end is asked for. ``asking`` is the word that asks, and
    ``superlative`` the words for the most. ``lacking`` are the places of what a row has not: "no receipt".
    ``listing`` says that what would be counted is to be named: "which risks does she own". ``negation`` is
    the place of its "not", -1 if it has none. ``costing`` is "total" or "final" if it asks what something
    cost in total or in the end, "sum" if it asks what things add up to, "moved" if it asks how much came or
    went, else "". ``change`` is what it asks for the most of, if that is a change from one column to another,
    and ``beside`` the passages that may say what the codes of a table mean. ``of_rows`` says that it counts
    rows by that name: "how many records". ``measured`` is added up, ``grouped`` tells groups apart.
    ``is_lenient`` says that words may be left out which stand nowhere in the table.
    ``place`` is the place asked for, 2 of the second highest; ``count`` is 0 if all rows are put in order.
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
    lacking: list[int] = field(default_factory=list)
    listing: bool = False
    negation: int = -1
    costing: str = ""
    change: ColumnChange | None = None
    beside: Sequence[Passage] = ()
    of_rows: bool = False
    measured: str = ""
    grouped: str = ""
    is_lenient: bool = False
    place: int = 1

    @property
    def says_has(self) -> bool:
        """Whether it asks what something has, and not what it is."""
        return any(token.low in LIGHT_VERBS.union(("has", "have", "had")) for token in self.tokens)

    def open_tokens(self) -> list[int]:
        """The places of the tokens that are not accounted for."""
        return [at for at, token in enumerate(self.tokens) if not token.used]


def recognised(question: str) -> TableQuestion | None:
    """The form of a question over a table; None for a question of another form, or one that is not clear."""
    plain, ranking = plain_and_ranking(in_english(question))
    tokens = tokens_of(plain)
    if not tokens or len(tokens) > MAX_WORDS:
        return None
    words = [token.low for token in tokens]
    if not UNSUPPORTED.isdisjoint(words):
        return None
    conditions = number_conditions(tokens)
    if conditions is None:
        return None
    lacking, negation = lacking_of(tokens), negation_of(tokens)
    if NEGATIONS & {token.low for token in tokens if not token.used}:
        return None
    found = _counted(tokens) or _listed(tokens)
    if found is None and negation < 0:
        found = _extreme(tokens) or _summed(tokens)
    if found is None and (negation >= 0 or lacking):
        found = _listed_persons(tokens)
    if found is None or (ranking is not None and not found.superlative):
        return None
    found.conditions, found.lacking, found.negation = conditions, lacking, negation
    if ranking is not None:
        found.count, found.place = ranking.count, ranking.place
    for token in tokens:
        token.used = token.used or (token.low in FUNCTION_WORDS and token.text != "May")
    if found.listing and not (conditions or lacking or set(found.open_tokens()) - set(found.subject)):
        return None
    return found


def moved_question(question: str) -> TableQuestion | None:
    """The form of "how much did we carry to the bank"; None for another question.

    It asks for what many a sentence tells, so only rows of one column of amounts answer it, and the answer is
    to be checked.
    """
    tokens = tokens_of(with_plain_wording(in_english(question)))
    words = [token.low for token in tokens]
    is_past = not (AUXILIARIES - {"do", "does"}).isdisjoint(words) or not {"went", "came"}.isdisjoint(words)
    refused = UNSUPPORTED | NEGATIONS | {"or", "and", "per"}
    if words[:2] != ["how", "much"] or not is_past or len(words) > MAX_WORDS or refused & set(words):
        return None
    if _superlatives(tokens) or number_conditions(tokens):
        return None
    take(tokens, 0, 2)
    for token in tokens:
        token.used = token.used or (token.low in FUNCTION_WORDS and token.text != "May")
    return TableQuestion(tokens, Aggregate.TOTAL, asking="how much", in_total=True, costing="moved")


def asks_for_rows(question: str) -> bool:
    """Whether a question asks for rows of a table, or for what code computes of them, understood or not.

    "Which items went over the budget?" does, though no code compares two columns.
    """
    if recognised(question) is not None:
        return True
    tokens = tokens_of(with_plain_wording(in_english(question)))
    listed = _listed(tokens) if 0 < len(tokens) <= MAX_WORDS else None
    if listed is None:
        return False
    said = [at for at, token in enumerate(tokens) if not token.used and token.low not in FUNCTION_WORDS]
    return bool(set(said) - set(listed.subject))


def _counted(tokens: list[QuestionToken]) -> TableQuestion | None:
    """The form of "how many …"; None for another form."""
    words = [token.low for token in tokens]
    if words[:2] != ["how", "many"] or _superlatives(tokens):
        return None
    take(tokens, 0, 2)
    at, distinct = 2, False
    while at < len(words) and words[at] in ("different", "distinct", "of", "the"):
        distinct = distinct or words[at] in ("different", "distinct")
        tokens[at].used = True
        at += 1
    subject = without_participle(tokens, noun_phrase(tokens, at))
    in_total = _says_total(tokens) or _take_phrase(tokens, _ADDING_PHRASES)
    of_rows = not subject and not ROW_NAMES.isdisjoint(words[at : at + 1])
    return TableQuestion(
        tokens,
        Aggregate.COUNT,
        subject,
        asking="how many",
        distinct=distinct,
        in_total=in_total,
        of_rows=of_rows,
    )


def _listed(tokens: list[QuestionToken]) -> TableQuestion | None:
    """The form of "which risks does she own" and "which boxes are open"; None for another form.

    It is none of a question that asks for a single thing, nor of "what" before another verb: "what tools are
    needed to change a wheel" asks for no rows.
    """
    subject = noun_phrase(tokens, 1)
    if tokens[0].low not in ("which", "what") or not subject or _superlatives(tokens):
        return None
    plurals = [at for at in subject if _is_plural(tokens[at].low)]
    following = [token.low for token in tokens[subject[-1] + 1 :]]
    if not plurals and following[:1] and following[0] in ("are", "were", "have"):
        plurals = subject[-1:]
    asks_whose = following[:1] and following[0] in ("do", "does", "did")
    if not plurals or not (asks_whose or tokens[0].low == "which"):
        return None
    take(tokens, 0, 1)
    return TableQuestion(
        tokens, Aggregate.COUNT, subject[: subject.index(plurals[-1]) + 1], asking="which", listing=True
    )


def _is_plural(word: str) -> bool:
    return (word.endswith("s") and not word.endswith("ss")) or word in PLURALS


def _listed_persons(tokens: list[QuestionToken]) -> TableQuestion | None:
    """The form of "who has not paid the fee", of whose negation is known; None for another form."""
    following = [token.low for token in tokens[1:2]]
    if tokens[0].low != "who" or not following or following[0] not in VERBS or _superlatives(tokens):
        return None
    take(tokens, 0, 1)
    return TableQuestion(tokens, Aggregate.COUNT, asking="who", listing=True)


def _take_phrase(tokens: list[QuestionToken], phrases: Sequence[tuple[str, ...]]) -> bool:
    """Whether the question has one of some phrases, which is then accounted for."""
    words = [token.low for token in tokens]
    for phrase in phrases:
        for at in range(len(words) - len(phrase) + 1):
            if tuple(words[at : at + len(phrase)]) == phrase:
                take(tokens, at, len(phrase))
                return True
    return False


def _says_total(tokens: list[QuestionToken]) -> bool:
    """Whether a question says "in total" or the like, or ends with "together"; that is accounted for."""
    if tokens[-1].low == "together":
        _take_phrase(tokens, (("all", "together"),))
        tokens[-1].used = True
        return True
    return _take_phrase(tokens, TOTAL_PHRASES)


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
        if (one := SUPERLATIVES.get(words[at])) and not names_period(words, at):
            found.append((at, 1, *one))
        at += 1
    return found


def _extreme(tokens: list[QuestionToken]) -> TableQuestion | None:
    """The form of "which … has the most …" and "what is the highest …"; None for another form."""
    words = [token.low for token in tokens]
    found = _superlatives(tokens)
    if len(found) != 1 or not (_begins_with_most(words, found[0][0]) or words[0] in _BEFORE_MOST):
        return None
    (at, length, direction, about), *_ = found
    asking = next((word for word in words[:2] if word in ("which", "who", "what", "when", "where")), "list")
    superlative = " ".join(words[at : at + length])
    take(tokens, at, length)
    count = 1
    for beside in (at - 1, at + length):
        if 0 <= beside < len(tokens) and not tokens[beside].used:
            number = number_at(tokens, beside)
            if number and number[1] == "" and number[0] == int(number[0]) and 1 < number[0] <= MAX_PLACES:
                count = int(number[0])
                tokens[beside].used = True
                break
    _take_number_of(tokens, at + length)
    if superlative == "top" and count == 1:
        return None
    begin = words.index(asking) + 1 if asking in ("which", "what") else at + length
    if words[begin : begin + 1] == ["of"] and words[begin + 1 : begin + 2] and words[begin + 1] in _OF_THEM:
        begin += 2
    if count == 1 and begin < len(tokens) and (said := WORD_NUMBERS.get(words[begin])):
        count = said
        tokens[begin].used = True
        begin += 1
    subject = _without_verb(tokens, noun_phrase(tokens, begin))
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


def _begins_with_most(words: Sequence[str], at: int) -> bool:
    """Whether a question begins with the superlative at a place: "oldest tree", "the most expensive one"."""
    is_first = at == 0 or (at == 1 and words[0] == "the")
    return is_first and (
        words[at] in ("most", "least", "worst", "last", "first") or words[at].endswith("est")
    )


def _without_verb(tokens: list[QuestionToken], subject: list[int]) -> list[int]:
    """A noun phrase without the verb that ends it: "got" before "the highest bonus"."""
    following = tokens[subject[-1] + 1 : subject[-1] + 2] if len(subject) > 1 else []
    is_verb = any(token.low == "the" for token in following) and tokens[subject[-1]].low in LIGHT_VERBS
    return subject[:-1] if is_verb else subject


def _take_number_of(tokens: list[QuestionToken], at: int) -> None:
    """Account for "number of" or "amount of" at a place."""
    if [token.low for token in tokens[at : at + 2]] in (["number", "of"], ["amount", "of"]):
        take(tokens, at, 2)


def generic_about(superlative: str) -> str:
    """What a word such as "highest" is about if the question names no column; "" for "most"."""
    return GENERIC_ABOUT.get(superlative, "")


def _summed(tokens: list[QuestionToken]) -> TableQuestion | None:
    """The form of "what is the total …", "what is the average …" and "how much did we spend …".

    It is that of "what did she claim in total" and of "what do the fees add up to" as well.
    """
    words = [token.low for token in tokens]
    if _superlatives(tokens):
        return None
    if words[0] in ("what", "how") and _take_phrase(tokens, _ADDING_PHRASES):
        return TableQuestion(tokens, Aggregate.TOTAL, asking="how much", in_total=True, costing="sum")
    averages = [at for at, word in enumerate(words) if word in ("average", "mean")]
    totals = [at for at, word in enumerate(words) if word in ("total", "sum")]
    much = words[:2] == ["how", "much"]
    ends = {0, 1, len(words) - 1}
    begins_so = words[0] in ("what", "how", "give", "tell", "show") or ends & {*averages, *totals}
    if len(averages) + len(totals) > 1 or not begins_so:
        return None
    asks_what = words[0] == "what" and not AUXILIARIES.isdisjoint(words[1:2])
    costs = [at for at, token in enumerate(tokens) if token.root == root("cost")]
    if (much or asks_what) and len(costs) == 1 and not AUXILIARIES.isdisjoint(words[: costs[0]]):
        is_final = _take_phrase(tokens, _FINAL_PHRASES)
        if is_final or _says_total(tokens):
            take(tokens, costs[0], 1)
            costing = "final" if is_final else "total"
            return TableQuestion(tokens, Aggregate.TOTAL, asking="how much", in_total=True, costing=costing)
    spending = list(spending_verbs(tokens))
    if (much or asks_what) and len(spending) == 1:
        in_total = _take_phrase(tokens, TOTAL_PHRASES)
        if in_total or much:
            return TableQuestion(
                tokens, Aggregate.TOTAL, subject=spending, asking="how much", in_total=in_total, spending=True
            )
    if much and (_says_total(tokens)):
        take(tokens, 0, 2)
        return TableQuestion(tokens, Aggregate.TOTAL, asking="how much", in_total=True)
    if averages and words[0] != "how":
        take(tokens, averages[0], 1)
        _take_number_of(tokens, averages[0] + 1)
        return TableQuestion(tokens, Aggregate.AVERAGE, asking="what")
    if totals and words[0] != "how":
        take(tokens, totals[0], 1)
        _take_number_of(tokens, totals[0] + 1)
        return TableQuestion(tokens, Aggregate.TOTAL, asking="what", in_total=True)
    return None
