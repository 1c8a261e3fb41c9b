"""How well a value in the evidence answers a field: by the words around it.

The words before and after a value say what it is: "Invoice date: …", "the work took … hours". They are
compared with the words of the field by their embeddings and by the terms they share; what the evaluator says
of the sentence as an answer to the field's question counts beside.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_context import judged_text
from localcrag.crag.structured_answers.field_wording import FieldWording
from localcrag.crag.structured_answers.form_vocabulary import names_field
from localcrag.crag.structured_answers.letter_layout import LetterPlace, asks_for
from localcrag.crag.structured_answers.prose_roles import denies_role, tells_role
from localcrag.crag.structured_answers.value_spans import ValueSpan, dates
from localcrag.protocols import Embedder, Evaluator
from localcrag.types import Strip

if TYPE_CHECKING:
    from localcrag.protocols import Vectors

TERM_WEIGHT = 0.3
"""What the share of the field's terms that stand around a value adds to the cosine."""
EVALUATOR_WEIGHT = 0.03
"""What each unit of log-probability of the evaluator below that of the best strip takes away."""
JUDGED_CANDIDATES = 4
"""The number of candidates for a field whose strips the evaluator judges."""
LABEL_BONUS = 0.1
"""What a value gains that is all that stands behind a label."""
UNIT_BONUS = 0.15
"""What a number gains that has the unit which the field names."""
COLUMN_MALUS = 0.25
"""What a value loses that is one of several in its column: it is a row's, and not that of the whole."""
NAMED_SCORE = 0.8
"""The score, at least, of a value that another word for the field announces, or its place in a letter."""
SALUTED_SCORE = 0.65
"""The same for the name of a salutation ("Dear Mrs Ortiz,"): an address or a label says it better."""
NOT_NAMED_SCORE = -1.0
_LABEL = re.compile(r"([^:]{1,60}): *(?:[€$£]|[A-Z][a-z]+day,? )?")
_ASKED = {"when": "date", "where": "place", "who": "name"}
"""Labels that ask, as the words of the fields that they fill."""
_WITHOUT = re.compile(r"\bwithout (\w+)|\b(?:before|excluding|excl\.) (\w+)", re.IGNORECASE)
_SEQUENCE = tuple(
    re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in (r"next(?! to)|upcoming", "previous|former")
)
"""Words that make another thing of what they stand before: the next meeting is not the meeting."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A value in a strip, with the words around it.

    ``repeated`` says that it stands in a column of which other rows have values as well. ``place_in_letter``
    is the place of a letter that it stands at, if it is one.
    """

    strip: Strip
    span: ValueSpan
    before: str
    behind: str
    repeated: bool = False
    place_in_letter: LetterPlace | None = None

    @property
    def label(self) -> str:
        """The label that the value stands behind ("Chair: …"), "" if there is none."""
        found = _LABEL.fullmatch(self.before)
        return _ASKED.get(found[1].strip().lower(), found[1]) if found else ""

    @property
    def place(self) -> tuple[str, int, int]:
        """Where the value stands: the id of its passage, and its characters in the stored text."""
        start = self.strip.start
        return self.strip.passage.id, start + self.span.start, start + self.span.end


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate with its score for a field; from some 0.6 on the words around it are those of the field."""

    candidate: Candidate
    score: float


@dataclass(frozen=True, slots=True)
class FieldScorer:
    """Scores values of the evidence for the fields of one schema; each text is embedded once."""

    embedder: Embedder
    evaluator: Evaluator | None
    _vectors: dict[str, Vectors] = field(default_factory=dict)

    def cosines(self, asked: FieldWording, texts: Sequence[str]) -> list[float]:
        """The cosine of each text with the words of a field, the greater of its name and the whole."""
        own = self._encoded([asked.whole, asked.name or asked.whole])
        return [float(max(vector @ other for other in own)) for vector in self._encoded(texts)]

    def scored(self, asked: FieldWording, candidates: Sequence[Candidate]) -> list[Scored]:
        """The candidates with their scores for a field, best first; the evaluator judges the best of them."""
        candidates = [each for each in candidates if not _contradicts(asked, each)]
        contexts = [f"{each.before}…{each.behind}" for each in candidates]
        found = [
            Scored(each, cosine + _beside(asked, each))
            for each, cosine in zip(candidates, self.cosines(asked, contexts), strict=True)
        ]
        ranked = self._judged(asked, sorted(found, key=lambda each: -each.score))
        lifted = [
            Scored(each.candidate, max(each.score, _named_score(asked, each.candidate))) for each in ranked
        ]
        return sorted(lifted, key=lambda each: -each.score)

    def _judged(self, asked: FieldWording, ranked: Sequence[Scored]) -> Sequence[Scored]:
        """Ranked candidates in the order that the evaluator gives the best of them."""
        if self.evaluator is None or len(ranked) < 2:
            return ranked
        best = ranked[:JUDGED_CANDIDATES]
        texts = [judged_text(each.candidate.strip) for each in best]
        p = self.evaluator.score(asked.question, texts)
        top = max(max(p), 1e-9)
        judged = [
            Scored(each.candidate, each.score + EVALUATOR_WEIGHT * math.log(max(own / top, 1e-3)))
            for each, own in zip(best, p, strict=True)
        ]
        least = min(each.score for each in judged)
        rest = [Scored(each.candidate, min(each.score, least)) for each in ranked[JUDGED_CANDIDATES:]]
        return [*sorted(judged, key=lambda each: -each.score), *rest]

    def _encoded(self, texts: Sequence[str]) -> list[Vectors]:
        """The vectors of texts, in order."""
        fresh = [text for text in dict.fromkeys(texts) if text not in self._vectors]
        if fresh:
            self._vectors.update(zip(fresh, self.embedder.encode(fresh), strict=True))
        return [self._vectors[text] for text in texts]


def _contradicts(asked: FieldWording, each: Candidate) -> bool:
    """Whether a value is said to be without something that the field wants it with ("sum without tax").

    Or it is that of the next one, or of the previous one, and the field asks for another; or the name of a
    deputy, or of somebody who did not do it.
    """
    if denies_role(asked, each.strip.text, each.span.start):
        return True
    lacking = [word.lower() for found in _WITHOUT.findall(each.before) for word in found if word]
    return any(
        re.search(rf"\b(?:with|including|incl\.) {re.escape(word)}\b", asked.whole) for word in lacking
    ) or any(_is_another(words, asked, f"{each.before} {each.behind}") for words in _SEQUENCE)


def _is_another(words: re.Pattern[str], asked: FieldWording, said: str) -> bool:
    """Whether only one of the field and of what is said around a value has a word of its place in a row."""
    if words.search(said):
        return not words.search(asked.whole)
    return words.search(asked.name) is not None


def _named_score(asked: FieldWording, each: Candidate) -> float:
    """The least score of a value that another word for the field announces, or its place in a letter."""
    if each.place_in_letter is not None and asks_for(asked, each.place_in_letter):
        return SALUTED_SCORE if each.place_in_letter is LetterPlace.SALUTATION else NAMED_SCORE
    is_date = isinstance(each.span.value, str) and any(
        found.start == 0 for found in dates(each.strip.text[each.span.start : each.span.end])
    )
    if names_field(asked, each.label, each.before, is_date=is_date):
        return NAMED_SCORE
    span = each.span
    is_told = not each.label and tells_role(asked, each.strip.text, span.start, span.end)
    return NAMED_SCORE if is_told and not is_date else NOT_NAMED_SCORE


def _beside(asked: FieldWording, each: Candidate) -> float:
    """What counts beside the cosine: shared terms, a label, the unit, the column."""
    own = asked.terms
    held = terms(f"{each.before} {each.behind}")
    shared = len(own & held) / max(1, len(own))
    if named := terms(each.label):
        shared = max(shared, 2 * len(own & named) / (len(own) + len(named)))
    score = TERM_WEIGHT * shared + LABEL_BONUS * bool(each.label)
    score -= COLUMN_MALUS * each.repeated
    return score + UNIT_BONUS * bool(each.span.unit and each.span.unit in asked.units)
