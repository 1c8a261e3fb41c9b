"""May a line that the model wrote take a question's place? A line that asserts an answer may not.

A language model that is asked for search words or for a standalone question may answer instead, repeat a
turn of the conversation, or write about something else. Such a line would be searched for, and sent to the
web. The checks are by words alone and ask no model; a refused line is replaced by a rule or by the plain
question.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.prompt_leaks import leak
from localcrag.crag.questions.follow_ups import ANAPHORS
from localcrag.crag.questions.plain_question import omitted_matter
from localcrag.crag.questions.query_terms import (
    ASKING_WORDS,
    ASPECT_TERMS,
    OPENING_WORDS,
    STOP_WORDS,
    WORD_PATTERN,
    content_words,
    folded,
    is_english,
    stem,
    terms,
)

_NUMBER = re.compile(r"\d+")
_RELATIVE = frozenset({"that", "which", "who", "what", "how", "why", "where", "when", "whether", "if"})
_FINITE = frozenset({"am", "is", "are", "was", "were", "has", "had"})
_CLAUSES = re.compile(r"[.!?;:,]+(?:\s+|$)|\s+[-–—]\s+")
_JOINING = frozenset({"and", "or", "but"})
ASKING_PLACES = 3
"""The first words of a clause, of which one asks: "from what gap on …"."""
BEGINNING_LETTERS = 5
"""The letters that two words of one kind have in common at their beginning."""
REPEATED_WORDS = 3
"""So many words in a row that stand in a line twice are no coincidence."""
MIN_STATEMENT_WORDS = 4
"""The fewest words of a line that is a statement because it ends in a full stop."""


def line_refusal(line: str, question: str) -> str:
    """The reason why a search line may not take the place of a question; "" if it may."""
    return (
        phrasing_refusal(line, question) or _topic_refusal(line, question) or _remnant_refusal(line, question)
    )


def is_refusal_foreseen(question: str) -> bool:
    """Whether a model is likely to keep only the last clause of a question, and that would be refused.

    Of "the pump rattles and the current drops, what now?" a small model keeps "what now?". Where it keeps a
    clause that says more, what that finds is no better than what the whole question found.
    """
    clauses = [words for clause in _CLAUSES.split(question) if (words := WORD_PATTERN.findall(clause))]
    if len(clauses) < 2 or any(folded(words[0]) in OPENING_WORDS for words in clauses[:-1]):
        return False
    last, first_words = " ".join(clauses[-1]), list(map(folded, clauses[-1][:ASKING_PLACES]))
    asks = first_words[0] in OPENING_WORDS or not (OPENING_WORDS - ASKING_WORDS).isdisjoint(first_words)
    is_joined = first_words[0] in _JOINING
    return asks and not is_joined and bool(_topic_refusal(last, question) or _remnant_refusal(last, question))


def phrasing_refusal(line: str, question: str, *, context: Sequence[str] = ()) -> str:
    """The reason why a question in other words may not be searched for; "" if it may.

    Args:
        line: the question in other words, of which none needs to be in the question.
        question: the question of the user.
        context: texts whose names and numbers the line may use beside those of the question.
    """
    if _bare(line) == _bare(question):
        return ""
    return (
        leak_refusal(line, question)
        or _repetition_refusal(line, question)
        or _news_refusal(line, " ".join((question, *context)))
        or ("it is a statement" if is_question(question) and is_statement(line) else "")
    )


def standalone_refusal(
    standalone: str, question: str, turns: Sequence[str], *, nearest: Sequence[str] = ()
) -> str:
    """The reason why a line may not take the place of a follow-up; "" if it may.

    Args:
        standalone: the follow-up as the model rewrote it.
        question: the follow-up.
        turns: the texts of the conversation before it.
        nearest: those of the last question, whole, and its answer; a line that takes words from earlier ones
            alone is refused.
    """
    if _bare(standalone) == _bare(question):
        return ""
    if _bare(standalone) in {_bare(turn) for turn in turns}:
        return "it repeats a turn of the conversation"
    if is_question(question) and not is_question(standalone):
        return leak_refusal(standalone, question) or "it is no question"
    return (
        phrasing_refusal(standalone, question, context=turns)
        or _topic_refusal(standalone, question)
        or _invention_refusal(standalone, (question, *turns))
        or _omission_refusal(standalone, question)
        or _distance_refusal(standalone, question, nearest)
    )


def adds_nothing(standalone: str, question: str) -> bool:
    """Whether a line has only words of the follow-up that it should make a question of its own."""
    words = ({folded(word) for word in WORD_PATTERN.findall(text)} for text in (standalone, question))
    return next(words) <= next(words)


def leak_refusal(text: str, question: str) -> str:
    """The reason why a text that repeats its prompt may not be searched with; "" if it does not.

    It is all that is asked of a hypothetical passage: that is made up, with names and numbers of its own.
    """
    leaked = leak(text, question)
    return f"it repeats {leaked}" if leaked else ""


def is_question(text: str) -> bool:
    """Whether a text ends in a question mark or begins as an English question does."""
    words = WORD_PATTERN.findall(text)
    return text.rstrip("\"”’') ").endswith(("?", "？", "؟")) or bool(
        words and folded(words[0]) in OPENING_WORDS
    )


def is_statement(line: str) -> bool:
    """Whether a line asserts something: it is no question, and has a finite verb or ends as a sentence."""
    if is_question(line):
        return False
    low = [folded(word) for word in WORD_PATTERN.findall(line)]
    ended = line.rstrip("\"”’') ").endswith((".", "!", "。"))
    if ended and len(low) >= MIN_STATEMENT_WORDS:
        return True
    return any(
        word in _FINITE and low[at - 1] not in _RELATIVE
        for at, word in enumerate(low)
        if 0 < at < len(low) - 1
    )


def _news_refusal(line: str, known: str) -> str:
    """The refusal of a line that has a number or a name that nobody mentioned."""
    numbers = set(_NUMBER.findall(known))
    for number in _NUMBER.findall(line):
        if number not in numbers:
            return f"it has the number {number}, which nobody asked about"
    words = {folded(word) for word in WORD_PATTERN.findall(known)}
    stems = {stem(word) for word in words}
    for word in WORD_PATTERN.findall(line)[1:]:
        low = folded(word)
        if word[0].isupper() and low not in STOP_WORDS | words and stem(word) not in stems:
            return f"it has the name {word}, which nobody asked about"
    return ""


def _repetition_refusal(line: str, question: str) -> str:
    """The refusal of a line that stutters, with a word or a run of words twice that the question has once."""
    low, asked = ([folded(word) for word in WORD_PATTERN.findall(text)] for text in (line, question))
    for length, apart in ((1, 1), (REPEATED_WORDS, len(low))):
        runs, known = (_runs(words, length) for words in (low, asked))
        for at, run in enumerate(runs):
            if run in runs[at + 1 : at + 1 + apart] and known.count(run) < 2:
                return f"it repeats “{' '.join(run)}”"
    return ""


def _runs(words: Sequence[str], length: int) -> list[tuple[str, ...]]:
    """All runs of so many words."""
    return [tuple(words[at : at + length]) for at in range(len(words) - length + 1)]


def _omission_refusal(line: str, question: str) -> str:
    """The refusal of a line that leaves out a word of what an English follow-up asks.

    A word may have another ending in it. Question words other than "what" count too, unless the follow-up is
    a mere "how about …?".
    """
    if not is_english(question):
        return ""
    beginnings = {term[:BEGINNING_LETTERS] for term in terms(line)}
    bare = "about" in map(folded, WORD_PATTERN.findall(question))
    lost = [
        word
        for word in omitted_matter(line, question)
        if stem(word)[:BEGINNING_LETTERS] not in beginnings
        and folded(word) not in ANAPHORS
        and (content_words(word) or not (bare or folded(word) == "what"))
    ]
    return f"it leaves out {', '.join(dict.fromkeys(lost))}" if lost else ""


def _distance_refusal(line: str, question: str, nearest: Sequence[str]) -> str:
    """The refusal of a line that completes the follow-up with words of earlier turns than the last alone."""
    added = terms(line) - terms(question) - ASPECT_TERMS
    if not nearest or not added or added & set().union(*map(terms, nearest)):
        return ""
    return "it is about an earlier turn"


def _invention_refusal(line: str, said: Sequence[str]) -> str:
    """The refusal of a line with a word that nobody said, and that is no aspect which things are asked for.

    A small model that does not know what "it" is makes a thing up. A word may have another ending than one
    that was said: "insurance" for "insured".
    """
    known = set().union(ASPECT_TERMS, *map(terms, said))
    beginnings = {term[:BEGINNING_LETTERS] for term in known}
    invented = {term for term in terms(line) - known if term[:BEGINNING_LETTERS] not in beginnings}
    new = [word for word in content_words(line) if stem(word) in invented]
    return f"it has the word {new[0]}, which nobody said" if new else ""


def _topic_refusal(line: str, question: str) -> str:
    """The refusal of a line that shares no content word with an English question.

    A question in another language may be searched for in the language of the documents.
    """
    if not content_words(question) or not is_english(question):
        return ""
    return "" if terms(line) & terms(question) else "it shares no word with the question"


def _remnant_refusal(line: str, question: str) -> str:
    """The refusal of a line that is less than half of what an English question tells: "what now?"."""
    kept = terms(line)
    if not is_english(question) or not kept <= terms(question):
        return ""
    lost = dict.fromkeys(word for word in omitted_matter(line, question) if content_words(word))
    return f"it leaves out {', '.join(lost)}" if len(set(map(stem, lost))) > len(kept) else ""


def _bare(text: str) -> str:
    """A text for comparison: its words, folded."""
    return " ".join(map(str.casefold, WORD_PATTERN.findall(text)))
