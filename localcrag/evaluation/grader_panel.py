"""Several graders over the same passages: each question is searched once, and graded by every one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TypeVar

from localcrag.crag.graders import (
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
from localcrag.knowledge_base import AskOptions, KnowledgeBase
from localcrag.pipeline_builder import PipelineBuilder
from localcrag.protocols import LanguageModel
from localcrag.types import Choice, FinishReason, GraderKind, Hit, Prompt, Tokens, WebPolicy

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Judgements:
    """What one grader said of one question's passages, and what it took.

    ``asked`` is how many of them the language model was asked about. ``evaluator`` are the tokens
    that grading alone takes it: in the loop, reranking has read them already.
    """

    judgements: tuple[Judgement, ...]
    asked: int
    model: Tokens
    evaluator: Tokens
    seconds: float


@dataclass(slots=True)
class Panel:
    """All marks: by grader, then by the number of the question; only questions that every one finished."""

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
        return sorted(next(iter(self.marks.values())))


def grade_all(
    kb: KnowledgeBase,
    questions: Sequence[Labelled],
    kinds: Sequence[GraderKind],
    *,
    filter: str | None,
    progress: Progress,
) -> Panel:
    """Search each labelled question as the loop first does, and have every grader judge what was found.

    The graders take turns, a few questions each, so that none finds a prompt in the model's cache
    that another has just asked. Ctrl-C keeps what was done; a question on which a model fails is
    passed over for all of them. Raises UsageError for a grader that these models cannot have,
    EvaluationError where nothing was found or every question failed, what ``KnowledgeBase.search`` raises.
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
    """Load the models before the first clock starts."""
    kb.models.language.load()
    if kb.models.evaluator:
        kb.models.evaluator.load()


@dataclass(frozen=True, slots=True)
class _Observed:
    """A grader, and the models whose tokens tell what it takes."""

    grader: Grader
    model: _Counted
    kb: KnowledgeBase

    @classmethod
    def of(cls, kb: KnowledgeBase, kind: GraderKind) -> _Observed:
        builder = PipelineBuilder(kb.settings, kb.models, AskOptions(grader=kind, web=WebPolicy.NEVER))
        builder.pipeline_options()
        model = _Counted(kb.models.language)
        return cls(_through(builder.grader(kb.models.evaluator), model), model, kb)

    def marks(self, question: str, hits: Sequence[Hit], gold: Labels) -> Judgements:
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
class _Counted:
    """A language model, and how many passages it was asked about."""

    model: LanguageModel
    asked: int = 0

    @property
    def name(self) -> str:
        return self.model.name

    @property
    def context(self) -> int:
        return self.model.context

    @property
    def tokens(self) -> Tokens:
        return self.model.tokens

    @property
    def last_finish(self) -> FinishReason:
        return self.model.last_finish

    def count(self, prompt: Prompt) -> int:
        return self.model.count(prompt)

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        chosen = self.model.choose(prompts, options)
        self.asked += len(prompts)
        return chosen

    def line(self, prompt: Prompt, *, max_tokens: int = 48) -> str:
        return self.model.line(prompt, max_tokens=max_tokens)

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        self.asked += 1
        return self.model.object(prompt, schema, max_tokens=max_tokens)

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        return self.model.stream(prompt, pattern=pattern, max_tokens=max_tokens)

    def close(self) -> None:
        self.model.close()
