"""What the routes of the HTTP door need of localcrag: the protocol ``Backend`` and its values."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from localcrag.events import Event
from localcrag.options import AskOptions
from localcrag.report import AskedQuestion
from localcrag.serve.http_api.uploads import Upload
from localcrag.types import Hit, IndexedDocument, Skipped, StoreInfo, Thread, Turn

AsyncConsent = Callable[[str], Awaitable[str | None]]
"""Shown the exact line before it is sent to the web; gives the line to send, or None to refuse."""


@dataclass(frozen=True, slots=True)
class ModelChoices:
    """The names of the models in use, and of the language models that a question may name instead."""

    language: str
    adapter: str
    evaluator: str
    embedding: str
    available: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DoorStatus:
    """The state of the process behind the door.

    ``web`` says whether a SearXNG is configured and may be asked, ``read_only`` that nothing may be ingested.
    """

    version: str
    offline: bool
    web: bool
    models: ModelChoices
    default_kb: str
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class HeldDocuments:
    """The documents that a knowledge base holds, by source, and the sources that could not be read."""

    documents: tuple[IndexedDocument, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class CitedPlace:
    """A place that an answer cites: characters ``[start, end)`` of a page of a document of ``kb``.

    ``page`` is None for a document without numbered pages.
    """

    kb: str
    source: str
    page: int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class PlaceText:
    """The quote at a place, with the stored text of the page ``before`` and ``after`` it.

    ``picture`` says whether the page can be shown as a picture; if not, ``note`` says why, in words.
    """

    title: str
    source: str
    page: int | None
    before: str
    quote: str
    after: str
    picture: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vectors of texts, in their order, and the name of the model that made them.

    ``tokens`` is the number of tokens that the model read.
    """

    model: str
    vectors: tuple[tuple[float, ...], ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class DoorQuestion:
    """A question to a knowledge base; ``options.consent`` is None, because it would block the event loop.

    ``consent`` is asked before a query leaves for the web under the policy ``ask``; without it none leaves.
    """

    kb: str
    text: str
    options: AskOptions = field(default_factory=AskOptions)
    consent: AsyncConsent | None = None


class Backend(Protocol):
    """What the routes need. A method with ``kb`` raises UsageError for a name that cannot be one.

    All raise the LocalCragError that the work raised. A name of a knowledge base is never "": the routes put
    the default one of :meth:`status` in its place.
    """

    async def status(self) -> DoorStatus:
        """The state of the process."""
        ...

    def stream(self, question: DoorQuestion) -> AsyncGenerator[Event, None]:
        """The events of a question, the last one Finished; closing the generator ends the question."""
        ...

    async def search(self, kb: str, query: str, k: int, filter: str | None) -> list[Hit]:
        """The passages that bear on a query, best first."""
        ...

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """The vectors of texts, as passages are embedded."""
        ...

    async def knowledge_bases(self) -> list[StoreInfo]:
        """The knowledge bases there are, by name; one that cannot be read is left out."""
        ...

    async def documents(self, kb: str) -> HeldDocuments:
        """What a knowledge base holds, and what was skipped. Raises UnknownKnowledgeBase."""
        ...

    async def keep_uploads(self, kb: str, uploads: Sequence[Upload]) -> list[Path]:
        """Keep files that were sent for a knowledge base, under safe names; returns where they are.

        Raises StorageFull, StoreError.
        """
        ...

    def ingest(self, kb: str, files: Sequence[Path]) -> AsyncGenerator[Event, None]:
        """The events of an ingestion, the last one Ingested; closing the generator ends it."""
        ...

    async def cited_text(self, place: CitedPlace) -> PlaceText:
        """The text at a place. Raises DocumentGone for a document that the knowledge base does not hold."""
        ...

    async def page_picture(self, place: CitedPlace) -> bytes:
        """The page of a PDF, or an image that was read, as PNG, with the quoted words boxed.

        Raises DocumentGone if the knowledge base does not hold the document or the file was changed, and
        UnreadableError for a document that is no PDF or that cannot be drawn.
        """
        ...

    async def report(self, asked: AskedQuestion) -> str:
        """The report of a question that was answered, as a page of HTML."""
        ...

    async def threads(self) -> list[Thread]:
        """The conversations, the one used last first."""
        ...

    async def turns(self, thread: str) -> list[Turn]:
        """The turns of a conversation, oldest first. Raises UnknownThread."""
        ...

    async def keep_turns(self, thread: str, kb: str, turns: Sequence[Turn]) -> None:
        """Add turns to a conversation about ``kb``, which is made if there is none.

        Raises UsageError for a name that cannot be one.
        """
        ...
