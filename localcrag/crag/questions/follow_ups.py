"""Follow-up questions, completed by rule with the words of earlier questions that they leave out.

"And in 2019?" continues the question before it, and "is it open on Saturday?" refers to the topic of the
conversation. Both are told by the words alone, no model is asked, and no word is added that the user did not
write. Questions in other languages have rules of their own (:mod:`.foreign_follow_ups`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum
from itertools import takewhile

from localcrag.crag.questions import foreign_follow_ups as foreign
from localcrag.crag.questions.query_terms import (
    ASKING_WORDS,
    ASPECTS,
    OPENING_WORDS,
    STOP_WORDS,
    WORD_PATTERN,
    content_words,
    folded,
)

MAX_TOPIC_WORDS = 4
"""The most words of a topic; the first ones name it best, and more of them make a search vaguer."""
MAX_CARRIED_WORDS = 8
"""The most words that are added to a question from earlier ones."""

_BACK_WORDS = """
    it its itself they them their theirs themselves he him his himself she her hers herself this these
    those there one ones
"""
ANAPHORS = frozenset(_BACK_WORDS.split())
"""Words that refer back to an earlier question, unless the question has named enough before them."""
_PRONOUNS = frozenset(
    ["it", "its", "he", "him", "his", "she", "her", "hers", "they", "them", "their", "theirs"]
)
"""Anaphors that stand for a person or a thing that was named, and never for all that was said, as "this"."""
_PLACING_WORDS = "after as at before by during for from if in on since to under when with"
_PLACING_PREPOSITIONS = frozenset(_PLACING_WORDS.split())
_ARTICLES = frozenset({"a", "an", "the"})
_TIME_NAMES = """
    monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays
    saturdays sundays weekdays weekends january february march april june july august september october
    november december
