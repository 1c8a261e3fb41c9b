"""Asking every question of a set, and keeping what was measured whatever happens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from localcrag.app import AskOptions, KnowledgeBase
from localcrag.errors import ModelError
from localcrag.evaluation.gold import Labelled
from localcrag.evaluation.observe import Observation, observe
from localcrag.evaluation.questions import Broken
from localcrag.types import WebPolicy

Progress = Callable[[int, int], None]
"""Called with the number of questions done and how many there are."""


@dataclass(slots=True)
class Run:
    """What was measured; ``failed`` are the questions on which a model gave up, ``partial`` cut short."""

    observations: list[Observation] = field(default_factory=list)
    failed: list[Broken] = field(default_factory=list)
    partial: bool = False


def measure(
    kb: KnowledgeBase, questions: Sequence[Labelled], *, filter: str | None, progress: Progress
) -> Run:
    """Ask the questions one after the other; Ctrl-C ends the run and keeps what was measured.

    The web is never asked. A question on which a model fails is counted and passed over; raises
    what ``KnowledgeBase.stream`` raises, and the first model's error where every question failed.
    """
    run, error = Run(), None
    options = AskOptions(filter=filter, web=WebPolicy.NEVER)
    try:
        for number, asked in enumerate(questions):
            progress(number, len(questions))
            events = kb.stream(asked.question.text, options)
            try:
                run.observations.append(observe(events, asked))
            except ModelError as failure:
                error = error or failure
                run.failed.append(Broken(asked.question.line, str(failure)))
        progress(len(questions), len(questions))
    except KeyboardInterrupt:
        if not run.observations:
            raise
        run.partial = True
    if error is not None and not run.observations:
        raise error
    return run
