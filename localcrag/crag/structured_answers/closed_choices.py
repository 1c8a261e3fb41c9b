"""Closed choices: true and false, and one of several values, from what the evidence says.

A statement that has all words of the field says that it is so, or with a negation that it is not; "Solved:
yes" says it behind a label. One of several values is chosen if it stands in the evidence where the field's
words stand, or if it is the only one of them that does. If the rules decide nothing, and the language model
is fit to, it chooses under a constraint; what it may choose is never more than the schema allows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.structured_answers.field_scores import Candidate, FieldScorer, Scored
from localcrag.crag.structured_answers.field_wording import FieldWording
from localcrag.crag.structured_answers.value_context import around
from localcrag.crag.structured_answers.value_spans import ValueSpan
from localcrag.crag.table_answers.table_values import WORD, root, roots
from localcrag.types import ScalarValue, Strip

MIN_OPTION_SCORE = 0.45
"""The score from which on one of several values in the evidence is the one that the field asks for."""
MIN_ONLY_SCORE = 0.2
"""The score from which on it is, if no other value of the choice stands in the evidence."""
MIN_MARGIN = 0.05
"""How much the score must be above that of the best other value."""
UNDECIDED = frozenset(
    {"unclear", "unknown", "undecided", "uncertain", "not stated", "not known", "n/a", "unsure"}
)
"""Values of a choice that say that the evidence does not decide."""
_NEGATION = re.compile(r"\b(?:no|not|cannot|never|without|none|nor|neither)\b|n['’]t\b", re.IGNORECASE)
_CLAUSE = re.compile(r"[;\n]|(?<=[.!?]) |, (?:but|and|however) |: ")
_YES, _NO = frozenset({"yes", "true", "✓", "✔", "x", "done"}), frozenset({"no", "false", "✗", "✘", "none"})
_FLAG_END = re.compile(r"[,;.] ")
"""What ends the word that says yes or no, if more stands behind it ("no, a second visit is planned")."""
_SYMBOL = re.compile(r"[€$£%]")


@dataclass(frozen=True, slots=True)
class ClosedChoice:
    """A value that was chosen, and the words of the evidence that say so, as characters of the strip."""

    value: ScalarValue
    strip: Strip
    start: int
    end: int


def truth(
    asked: FieldWording, required: set[str], pieces: Sequence[Strip], scorer: FieldScorer
) -> ClosedChoice | None:
    """Whether what a field or a question asks is so; None if the evidence does not say.

    Args:
        asked: the words of the field.
        required: the terms that a statement must have.
        pieces: the evidence.
        scorer: ranks statements by what they have in common with the field.
    """
    said = [found for strip in pieces for found in _statements(strip, required)] if required else []
    if not said:
        return None
    scores = scorer.cosines(asked, [found.strip.text[found.start : found.end] for found in said])
    ranked = sorted(zip(scores, said, strict=True), key=lambda pair: -pair[0])
    best = ranked[0][1]
    if any(other.value != best.value and score > ranked[0][0] - MIN_MARGIN for score, other in ranked[1:]):
        return None
    asks_negation = bool(_NEGATION.search(asked.question))
    return ClosedChoice(best.value != asks_negation, best.strip, best.start, best.end)


def _statements(strip: Strip, required: set[str]) -> list[ClosedChoice]:
    """The clauses of a strip that have the required terms, each with whether it says that it is so."""
    text, found = strip.text, list[ClosedChoice]()
    label, mark, value = text.partition(":")
    flag = _FLAG_END.split(value.strip(" ."))[0].casefold()
    if mark and required & terms(label) and flag in _YES | _NO:
        return [ClosedChoice(flag in _YES, strip, 0, len(text))]
    starts = [0, *(match.end() for match in _CLAUSE.finditer(text))]
    ends = [*(match.start() for match in _CLAUSE.finditer(text)), len(text)]
    for start, end in zip(starts, ends, strict=True):
        clause = text[start:end]
        is_label = text[end : end + 1] == ":"
        if required <= terms(clause) and not is_label and not clause.rstrip().endswith("?"):
            found.append(ClosedChoice(not _NEGATION.search(clause), strip, start, end))
    return found


def option(
    asked: FieldWording, options: Sequence[ScalarValue], pieces: Sequence[Strip], scorer: FieldScorer
) -> ClosedChoice | None:
    """The one of several values that the evidence names for a field; None if it does not say which."""
    found = [each for value in options for strip in pieces for each in _occurrences(value, strip)]
    if not found:
        return None
    ranked = scorer.scored(asked, found)
    best = ranked[0]
    value = best.candidate.span.value
    others = [each for each in ranked if each.candidate.span.value != value]
    floor = MIN_OPTION_SCORE if others else MIN_ONLY_SCORE
    if best.score < floor or (others and best.score < others[0].score + MIN_MARGIN):
        return None
    return _chosen(best)


def _chosen(best: Scored) -> ClosedChoice:
    span = best.candidate.span
    return ClosedChoice(span.value, best.candidate.strip, span.start, span.end)


def _occurrences(value: ScalarValue, strip: Strip) -> list[Candidate]:
    """Where a value stands in a strip, in any form of its words; a currency also by its sign."""
    wanted = roots(str(value)) or (str(value).casefold(),)
    words = [*WORD.finditer(strip.text), *_SYMBOL.finditer(strip.text)]
    words.sort(key=lambda match: match.start())
    spelled = [root(match[0]) for match in words]
    found = []
    for at in range(len(words) - len(wanted) + 1):
        if tuple(spelled[at : at + len(wanted)]) == wanted:
            span = ValueSpan(words[at].start(), words[at + len(wanted) - 1].end(), value)
            found.append(Candidate(strip, span, *around(strip, span)))
    return found
