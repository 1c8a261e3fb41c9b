"""The adapters and options of a pipeline, and the state of one question in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import TypeVar

from localcrag._platform import storable
from localcrag.calibration.scale import Scale
from localcrag.crag.judges.fused_strips import FusedStrips
from localcrag.crag.judges.graders import Grader
from localcrag.crag.prompt_layout import JointPassages
from localcrag.crag.retrieval import Retriever
from localcrag.crag.table_answers.parsed_tables import DocumentTables
from localcrag.errors import UsageError
from localcrag.events import Measured, Steps
from localcrag.filters import Filter
from localcrag.output_schema.output_shape import OutputSchema
from localcrag.protocols import (
    Consent,
    Embedder,
    Evaluator,
    LanguageModel,
    PageFetcher,
    PassageReader,
    QueryModel,
    WebSearch,
)
from localcrag.types import (
    Action,
    Citation,
    CitationMark,
    Computation,
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
MAX_QUESTION_CHARACTERS = 4000
"""The most characters of a question; a longer text belongs into a document of the knowledge base."""
LOCAL_CORRECTIONS = (
    CorrectionKind.REWRITE,
    CorrectionKind.PHRASINGS,
    CorrectionKind.HYDE,
    CorrectionKind.NEIGHBOURS,
)
"""The corrections that need no network, in the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class Adapters:
    """The adapters of a pipeline, each behind its protocol.

    ``split`` cuts a fetched page into passages. ``strip_judge`` judges strips in place of the evaluator, and
    ``query_model`` writes queries over tables, in English only unless it ``reads_all_languages``;
    ``query_scale`` makes its probabilities those of being right. Where it is not sure,
    ``other_query_model``, which reads English, may confirm it.
    """

    store: PassageReader
    embedder: Embedder
    model: LanguageModel
    grader: Grader
    split: Callable[[Document], list[Passage]]
    evaluator: Evaluator | None = None
    strip_judge: FusedStrips | None = None
    query_model: QueryModel | None = None
    query_scale: Scale | None = None
    other_query_model: QueryModel | None = None
    reads_all_languages: bool = False
    web: WebSearch | None = None
    fetcher: PageFetcher | None = None

    def tokens(self) -> Tokens:
        """The tokens that the models have read and written since they were loaded."""
        others = (self.evaluator, self.query_model, self.other_query_model)
        return sum((model.tokens for model in others if model), start=self.model.tokens)


@dataclass(frozen=True, slots=True)
class AgentBounds:
    """The bounds at which the agent stops.

    ``steps`` is the most steps of all plans together, ``seconds`` the wall time, and ``tokens`` the tokens
    read and written by all models.
    """

    steps: int = 12
    seconds: float = 300.0
    tokens: int = 60_000


@dataclass(frozen=True, slots=True)
class PipelineOptions:
    """How a pipeline answers its question.

    ``passages`` is the most hits of one search that are graded, of ``candidates`` that an evaluator
    reranks. ``enough`` is the number of surely relevant passages from which on no more are graded; 0 means
    that all are graded. ``evidence`` is the most strips that are kept, and ``answer_tokens`` the most tokens
    of a written answer. ``corrections`` are the local corrections in the order they are tried; with
    ``agent``, a plan takes their place. ``extractive`` restricts a very small model to the question's own
    words, and ``divide_by_rule`` divides a question without the model. With ``english_only`` the model writes
    no search for a question in another language. With ``second_opinion`` the model is asked whether the
    evidence answers. ``tables`` lets code compute over the
    rows of a table. ``without_model`` says why there is no language model, and is "" if there is one.
    ``consent`` is asked before each web query if ``web_policy`` is ``ask``. With ``output`` the answer has
    the form of a schema; ``fields_by_model`` lets the language model choose the values that no rule finds.
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
    tables: bool = True
    divide_by_rule: bool = False
    grounding: Grounding = Grounding.MARK
    contradictions: bool = False
    second_opinion: bool = False
    agent: AgentBounds | None = None
    corrections: tuple[CorrectionKind, ...] = LOCAL_CORRECTIONS
    extractive: bool = False
    english_only: bool = False
    without_model: str = ""
    web_policy: WebPolicy = WebPolicy.NEVER
    web_results: int = 5
    consent: Consent | None = None
    output: OutputSchema | None = None
    fields_by_model: bool = False


@dataclass(frozen=True, slots=True)
class Query:
    """A question of the user, with the turns before it (oldest first) and a filter on the documents."""

    question: str
    history: tuple[Turn, ...] = ()
    filter: Filter | None = None

    @classmethod
    def of(cls, question: object, history: Sequence[Turn] = (), filter: Filter | None = None) -> Query:
        """A question as a user gave it. Raises UsageError if it is no text, empty, or too long."""
        return cls(checked_question(question), tuple(history), filter)


def checked_question(question: object) -> str:
    """The question without the white space around it, and without code points that are no characters.

    Raises UsageError if it is not a string, is empty, or has more than ``MAX_QUESTION_CHARACTERS``.
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
class PassageOpinion:
    """What the language model holds of whole passages that it ``read``: P(they answer the question)."""

    read: tuple[Strip, ...]
    probability: float


