"""The real backend of the HTTP door.

What needs a model is asked of the warm process, one question after the other. What only reads the disk runs
in threads, so that a page can list and show documents while a question is answered. An ingestion is a process
of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path

from localcrag import __version__, knowledge_base
from localcrag.errors import LocalCragError, ModelNotFound, WarmError
from localcrag.events import Event
from localcrag.llm.model_entry import Role
from localcrag.llm.registry import Registry
from localcrag.model_address import is_model_address, is_same_model
from localcrag.options import AskOptions
from localcrag.report import AskedQuestion, report_html
from localcrag.serve.ask_request import AskRequest
from localcrag.serve.http_api.backend import (
    CitedPlace,
    DoorQuestion,
    DoorStatus,
    Embeddings,
    HeldDocuments,
    ModelChoices,
    PlaceText,
)
from localcrag.serve.http_api.cited_places import CitedPlaces
from localcrag.serve.http_api.ingest_process import ingestion
from localcrag.serve.http_api.uploads import Upload, keep
from localcrag.serve.http_api.warm_connection import WarmConnections
from localcrag.serve.protocol import EmbedReply, EmbedRequest, SearchReply, SearchRequest, StartConditions
from localcrag.settings import Settings
from localcrag.types import Hit, StoreInfo, Thread, Turn

WORDS_FOR_NO_MODEL = frozenset({"none", "auto"})
"""What may be given in place of the name of an adapter or an evaluator."""


@dataclass(frozen=True)
class WarmBackend:
    """A :class:`~.backend.Backend` over the warm process that ``connections`` lead to.

    ``settings`` are those of the process, and ``start`` the conditions that it was started under.
    """

    settings: Settings
    start: StartConditions
    connections: WarmConnections
    read_only: bool = False
    places: CitedPlaces = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", CitedPlaces(self.settings))

    async def status(self) -> DoorStatus:
        """The state of the process."""
        settings, model = self.settings, self.settings.model
        names = tuple(
            entry.name for entry in Registry(settings.home).entries() if entry.role is Role.LANGUAGE
        )
        return DoorStatus(
            version=__version__,
            offline=settings.offline,
            web=bool(settings.web.url) and not settings.offline,
            models=ModelChoices(model.language, model.adapter, model.evaluator, model.embedding, names),
            default_kb=settings.kb,
            read_only=self.read_only,
        )

    # ------------------------------------------------------------------------------ by the warm process

    async def stream(self, question: DoorQuestion) -> AsyncGenerator[Event, None]:
        """The events of a question; closing the generator ends it. Raises LocalCragError."""
        options = self._with_known_models(question.options)
        sent = replace(options, consent=None, model=None, adapter=None, evaluator=None)
        request = AskRequest(
            self.start,
            question.kb,
            options.model_settings(self.settings.model),
            question.text,
            sent,
            asks_consent=question.consent is not None,
        )
        async with aclosing(self.connections.replies(request, question.consent)) as events:
            async for event in events:
                yield event

    async def search(self, kb: str, query: str, k: int, filter: str | None) -> list[Hit]:
        """The passages that bear on a query. Raises LocalCragError."""
        request = SearchRequest(self.start, kb, self.settings.model, query, k, filter)
        async with aclosing(self.connections.replies(request)) as replies:
            async for reply in replies:
                if isinstance(reply, SearchReply):
                    return list(reply.hits)
        raise _no_reply()

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        """The vectors of texts. Raises LocalCragError."""
        request = EmbedRequest(self.start, self.settings.kb, self.settings.model, tuple(texts))
        async with aclosing(self.connections.replies(request)) as replies:
            async for reply in replies:
                if isinstance(reply, EmbedReply):
                    return Embeddings(reply.model, reply.vectors, reply.tokens)
        raise _no_reply()

    def _with_known_models(self, options: AskOptions) -> AskOptions:
        """The options, without the model server of the settings if they name it: it is asked anyway.

        Raises ModelNotFound for any other address, and for what is no name of ``localcrag models list``. A
        file or another server may be named at the terminal only: a door must not open files or connections
        for whoever asks.
        """
        if options.model is not None and is_model_address(options.model):
            if not is_same_model(options.model, self.settings.model.language):
                raise ModelNotFound(
                    "that is not the model server of the settings", hint="leave it out, or name that one"
                )
            options = replace(options, model=None)
        given = [name for name in (options.model, options.adapter, options.evaluator) if name is not None]
        if not given:
            return options
        known = WORDS_FOR_NO_MODEL | {entry.name for entry in Registry(self.settings.home).entries()}
        if unknown := [name for name in given if name not in known]:
            raise ModelNotFound(
                f"there is no model {unknown[0][:80]!r}", hint="localcrag models list shows the names"
            )
        return options

    # ------------------------------------------------------------------------------ by threads

    async def knowledge_bases(self) -> list[StoreInfo]:
        """The knowledge bases there are, by name; one that cannot be read is left out."""
        return await asyncio.to_thread(self._infos)

    async def documents(self, kb: str) -> HeldDocuments:
        """What a knowledge base holds. Raises UnknownKnowledgeBase, StoreError."""

        def held() -> HeldDocuments:
            base = self._open(kb)
            return HeldDocuments(tuple(base.documents()), tuple(base.skipped()))

        return await asyncio.to_thread(held)

    async def cited_text(self, place: CitedPlace) -> PlaceText:
        """The text at a place. Raises DocumentGone, UsageError, StoreError."""
        return await asyncio.to_thread(self.places.text, place)

    async def page_picture(self, place: CitedPlace) -> bytes:
        """The page at a place as PNG. Raises DocumentGone, UnreadableError, UsageError, StoreError."""
        return await asyncio.to_thread(self.places.picture, place)

    async def report(self, asked: AskedQuestion) -> str:
        """The report of a question. Raises ModelNotFound, ModelFileError, LedgerError."""
        return await asyncio.to_thread(report_html, asked, self.settings, self._open(asked.kb).ledger)

    async def threads(self) -> list[Thread]:
        """The conversations. Raises StoreError."""
        return await asyncio.to_thread(knowledge_base.threads(self.settings).threads)

    async def turns(self, thread: str) -> list[Turn]:
        """The turns of a conversation. Raises UnknownThread, StoreError."""
        return await asyncio.to_thread(knowledge_base.threads(self.settings).turns, thread)

    async def keep_turns(self, thread: str, kb: str, turns: Sequence[Turn]) -> None:
        """Add turns to a conversation. Raises UsageError, StoreError."""

        def keep() -> None:
            store = knowledge_base.threads(self.settings)
            if store.open(thread).kb != kb:
                store.set_kb(thread, kb)
            store.append(thread, turns)

        await asyncio.to_thread(keep)

    def _open(self, kb: str) -> knowledge_base.KnowledgeBase:
        return knowledge_base.open(kb, settings=self.settings)

    def _infos(self) -> list[StoreInfo]:
        found = []
        for name in knowledge_base.names(self.settings):
            try:
                found.append(self._open(name).info())
            except LocalCragError:
                continue  # kb list shows it, with the reason
        return found

    # ------------------------------------------------------------------------------ by a process

    async def keep_uploads(self, kb: str, uploads: Sequence[Upload]) -> list[Path]:
        """Keep files below the home. Raises StorageFull, StoreError."""
        return await asyncio.to_thread(keep, self.settings.home, kb, uploads)

    async def ingest(self, kb: str, files: Sequence[Path]) -> AsyncGenerator[Event, None]:
        """The events of an ingestion; closing the generator kills it. Raises LocalCragError."""
        async with aclosing(ingestion(self.start, kb, files)) as events:
            async for event in events:
                yield event


def _no_reply() -> WarmError:
    return WarmError("the warm process gave no reply", hint="try again")
