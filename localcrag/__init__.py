"""localcrag: corrective RAG that runs wholly on your own machine.

::

    import localcrag
    kb = localcrag.open("papers")
    kb.ingest(["~/papers"], metadata={"team": "x"})
    answer = kb.ask("what is the dose?")
    print(answer.text, answer.citations)

Importing this loads nothing heavy; models and indexes load on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from localcrag.errors import LocalCragError
    from localcrag.knowledge_base import KnowledgeBase, open
    from localcrag.types import Answer, Citation, Grade, Hit, IngestReport, Passage, Status

__version__ = "0.1.0"
__all__ = [
    "Answer",
    "Citation",
    "Grade",
    "Hit",
    "IngestReport",
    "KnowledgeBase",
    "LocalCragError",
    "Passage",
    "Status",
    "__version__",
    "open",
]
_FROM = {"open": "app", "KnowledgeBase": "app", "LocalCragError": "errors"}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name in ("errors", "types"):
        return import_module(f"localcrag.{name}")
    if name not in __all__:
        raise AttributeError(f"module 'localcrag' has no attribute {name!r}")
    return getattr(import_module(f"localcrag.{_FROM.get(name, 'types')}"), name)
