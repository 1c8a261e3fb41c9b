"""The form of a written answer: cited sentences and nothing else, or the one sentence that declines.

:func:`answer_pattern` is the constraint that an answer is decoded under: whatever the model, each sentence
ends in citations of evidence that exists. What a regular expression cannot say is checked sentence by
sentence while the answer streams: that the model declines (:func:`declines`), or says a thing again
(:class:`SaidBefore`). Both end the answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from localcrag.crag import prompts
from localcrag.crag.questions.query_terms import terms
from localcrag.types import CitationMark

MAX_SENTENCES = 8
"""The most sentences of a written answer."""
MAX_FAILED_SENTENCES = 3
"""So many sentences that fail, with none that holds, end the answer: the model does not answer from its
evidence."""
_KEY = re.compile(r"\s*\[(\d+)\]")
_CITED = re.compile(r"[^\[\]]*+\[\d+\](?:\s*+\[\d+\])*+[.,;]*\s*")
_BARRED = (
    r"\[\]\x00-\x1f\x7f-\xa0\xad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\u3000-\u3002\ufeff"
    r"\uff01\uff1f"
)
"""The inside of a class: brackets, control, zero-width and bidirectional characters, and spaces but " "."""
_FIRST = '[A-Za-z0-9"“\u00c0-\uffef]'
_CLOSERS = "[\"”’')]*"
_MIDDLE = rf"[^ <.!?\"”’'){_BARRED}]"
"""A character that neither ends a sentence nor closes a quotation, and so shows that the sentence goes on."""
_INSIDE = rf"(?:[^ <.!?{_BARRED}]|<[ =0-9])"
"""A character inside a word; "<" may compare, and cannot open a tag."""
_IN_FIRST_WORD = rf"[^ :<.!?{_BARRED}]"
"""A character of the first word: without a colon, so that it is no label ("Question:")."""
_ABBREVIATION = r"(?:(?:[A-Za-z]\.)+|[A-Z][a-z]{1,2}\.)"
"""A word with a full stop within a sentence: initials ("U.S.", "e.g."), short titles ("Dr.", "No.")."""
_GOES_ON = rf"(?:[.!?]+{_CLOSERS}{_MIDDLE}|(?: {_ABBREVIATION})* {_INSIDE})"
_BODY = rf"(?:{_ABBREVIATION} )*{_FIRST}{_IN_FIRST_WORD}*(?:{_GOES_ON}(?:{_INSIDE}|{_GOES_ON})*)?"
_END = "[.!?。！？]+[\"”’')]?"


def answer_pattern(keys: Iterable[int], *, may_decline: bool = True) -> str:
    """The regular expression of the answers that may cite these keys.

    An answer is the declining sentence alone, if it may be, or sentences like ``It is so. [1][2]``: each
    ends in ``.``, ``!`` or ``?``, a space, and one or more of the keys. Inside a sentence there is no
    bracket, tag, line break or invisible character, and no end of a sentence followed by a space, except
    after initials and short titles; so no sentence can hide one that cites nothing. The first word has no
    colon, so that it is no label. The space between two sentences may be missing; :func:`by_sentence`
    does not depend on it.

    The pattern is kept small, since its index is compiled once for each set of keys: for a vocabulary of
    49,152 tokens 0.5 seconds and 10 MB, and 0.1 seconds to load it again. Without bounds on lengths, which
    would multiply its states; :data:`MAX_SENTENCES` and the tokens of the answer bound them.
    """
    cited = "|".join(map(str, keys))
    sentences = rf"(?: ?{_BODY}{_END} (?:\[(?:{cited})\])+)+"
    return rf"{re.escape(prompts.NOT_IN_EVIDENCE)}|{sentences}" if may_decline else sentences


def by_sentence(pieces: Iterable[str]) -> Iterator[str]:
    """The streamed answer, regrouped into sentences, each with the citations that follow it.

    Joined, the sentences are the text. Text that no citation follows is the last one.
    """
    pending = ""
    for piece in pieces:
        pending += piece
        while (found := _CITED.match(pending)) and found.end() < len(pending):
            yield found[0]
            pending = pending[found.end() :]
    if pending:
        yield pending


def without_keys(sentence: str) -> str:
    """A written sentence without its citations."""
    return _KEY.sub("", sentence).strip()


def cited_keys(sentence: str) -> tuple[int, ...]:
    """The keys that a sentence cites, each once, in order."""
    return tuple(dict.fromkeys(int(key) for key in _KEY.findall(sentence)))


def citation_marks(sentence: str) -> tuple[CitationMark, ...]:
    """The places of the citations in written sentences that passed the checks."""
    return tuple(
        CitationMark(int(found[1]), found.start(1) - 1, found.end()) for found in _KEY.finditer(sentence)
    )


def moved_marks(marks: Iterable[CitationMark], by: int) -> list[CitationMark]:
    """The marks with their places moved by some characters, as their text stands in a longer one."""
    return [replace(mark, start=mark.start + by, end=mark.end + by) for mark in marks]


_SOURCES = (
    r"(?:(?:the|these|this|any|provided|given)\s+)+"
    r"(?:documents?|passages?|text|context|evidence|sources?)"
)
_NOT = r"(?:(?:do|does|did)(?:es)?\s*(?:not|n['’]t)|cannot|can['’]t|fails? to)"
_TELLING = r"(?:answer|say|state|mention|contain|provide|specify|give|tell|include|indicate|address|discuss)"
_TOLD = r"(?:mentioned|stated|specified|provided|given|answered|found|contained)"
_DECLINING = re.compile(
    rf"\b{_SOURCES}\s+{_NOT}\s+(?:\w+\s+)?{_TELLING}"
    rf"|\bnot\s+(?:\w+\s+)?{_TOLD}\s+(?:in|by)\s+{_SOURCES}"
    rf"|\bno\s+(?:\w+\s+)?(?:information|mention|answer)\b.*\b(?:in|by)\s+{_SOURCES}"
    r"|^(?:sorry\b.*)?\bI\s+(?:do\s*(?:not|n['’]t)\s+(?:know|have)|cannot|can['’]t|am\s+(?:not\s+able|unable))\b",
    re.IGNORECASE,
)
"""The ways in which a chat model says that what it was given has no answer."""
_STATED = r"(?:mentioned|stated|specified|indicated|disclosed|answered)"
_ABSENCE = re.compile(
    r"(?:^\W*|\b(?:is|are|was|were|remains?)\s+(?:\w+\s+)?)(?:unknown|unclear|unspecified|unstated|undetermined)\b"
    rf"|\bnot\s+(?:\w+\s+)?{_STATED}\b"
    r"|\bnot\s+(?:\w+\s+)?(?:given|provided|known|clear|found|available)\W*$"
    r"|\bnot\s+(?:known|clear)\s+(?:whether|if|how|what|who|when|where|why|which)\b"
    r"|\bnot\s+possible\s+to\s+(?:determine|say|tell|answer|know)\b"
    r"|\b(?:cannot|can['’]t|can\s+not)\s+be\s+(?:determined|inferred|(?:answered|found|known)"
    r"(?:\W*$|\s+(?:from|in|by|based)\b))"
    r"|\b(?:no|(?:not\s+)?enough|insufficient|lacks?)\s+(?:\w+\s+){0,2}"
    r"(?:information|mention|details?|indication|answer)\b"
    rf"|\bno\b[^,;]*\b(?:is|are|was|were)\s+(?:{_STATED}|given|provided|listed)\W*$"
    rf"|\b(?:none|nothing)\s+(?:of|in)\s+{_SOURCES}|\b{_SOURCES}\s+(?:is|are)\s+silent\b"
    rf"|\b(?:not\s+(?:\w+\s+){{0,2}}in|(?:do|does|did)(?:\s+not|n['’]t)\b.*\bin)\s+{_SOURCES}\W*$"
    r"|\b(?:I|we)\s+(?:do\s*(?:not|n['’]t)|cannot|can['’]t)\s+(?:know|answer|say|tell|determine|provide|find)\b"
    r"|^I(?:['’]m|\s+am)\s+sorry\b",
    re.IGNORECASE,
)
"""Words that say that something is not known or not said, of the evidence or of the world."""
_LEFT_OPEN = re.compile(
    r"\bun(?:known|clear|certain|specified|stated|determined)\b"
    r"|\b(?:not|never)\s+(?:\w+\s+){0,2}(?:known|clear|determined|established|mentioned|stated|specified|given|found)\b"
    r"|\b(?:no\s?one|nobody)\s+knows\b|\bno\s+(?:\w+\s+)?(?:information|mention|details?|answer|data|records?)\b",
    re.IGNORECASE,
)
"""Words of a document that leaves something open itself: then an answer may say so."""


def declines(sentence: str, evidence: Sequence[str]) -> bool:
    """Whether a sentence says that the evidence has no answer, in the prompt's words or in the model's own.

    A sentence that stands in the evidence declines nothing. Neither does one that says in general that
    something is not known, if the evidence leaves something open itself.
    """
    text = without_keys(sentence).strip("\"'“” \n")
    if text == prompts.NOT_IN_EVIDENCE:
        return True
    if any(text in item for item in evidence):
        return False
    if _DECLINING.search(text):
        return True
    return _ABSENCE.search(text) is not None and not any(map(_LEFT_OPEN.search, evidence))


@dataclass(slots=True)
class SaidBefore:
    """The sentences of an answer so far, each as the set of its content words."""

    _sentences: list[frozenset[str]] = field(default_factory=list)

    def __len__(self) -> int:
        """The number of sentences so far."""
        return len(self._sentences)

    def repeats(self, sentence: str) -> bool:
        """Whether a sentence has no content word that one earlier sentence did not have; it is remembered."""
        words = frozenset(terms(without_keys(sentence)))
        repeated = any(words <= earlier for earlier in self._sentences)
        self._sentences.append(words)
        return repeated
