"""The OpenAI API of a real door: the official client, those of LangChain and LlamaIndex, and curl.

One warm process with the embedded models answers all of them.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
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
from pydantic import SecretStr

import localcrag
from tests.serve.http_api.loopback_door import LoopbackDoor

LEAFLET = "The usual dose of Zeldrine is 35 mg once a day. Zeldrine is made by the Orlan company in Porto."
CLUB = "The garden club meets every second Tuesday in the old mill."
DOSE, MAKER = "What is the usual dose of Zeldrine?", "Who makes it?"
ANSWER = "The usual dose of Zeldrine is 35 mg once a day. [1]"
CHESS = "Who won the chess championship of 1972?"
HISTORY: list[Any] = [{"role": "user", "content": DOSE}, {"role": "assistant", "content": ANSWER}]


@dataclass(frozen=True)
class Served:
    """A door with the home behind it."""

    door: LoopbackDoor
    kb: localcrag.KnowledgeBase


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """``localcrag serve --http`` at a free port, with two texts in the default knowledge base."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
        patch.setenv("LOCALCRAG_LOOP_GRADER", "evaluator")  # quick, here and in the warm process
        patch.setenv("LOCALCRAG_LOOP_CORRECTIONS", "")
        kb = localcrag.open(home=home)
        kb.ingest_text(LEAFLET, name="leaflet", metadata={"team": "x"})
        kb.ingest_text(CLUB, name="club")
        command = [
            sys.executable,
            "-m",
            "localcrag",
            "--home",
            str(home),
            "--offline",
            "serve",
            "--http",
            "0",
        ]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#token=(\S+)\n", process.stdout.readline())
                assert found, "it printed no address"
                yield Served(LoopbackDoor(int(found[1]), found[2]), kb)
            finally:
                process.terminate()


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[OpenAI]:
    with OpenAI(base_url=served.door.openai, api_key=served.door.token, max_retries=0) as opened:
        yield opened


def content(done: Any) -> str:
    return str(done.choices[0].message.content)


# ---------------------------------------------------------------------------------- the official client


def test_an_answer_is_that_of_the_library(served: Served, client: OpenAI) -> None:
    answer = served.kb.ask(DOSE)
    done = client.chat.completions.create(model="localcrag", messages=HISTORY[:1])
    assert content(done) == answer.text == ANSWER
    extra = (done.model_extra or {})["localcrag"]
    assert extra["kb"] == "default" and extra["answer"]["status"] == "answered"
    assert extra["answer"]["citations"] == json.loads(answer.to_json())["citations"]
    [annotation] = done.choices[0].message.annotations or []
    assert annotation.url_citation.url == "text:leaflet"
    assert done.usage is not None  # what was judged before is not read again


def test_a_follow_up_streams(client: OpenAI) -> None:
    messages = [*HISTORY, {"role": "user", "content": MAKER}]
    stream = client.chat.completions.create(
        model="localcrag/default", messages=messages, stream=True, stream_options={"include_usage": True}
    )
    *chunks, cost = list(stream)
    assert "Orlan" in "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert "Zeldrine" in (chunks[-1].model_extra or {})["localcrag"]["answer"]["standalone"]
    assert cost.usage is not None and cost.usage.total_tokens > 0


def test_what_is_not_found_is_said(client: OpenAI) -> None:
    done = client.chat.completions.create(model="localcrag", messages=[{"role": "user", "content": CHESS}])
    assert content(done) == "Your documents do not answer this."
    assert (done.model_extra or {})["localcrag"]["answer"]["status"] == "not_found"


def test_a_filter_goes_along(client: OpenAI) -> None:
    where = "Where does the garden club meet?"
    extra = {"localcrag": {"filter": 'team = "x"', "policy": "crag"}}
    done = client.chat.completions.create(
        model="localcrag", messages=[{"role": "user", "content": where}], extra_body=extra
    )
    assert "mill" not in content(done)


def test_an_unknown_knowledge_base_and_an_empty_question(client: OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="localcrag/papers", messages=HISTORY[:1])
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError, match="the question is empty"):
        client.chat.completions.create(model="localcrag", messages=[{"role": "user", "content": " "}])


