"""What one loop is made of, and the state of one question on its way through it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from localcrag.crag.grade import Grader
from localcrag.crag.layout import Table
from localcrag.crag.retrieve import Retriever
from localcrag.events import Measured, Steps
from localcrag.filters import Filter
from localcrag.protocols import (
    Consent,
    Embedder,
    Evaluator,
    LanguageModel,
    PageFetcher,
    PassageStore,
    WebSearch,
)
from localcrag.types import (
    Action,
    Citation,
    CorrectionKind,
    Document,
    Grade,
    Grounding,
    Hit,
    Layout,
    Mode,
    Passage,
    Policy,
    Status,
    Strip,
    StripKind,
    Tokens,
    Turn,
    WebPolicy,
)

T = TypeVar("T")
LOCAL_CORRECTIONS = (
    CorrectionKind.REWRITE,
    CorrectionKind.PHRASINGS,
    CorrectionKind.HYDE,
    CorrectionKind.NEIGHBOURS,
)


@dataclass(frozen=True, slots=True)
class Parts:
    """The adapters behind their protocols; ``split`` cuts a fetched page into passages."""

    store: PassageStore
    embedder: Embedder
    model: LanguageModel
    grader: Grader
    split: Callable[[Document], list[Passage]]
    evaluator: Evaluator | None = None
    web: WebSearch | None = None
    fetcher: PageFetcher | None = None

    def tokens(self) -> Tokens:
        """Everything the models read and wrote so far."""
        return self.model.tokens + (self.evaluator.tokens if self.evaluator else Tokens())


@dataclass(frozen=True, slots=True)
class AgentBounds:
    """Where the agent stops: after so many steps, seconds of wall time, or tokens of all models."""

    steps: int = 12
    seconds: float = 300.0
    tokens: int = 60_000


@dataclass(frozen=True, slots=True)
class Options:
    """How this question is to be answered.

    ``enough`` is the number of surely relevant passages from which on no more are graded, 0 for no
    end; ``corrections`` are the local steps in the order they are tried; ``agent`` puts a plan in their
    place; ``extractive`` keeps what a very small model writes to the question's own words;
    ``consent`` is asked before each web query where ``web_policy`` is ``ask``.
    """

    policy: Policy = Policy.CRAG
    mode: Mode = Mode.WRITE
    passages: int = 6
    candidates: int = 24
    phrasings: int = 3
    strips: StripKind = StripKind.SENTENCE
    layout: Layout = Layout.INDEPENDENT
    enough: int = 0
    evidence: int = 6
    answer_tokens: int = 384
    divide: bool = True
    grounding: Grounding = Grounding.MARK
    contradictions: bool = False
    agent: AgentBounds | None = None
    corrections: tuple[CorrectionKind, ...] = LOCAL_CORRECTIONS
    extractive: bool = False
    web_policy: WebPolicy = WebPolicy.NEVER
    web_results: int = 5
    consent: Consent | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """What the user asked: the question, the turns before it, and a filter on the documents."""

    question: str
    history: tuple[Turn, ...] = ()
    filter: Filter | None = None


@dataclass(frozen=True, slots=True)
class Finding:
    """What was gathered for one question, or one part of it.

    ``sure`` says whether the policy holds the evidence to be enough; ``bound`` says at which bound
    the agent stopped ("" where at none).
    """

    inquiry: Inquiry
    strips: tuple[Strip, ...]
    sure: bool
    bound: str = ""

    @property
    def status(self) -> Status:
        if not self.strips:
            return Status.NOT_FOUND
        return Status.ANSWERED if self.sure else Status.UNSURE


@dataclass(frozen=True, slots=True)
class Outcome:
    """How the loop ended: beside the events, all that the answer needs."""

    status: Status
    citations: tuple[Citation, ...] = ()


@dataclass(slots=True)
class Inquiry:
    """The state of one question: what was asked, tried, seen and judged so far.

    ``question`` stands alone; ``asked`` is the user's own line, and the only text that a web query
    is ever made from. ``action`` is the first decision: the one that says whether to correct; ``table``
    is what lies before the model in layout ``joint``.
    """

    parts: Parts
    options: Options
    question: str
    asked: str
    filter: Filter | None = None
    grades: list[Grade] = field(default_factory=list)
    action: Action | None = None
    table: Table = field(default_factory=Table)
    _tried: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    @property
    def retriever(self) -> Retriever:
        parts, options = self.parts, self.options
        return Retriever(parts.store, parts.embedder, parts.evaluator, options.passages, options.candidates)

    @property
    def tried(self) -> Sequence[str]:
        return tuple(self._tried)

    def has_tried(self, query: str) -> bool:
        """Whether a query like this was made; case, white space and a question mark make no difference."""
        return _folded(query) in {_folded(known) for known in self._tried}

    def untried(self, queries: Iterable[str]) -> list[str]:
        """The queries that say something new, now marked as tried."""
        fresh = []
        for query in queries:
            if not self.has_tried(query):
                self._tried.append(query)
                fresh.append(query)
        return fresh

    @property
    def seen(self) -> frozenset[str]:
        """The passages that a search has brought, by id."""
        return frozenset(self._seen)

    def unseen(self, hits: Iterable[Hit]) -> list[Hit]:
        """The hits not brought by an earlier search, now marked as seen."""
        fresh = [hit for hit in hits if hit.passage.id not in self._seen]
        self._seen |= {hit.passage.id for hit in fresh}
        return fresh


def timed(parts: Parts, stage: str, steps: Steps[T]) -> Steps[T]:
    """The steps, and a Measured event at their end.

    The consumer's own time is not counted, nor is a stage within this one, which is measured apart.
    """
    before, seconds, within = parts.tokens(), 0.0, Tokens()
    while True:
        started = perf_counter()
        try:
            event = next(steps)
        except StopIteration as stop:
            seconds += perf_counter() - started
            yield Measured(stage, max(0.0, seconds), parts.tokens() - before - within)
            result: T = stop.value
            return result
        seconds += perf_counter() - started
        if isinstance(event, Measured):
            seconds, within = seconds - event.seconds, within + event.tokens
        yield event


def _folded(query: str) -> str:
    return " ".join(query.casefold().split()).rstrip("?.! ")
