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

from localcrag.crag import correct, prompts
from localcrag.crag.decide import relevant
from localcrag.crag.gather import decided, judge
from localcrag.crag.parts import AgentBounds, Inquiry, timed
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
class Search:
    """A look into the documents: for a query, or for what lies near a supposed answer."""

    tool: Literal[Tool.SEARCH_DOCUMENTS, Tool.HYPOTHESISE]
    query: str


@dataclass(frozen=True, slots=True)
class AskWeb:
    """A step with no words of the model's in it."""

    tool: Literal[Tool.SEARCH_WEB] = Tool.SEARCH_WEB


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of a plan."""

    tool: Literal[Tool.ANSWER] = Tool.ANSWER


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps to take, where the web may be asked."""

    steps: Annotated[tuple[Search | AskWeb | Answer, ...], MinLen(1), MaxLen(PLANNED)]


@dataclass(frozen=True, slots=True)
class LocalPlan(Plan):
    """The steps to take, where it may not: no such step can be written."""

    steps: Annotated[tuple[Search | Answer, ...], MinLen(1), MaxLen(PLANNED)]


@dataclass(frozen=True, slots=True)
class Assessment:
    """Whether what was found is enough, why, and the steps to take where it is not."""

    enough: bool
    reason: str
    steps: Annotated[tuple[Search | AskWeb | Answer, ...], MaxLen(PLANNED)]


@dataclass(frozen=True, slots=True)
class LocalAssessment(Assessment):
    """The same where the web may not be asked."""

    steps: Annotated[tuple[Search | Answer, ...], MaxLen(PLANNED)]


# ----------------------------------------------------------------------------------- one question


def gather(inquiry: Inquiry, *, clock: Callable[[], float] = monotonic) -> Steps[str]:
    """Search as the model plans; returns the bound it stopped at, in words, or "".

    The grades of all that was found are in the inquiry. ``clock`` gives seconds.
    """
    run = _Run(inquiry, inquiry.options.agent or AgentBounds(), clock)
    yield from timed(inquiry.parts, "plan", _make_plan(run))
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
            if (yield from timed(inquiry.parts, "plan", _assess(run))):
                break
    return ""


def _stopped(reason: str) -> Steps[str]:
    yield Bounded(reason)
    return reason


@dataclass(slots=True)
class _Run:
    """One plan on its way: ``limit`` steps at most, ``taken`` so far, ``done`` in words for the model."""

    inquiry: Inquiry
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
        self._started, self._before = self.clock(), self.inquiry.parts.tokens()

    @property
    def web(self) -> bool:
        """Whether a line could be sent: there is a search, and it is allowed or somebody can allow it."""
        parts, options = self.inquiry.parts, self.inquiry.options
        asked = options.web_policy is WebPolicy.AUTO or (
            options.web_policy is WebPolicy.ASK and options.consent is not None
        )
        return asked and parts.web is not None and parts.fetcher is not None

    def next(self) -> PlannedStep:
        """The step to take now: the plan's, or a search for the question where nothing was searched yet."""
        question = PlannedStep(Tool.SEARCH_DOCUMENTS, self.inquiry.question)
        if not self.searched:
            planned = self.plan[0] if self.plan else None
            last_chance = self.taken + 1 >= self.limit
            if planned is None or planned.tool in _AFTER_SEARCH or (last_chance and self.refusal(planned)):
                return question
        return self.plan.pop(0)

    def refusal(self, step: PlannedStep) -> str:
        """Why a step may not be taken, "" where it may."""
        if not self.searched and step == PlannedStep(Tool.SEARCH_DOCUMENTS, self.inquiry.question):
            return ""
        if step.tool is Tool.SEARCH_WEB and not self.web:
            return "the web may not be asked"
        if step.tool in self._once:
            return "this was done before"
        if step.tool is not Tool.SEARCH_WEB:
            if not any(letter.isalnum() for letter in step.query):
                return "it says nothing to look for"
            if self.inquiry.has_tried(step.query):
                return "this was searched for before"
        return ""

    def mark(self, step: PlannedStep) -> None:
        """The step is being taken, and cannot be again."""
        if step.tool is not Tool.SEARCH_DOCUMENTS:
            self._once.add(step.tool)
        if step.tool is not Tool.SEARCH_WEB:
            self.inquiry.untried([step.query])
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
        used = self.inquiry.parts.tokens() - self._before
        if used.evaluated + used.generated >= self.bounds.tokens:
            return f"the limit of {self.bounds.tokens:,} tokens"
        return ""


