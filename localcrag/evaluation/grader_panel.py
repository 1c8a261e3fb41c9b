"""Several graders over the same passages: each question is searched once, and graded by every grader."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from localcrag.crag.judges.graders import (
    CalibratedGrader,
    CascadeGrader,
    FusedGrader,
    Grader,
    RubricGrader,
    YesNoGrader,
)
from localcrag.errors import EvaluationError, ModelError
from localcrag.evaluation.labels import Labelled, Labels
from localcrag.evaluation.observations import Judgement, judgement
from localcrag.evaluation.question_set import Broken
from localcrag.evaluation.run import Progress, turns
from localcrag.evaluation.wrapped_model import T, WrappedModel
from localcrag.knowledge_base import AskOptions, KnowledgeBase
from localcrag.pipeline_builder import PipelineBuilder
from localcrag.types import Choice, GraderKind, Hit, Prompt, Tokens, WebPolicy


@dataclass(frozen=True, slots=True)
class Judgements:
    """The judgements of one grader on the passages of one question, with their cost.

    ``asked`` is the number of passages that the language model was asked about, ``model`` are the tokens
    of the language model, and ``seconds`` is wall time. ``evaluator`` are the evaluator's tokens for
    grading alone; in the loop, reranking has read the same passages already.
    """

    judgements: tuple[Judgement, ...]
    asked: int
    model: Tokens
    evaluator: Tokens
    seconds: float


@dataclass(slots=True)
class Panel:
    """The judgements of all graders, by grader and then by the number of the question.

    Only questions that every grader finished are kept. ``failed`` are the questions on which a model
    failed; ``partial`` is True if the run was cut short.
    """

    marks: dict[GraderKind, dict[int, Judgements]]
    failed: list[Broken] = field(default_factory=list)
    partial: bool = False

    def __post_init__(self) -> None:
        finished = set.intersection(*(set(each) for each in self.marks.values()))
        for each in self.marks.values():
            for number in each.keys() - finished:
                del each[number]

    @property
    def questions(self) -> list[int]:
        """The numbers of the questions that every grader finished, in ascending order."""
        return sorted(next(iter(self.marks.values())))


def grade_all(
    kb: KnowledgeBase,
    questions: Sequence[Labelled],
    kinds: Sequence[GraderKind],
    *,
    filter: str | None,
    progress: Progress,
) -> Panel:
    """Search each labelled question as the loop first does, and have every grader judge the hits.

    The graders take turns, a few questions each, so that none finds in the model's cache a prompt that
    another has just asked. Ctrl-C ends the run and keeps the judgements made so far. A question on which a
    model fails is left out for all graders.

    Raises UsageError for a grader that is not possible with these models, EvaluationError if nothing was
    found or every question failed, and the errors of ``KnowledgeBase.search``.
    """
    graders = [_Observed.of(kb, kind) for kind in kinds]
    labelled = [(asked, asked.gold) for asked in questions if asked.gold is not None]
    steps = len(labelled) * (len(kinds) + 1)
    found: list[Sequence[Hit]] = []
    failed: dict[int, Broken] = {}
    marks: dict[GraderKind, dict[int, Judgements]] = {kind: {} for kind in kinds}
    partial = False
    try:
        for number, (asked, _) in enumerate(labelled):
            progress(number, steps)
            found.append(kb.search(asked.question.text, k=kb.settings.loop.passages, filter=filter))
        if not any(found):
            raise EvaluationError(
                "no labelled question found a passage", hint="widen --filter, or label questions"
            )
        _load(kb)
        for done, (side, number) in enumerate(turns([len(labelled)] * len(kinds)), len(labelled)):
            progress(done, steps)
            asked, gold = labelled[number]
            try:
                marks[kinds[side]][number] = graders[side].marks(asked.question.text, found[number], gold)
            except ModelError as error:
                failed.setdefault(number, Broken(asked.question.line, str(error)))
    except KeyboardInterrupt:
        partial = True
    panel = Panel(marks, list(failed.values()), partial)
    if partial and not panel.questions:
        raise KeyboardInterrupt
    if not panel.questions:
        raise EvaluationError(
            f"every question failed; the first: {panel.failed[0].reason}",
            hint="mend what the reason names, and measure again",
        )
    return panel


def _load(kb: KnowledgeBase) -> None:
    """Load the models, so that loading them is in no grader's time."""
    kb.models.language.load()
    if kb.models.evaluator:
        kb.models.evaluator.load()


@dataclass(frozen=True, slots=True)
class _Observed:
    """A grader, with the models whose tokens are counted."""

    grader: Grader
    model: _Counted
    kb: KnowledgeBase

    @classmethod
    def of(cls, kb: KnowledgeBase, kind: GraderKind) -> _Observed:
        """The grader of this kind as the knowledge base would use it."""
        builder = PipelineBuilder(kb.settings, kb.models, AskOptions(grader=kind, web=WebPolicy.NEVER))
        builder.pipeline_options()
        model = _Counted(kb.models.language)
        return cls(_through(builder.grader(kb.models.evaluator), model), model, kb)

    def marks(self, question: str, hits: Sequence[Hit], gold: Labels) -> Judgements:
        """Grade the hits of one question, and measure the cost."""
        model, evaluator = self.kb.models.language, self.kb.models.evaluator
        read, judged, asked = model.tokens, evaluator.tokens if evaluator else Tokens(), self.model.asked
        started = perf_counter()
        grades = self.grader.grade(question, hits)
        seconds = perf_counter() - started
        return Judgements(
            judgements=tuple(judgement(grade, gold) for grade in grades),
            asked=self.model.asked - asked,
            model=model.tokens - read,
            evaluator=(evaluator.tokens - judged) if evaluator else Tokens(),
            seconds=seconds,
        )


def _through(grader: Grader, model: _Counted) -> Grader:
    """The grader with this language model in place of its own."""
    if isinstance(grader, CalibratedGrader):
        return replace(grader, grader=_through(grader.grader, model))
    if isinstance(grader, CascadeGrader):
        return replace(grader, asked=_through(grader.asked, model))
    if isinstance(grader, (YesNoGrader, RubricGrader, FusedGrader)):
        return replace(grader, model=model)
    return grader


@dataclass(slots=True)
class _Counted(WrappedModel):
    """A language model that counts the passages it is asked about."""

    asked: int = 0

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        chosen = self.model.choose(prompts, options)
        self.asked += len(prompts)
        return chosen

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        self.asked += 1
        return self.model.object(prompt, schema, max_tokens=max_tokens)
