"""The protocols through which the loop and the ingestion use models, stores, documents and the web.

Each protocol has one real implementation in an adapter package and one scripted fake in the tests, and both
pass the same contract suite.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
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
    StillReading,
    StoreInfo,
    Thread,
    Thresholds,
    Tokens,
    Turn,
    WebPage,
    WebResult,
    WrittenLine,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from localcrag.filters import Filter

    Vectors = npt.NDArray[np.float32]

T = TypeVar("T")


class LanguageModel(Protocol):
    """A chat model whose decisions are decoded under a constraint."""

    @property
    def name(self) -> str:
        """The name of the model that users see."""
        ...

    @property
    def context(self) -> int:
        """The size of the context window in tokens."""
        ...

    @property
    def trained(self) -> bool:
        """Whether the model was trained on the prompts of :mod:`localcrag.crag.prompts`, in their order."""
        ...

    @property
    def tokens(self) -> Tokens:
        """The tokens read and written since the model was loaded."""
        ...

    def count(self, prompt: Prompt) -> int:
        """The number of tokens of the prompt, with the chat template."""
        ...

    def choose(self, prompts: Sequence[Prompt], options: Sequence[str]) -> list[Choice | Exception]:
        """One constrained choice per prompt, in order.

        The common beginning of the prompts is read once. A prompt whose choice fails has its error in
        place of a choice; the others are not affected.

        Raises ContextOverflow if a prompt does not fit the context even alone.
        """
        ...

    def line(self, prompt: Prompt, *, max_tokens: int = 48) -> str:
        """One non-empty line of text, without a line break. Raises ConstraintError, ContextOverflow."""
        ...

    def object(self, prompt: Prompt, schema: type[T], *, max_tokens: int = 512) -> T:
        """An instance of the dataclass ``schema``, decoded under its JSON schema.

        Raises ConstraintError, also if ``max_tokens`` ends the object early, and ContextOverflow.
        """
        ...

    def stream(self, prompt: Prompt, *, pattern: str | None = None, max_tokens: int = 512) -> Iterator[str]:
        """The reply to a prompt, in pieces.

        Args:
            prompt: the prompt to reply to.
            pattern: a regular expression that the whole reply must match.
            max_tokens: the most tokens of the reply.

        Raises ConstraintError, ContextOverflow.
        """
        ...

    @property
    def last_finish(self) -> FinishReason:
        """The reason why the last stream ended."""
        ...

    def close(self) -> None:
        """Free the memory of the model."""
        ...


class QueryModel(Protocol):
    """A language model that writes queries over tables."""

    @property
    def tokens(self) -> Tokens:
        """The tokens read and written since the model was loaded."""
        ...

    def write_line(
        self, prompt: Prompt, pattern: str, *, max_tokens: int = 96, least: float = 0.0
    ) -> WrittenLine:
        """A line that matches a pattern, a regular expression, with its probability.

        Raises ConstraintError (also if ``max_tokens`` ends it early, or no line is as likely as ``least``),
        ContextOverflow.
        """
        ...


class Evaluator(Protocol):
    """A small cross-encoder that judges (query, text) pairs: the retrieval evaluator of CRAG, section 4.2."""

    @property
    def name(self) -> str:
        """The name of the model that users see."""
        ...

    @property
    def thresholds(self) -> Thresholds:
        """The bounds of the CRAG action on the scores."""
        ...

    @property
    def multilingual(self) -> bool:
        """Whether it knows other languages than English, and compares texts of two."""
        ...

    @property
    def tokens(self) -> Tokens:
        """The tokens read since the model was loaded."""
        ...

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """P(the text answers the query) for each text, in order, calibrated, in [0, 1]."""
        ...

    def close(self) -> None:
        """Free the memory of the model."""
        ...


class Embedder(Protocol):
    """An embedding model, which maps texts to vectors of length 1."""

    @property
    def name(self) -> str:
        """The name of the model, with which a knowledge base is marked."""
        ...

    @property
    def dimension(self) -> int:
        """The number of components of a vector."""
        ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """The embeddings of passages, of shape (number of texts, dimension), float32."""
        ...

    def encode_questions(self, texts: Sequence[str]) -> Vectors:
        """The embeddings of questions, which some models embed in another way than passages."""
        ...


class PassageReader(Protocol):
    """What the loop reads: passages to be found, with the stored text that they are cut from."""

    def require_whole(self, *, thorough: bool = False) -> None:
        """Raise DamagedKnowledgeBase if a part of it is missing, or is not as it was written.

        ``thorough``: look at all of it, unless that would take long.
        """
        ...

    def info(self) -> StoreInfo:
        """The size and the contents of the knowledge base."""
        ...

    def search(self, text: str, vector: Vectors, *, k: int, filter: Filter | None = None) -> list[Hit]:
        """Hybrid search by vectors and BM25, fused by reciprocal rank.

        Args:
            text: the words that BM25 searches for.
            vector: the vector to search with, of shape (dimension,).
            k: the most hits.
            filter: only passages that pass it are found.

        Returns the hits, best first. Raises FilterError for a field that does not exist.
        """
        ...

    def neighbours(self, passage: Passage) -> list[Passage]:
        """The passages just before and just after a passage, in the same document."""
        ...

    def passages(self, documents: Mapping[str, str], *, limit: int) -> list[Passage]:
        """The first passages of documents, by source and position; at most ``limit`` of each document.

        ``documents`` are their hashes by source; a source that has no such document any more has no passages.
        """
        ...

    def text(self, document: str, page: int | None, *, source: str | None = None) -> str:
        """The stored text of a document or page, in which the offsets of passages and citations count.

        Args:
            document: the hash of the document.
            page: the number of the page, or None if the format has no pages.
            source: the source, which separates documents with the same bytes that were read as different
                formats.

        Raises DocumentGone if the document is not in the knowledge base any more, StoreError if its text
        cannot be read.
        """
        ...

    def skipped(self) -> Sequence[Skipped]:
        """The sources that the last ingestion of each could not read, without files that are gone."""
        ...


class PassageStore(PassageReader, Protocol):
    """One knowledge base on disk: documents with their stored text, and their passages with vectors."""

    def indexed(self) -> Mapping[str, IndexedDocument]:
        """The documents in the knowledge base, by source.

        A document whose writing was interrupted is missing, or has a hash and a size that equal those of no
        file.
        """
        ...

    def replace(self, batch: Sequence[tuple[Document, IndexedDocument, Sequence[Passage], Vectors]]) -> None:
        """Write documents with their passages, each in place of the earlier document of its source.

        A kill at any time leaves the old passages of a source or its new ones, never both or none.
        ``Vectors`` has shape (number of passages, dimension). Raises StoreError, StorageFull.
        """
        ...

    def move(self, moves: Sequence[tuple[str, IndexedDocument]]) -> None:
        """Keep documents under other sources, with their passages, vectors and questions.

        Each has its former source, and its entry with the new source, size and time. A kill leaves a document
        under one of the two. Raises StoreError, StorageFull.
        """
        ...

    def remove(self, sources: Sequence[str]) -> int:
        """Remove the documents of these sources; returns the number of documents removed."""
        ...

    def add_roots(self, folders: Sequence[str]) -> None:
        """Keep the documents that come from these folders relative to them, so that they can be moved.

        Raises StoreError, StorageFull.
        """
        ...

    def record_skips(self, skipped: Sequence[Skipped], settled: Collection[str]) -> None:
        """Remember skipped sources, and forget the ``settled`` ones, which were read or are left out now.

        Raises StoreError, StorageFull.
        """
        ...

    def questionless(self) -> Iterator[Passage]:
        """The passages that no question was written for yet."""
        ...

    def add_questions(self, batch: Sequence[tuple[Passage, Sequence[str], Vectors]]) -> None:
        """Index questions that passages answer; a search that finds a question returns its passage.

        The questions are removed with their passage. ``Vectors`` has shape (number of questions, dimension).
        Raises StoreError, StorageFull.
        """
        ...

    def optimize(self, progress: Callable[[str], None] | None = None) -> None:
        """Update the search indexes with the passages written since, and compact the files.

        ``progress`` is called with the name of each step.
        """
        ...


class DocumentReader(Protocol):
    """Reads and splits documents, and perhaps embeds their passages too."""

    def read_all(self, wanted: Sequence[tuple[SourceFile, Meta]]) -> Generator[ReadResult | StillReading]:
        """Read and split all given sources, several at the same time if that is faster.

        The results come as they are ready, and StillReading after each second without one. Reading is ahead
        of the caller by a bounded amount of text. A source that cannot be read, or that crashes its parser,
        gives a ReadResult with the reason.

        A result may have the vectors of its passages, made with the embedding model of the ingestion.
        """
        ...


class Corpus(DocumentReader, Protocol):
    """Finds and reads documents, and splits them into passages."""

    def discover(self, targets: Sequence[str | SourceFile]) -> Iterator[SourceFile | Skipped]:
        """The sources of the targets.

        A target is a file, a folder, a glob, a URL, ``-`` for the standard input, or a source. A source that
        cannot be accessed is Skipped. Raises CorpusError if a target does not exist.
        """
        ...

    def is_gone(self, source: str) -> bool:
        """Whether a source was a file, and there is none in its place any more."""
        ...

    def digest(self, source: SourceFile) -> str:
        """The hash that the document of a file would have; "" for what is no file, or cannot be read."""
        ...

    def folders(self, targets: Sequence[str | SourceFile]) -> list[str]:
        """The folders that the targets name, or are in; none for URLs, texts and standard input."""
        ...

    def read(self, source: SourceFile, meta: Meta) -> Document:
        """Read a source as a document with the given fields.

        Raises UnreadableError with the reason that the report shows.
        """
        ...

    def split(self, document: Document) -> list[Passage]:
        """The passages of a document, in order."""
        ...


class SourceFile(Protocol):
    """A place from which a document can be read."""

    @property
    def source(self) -> str:
        """The absolute path, the URL, or ``stdin:NAME``."""
        ...

    @property
    def size(self) -> int:
        """The size in bytes; 0 if it is unknown."""
        ...

    @property
    def mtime_ns(self) -> int:
        """The modification time in nanoseconds since 1970 (UTC); 0 if it is unknown."""
        ...


class WebSearch(Protocol):
    """A web search that is asked with one line."""

    def line(self, query: str) -> str:
        """Exactly the line that :meth:`search` would send. Raises UsageError if it has no word."""
        ...

    def search(self, query: str, *, limit: int = 5) -> list[WebResult]:
        """The results for a query, at most ``limit``; an empty list means that there are none.

        Raises the WebError that says what failed, OfflineError, UsageError.
        """
        ...


class PageFetcher(Protocol):
    """Fetches the readable text of search results."""

    def fetch(self, results: Iterable[WebResult]) -> Iterator[WebPage]:
        """One page per result, in order; if it cannot be fetched, it has the snippet and the reason."""
        ...


class ThreadStore(Protocol):
    """Named conversations, each with its turns, its knowledge base and its default filter."""

    def threads(self) -> list[Thread]:
        """All conversations, the last used one first."""
        ...

    def open(self, name: str) -> Thread:
        """The conversation of that name, made if there is none. Raises UsageError for an invalid name."""
        ...

    def turns(self, name: str) -> list[Turn]:
        """The turns of a conversation, oldest first. Raises UnknownThread."""
        ...

    def append(self, name: str, turns: Sequence[Turn]) -> None:
        """Add turns to a conversation: all of them, or none if it fails. Raises UnknownThread, StoreError."""
        ...

    def set_filter(self, name: str, filter: str | None) -> None:
        """Set the default filter of a conversation; None for no filter. Raises UnknownThread."""
        ...

    def set_kb(self, name: str, kb: str | None) -> None:
        """Set the knowledge base of a conversation; None for no choice. Raises UnknownThread."""
        ...

    def forget(self, name: str) -> None:
        """Delete the turns permanently, and keep the name and its settings. Raises UnknownThread."""
        ...

    def delete(self, name: str) -> None:
        """Delete a conversation permanently: no text of it stays in the file. Raises UnknownThread."""
        ...


Consent = Callable[[str], str | None]
"""A function that gets the exact query before it is sent, and returns the query to send, edited or not, or
None to refuse."""
