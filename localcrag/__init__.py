"""localcrag: corrective RAG that runs wholly on your own machine.

::

    import localcrag

    with localcrag.open("papers") as kb:
        kb.ingest("~/papers", metadata={"team": "x"})
        answer = kb.ask("what is the dose?")
        print(answer.text, answer.citations)

Everything public is importable from here: :func:`open` and :class:`KnowledgeBase`; the options of a
question (:class:`AskOptions`) and their enumerations; what comes back (:class:`Answer`,
:class:`Citation`, :class:`Hit`, :class:`IngestReport`); every event and every error; the JSON Schemas.
Importing this loads nothing heavy: modules are imported on the first use of a name, models and indexes
on the first question.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

# The threads of OpenMP (llama.cpp, CTranslate2, torch) wait for one another at each step of a graph by
# spinning, by default for many milliseconds, which are lost if other programs use the processors too. It is
# read once, when the first of these libraries is loaded, so it must be set before any of them is. Beside one
# busy program on two cores an answer took 3.2 s with 1,000 turns and 17.2 s without a limit; on an idle
# machine a search takes 0.32 s with either.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

if TYPE_CHECKING:
    from localcrag.errors import (
        ArchiveError as ArchiveError,
    )
    from localcrag.errors import (
        BadReply as BadReply,
    )
    from localcrag.errors import (
        BundleError as BundleError,
    )
    from localcrag.errors import (
        ClusterError as ClusterError,
    )
    from localcrag.errors import (
        ConstraintError as ConstraintError,
    )
    from localcrag.errors import (
        ContextOverflow as ContextOverflow,
    )
    from localcrag.errors import (
        CorpusError as CorpusError,
    )
    from localcrag.errors import (
        DamagedKnowledgeBase as DamagedKnowledgeBase,
    )
    from localcrag.errors import (
        DocumentGone as DocumentGone,
    )
    from localcrag.errors import (
        EmbeddingMismatch as EmbeddingMismatch,
    )
    from localcrag.errors import (
        EnginesFailed as EnginesFailed,
    )
    from localcrag.errors import (
        EvaluationError as EvaluationError,
    )
    from localcrag.errors import (
        FetchRefused as FetchRefused,
    )
    from localcrag.errors import (
        FilterError as FilterError,
    )
    from localcrag.errors import (
        JsonDisabled as JsonDisabled,
    )
    from localcrag.errors import (
        LedgerError as LedgerError,
    )
    from localcrag.errors import (
        LocalCragError as LocalCragError,
    )
    from localcrag.errors import (
        ModelError as ModelError,
    )
    from localcrag.errors import (
        ModelFileError as ModelFileError,
    )
    from localcrag.errors import (
        ModelNotFound as ModelNotFound,
    )
    from localcrag.errors import (
        ModelNotInstalled as ModelNotInstalled,
    )
    from localcrag.errors import (
        ModelServerError as ModelServerError,
    )
    from localcrag.errors import (
        ObjectStorageError as ObjectStorageError,
    )
    from localcrag.errors import (
        OfflineError as OfflineError,
    )
    from localcrag.errors import (
        PruneRefused as PruneRefused,
    )
    from localcrag.errors import (
        RateLimited as RateLimited,
    )
    from localcrag.errors import (
        ServerDown as ServerDown,
    )
    from localcrag.errors import (
        SettingsError as SettingsError,
    )
    from localcrag.errors import (
        StorageFull as StorageFull,
    )
    from localcrag.errors import (
        StoreError as StoreError,
    )
    from localcrag.errors import (
        UnknownKnowledgeBase as UnknownKnowledgeBase,
    )
    from localcrag.errors import (
        UnknownThread as UnknownThread,
    )
    from localcrag.errors import (
        UnreadableError as UnreadableError,
    )
    from localcrag.errors import (
        UsageError as UsageError,
    )
    from localcrag.errors import (
        WarmError as WarmError,
    )
    from localcrag.errors import (
        WebError as WebError,
    )
    from localcrag.errors import (
        WebNotConfigured as WebNotConfigured,
    )
    from localcrag.events import (
        Advanced as Advanced,
    )
    from localcrag.events import (
        Assessed as Assessed,
    )
    from localcrag.events import (
        Bounded as Bounded,
    )
    from localcrag.events import (
        Closest as Closest,
    )
    from localcrag.events import (
        Computed as Computed,
    )
    from localcrag.events import (
        Condensed as Condensed,
    )
    from localcrag.events import (
        Contradicted as Contradicted,
    )
    from localcrag.events import (
        Corrected as Corrected,
    )
    from localcrag.events import (
        Decided as Decided,
    )
    from localcrag.events import (
        Degraded as Degraded,
    )
    from localcrag.events import (
        Delta as Delta,
    )
    from localcrag.events import (
        Discovered as Discovered,
    )
    from localcrag.events import (
        Divided as Divided,
    )
    from localcrag.events import (
        Event as Event,
    )
    from localcrag.events import (
        Filled as Filled,
    )
    from localcrag.events import (
        Finished as Finished,
    )
    from localcrag.events import (
        Gathered as Gathered,
    )
    from localcrag.events import (
        Graded as Graded,
    )
    from localcrag.events import (
        Grounded as Grounded,
    )
    from localcrag.events import (
        Ingested as Ingested,
    )
    from localcrag.events import (
        Measured as Measured,
    )
    from localcrag.events import (
        MovedSource as MovedSource,
    )
    from localcrag.events import (
        Optimizing as Optimizing,
    )
    from localcrag.events import (
        PageRead as PageRead,
    )
    from localcrag.events import (
        PartSettled as PartSettled,
    )
    from localcrag.events import (
        PassagesRead as PassagesRead,
    )
    from localcrag.events import (
        Planned as Planned,
    )
    from localcrag.events import (
        Processing as Processing,
    )
    from localcrag.events import (
        Progressed as Progressed,
    )
    from localcrag.events import (
        Questioned as Questioned,
    )
    from localcrag.events import (
        Refined as Refined,
    )
    from localcrag.events import (
        Reranked as Reranked,
    )
    from localcrag.events import (
        Retrieved as Retrieved,
    )
    from localcrag.events import (
        Rewritten as Rewritten,
    )
    from localcrag.events import (
        SkippedSource as SkippedSource,
    )
    from localcrag.events import (
        Spared as Spared,
    )
    from localcrag.events import (
        Stepped as Stepped,
    )
    from localcrag.events import (
        Suggested as Suggested,
    )
    from localcrag.events import (
        Unread as Unread,
    )
    from localcrag.events import (
        Verified as Verified,
    )
    from localcrag.events import (
        WebAsked as WebAsked,
    )
    from localcrag.json_schema import (
        answer_schema as answer_schema,
    )
    from localcrag.json_schema import (
        event_schema as event_schema,
    )
    from localcrag.knowledge_base import (
        KnowledgeBase as KnowledgeBase,
    )
    from localcrag.knowledge_base import (
        import_archive as import_archive,
    )
    from localcrag.knowledge_base import (
        open as open,
    )
    from localcrag.options import (
        AskKeywords as AskKeywords,
    )
    from localcrag.options import (
        AskOptions as AskOptions,
    )
    from localcrag.settings import (
        Settings as Settings,
    )
    from localcrag.types import (
        Action as Action,
    )
    from localcrag.types import (
        Aggregate as Aggregate,
    )
    from localcrag.types import (
        Answer as Answer,
    )
    from localcrag.types import (
        Citation as Citation,
    )
    from localcrag.types import (
        CitationMark as CitationMark,
    )
    from localcrag.types import (
        Claim as Claim,
    )
    from localcrag.types import (
        Computation as Computation,
    )
    from localcrag.types import (
        Contradiction as Contradiction,
    )
    from localcrag.types import (
        Correction as Correction,
    )
    from localcrag.types import (
        CorrectionKind as CorrectionKind,
    )
    from localcrag.types import (
        Decision as Decision,
    )
    from localcrag.types import (
        Document as Document,
    )
    from localcrag.types import (
        Evidence as Evidence,
    )
    from localcrag.types import (
        ExtractedRecord as ExtractedRecord,
    )
    from localcrag.types import (
        FieldResult as FieldResult,
    )
    from localcrag.types import (
        GivenText as GivenText,
    )
    from localcrag.types import (
        Grade as Grade,
    )
    from localcrag.types import (
        GraderKind as GraderKind,
    )
    from localcrag.types import (
        Grounding as Grounding,
    )
    from localcrag.types import (
        Hit as Hit,
    )
    from localcrag.types import (
        IndexedDocument as IndexedDocument,
    )
    from localcrag.types import (
        IngestReport as IngestReport,
    )
    from localcrag.types import (
        Layout as Layout,
    )
    from localcrag.types import (
        Mending as Mending,
    )
    from localcrag.types import (
        Mode as Mode,
    )
    from localcrag.types import (
        MovedDocument as MovedDocument,
    )
    from localcrag.types import (
        Origin as Origin,
    )
    from localcrag.types import (
        PartAnswer as PartAnswer,
    )
    from localcrag.types import (
        Passage as Passage,
    )
    from localcrag.types import (
        PlannedStep as PlannedStep,
    )
    from localcrag.types import (
        Policy as Policy,
    )
    from localcrag.types import (
        Relocation as Relocation,
    )
    from localcrag.types import (
        Skipped as Skipped,
    )
    from localcrag.types import (
        SourcePlace as SourcePlace,
    )
    from localcrag.types import (
        Status as Status,
    )
    from localcrag.types import (
        StoreInfo as StoreInfo,
    )
    from localcrag.types import (
        StoreProblem as StoreProblem,
    )
    from localcrag.types import (
        Strip as Strip,
    )
    from localcrag.types import (
        StripKind as StripKind,
    )
    from localcrag.types import (
        StructuredValue as StructuredValue,
    )
    from localcrag.types import (
        Support as Support,
    )
    from localcrag.types import (
        Tokens as Tokens,
    )
    from localcrag.types import (
        Turn as Turn,
    )
    from localcrag.types import (
        Usage as Usage,
    )
    from localcrag.types import (
        Verdict as Verdict,
    )
    from localcrag.types import (
        WebPolicy as WebPolicy,
    )
    from localcrag.types import (
        WebQuery as WebQuery,
    )

__version__ = "0.1.0"

_NAMES = {
    "errors": """
        ArchiveError BadReply BundleError ClusterError ConstraintError ContextOverflow CorpusError
        DamagedKnowledgeBase DocumentGone
        EmbeddingMismatch EnginesFailed
        EvaluationError FetchRefused FilterError JsonDisabled LedgerError LocalCragError ModelError
        ModelFileError ModelNotFound ModelNotInstalled ModelServerError ObjectStorageError OfflineError
        PruneRefused RateLimited ServerDown SettingsError
        StorageFull StoreError UnknownKnowledgeBase UnknownThread UnreadableError UsageError WarmError
        WebError WebNotConfigured
    """,
    "events": """
        Advanced Assessed Bounded Closest Computed Condensed Contradicted Corrected Decided Degraded Delta
        Discovered Divided Event Filled Finished Gathered Graded Grounded Ingested Measured MovedSource
        Optimizing PageRead PartSettled PassagesRead Planned Processing Progressed Questioned Refined Reranked
        Retrieved Rewritten SkippedSource Spared Stepped Suggested Unread Verified WebAsked
    """,
    "json_schema": "answer_schema event_schema",
    "knowledge_base": "KnowledgeBase import_archive open",
    "options": "AskKeywords AskOptions",
    "settings": "Settings",
    "types": """
        Action Aggregate Answer Citation CitationMark Claim Computation Contradiction Correction
        CorrectionKind Decision Document Evidence ExtractedRecord FieldResult GivenText Grade GraderKind
        Grounding Hit IndexedDocument IngestReport Layout Mending Mode MovedDocument Origin PartAnswer
        Passage PlannedStep
        Policy Relocation Skipped SourcePlace Status StoreInfo StoreProblem Strip StripKind
        StructuredValue Support Tokens Turn
        Usage Verdict WebPolicy WebQuery
    """,
}
"""The public names by the module that has them."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}
__all__ = ["__version__", *_HOMES]

if not TYPE_CHECKING:  # who checks types knows the names from above, and takes no others

    def __getattr__(name: str) -> Any:
        if name in ("errors", "events", "types"):
            return import_module(f"localcrag.{name}")
        if name not in _HOMES:
            raise AttributeError(f"module 'localcrag' has no attribute {name!r}")
        return globals().setdefault(name, getattr(import_module(f"localcrag.{_HOMES[name]}"), name))

    def __dir__() -> list[str]:
        return sorted(__all__)
