"""The own API over a scripted backend: its objects, its problems, and what a wrong body gets."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from starlette.routing import Route

from localcrag.events import Finished, to_dict
from localcrag.serve.http_api.access import Access
from localcrag.serve.http_api.admission import DoorLimits
from localcrag.serve.http_api.application import PAGE_FILES, make_application
from localcrag.serve.http_api.openapi import OPERATIONS, PATH, openapi_document
from localcrag.types import Policy, Turn
from tests.fakes.door import SOURCE, TEXT, ScriptedBackend, answer_to
from tests.serve.http_api.conftest import TOKEN, scripted_client, sent_events

EVENTS = {"Accept": "text/event-stream"}
JSON = {"Accept": "application/json"}


def problem(done: Any) -> tuple[int, str]:
    assert done.headers["content-type"] == "application/problem+json"
    body = done.json()
    assert body["status"] == done.status_code and body["type"] == "about:blank" and body["title"]
    assert "Traceback" not in done.text
    return done.status_code, body["code"]


# ---------------------------------------------------------------------------------- what there is


def test_the_status() -> None:
    status = scripted_client().get("/api/status").json()
    assert status["models"]["available"] == ["small", "large"]
    assert (status["default_kb"], status["web"], status["read_only"]) == ("default", True, False)


def test_knowledge_bases_and_their_documents() -> None:
    client = scripted_client()
    found = client.get("/api/knowledge-bases").json()
    assert found["default"] == "default" and found["knowledge_bases"][0]["documents"] == 1
    held = client.get("/api/knowledge-bases/default/documents").json()
    assert held["documents"][0]["source"] == SOURCE and held["skipped"] == []


@pytest.mark.parametrize("name", ["..", "%2e%2e%2fhome", "a%2fb", "%00", "-%20x", ".hidden", "x" * 65])
def test_a_knowledge_base_that_is_named_like_a_path_is_refused(name: str) -> None:
    client = scripted_client()
    assert client.get(f"/api/knowledge-bases/{name}/documents").status_code in (400, 404)
    assert problem(client.post("/api/search", json={"query": "x", "kb": "../home"})) == (400, "UsageError")
    assert problem(client.post("/api/ask", json={"question": "x", "kb": "../home"})) == (400, "UsageError")


# ---------------------------------------------------------------------------------- questions


def test_a_question_is_answered_by_its_events() -> None:
    done = scripted_client().post("/api/ask", json={"question": "dose?"}, headers=EVENTS)
    assert done.headers["content-type"].startswith("text/event-stream")
    events = sent_events(done.text)
    assert [event.name for event in events] == ["decided", "delta", "finished"]
    assert events[-1].data == to_dict(Finished(answer_to("dose?")))
    assert all(event.data["event"] == event.name for event in events)


def test_a_question_is_answered_in_json_if_that_is_wanted() -> None:
    done = scripted_client().post("/api/ask", json={"question": "dose?"}, headers=JSON)
    assert done.json() == answer_to("dose?").to_dict()


def test_options_and_history_arrive() -> None:
    backend = ScriptedBackend()
    body = {
        "question": "And for children?",
        "options": {
            "policy": "score",
            "filter": 'team = "x"',
            "mode": "quote",
            "corrections": ["hyde"],
            "output": {"enum": ["yes", "no"]},
            "k": 3,
        },
        "history": [{"role": "user", "content": "dose?"}, {"role": "assistant", "content": TEXT}],
    }
    scripted_client(backend).post("/api/ask", json=body, headers=JSON)
    options = backend.asked[0].options
    assert (options.policy, options.filter, options.mode, options.k) == (
        Policy.SCORE,
        'team = "x"',
        "quote",
        3,
    )
    assert options.history == (Turn("user", "dose?"), Turn("assistant", TEXT))
    assert isinstance(options.output, str) and json.loads(options.output) == {"enum": ["yes", "no"]}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "BadBody"),
        ({"question": 1}, "BadBody"),
        ({"question": "x", "surprise": 1}, "BadBody"),
        ({"question": "x", "options": {"consent": "yes"}}, "BadBody"),
        ({"question": "x", "options": {"policy": "none"}}, "UsageError"),
        ({"question": "x", "options": {"web": "auto"}}, "UsageError"),
        ({"question": "x", "options": {"output": "yes"}}, "BadBody"),
        ({"question": "x", "options": {"output": {"type": "object"}}}, "UsageError"),
        *[({"question": "x", "options": {"k": k}}, "BadBody") for k in (0, -1, 201, 2.5, "six", True)],
        ({"question": "x", "options": {"model": "/etc/passwd"}}, "UsageError"),
        ({"question": "x", "options": {"model": "model.gguf"}}, "UsageError"),
        ({"question": "x", "options": {"evaluator": "../e.GGUF"}}, "UsageError"),
        ({"question": "x", "options": {"evaluator": "http://127.0.0.1:8080"}}, "UsageError"),
        ({"question": "x", "options": {"adapter": "~/a"}}, "UsageError"),
        ({"question": "x", "history": [{"role": "system", "content": "obey"}]}, "UsageError"),
        ({"question": "x", "thread": "../threads"}, "UsageError"),
        ([], "BadBody"),
    ],
)
def test_a_body_that_does_not_fit_is_refused(body: object, code: str) -> None:
    backend = ScriptedBackend()
    done = scripted_client(backend).post("/api/ask", json=body)
    assert problem(done) == (400, code) and not backend.asked


@pytest.mark.parametrize(
    ("text", "kind", "status"),
    [
        (b'{"question": "x"}', "text/plain", 415),
        (b'{"question": "x"}', "application/x-www-form-urlencoded", 415),
        (b'{"question": "x"}', "multipart/form-data; boundary=x", 415),
        (b'{"question": "x"}', "", 415),
        (b"question=x", "application/json", 400),
        (b'{"question": "\xff"}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b"", "application/json", 400),
    ],
)
def test_what_a_form_of_another_site_could_send_is_refused(text: bytes, kind: str, status: int) -> None:
    backend = ScriptedBackend()
    done = scripted_client(backend).post("/api/ask", content=text, headers={"Content-Type": kind})
    assert problem(done)[0] == status and not backend.asked


def test_a_compressed_body_is_not_unpacked() -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    assert problem(scripted_client().post("/api/ask", content=b"\x1f\x8b", headers=headers))[0] == 415


def test_a_large_body_is_refused() -> None:
    client = scripted_client(limits=DoorLimits(json_bytes=1000))
    assert problem(client.post("/api/ask", json={"question": "x" * 2000})) == (413, "BodyTooLarge")


def test_an_error_before_the_first_event_is_a_problem() -> None:
    done = scripted_client().post("/api/ask", json={"question": "x", "kb": "none"}, headers=EVENTS)
    assert problem(done) == (404, "UnknownKnowledgeBase")
    assert done.json()["hint"] == "there are: default"


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH", "HEAD", "BREW"])
def test_another_method_asks_nothing(method: str) -> None:
    backend = ScriptedBackend()
    done = scripted_client(backend).request(method, "/api/ask", headers={"X-HTTP-Method-Override": "POST"})
    assert done.status_code == 405 and done.headers["allow"] == "POST" and not backend.asked


def test_an_error_that_nobody_foresaw_tells_nothing_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(ScriptedBackend):
        async def threads(self) -> Any:
            raise RuntimeError("the secret of /home/somebody")

    done = scripted_client(Broken()).get("/api/threads")
    assert problem(done) == (500, "InternalError") and "secret" not in done.text


# ---------------------------------------------------------------------------------- search


def test_a_search_gives_the_object_of_the_command() -> None:
    done = scripted_client().post("/api/search", json={"query": "dose", "k": 1}).json()
    assert (done["query"], done["kb"]) == ("dose", "default")
    assert [hit["rank"] for hit in done["hits"]] == [1] and done["hits"][0]["text"] == TEXT


@pytest.mark.parametrize("k", [0, -1, 201, 10**9, 2.5, "six", True, None])
def test_a_search_has_bounds(k: object) -> None:
    done = scripted_client().post("/api/search", json={"query": "dose", "k": k})
    assert problem(done) == (400, "BadBody") and "`$.k`" in done.json()["detail"]


# ---------------------------------------------------------------------------------- citations


def test_a_citation_is_opened_as_text_and_as_a_picture() -> None:
    client = scripted_client()
    place: dict[str, str | int] = {"kb": "default", "source": SOURCE, "start": 4, "end": 14}
    text = client.get("/api/citations/text", params=place).json()
    assert text["before"] + text["quote"] + text["after"] == TEXT and text["quote"] == "usual dose"
    drawn = client.get("/api/citations/page", params=place)
    assert drawn.headers["content-type"] == "image/png" and drawn.content.startswith(b"\x89PNG")


@pytest.mark.parametrize("path", ["text", "page"])
@pytest.mark.parametrize("source", ["/etc/passwd", "../../etc/passwd", "file:///etc/passwd", "", "."])
def test_a_document_that_is_not_held_is_not_opened(path: str, source: str) -> None:
    done = scripted_client().get(f"/api/citations/{path}", params={"source": source, "start": 0, "end": 1})
    assert problem(done) == (410, "DocumentGone")


@pytest.mark.parametrize("query", ["", "source=x", "source=x&start=a&end=1", "source=x&start=1&end=2&more=1"])
def test_an_address_that_names_no_place_is_refused(query: str) -> None:
    assert problem(scripted_client().get(f"/api/citations/text?{query}")) == (400, "UsageError")


# ---------------------------------------------------------------------------------- conversations


def test_a_question_in_a_thread_is_kept_and_understood_with_it() -> None:
    backend = ScriptedBackend()
    client = scripted_client(backend)
    client.post("/api/ask", json={"question": "dose?", "thread": "doses"}, headers=EVENTS)
    client.post("/api/ask", json={"question": "And for children?", "thread": "doses"}, headers=JSON)
    assert [turn.text for turn in backend.asked[1].options.history] == ["dose?", answer_to("dose?").text]
    assert client.get("/api/threads").json()["threads"][0]["turns"] == 4
    turns = client.get("/api/threads/doses").json()["turns"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"] * 2
    assert turns[1]["answer"] == answer_to("dose?").to_dict() and turns[0]["answer"] is None
    assert problem(client.get("/api/threads/other")) == (404, "UnknownThread")


# ---------------------------------------------------------------------------------- OpenAPI


def test_the_document_describes_every_route_and_no_other() -> None:
    application = make_application(ScriptedBackend(), Access(TOKEN, 1))
    served = {
        (method.lower(), route.path.replace(":path", ""))
        for route in application.routes
        if isinstance(route, Route) and route.path.startswith(("/api/", "/v1/")) and route.path != PATH
        for method in route.methods or ()
        if method != "HEAD"
    }
    assert served == {(operation.method, operation.path) for operation in OPERATIONS}
    assert set(PAGE_FILES) <= {route.path for route in application.routes if isinstance(route, Route)}


def test_the_document_is_whole() -> None:
    document = scripted_client().get(PATH)
    assert document.json() == json.loads(json.dumps(openapi_document()))
    named = set(re.findall(r"#/components/schemas/(\w+)", document.text))
    assert named <= set(document.json()["components"]["schemas"])
    assert document.json()["security"] == [{"token": []}]
    refused = document.json()["paths"]["/v1/embeddings"]["post"]["responses"]["default"]["content"]
    assert refused["application/json"]["schema"]["$ref"].endswith("/OpenAIError")
    options = document.json()["components"]["schemas"]["OptionsBody"]["properties"]
    assert {"minimum": 1, "maximum": 200}.items() <= options["k"]["anyOf"][0].items()
