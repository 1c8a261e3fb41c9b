"""What a knowledge base holds, read in another process, and what it must hold after a command was cut off."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from torturing import forked
from torturing.campaign import Broken

KB = "default"


@dataclass(frozen=True, slots=True)
class HeldDocument:
    """A document as the store gives it: its text, the passages that a search finds, and its entry's hash."""

    text: str
    passages: tuple[str, ...]
    meta: tuple[tuple[str, str], ...] = ()
    hash: str = ""


@dataclass(frozen=True)
class HeldState:
    """All documents of a knowledge base by source; None as ``documents`` if there is no knowledge base."""

    documents: Mapping[str, HeldDocument] | None
    passages: int = 0
    unfinished: bool = False


def state_of(home: Path) -> HeldState:
    """The state of the knowledge base in ``home``, read in a forked child. Raises Broken."""
    return forked.call(home.parent, _read, home)


def _read(home: Path) -> HeldState:
    """Read everything back: the list, the texts, and each document by a search.

    A passage must be the slice of its text that its offsets name. A document whose removal was cut off is
    taken for removed: its passages go with the next write. Raises LocalCragError, Broken.
    """
    from localcrag.store.journal import Journal
    from localcrag.store.knowledge_bases import KnowledgeBases
    from localcrag.store.source_roots import SourceRootsFile
    from torturing.hashing_embedder import HashingEmbedder

    bases = KnowledgeBases(home)
    if KB not in bases.names():
        return HeldState(None)
    store, embedder = bases.open(KB), HashingEmbedder(forked.tokenizer_file())
    entries = store.indexed()
    exported = {document.source: document for document in store.documents()}
    count = store.info().passages
    found: dict[str, list[tuple[int, str]]] = {}
    if count:
        query = "number drawer"
        vector = embedder.encode([query])[0]
        if store.record.dimension != embedder.dimension:
            vector = _unit(store.record.dimension)
        for hit in store.search(query, vector, k=count + 10):
            passage = hit.passage
            pages = exported[passage.source].pages if passage.source in exported else ()
            whole = next((page.text for page in pages if page.number == passage.page), None)
            if whole is not None and whole[passage.start : passage.end] != passage.text:
                raise Broken(f"a passage of {passage.source} is not the slice of its text")
            found.setdefault(passage.source, []).append((passage.ordinal, passage.text))
    for source, passages in found.items():
        if sorted(ordinal for ordinal, _ in passages) != list(range(len(passages))):
            raise Broken(f"the passages of {source} have gaps, or stand there twice")
    documents = {
        source: HeldDocument(
            "\n".join(page.text for page in document.pages),
            tuple(text for _, text in sorted(found.get(source, []))),
            tuple(sorted((key, str(value)) for key, value in document.meta.items())),
            entries[source].hash if source in entries else "",
        )
        for source, document in exported.items()
    }
    folder = home / "knowledge" / KB
    roots = SourceRootsFile(folder).readable()
    unfinished = {roots.shown(source) for source in Journal(folder).sources()}
    if strangers := found.keys() - documents.keys() - unfinished:
        raise Broken(f"a search finds {sorted(strangers)[0]}, which is not listed")
    return HeldState(documents, count, bool(unfinished))


def _unit(dimension: int) -> object:
    import numpy as np

    vector = np.zeros(dimension, np.float32)
    vector[0] = 1.0
    return vector


def same_content(one: HeldDocument | None, other: HeldDocument | None) -> bool:
    """Whether two documents have the same text, passages and fields; their entries may differ."""
    if one is None or other is None:
        return one is other
    return (one.text, one.passages, one.meta) == (other.text, other.passages, other.meta)


def check_between(now: HeldState, before: HeldState, after: HeldState) -> None:
    """Check that each document is as it was before the command, or as the whole command leaves it.

    Raises Broken.
    """
    if now.documents is None:
        if before.documents is not None and after.documents is not None:
            raise Broken("the knowledge base is gone")
        return
    old, new = before.documents or {}, after.documents or {}
    for source in sorted(now.documents.keys() | old.keys() | new.keys()):
        held = now.documents.get(source)
        if not (same_content(held, old.get(source)) or same_content(held, new.get(source))):
            what = "is lost" if held is None else "is neither its old self nor its new one"
            raise Broken(f"{os.path.basename(source)} {what}")  # noqa: PTH119 - a source is a string


def check_equal(now: HeldState, wanted: HeldState) -> None:
    """Check that the state is the one that an undisturbed run leaves. Raises Broken."""
    if (now.documents is None) != (wanted.documents is None):
        raise Broken(f"the knowledge base {'is gone' if now.documents is None else 'is still there'}")
    held, due = now.documents or {}, wanted.documents or {}
    if lost := sorted(due.keys() - held.keys()):
        raise Broken(f"{len(lost)} documents are lost after the command was run again, such as {lost[0]}")
    if extra := sorted(held.keys() - due.keys()):
        raise Broken(f"{len(extra)} documents too many after the command was run again, such as {extra[0]}")
    for source, document in due.items():
        if held[source] != document:
            raise Broken(f"{source} differs from that of an undisturbed run")
    if now.passages != wanted.passages:
        raise Broken(f"{now.passages} passages, and {wanted.passages} after an undisturbed run")
    if now.unfinished:
        raise Broken("a write counts as unfinished, though the command was run again to its end")
