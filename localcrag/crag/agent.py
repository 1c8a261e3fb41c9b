"""The agent: makes a typed plan, takes its steps one at a time, and reassesses the plan after each.

::

    plan ─► step ─► grade, decide ─► assess ─► enough: answer
              ▲                        └─────► not yet: the rest of the plan, or another
              └────────────────────────────────────┘

Planning before the first action is Plan-and-Solve (Wang et al. 2023, arXiv 2305.04091); reasoning
again after each observation is ReAct (Yao et al. 2022, arXiv 2210.03629). The tools are a closed
set; each reply of the model is decoded under a schema and checked:

- The documents are searched before the web is asked and before anything is answered.
- The step to the web has no argument. The model that plans has read documents, so its words could
  disclose them; the line that is sent is made from the user's own question alone.
- A step that was taken before, or whose query has no word, is refused and still counts. So every
  round comes nearer to the limit of steps, whatever the model replies.

The bounds are checked between steps; a step that has begun is finished.
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

MAX_PLANNED_STEPS = 4
"""The most steps that one plan may have."""
MAX_ASSESSED_PASSAGES = 4
"""The most passages that an assessment reads: those with the highest confidence so far."""
PLAN_TOKENS, ASSESSMENT_TOKENS = 256, 320
"""The most tokens that the model may write for a plan, and for an assessment."""


# ------------------------------------------------------------------- replies of the model


@dataclass(frozen=True, slots=True)
class SearchStep:
    """A search of the documents, for a query or for the passages nearest to a supposed answer."""

    tool: Literal[Tool.SEARCH_DOCUMENTS, Tool.HYPOTHESISE]
    query: str


@dataclass(frozen=True, slots=True)
class WebStep:
    """A search of the web; it has no query, since the model's words must not leave the machine."""

    tool: Literal[Tool.SEARCH_WEB] = Tool.SEARCH_WEB


