"""Evidence, the answer, and the records of how the answer came about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from localcrag.types.enums import (
    Action,
    Aggregate,
    CorrectionKind,
    Mode,
    Origin,
    Policy,
    Status,
    Tool,
    Verdict,
)
from localcrag.types.grades import Grade
from localcrag.types.ingest_report import Skipped
from localcrag.types.passages import JsonValue, Passage
from localcrag.types.prompting import Tokens
from localcrag.types.structured_values import FieldResult, StructuredValue


@dataclass(frozen=True, slots=True)
class Strip:
    """A piece of a passage (CRAG, section 4.4), with its span in the document's stored text.

    ``score`` is P(the strip helps), 0 until it is judged.
    """

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
    """A place that the answer cites; ``quote`` is exactly the slice ``start:end`` of the stored text.

    In a spreadsheet, ``sheet`` is the name of the sheet; there and in a CSV file, ``rows`` are the numbers of
    the first and the last row that is cited, as the file counts them (its first row is 1). ``kb`` is the name
    of the knowledge base if several were asked, else "".
    """

    key: int
    source: str
    page: int | None
    start: int
    end: int
    quote: str
    origin: Origin
    sheet: str = ""
    rows: tuple[int, int] | None = None
    kb: str = ""


@dataclass(frozen=True, slots=True)
class CitationMark:
    """A citation in the text of an answer, such as "[1]": characters ``[start, end)``, citing ``key``.

    Only these are citations. Any other number in brackets is a part of a text that is quoted.
    """

    key: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Correction:
    """One correction that was made: its kind, its query, and the number of new passages it found."""

    kind: CorrectionKind
    query: str
    hits: int


@dataclass(frozen=True, slots=True)
class WebQuery:
    """A query that was sent to SearXNG, or that was not allowed or able to be sent (``sent`` False)."""

    query: str
    sent: bool
    results: int


@dataclass(frozen=True, slots=True)
class Usage:
    """The cost of an answer: the tokens of all models together, and wall seconds by stage."""

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

    An assistant's turn may keep the JSON object of its answer in ``record``; otherwise it is "".
    """

    role: str
    text: str
    record: str = ""


@dataclass(frozen=True, slots=True)
class Thread:
    """A named conversation: the knowledge base it asks, its default filter, and its number of turns.

    ``created`` and ``used`` (the last use) are seconds since 1970 (UTC).
    """

    name: str
    kb: str | None
    filter: str | None
    turns: int
    created: float
    used: float


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One step of the agent's plan; ``query`` is the text to search with, "" if the tool needs none."""

    tool: Tool
    query: str


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """The result for one part of a divided question: how it stands, and its first action."""

    question: str
    status: Status
    action: Action


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of a written answer, checked against the evidence that it cites (``keys``).

    ``verdict`` is yes if the evidence supports it; ``confidence`` is P(it does), None for ``error``.
    """

    text: str
    keys: tuple[int, ...]
    verdict: Verdict
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two pieces of evidence from different sources, by their keys, that were judged to disagree.

    ``confidence`` is P(they disagree).
    """

    first: int
    second: int
    confidence: float


@dataclass(frozen=True, slots=True)
class Computation:
    """What was computed by code over the rows of one table of a document, for a question that asks for it.

    ``column`` is the column that was counted, compared or added up, "" if rows were counted, and ``value``
    the result as the answer shows it. ``conditions`` say in words which rows count; ``rows`` is their
    number, and ``table_rows`` that of all rows of the table. ``left_out`` says in words which rows do not
    count for another reason, such as rows of totals. ``counted`` is "row", or "cell" if the columns of the
    table are months or other periods and it went over cells of several: then these are what ``rows`` counts.
    """

    operation: Aggregate
    column: str
    value: str
    conditions: tuple[str, ...]
    rows: int
    table_rows: int
    left_out: tuple[str, ...]
    source: str
    page: int | None
    counted: str = "row"


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question: its text, its citations, and how it came about.

    ``action`` is the first decision of the policy. ``degraded`` are the parts of the work that failed, in
    words. ``standalone`` is the question as it was understood, if it was rewritten, otherwise "".
    ``suggestions`` are filters that the user could try, in words. ``computed`` is set if the answer was
    computed over a table. ``found`` is False if the text only says that there is no answer. ``marks`` are the
    places of the citations in the text; a number in brackets elsewhere is a part of a document. ``unread``
    are documents that were skipped, if nothing was found. ``structured`` is set if the answer was asked for
    in a form (``output``); :attr:`value` is its value. ``closest`` are the passages that come nearest to an
    answer, if none was found: places to look, not evidence.
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
    computed: Computation | None = None
    found: bool = True
    marks: tuple[CitationMark, ...] = ()
    unread: tuple[Skipped, ...] = ()
    structured: StructuredValue | None = None
    closest: tuple[Grade, ...] = ()

    @property
    def value(self) -> JsonValue:
        """The value of a structured answer, null where the evidence bears nothing out; None for others."""
        return self.structured.loaded() if self.structured else None

    @property
    def fields(self) -> tuple[FieldResult, ...]:
        """Every single value of a structured answer, with the place in the evidence where it stands."""
        return self.structured.fields if self.structured else ()

    @property
    def unsupported(self) -> tuple[str, ...]:
        """The fields of a structured answer that the evidence does not bear out, as JSON pointers."""
        return self.structured.unsupported if self.structured else ()

    def to_dict(self) -> dict[str, JsonValue]:
        """The object that ``ask --json`` prints; fields may be added, but none of these is removed."""
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
            "computed": None if self.computed is None else asdict(self.computed),
            "marks": [asdict(m) for m in self.marks],
            "unread": [asdict(item) for item in self.unread],
            "closest": [grade.to_closest() for grade in self.closest],
            "value": self.value,
            "fields": [asdict(each) for each in self.fields],
            "unsupported": list(self.unsupported),
        }

    def to_json(self, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON text; ``indent`` is the number of blanks per level, None for one line."""
        import json

        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)


@dataclass(frozen=True, slots=True)
class ExtractedRecord:
    """What was extracted from one document: the value, and the citations of its parts by their keys.

    If the document could not be read, ``reason`` says why, and there is no value.
    """

    source: str
    structured: StructuredValue | None
    citations: tuple[Citation, ...] = ()
    reason: str = ""

    @property
    def value(self) -> JsonValue:
        """The value, null where the document bears nothing out."""
        return self.structured.loaded() if self.structured else None

    def to_dict(self) -> dict[str, JsonValue]:
        """The line that ``localcrag extract`` prints for the document."""
        held = self.structured
        return {
            "source": self.source,
            "value": self.value,
            "unsupported": list(held.unsupported) if held else [],
            "fields": [asdict(each) for each in held.fields] if held else [],
            "citations": [asdict(each) for each in self.citations],
            "reason": self.reason,
        }
