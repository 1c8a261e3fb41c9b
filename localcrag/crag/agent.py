"""The agent: a typed plan, taken one step at a time, looked at after every step, and always ended.

::

    plan ─► step ─► grade, decide ─► assess ─► enough: answer
              ▲                        └─────► not yet: the rest of the plan, or another
              └────────────────────────────────────┘

A plan before the first act is Plan-and-Solve (Wang et al. 2023, arXiv 2305.04091), thinking again
after each observation is ReAct (Yao et al. 2022, arXiv 2210.03629). What can be done is a closed set
of tools, decoded under a schema and checked:

- The documents are searched before the web is asked and before anything is answered.
- The step to the web has no argument. The model that plans has read documents, so its words could
  carry them out; the line that is sent is made from the user's own question alone.
- A step that was taken before, or that says nothing, is refused and still counts. So every round
  comes nearer to the bound of steps, whatever the model says.

The bounds are looked at between steps; a step that has begun is finished.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import Annotated, Literal

from annotated_types import MaxLen, MinLen

from localcrag.crag import prompts
from localcrag.crag.correction import correct_by, search_near
from localcrag.crag.grading import emit_decision, grade_hits
from localcrag.crag.policy import relevant
from localcrag.crag.state import AgentBounds, QuestionState, timed
from localcrag.errors import ModelError
from localcrag.events import Assessed, Bounded, Degraded, Planned, Stepped, Steps
from localcrag.types import CorrectionKind, Grade, Hit, PlannedStep, Prompt, Tokens, Tool, Verdict, WebPolicy

PLANNED = 4
"""Steps of one plan, at most."""
PASSAGES = 4
"""The passages that an assessment reads: the surest so far."""
PLAN_TOKENS, ASSESSMENT_TOKENS = 256, 320


# ------------------------------------------------------------------- what the model replies with


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A look into the documents: for a query, or for what lies near a supposed answer."""

    tool: Literal[Tool.SEARCH_DOCUMENTS, Tool.HYPOTHESISE]
    query: str


@dataclass(frozen=True, slots=True)
class WebStep:
    """A step with no words of the model's in it."""

    tool: Literal[Tool.SEARCH_WEB] = Tool.SEARCH_WEB


@dataclass(frozen=True, slots=True)
class AnswerStep:
    """The end of a plan."""

    tool: Literal[Tool.ANSWER] = Tool.ANSWER


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps to take, where the web may be asked."""

    steps: Annotated[tuple[SearchStep | WebStep | AnswerStep, ...], MinLen(1), MaxLen(PLANNED)]


@dataclass(frozen=True, slots=True)
class LocalPlan(Plan):
    """The steps to take, where it may not: no such step can be written."""

    steps: Annotated[tuple[SearchStep | AnswerStep, ...], MinLen(1), MaxLen(PLANNED)]


@dataclass(frozen=True, slots=True)
class PlanAssessment:
    """Whether what was found is enough, why, and the steps to take where it is not."""

    enough: bool
    reason: str
    steps: Annotated[tuple[SearchStep | WebStep | AnswerStep, ...], MaxLen(PLANNED)]


@dataclass(frozen=True, slots=True)
class LocalPlanAssessment(PlanAssessment):
    """The same where the web may not be asked."""

    steps: Annotated[tuple[SearchStep | AnswerStep, ...], MaxLen(PLANNED)]


# ----------------------------------------------------------------------------------- one question


def gather_evidence(state: QuestionState, *, clock: Callable[[], float] = monotonic) -> Steps[str]:
    """Search as the model plans; returns the bound it stopped at, in words, or "".

    The grades of all that was found are in the state. ``clock`` gives seconds.
    """
    run = _Run(state, state.options.agent or AgentBounds(), clock)
    yield from timed(state.adapters, "plan", _make_plan(run))
    while run.plan or not run.searched:
        if reason := run.bound():
            return (yield from _stopped(reason))
        step = run.next()
        run.taken += 1
        yield Stepped(run.taken, step)
        if step.tool is Tool.ANSWER:
            break
        taken = yield from _take(run, step)
        if taken or (run.searched and not run.plan):
            if reason := run.spent():
                return (yield from _stopped(reason))
            if (yield from timed(state.adapters, "plan", _assess(run))):
                break
    return ""


def _stopped(reason: str) -> Steps[str]:
    yield Bounded(reason)
    return reason


@dataclass(slots=True)
class _Run:
    """One plan on its way: ``limit`` steps at most, ``taken`` so far, ``done`` in words for the model."""

    state: QuestionState
    bounds: AgentBounds
    clock: Callable[[], float]
    plan: list[PlannedStep] = field(default_factory=list)
    limit: int = 1
    taken: int = 0
    searched: bool = False
    done: list[str] = field(default_factory=list)
    _once: set[Tool] = field(default_factory=set)
    _started: float = field(init=False)
    _before: Tokens = field(init=False)

    def __post_init__(self) -> None:
        self._started, self._before = self.clock(), self.state.adapters.tokens()

    @property
    def web(self) -> bool:
        """Whether a line could be sent: there is a search, and it is allowed or somebody can allow it."""
        adapters, options = self.state.adapters, self.state.options
        asked = options.web_policy is WebPolicy.AUTO or (
            options.web_policy is WebPolicy.ASK and options.consent is not None
        )
        return asked and adapters.web is not None and adapters.fetcher is not None

    def next(self) -> PlannedStep:
        """The step to take now: the plan's, or a search for the question where nothing was searched yet."""
        question = PlannedStep(Tool.SEARCH_DOCUMENTS, self.state.question)
        if not self.searched:
            planned = self.plan[0] if self.plan else None
            last_chance = self.taken + 1 >= self.limit
            if planned is None or planned.tool in _AFTER_SEARCH or (last_chance and self.refusal(planned)):
                return question
        return self.plan.pop(0)

    def refusal(self, step: PlannedStep) -> str:
        """Why a step may not be taken, "" where it may."""
        if not self.searched and step == PlannedStep(Tool.SEARCH_DOCUMENTS, self.state.question):
            return ""
        if step.tool is Tool.SEARCH_WEB and not self.web:
            return "the web may not be asked"
        if step.tool in self._once:
            return "this was done before"
        if step.tool is not Tool.SEARCH_WEB:
            if not any(letter.isalnum() for letter in step.query):
                return "it says nothing to look for"
            if self.state.has_tried(step.query):
                return "this was searched for before"
        return ""

    def mark(self, step: PlannedStep) -> None:
        """The step is being taken, and cannot be again."""
        if step.tool is not Tool.SEARCH_DOCUMENTS:
            self._once.add(step.tool)
        if step.tool is not Tool.SEARCH_WEB:
            self.state.mark_tried([step.query])
            self.searched = True

    def bound(self) -> str:
        """The bound that no further step may cross; the first search is always made."""
        if not self.searched:
            return ""
        if self.taken >= self.limit:
            return "the limit of 1 step" if self.limit == 1 else f"the limit of {self.limit} steps"
        return self.spent()

    def spent(self) -> str:
        """The budget that is used up, "" where none is."""
        if self.clock() - self._started >= self.bounds.seconds:
            return f"the limit of {self.bounds.seconds:g} seconds"
        used = self.state.adapters.tokens() - self._before
        if used.evaluated + used.generated >= self.bounds.tokens:
            return f"the limit of {self.bounds.tokens:,} tokens"
        return ""


