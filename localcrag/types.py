"""The values that travel between the parts: frozen, typed, and free of behaviour.

The flow of one question, in types::

    Document → Passage → Hit(passage, score) → Grade(hit, verdict, confidence) → Action
             → Strip(passage, start, end, text, score) → Evidence(key, …) → Answer

Offsets are counted in characters (Python string indices) into the stored text of a document, or
of one page of it where the format has pages; ``text[start:end]`` is always exactly the piece meant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from types import MappingProxyType

MetaValue = str | int | float | bool
Meta = Mapping[str, MetaValue]
NO_META: Meta = MappingProxyType({})
JsonValue = str | int | float | bool | None | Sequence["JsonValue"] | Mapping[str, "JsonValue"]


class Origin(StrEnum):
    """Where a passage came from."""

    DOCUMENTS = "documents"
    WEB = "web"


class Verdict(StrEnum):
    """What a grader said of a passage; a grade that failed is ``error``, never yes or no."""

    YES = "yes"
    NO = "no"
    ERROR = "error"


class Action(StrEnum):
    """The three actions of the CRAG paper (arXiv 2401.15884, section 4.3)."""

    CORRECT = "correct"
    AMBIGUOUS = "ambiguous"
    INCORRECT = "incorrect"


class Status(StrEnum):
    """How an answer stands: given, doubtful, not in the evidence, or cut short at a bound."""

    ANSWERED = "answered"
    UNSURE = "unsure"
    NOT_FOUND = "not_found"
    TRUNCATED = "truncated"


class Policy(StrEnum):
    """The rule that turns grades into an action; see :mod:`localcrag.crag.decide`."""

    CRAG = "crag"
    ANY_IRRELEVANT = "any-irrelevant"
    NONE_RELEVANT = "none-relevant"


class GraderKind(StrEnum):
    """Who judges a passage: the language model, the evaluator, or both fused."""

    YESNO = "yesno"
    EVALUATOR = "evaluator"
    FUSED = "fused"


class Mode(StrEnum):
    """How the answer is made: written by the model, or quoted verbatim from the evidence."""

    WRITE = "write"
    QUOTE = "quote"


class WebPolicy(StrEnum):
    """Whether a query may leave the machine: never, after asking the user, or without asking."""

    NEVER = "never"
    ASK = "ask"
    AUTO = "auto"


class Finish(StrEnum):
    """Why a model stopped writing: it was done, or at a bound, or it began to repeat itself."""

    STOP = "stop"
    LENGTH = "length"
    CONTEXT = "context"
    REPEAT = "repeat"


class CorrectionKind(StrEnum):
    """The ways in which weak evidence is corrected."""

    REWRITE = "rewrite"
    PHRASINGS = "phrasings"
    HYDE = "hyde"
    NEIGHBOURS = "neighbours"
    WEB = "web"


# ---------------------------------------------------------------------------------- documents


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a document: ``number`` counts from 1, or is None where the format has no pages."""

    number: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A document as it was read: its stored text, page by page.

    ``source`` is an absolute path, a URL, or ``stdin:NAME``; ``hash`` is the sha256 (hex) of the
    bytes that were read.
    """

    source: str
    hash: str
    title: str
    media_type: str
    pages: tuple[Page, ...]
    meta: Meta = field(default_factory=lambda: NO_META)


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of one page of a document: what is embedded, searched, graded and cited.

    ``ordinal`` counts the passages of a document from 0; ``document`` is the document's hash;
    ``heading`` is the nearest section heading above it ("" where there is none).
    """

    id: str
    document: str
    source: str
    title: str
    heading: str
    page: int | None
    start: int
    end: int
    text: str
    ordinal: int = 0
    meta: Meta = field(default_factory=lambda: NO_META)
    origin: Origin = Origin.DOCUMENTS


@dataclass(frozen=True, slots=True)
class Indexed:
    """What a knowledge base remembers of a document it holds; ``size`` in bytes, ``mtime_ns`` of the file."""

    source: str
    hash: str
    size: int
    mtime_ns: int
    passages: int
    title: str = ""
    meta: Meta = field(default_factory=lambda: NO_META)


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What one knowledge base holds; ``size`` in bytes on disk."""

    name: str
    documents: int
    passages: int
    embedding_model: str
    dimension: int
    size: int
    fields: tuple[str, ...]
    vector_index: bool


# ---------------------------------------------------------------------------------- retrieval


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage found by a search; ``score`` orders the hits of one search, higher is better.

    ``similarity`` is the cosine of query and passage where it is known.
    """

    passage: Passage
    score: float
    similarity: float | None = None

    def to_json(self, rank: int) -> dict[str, JsonValue]:
        p = self.passage
        return {
            "rank": rank,
            "score": self.score,
            "source": p.source,
            "title": p.title,
            "page": p.page,
            "start": p.start,
            "end": p.end,
            "text": p.text,
            "meta": dict(p.meta),
        }


