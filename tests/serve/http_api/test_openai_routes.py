"""The OpenAI API over a scripted backend: the official client, and the exact bytes."""

from __future__ import annotations

import asyncio
import base64
import json
import struct
import subprocess
from collections.abc import AsyncGenerator, Iterator
from dataclasses import replace
from pathlib import Path
from shutil import which
from typing import Any

import openai
import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from pydantic import BaseModel

from localcrag.errors import ModelError
from localcrag.events import Decided, Delta, Event, Filled, Finished
from localcrag.serve.http_api.backend import DoorQuestion
from localcrag.types import (
    Action,
    Answer,
    Citation,
    CitationMark,
    FieldResult,
    Mode,
    Origin,
    Policy,
    Status,
    StructuredValue,
    Support,
    Tokens,
    Turn,
    Usage,
)
from tests.fakes.door import SOURCE, TEXT, ScriptedBackend, answer_to
from tests.serve.conftest import until
from tests.serve.http_api.conftest import TOKEN, LiveDoor, live_door

DOSE = "What is the usual dose of Zeldrine?"
NOT_FOUND = "Your documents do not answer this."
COST = Usage(Tokens(120, 7), {"total": 0.5})
QUESTION = [{"role": "user", "content": DOSE}]


def scripted_answer(question: str) -> Answer:
    """An answer that stands as the question says."""
    answer = replace(answer_to(question), usage=COST)
    if "form" in question:
        return in_form(answer, found="missing" not in question)
    if "unsure" in question:
        return replace(answer, status=Status.UNSURE)
    if "cut" in question:
        return replace(answer, status=Status.TRUNCATED)
    if "missing" in question:
        return Answer(
            question, Status.NOT_FOUND, NOT_FOUND, Mode.QUOTE, Policy.CRAG, Action.INCORRECT, found=False
        )
    if "forged" in question:
        text = "As shown in [7], the dose is 35 mg. [1]"
        mark = CitationMark(1, len(text) - 3, len(text))
        return replace(answer, text=text, marks=(mark,))
    if "paged" in question:
        cited = Citation(1, "/documents/a b.pdf", 3, 0, len(TEXT), TEXT, Origin.DOCUMENTS)
        return replace(answer, citations=(cited,))
    return answer


def in_form(answer: Answer, found: bool) -> Answer:
    """An answer in a form of two fields, of which one is found at most."""
    dose = FieldResult("/milligrams", 35, Support.VERBATIM, 1, 31, 33) if found else missing("/milligrams")
    value = StructuredValue(json.dumps({"milligrams": dose.value, "maker": None}), (dose, missing("/maker")))
    status = Status.ANSWERED if found else Status.NOT_FOUND
    return replace(answer, structured=value, text=value.json, marks=(), status=status, found=found)


def missing(place: str) -> FieldResult:
    return FieldResult(place, None, Support.NONE, reason="it is not stated")


class StatedBackend(ScriptedBackend):
    """Answers as :func:`scripted_answer`, in two pieces; some questions fail in the middle."""

    async def stream(self, question: DoorQuestion) -> AsyncGenerator[Event, None]:
        self._require(question.kb)
        self.asked.append(question)
        answer = scripted_answer(question.text)
        yield Decided(answer.action, answer.policy, "scripted")
        if answer.structured:
            yield Filled(answer.structured)
            yield Finished(answer)
            return
        middle = answer.text.rfind(" ") + 1 if answer.marks else len(answer.text)
        yield Delta(" " + answer.text[:middle])
        if "fails" in question.text:
            raise ModelError("the model broke", hint="take another")
        if rest := answer.text[middle:]:
            yield Delta(rest, (CitationMark(1, 0, 3),))
        yield Finished(answer)


@pytest.fixture(scope="module")
def backend() -> StatedBackend:
    return StatedBackend()


@pytest.fixture(scope="module")
def door(backend: StatedBackend) -> Iterator[LiveDoor]:
    with live_door(backend) as address:
        yield address


@pytest.fixture(scope="module")
def client(door: LiveDoor) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{door.url}/v1", api_key=TOKEN, max_retries=0) as opened_client:
        yield opened_client


