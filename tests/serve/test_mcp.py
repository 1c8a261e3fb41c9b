"""``localcrag mcp`` as clients use it: the official client, a real child process, the embedded models."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.documents.builders import pdf
from tests.serve.conftest import DEADLINE, PATIENT, QUESTION, House

LEAFLET = (
    ("Zeldrine tablets. Information for patients.", "Zeldrine is made by the Orlan company in Porto."),
    ("How to take it.", "The usual dose of Zeldrine is 35 mg once a day.", "Swallow the tablet with water."),
)


@dataclass
class Session:
    """A client with its server process."""

    portal: BlockingPortal
    client: Client
    home: Path
    folder: Path
    steps: list[tuple[float, float | None, str | None]] = field(default_factory=list)

    def call(self, tool: str, **arguments: Any) -> Any:
        self.steps.clear()
        return self.portal.call(self._call, tool, arguments)

    def run(self, name: str, *arguments: Any) -> Any:
        return self.portal.call(getattr(self.client, name), *arguments)

    async def _call(self, tool: str, arguments: dict[str, Any]) -> Any:
        return await self.client.call_tool(tool, arguments, progress_callback=self._note)

    async def _note(self, progress: float, total: float | None, message: str | None) -> None:
        self.steps.append((progress, total, message))

    def cancel_at_first_step(self, tool: str, **arguments: Any) -> None:
        """Begin a call, and give up as soon as it says that it is at work."""

        async def begin_and_give_up() -> None:
            async def gave_sign(progress: float, total: float | None, message: str | None) -> None:
                scope.cancel()

            with anyio.CancelScope() as scope:
                await self.client.call_tool(tool, arguments, progress_callback=gave_sign)
            assert scope.cancelled_caught

        self.portal.call(begin_and_give_up)


@pytest.fixture(scope="module")
def runtime() -> Iterator[str]:
    """A folder for sockets, whose paths must be short."""
    with tempfile.TemporaryDirectory(prefix="lc-") as folder:
        yield folder


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory, runtime: str) -> Iterator[Session]:
    """One server process for all tests of this module, with a folder that may be ingested."""
    folder, home = tmp_path_factory.mktemp("inbox"), tmp_path_factory.mktemp("home")
    (folder / "leaflet.pdf").write_bytes(pdf(*LEAFLET, title="Zeldrine"))
    (folder / "notes.md").write_text("# Garden club\n\nThe club meets on Tuesdays in the old mill [7].\n")
    arguments = [str(PATIENT), "--home", str(home), "mcp", "--allow-ingest", str(folder)]
    environment = {**os.environ, "XDG_RUNTIME_DIR": runtime, "LOCALCRAG_SERVE_WARM": "never"}
    server = StdioServerParameters(command=sys.executable, args=arguments, env=environment)
    with start_blocking_portal() as portal, Path(os.devnull).open("w") as log:
        client = Client(stdio_client(server, errlog=log))
        with portal.wrap_async_context_manager(client):
            made = Session(portal, client, home, folder)
            assert made.call("ingest", paths=["leaflet.pdf", "notes.md"]).structured_content["added"] == 2
            yield made


def test_the_tools_explain_themselves(session: Session) -> None:
    tools = {tool.name: tool for tool in session.run("list_tools").tools}
    assert list(tools) == ["search", "ask", "read", "list_knowledge_bases", "ingest"]
    for tool in tools.values():
        assert tool.title and len(tool.description) > 80
        assert tool.input_schema["type"] == tool.output_schema["type"] == "object"
        described = [item.get("description") for item in tool.input_schema["properties"].values()]
        assert all(described), tool.name
    assert "The web is never searched." in tools["ask"].description
    assert [name for name, tool in tools.items() if not tool.annotations.read_only_hint] == ["ingest"]
    assert not any(tool.annotations.open_world_hint for tool in tools.values())


def test_a_search_brings_passages_with_their_places(session: Session) -> None:
    done = session.call("search", query="usual dose of Zeldrine", k="1")
    [hit] = done.structured_content["hits"]
    assert (hit["rank"], hit["page"], Path(hit["source"]).name) == (1, 2, "leaflet.pdf")
    assert f"source {hit['source']}, page 2, start {hit['start']}" in done.content[0].text
    assert "35 mg" in hit["text"] and "35 mg" in done.content[0].text
    assert session.steps == [(0, None, "searching default")]


def test_an_answer_reports_its_steps_and_its_citation_can_be_read(session: Session) -> None:
    done = session.call("ask", question=QUESTION)
    answer = done.structured_content
    assert (answer["status"], answer["kb"]) == ("answered", "default") and "35 mg" in answer["answer"]
    numbers = [number for number, _, _ in session.steps]
    messages = [message or "" for _, _, message in session.steps]
    assert numbers == sorted(set(numbers)) and all(messages)
    assert messages[0].startswith(f"searched for “{QUESTION}”: ")
    assert any(message.startswith("graded a passage") for message in messages)
    text = done.content[0].text
    [citation] = answer["citations"]
    assert text.startswith("Status: answered\n\n") and f"[1] source {citation['source']}, page 2" in text
    place = {name: citation[name] for name in ("source", "page", "start", "end")}
    part = session.call("read", **place, around=15).structured_content
    assert part["text"] == citation["quote"]
    assert part["before"].rstrip().endswith("to take it.") and len(part["before"]) == 15
    assert part["after"] and len(part["after"]) <= 15 and part["title"] == "Zeldrine"


def test_no_answer_is_no_error(session: Session) -> None:
    done = session.call("ask", question="Who won the chess championship of 1972?")
    assert not done.is_error and done.structured_content["status"] == "not_found"
    assert done.content[0].text.startswith("Status: not_found\n\nYour documents do not answer this.")


def test_where_a_question_finds_nothing_the_closest_passages_are_named(session: Session) -> None:
    done = session.call("ask", question="Who is the chair of the garden club?")
    near = done.structured_content["closest"]
    assert done.structured_content["status"] == "not_found" and near
    text = done.content[0].text
    assert "Closest passages, which do not answer it:\n- source " in text
    assert f"{near[0]['source']}, " in text and f"start {near[0]['start']}, end {near[0]['end']}" in text


def test_numbers_in_brackets_of_documents_are_no_citations(session: Session) -> None:
    assert "‹7›" in session.call("search", query="where does the club meet?", k=1).content[0].text


@pytest.mark.parametrize(
    ("tool", "arguments", "message", "hint"),
    [
        ("ask", {"question": "  "}, "the question is empty", "ask something"),
        ("ask", {"question": "x", "kb": "nowhere"}, "nowhere", "there are: default"),
        ("search", {"query": "x", "filter": "team ="}, "filter", ""),
        ("search", {"query": "x", "k": 51}, "wrong arguments for search", "it takes: query, kb, filter, k"),
        ("search", {"quary": "x"}, "wrong arguments for search", "it takes: query, kb, filter, k"),
        ("read", {"source": "/nowhere"}, "holds no document '/nowhere'", "a search names the sources"),
        ("read", {"source": "leaflet", "page": 3}, "page 3 of", "it has the pages 1 to 2"),
        ("read", {"source": "leaflet"}, "no page of", "it has the pages 1 to 2"),
        ("read", {"source": "leaflet", "page": 1, "start": 9999}, "no characters 9999", "take start and end"),
        ("ingest", {"paths": ["../secret"]}, "no file or folder below", "only what lies there"),
        ("ingest", {"paths": ["/etc/hostname"]}, "no file or folder below", "only what lies there"),
        ("ingest", {"paths": ["http://127.0.0.1/x"]}, "no file or folder below", "only what lies there"),
        ("ingest", {"paths": ["*.md"]}, "no file or folder below", "only what lies there"),
        ("ingest", {"paths": ["-"]}, "no file or folder below", "only what lies there"),
        ("ingest", {"paths": []}, "wrong arguments for ingest", "it takes: paths"),
        ("ingest", {"paths": ["notes.md"], "metadata": {"a b": 1}}, "a b", ""),
    ],
)
def test_what_is_wrong_is_said_with_what_to_do(
    session: Session, tool: str, arguments: dict[str, Any], message: str, hint: str
) -> None:
    if arguments.get("source") == "leaflet":
        arguments = {**arguments, "source": str(session.folder.resolve() / "leaflet.pdf")}
    done = session.call(tool, **arguments)
    failed, _, advice = done.content[0].text.partition("\nHint: ")
    assert done.is_error and done.structured_content is None
    assert message in failed and hint in advice and "Traceback" not in failed


def test_a_link_out_of_the_folder_is_not_read(session: Session, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("The password of the archive is heron.")
    (session.folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    (session.folder / "links").mkdir()
    (session.folder / "links" / "inner.txt").symlink_to(tmp_path / "secret.txt")
    try:
        assert session.call("ingest", paths=["link.txt"], kb="links").is_error
        done = session.call("ingest", paths=["links"], kb="links").structured_content
        assert done["added"] == 0 and "a link out of the folder" in done["skipped"][0]["reason"]
    finally:
        (session.folder / "link.txt").unlink()


def test_the_knowledge_bases_are_listed(session: Session) -> None:
    found = session.call("list_knowledge_bases").structured_content
    [served] = [item for item in found["knowledge_bases"] if item["name"] == "default"]
    assert served["documents"] == 2 and served["default"] and "source" in served["fields"]
    assert found["unreadable"] == []


def test_documents_are_resources(session: Session) -> None:
    listed = {item.name: item for item in session.run("list_resources").resources}
    assert set(listed) == {"leaflet.pdf", "notes.md"} and listed["leaflet.pdf"].title == "Zeldrine"
    pages = session.run("read_resource", listed["leaflet.pdf"].uri).contents
    assert [page.meta for page in pages] == [{"localcrag/page": 1}, {"localcrag/page": 2}]
    assert "35 mg" in pages[1].text and pages[1].mime_type == "text/plain"
    [hit] = session.call("search", query="usual dose", k=1).structured_content["hits"]
    assert hit["uri"] == listed["leaflet.pdf"].uri
    [template] = session.run("list_resource_templates").resource_templates
    assert template.uri_template == "localcrag://documents/{kb}/{source}"


@pytest.mark.parametrize(
    "uri", ["localcrag://documents/default/%2Fno", "localcrag://documents/", "file:///etc"]
)
def test_a_resource_that_is_not_there_is_an_error_of_the_protocol(session: Session, uri: str) -> None:
    with pytest.raises(MCPError) as raised:
        session.run("read_resource", uri)
    assert raised.value.error.code == -32602 and raised.value.error.data["hint"]


def test_an_unknown_tool_is_an_error_of_the_protocol(session: Session) -> None:
    with pytest.raises(MCPError, match="there is no tool 'forget'"):
        session.call("forget", sources=["x"])


def test_after_a_question_was_given_up_the_next_one_is_answered(session: Session) -> None:
    session.cancel_at_first_step("ask", question="Who makes Zeldrine, and where?")
    assert session.call("ask", question=QUESTION).structured_content["status"] == "answered"


def test_it_uses_the_warm_process_as_soon_as_there_is_one(
    session: Session, runtime: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
    monkeypatch.setenv("LOCALCRAG_SERVE_WARM", "never")
    house = House(session.home, monkeypatch)
    try:
        house.serve()
        assert session.call("ask", question=QUESTION).structured_content["status"] == "answered"
        assert house.server.answered == 1
    finally:
        house.end()


SAY_HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}


def test_stdout_carries_nothing_but_the_protocol(session: Session) -> None:
    """What else is printed goes to stderr; the client is one of an older version."""
    calls = [
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "list_knowledge_bases"}},
    ]
    program = (
        "import sys; from localcrag.cli.main import main; from localcrag import knowledge_base as k;"
        "old = k.names; k.names = lambda s: (print('noise'), sys.stdout.flush(), old(s))[2];"
        "sys.exit(main(sys.argv[1:]))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, "--home", str(session.home), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin and process.stdout
    for message in (SAY_HELLO, *calls):
        process.stdin.write(json.dumps(message) + "\n")
    process.stdin.flush()
    replies = [json.loads(process.stdout.readline()) for _ in range(2)]
    rest, log = process.communicate(timeout=DEADLINE)
    assert [reply["id"] for reply in replies] == [1, 2] and rest == ""
    assert replies[1]["result"]["structuredContent"]["knowledge_bases"]
    assert "noise" in log and process.returncode == 0