@dataclass(frozen=True, slots=True)
class Grade:
    """A grader's judgement of one hit: ``confidence`` is P(the passage helps), in [0, 1].

    ``confidence`` is None, and ``reason`` says why, where the verdict is ``error``.
    """

    hit: Hit
    verdict: Verdict
    confidence: float | None
    reason: str = ""

    def to_json(self) -> dict[str, JsonValue]:
        p = self.hit.passage
        return {
            "source": p.source,
            "page": p.page,
            "verdict": self.verdict,
            "confidence": self.confidence,
            "origin": p.origin,
        }


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The bounds of the CRAG action on P(relevant): at or above ``upper`` correct, below ``lower`` not."""

    upper: float = 0.5
    lower: float = 0.5


@dataclass(frozen=True, slots=True)
class Decision:
    """The action chosen from the grades, and why, in words a user reads."""

    action: Action
    reason: str


# ---------------------------------------------------------------------------------- evidence


@dataclass(frozen=True, slots=True)
class Strip:
    """A piece of a passage (CRAG, section 4.4), with its span in the document's stored text."""

    passage: Passage
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """A numbered piece of text that the answer may cite; ``key`` counts from 1."""

    key: int
    strip: Strip

    @property
    def text(self) -> str:
        return self.strip.text


@dataclass(frozen=True, slots=True)
class Citation:
    """A place the answer rests on; ``quote`` is exactly the slice ``start:end`` of the stored text."""

    key: int
    source: str
    page: int | None
    start: int
    end: int
    quote: str
    origin: Origin


@dataclass(frozen=True, slots=True)
class Correction:
    """One correcting search that was made: its kind, its query, how many new passages it brought."""

    kind: CorrectionKind
    query: str
    hits: int


@dataclass(frozen=True, slots=True)
class WebQuery:
    """A query that was sent to SearXNG, or that would have been (``sent`` False)."""

    query: str
    sent: bool
    results: int


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens a model read (evaluated) and wrote (generated)."""

    evaluated: int = 0
    generated: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.evaluated + other.evaluated, self.generated + other.generated)

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(self.evaluated - other.evaluated, self.generated - other.generated)


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost: tokens of all models together, and wall seconds per stage."""

    tokens: Tokens = Tokens()
    seconds: Mapping[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "tokens_evaluated": self.tokens.evaluated,
            "tokens_generated": self.tokens.generated,
            "seconds": {stage: round(value, 4) for stage, value in self.seconds.items()},
        }


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation; ``role`` is ``user`` or ``assistant``."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of the loop: the text, what it rests on, and how it came about."""

    question: str
    status: Status
    text: str
    mode: Mode
    policy: Policy
    action: Action
    citations: tuple[Citation, ...] = ()
    grades: tuple[Grade, ...] = ()
    corrections: tuple[Correction, ...] = ()
    web: tuple[WebQuery, ...] = ()
    degraded: tuple[str, ...] = ()
    usage: Usage = Usage()

    def to_json(self) -> dict[str, JsonValue]:
        """The object that ``ask --json`` prints; fields may be added, these stay."""
        return {
            "question": self.question,
            "status": self.status,
            "answer": self.text,
            "mode": self.mode,
            "citations": [asdict(c) for c in self.citations],
            "action": self.action,
            "policy": self.policy,
            "grades": [g.to_json() for g in self.grades],
            "corrections": [asdict(c) for c in self.corrections],
            "web": [asdict(w) for w in self.web],
            "degraded": list(self.degraded),
            "usage": self.usage.to_json(),
        }


# ---------------------------------------------------------------------------------- prompts


@dataclass(frozen=True, slots=True)
class Data:
    """Text from a user, a document or the web inside a prompt: data, never instructions.

    A model adapter must read it as plain text: no control token, whatever the text spells.
    """

    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One chat turn for a language model: our own words as ``str``, everybody else's as :class:`Data`."""

    system: str
    user: tuple[str | Data, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A constrained choice: ``probabilities`` over the options, in their order, summing to 1."""

    text: str
    probabilities: tuple[float, ...]


# ---------------------------------------------------------------------------------- the web


@dataclass(frozen=True, slots=True)
class WebResult:
    """One result of a web search: plain text, markup removed."""

    url: str
    title: str
    snippet: str
    engine: str = ""


@dataclass(frozen=True, slots=True)
class WebPage:
    """The readable text of a fetched page; ``text`` is the search snippet where fetching failed, and
    ``degraded`` then says why."""

    url: str
    title: str
    text: str
    degraded: str = ""


# ---------------------------------------------------------------------------------- ingestion


@dataclass(frozen=True, slots=True)
class Skipped:
    """A source that was not read, and why."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What an ingestion did; the counts are documents, ``passages`` those written."""

    kb: str
    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    passages: int = 0
    skipped: tuple[Skipped, ...] = ()
    seconds: float = 0.0

    def to_json(self) -> dict[str, JsonValue]:
        """The object that ``ingest --json`` prints."""
        return asdict(self) | {
            "skipped": [asdict(s) for s in self.skipped],
            "seconds": round(self.seconds, 3),
        }
