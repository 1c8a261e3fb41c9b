"""The plain question in a chatty one: what it asks, without greetings, asides and thanks.

A judge that reads "hi, sorry to bother you, how many beds does the clinic have? many thanks" beside a passage
about the clinic compares the talk as well, and finds the passage to be off the subject. On 36 such questions
about an encyclopaedia the evaluator gave the passage with the answer 0.17 on average, 0.57 by the line that
the language model made of the question, and 0.60 by the question as it stood before the talk was put around
it. So where the line is the question in fewer words, the passages are judged by the line. Words that are no
talk are never left out: "the pump rattles, what now?" is not "what now?".
"""

from __future__ import annotations

import re

from localcrag.crag.questions.query_terms import (
    OPENING_WORDS,
    WORD_PATTERN,
    content_words,
    folded,
    is_english,
    stem,
    terms,
)
from localcrag.languages import other_than_english

MIN_LEFT_OUT = 3
"""The fewest words that a plain question leaves out; fewer are no talk."""
_OPENING_PLACES = 3
"""The first words of a plain question, of which one asks: "In what year …"."""
_CLAUSE_END = re.compile(r"[.!?;:,]")
_SENTENCE_END = re.compile(r"[.!?;:]+(?:\s+|$)")
_TALK = """
    afternoon alright anybody appreciate appreciated appreciation ask asked asking assistant boss bother
    bothered bothering brief briefly brother bye chance cheers colleague colleagues confused curious
    daughter day days dear detailed discuss discussed discussing discussion evening everybody everyone
    excuse explain explained explaining father folks forget forgive forgot friend friends glad good
    grandmother grateful greetings guys heard hoping husband idea ignorance interested kids kind kindly knew
    know knowing knows learn learned learning let loads look looked looking lot mention mentioned minute
    moment morning mother nice nobody now obliged online pardon perhaps possibly promised question questions
    quickly read reading regards remember remind rush searched searching sense short silly simple sister
    somebody somewhere son stuck stupid teacher tell telling time told topic tried try trying understand
    understanding urgent way week weeks wife wish wishes wondered wondering words writing yesterday
"""
_TALK_TERMS = frozenset(map(stem, _TALK.split()))
"""Words of talk around a question: of courtesy, of asking and knowing, and for those who ask."""
_QUESTION_WORDS = frozenset({"who", "whom", "whose", "what", "when", "where", "why", "which", "how"})


def may_have_talk(question: str) -> bool:
    """Whether there may be words in a question that its plain one leaves out.

    There are none in one clause that begins by asking, and in mere keywords.
    """
    words = WORD_PATTERN.findall(question)
    asks = any(folded(word) in OPENING_WORDS for word in words[:_OPENING_PLACES])
    clauses = [clause for clause in _SENTENCE_END.split(question) if clause.strip()]
    return len(words) - len(content_words(question)) >= MIN_LEFT_OUT and not (asks and len(clauses) == 1)


def is_plainer(line: str, question: str) -> bool:
    """Whether a line asks the question in fewer words: it is a question, and leaves out nothing but talk.

    No line is a plainer form of a question in another language than English: "What is OpenPGP?" has no other
    content than "Quelle longueur doit avoir une clé OpenPGP ?", and asks something else.
    """
    words = WORD_PATTERN.findall(line)
    asking = [word for word in map(folded, words[:_OPENING_PLACES]) if word in OPENING_WORDS]
    asked = [folded(word) for word in WORD_PATTERN.findall(question)]
    if not asking or not terms(line) or not terms(line) <= terms(question):
        return False
    if (
        len(asked) - len(words) < MIN_LEFT_OUT
        or omitted_matter(line, question)
        or other_than_english(question)
    ):
        return False
    return asking[0] in asked or is_english(question)


def omitted_matter(line: str, question: str) -> list[str]:
    """The words that a shorter question leaves out and that are, or may be, part of what was asked.

    They are all content words but those of talk; words of talk too between or after the words of the line in
    the same clause of the question; and question words.
    """
    kept = {stem(word) for word in WORD_PATTERN.findall(line)}
    content = {stem(word) for word in content_words(line)}
    found: list[str] = []
    begun = False
    end = 0
    for match in WORD_PATTERN.finditer(question):
        word, term = match.group(), stem(match.group())
        starts_clause = end == 0 or _CLAUSE_END.search(question, end, match.start()) is not None
        begun = (begun and not starts_clause) or term in content
        end = match.end()
        if term in kept:
            continue
        matters = content_words(word) and (begun or term not in _TALK_TERMS)
        if matters or folded(word) in _QUESTION_WORDS:
            found.append(word)
    return found
