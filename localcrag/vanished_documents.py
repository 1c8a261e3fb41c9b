"""Documents whose files an ingestion does not find any more: gone, left out now, or moved.

A file that is new and has the bytes of a document whose file is gone is that document in another place: its
passages and vectors are kept. The sizes are compared first, so that only files are hashed that may be one.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from localcrag._platform import expanded
from localcrag.errors import PruneRefused
from localcrag.protocols import Corpus, SourceFile
from localcrag.types import IndexedDocument, MovedDocument, Skipped


@dataclass(frozen=True, slots=True)
class FoundMove:
    """A document whose file is in another place now: its entry as it was, and the file."""

    before: IndexedDocument
    file: SourceFile

    @property
    def entry(self) -> IndexedDocument:
        """The entry of the document in its new place."""
        file = self.file
        return replace(self.before, source=file.source, size=file.size, mtime_ns=file.mtime_ns)

    @property
    def moved(self) -> MovedDocument:
        """The two places, for the report."""
        return MovedDocument(self.before.source, self.file.source)

    @property
    def is_renamed(self) -> bool:
        """Whether the name of the file changed, which may be the title of the document."""
        return PurePath(self.before.source).name != PurePath(self.file.source).name


def found_moves(
    corpus: Corpus, known: Mapping[str, IndexedDocument], files: Sequence[SourceFile]
) -> list[FoundMove]:
    """The files that are documents which were known in another place, where no file is any more.

    A file with another ending is read in another way, and is none of them.
    """
    met = {file.source for file in files}
    new = [file for file in files if file.source not in known and file.mtime_ns and file.size]
    sizes = {file.size for file in new}
    missing: dict[tuple[int, str], list[IndexedDocument]] = {}
    for source, entry in sorted(known.items()):
        if entry.size in sizes and source not in met and corpus.is_gone(source):
            missing.setdefault((entry.size, _ending(source)), []).append(entry)
    moves = []
    for file in new:
        candidates = missing.get((file.size, _ending(file.source)), [])
        digest = corpus.digest(file) if candidates else ""
        same = [entry for entry in candidates if digest and entry.hash == digest]
        if same:
            found = FoundMove(min(same, key=lambda entry: FoundMove(entry, file).is_renamed), file)
            candidates.remove(found.before)
            moves.append(found)
    return moves


def _ending(source: str) -> str:
    return PurePath(source).suffix.lower()


def vanished_sources(
    targets: Sequence[str],
    known: Iterable[str],
    files: Sequence[SourceFile],
    skipped: Sequence[Skipped],
) -> list[str]:
    """The known sources below the folders among the targets that were not found there this time.

    Sources below a folder that was skipped are not among them, since they could not be looked for.
    """
    paths = [os.path.realpath(expanded(target)) for target in targets]
    folders = [path for path in paths if Path(path).is_dir()]
    met = {file.source for file in files} | {item.source for item in skipped}
    unseen = [item.source for item in skipped]
    return [
        source
        for source in known
        if source not in met and _below(source, folders) and not _below(source, unseen)
    ]


def refuse_to_empty(
    targets: Sequence[str | SourceFile],
    known: Mapping[str, IndexedDocument],
    files: Sequence[SourceFile],
    skipped: Sequence[Skipped],
) -> None:
    """Raise PruneRefused if documents of a folder would be forgotten, and there is no file in the folder.

    What is skipped while a folder is walked (links, folders without permission) is no file: a folder on
    which a disk is to be mounted may hold such things.
    """
    for target in targets:
        folder = os.path.realpath(expanded(target)) if isinstance(target, str) else ""
        if not folder or not Path(folder).is_dir():
            continue
        lost = len(vanished_sources([folder], known, files, skipped))
        if lost and not any(_below(file.source, [folder]) for file in files):
            documents = "the document" if lost == 1 else f"all {lost} documents"
            raise PruneRefused(
                f"{target} holds no document any more, and {documents} of it would be forgotten",
                hint='is its disk mounted? If it is to be so, say --prune-empty (in Python, prune="empty")',
            )


def _below(source: str, folders: Sequence[str]) -> bool:
    """Whether a source is in one of the folders, at any depth."""
    return any(source.startswith(folder.rstrip("/") + "/") for folder in folders)
