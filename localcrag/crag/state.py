"""What a pipeline is made of, and the state of one question on its way through it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TypeVar

from localcrag._platform import storable
from localcrag.crag.graders import Grader
from localcrag.crag.prompt_layout import JointPassages
from localcrag.crag.retrieval import Retriever
from localcrag.errors import OfflineError, UsageError, WebError
from localcrag.events import Measured, PageRead, Steps, WebAsked
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
    WebPage,
    WebPolicy,
    WebResult,
)

T = TypeVar("T")
MAX_QUESTION_CHARACTERS = 4000
"""A longer question is a document, and belongs into the knowledge base."""
LOCAL_CORRECTIONS = (
    CorrectionKind.REWRITE,
    CorrectionKind.PHRASINGS,
    CorrectionKind.HYDE,
    CorrectionKind.NEIGHBOURS,
)


@dataclass(frozen=True, slots=True)
class Adapters:
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
class PipelineOptions:
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

    @classmethod
    def of(cls, question: object, history: Sequence[Turn] = (), filter: Filter | None = None) -> Query:
        """A question as a user gave it. Raises UsageError if it is no text, empty, or too long."""
        return cls(checked_question(question), tuple(history), filter)


def checked_question(question: object) -> str:
    """The question without the white space around it, and without code points that are no characters.

    Raises UsageError if it is no text, empty, or too long.
    """
    if not isinstance(question, str):
        raise UsageError(
            f"the question is a {type(question).__name__}, and must be a string",
            hint='ask in words: kb.ask("what is …?")',
        )
    stripped = storable(question.strip())
    if not stripped:
        raise UsageError("the question is empty", hint='ask something: localcrag ask "what is …?"')
    if len(stripped) > MAX_QUESTION_CHARACTERS:
        raise UsageError(
            f"the question has {len(stripped):,} characters, the limit is {MAX_QUESTION_CHARACTERS:,}",
            hint="put long text into a file, ingest it, and ask about it",
        )
    return stripped


@dataclass(frozen=True, slots=True)
class Finding:
    """What was gathered for one question, or one part of it.

    ``sure`` says whether the policy holds the evidence to be enough; ``bound`` says at which bound
    the agent stopped ("" where at none).
    """

    state: QuestionState
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
    """How the loop ended: beside the events, all that the answer needs.

    ``cut_short`` says that the agent stopped at a bound.
    """

    status: Status
    citations: tuple[Citation, ...] = ()
    cut_short: bool = False

    @property
    def found(self) -> bool:
        """Whether there is an answer, if only a part of one."""
        return self.status is not Status.NOT_FOUND


@dataclass(slots=True)
class QuestionState:
    """The state of one question: what was asked, tried, seen and judged so far.

    ``question`` stands alone; ``asked`` is the user's own line, and the only text that a web query
    is ever made from. ``action`` is the first decision: the one that says whether to correct; ``joint``
    is what lies before the model in layout ``joint``.
    """

    adapters: Adapters
    options: PipelineOptions
    question: str
    asked: str
    filter: Filter | None = None
    grades: list[Grade] = field(default_factory=list)
    action: Action | None = None
    joint: JointPassages = field(default_factory=JointPassages)
    _tried: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    @property
    def retriever(self) -> Retriever:
        adapters, options = self.adapters, self.options
        return Retriever(
            adapters.store, adapters.embedder, adapters.evaluator, options.passages, options.candidates
        )

    @property
    def tried(self) -> Sequence[str]:
        return tuple(self._tried)

    def has_tried(self, query: str) -> bool:
        """Whether a query like this was made; case, white space and a question mark make no difference."""
        return _folded(query) in {_folded(known) for known in self._tried}

    def mark_tried(self, queries: Iterable[str]) -> list[str]:
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

    def mark_seen(self, hits: Iterable[Hit]) -> list[Hit]:
        """The hits not brought by an earlier search, now marked as seen."""
        fresh = [hit for hit in hits if hit.passage.id not in self._seen]
        self._seen |= {hit.passage.id for hit in fresh}
        return fresh


def timed(adapters: Adapters, stage: str, steps: Steps[T]) -> Steps[T]:
    """The steps, and a Measured event at their end.

    The consumer's own time is not counted, nor is a stage within this one, which is measured apart.
    """
    before, seconds, within = adapters.tokens(), 0.0, Tokens()
    while True:
        started = perf_counter()
        try:
            event = next(steps)
        except StopIteration as stop:
            seconds += perf_counter() - started
            yield Measured(stage, max(0.0, seconds), adapters.tokens() - before - within)
            result: T = stop.value
            return result
        seconds += perf_counter() - started
        if isinstance(event, Measured):
            seconds, within = seconds - event.seconds, within + event.tokens
        yield event


def _folded(query: str) -> str:
    return " ".join(query.casefold().split()).rstrip("?.! ")


@dataclass(slots=True)
class SharedWebAccess:
    """The web for the parts of one question: the same line is asked for, sent and fetched for once.

    In a chat every part asks the web with the user's own line. What the first of them was told, sent
    and given holds for the others, which judge the pages against their own words. To be made anew for
    each question.
    """

    _asked: set[str] = field(default_factory=set)
    _repeated: bool = False

    def wrap(self, adapters: Adapters, options: PipelineOptions) -> tuple[Adapters, PipelineOptions]:
        """The same, with a web and a consent that remember."""
        web = adapters.web and _Search(adapters.web)
        fetcher = adapters.fetcher and _Fetcher(adapters.fetcher)
        consent = options.consent and _Remembered(options.consent)
        return replace(adapters, web=web, fetcher=fetcher), replace(options, consent=consent)

    def without_repeats(self, steps: Steps[T]) -> Steps[T]:
        """The steps without those that did not happen again: a line asked before is not sent nor read for."""
        while True:
            try:
                event = next(steps)
            except StopIteration as stop:
                result: T = stop.value
                return result
            if isinstance(event, WebAsked):
                self._repeated = event.query in self._asked
                self._asked.add(event.query)
            if not (self._repeated and isinstance(event, (WebAsked, PageRead))):
                yield event


@dataclass(slots=True)
class _Remembered:
    """A :class:`~localcrag.protocols.Consent` that is asked for a line once."""

    consent: Consent
    given: dict[str, str | None] = field(default_factory=dict)

    def __call__(self, query: str) -> str | None:
        if query not in self.given:
            self.given[query] = self.consent(query)
        return self.given[query]


@dataclass(slots=True)
class _Search:
    """A :class:`~localcrag.protocols.WebSearch` that sends a line once, and fails for it as it did."""

    web: WebSearch
    found: dict[str, list[WebResult] | WebError | OfflineError | UsageError] = field(default_factory=dict)

    def line(self, query: str) -> str:
        return self.web.line(query)

    def search(self, query: str, *, limit: int = 5) -> list[WebResult]:
        if query not in self.found:
            try:
                self.found[query] = self.web.search(query, limit=limit)
            except (WebError, OfflineError, UsageError) as error:
                self.found[query] = error
        found = self.found[query]
        if isinstance(found, list):
            return found
        raise found


@dataclass(slots=True)
class _Fetcher:
    """A :class:`~localcrag.protocols.PageFetcher` that fetches the same results once."""

    fetcher: PageFetcher
    read: dict[tuple[WebResult, ...], list[WebPage]] = field(default_factory=dict)

    def fetch(self, results: Iterable[WebResult]) -> Iterator[WebPage]:
        wanted = tuple(results)
        if wanted in self.read:
            yield from self.read[wanted]
            return
        pages = self.read[wanted] = []
        for page in self.fetcher.fetch(wanted):
            pages.append(page)
            yield page
