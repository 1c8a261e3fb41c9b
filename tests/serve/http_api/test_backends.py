"""What holds for every backend of a door: the scripted one, and that over a real warm process."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import pytest

from localcrag.errors import DocumentGone, UnknownKnowledgeBase, UnknownThread, UsageError
from localcrag.events import Discovered, Event, Finished, Ingested, Progressed, WebAsked
from localcrag.options import AskOptions
from localcrag.serve.ask_request import AskRequest
from localcrag.serve.http_api.backend import Backend, CitedPlace, DoorQuestion
from localcrag.serve.http_api.uploads import Upload
from localcrag.serve.http_api.warm_backend import WarmBackend
from localcrag.serve.protocol import StartConditions
from localcrag.settings import ModelSettings, Settings
from localcrag.types import Turn, WebPolicy
from tests.fakes.door import SOURCE, TEXT, ScriptedBackend, answer_to
from tests.serve.http_api.conftest import QUESTION, UNKNOWN, WarmDoor, scripted_client

T = TypeVar("T")


@dataclass(frozen=True)
class Held:
    """A backend whose knowledge base ``default`` holds a document that begins with TEXT."""

    backend: Backend
    source: str


@pytest.fixture(params=["scripted", "warm"])
def held(request: pytest.FixtureRequest, tmp_path: Path) -> Held:
    if request.param == "scripted":
        return Held(ScriptedBackend(home=tmp_path), SOURCE)
    door: WarmDoor = request.getfixturevalue("warm_door")
    return Held(door.backend(), str(door.leaflet))


async def all_of(events: AsyncGenerator[Event, None]) -> list[Event]:
    async with aclosing(events):
        return [event async for event in events]


def asked(backend: Backend, text: str, **options: object) -> list[Event]:
    async def consent(query: str) -> str | None:
        queries.append(query)
        return None

    queries: list[str] = []
    question = DoorQuestion("default", text, AskOptions.of(**options), consent)  # type: ignore[arg-type]
    return asyncio.run(all_of(backend.stream(question)))


def test_a_question_ends_in_its_answer(held: Held) -> None:
    events = asked(held.backend, QUESTION)
    assert [isinstance(event, Finished) for event in events] == [False] * (len(events) - 1) + [True]
    finished = events[-1]
    assert isinstance(finished, Finished) and "35 mg" in finished.answer.text
    assert finished.answer.citations[0].source == held.source


def test_a_line_that_is_refused_is_not_sent(held: Held) -> None:
    web = [event for event in asked(held.backend, UNKNOWN, web=WebPolicy.ASK) if isinstance(event, WebAsked)]
    assert web and not any(event.sent for event in web)


def test_a_question_can_be_left_and_the_next_one_is_answered(held: Held) -> None:
    async def leave() -> Event:
        async with aclosing(held.backend.stream(DoorQuestion("default", QUESTION))) as events:
            return await anext(events)

    assert not isinstance(asyncio.run(leave()), Finished)
    assert isinstance(asked(held.backend, QUESTION)[-1], Finished)


@pytest.mark.parametrize(
    "work",
    [
        lambda backend: all_of(backend.stream(DoorQuestion("nowhere", "x"))),
        lambda backend: backend.search("nowhere", "x", 3, None),
        lambda backend: backend.documents("nowhere"),
        lambda backend: backend.cited_text(CitedPlace("nowhere", SOURCE, None, 0, 1)),
    ],
)
def test_an_unknown_knowledge_base_is_said(held: Held, work: Callable[[Backend], Awaitable[object]]) -> None:
    async def run() -> None:
        await work(held.backend)

    with pytest.raises(UnknownKnowledgeBase):
        asyncio.run(run())


def test_a_search_gives_hits(held: Held) -> None:
    hits = asyncio.run(held.backend.search("default", "dose of Zeldrine", 1, None))
    assert [hit.passage.source for hit in hits] == [held.source]


def test_texts_are_embedded_in_their_order(held: Held) -> None:
    async def embed() -> tuple[list[object], str, int]:
        both = await held.backend.embed(["dose", "a lighthouse"])
        alone = [(await held.backend.embed([text])).vectors[0] for text in ("dose", "a lighthouse")]
        close = [
            pytest.approx(one, abs=1e-4) == other for one, other in zip(both.vectors, alone, strict=True)
        ]
        return [*close], both.model, both.tokens

    close, model, tokens = asyncio.run(embed())
    assert close == [True, True] and model and tokens >= 2


def test_what_is_held_is_listed(held: Held) -> None:
    async def run() -> None:
        status = await held.backend.status()
        assert status.default_kb == "default" and status.models.language in status.models.available
        assert "default" in [info.name for info in await held.backend.knowledge_bases()]
        documents = (await held.backend.documents("default")).documents
        assert held.source in [document.source for document in documents]

    asyncio.run(run())


def test_a_citation_is_opened_and_nothing_else(held: Held) -> None:
    place = CitedPlace("default", held.source, None, 4, 14)
    found = asyncio.run(held.backend.cited_text(place))
    assert (found.before, found.quote) == ("The ", "usual dose") and found.after.startswith(" of Zeldrine")
    for source in ("/etc/passwd", held.source + "x", "", "' OR 1=1 --"):
        with pytest.raises(DocumentGone):
            asyncio.run(held.backend.cited_text(CitedPlace("default", source, None, 0, 1)))
        with pytest.raises(DocumentGone):
            asyncio.run(held.backend.page_picture(CitedPlace("default", source, None, 0, 1)))


def test_conversations_are_kept(held: Held) -> None:
    async def run() -> None:
        turns = [Turn("user", "dose?"), Turn("assistant", TEXT)]
        with pytest.raises(UnknownThread):
            await held.backend.turns("contract")
        await held.backend.keep_turns("contract", "default", turns)
        await held.backend.keep_turns("contract", "default", turns)
        assert await held.backend.turns("contract") == turns * 2
        (thread,) = [one for one in await held.backend.threads() if one.name == "contract"]
        assert (thread.kb, thread.turns) == ("default", 4)

    asyncio.run(run())


def test_files_are_kept_and_ingested(held: Held) -> None:
    async def run() -> list[Event]:
        upload = Upload("../herons.txt", io.BytesIO(b"A grey heron stands still and waits for fish."))
        files = await held.backend.keep_uploads("birds", [upload])
        return await all_of(held.backend.ingest("birds", files))

    events = asyncio.run(run())
    kinds = [type(event) for event in events]
    assert kinds[0] is Discovered and Progressed in kinds and kinds[-1] is Ingested
    report = events[-1]
    assert isinstance(report, Ingested) and (report.report.kb, report.report.added) == ("birds", 1)


def test_places_that_a_page_does_not_have(warm_door: WarmDoor) -> None:
    backend = warm_door.backend()
    for page, start, end in ((1, 0, 1), (None, -1, 1), (None, 5, 5), (None, 5, 4), (None, 0, 10**9)):
        with pytest.raises(UsageError):
            place = CitedPlace("default", str(warm_door.leaflet), page, start, end)
            asyncio.run(backend.cited_text(place))


# ---------------------------------------------------------------------------------- a model server


@dataclass
class RecordingConnections:
    """In place of the connections to a warm process: every question gets the same answer."""

    requests: list[AskRequest] = field(default_factory=list)

    async def replies(self, request: AskRequest, consent: object = None) -> AsyncGenerator[Event, None]:
        self.requests.append(request)
        yield Finished(answer_to(request.question))


SERVER = "http://gpu-box:8080#qwen3-8b"


@pytest.mark.parametrize(
    ("named", "status"),
    [
        (SERVER, 200),
        ("HTTP://GPU-Box:8080/v1/#qwen3-8b", 200),
        (None, 200),
        ("http://gpu-box:8080#other", 404),
        ("http://gpu-box:8081#qwen3-8b", 404),
        ("http://127.0.0.1:9000", 404),
        ("http://gpu-box:8080.evil.example#qwen3-8b", 404),
        ("http://u:secret@gpu-box:8080#qwen3-8b", 404),
        ("http://", 404),
    ],
)
@pytest.mark.parametrize("path", ["/api/ask", "/v1/chat/completions"])
def test_of_model_servers_only_that_of_the_settings_can_be_named(
    tmp_path: Path, path: str, named: str | None, status: int
) -> None:
    settings = Settings(home=tmp_path, model=ModelSettings(language=SERVER, servers=("127.0.0.1:9000",)))
    connections = RecordingConnections()
    start = StartConditions("", "", "", False, "", {})
    backend = WarmBackend(settings, start, connections)  # type: ignore[arg-type]
    options = {"model": named}
    bodies = {
        "/api/ask": {"question": "dose?", "options": options},
        "/v1/chat/completions": {
            "model": "localcrag/default",
            "messages": [{"role": "user", "content": "dose?"}],
            "localcrag": options,
        },
    }
    done = scripted_client(backend).post(path, json=bodies[path], headers={"Accept": "application/json"})
    assert done.status_code == status, done.text
    assert [request.model.language for request in connections.requests] == [SERVER] * (status == 200)
    assert "secret" not in done.text
