"""Asking every question of a set, and keeping what was measured whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from localcrag.errors import ModelError
from localcrag.evaluation.labels import Labelled
from localcrag.evaluation.observations import Observation, observe
from localcrag.evaluation.question_set import Broken
from localcrag.knowledge_base import AskOptions, KnowledgeBase
from localcrag.types import WebPolicy

Progress = Callable[[int, int], None]
"""Called with the number of questions done and how many there are."""
BLOCK = 5
"""Questions asked under one configuration before it is another's turn."""


@dataclass(slots=True)
class Run:
    """What was measured; ``failed`` are the questions a model gave up on, ``partial`` a run cut short."""

    observations: list[Observation] = field(default_factory=list)
    failed: list[Broken] = field(default_factory=list)
    partial: bool = False
    error: ModelError | None = None


Side = tuple[KnowledgeBase, Sequence[Labelled]]
"""A configuration, and what it is asked."""


def measure(sides: Sequence[Side], *, filter: str | None, progress: Progress) -> list[Run]:
    """Ask each side its questions; Ctrl-C ends the run and keeps what was measured.

    Two sides take turns, a few questions each, so that a machine that slows down is held against
    both, and neither finds a question's prompt in the model's cache that the other has just asked.
    The web is never asked. A question on which a model fails is counted and passed over; raises
    what ``KnowledgeBase.stream`` raises, and the model's error where every question of a side failed.
    """
    runs = [Run() for _ in sides]
    sizes = [len(questions) for _, questions in sides]
    options = AskOptions(filter=filter, web=WebPolicy.NEVER)
    try:
        for done, (side, number) in enumerate(turns(sizes)):
            progress(done, sum(sizes))
            kb, questions = sides[side]
            _ask(kb, questions[number], options, runs[side])
        progress(sum(sizes), sum(sizes))
    except KeyboardInterrupt:
        if not any(run.observations for run in runs):
            raise
        for run, size in zip(runs, sizes, strict=True):
            run.partial = len(run.observations) + len(run.failed) < size
        return runs
    for run in runs:
        if run.error is not None and not run.observations:
            raise run.error
    return runs


def turns(sizes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(side, number of its question) in the order of asking: in blocks, the sides in turns A B, B A, A B…"""
    sides = list(range(len(sizes)))
    for start in range(0, max(sizes), BLOCK):
        for side in sides:
            yield from ((side, number) for number in range(start, min(start + BLOCK, sizes[side])))
        sides.reverse()


def _ask(kb: KnowledgeBase, asked: Labelled, options: AskOptions, run: Run) -> None:
    events = kb.stream(asked.question.text, options)
    try:
        run.observations.append(observe(events, asked))
    except ModelError as failure:
        run.error = run.error or failure
        run.failed.append(Broken(asked.question.line, str(failure)))
