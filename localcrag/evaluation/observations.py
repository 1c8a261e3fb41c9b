"""From the events of one question to what is measured of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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
    """One grade beside its label; ``confidence`` is None where grading failed.

    ``passage`` is the passage's id, ``similarity`` its cosine to the question where that is known.
    """

    passage: str
    verdict: Verdict
    confidence: float | None
    similarity: float | None
    right: bool


@dataclass(frozen=True, slots=True)
class Observation:
    """What one question showed.

    ``searched`` and ``reranked`` are ranks before the first decision, in the search's order and in
    the evaluator's; empty where there was none. ``judgements`` is None where no label says which
    hits are right. ``missing`` says whether no right hit was among those first graded, ``brought``
    whether a correction then found one, ``cited`` of each citation whether it points at what
    answers; None where that cannot be said.
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
        return self.action is not Action.CORRECT

    @property
    def spoken(self) -> str:
        """The text of the answer, "" where none was given."""
        return "" if self.answer.status is Status.NOT_FOUND else self.answer.text

    @property
    def holding(self) -> tuple[bool, ...]:
        """For each citation whether its quote has an answer in it."""
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
    """Drain the events of a question, and hold them against its labels."""
    watch = _Watch()
    for event in events:
        watch.see(event)
    assert watch.answer is not None, "the events of a question end in Finished"
    return watch.observation(watch.answer, asked)


def judge(events: Iterable[Event], asked: Labelled) -> tuple[Judgement, ...]:
    """The first grades of a question beside their labels; the loop is left at its decision."""
    watch = _Watch()
    for event in events:
        watch.see(event)
        if isinstance(event, Decided):
            break
    return watch.judgements(asked.gold) if asked.gold is not None else ()


@dataclass(slots=True)
class _Watch:
    """Keeps what matters of the events: of each part of the question what came before its decision."""

    answer: Answer | None = None
    action: Action | None = None
    found: list[list[Passage]] = field(default_factory=list)
    reranked: list[list[Passage]] = field(default_factory=list)
    graded: list[Passage] = field(default_factory=list)
    grades: list[Grade] = field(default_factory=list)
    brought: list[Passage] = field(default_factory=list)
    _first: bool = True

    def see(self, event: Event) -> None:
        if handler := _SEEN.get(type(event)):
            handler(self, event)

    def observation(self, answer: Answer, asked: Labelled) -> Observation:
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
        return tuple(
            judgement(grade, gold) for grade in self.grades if grade.hit.passage.origin is Origin.DOCUMENTS
        )

    def _retrieved(self, event: Retrieved) -> None:
        if self._first:
            self.found.append(_passages(event.hits))

    def _reranked(self, event: Reranked) -> None:
        if self._first:
            self.reranked.append(_passages(event.hits))

    def _graded(self, event: Graded) -> None:
        self.grades.append(event.grade)
        if self._first:
            self.graded.append(event.grade.hit.passage)

    def _decided(self, event: Decided) -> None:
        if self._first and self.action in (None, Action.CORRECT):
            self.action = event.action
        self._first = False

    def _settled(self, _event: PartSettled) -> None:
        self._first = True

    def _corrected(self, event: Corrected) -> None:
        self.brought += _passages(event.hits)

    def _finished(self, event: Finished) -> None:
        self.answer = event.answer


_SEEN: Mapping[type[Event], Callable[[_Watch, Any], None]] = {
    Retrieved: _Watch._retrieved,
    Reranked: _Watch._reranked,
    Graded: _Watch._graded,
    Decided: _Watch._decided,
    PartSettled: _Watch._settled,
    Corrected: _Watch._corrected,
    Finished: _Watch._finished,
}


def judgement(grade: Grade, gold: Labels) -> Judgement:
    """A grade held against the labels of its question."""
    hit = grade.hit
    right = bool(gold.found(hit.passage))
    return Judgement(hit.passage.id, grade.verdict, grade.confidence, hit.similarity, right)


def _passages(hits: Sequence[Hit]) -> list[Passage]:
    return [hit.passage for hit in hits]


def _any_right(gold: Labels, passages: Sequence[Passage]) -> bool:
    return any(gold.found(passage) for passage in passages)