@dataclass(frozen=True, slots=True)
class AnswerStep:
    """The last step of a plan: the search ends and the answer is written."""

    tool: Literal[Tool.ANSWER] = Tool.ANSWER


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps to take if the web may be asked."""

    steps: Annotated[tuple[SearchStep | WebStep | AnswerStep, ...], MinLen(1), MaxLen(MAX_PLANNED_STEPS)]


@dataclass(frozen=True, slots=True)
class LocalPlan(Plan):
    """The steps to take if the web may not be asked: the schema has no web step."""

    steps: Annotated[tuple[SearchStep | AnswerStep, ...], MinLen(1), MaxLen(MAX_PLANNED_STEPS)]


@dataclass(frozen=True, slots=True)
class PlanAssessment:
    """Whether the passages found are enough, the reason, and the next steps if they are not."""

    enough: bool
    reason: str
    steps: Annotated[tuple[SearchStep | WebStep | AnswerStep, ...], MaxLen(MAX_PLANNED_STEPS)]


@dataclass(frozen=True, slots=True)
class LocalPlanAssessment(PlanAssessment):
    """An assessment if the web may not be asked: the schema has no web step."""

    steps: Annotated[tuple[SearchStep | AnswerStep, ...], MaxLen(MAX_PLANNED_STEPS)]


# ----------------------------------------------------------------------------------- one question


def gather_evidence(state: QuestionState, *, clock: Callable[[], float] = monotonic) -> Steps[str]:
    """Search as the model plans, until it has enough, the plan ends, or a bound is reached.

    The grades of all passages found are added to ``state.grades``. A failed model call is a Degraded
    event: without a plan, the documents are searched for the question.

    Args:
        state: the question, its adapters and its options.
        clock: a function that returns seconds, for the time limit.

    Returns:
        The bound at which the agent stopped, in words, or "" if it reached none.
    """
    run = _Run(state, state.options.agent or AgentBounds(), clock)
    yield from timed(state.adapters, "plan", _make_plan(run))
    while run.plan or not run.searched:
        if reason := run.bound():
            return (yield from _emit_bound(reason))
        step = run.pop_next()
        run.taken += 1
        yield Stepped(run.taken, step)
        if step.tool is Tool.ANSWER:
            break
        taken = yield from _take_step(run, step)
        if taken or (run.searched and not run.plan):
            if reason := run.exhausted_budget():
                return (yield from _emit_bound(reason))
            if (yield from timed(state.adapters, "plan", _assess(run))):
                break
    return ""


def _emit_bound(reason: str) -> Steps[str]:
    """Emit the bound at which the agent stops; returns it."""
    yield Bounded(reason)
    return reason


@dataclass(slots=True)
class _Run:
    """The progress of one agent: its remaining plan, and the steps it has taken.

    ``limit`` is the most steps that may be taken, ``taken`` the number of those taken so far,
    ``searched`` whether the documents have been searched, and ``done`` describes the steps taken, in
    words for the model.
    """

    state: QuestionState
    bounds: AgentBounds
    clock: Callable[[], float]
    plan: list[PlannedStep] = field(default_factory=list)
    limit: int = 1
    taken: int = 0
    searched: bool = False
    done: list[str] = field(default_factory=list)
    _used_tools: set[Tool] = field(default_factory=set)
    _started: float = field(init=False)
    _before: Tokens = field(init=False)

    def __post_init__(self) -> None:
        self._started, self._before = self.clock(), self.state.adapters.tokens()

    @property
    def web_allowed(self) -> bool:
        """Whether a query could be sent: a web search exists, and it is allowed or the user can allow it."""
        adapters, options = self.state.adapters, self.state.options
        asked = options.web_policy is WebPolicy.AUTO or (
            options.web_policy is WebPolicy.ASK and options.consent is not None
        )
        return asked and adapters.web is not None and adapters.fetcher is not None

    def pop_next(self) -> PlannedStep:
        """Remove the next step from the plan and return it.

        If nothing was searched yet, it is a search for the question, and the plan stays as it is, in
        three cases: the plan is empty, its next step needs a search before it, or its next step would be
        refused and is the last one within the limit.
        """
        question = PlannedStep(Tool.SEARCH_DOCUMENTS, self.state.question)
        if not self.searched:
            planned = self.plan[0] if self.plan else None
            last_chance = self.taken + 1 >= self.limit
            if (
                planned is None
                or planned.tool in _TOOLS_AFTER_SEARCH
                or (last_chance and self.refusal(planned))
            ):
                return question
        return self.plan.pop(0)

    def refusal(self, step: PlannedStep) -> str:
        """The reason why a step may not be taken, or "" if it may."""
        if not self.searched and step == PlannedStep(Tool.SEARCH_DOCUMENTS, self.state.question):
            return ""
        if step.tool is Tool.SEARCH_WEB and not self.web_allowed:
            return "the web may not be asked"
        if step.tool in self._used_tools:
            return "this was done before"
        if step.tool is not Tool.SEARCH_WEB:
            if not any(letter.isalnum() for letter in step.query):
                return "it says nothing to look for"
            if self.state.has_tried(step.query):
                return "this was searched for before"
        return ""

    def mark_taken(self, step: PlannedStep) -> None:
        """Record that the step is being taken, so that it cannot be taken again."""
        if step.tool is not Tool.SEARCH_DOCUMENTS:
            self._used_tools.add(step.tool)
        if step.tool is not Tool.SEARCH_WEB:
            self.state.mark_tried([step.query])
            self.searched = True

    def bound(self) -> str:
        """The bound that forbids a further step, or ""; before the first search there is none."""
        if not self.searched:
            return ""
        if self.taken >= self.limit:
            return "the limit of 1 step" if self.limit == 1 else f"the limit of {self.limit} steps"
        return self.exhausted_budget()

    def exhausted_budget(self) -> str:
        """The budget of seconds or tokens that is used up, in words, or ""."""
        if self.clock() - self._started >= self.bounds.seconds:
            return f"the limit of {self.bounds.seconds:g} seconds"
        used = self.state.adapters.tokens() - self._before
        if used.evaluated + used.generated >= self.bounds.tokens:
            return f"the limit of {self.bounds.tokens:,} tokens"
        return ""


_TOOLS_AFTER_SEARCH = (Tool.SEARCH_WEB, Tool.ANSWER)
"""The tools that may be used only after the documents were searched."""


def _make_plan(run: _Run) -> Steps[None]:
    """Ask the model for the first plan; the limit of steps is twice its length, within the bound.

    If the model fails, the plan is one search for the question.
    """
    state = run.state
    schema: type[Plan] = Plan if run.web_allowed else LocalPlan
    try:
        written = state.adapters.model.object(
            prompts.plan(state.question, web=run.web_allowed), schema, max_tokens=PLAN_TOKENS
        )
        run.plan = planned_steps(written.steps)
    except ModelError as error:
        yield Degraded("plan", f"{error}; the documents are searched for the question")
        run.plan = [PlannedStep(Tool.SEARCH_DOCUMENTS, state.question)]
    run.limit = max(1, min(run.bounds.steps, max(2, 2 * len(run.plan))))
    yield Planned(tuple(run.plan), revised=False)


def _take_step(run: _Run, step: PlannedStep) -> Steps[bool]:
    """Take a step and grade the passages it finds; returns False if the step was refused."""
    state, words = run.state, f"{step.tool} “{step.query}”" if step.query else step.tool
    if refusal := run.refusal(step):
        run.done.append(f"{words}: refused, {refusal}")
        yield Degraded("agent", f"step {run.taken}, {words}, was refused: {refusal}")
        return False
    run.mark_taken(step)
    stage = "retrieve" if step.tool is Tool.SEARCH_DOCUMENTS else "correct"
    hits = yield from timed(state.adapters, stage, _run_step(state, step))
    before = len(state.grades)
    yield from timed(state.adapters, "grade", grade_hits(state, hits))
    yield from emit_decision(state, f"step {run.taken}: ")
    helped = sum(grade.verdict is Verdict.YES for grade in state.grades[before:])
    run.done.append(f"{words}: {len(hits)} new passages, {helped} of them help")
    return True


def _run_step(state: QuestionState, step: PlannedStep) -> Steps[list[Hit]]:
    """Run the search of a step; returns the hits that no earlier search had found."""
    if step.tool is Tool.SEARCH_WEB:
        return (yield from correct_by(CorrectionKind.WEB, state))
    if step.tool is Tool.HYPOTHESISE:
        return (yield from search_near(state, step.query))
    hits = yield from state.retriever.search([step.query], state.question, state.filter)
    return state.mark_seen(hits)


def _assess(run: _Run) -> Steps[bool]:
    """Ask the model whether the passages found are enough, and replace the plan if it gives another.

    Returns True if the search is over. If no passage was graded relevant, it is not, whatever the model
    replies. If the model fails, the plan stays as it was.
    """
    state = run.state
    schema: type[PlanAssessment] = PlanAssessment if run.web_allowed else LocalPlanAssessment
    try:
        said = state.adapters.model.object(_assessment_prompt(run), schema, max_tokens=ASSESSMENT_TOKENS)
    except ModelError as error:
        yield Degraded("assess", f"{error}; the plan goes on as it was")
        return False
    reason = " ".join(said.reason.split())
    enough = said.enough and bool(_relevant_grades(state))
    if said.enough and not enough:
        reason = f"no passage was judged to help, though the model says: {reason}"
    yield Assessed(enough, reason)
    steps = planned_steps(said.steps)
    if not enough and steps and steps != run.plan:
        run.plan = steps
        yield Planned(tuple(steps), revised=True)
    return enough


def _assessment_prompt(run: _Run) -> Prompt:
    """The prompt of an assessment, with as many of the most confident passages as fit the context."""
    state, model = run.state, run.state.adapters.model
    surest = sorted(state.grades, key=lambda grade: -(grade.confidence or 0.0))
    texts = [grade.hit.passage.text for grade in surest[:MAX_ASSESSED_PASSAGES]]
    while True:
        prompt = prompts.assess(state.question, run.done, texts, web=run.web_allowed)
        if not texts or model.count(prompt) + ASSESSMENT_TOKENS <= model.context:
            return prompt
        texts.pop()


def planned_steps(steps: Sequence[SearchStep | WebStep | AnswerStep]) -> list[PlannedStep]:
    """The steps that the model wrote, as steps of a plan; the white space of queries is normalised."""
    return [
        PlannedStep(step.tool, " ".join(step.query.split()) if isinstance(step, SearchStep) else "")
        for step in steps
    ]


def _relevant_grades(state: QuestionState) -> list[Grade]:
    """The grades so far that the policy holds to be relevant."""
    return relevant(state.grades, state.options.policy, state.adapters.grader.thresholds)
