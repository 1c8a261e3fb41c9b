"""Each state that is not fine, against a scripted server; fine and two more are in test_searxng_real."""

from __future__ import annotations

import socket
from contextlib import closing
from threading import Thread

import pytest

from localcrag import egress
from localcrag.errors import LedgerError
from localcrag.web.diagnose import Diagnosis, ServerState, diagnose
from tests.web.scripted import Answer, ScriptedServer
from tests.web.searxng_server import dead_port

CONFIG = {"version": "2026.8.1", "engines": [{"name": "a", "enabled": True}], "categories": ["general"]}


def healthy(script: ScriptedServer, search: Answer) -> None:
    script.answers |= {
        "/healthz": Answer(200, b"OK", "text/plain"),
        "/config": Answer.json(CONFIG),
        "/search": search,
    }


def checked(url: str) -> Diagnosis:
    diagnosis = diagnose(url, record=lambda *_: None, timeout=60)
    assert len(diagnosis.detail.splitlines()) == 1
    assert diagnosis.fine or diagnosis.hint or diagnosis.state is ServerState.NOT_SEARXNG
    return diagnosis


def test_not_configured() -> None:
    assert checked("").state is ServerState.NOT_CONFIGURED
    assert checked("nonsense").state is ServerState.NOT_CONFIGURED


def test_down() -> None:
    assert checked(f"http://127.0.0.1:{dead_port()}").state is ServerState.DOWN


def test_offline() -> None:
    with egress.offline():
        assert checked("http://search.example.org").state is ServerState.OFFLINE


def test_another_server(script: ScriptedServer) -> None:
    script.answers["/"] = Answer(200, b"<html>It works!</html>")
    assert checked(script.url).state is ServerState.NOT_SEARXNG
    assert [r.path for r in script.requests] == ["/healthz", "/config"]  # and no query was sent to it


def test_something_that_is_not_http() -> None:
    def greet(server: socket.socket) -> None:
        for _ in range(2):
            with closing(server.accept()[0]) as connection:
                connection.sendall(b"SSH-2.0-server\r\n")
                connection.recv(65536)  # what is not read resets the connection, and with it what was said

    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=greet, args=(server,), daemon=True).start()
        assert checked(f"http://127.0.0.1:{server.getsockname()[1]}").state is ServerState.NOT_SEARXNG


def test_json_disabled_and_rate_limited(script: ScriptedServer) -> None:
    healthy(script, Answer(403, b"<html></html>"))
    assert checked(script.url).state is ServerState.JSON_DISABLED
    healthy(script, Answer(429, b"<html></html>"))
    diagnosis = checked(script.url)
    assert diagnosis.state is ServerState.RATE_LIMITED
    assert (diagnosis.version, diagnosis.engines) == ("2026.8.1", ("a",))


def test_engines_failing(script: ScriptedServer) -> None:
    healthy(script, Answer.json({"results": [], "unresponsive_engines": [["a", "timeout"]]}))
    diagnosis = checked(script.url)
    assert diagnosis.state is ServerState.ENGINES_FAILING and "a (timeout)" in diagnosis.detail


def test_no_engine_is_switched_on(script: ScriptedServer) -> None:
    healthy(script, Answer.json({"results": []}))
    off = CONFIG | {"engines": [{"name": "a", "enabled": False}]}
    script.answers["/config"] = Answer.json(off)
    assert checked(script.url).state is ServerState.ENGINES_FAILING


def test_fine_behind_a_proxy_that_hides_all_but_the_search(script: ScriptedServer) -> None:
    found = {"url": "https://a.example", "title": "A", "content": "a"}
    script.answers["/healthz"] = Answer(200, b"OK\n", "text/plain")
    script.answers["/search"] = Answer.json({"results": [found]})
    diagnosis = checked(script.url)
    assert diagnosis.fine and diagnosis.engines == ()


def test_the_check_is_recorded_too(script: ScriptedServer) -> None:
    def full(kind: str, target: str) -> None:
        raise LedgerError("no space")

    healthy(script, Answer.json({"results": []}))
    with pytest.raises(LedgerError):
        diagnose(script.url, record=full)
