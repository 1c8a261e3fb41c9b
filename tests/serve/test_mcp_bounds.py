"""What a client of the MCP server may reach, and how a call ends that nobody waits for any more."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Event as Flag
from typing import Any

import anyio
import pytest
from mcp import Client

from localcrag import knowledge_base
from localcrag.background import check_interruption
from localcrag.cli.main import main
from localcrag.errors import UsageError
from localcrag.events import Degraded, Event
from localcrag.options import AskOptions
from localcrag.serve.mcp_api import mcp_resources
from localcrag.serve.mcp_api.mcp_access import McpAccess
from localcrag.serve.mcp_api.mcp_server import make_server
from localcrag.settings import Settings, load
from localcrag.types import Hit, StoreInfo, WebPolicy

SECONDS = 60.0
"""Against a hang, and nothing about speed."""


@dataclass
class EndlessBase:
    """A knowledge base whose questions never end by themselves.

    With ``steps`` it gives one event after the other; otherwise it is within one step for ever. If it is
    ``ended`` before, it fails at once.
    """

    settings: Settings
    steps: bool
    name: str = "endless"
    asked: list[AskOptions | None] = field(default_factory=list)
    ended: Flag = field(default_factory=Flag)
    resets: int = 0

    def stream(self, question: str, options: AskOptions | None = None) -> Iterator[Event]:
        self.asked.append(options)
        if self.ended.is_set():
            raise UsageError("it has ended")
        try:
            yield Degraded("test", "it has begun")
            while not self.ended.wait(0.01):
                if self.steps:
                    yield Degraded("test", "it goes on")
                else:
                    check_interruption()
        finally:
            self.ended.set()

    def search(
        self, query: str, *, k: int = 8, filter: str | None = None, evaluator: str | None = None
    ) -> list[Hit]:
        return []

    def info(self) -> StoreInfo:
        raise NotImplementedError

    def reset_models(self) -> None:
        self.resets += 1


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load(home=tmp_path / "home", environ={})


def access_to(base: EndlessBase, **bounds: Any) -> McpAccess:
    return McpAccess(base.settings, lambda name: base, partial(opened, base.settings), **bounds)


def opened(settings: Settings, name: str) -> knowledge_base.KnowledgeBase:
    return knowledge_base.open(name, settings=settings)


def with_client(access: McpAccess, talk: Callable[[Client], Any]) -> Any:
    """What a conversation with the server brings; client and server are in this process."""

    async def run() -> Any:
        with anyio.fail_after(SECONDS):
            async with Client(make_server(access)) as client:
                return await talk(client)

    return anyio.run(run)


@pytest.mark.parametrize("steps", [True, False], ids=["between two steps", "within a step"])
def test_a_question_that_is_given_up_ends(settings: Settings, steps: bool) -> None:
    base = EndlessBase(settings, steps)

    async def give_up(client: Client) -> Any:
        async def gave_sign(progress: float, total: float | None, message: str | None) -> None:
            scope.cancel()

        with anyio.CancelScope() as scope:
            await client.call_tool("ask", {"question": "When?"}, progress_callback=gave_sign)
        return await client.call_tool("search", {"query": "x"})  # its turn comes when the question has ended

    assert with_client(access_to(base), give_up).content[0].text == "Nothing found."
    assert base.ended.is_set() and base.resets == 1


@pytest.mark.parametrize(
    ("policy", "offline", "asked", "said"),
    [
        (WebPolicy.NEVER, False, WebPolicy.NEVER, "The web is never searched."),
        (WebPolicy.ASK, False, WebPolicy.NEVER, "nobody can be asked here"),
        (WebPolicy.AUTO, False, WebPolicy.AUTO, "is sent to the search server"),
        (WebPolicy.AUTO, True, WebPolicy.AUTO, "The web is never searched."),
    ],
)
def test_the_web_is_searched_only_if_nobody_need_be_asked(
    settings: Settings, policy: WebPolicy, offline: bool, asked: WebPolicy, said: str
) -> None:
    chosen = replace(settings, offline=offline).with_values("web", policy=policy)
    base = EndlessBase(chosen, steps=False)
    base.ended.set()

    async def ask(client: Client) -> Any:
        await client.call_tool("ask", {"question": "When?"})
        return (await client.list_tools()).tools[1], client.instructions

    tool, instructions = with_client(access_to(base), ask)
    [options] = base.asked
    assert options is not None and options.web is asked and options.consent is None
    assert said in tool.description and said in instructions
    assert tool.annotations.open_world_hint is (asked is WebPolicy.AUTO)


def test_only_the_knowledge_bases_that_are_named_are_served(settings: Settings) -> None:
    for name in ("one", "two", "three"):
        opened(settings, name).ingest_text(f"The {name}.", name=name)
    access = access_to(EndlessBase(settings, steps=True), only=("two", "one"))

    async def look(client: Client) -> Any:
        listed = await client.call_tool("list_knowledge_bases", {})
        resources = await client.list_resources()
        refused = await client.call_tool("search", {"query": "x", "kb": "three"})
        tools = await client.list_tools()
        return listed.structured_content, resources.resources, refused, tools.tools

    listed, resources, refused, tools = with_client(access, look)
    assert {item["name"]: item["default"] for item in listed["knowledge_bases"]} == {
        "one": False,
        "two": True,
    }
    assert {item.name for item in resources} == {"text:one", "text:two"}
    assert refused.is_error and "Hint: one of: two, one" in refused.content[0].text
    assert "ingest" not in [tool.name for tool in tools]
    assert access.default == "two"
    with pytest.raises(UsageError, match="'three' is not served here"):
        access.held("three")
    with pytest.raises(UsageError, match="nothing may be ingested here"):
        access.ingestible("x")


def test_many_documents_are_listed_page_by_page(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_resources, "MAX_LISTED_DOCUMENTS", 2)
    for name in ("a/b", "ö?", "c"):
        opened(settings, "odd").ingest_text("A text.", name=name)

    async def list_all(client: Client) -> Any:
        first = await client.list_resources()
        second = await client.list_resources(cursor=first.next_cursor)
        read = [await client.read_resource(item.uri) for item in (*first.resources, *second.resources)]
        return first, second, [getattr(page.contents[0], "text", None) for page in read]

    first, second, texts = with_client(access_to(EndlessBase(settings, steps=True)), list_all)
    assert [len(first.resources), len(second.resources), second.next_cursor] == [2, 1, None]
    assert texts == ["A text."] * 3


def test_without_the_package_it_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.delitem(sys.modules, "localcrag.serve.mcp_api.mcp_server")
    assert main(["--home", str(tmp_path), "mcp"]) == 2
    error, hint = capsys.readouterr().err.splitlines()
    assert "a package that is not installed: mcp" in error and "pip install 'localcrag[mcp]'" in hint
    assert main(["--home", str(tmp_path), "mcp", "--allow-ingest", str(tmp_path / "none")]) == 2
    assert "there is no folder" in capsys.readouterr().err