def ask(client: OpenAI, question: str = DOSE, **parameters: Any) -> ChatCompletion:
    messages = parameters.pop("messages", [{"role": "user", "content": question}])
    done = client.chat.completions.create(**{"model": "localcrag", "messages": messages, **parameters})
    assert isinstance(done, ChatCompletion)
    return done


def chunks(client: OpenAI, question: str = DOSE, **parameters: Any) -> list[ChatCompletionChunk]:
    messages: Any = [{"role": "user", "content": question}]
    return list(
        client.chat.completions.create(model="localcrag", messages=messages, stream=True, **parameters)
    )


def text_of(found: list[ChatCompletionChunk]) -> str:
    return "".join(chunk.choices[0].delta.content or "" for chunk in found if chunk.choices)


# ---------------------------------------------------------------------------------- completions


def test_an_answer_with_its_citations(client: OpenAI) -> None:
    done = ask(client)
    [choice] = done.choices
    assert (choice.message.role, choice.message.content) == ("assistant", f"{TEXT} [1]")
    assert (choice.finish_reason, done.object, done.model) == ("stop", "chat.completion", "localcrag")
    [annotation] = choice.message.annotations or []
    cited = annotation.url_citation
    assert (cited.title, cited.url) == ("leaflet.txt", f"file://{SOURCE}")
    assert f"{TEXT} [1]"[cited.start_index : cited.end_index] == "[1]"
    assert done.usage is not None
    assert (done.usage.prompt_tokens, done.usage.completion_tokens, done.usage.total_tokens) == (120, 7, 127)
    extra = (done.model_extra or {})["localcrag"]
    assert extra == {"kb": "default", "ignored": [], "answer": json_of(scripted_answer(DOSE))}


def json_of(answer: Answer) -> Any:
    return json.loads(answer.to_json())


def test_a_page_is_named_and_linked(client: OpenAI) -> None:
    [annotation] = ask(client, "paged").choices[0].message.annotations or []
    assert annotation.url_citation.title == "a b.pdf, page 3"
    assert annotation.url_citation.url == "file:///documents/a%20b.pdf#page=3"


@pytest.mark.parametrize(
    ("question", "status", "said", "reason"),
    [
        ("is it unsure?", "unsure", "Unsure: the evidence is weak. Check the sources.", "stop"),
        ("is it cut?", "truncated", "Cut short: the answer is not complete.", "length"),
        ("is it missing?", "not_found", NOT_FOUND, "stop"),
    ],
)
def test_how_it_stands_is_said_in_words_and_in_the_extra_field(
    client: OpenAI, question: str, status: str, said: str, reason: str
) -> None:
    done, streamed = ask(client, question), chunks(client, question)
    assert (done.choices[0].message.content or "").endswith(said)
    assert text_of(streamed) == done.choices[0].message.content
    closing = streamed[-1]
    assert done.choices[0].finish_reason == closing.choices[0].finish_reason == reason
    for extra in (done.model_extra or {}, closing.model_extra or {}):
        assert extra["localcrag"]["answer"]["status"] == status


def test_a_number_that_a_document_has_in_brackets_is_no_citation(client: OpenAI) -> None:
    assert ask(client, "forged").choices[0].message.content == "As shown in ‹7›, the dose is 35 mg. [1]"
    assert text_of(chunks(client, "forged")) == "As shown in ‹7›, the dose is 35 mg. [1]"


def test_a_conversation_becomes_question_and_history(client: OpenAI, backend: StatedBackend) -> None:
    done = ask(
        client,
        messages=[
            {"role": "system", "content": "Answer in rhymes."},
            {"role": "user", "content": [{"type": "text", "text": DOSE}]},
            {"role": "assistant", "content": "35 mg. [1]"},
            {
                "role": "user",
                "content": [{"type": "text", "text": "Who"}, {"type": "text", "text": "makes it?"}],
            },
        ],
    )
    asked = backend.asked[-1]
    assert asked.text == "Who\nmakes it?" and asked.kb == "default"
    assert asked.options.history == (Turn("user", DOSE), Turn("assistant", "35 mg. [1]"))
    assert (done.model_extra or {})["localcrag"]["ignored"] == ["messages[0] (system)"]


