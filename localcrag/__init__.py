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

if TYPE_CHECKING:  # one statement for each module; the import sorter would make one for each name
    # isort: off
    from localcrag.errors import (
        ArchiveError as ArchiveError,
        BadReply as BadReply,
        BundleError as BundleError,
        ClusterError as ClusterError,
        ConstraintError as ConstraintError,
        ContextOverflow as ContextOverflow,
        CorpusError as CorpusError,
        DamagedKnowledgeBase as DamagedKnowledgeBase,
        DocumentGone as DocumentGone,
        EmbeddingMismatch as EmbeddingMismatch,
        EnginesFailed as EnginesFailed,
        EvaluationError as EvaluationError,
        FetchRefused as FetchRefused,
        FilterError as FilterError,
        JsonDisabled as JsonDisabled,
        LedgerError as LedgerError,
        LocalCragError as LocalCragError,
        ModelError as ModelError,
        ModelFileError as ModelFileError,
        ModelNotFound as ModelNotFound,
        ModelNotInstalled as ModelNotInstalled,
        ModelServerError as ModelServerError,
        ObjectStorageError as ObjectStorageError,
        OfflineError as OfflineError,
        PruneRefused as PruneRefused,
        RateLimited as RateLimited,
        ServerDown as ServerDown,
        SettingsError as SettingsError,
        StorageFull as StorageFull,
        StoreError as StoreError,
        UnknownKnowledgeBase as UnknownKnowledgeBase,
        UnknownThread as UnknownThread,
        UnreadableError as UnreadableError,
        UsageError as UsageError,
        WarmError as WarmError,
        WebError as WebError,
        WebNotConfigured as WebNotConfigured,
    )
    from localcrag.events import (
        Advanced as Advanced,
        Assessed as Assessed,
        Bounded as Bounded,
        Closest as Closest,
        Computed as Computed,
        Condensed as Condensed,
        Contradicted as Contradicted,
        Corrected as Corrected,
        Decided as Decided,
        Degraded as Degraded,
        Delta as Delta,
        Discovered as Discovered,
        Divided as Divided,
        Event as Event,
        Filled as Filled,
        Finished as Finished,
        Gathered as Gathered,
        Graded as Graded,
        Grounded as Grounded,
        Ingested as Ingested,
        Measured as Measured,
        MovedSource as MovedSource,
        Optimizing as Optimizing,
        PageRead as PageRead,
        PartSettled as PartSettled,
        PassagesRead as PassagesRead,
        Planned as Planned,
        Processing as Processing,
        Progressed as Progressed,
        Questioned as Questioned,
        Refined as Refined,
        Reranked as Reranked,
        Retrieved as Retrieved,
        Rewritten as Rewritten,
        SkippedSource as SkippedSource,
        Spared as Spared,
        Stepped as Stepped,
        Suggested as Suggested,
        Unread as Unread,
        Verified as Verified,
        WebAsked as WebAsked,
    )
    from localcrag.json_schema import (
        answer_schema as answer_schema,
        event_schema as event_schema,
    )
    from localcrag.knowledge_base import (
        KnowledgeBase as KnowledgeBase,
        import_archive as import_archive,
        open as open,
    )
    from localcrag.options import (
        AskKeywords as AskKeywords,
        AskOptions as AskOptions,
    )
    from localcrag.settings import Settings as Settings
    from localcrag.types import (
        Action as Action,
        Aggregate as Aggregate,
        Answer as Answer,
        Citation as Citation,
        CitationMark as CitationMark,
        Claim as Claim,
        Computation as Computation,
        Contradiction as Contradiction,
        Correction as Correction,
        CorrectionKind as CorrectionKind,
        Decision as Decision,
        Document as Document,
        Evidence as Evidence,
        ExtractedRecord as ExtractedRecord,
        FieldResult as FieldResult,
        GivenText as GivenText,
        Grade as Grade,
        GraderKind as GraderKind,
        Grounding as Grounding,
        Hit as Hit,
        IndexedDocument as IndexedDocument,
        IngestReport as IngestReport,
        Layout as Layout,
        Mending as Mending,
        Mode as Mode,
        MovedDocument as MovedDocument,
        Origin as Origin,
        PartAnswer as PartAnswer,
        Passage as Passage,
        PlannedStep as PlannedStep,
        Policy as Policy,
        Relocation as Relocation,
        Skipped as Skipped,
        SourcePlace as SourcePlace,
        Status as Status,
        StoreInfo as StoreInfo,
        StoreProblem as StoreProblem,
        Strip as Strip,
        StripKind as StripKind,
        StructuredValue as StructuredValue,
        Support as Support,
        Tokens as Tokens,
        Turn as Turn,
        Usage as Usage,
        Verdict as Verdict,
        WebPolicy as WebPolicy,
        WebQuery as WebQuery,
    )
    # isort: on

__version__ = "0.1.0"

_NAMES = {
    "errors": """
        ArchiveError BadReply BundleError ClusterError ConstraintError ContextOverflow CorpusError
        DamagedKnowledgeBase DocumentGone EmbeddingMismatch EnginesFailed EvaluationError FetchRefused
        FilterError JsonDisabled LedgerError LocalCragError ModelError ModelFileError ModelNotFound
        ModelNotInstalled ModelServerError ObjectStorageError OfflineError PruneRefused RateLimited
        ServerDown SettingsError StorageFull StoreError UnknownKnowledgeBase UnknownThread UnreadableError
        UsageError WarmError WebError WebNotConfigured
    """,
    "events": """
        Advanced Assessed Bounded Closest Computed Condensed Contradicted Corrected Decided Degraded Delta
        Discovered Divided Event Filled Finished Gathered Graded Grounded Ingested Measured MovedSource
        Optimizing PageRead PartSettled PassagesRead Planned Processing Progressed Questioned Refined
        Reranked Retrieved Rewritten SkippedSource Spared Stepped Suggested Unread Verified WebAsked
    """,
    "json_schema": "answer_schema event_schema",
    "knowledge_base": "KnowledgeBase import_archive open",
    "options": "AskKeywords AskOptions",
    "settings": "Settings",
    "types": """
        Action Aggregate Answer Citation CitationMark Claim Computation Contradiction Correction
        CorrectionKind Decision Document Evidence ExtractedRecord FieldResult GivenText Grade GraderKind
        Grounding Hit IndexedDocument IngestReport Layout Mending Mode MovedDocument Origin PartAnswer
        Passage PlannedStep Policy Relocation Skipped SourcePlace Status StoreInfo StoreProblem Strip
        StripKind StructuredValue Support Tokens Turn Usage Verdict WebPolicy WebQuery
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
