"""What a knowledge base holds on the disk, and what can be done with it as a whole; no model is needed.

:class:`localcrag.fillable_knowledge_base.FillableKnowledgeBase` adds ingestion, which needs models, and
:class:`localcrag.knowledge_base.KnowledgeBase` searches and questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag._platform import expanded
from localcrag.errors import UsageError
from localcrag.filters import Comparison, Operator, parse
from localcrag.ingestion import checked_sources
from localcrag.language_identifier import keep_unpacked_in
from localcrag.object_address import is_object_address
from localcrag.settings import Settings
from localcrag.types import Document, IndexedDocument, Relocation, Skipped, StoreInfo, StoreProblem

if TYPE_CHECKING:
    from localcrag.object_storage.remote_knowledge_bases import RemoteKnowledgeBases
    from localcrag.store.knowledge_bases import KnowledgeBases
    from localcrag.store.lance_store import LanceStore
    from localcrag.store.row_reads import Facet


class StoredKnowledgeBase:
    """The documents that a knowledge base holds, without the models that search and answer."""

    def __init__(self, name: str, settings: Settings) -> None:
        self.name, self.settings = name, settings
        self._opened: LanceStore | None = None
        keep_unpacked_in(settings.home / "cache" / "models")

    def info(self) -> StoreInfo:
        """What it holds. Raises UnknownKnowledgeBase."""
        return self._held.info()

    def skipped(self) -> list[Skipped]:
        """The sources that could not be read when they were last ingested, with the reasons, by source."""
        return self._held.skipped()

    def documents(self, *, filter: str | None = None) -> list[IndexedDocument]:
        """The documents it holds, or those that match, by source. Raises FilterError."""
        store = self._held
        held = store.indexed()
        chosen = store.matching(parse(filter)) & held.keys() if filter else held
        return [held[source] for source in sorted(chosen)]

    def document(self, source: str) -> Document:
        """One document with its stored text, in which the offsets of passages and citations count.

        Raises UsageError if it holds no document of this source, UnknownKnowledgeBase, StoreError.
        """
        only = Comparison("source", Operator.EQUAL, source)
        if found := next(self._held.documents(filter=only), None):
            return found
        raise UsageError(
            f"the knowledge base {self.name!r} holds no document {source!r}",
            hint="a search names the sources as they are written",
        )

    def facets(self, field: str, *, limit: int = 20, filter: str | None = None) -> list[Facet]:
        """The values of a field, most frequent first. Raises FilterError."""
        return self._held.facets(field, limit=limit, filter=parse(filter) if filter else None)

    def sources(self, named: str | Sequence[str], *, filter: str | None = None) -> list[str]:
        """The sources of the documents that are named, in order; names that no document has give none.

        Parameters:
            named: sources, files, folders for all that is below them, and globs such as ``~/papers/*.pdf``;
                a folder or file may be gone.
            filter: of these, only documents like this, for example ``team = "x"``.

        Raises FilterError, UnknownKnowledgeBase.
        """
        from localcrag.documents.held_sources import held_sources

        store = self._held
        held = store.indexed().keys()
        found = {source for name in checked_sources(named) for source in held_sources(name, held)}
        return sorted(found & store.matching(parse(filter)) if filter else found)

    def forget(self, sources: str | Sequence[str] = (), *, filter: str | None = None) -> int:
        """Take documents out; returns how many were held.

        Parameters:
            sources: sources, files, folders and globs, as for :meth:`sources`; none for all that pass the
                filter.
            filter: only documents like this.

        The files are not touched. Raises FilterError, UnknownKnowledgeBase, StoreError.
        """
        named = checked_sources(sources)
        if filter and not named:
            return self._held.remove(sorted(self._held.matching(parse(filter))))
        return self._held.remove(self.sources(named, filter=filter))

    def check(self, tell: Callable[[str, int, int], None] | None = None) -> Iterator[StoreProblem]:
        """What is damaged, one part after the other; nothing if it is whole.

        It reads everything: files, tables, texts and search indexes. ``tell`` is told a step, and how much of
        how much of it is done. Raises UnknownKnowledgeBase, StoreError.
        """
        return self._bases.check(self.name, tell)

    def size(self) -> int:
        """The bytes that it takes on the disk, whole or not. Raises UnknownKnowledgeBase."""
        return self._bases.size(self.name)

    def compact(self, tell: Callable[[str, int, int], None] | None = None) -> list[str]:
        """Rebuild what is damaged, bring the search indexes up to date and give disk space back.

        Returns what was rebuilt, in words; ``tell`` as for :meth:`check`. Raises UnknownKnowledgeBase,
        DamagedKnowledgeBase if documents have to be read again, StoreError, StorageFull.
        """
        rebuilt = self._repair(tell)
        store = self._held
        store.optimize()
        store.require_whole()
        return rebuilt

    def _repair(self, tell: Callable[[str, int, int], None] | None = None) -> list[str]:
        """Rebuild what is damaged, and open the tables anew if anything was."""
        rebuilt = self._bases.repair(self.name, tell)
        if rebuilt:
            self._opened = None
        return rebuilt

    def export(self, *, filter: str | None = None) -> Iterator[Document]:
        """The documents, or those that match, with their stored text, one at a time. Raises FilterError."""
        return self._held.documents(filter=parse(filter) if filter else None)

    def remove(self) -> None:
        """Delete the knowledge base; the documents themselves are not touched."""
        self._opened = None
        self._bases.remove(self.name)

    # ------------------------------------------------------------------------------ moving

    def relocate(self, old: str | Path | None, new: str | Path) -> Relocation:
        """Say that the documents of a folder are in another folder now; nothing is read again.

        Parameters:
            old: the folder in which they were, or one above or inside it; None if all documents are in one.
            new: the folder in which they are, in the same order of folders and under the same names.

        Raises UsageError if no document was read from ``old``, if ``new`` is no folder, or if two documents
        would have the same place; UnknownKnowledgeBase, StoreError.
        """
        store, place = self._held, _real_folder(new)
        folder = self._only_folder() if old is None else _former_folder(str(old), self._folders())
        moved = store.relocate(folder, place)
        inside = place.rstrip("/") + "/"
        sources = [source for source in store.indexed() if source.startswith(inside)]
        return Relocation(folder, place, moved, sum(not Path(source).exists() for source in sources))

    def rename(self, new: str) -> None:
        """Give the knowledge base another name; conversations that ask it go on with the new one.

        Raises UsageError if there is one of that name, UnknownKnowledgeBase, StoreError if another process
        writes to it for long.
        """
        from localcrag.conversations import SqliteThreads

        self._opened = None
        self._bases.rename(self.name, new)
        threads = SqliteThreads(self.settings.home / "threads.db")
        for thread in threads.threads():
            if thread.kb == self.name:
                threads.set_kb(thread.name, new)
        self.name = new

    def copy(self, new: str) -> None:
        """Make another knowledge base with what this one holds; it may be read meanwhile.

        Raises UsageError if there is one of that name, UnknownKnowledgeBase, DamagedKnowledgeBase, StoreError
        if another process writes to it for long, StorageFull.
        """
        self._bases.copy(self.name, new)

    def archive(self, file: str | Path) -> None:
        """Write the knowledge base to one file, from which :func:`import_archive` makes it again.

        It may be read meanwhile. Raises UsageError if the file exists, and as :meth:`copy` does.
        """
        self._bases.write_archive(self.name, expanded(str(file)))

    def _folders(self) -> list[str]:
        return [place.folder for place in self._held.places()]

    def _only_folder(self) -> str:
        """The folder that all documents are in. Raises UsageError if there are several, or none."""
        folders = self._folders()
        if len(folders) == 1:
            return folders[0]
        raise UsageError(
            f"the documents of {self.name!r} are in {len(folders)} folders: {', '.join(folders)}"
            if folders
            else f"{self.name!r} holds no files",
            hint="name the old folder and the new one",
        )

    @property
    def _held(self) -> LanceStore:
        """The store for looking at and taking away, whatever model it was made with."""
        if self._opened is not None and self._opened.is_current:
            return self._opened
        return self._bases.open(self.name)

    @cached_property
    def _bases(self) -> KnowledgeBases | RemoteKnowledgeBases:
        return bases_of(self.name, self.settings.home)


def bases_of(name: str, home: Path) -> KnowledgeBases | RemoteKnowledgeBases:
    """The knowledge bases among which one of this name is: those of the home, or those on object storage."""
    if is_object_address(name):
        from localcrag.object_storage.remote_knowledge_bases import RemoteKnowledgeBases
        from localcrag.web.ledger import LEDGER_FILE_NAME, Ledger

        return RemoteKnowledgeBases(home, Ledger(home / LEDGER_FILE_NAME).record)
    from localcrag.store.knowledge_bases import KnowledgeBases

    return KnowledgeBases(home)


def _real_folder(named: str | Path) -> str:
    """The real path of a folder. Raises UsageError if it is none."""
    path = expanded(str(named))
    if not path.is_dir():
        raise UsageError(f"there is no folder {named}", hint="name the folder that the documents are in now")
    return str(path.resolve())


def _former_folder(named: str, known: Sequence[str]) -> str:
    """A folder that may be gone: as it is written if documents were read there, else its real path.

    It may be a link to the new folder by now. ``@1`` names a root whose place was lost.
    """
    if named.startswith("@"):
        return named.rstrip("/")
    written = expanded(named).absolute()
    if any(Path(folder).is_relative_to(written) or written.is_relative_to(folder) for folder in known):
        return str(written)
    return str(written.resolve())