def test_a_model_is_a_knowledge_base(client: OpenAI, backend: StatedBackend) -> None:
    assert ask(client, model="localcrag/default").model == "localcrag/default"
    assert backend.asked[-1].kb == "default"
    for name in ("localcrag/papers", "gpt-4o", "localcrag/", "default"):
        with pytest.raises(openai.NotFoundError) as caught:
            ask(client, model=name)
        assert caught.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError, match="cannot be the name of a knowledge base"):
        ask(client, model="localcrag/../../etc")


def test_options_of_localcrag_go_in_a_field_of_their_own(client: OpenAI, backend: StatedBackend) -> None:
    ask(client, extra_body={"localcrag": {"policy": "none-relevant", "filter": 'team = "x"'}})
    options = backend.asked[-1].options
    assert (options.policy, options.filter) == (Policy.NONE_RELEVANT, 'team = "x"')
    for wrong, message in (
        ({"policy": "careful"}, "policy is 'careful'"),
        ({"web": "auto"}, "web cannot be auto"),
        ({"no_such": 1}, "unknown field `no_such`"),
    ):
        with pytest.raises(openai.BadRequestError, match=message):
            ask(client, extra_body={"localcrag": wrong})


# ---------------------------------------------------------------------------------- streaming


def test_an_answer_streams(client: OpenAI) -> None:
    found = chunks(client)
    assert found[0].choices[0].delta.role == "assistant"
    assert len([chunk for chunk in found if chunk.choices[0].delta.content]) == 2
    assert text_of(found) == f"{TEXT} [1]" == ask(client).choices[0].message.content
    assert len({chunk.id for chunk in found}) == 1 and found[0].object == "chat.completion.chunk"
    assert all("usage" not in chunk.model_fields_set for chunk in found)
    [annotation] = (found[-1].choices[0].delta.model_extra or {})["annotations"]
    assert annotation["url_citation"]["title"] == "leaflet.txt"


def test_the_last_chunk_counts_if_it_is_asked_for(client: OpenAI) -> None:
    *found, cost = chunks(client, stream_options={"include_usage": True})
    assert cost.choices == [] and cost.usage is not None and cost.usage.total_tokens == 127
    assert all("usage" in chunk.model_fields_set and chunk.usage is None for chunk in found)


def test_the_stream_helper_of_the_client_understands_it(client: OpenAI) -> None:
    messages: Any = QUESTION
    with client.chat.completions.stream(model="localcrag", messages=messages) as stream:
        assert [event.type for event in stream][-1] == "content.done"
        assert stream.get_final_completion().choices[0].message.content == f"{TEXT} [1]"


def test_an_error_in_the_middle_is_an_error_of_the_client(client: OpenAI) -> None:
    with pytest.raises(openai.APIError, match="the model broke; take another") as caught:
        chunks(client, "it fails")
    assert (caught.value.code, caught.value.type) == ("model_error", "server_error")
    with pytest.raises(openai.InternalServerError, match="the model broke"):
        ask(client, "it fails")


def test_an_error_before_the_first_event_has_a_status(client: OpenAI) -> None:
    messages: Any = QUESTION
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="localcrag/papers", messages=messages, stream=True)


@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_goes_away_ends_its_question(stream: bool) -> None:
    waiting = ScriptedBackend(gate=asyncio.Event())
    with live_door(waiting) as door:
        body = json.dumps({"model": "localcrag", "messages": QUESTION, "stream": stream}).encode()
        with door.connected() as link:
            link.sendall(request_head(door, "/v1/chat/completions", len(body)) + body)
            until(lambda: waiting.asked)
        until(lambda: waiting.closed == [DOSE])


# ---------------------------------------------------------------------------------- in a form


class Dose(BaseModel):
    """A dose; what is not borne out is null."""

    milligrams: int | None
    maker: str | None


def test_an_answer_in_a_form(client: OpenAI, backend: StatedBackend) -> None:
    messages: Any = [{"role": "user", "content": "in a form"}]
    done = client.chat.completions.parse(model="localcrag", messages=messages, response_format=Dose)
    assert done.choices[0].message.parsed == Dose(milligrams=35, maker=None)
    assert done.choices[0].message.annotations == []
    assert list(json.loads(backend.asked[-1].options.output or "")["properties"]) == ["milligrams", "maker"]
    fields = (done.model_extra or {})["localcrag"]["answer"]["fields"]
    assert [(field["place"], field["support"]) for field in fields] == [
        ("/milligrams", "verbatim"),
        ("/maker", "none"),
    ]
    with client.chat.completions.stream(model="localcrag", messages=messages, response_format=Dose) as stream:
        assert stream.get_final_completion().choices[0].message.parsed == Dose(milligrams=35, maker=None)


