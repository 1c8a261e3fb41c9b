"""The documents whose stored text or passages were damaged, until they are read again or forgotten."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from localcrag.errors import DamagedKnowledgeBase
from localcrag.store.journal import strings
from localcrag.store.json_files import write_json
from localcrag.store.kb_record import shown_name
from localcrag.store.source_roots import SourceRoots

_NAMED_IN_HINT = 3


class LostDocuments:
    """The file ``lost.json`` in a knowledge base's folder, which exists only while documents are lost."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / "lost.json"

    @property
    def exist(self) -> bool:
        """Whether there are any."""
        return self._path.exists()

    def sources(self) -> list[str]:
        """Their sources; none as well if the file is damaged."""
        return strings(self._path)

    def add(self, sources: Collection[str]) -> None:
        """Record lost documents. Raises OSError."""
        if lost := sorted({*self.sources(), *sources}):
            write_json(self._path, lost)

    def replace(self, sources: Collection[str]) -> None:
        """Record these lost documents and no others, in place of a list that is damaged. Raises OSError."""
        self._path.unlink(missing_ok=True)
        self.add(sources)

    def settle(self, sources: Collection[str]) -> None:
        """Drop documents that were written again, or removed. Raises OSError."""
        if not self.exist:
            return
        if left := sorted(set(self.sources()) - set(sources)):
            write_json(self._path, left)
        else:
            self._path.unlink(missing_ok=True)

    def require_none(self, roots: SourceRoots) -> None:
        """Raise DamagedKnowledgeBase if documents are lost: an answer could miss what they say.

        ``roots`` are the folders that they are in; the file has their sources as they are kept.
        """
        if not self.exist:
            return
        name, lost = shown_name(self._folder), [roots.shown(kept) for kept in self.sources()]
        shown = ", ".join(lost[:_NAMED_IN_HINT]) + (", …" if len(lost) > _NAMED_IN_HINT else "")
        number = "1 document has" if len(lost) == 1 else f"{len(lost) or 'some'} documents have"
        raise DamagedKnowledgeBase(
            f"{number} to be read again, since the knowledge base {name!r} was damaged"
            + (f": {shown}" if shown else ""),
            hint=reread_hint(name),
        )


def reread_hint(name: str) -> str:
    """The hint for documents that have to be read again."""
    return (
        f"`localcrag ingest --reread --kb {name} PATH`, with the files or folders that they are in; "
        f"`localcrag kb forget --kb {name} SOURCE` gives one up"
    )
