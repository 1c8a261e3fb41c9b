"""The values that modules exchange: frozen dataclasses and enumerations.

The types of one question, in the order in which they arise::

    Document → Passage → Hit(passage, score) → Grade(hit, verdict, confidence) → Action
             → Strip(passage, start, end, text, score) → Evidence(key, …) → Answer

Offsets count characters (Python string indices) in the stored text of a document, or of one page of it if the
format has pages; ``text[start:end]`` is always exactly the piece that is meant.

Each module is imported at the first use of one of its names: to create all these classes takes a tenth of the
time of a warm search.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localcrag.types.answers import (
        Answer,
        Citation,
        CitationMark,
        Claim,
        Computation,
        Contradiction,
        Correction,
        Evidence,
        ExtractedRecord,
        PartAnswer,
        PlannedStep,
        Strip,
        Thread,
        Turn,
        Usage,
        WebQuery,
    )
    from localcrag.types.enums import (
        Action,
        Aggregate,
        BlockKind,
        CorrectionKind,
        FinishReason,
        GraderKind,
        Grounding,
        Layout,
        Mending,
        Mode,
        Origin,
        Policy,
        RubricLabel,
        Status,
        StripKind,
        Tool,
        Verdict,
        WarmPolicy,
        WebPolicy,
    )
    from localcrag.types.grades import Decision, Grade, Hit, Thresholds
    from localcrag.types.ingest_report import (
        NO_TEXT,
        NO_TEXT_LAYER,
        READING,
        IndexedDocument,
        IngestReport,
        LeftOut,
        MovedDocument,
        ReadResult,
        Skipped,
        StillReading,
    )
    from localcrag.types.passages import (
        CELL_SEPARATOR,
        HEADER_SEPARATOR,
        HEADING_SEPARATOR,
        NO_META,
        SENDER_FIELD,
        UNNAMED_COLUMN,
        Block,
        Document,
        FieldValue,
        GivenText,
        JsonValue,
        Meta,
        MetaValue,
        Page,
        Passage,
        Relocation,
        SourcePlace,
        StoreInfo,
        WordBox,
    )
    from localcrag.types.prompting import Choice, Prompt, RemovableText, Tokens, UntrustedText, WrittenLine
    from localcrag.types.store_problem import StoreProblem
    from localcrag.types.structured_values import FieldResult, ScalarValue, StructuredValue, Support
    from localcrag.types.web_results import WebPage, WebResult

__all__ = [
    "CELL_SEPARATOR",
    "HEADER_SEPARATOR",
    "HEADING_SEPARATOR",
    "NO_META",
    "NO_TEXT",
    "NO_TEXT_LAYER",
    "READING",
    "SENDER_FIELD",
    "UNNAMED_COLUMN",
    "Action",
    "Aggregate",
    "Answer",
    "Block",
    "BlockKind",
    "Choice",
    "Citation",
    "CitationMark",
    "Claim",
    "Computation",
    "Contradiction",
    "Correction",
    "CorrectionKind",
    "Decision",
    "Document",
    "Evidence",
    "ExtractedRecord",
    "FieldResult",
    "FieldValue",
    "FinishReason",
    "GivenText",
    "Grade",
    "GraderKind",
    "Grounding",
    "Hit",
    "IndexedDocument",
    "IngestReport",
    "JsonValue",
    "Layout",
    "LeftOut",
    "Mending",
    "Meta",
    "MetaValue",
    "Mode",
    "MovedDocument",
    "Origin",
    "Page",
    "PartAnswer",
    "Passage",
    "PlannedStep",
    "Policy",
    "Prompt",
    "ReadResult",
    "Relocation",
    "RemovableText",
    "RubricLabel",
    "ScalarValue",
    "Skipped",
    "SourcePlace",
    "Status",
    "StillReading",
    "StoreInfo",
    "StoreProblem",
    "Strip",
    "StripKind",
    "StructuredValue",
    "Support",
    "Thread",
    "Thresholds",
    "Tokens",
    "Tool",
    "Turn",
    "UntrustedText",
    "Usage",
    "Verdict",
    "WarmPolicy",
    "WebPage",
    "WebPolicy",
    "WebQuery",
    "WebResult",
    "WordBox",
    "WrittenLine",
]

_MODULES = (
    "enums",
    "passages",
    "grades",
    "ingest_report",
    "store_problem",
    "prompting",
    "web_results",
    "structured_values",
    "answers",
)
"""The modules of this package; each imports only modules before it."""

if not TYPE_CHECKING:  # a type checker knows the names from the imports above, and accepts no others

    def __getattr__(name: str) -> Any:
        """Import the module of a name at its first use. Raises AttributeError for an unknown name."""
        for module in _MODULES if name in __all__ else ():
            held = vars(import_module(f"localcrag.types.{module}"))
            if name in held:
                return globals().setdefault(name, held[name])
        raise AttributeError(f"module 'localcrag.types' has no attribute {name!r}")