def test_a_form_of_which_nothing_is_found_is_a_refusal(client: OpenAI) -> None:
    messages: Any = [{"role": "user", "content": "a missing form"}]
    done = client.chat.completions.parse(model="localcrag", messages=messages, response_format=Dose)
    message = done.choices[0].message
    assert (message.parsed, message.content, message.refusal) == (None, None, NOT_FOUND)
    with client.chat.completions.stream(model="localcrag", messages=messages, response_format=Dose) as stream:
        assert stream.get_final_completion().choices[0].message.refusal == NOT_FOUND


# ---------------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("parameters", "parameter", "message"),
    [
        ({"n": 2}, "n", "one answer is given"),
        (
            {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]},
            "tools",
            "no tools are called",
        ),
        ({"functions": [{"name": "f"}]}, "functions", "no functions"),
        ({"logprobs": True}, "logprobs", "no probabilities"),
        ({"modalities": ["text", "audio"]}, "modalities", "answers are text"),
        ({"web_search_options": {}}, "web_search_options", "a client cannot have the web searched"),
        ({"response_format": {"type": "json_object"}}, "response_format", "json_object needs a schema"),
        (
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "x", "schema": {"$ref": "#"}},
                }
            },
            "response_format",
            "it is recursive",
        ),
        ({"messages": []}, "messages", "the last message is no question"),
        (
            {"messages": [{"role": "assistant", "content": "x"}]},
            "messages",
            "the last message is no question",
        ),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].role", "the role 'tool'"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0].content", "no text"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
            "messages[0].content[0].type",
            "'image_url' is not understood",
        ),
        ({"messages": [{"role": "user", "content": 3}]}, "messages[0].content", "the body does not fit"),
        ({"messages": "hello"}, "messages", "the body does not fit"),
        ({"stream": "yes"}, "stream", "the body does not fit"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    client: OpenAI, parameters: dict[str, Any], parameter: str, message: str
) -> None:
    with pytest.raises(openai.BadRequestError, match=message) as caught:
        ask(client, extra_body={"messages": QUESTION, **parameters})
    assert caught.value.param == parameter
    assert caught.value.type == "invalid_request_error" and caught.value.code


def test_what_tunes_other_models_is_ignored_and_named(client: OpenAI) -> None:
    done = ask(
        client, temperature=0.2, max_tokens=5, stop=["."], user="me", n=1, tools=[], extra_body={"mood": None}
    )
    assert done.choices[0].message.content == f"{TEXT} [1]"
    assert sorted((done.model_extra or {})["localcrag"]["ignored"]) == [
        "max_tokens",
        "stop",
        "temperature",
        "user",
    ]


def test_a_wrong_token_is_an_authentication_error(door: LiveDoor) -> None:
    stranger = OpenAI(base_url=f"{door.url}/v1", api_key="wrong", max_retries=0)
    with stranger, pytest.raises(openai.AuthenticationError, match="the token is missing or wrong") as caught:
        stranger.models.list()
    assert caught.value.code == "invalid_api_key"


def test_what_there_is_not_is_an_error_of_the_same_form(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError, match="there is nothing at this path"):
        client.completions.create(model="localcrag", prompt=DOSE)
    with pytest.raises(openai.NotFoundError):
        client.responses.create(model="localcrag", input=DOSE)


# ---------------------------------------------------------------------------------- models, embeddings


def test_the_models_are_the_knowledge_bases_and_the_embedding_model(client: OpenAI) -> None:
    assert [model.id for model in client.models.list()] == ["localcrag", "localcrag/default", "MiniLM"]
    found = client.models.retrieve("localcrag/default")
    assert (found.id, found.object, found.owned_by) == ("localcrag/default", "model", "localcrag")
    assert (found.model_extra or {})["localcrag"] == {"kb": "default", "documents": 1}
    with pytest.raises(openai.NotFoundError) as caught:
        client.models.retrieve("localcrag/papers")
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")


