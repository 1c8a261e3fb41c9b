"""A corpus of documents given in memory."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256

from localcrag.errors import CorpusError, UnreadableError
from localcrag.protocols import SourceFile
from localcrag.types import NO_META, NO_TEXT, Document, Meta, Page, Passage, ReadResult, Skipped


@dataclass(frozen=True, slots=True)
class ScriptedFile:
    """A document: its pages, ``None`` where it has none; or ``error``, why it cannot be read."""

    source: str
    pages: tuple[str, ...] = ()
    paged: bool = False
    error: str = ""
    mtime_ns: int = 1

    @property
    def size(self) -> int:
        return sum(map(len, self.pages))


class ScriptedCorpus:
    """Finds the given files below the folders, or by the names, that are asked for.

    ``unseen`` are sources that cannot be looked at, with the reason. Passages are paragraphs.
    """

    def __init__(self, *files: ScriptedFile, unseen: Sequence[Skipped] = ()) -> None:
        self.files = {file.source: file for file in files}
        self.unseen = {item.source: item for item in unseen}

    def discover(self, targets: Sequence[str | SourceFile]) -> Iterator[SourceFile | Skipped]:
        known: dict[str, SourceFile | Skipped] = {**self.files, **self.unseen}
        found: dict[str, SourceFile | Skipped] = {}
        for target in targets:
            if not isinstance(target, str):
                found[target.source] = target
                continue
            below = sorted(s for s in known if s == target or s.startswith(target.rstrip("/") + "/"))
            if not below:
                raise CorpusError(f"no such file or folder: {target}", hint="Check the spelling of the path.")
            found.update((source, known[source]) for source in below)
        return iter(found.values())

    def is_gone(self, source: str) -> bool:
        hidden = any(source.startswith(f"{unseen}/") for unseen in self.unseen)
        return source.startswith("/") and source not in self.files and not hidden

    def digest(self, source: SourceFile) -> str:
        file = self.files[source.source]
        return sha256("\f".join(file.pages).encode()).hexdigest()

    def folders(self, targets: Sequence[str | SourceFile]) -> list[str]:
        return [target for target in targets if isinstance(target, str) and target not in self.files]

    def read(self, source: SourceFile, meta: Meta = NO_META) -> Document:
        file = self.files.get(source.source)
        if file is None:
            raise UnreadableError("it vanished before it was read")
        if file.error:
            raise UnreadableError(file.error)
        pages = tuple(
            Page(number if file.paged else None, text)
            for number, text in enumerate(file.pages, start=1)
            if text.strip()
        )
        if not pages:
            raise UnreadableError(NO_TEXT)
        digest = sha256("\f".join(file.pages).encode()).hexdigest()
        return Document(file.source, digest, file.source.rpartition("/")[2], "text/plain", pages, meta)

    def split(self, document: Document) -> list[Passage]:
        prefix = f"{sha256(document.source.encode()).hexdigest()[:12]}-{document.hash[:12]}"
        pieces = [(page, span) for page in document.pages for span in _paragraphs(page.text)]
        return [
            Passage(
                id=f"{prefix}-{ordinal}",
                document=document.hash,
                source=document.source,
                title=document.title,
                heading="",
                page=page.number,
                start=start,
                end=end,
                text=page.text[start:end],
                ordinal=ordinal,
                meta=document.meta,
            )
            for ordinal, (page, (start, end)) in enumerate(pieces)
        ]

    def read_all(self, wanted: Sequence[tuple[SourceFile, Meta]]) -> Generator[ReadResult]:
        for file, meta in wanted:
            try:
                document = self.read(file, meta)
            except UnreadableError as error:
                yield ReadResult(file.source, None, reason=str(error))
            else:
                yield ReadResult(file.source, document, self.split(document))


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    position = 0
    for part in text.split("\n\n"):
        if part.strip():
            start = position + len(part) - len(part.lstrip())
            yield start, start + len(part.strip())
        position += len(part) + 2
