"""The observation of one question: what is measured of its events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from localcrag.evaluation import text_overlap
from localcrag.evaluation.labels import Labelled, Labels
from localcrag.evaluation.question_set import Question
from localcrag.events import (
    Corrected,
    Decided,
    Event,
    Finished,
    Graded,
    PartSettled,
    Reranked,
    Retrieved,
)
from localcrag.types import (
    Action,
    Answer,
    Grade,
    Hit,
    JsonValue,
    Origin,
    Passage,
    Status,
    Verdict,
)

Ranks = tuple[int | None, ...]
"""The rank, from 1, of each gold item; None for one that was not found. Empty without gold."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One grade with its label, ``right``; ``confidence`` is None if grading failed.

    ``passage`` is the id of the passage, and ``similarity`` its cosine to the question or None.
    """

    passage: str
    verdict: Verdict
    confidence: float | None
    similarity: float | None
    right: bool


@dataclass(frozen=True, slots=True)
class Observation:
    """The outcome of one question, held against its labels.

    ``searched`` and ``reranked`` are the ranks before the first decision, in the order of the search and of
    the evaluator; they are empty if there was none. ``judgements`` is None if no label says which hits are
    right. ``missing`` says whether no right hit was among those graded first, ``brought`` whether a
    correction then found one, and ``cited`` for each citation whether it points to a passage with the
    answer; they are None if the labels do not tell.
    """

    question: Question
    answer: Answer
    action: Action | None
    searched: Ranks = ()
    reranked: Ranks = ()
    judgements: tuple[Judgement, ...] | None = None
    missing: bool | None = None
    brought: bool | None = None
    cited: tuple[bool, ...] | None = None

    @property
    def corrected(self) -> bool:
        """Whether the first decision was to correct."""
        return self.action is not Action.CORRECT

    @property
    def spoken(self) -> str:
        """The text of the answer; "" if none was found."""
        return "" if self.answer.status is Status.NOT_FOUND else self.answer.text

    @property
    def holding(self) -> tuple[bool, ...]:
        """For each citation, whether its quote contains an expected answer."""
        return tuple(text_overlap.holds(c.quote, self.question.answers) for c in self.answer.citations)

    def to_dict(self) -> dict[str, JsonValue]:
        """The row of this question in ``eval --json``."""
        return {
            "line": self.question.line,
            "question": self.question.text,
            "status": self.answer.status,
            "action": self.action,
            "answer": self.spoken,
            "ranks_searched": list(self.searched),
            "ranks_reranked": list(self.reranked),
            "correction_brought_gold": self.brought,
            "degraded": list(self.answer.degraded),
        }


def observe(events: Iterable[Event], asked: Labelled) -> Observation:
    """The observation of a question, from all its events and its labels."""
    watch = _Watch()
    for event in events:
        watch.see(event)
    assert watch.answer is not None, "the events of a question end in Finished"
    return watch.observation(watch.answer, asked)


def judge(events: Iterable[Event], asked: Labelled) -> tuple[Judgement, ...]:
    """The first grades of a question with their labels; the events are read up to the first decision."""
    watch = _Watch()
    for event in events:
        watch.see(event)
        if isinstance(event, Decided):
            break
    return watch.judgements(asked.gold) if asked.gold is not None else ()


@dataclass(slots=True)
class _Watch:
    """Collects what the measures need of the events of one question.

    Of each part of the question, hits are kept up to its first decision.
    """

    answer: Answer | None = None
    action: Action | None = None
    found: list[list[Passage]] = field(default_factory=list)
    reranked: list[list[Passage]] = field(default_factory=list)
    graded: list[Passage] = field(default_factory=list)
    grades: list[Grade] = field(default_factory=list)
    brought: list[Passage] = field(default_factory=list)
    _first: bool = True

    def see(self, event: Event) -> None:
        """Keep what one event contributes to the measures; most contribute nothing."""
        match event:
            case Retrieved() if self._first:
                self.found.append(_passages(event.hits))
            case Reranked() if self._first:
                self.reranked.append(_passages(event.hits))
            case Graded():
                self.grades.append(event.grade)
                if self._first:
                    self.graded.append(event.grade.hit.passage)
            case Decided():
                if self._first and self.action in (None, Action.CORRECT):
                    self.action = event.action
                self._first = False
            case PartSettled():
                self._first = True
            case Corrected():
                self.brought += _passages(event.hits)
            case Finished():
                self.answer = event.answer

    def observation(self, answer: Answer, asked: Labelled) -> Observation:
        """The observation of the question that ended in ``answer``."""
        gold = asked.gold
        if gold is None:
            return Observation(asked.question, answer, self.action)
        missing = not _any_right(gold, self.graded)
        tried = missing and gold.items > 0 and self.action is not Action.CORRECT
        return Observation(
            question=asked.question,
            answer=answer,
            action=self.action,
            searched=gold.ranks(self.found) if self.found else (),
            reranked=gold.ranks(self.reranked) if self.reranked else (),
            judgements=self.judgements(gold),
            missing=missing,
            brought=_any_right(gold, self.brought) if tried else None,
            cited=tuple(gold.cited(c) for c in answer.citations) if gold.items else None,
        )

    def judgements(self, gold: Labels) -> tuple[Judgement, ...]:
        """The grades of passages of documents, each with its label."""
        return tuple(
            judgement(grade, gold) for grade in self.grades if grade.hit.passage.origin is Origin.DOCUMENTS
        )


def judgement(grade: Grade, gold: Labels) -> Judgement:
    """The judgement of a grade by the labels of its question."""
    hit = grade.hit
    right = bool(gold.found(hit.passage))
    return Judgement(hit.passage.id, grade.verdict, grade.confidence, hit.similarity, right)


def _passages(hits: Sequence[Hit]) -> list[Passage]:
    return [hit.passage for hit in hits]


def _any_right(gold: Labels, passages: Sequence[Passage]) -> bool:
    return any(gold.found(passage) for passage in passages)
