"""The record of what was skipped: the sources that the last ingestion of each could not read, and why."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from pathlib import Path

from localcrag.errors import DamagedKnowledgeBase
from localcrag.store.json_files import write_json
from localcrag.store.kb_record import mending_hint, shown_name
from localcrag.store.source_roots import NOWHERE, SourceRoots
from localcrag.types import Skipped

MAX_KEPT_SKIPS = 10_000
"""Skipped sources that are remembered; the ones skipped last are."""
_NAMED = ("stdin:", "text:")
"""How the sources begin that have no place to which one could go back."""


class SkipRecord:
    """The file ``skipped.json`` in a knowledge base's folder, which exists once something was skipped."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "skipped.json"

    @property
    def exists(self) -> bool:
        """Whether anything was ever skipped."""
        return self._path.exists()

    def sources(self, roots: SourceRoots) -> list[Skipped]:
        """The skipped sources, in alphabetical order, without the files that are gone.

        ``roots`` are the folders that they are in; the file has them as they are kept.
        Raises DamagedKnowledgeBase if the file cannot be understood.
        """
        if self.is_damaged:
            name = shown_name(self._path.parent)
            raise DamagedKnowledgeBase(
                f"the list of the documents that the knowledge base {name!r} skipped is damaged",
                hint=mending_hint(name),
            )
        shown = [Skipped(roots.shown(kept), reason) for kept, reason in self._kept().items()]
        return sorted((item for item in shown if not _is_gone(item.source)), key=lambda item: item.source)

    @property
    def is_damaged(self) -> bool:
        """Whether there is a file, and it is not a list of sources. Raises OSError."""
        return self.exists and self._read() is None

    def update(self, skipped: Iterable[Skipped], settled: Collection[str], roots: SourceRoots) -> None:
        """Add what was skipped, and drop what is ``settled``: read, or of no interest. Raises OSError.

        A damaged file is made anew. ``roots`` as for :meth:`sources`.
        """
        before = self._kept()
        dropped = {roots.kept(source) for source in settled}
        kept = {source: reason for source, reason in before.items() if source not in dropped}
        for item in skipped:
            if not item.source.startswith(_NAMED) and (place := roots.kept(item.source)) != NOWHERE:
                kept.pop(place, None)
                kept[place] = item.reason
        if kept != before:
            kept = {source: reason for source, reason in kept.items() if not _is_gone(roots.shown(source))}
            write_json(self._path, dict(list(kept.items())[-MAX_KEPT_SKIPS:]))

    def _kept(self) -> dict[str, str]:
        """The reasons by source; none if there is no such file, or it holds something else."""
        return {source: reason for source, reason in (self._read() or {}).items() if isinstance(reason, str)}

    def _read(self) -> dict[str, object] | None:
        """The content of the file; None if there is none, or it holds something else."""
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (FileNotFoundError, ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None


def _is_gone(source: str) -> bool:
    """Whether a source is a file or folder that does not exist any more."""
    path = Path(source)
    try:
        return path.is_absolute() and not path.exists() and not path.is_symlink()
    except (OSError, ValueError):
        return False
