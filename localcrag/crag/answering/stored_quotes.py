"""Quotations, held against the stored text that they were taken from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from localcrag.crag.state import QuestionState
from localcrag.errors import DamagedKnowledgeBase, DocumentGone
from localcrag.protocols import PassageReader
from localcrag.types import Citation, Origin, Passage


def lost_citations(
    state: QuestionState, citations: Sequence[Citation], cited: Iterable[Passage]
) -> dict[int, str]:
    """The citations whose document was changed or removed while the question was asked: why, by key.

    Args:
        state: the question, with the store.
        citations: what is cited.
        cited: the passages that the citations are of, and maybe others: evidence may stand in the neighbour
            of a passage that was graded.

    Raises DamagedKnowledgeBase if the stored text of a document is missing or another than its passages were
    cut from, although nothing was written meanwhile; StoreError if it cannot be read.
    """
    gone = {}
    passages = {(passage.source, passage.page): passage for passage in cited}
    for citation in citations:
        if citation.origin is Origin.DOCUMENTS:
            passage = passages[citation.source, citation.page]
            if _stored_text(state.adapters.store, passage.document, citation) != citation.quote:
                _require_change(state.adapters.store, passage)
                gone[citation.key] = f"{citation.source} has changed since it was read"
    return gone


def _stored_text(store: PassageReader, document: str, citation: Citation) -> str:
    """The stored text at a citation's span, or "" if the document is gone. Raises StoreError."""
    try:
        text = store.text(document, citation.page, source=citation.source)
    except DocumentGone:
        return ""
    return text[citation.start : citation.end]


def _require_change(store: PassageReader, passage: Passage) -> None:
    """Raise DamagedKnowledgeBase if the passage is still stored as it was found, and its text is not."""
    held = store.passages({passage.source: passage.document}, limit=passage.ordinal + 1)
    if any((other.id, other.text) == (passage.id, passage.text) for other in held):
        name = store.info().name
        raise DamagedKnowledgeBase(
            f"the stored text of {passage.source} in the knowledge base {name!r} is not the one that was "
            "indexed",
            hint=f"`localcrag ingest --reread --kb {name} PATH` stores it again; `localcrag kb check {name}` "
            "looks at the others",
        )