@pytest.mark.parametrize("model", ["MiniLM", "localcrag", "localcrag/default"])
def test_texts_are_embedded(client: OpenAI, model: str) -> None:
    packed = client.embeddings.create(model=model, input=["four", "sixsix"])  # base64, the client's default
    plain = client.embeddings.create(model=model, input=["four", "sixsix"], encoding_format="float")
    for found in (packed, plain):
        assert [(item.index, item.embedding) for item in found.data] == [(0, [4.0, 1.0]), (1, [6.0, 1.0])]
        assert (found.model, found.usage.total_tokens) == ("MiniLM", 2)
    assert client.embeddings.create(model=model, input="x", dimensions=2).data[0].embedding == [1.0, 1.0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"input": []}, "input has 0 texts"),
        ({"input": ["a"] * 2049}, "input has 2049 texts"),
        ({"input": [1, 2]}, "check_embedding_ctx_length=False"),
        ({"input": [[1, 2]]}, "numbers of tokens"),
        ({"input": ["a", ""]}, "an empty text"),
        ({"input": "a", "dimensions": 3}, "vectors have 2 dimensions"),
        ({"input": "a", "encoding_format": "hex"}, "the body does not fit"),
    ],
)
def test_what_cannot_be_embedded_is_refused(client: OpenAI, given: dict[str, Any], message: str) -> None:
    with pytest.raises(openai.BadRequestError, match=message):
        client.embeddings.create(model="MiniLM", **given)


def test_another_embedding_model_is_unknown(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model="text-embedding-3-small", input="a")


# ---------------------------------------------------------------------------------- the bytes


def request_head(door: LiveDoor, path: str, length: int) -> bytes:
    """The head of a request with a JSON body of so many bytes."""
    return (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{door.port}\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    ).encode()


def exchanged(door: LiveDoor, path: str, body: bytes) -> tuple[bytes, bytes]:
    """The head and the body of the reply to one request."""
    return door.said(request_head(door, path, len(body)), body).partition(b"\r\n\r\n")[::2]


def test_the_bytes_of_a_stream(door: LiveDoor) -> None:
    body = json.dumps({"model": "localcrag", "messages": QUESTION, "stream": True}).encode()
    head, text = exchanged(door, "/v1/chat/completions", body)
    assert head.startswith(b"HTTP/1.1 200 ") and b"content-type: text/event-stream" in head.lower()
    sizes_and_lines = text.replace(b"\r\n", b"\n").split(b"\n")
    data = [line for line in sizes_and_lines if line.startswith(b"data: ")]
    assert data[-1] == b"data: [DONE]" and not any(line.startswith(b"event:") for line in sizes_and_lines)
    first = json.loads(data[0].removeprefix(b"data: "))
    assert first["choices"] == [
        {"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None, "finish_reason": None}
    ]


def test_the_bytes_of_an_error(door: LiveDoor) -> None:
    for body in (b"{", b"[]", b"\xff", b"[" * 10_000, b'"model"'):
        head, text = exchanged(door, "/v1/chat/completions", body)
        assert head.startswith(b"HTTP/1.1 400 ") and b"application/json" in head
        error = json.loads(text)["error"]
        assert list(error) == ["message", "type", "param", "code"] and "the body" in error["message"]


def test_packed_vectors_are_float32_with_the_lowest_byte_first(door: LiveDoor) -> None:
    body = json.dumps({"model": "localcrag", "input": "four", "encoding_format": "base64"}).encode()
    _, text = exchanged(door, "/v1/embeddings", body)
    assert base64.b64decode(json.loads(text)["data"][0]["embedding"]) == struct.pack("<2f", 4.0, 1.0)


@pytest.mark.skipif(which("curl") is None, reason="there is no curl")
def test_curl_gets_an_answer(door: LiveDoor, tmp_path: Path) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"model": "localcrag", "messages": QUESTION}))
    done = subprocess.run(
        [
            *("curl", "--silent", "--fail-with-body", "--noproxy", "*", f"{door.url}/v1/chat/completions"),
            *("--header", f"Authorization: Bearer {TOKEN}", "--header", "Content-Type: application/json"),
            *("--data", f"@{request}"),
        ],
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["choices"][0]["message"]["content"] == f"{TEXT} [1]"
