"""The OpenAI API of a real door: the official client, those of LangChain and LlamaIndex, and curl."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import numpy as np
import openai
import pytest
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from llama_index.core.llms import ChatMessage
from llama_index.embeddings.openai import OpenAIEmbedding
from llama_index.llms.openai_like import OpenAILike
from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel, SecretStr

import localcrag
from tests.fakes.door import TEXT
from tests.serve.http_api.conftest import QUESTION, UNKNOWN, WarmDoor

ANSWER = f"{TEXT} [1]"
HISTORY: list[Any] = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": ANSWER}]
TEXTS = ["The garden club meets in the old mill.", "Ferns like shade."]


@pytest.fixture(scope="module")
def client(warm_door: WarmDoor) -> Iterator[OpenAI]:
    with OpenAI(base_url=base(warm_door), api_key=warm_door.token, max_retries=0) as opened:
        yield opened


def base(door: WarmDoor) -> str:
    """The base of the OpenAI API."""
    return f"{door.url}/v1"


@pytest.fixture(scope="module")
def vectors(warm_door: WarmDoor) -> Any:
    """The vectors of the texts, by the library itself."""
    return localcrag.open(home=warm_door.home).models.embedder.encode(TEXTS)


def content(done: Any) -> str:
    return str(done.choices[0].message.content)


# ---------------------------------------------------------------------------------- the official client


def test_an_answer_with_its_citation(warm_door: WarmDoor, client: OpenAI) -> None:
    done = client.chat.completions.create(model="localcrag", messages=HISTORY[:1])
    assert content(done) == ANSWER
    extra = (done.model_extra or {})["localcrag"]
    assert extra["kb"] == "default" and extra["answer"]["status"] == "answered"
    assert [citation["source"] for citation in extra["answer"]["citations"]] == [str(warm_door.leaflet)]
    [annotation] = done.choices[0].message.annotations or []
    assert annotation.url_citation.url == warm_door.leaflet.as_uri()
    assert done.usage is not None  # what was judged before is not read again


def test_a_follow_up_streams(client: OpenAI) -> None:
    messages = [*HISTORY, {"role": "user", "content": "Who makes it?"}]
    stream = client.chat.completions.create(
        model="localcrag/default", messages=messages, stream=True, stream_options={"include_usage": True}
    )
    *chunks, cost = list(stream)
    assert "Orlan" in "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert "Zeldrine" in (chunks[-1].model_extra or {})["localcrag"]["answer"]["standalone"]
    assert cost.usage is not None and cost.usage.total_tokens > 0


def test_what_is_not_found_is_said(client: OpenAI) -> None:
    done = client.chat.completions.create(model="localcrag", messages=[{"role": "user", "content": UNKNOWN}])
    assert content(done) == "Your documents do not answer this."
    assert (done.model_extra or {})["localcrag"]["answer"]["status"] == "not_found"


class Dose(BaseModel):
    """What is asked for in a form."""

    dose_mg: int | None
    price: float | None


def test_an_answer_in_a_form(client: OpenAI) -> None:
    done = client.chat.completions.parse(model="localcrag", messages=HISTORY[:1], response_format=Dose)
    assert done.choices[0].message.parsed == Dose(dose_mg=35, price=None)
    assert (done.model_extra or {})["localcrag"]["answer"]["unsupported"] == ["/price"]


def test_a_filter_goes_along(client: OpenAI) -> None:
    extra = {"localcrag": {"filter": 'title = "elsewhere"', "corrections": []}}
    done = client.chat.completions.create(model="localcrag", messages=HISTORY[:1], extra_body=extra)
    assert (done.model_extra or {})["localcrag"]["answer"]["status"] == "not_found"


def test_an_unknown_knowledge_base_and_an_empty_question(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="localcrag/never-made", messages=HISTORY[:1])
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError, match="the question is empty"):
        client.chat.completions.create(model="localcrag", messages=[{"role": "user", "content": " "}])


def test_several_clients_at_once_are_all_answered(warm_door: WarmDoor) -> None:
    async def answers() -> list[str]:
        async with AsyncOpenAI(base_url=base(warm_door), api_key=warm_door.token) as client:
            asked = (
                client.chat.completions.create(model="localcrag", messages=HISTORY[:1]) for _ in range(4)
            )
            return [content(done) for done in await asyncio.gather(*asked)]

    assert asyncio.run(answers()) == [ANSWER] * 4


def test_models_and_vectors(client: OpenAI, vectors: Any) -> None:
    models = [model.id for model in client.models.list()]
    assert models[0] == "localcrag" and "localcrag/default" in models
    for name in ("localcrag", "localcrag/default", models[-1]):
        found = client.embeddings.create(model=name, input=TEXTS)
        np.testing.assert_allclose([item.embedding for item in found.data], vectors, atol=1e-5)
    assert found.usage.total_tokens > 10


# ---------------------------------------------------------------------------------- LangChain


@pytest.fixture
def chat(warm_door: WarmDoor) -> ChatOpenAI:
    return ChatOpenAI(
        model="localcrag", base_url=base(warm_door), api_key=SecretStr(warm_door.token), max_retries=0
    )


def test_langchain_asks(chat: ChatOpenAI) -> None:
    message = chat.invoke(QUESTION)
    assert message.content == ANSWER
    assert message.usage_metadata is not None
    assert chat.invoke([("system", "Be brief."), ("human", QUESTION)]).content == ANSWER


def test_langchain_streams(chat: ChatOpenAI) -> None:
    assert "".join(str(chunk.content) for chunk in chat.stream(QUESTION)) == ANSWER
    assert asyncio.run(chat.ainvoke(QUESTION)).content == ANSWER


def test_langchain_embeds(warm_door: WarmDoor, vectors: Any) -> None:
    model = OpenAIEmbeddings(
        model="localcrag",
        base_url=base(warm_door),
        api_key=SecretStr(warm_door.token),
        check_embedding_ctx_length=False,
    )
    np.testing.assert_allclose(model.embed_documents(TEXTS), vectors, atol=1e-5)
    np.testing.assert_allclose(model.embed_query(TEXTS[0]), vectors[0], atol=1e-5)


# ---------------------------------------------------------------------------------- LlamaIndex


@pytest.fixture
def language_model(warm_door: WarmDoor) -> OpenAILike:
    return OpenAILike(
        model="localcrag",
        api_base=base(warm_door),
        api_key=warm_door.token,
        is_chat_model=True,
        max_retries=0,
    )


def test_llamaindex_asks(language_model: OpenAILike) -> None:
    assert language_model.complete(QUESTION).text == ANSWER
    messages = [ChatMessage("Be brief.", role="system"), ChatMessage(QUESTION)]
    assert language_model.chat(messages).message.content == ANSWER


def test_llamaindex_streams(language_model: OpenAILike) -> None:
    assert "".join(piece.delta or "" for piece in language_model.stream_complete(QUESTION)) == ANSWER
    assert asyncio.run(language_model.acomplete(QUESTION)).text == ANSWER


def test_llamaindex_embeds(warm_door: WarmDoor, vectors: Any) -> None:
    model = OpenAIEmbedding(
        model_name="localcrag", api_base=base(warm_door), api_key=warm_door.token, max_retries=0
    )
    np.testing.assert_allclose(model.get_text_embedding_batch(TEXTS), vectors, atol=1e-5)


# ---------------------------------------------------------------------------------- curl


@pytest.mark.skipif(which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize("stream", [False, True])
def test_curl_asks(warm_door: WarmDoor, tmp_path: Path, stream: bool) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"model": "localcrag", "messages": HISTORY[:1], "stream": stream}))
    done = subprocess.run(
        [
            *("curl", "--silent", "--no-buffer", "--fail-with-body", "--noproxy", "*"),
            f"{base(warm_door)}/chat/completions",
            *("--header", f"Authorization: Bearer {warm_door.token}"),
            *("--header", "Content-Type: application/json", "--data", f"@{request}"),
        ],
        capture_output=True,
        check=True,
    )
    if not stream:
        assert json.loads(done.stdout)["choices"][0]["message"]["content"] == ANSWER
        return
    lines = [line for line in done.stdout.splitlines() if line]
    assert lines[-1] == b"data: [DONE]" and all(line.startswith((b"data: ", b": ")) for line in lines)