def test_several_clients_at_once_are_all_answered(served: Served) -> None:
    async def answers() -> list[str]:
        async with AsyncOpenAI(base_url=served.door.openai, api_key=served.door.token) as client:
            asked = (
                client.chat.completions.create(model="localcrag", messages=HISTORY[:1]) for _ in range(4)
            )
            return [content(done) for done in await asyncio.gather(*asked)]

    assert asyncio.run(answers()) == [ANSWER] * 4


def test_models_and_vectors(served: Served, client: OpenAI) -> None:
    models = [model.id for model in client.models.list()]
    assert models[:2] == ["localcrag", "localcrag/default"]
    expected = served.kb.models.embedder.encode([LEAFLET, CLUB])
    for name in models:
        found = client.embeddings.create(model=name, input=[LEAFLET, CLUB])
        np.testing.assert_allclose([item.embedding for item in found.data], expected, atol=1e-5)
    assert found.usage.total_tokens > 20


# ---------------------------------------------------------------------------------- LangChain


@pytest.fixture
def chat(served: Served) -> ChatOpenAI:
    return ChatOpenAI(
        model="localcrag", base_url=served.door.openai, api_key=SecretStr(served.door.token), max_retries=0
    )


def test_langchain_asks(chat: ChatOpenAI) -> None:
    message = chat.invoke(DOSE)
    assert message.content == ANSWER
    assert message.usage_metadata is not None
    assert chat.invoke([("system", "Be brief."), ("human", DOSE)]).content == ANSWER


def test_langchain_streams(chat: ChatOpenAI) -> None:
    assert "".join(str(chunk.content) for chunk in chat.stream(DOSE)) == ANSWER
    assert asyncio.run(chat.ainvoke(DOSE)).content == ANSWER


def test_langchain_embeds(served: Served) -> None:
    model = OpenAIEmbeddings(
        model="localcrag",
        base_url=served.door.openai,
        api_key=SecretStr(served.door.token),
        check_embedding_ctx_length=False,
    )
    expected = served.kb.models.embedder.encode([CLUB])
    np.testing.assert_allclose(model.embed_documents([CLUB]), expected, atol=1e-5)
    np.testing.assert_allclose([model.embed_query(CLUB)], expected, atol=1e-5)


# ---------------------------------------------------------------------------------- LlamaIndex


@pytest.fixture
def language_model(served: Served) -> OpenAILike:
    return OpenAILike(
        model="localcrag",
        api_base=served.door.openai,
        api_key=served.door.token,
        is_chat_model=True,
        max_retries=0,
    )


def test_llamaindex_asks(language_model: OpenAILike) -> None:
    assert language_model.complete(DOSE).text == ANSWER
    messages = [ChatMessage("Be brief.", role="system"), ChatMessage(DOSE)]
    assert language_model.chat(messages).message.content == ANSWER


def test_llamaindex_streams(language_model: OpenAILike) -> None:
    assert "".join(piece.delta or "" for piece in language_model.stream_complete(DOSE)) == ANSWER
    assert asyncio.run(language_model.acomplete(DOSE)).text == ANSWER


def test_llamaindex_embeds(served: Served) -> None:
    model = OpenAIEmbedding(
        model_name="localcrag", api_base=served.door.openai, api_key=served.door.token, max_retries=0
    )
    expected = served.kb.models.embedder.encode([CLUB])
    np.testing.assert_allclose([model.get_text_embedding(CLUB)], expected, atol=1e-5)


# ---------------------------------------------------------------------------------- curl


@pytest.mark.skipif(which("curl") is None, reason="there is no curl")
@pytest.mark.parametrize("stream", [False, True])
def test_curl_asks(served: Served, tmp_path: Path, stream: bool) -> None:
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"model": "localcrag", "messages": HISTORY[:1], "stream": stream}))
    done = subprocess.run(
        [
            *("curl", "--silent", "--no-buffer", "--fail-with-body", "--noproxy", "*"),
            f"{served.door.openai}/chat/completions",
            *("--header", f"Authorization: Bearer {served.door.token}"),
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