"""
_TIMES = frozenset(_TIME_NAMES.split())
"""Names of times, which are no topic: "when is it open on Saturday?"."""
_INTRODUCES_A_TOPIC = ("of", "about", "on", "regarding")


class _Dependence(Enum):
    """How a question depends on those before it: not at all, by an anaphor, or by continuing the last one."""

    ALONE = "alone"
    REFERS = "refers"
    CONTINUES = "continues"


def completed(question: str, earlier: Sequence[str], *, narrow: bool = True) -> str:
    """The question, preceded by the content words of earlier questions that it depends on.

    A topic lasts from one question that names something to the next. A question that refers back
    ("is it …", "what are the symptoms?") gets the topic. One that continues the last ("and in 2019?",
    "what about …") gets all content words of the last one, but a new number replaces the old numbers and
    a new name the old names. An "and" before a whole question ("and who approves travel?") changes nothing.

    Args:
        question: the follow-up.
        earlier: the user's earlier questions, oldest first.
        narrow: take few words for the topic, since a conversation goes on; otherwise all that name a thing.

    Returns:
        ``"WORDS: QUESTION"`` with at most ``MAX_CARRIED_WORDS`` words, or the question itself.
    """
    return completion(question, earlier, narrow=narrow)[0]


def completion(question: str, earlier: Sequence[str], *, narrow: bool = True) -> tuple[str, str]:
    """The question as :func:`completed` makes it, and what it may be about instead, "" if nothing.

    That is what the last question named beside the topic that it went on with: after "What does the crane
    cost?" and "And who issues the pass?", "until when is it valid?" may be about either.
    """
    topic: list[str] = []
    last: list[str] = []
    carried: list[str] = []
    beside: list[str] = []
    rival = before = ""
    for text in (*earlier, question):
        dependence = _dependence(text) if topic else _Dependence.ALONE
        source = {
            _Dependence.ALONE: [],
            _Dependence.REFERS: topic,
            _Dependence.CONTINUES: _kept_of_last(last, before, carried, text),
        }[dependence]
        carried = _missing_words(text, source)
        rival = " ".join(beside) if dependence is _Dependence.REFERS else ""
        if dependence is not _Dependence.REFERS:
            going_on = dependence is _Dependence.CONTINUES
            whole = [] if narrow or going_on or foreign.is_foreign(text) else _all_topic_words(text)
            topic = whole or _topic(text, going_on=going_on) or topic
        named = _things(text) if dependence is not _Dependence.ALONE and not foreign.is_foreign(text) else []
        beside = [] if set(map(folded, named)) & set(map(folded, topic)) else named
        last = [*carried, *(_content(text) or (word for word in last if word not in carried))]
        before = text
    return (f"{' '.join(carried)}: {question}", rival) if carried else (question, "")


def continues(text: str) -> bool:
    """Whether a question continues the one before it, as "and in 2019?" does."""
    return _dependence(text) is _Dependence.CONTINUES


def has_pronoun(text: str) -> bool:
    """Whether a question refers back with a pronoun, as "what is her number?" does."""
    low = {folded(word) for word in WORD_PATTERN.findall(text)}
    return bool(_PRONOUNS & low or foreign.is_foreign(text)) and _dependence(text) is _Dependence.REFERS


def _content(text: str) -> list[str]:
    """The words of a question that tell what it is about, in the language that it is in."""
    return foreign.naming_words(text) if foreign.is_foreign(text) else content_words(text)


def _dependence(text: str) -> _Dependence:
    """How a question depends on those before it, by its words alone."""
    if foreign.is_foreign(text):
        if foreign.continues(text):
            return _Dependence.CONTINUES
        return _Dependence.REFERS if foreign.refers_back(text) else _Dependence.ALONE
    words = WORD_PATTERN.findall(text)
    low = [folded(word) for word in words]
    joined = low[:1] in (["and"], ["or"]) and len(content_words(text)) <= 3
    if _after_opening(low) or (joined and not _is_whole(words[1:])):
        return _Dependence.CONTINUES
    return _Dependence.REFERS if _points_back(words) else _Dependence.ALONE


def _is_whole(words: Sequence[str]) -> bool:
    """Whether the words after an "and" are a whole question, even without their time, place or purpose.

    "Who approves travel" is one; "in children", "who pays", "who makes it", "how many tablets for
    children" and "what is the dose for children" are not.
    """
    low = [folded(word) for word in words]
    if not low or low[0] not in OPENING_WORDS or ANAPHORS & set(low):
        return False
    placing = _PLACING_PREPOSITIONS.difference(_INTRODUCES_A_TOPIC)
    end = next((i for i in range(1, len(low)) if low[i] in placing), len(low))
    told = [word for word in low if word not in STOP_WORDS]
    asked = [word for word in low[:end] if word not in STOP_WORDS or word in ASKING_WORDS]
    return min(len(told), len(asked)) >= 2 and not _points_back(words[:end])


def _points_back(words: Sequence[str]) -> bool:
    """Whether the words name no topic, or only "the …", or have an anaphor up to the second topic word."""
    low = [folded(word) for word in words]
    naming = [i for i in range(len(words)) if _names_topic(low[i])]
    if not naming:
        return True
    only = naming[0]
    if len(naming) == 1 and only and low[only - 1] == "the" and words[only].islower():
        return True
    before = len(words) if len(naming) < 2 else naming[1]
    return bool(ANAPHORS & set(low[: before + 1]))


def _after_opening(low: Sequence[str]) -> int:
    """The index of the word after "what about" or "how about" near the start; 0 if there is none."""
    for i in range(min(len(low) - 1, 3)):
        if low[i] in ("what", "how") and low[i + 1] == "about":
            return i + 2
    return 0


def _topic(text: str, *, going_on: bool) -> list[str]:
    """The words that name the topic of a question, at most ``MAX_TOPIC_WORDS``.

    They are those after "of", "about", "on" or "regarding"; if there are none, the names in the question;
    if there are none, all words that can name a topic. A question that continues the last one names a
    topic only if no time, place or purpose follows its opening.
    """
    if foreign.is_foreign(text):
        return foreign.topic_words(text)[:MAX_TOPIC_WORDS]
    words = WORD_PATTERN.findall(text)
    low = [folded(word) for word in words]
    if going_on:
        words = words[_after_opening(low) or 1 :]
        placed = words and folded(words[0]) in _PLACING_PREPOSITIONS
        return [] if placed else _topic_words(words)[:MAX_TOPIC_WORDS]
    for i, word in enumerate(low):
        after = _topic_words(words[i + 1 :]) if word in _INTRODUCES_A_TOPIC else []
        if after and folded(after[0]) not in _TIMES:
            return after[:MAX_TOPIC_WORDS]
    words = [word for word in words if folded(word) not in _TIMES] or words
    names = [word for word in words[1:] if _is_name(word)]
    return (names or _topic_words(words) or content_words(text))[:MAX_TOPIC_WORDS]


def _all_topic_words(text: str) -> list[str]:
    """All words of a text that can name a topic, without names of times."""
    return [word for word in _topic_words(WORD_PATTERN.findall(text)) if folded(word) not in _TIMES]


def _object(words: Sequence[str]) -> list[str]:
    """The thing that a question is about, "the tiles": behind no preposition, and no "of" behind it."""
    low = ["", *map(folded, words), ""]
    placing = _PLACING_PREPOSITIONS.union(_INTRODUCES_A_TOPIC)
    for at, found in _behind_articles(words):
        before, behind = low[at], low[at + 2 + len(found)]
        if before not in placing and behind != "of":
            return found
    return []


def _things(text: str) -> list[str]:
    """The words after the first article of a text that can name a topic: "the pass", "a season ticket"."""
    _, found = next(_behind_articles(WORD_PATTERN.findall(text)), (0, []))
    return found[:MAX_TOPIC_WORDS]


def _behind_articles(words: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """The place of each article that words which can name a topic stand directly behind, with these words."""
    for at, word in enumerate(words):
        if folded(word) in _ARTICLES:
            following = takewhile(lambda each: _names_topic(folded(each)), words[at + 1 :])
            if found := list(following):
                yield at, found


def _topic_words(words: Sequence[str]) -> list[str]:
    """The words that can name a topic, in order."""
    return [word for word in words if _names_topic(folded(word))]


def _names_topic(bare_word: str) -> bool:
    """Whether a folded word can name a topic: it is no stop word, no auxiliary verb and no aspect."""
    return not any(bare_word in words for words in (STOP_WORDS, ASKING_WORDS, ASPECTS))


def _kept_of_last(last: Sequence[str], before: str, carried: Sequence[str], text: str) -> list[str]:
    """The words of the last question that a text continues without putting others for them."""
    if foreign.is_foreign(text):
        replaced = foreign.replaced_object(text, before)
        return [word for word in last if folded(word) not in replaced]
    return _without_parallel(_carried_over(last, text), before, carried, text)


def _carried_over(last: Sequence[str], text: str) -> list[str]:
    """The words of the last question that still hold when a text continues it."""
    new = WORD_PATTERN.findall(text)[1:]
    replaced = [kind for kind in (str.isdigit, _is_name) if any(kind(word) for word in new)]
    return [word for word in last if not any(kind(word) for kind in replaced)]


def _without_parallel(kept: Sequence[str], before: str, carried: Sequence[str], text: str) -> list[str]:
    """The words that are kept of the last question, without those that a continuing text puts others for.

    "And for cancellation?" puts its words in the place of those behind the "for" of the last question, or of
    what had been ``carried`` to it if it said "for that". "And the plumbing?" puts them in the place of "the
    tiles".
    """
    opening = [folded(word) for word in WORD_PATTERN.findall(text)]
    new = opening[_after_opening(opening) or 1 :]
    old = WORD_PATTERN.findall(before)
    low = [folded(word) for word in old]
    if new and new[0] in _ARTICLES:
        replaced = set(map(folded, _object(old)))
        return [word for word in kept if folded(word) not in replaced]
    if not new or new[0] not in _PLACING_PREPOSITIONS or new[0] not in low:
        return list(kept)
    at = len(low) - low[::-1].index(new[0])
    behind = list(takewhile(lambda word: folded(word) not in _PLACING_PREPOSITIONS, old[at:]))
    if any(folded(word) in ANAPHORS | {"that"} for word in behind):
        behind = [*behind, *carried]
    replaced = set(map(folded, behind))
    return [word for word in kept if folded(word) not in replaced]


def _is_name(word: str) -> bool:
    """Whether a word inside a sentence is a name: "US" is one, and "us" and "I" are not."""
    shouted = len(word) > 1 and word.isupper()
    return word[0].isupper() and (shouted or folded(word) not in STOP_WORDS)


def _missing_words(text: str, source: Sequence[str]) -> list[str]:
    """The words of the source that the text does not have, each once, at most ``MAX_CARRIED_WORDS``."""
    had = {folded(word) for word in WORD_PATTERN.findall(text)}
    fresh = {folded(word): word for word in source if folded(word) not in had}
    return list(fresh.values())[:MAX_CARRIED_WORDS]
