"""From evidence to the answer, and everything the answer tells about itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from localcrag.types.enums import Action, CorrectionKind, Mode, Origin, Policy, Status, Tool, Verdict
from localcrag.types.grades import Grade
from localcrag.types.passages import JsonValue, Passage
from localcrag.types.prompting import Tokens


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
        """The text of the strip."""
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
class Usage:
    """What an answer cost: tokens of all models together, and wall seconds per stage."""

    tokens: Tokens = field(default_factory=Tokens)
    seconds: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, JsonValue]:
        """The object under ``usage`` in the answer's JSON; seconds are rounded to 4 decimals."""
        return {
            "tokens_evaluated": self.tokens.evaluated,
            "tokens_generated": self.tokens.generated,
            "seconds": {stage: round(value, 4) for stage, value in self.seconds.items()},
        }


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of a conversation; ``role`` is ``user`` or ``assistant``.

    An assistant's turn may keep its answer's JSON object in ``record`` ("" where it has none).
    """

    role: str
    text: str
    record: str = ""


@dataclass(frozen=True, slots=True)
class Thread:
    """A named conversation: which knowledge base it asks, its default filter, how long it is.

    ``created`` and ``used`` are seconds since 1970 (UTC).
    """

    name: str
    kb: str | None
    filter: str | None
    turns: int
    created: float
    used: float


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of the agent's plan; ``query`` is what to search for or to suppose ("" for the others)."""

    tool: Tool
    query: str


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """How one part of a question of several parts stands."""

    question: str
    status: Status
    action: Action


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of a written answer, held against the evidence it cites (``keys``).

    ``verdict`` is yes where the evidence bears it out; ``confidence`` is P(it does), None for ``error``.
    """

    text: str
    keys: tuple[int, ...]
    verdict: Verdict
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two pieces of evidence, by key, of different sources, that were judged to disagree."""

    first: int
    second: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Answer:
    """The end of the loop: the text, what it rests on, and how it came about.

    ``standalone`` is the question as it was understood, where it was a follow-up; ``suggestions`` are
    what the user could try, in words; ``found`` is False if the text only says that there is no answer.
    """

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
    standalone: str = ""
    parts: tuple[PartAnswer, ...] = ()
    claims: tuple[Claim, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    suggestions: tuple[str, ...] = ()
    found: bool = True

    def to_dict(self) -> dict[str, JsonValue]:
        """The object that ``ask --json`` prints; fields may be added, these stay."""
        return {
            "question": self.question,
            "status": self.status,
            "answer": self.text,
            "mode": self.mode,
            "citations": [asdict(c) for c in self.citations],
            "action": self.action,
            "policy": self.policy,
            "grades": [g.to_dict() for g in self.grades],
            "corrections": [asdict(c) for c in self.corrections],
            "web": [asdict(w) for w in self.web],
            "degraded": list(self.degraded),
            "usage": self.usage.to_dict(),
            "standalone": self.standalone,
            "parts": [asdict(p) for p in self.parts],
            "claims": [asdict(c) for c in self.claims],
            "contradictions": [asdict(c) for c in self.contradictions],
            "suggestions": list(self.suggestions),
        }

    def to_json(self, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON text; ``indent`` is the number of blanks per level, None for one line."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)