@dataclass(frozen=True, slots=True)
class Finding:
    """The evidence gathered for one question, or for one part of it.

    ``sure`` says whether the policy holds the evidence to be enough. ``bound`` is the bound at which the
    agent stopped, in words, or "" if it reached none. ``weak`` says that the evaluator held no strip to
    answer, so that there is none, or one that only stands out from the rest of its passage. ``believed`` says
    that the language model, asked for its opinion, believes that the evidence answers; ``read`` are then the
    whole passages that it read, if it did.
    """

    state: QuestionState
    strips: tuple[Strip, ...]
    sure: bool
    bound: str = ""
    weak: bool = False
    believed: bool = False
    read: tuple[Strip, ...] = ()

    @property
    def evidence(self) -> tuple[Strip, ...]:
        """What an answer is written from: the passages that the model read, or else the strips."""
        return self.read or self.strips

    @property
    def status(self) -> Status:
        """How the part stands before an answer is generated."""
        if not self.strips:
            return Status.NOT_FOUND
        return Status.ANSWERED if self.sure else Status.UNSURE


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of the loop that is not in its events: the status and the citations of the answer.

    ``cut_short`` says that the agent stopped at a bound.
    """

    status: Status
    citations: tuple[Citation, ...] = ()
    cut_short: bool = False

    @property
    def found(self) -> bool:
        """Whether there is an answer, even if it is doubtful or cut short."""
        return self.status is not Status.NOT_FOUND


@dataclass(frozen=True, slots=True)
class ComputedAnswer:
    """An answer that was computed over a table: its text, and the rows that it cites, as keys from 1.

    ``marks`` are the places of the citations in the text.
    """

    computation: Computation
    text: str
    rows: tuple[Strip, ...]
    marks: tuple[CitationMark, ...]


@dataclass(frozen=True, slots=True)
class Replaced:
    """A question that a ``plainer`` one took the place of, with the grades that it had."""

    question: str
    plainer: str
    grades: tuple[Grade, ...]


@dataclass(slots=True)
class QuestionState:
    """The state of one question: its adapters and options, and the passages found and graded so far.

    ``question`` is the standalone question. ``asked`` is the user's own text, and the only text that a web
    query is made from. ``action`` is the first decision, which says whether to correct. ``joint`` holds the
    passages of the joint prompt if the layout is ``joint``. ``doubtful`` says that the question may be
    understood wrongly (made whole by the wrong words), so that no answer to it is sure. ``foreign`` says that
    the grades do not count, since question and passages are in different languages. ``computed`` is the
    answer if it was computed over a table. ``opinion`` is what the language model holds of the best passages,
    if it was to read them. ``documents`` are those whose tables were read, by source.
    """

    adapters: Adapters
    options: PipelineOptions
    question: str
    asked: str
    filter: Filter | None = None
    grades: list[Grade] = field(default_factory=list)
    action: Action | None = None
    joint: JointPassages = field(default_factory=JointPassages)
    doubtful: bool = False
    foreign: bool = False
    computed: ComputedAnswer | None = None
    opinion: PassageOpinion | None = None
    documents: dict[str, DocumentTables] = field(default_factory=dict)
    _replaced: Replaced | None = None
    _tried: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)

    @property
    def retriever(self) -> Retriever:
        """A retriever with the adapters and options of this question."""
        adapters, options = self.adapters, self.options
        return Retriever(
            adapters.store, adapters.embedder, adapters.evaluator, options.passages, options.candidates
        )

    def ask_plainly(self, question: str, hits: Sequence[Hit]) -> None:
        """Let a plainer question take the place of this one, and forget the grades of the hits it found."""
        found = {hit.passage.id for hit in hits}
        self._replaced = Replaced(self.question, question, tuple(self.grades))
        self.question = question
        self.grades = [grade for grade in self.grades if grade.hit.passage.id not in found]

    def take_back_plainer(self) -> Replaced | None:
        """Ask the question again that a plainer one has replaced, if the best of its grades is higher.

        The grades by the plainer question are kept of passages that only it has found. Returns what was
        replaced; None if the plainer question stays, or there is none.
        """
        replaced, self._replaced = self._replaced, None
        if replaced is None or _best(self.grades) >= _best(replaced.grades):
            return None
        known = {grade.hit.passage.id for grade in replaced.grades}
        self.question = replaced.question
        self.grades = [*replaced.grades, *(g for g in self.grades if g.hit.passage.id not in known)]
        return replaced

    @property
    def tried(self) -> Sequence[str]:
        """The queries marked as tried, in order."""
        return tuple(self._tried)

    def has_tried(self, query: str) -> bool:
        """Whether this query was tried; case, white space and punctuation at the end make no difference."""
        return _folded(query) in {_folded(known) for known in self._tried}

    def mark_tried(self, queries: Iterable[str]) -> list[str]:
        """Mark queries as tried; returns those that were not tried before."""
        fresh = []
        for query in queries:
            if not self.has_tried(query):
                self._tried.append(query)
                fresh.append(query)
        return fresh

    @property
    def seen(self) -> frozenset[str]:
        """The ids of the passages that a search has found."""
        return frozenset(self._seen)

    def mark_seen(self, hits: Iterable[Hit]) -> list[Hit]:
        """Mark hits as seen; returns those that no earlier search had found."""
        fresh = [hit for hit in hits if hit.passage.id not in self._seen]
        self._seen |= {hit.passage.id for hit in fresh}
        return fresh


def timed(adapters: Adapters, stage: str, steps: Steps[T]) -> Steps[T]:
    """The steps, with a Measured event at their end.

    The time of the consumer between two events is not counted, nor is a stage within this one, which has
    its own Measured event.

    Args:
        adapters: the adapters whose tokens are counted.
        stage: the name of the stage.
        steps: the steps to measure.

    Returns:
        The result of the steps.
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


def _best(grades: Sequence[Grade]) -> float:
    """The highest confidence of some grades; 0 if there is none."""
    return max((grade.confidence or 0.0 for grade in grades), default=0.0)


def _folded(query: str) -> str:
    """A query for comparison, without case, extra white space and punctuation at the end."""
    return " ".join(query.casefold().split()).rstrip("?.! ")