_AFTER_SEARCH = (Tool.SEARCH_WEB, Tool.ANSWER)


def _make_plan(run: _Run) -> Steps[None]:
    """The first plan, which sets the limit of steps; a search for the question where there is none."""
    inquiry = run.inquiry
    schema: type[Plan] = Plan if run.web else LocalPlan
    try:
        written = inquiry.parts.model.object(
            prompts.plan(inquiry.question, web=run.web), schema, max_tokens=PLAN_TOKENS
        )
        run.plan = planned(written.steps)
    except ModelError as error:
        yield Degraded("plan", f"{error}; the documents are searched for the question")
        run.plan = [PlannedStep(Tool.SEARCH_DOCUMENTS, inquiry.question)]
    run.limit = max(1, min(run.bounds.steps, max(2, 2 * len(run.plan))))
    yield Planned(tuple(run.plan), revised=False)


def _take(run: _Run, step: PlannedStep) -> Steps[bool]:
    """Take a step, and grade what it brings; False where it was refused."""
    inquiry, words = run.inquiry, f"{step.tool} “{step.query}”" if step.query else step.tool
    if refusal := run.refusal(step):
        run.done.append(f"{words}: refused, {refusal}")
        yield Degraded("agent", f"step {run.taken}, {words}, was refused: {refusal}")
        return False
    run.mark(step)
    stage = "retrieve" if step.tool is Tool.SEARCH_DOCUMENTS else "correct"
    hits = yield from timed(inquiry.parts, stage, _found(inquiry, step))
    before = len(inquiry.grades)
    yield from timed(inquiry.parts, "grade", judge(inquiry, hits))
    yield from decided(inquiry, f"step {run.taken}: ")
    helped = sum(grade.verdict is Verdict.YES for grade in inquiry.grades[before:])
    run.done.append(f"{words}: {len(hits)} new passages, {helped} of them help")
    return True


def _found(inquiry: Inquiry, step: PlannedStep) -> Steps[list[Hit]]:
    """The passages that this step is the first to bring."""
    if step.tool is Tool.SEARCH_WEB:
        return (yield from correct.STEPS[CorrectionKind.WEB](inquiry))
    if step.tool is Tool.HYPOTHESISE:
        return (yield from correct.near(inquiry, step.query))
    hits = yield from inquiry.retriever.search([step.query], inquiry.question, inquiry.filter)
    return inquiry.unseen(hits)


def _assess(run: _Run) -> Steps[bool]:
    """Whether to stop here; where not, the plan may have become another."""
    inquiry = run.inquiry
    schema: type[Assessment] = Assessment if run.web else LocalAssessment
    try:
        said = inquiry.parts.model.object(_looked_at(run), schema, max_tokens=ASSESSMENT_TOKENS)
    except ModelError as error:
        yield Degraded("assess", f"{error}; the plan goes on as it was")
        return False
    reason = " ".join(said.reason.split())
    enough = said.enough and bool(_relevant(inquiry))
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
    inquiry, model = run.inquiry, run.inquiry.parts.model
    surest = sorted(inquiry.grades, key=lambda grade: -(grade.confidence or 0.0))
    texts = [grade.hit.passage.text for grade in surest[:PASSAGES]]
    while True:
        prompt = prompts.assess(inquiry.question, run.done, texts, web=run.web)
        if not texts or model.count(prompt) + ASSESSMENT_TOKENS <= model.context:
            return prompt
        texts.pop()


def planned(steps: Sequence[Search | AskWeb | Answer]) -> list[PlannedStep]:
    """Steps as the model wrote them, as steps of a plan: each query one line."""
    return [
        PlannedStep(step.tool, " ".join(step.query.split()) if isinstance(step, Search) else "")
        for step in steps
    ]


def _relevant(inquiry: Inquiry) -> list[Grade]:
    return relevant(inquiry.grades, inquiry.options.policy, inquiry.parts.grader.thresholds)
