"""Questions that ask to name all things of a kind, which each row of a table that meets them answers in part.

"Which styles have an IBU of at least 60?" is answered by all rows of such a style. One of them looks like an
answer to whoever judges rows one by one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from localcrag.crag.questions.query_terms import OPENING_WORDS
from localcrag.crag.table_answers.foreign_wording import in_english
from localcrag.crag.table_answers.group_questions import is_plural
from localcrag.crag.table_answers.question_words import (
    QuestionToken,
    noun_phrase,
    number_conditions,
    tokens_of,
    with_plain_wording,
    without_participle,
)
from localcrag.crag.table_answers.table_values import root, word_list
from localcrag.crag.table_answers.table_vocabulary import SUPERLATIVES, TWO_WORDS, VERBS

_BIDDING = re.compile(
    r"^\W*(?:(?:can|could|would) you )?(?:please )?(?:list|name|enumerate|show(?: me)?|give(?: me)?|tell me)"
    r"(?P<every> all(?: of)?| every)?(?: the| our| my| these| those)? (?!(?:what|how|when|where|who|why)\b)"
    r"(?=[^\W\d_])",
    re.IGNORECASE,
)
"""How a question begins that bids to name things: "List all the", "Show me every"."""
_BEFORE_WHICH = re.compile(
    r"^\W*(?:at|by|during|for|from|in|of|on|to|under|with) (?=which\b|what\b)", re.IGNORECASE
)
"""What says of the things that are to be named how they are meant: "in which years"."""
_OF_THEM = re.compile(
    r"^(\W*(?:which|what)) of (?:the|these|those|our|my|all(?: the)?|[^\W\d_]+['’]s) ", re.IGNORECASE
)
_EXTREME = re.compile(
    r"\b(?:the|our|my|their|its|his|her) (?!(?:rest|west|northwest|southwest|guest|forest|test|harvest|nest"
    r"|request|interest)\b)[\w-]+(?:est|most)\b"
)
"""The first of an order, also of such as no column of a table is known for: "the busiest"."""
_WITHOUT_BRACKETS = str.maketrans("()", "  ")
_COMPARED = re.compile(r"\b(?:than|between) [€$£]?\d", re.IGNORECASE)
_THINGS = re.compile(
    r"^\W*(?:all )?(?:[^\W\d_][\w-]* ){0,3}?(?P<things>[^\W\d_][\w-]+s)"
    r" (?:(?:in|from|of|on) (?:[\w-]+ ){1,3}?)?"
    r"(?:(?:that|who|which|with|without)\b|(?:over|under|above|below|older|younger|more|less|fewer)\b.* ?\d)",
    re.IGNORECASE,
)
"""How a question begins that names the things to be listed, and no more: "birds that cannot fly"."""
_FIGURES = frozenset(map(root, word_list("number total sum average mean share percentage amount")))
"""What is one figure, whatever it is of."""


@dataclass(frozen=True, slots=True)
class _Form:
    """The words of a question, whether it compares with a number, is for the first of an order, bids for all.

    What compares is accounted for among the tokens, and what bids is "which".
    """

    tokens: list[QuestionToken]
    compares: bool
    is_for_first: bool
    is_for_all: bool

    @staticmethod
    def of(question: str) -> _Form:
        """The form of a question."""
        plain = _plain(question)
        bidding = _BIDDING.match(plain)
        names_things = not bidding and _names_things(plain)
        asking = f"which {plain[bidding.end() if bidding else 0 :]}" if bidding or names_things else plain
        tokens = tokens_of(_OF_THEM.sub(r"\1 ", _BEFORE_WHICH.sub("", asking)))
        compares = bool(number_conditions(tokens)) or _COMPARED.search(plain) is not None
        is_for_first = _EXTREME.search(question) is not None or _has_superlative(tokens)
        return _Form(tokens, compares, is_for_first, bidding is not None and bidding["every"] is not None)

    @property
    def kind(self) -> list[str]:
        """The words for the things that are to be named; none if no list is asked for, or persons."""
        words = [token.low for token in self.tokens]
        asks = words[:1] in (["which"], ["what"]) and not self.is_for_first
        noun = without_participle(self.tokens, noun_phrase(self.tokens, 1)) if asks else []
        if not noun:
            return []
        named = [words[at] for at in noun]
        following = words[noun[-1] + 1 : noun[-1] + 2]
        if words[0] == "what" and VERBS.isdisjoint(following):
            return []  # "what lives in a tree" has its verb among these words
        is_several = self.is_for_all or any(is_plural(word) and not word.endswith("'s") for word in named)
        is_several = is_several or (words[0] == "which" and following in (["are"], ["were"], ["have"]))
        return named if is_several and _FIGURES.isdisjoint(map(root, named)) else []

    @property
    def is_list(self) -> bool:
        """Whether the things of a kind are to be named, or all persons who are on one side of a number."""
        if self.tokens and self.tokens[0].low == "who":
            return self.compares and not self.is_for_first
        return bool(self.kind)


def _names_things(question: str) -> bool:
    """Whether a question is no sentence, but a name for several things and what tells them apart."""
    found = _THINGS.match(question)
    first = question.split(maxsplit=1)[0].casefold() if found else ""
    return found is not None and first not in OPENING_WORDS and is_plural(found["things"].casefold())


def asks_for_list(question: str) -> bool:
    """Whether a question asks to name the things of a kind: "which journals started before 1900".

    One that asks for the most or the least of them asks for the first of an order. "Who is older than 60?"
    asks for all who are, since it has a number to compare with.
    """
    return _Form.of(question).is_list


def asks_for_all(question: str) -> bool:
    """Whether a question bids to name all things of a kind: "list all the stops", "name every stop"."""
    form = _Form.of(question)
    return form.is_for_all and form.is_list


def kind_listed(question: str) -> list[str]:
    """The words for the things that a question asks to name; none if it asks for no list, or for persons."""
    return _Form.of(question).kind


def compares_with_number(question: str) -> bool:
    """Whether a question compares what it asks for with a number: "more than 70 goals", "older than 40"."""
    return _Form.of(question).compares


def asks_for_extreme(question: str) -> bool:
    """Whether a question has a superlative: "our thirstiest machine"."""
    plain = _plain(question)
    return _EXTREME.search(plain) is not None or _has_superlative(tokens_of(plain))


def _plain(question: str) -> str:
    """A question in English and in the wording that tables are asked in."""
    return with_plain_wording(in_english(question.translate(_WITHOUT_BRACKETS)))


def _has_superlative(tokens: Sequence[QuestionToken]) -> bool:
    """Whether words that are not accounted for have a superlative, as "at least" before a number is."""
    words = ["" if token.used else token.low for token in tokens]
    pairs = map(" ".join, pairwise(words))
    return any(map(SUPERLATIVES.get, words)) or any(map(TWO_WORDS.get, pairs))
