"""The seams: what the loop knows of its parts.

Each protocol has one real implementation in an adapter package and one scripted fake in the
tests, and both pass the same contract suite.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

from localcrag.types import (
    Choice,
    Document,
    FinishReason,
    Hit,
    IndexedDocument,
    Meta,
    Passage,
    Prompt,
    ReadResult,
    Skipped,
    StoreInfo,
    Thread,
    Thresholds,
    Tokens,
    Turn,
    WebPage,
    WebResult,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from localcrag.filters import Filter

    Vectors = npt.NDArray[np.float32]

T = TypeVar("T")


class LanguageModel(Protocol):
    """A chat model whose decisions are decoded under a constraint.

    ``name`` is shown to users; ``context`` is the window in tokens; ``tokens`` counts everything
    read and written since the model was loaded.
    """

    @property
    def name(self) -> str: ...
    @property
    def context(self) -> int: ...
    @property
    def tokens(self) -> Tokens: ...

    def count(self, prompt: Prompt) -> int:
        """Tokens of the rendered prompt, chat template included."""
        ...

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        """One constrained choice per prompt, in order.

        What the prompts have in common at their start is read once. A prompt whose choice fails
        gives its error instead of a choice; the others are not harmed.

        Raises ContextOverflow where a prompt cannot fit the context even alone.
        """
        ...

    def line(self, prompt: Prompt, *, max_tokens: int = 48) -> str:
        """One non-empty line without a line break. Raises ConstraintError, ContextOverflow."""
        ...

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        """An instance of the dataclass ``schema``, decoded under its JSON schema.

        Raises ConstraintError (also where ``max_tokens`` ends it early), ContextOverflow.
        """
        ...

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        """The answer piece by piece; ``pattern`` is a regular expression that the whole must match.

        Raises ConstraintError, ContextOverflow.
        """
        ...

    @property
    def last_finish(self) -> FinishReason:
        """How the last stream ended."""
        ...

    def close(self) -> None: ...


class Evaluator(Protocol):
    """A small cross-encoder that judges (query, text) pairs: the retrieval evaluator of CRAG, section 4.2."""

    @property
    def name(self) -> str: ...
    @property
    def thresholds(self) -> Thresholds: ...
    @property
    def tokens(self) -> Tokens: ...

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """P(the text answers the query) for each text, calibrated, in [0, 1]."""
        ...

    def close(self) -> None: ...


class Embedder(Protocol):
    """Texts to unit vectors of shape (n, dimension), float32."""

    @property
    def name(self) -> str: ...
    @property
    def dimension(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> Vectors: ...


class PassageStore(Protocol):
    """One knowledge base on disk: documents with their stored text, and their passages with vectors."""

    def info(self) -> StoreInfo: ...

    def indexed(self) -> Mapping[str, IndexedDocument]:
        """What is held, by source.

        A document whose writing was cut off is not in it, or has a hash and a size that equal no file's.
        """
        ...

    def replace(self, batch: Sequence[tuple[Document, IndexedDocument, Sequence[Passage], Vectors]]) -> None:
        """Write documents with their passages, each in place of what its source had before.

        A kill at any point leaves a source's old passages or its new ones, never both or none.
        ``Vectors`` has shape (number of passages, dimension). Raises StoreError, StorageFull.
        """
        ...

    def remove(self, sources: Sequence[str]) -> int:
        """Forget documents; returns how many were held."""
        ...

    def search(self, text: str, vector: Vectors, *, k: int, filter: Filter | None = None) -> list[Hit]:
        """Hybrid search: vectors and BM25, fused by reciprocal rank; best first, at most ``k``.

        ``vector`` has shape (dimension,). Raises FilterError for a field that does not exist.
        """
        ...

    def neighbours(self, passage: Passage) -> list[Passage]:
        """The passages just before and just after, in the same document."""
        ...

    def text(self, document: str, page: int | None, *, source: str | None = None) -> str:
        """The stored text that a passage's or a citation's offsets count in.

        ``source`` tells two documents of the same bytes apart that were read as different formats.
        Raises StoreError where the document is not held.
        """
        ...

    def questionless(self) -> Iterator[Passage]:
        """The passages that no question was written for yet."""
        ...

    def add_questions(self, batch: Sequence[tuple[Passage, Sequence[str], Vectors]]) -> None:
        """Index questions beside the passages they lead back to; they go when their passage goes.

        ``Vectors`` has shape (number of questions, dimension). Raises StoreError, StorageFull.
        """
        ...

    def optimize(self, progress: Callable[[str], None] | None = None) -> None:
        """Bring the search indexes up to date with what was written, and compact."""
        ...


class Corpus(Protocol):
    """Finds and reads documents, and cuts them into passages."""

    def discover(self, targets: Sequence[str | SourceFile]) -> Iterator[SourceFile | Skipped]:
        """Files below folders, matches of globs, URLs, ``-``, and what is a source already.

        What cannot be looked at is Skipped.
        """
        ...

    def read(self, source: SourceFile, meta: Meta) -> Document:
        """Raises UnreadableError with the reason that the report shows."""
        ...

    def split(self, document: Document) -> list[Passage]: ...

    def read_all(self, wanted: Sequence[tuple[SourceFile, Meta]]) -> Generator[ReadResult]:
        """Every one of the sources, read and split; several at once where that pays, as they are done.

        Runs ahead of the caller by a bounded amount of text. What cannot be read is a ReadResult with its
        reason, and so is what brings the parser itself to an end.
        """
        ...


class SourceFile(Protocol):
    """A place a document can be read from; ``size`` in bytes and ``mtime_ns`` are 0 where unknown."""

    @property
    def source(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def mtime_ns(self) -> int: ...


class WebSearch(Protocol):
    """A search engine on the web, asked with one line."""

    def line(self, query: str) -> str:
        """Exactly what :meth:`search` would send. Raises UsageError where there is no word in it."""
        ...

    def search(self, query: str, *, limit: int = 5) -> list[WebResult]:
        """Raises WebError of the kind that says what is wrong; an empty list means truly nothing found."""
        ...


class PageFetcher(Protocol):
    """Brings the readable text of search results."""

    def fetch(self, results: Iterable[WebResult]) -> Iterator[WebPage]:
        """One page per result, in order; the snippet, and the reason, where the page could not be had."""
        ...


class ThreadStore(Protocol):
    """Named conversations: their turns in order, and the filter that their questions start with."""

    def threads(self) -> list[Thread]:
        """All of them, the one used last first."""
        ...

    def open(self, name: str) -> Thread:
        """The thread of that name, made where there is none. Raises UsageError for a name that is no name."""
        ...

    def turns(self, name: str) -> list[Turn]:
        """Oldest first. Raises UnknownThread."""
        ...

    def append(self, name: str, turns: Sequence[Turn]) -> None:
        """All of the turns or, where it fails, none. Raises UnknownThread, StoreError."""
        ...

    def set_filter(self, name: str, filter: str | None) -> None:
        """Raises UnknownThread."""
        ...

    def set_kb(self, name: str, kb: str | None) -> None:
        """Raises UnknownThread."""
        ...

    def forget(self, name: str) -> None:
        """Delete the turns for good, and keep the name and its settings. Raises UnknownThread."""
        ...

    def delete(self, name: str) -> None:
        """For good: nothing of it can be read from the file any more. Raises UnknownThread."""
        ...


Consent = Callable[[str], str | None]
"""Shown the exact query before it is sent; returns the query to send (edited or not), or None to refuse."""
