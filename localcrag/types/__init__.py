"""The values that travel between the parts: frozen, typed, and free of behaviour.

The flow of one question, in types::

    Document → Passage → Hit(passage, score) → Grade(hit, verdict, confidence) → Action
             → Strip(passage, start, end, text, score) → Evidence(key, …) → Answer

Offsets are counted in characters (Python string indices) into the stored text of a document, or
of one page of it where the format has pages; ``text[start:end]`` is always exactly the piece meant.

Each module is loaded by the first use of a name of its own: making all these classes takes a tenth of what
a warm search does.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localcrag.types.answers import (
        Answer,
        Citation,
        Claim,
        Contradiction,
        Correction,
        Evidence,
        PartAnswer,
        PlannedStep,
        Strip,
        Thread,
        Turn,
        Usage,
        WebQuery,
    )
    from localcrag.types.documents import (
        NO_META,
        Document,
        JsonValue,
        Meta,
        MetaValue,
        Page,
        Passage,
        StoreInfo,
    )
    from localcrag.types.ingestion import NO_TEXT, NO_TEXT_LAYER, Indexed, IngestReport, Reading, Skipped
    from localcrag.types.judging import Decision, Grade, Hit, Thresholds
    from localcrag.types.kinds import (
        Action,
        CorrectionKind,
        Finish,
        GraderKind,
        Grounding,
        Label,
        Layout,
        Mode,
        Origin,
        Policy,
        Status,
        StripKind,
        Tool,
        Verdict,
        Warm,
        WebPolicy,
    )
    from localcrag.types.prompts import Choice, Data, Prompt, Removable, Tokens
    from localcrag.types.web import WebPage, WebResult

__all__ = [
    "NO_META",
    "NO_TEXT",
    "NO_TEXT_LAYER",
    "Action",
    "Answer",
    "Choice",
    "Citation",
    "Claim",
    "Contradiction",
    "Correction",
    "CorrectionKind",
    "Data",
    "Decision",
    "Document",
    "Evidence",
    "Finish",
    "Grade",
    "GraderKind",
    "Grounding",
    "Hit",
    "Indexed",
    "IngestReport",
    "JsonValue",
    "Label",
    "Layout",
    "Meta",
    "MetaValue",
    "Mode",
    "Origin",
    "Page",
    "PartAnswer",
    "Passage",
    "PlannedStep",
    "Policy",
    "Prompt",
    "Reading",
    "Removable",
    "Skipped",
    "Status",
    "StoreInfo",
    "Strip",
    "StripKind",
    "Thread",
    "Thresholds",
    "Tokens",
    "Tool",
    "Turn",
    "Usage",
    "Verdict",
    "Warm",
    "WebPage",
    "WebPolicy",
    "WebQuery",
    "WebResult",
]

_MODULES = ("kinds", "documents", "judging", "ingestion", "prompts", "web", "answers")
"""Those that import nothing of the others first."""

if not TYPE_CHECKING:  # who checks types knows the names from above, and takes no others

    def __getattr__(name: str) -> Any:
        for module in _MODULES if name in __all__ else ():
            held = vars(import_module(f"localcrag.types.{module}"))
            if name in held:
                return globals().setdefault(name, held[name])
        raise AttributeError(f"module 'localcrag.types' has no attribute {name!r}")
