"""A scripted backend of the HTTP door: no models, no files, no network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from localcrag.errors import DocumentGone, UnknownKnowledgeBase, UnknownThread
from localcrag.events import Decided, Delta, Discovered, Event, Finished, Ingested, Progressed, WebAsked
from localcrag.report import AskedQuestion
from localcrag.serve.http_api.backend import (
    CitedPlace,
    DoorQuestion,
    DoorStatus,
    Embeddings,
    HeldDocuments,
    ModelChoices,
    PlaceText,
)
from localcrag.serve.http_api.uploads import Upload, keep
from localcrag.types import (
    Action,
    Answer,
    Citation,
    CitationMark,
    Hit,
    IndexedDocument,
    IngestReport,
    Mode,
    Origin,
    Passage,
    Policy,
    Status,
    StoreInfo,
    Thread,
    Turn,
    WebPolicy,
)

SOURCE = "/documents/leaflet.txt"
TEXT = "The usual dose of Zeldrine is 35 mg once a day."
PNG = b"\x89PNG\r\n\x1a\n" + b"picture"


def answer_to(question: str) -> Answer:
    """An answer with one citation."""
    quote = f"{TEXT} [1]"
    return Answer(
        question,
        Status.ANSWERED,
        quote,
        Mode.QUOTE,
        Policy.CRAG,
        Action.CORRECT,
        citations=(Citation(1, SOURCE, None, 0, len(TEXT), TEXT, Origin.DOCUMENTS),),
        marks=(CitationMark(1, len(quote) - 3, len(quote)),),
    )


@dataclass
class ScriptedBackend:
    """A :class:`~localcrag.serve.http_api.backend.Backend` that answers every question from :data:`TEXT`.

    ``gate``, if there is one, is waited for after the first event of each question. ``asked`` are the
    questions, ``closed`` those whose generator was closed before its end, and ``kept`` the turns.
    """

    home: Path = Path("/nonexistent")
    gate: asyncio.Event | None = None
    read_only: bool = False
    asked: list[DoorQuestion] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    kept: dict[str, list[Turn]] = field(default_factory=dict)
    ingested: dict[str, bytes] = field(default_factory=dict)
    consented: list[str | None] = field(default_factory=list)

    async def status(self) -> DoorStatus:
        models = ModelChoices("small", "auto", "judge", "MiniLM", ("small", "large"))
        return DoorStatus("0.0", False, True, models, "default", self.read_only)

    async def stream(self, question: Question) -> AsyncGenerator[Event, None]:
        self._require(question.kb)
        self.asked.append(question)
        done = False
        try:
            yield Decided(Action.CORRECT, Policy.CRAG, "scripted")
            if self.gate:
                await self.gate.wait()
            if question.consent and question.options.web is WebPolicy.ASK:
                line = await question.consent("zeldrine dose")
                self.consented.append(line)
                yield WebAsked("zeldrine dose", line is not None, 0)
            answer = answer_to(question.text)
            yield Delta(answer.text, answer.marks)
            yield Finished(answer)
            done = True
        finally:
            if not done:
                self.closed.append(question.text)

    async def search(self, kb: str, query: str, k: int, filter: str | None) -> list[Hit]:
        self._require(kb)
        passage = Passage("1", "hash", SOURCE, "Leaflet", "", None, 0, len(TEXT), TEXT)
        return [Hit(passage, 0.9)][:k]

    async def embed(self, texts: Sequence[str]) -> Embeddings:
        return Embeddings("MiniLM", tuple((float(len(text)), 1.0) for text in texts), len(texts))

    async def knowledge_bases(self) -> list[StoreInfo]:
        return [StoreInfo("default", 1, 1, "MiniLM", 2, 100, (), False)]

    async def documents(self, kb: str) -> HeldDocuments:
        self._require(kb)
        return HeldDocuments((IndexedDocument(SOURCE, "hash", len(TEXT), 0, 1),), ())

    async def keep_uploads(self, kb: str, uploads: Sequence[Upload]) -> list[Path]:
        return keep(self.home, kb, uploads)

    async def ingest(self, kb: str, files: Sequence[Path]) -> AsyncGenerator[Event, None]:
        yield Discovered(len(files), sum(file.stat().st_size for file in files))
        for file in files:
            self.ingested[str(file)] = file.read_bytes()
            yield Progressed(str(file), file.stat().st_size, "added", 1)
            if self.gate:
                await self.gate.wait()
        yield Ingested(IngestReport(kb, added=len(files), passages=len(files)))

    async def cited_text(self, place: CitedPlace) -> PlaceText:
        self._require_held(place)
        before, quote, after = TEXT[: place.start], TEXT[place.start : place.end], TEXT[place.end :]
        return PlaceText("Leaflet", SOURCE, None, before, quote, after, picture=False)

    async def page_picture(self, place: CitedPlace) -> bytes:
        self._require_held(place)
        return PNG

    async def report(self, asked: AskedQuestion) -> str:
        return f"<!doctype html><title>{escape(asked.question)}</title>"

    async def threads(self) -> list[Thread]:
        return [Thread(name, "default", None, len(turns), 0.0, 0.0) for name, turns in self.kept.items()]

    async def turns(self, thread: str) -> list[Turn]:
        if thread not in self.kept:
            raise UnknownThread(f"there is no conversation {thread!r}", hint="begin one")
        return self.kept[thread]

    async def keep_turns(self, thread: str, kb: str, turns: Sequence[Turn]) -> None:
        self.kept.setdefault(thread, []).extend(turns)

    def _require(self, kb: str) -> None:
        if kb != "default":
            raise UnknownKnowledgeBase(f"there is no knowledge base {kb!r}", hint="there are: default")

    def _require_held(self, place: CitedPlace) -> None:
        self._require(place.kb)
        if place.source != SOURCE:
            raise DocumentGone("that document is not in 'default'", hint="it was changed or removed since")
