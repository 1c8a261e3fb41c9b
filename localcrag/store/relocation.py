"""Documents that are in another folder now: what is kept of where they are is changed, and nothing else."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from localcrag.errors import UsageError
from localcrag.store.source_roots import SourceRoots, is_below, is_path, moved_path
from localcrag.types import SourcePlace

if TYPE_CHECKING:
    from localcrag.store.tables import Tables


def kept_sources(tables: Tables) -> list[str]:
    """The sources of all documents as they are kept."""
    batches = tables.documents.search().select(["source"]).to_batches()
    return [str(source) for rows in batches for source in rows["source"].to_pylist()]


def places_of(roots: SourceRoots, held: Sequence[str]) -> list[SourcePlace]:
    """The folders of kept sources, by name.

    The files that an earlier version read have no root; the folder that they have in common stands for one.
    """
    found: Counter[str] = Counter()
    others = []
    for kept in held:
        if root := roots.root_of(kept):
            found[root.place] += 1
        elif is_path(kept):
            others.append(os.path.dirname(kept))  # noqa: PTH120 - many of them
    if others:
        found[os.path.commonpath(others)] += len(others)
    return [SourcePlace(folder, number) for folder, number in sorted(found.items())]


def checked_relocation(before: SourceRoots, held: Sequence[str], old: str, new: str) -> SourceRoots:
    """The roots after the folder ``old`` was moved to ``new``, for documents that are ``held``.

    Raises UsageError if none of them is in ``old``, or if one would then be where another is.
    """
    shown = [before.shown(kept) for kept in held]
    if not any(is_below(source, old) for source in shown):
        folders = ", ".join(place.folder for place in places_of(before, held))
        raise UsageError(
            f"no document was read from {old}", hint=f"its documents are in: {folders or 'no folder'}"
        )
    after = before.relocated(old, new)
    for kept, source in zip(held, shown, strict=True):
        moved = moved_path(source, old, new)
        if after.shown(kept) != moved or after.kept(moved) != kept:
            raise UsageError(
                f"{old} cannot be moved to {new}: {moved} would be two documents",
                hint="forget those of one of the two folders first: localcrag kb forget FOLDER",
            )
    return after