_AFTER_SEARCH = (Tool.SEARCH_WEB, Tool.ANSWER)


def _make_plan(run: _Run) -> Steps[None]:
    """The first plan, which sets the limit of steps; a search for the question where there is none."""
    state = run.state
    schema: type[Plan] = Plan if run.web else LocalPlan
    try:
        written = state.adapters.model.object(
            prompts.plan(state.question, web=run.web), schema, max_tokens=PLAN_TOKENS
        )
        run.plan = planned(written.steps)
    except ModelError as error:
        yield Degraded("plan", f"{error}; the documents are searched for the question")
        run.plan = [PlannedStep(Tool.SEARCH_DOCUMENTS, state.question)]
    run.limit = max(1, min(run.bounds.steps, max(2, 2 * len(run.plan))))
    yield Planned(tuple(run.plan), revised=False)


def _take(run: _Run, step: PlannedStep) -> Steps[bool]:
    """Take a step, and grade what it brings; False where it was refused."""
    state, words = run.state, f"{step.tool} “{step.query}”" if step.query else step.tool
    if refusal := run.refusal(step):
        run.done.append(f"{words}: refused, {refusal}")
        yield Degraded("agent", f"step {run.taken}, {words}, was refused: {refusal}")
        return False
    run.mark(step)
    stage = "retrieve" if step.tool is Tool.SEARCH_DOCUMENTS else "correct"
    hits = yield from timed(state.adapters, stage, _found(state, step))
    before = len(state.grades)
    yield from timed(state.adapters, "grade", grade_hits(state, hits))
    yield from emit_decision(state, f"step {run.taken}: ")
    helped = sum(grade.verdict is Verdict.YES for grade in state.grades[before:])
    run.done.append(f"{words}: {len(hits)} new passages, {helped} of them help")
    return True


def _found(state: QuestionState, step: PlannedStep) -> Steps[list[Hit]]:
    """The passages that this step is the first to bring."""
    if step.tool is Tool.SEARCH_WEB:
        return (yield from correct_by(CorrectionKind.WEB, state))
    if step.tool is Tool.HYPOTHESISE:
        return (yield from search_near(state, step.query))
    hits = yield from state.retriever.search([step.query], state.question, state.filter)
    return state.mark_seen(hits)


def _assess(run: _Run) -> Steps[bool]:
    """Whether to stop here; where not, the plan may have become another."""
    state = run.state
    schema: type[PlanAssessment] = PlanAssessment if run.web else LocalPlanAssessment
    try:
        said = state.adapters.model.object(_looked_at(run), schema, max_tokens=ASSESSMENT_TOKENS)
    except ModelError as error:
        yield Degraded("assess", f"{error}; the plan goes on as it was")
        return False
    reason = " ".join(said.reason.split())
    enough = said.enough and bool(_relevant(state))
    if said.enough and not enough:
        reason = f"no passage was judged to help, though the model says: {reason}"
    yield Assessed(enough, reason)
    steps = planned(said.steps)
    if not enough and steps and steps != run.plan:
        run.plan = steps
        yield Planned(tuple(steps), revised=True)
    return enough


def _looked_at(run: _Run) -> Prompt:
    """The prompt of an assessment, with as many of the surest passages as fit."""
    state, model = run.state, run.state.adapters.model
    surest = sorted(state.grades, key=lambda grade: -(grade.confidence or 0.0))
    texts = [grade.hit.passage.text for grade in surest[:PASSAGES]]
    while True:
        prompt = prompts.assess(state.question, run.done, texts, web=run.web)
        if not texts or model.count(prompt) + ASSESSMENT_TOKENS <= model.context:
            return prompt
        texts.pop()


def planned(steps: Sequence[SearchStep | WebStep | AnswerStep]) -> list[PlannedStep]:
    """Steps as the model wrote them, as steps of a plan: each query one line."""
    return [
        PlannedStep(step.tool, " ".join(step.query.split()) if isinstance(step, SearchStep) else "")
        for step in steps
    ]


def _relevant(state: QuestionState) -> list[Grade]:
    return relevant(state.grades, state.options.policy, state.adapters.grader.thresholds)
