"""Asking every question of a set, and keeping the observations whatever happens."""

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
"""Called with the number of steps done and the number of all steps."""
QUESTIONS_PER_TURN = 5
"""Number of questions asked under one configuration before the next configuration takes its turn."""


@dataclass(slots=True)
class Run:
    """The observations of one configuration.

    ``failed`` are the questions on which a model failed, with the reasons, and ``error`` is the first of
    those errors; ``partial`` is True if the run was cut short.
    """

    observations: list[Observation] = field(default_factory=list)
    failed: list[Broken] = field(default_factory=list)
    partial: bool = False
    error: ModelError | None = None


Side = tuple[KnowledgeBase, Sequence[Labelled]]
"""A configuration and the questions that it is asked."""


def measure(sides: Sequence[Side], *, filter: str | None, progress: Progress) -> list[Run]:
    """Ask each side its questions; Ctrl-C ends the run and keeps what was measured.

    Two sides take turns, a few questions each, so that a machine that slows down slows both, and so that
    neither finds in the model's cache a prompt that the other has just asked. The web is never asked.
    A question on which a model fails is counted and skipped.

    Returns a run for each side, in the same order. Raises the errors of ``KnowledgeBase.stream``, and the
    model's error if every question of a side failed.
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
    """The order of asking, as (number of the side, number of its question).

    Each side is asked ``QUESTIONS_PER_TURN`` questions in a row, the sides in turns A B, B A, A B…
    """
    sides = list(range(len(sizes)))
    for start in range(0, max(sizes), QUESTIONS_PER_TURN):
        for side in sides:
            stop = min(start + QUESTIONS_PER_TURN, sizes[side])
            yield from ((side, number) for number in range(start, stop))
        sides.reverse()


def _ask(kb: KnowledgeBase, asked: Labelled, options: AskOptions, run: Run) -> None:
    """Ask one question, and add its observation or its failure to the run."""
    events = kb.stream(asked.question.text, options)
    try:
        run.observations.append(observe(events, asked))
    except ModelError as failure:
        run.error = run.error or failure
        run.failed.append(Broken(asked.question.line, str(failure)))
