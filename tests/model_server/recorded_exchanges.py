"""Exchanges with model servers, written by hand from the documentation of their APIs.

They were not recorded from running servers: vLLM needs a GPU for anything worth recording, and llama.cpp's
own server is no Python package. A real server is that of llama-cpp-python, in ``tests/model_servers.py``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.web.scripted import Answer, Request, ScriptedServer

Json = Any
MADE_UP = re.compile(r"([a-z]{5})\W*\|")
"""The first made-up word in the constraint of a probe."""

VLLM_MODELS: Json = {
    "object": "list",
    "data": [
        {
            "id": "Qwen/Qwen3-8B",
            "object": "model",
            "created": 1760000000,
            "owned_by": "vllm",
            "root": "Qwen/Qwen3-8B",
            "parent": None,
            "max_model_len": 3000,
            "permission": [{"id": "modelperm-1", "allow_logprobs": True}],
        }
    ],
}
LLAMA_CPP_MODELS: Json = {
    "object": "list",
    "data": [
        {
            "id": "qwen3-8b-q4_k_m.gguf",
            "object": "model",
            "created": 1760000000,
            "owned_by": "llamacpp",
            "meta": {"vocab_type": 2, "n_vocab": 151936, "n_ctx_train": 40960, "n_params": 8190735360},
        }
    ],
}
LLAMA_CPP_PROPS: Json = {
    "default_generation_settings": {"id": 0, "n_ctx": 2500, "speculative": False},
    "total_slots": 1,
    "model_path": "models/qwen3-8b-q4_k_m.gguf",
}
NOT_FOUND: Json = {"detail": "Not Found"}


def token(text: str, logprob: float, **rivals: float) -> Json:
    """One entry of the log-probabilities of a chat completion."""
    top = [{"token": text, "logprob": logprob, "bytes": list(text.encode())}]
    top += [
        {"token": rival, "logprob": each, "bytes": list(rival.encode())} for rival, each in rivals.items()
    ]
    return {**top[0], "top_logprobs": sorted(top, key=lambda entry: -float(str(entry["logprob"])))}


def completion(text: str, scores: Sequence[Json] | None = None, **changes: Json) -> Json:
    """A chat completion; ``scores`` are by default one improbable token for the whole text."""
    scores = [token(text, -9.5, Hello=-0.1)] if scores is None else scores
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1760000000,
        "model": "Qwen/Qwen3-8B",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, "tool_calls": []},
                "logprobs": {"content": list(scores)},
                "finish_reason": "stop",
                "stop_reason": None,
            }
        ],
        "usage": {
            "prompt_tokens": 30,
            "completion_tokens": 2,
            "total_tokens": 32,
            "prompt_tokens_details": {"cached_tokens": 16},
        },
        **changes,
    }


def events(*pieces: str, finish: str | None = "stop", usage: bool = True) -> Answer:
    """A streamed chat completion."""

    def event(delta: Json, reason: str | None = None) -> Json:
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}],
        }

    sent = [event({"role": "assistant", "content": ""}), *(event({"content": piece}) for piece in pieces)]
    if finish:
        sent.append(event({}, finish))
    if usage:
        counted = {"prompt_tokens": 40, "completion_tokens": len(pieces)}
        sent.append({"object": "chat.completion.chunk", "choices": [], "usage": counted})
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in sent) + "data: [DONE]\n\n"
    return Answer(200, body.encode(), "text/event-stream; charset=utf-8")


@dataclass
class ScriptedChat:
    """A chat server that keeps to one dialect of constraints.

    ``field`` is the field of a request that it obeys, "" for none; ``replies`` says what it answers to
    requests after the probe, by the JSON object of each.
    """

    server: ScriptedServer
    field: str
    models: Json
    replies: Callable[[Json], Answer]
    probe: Callable[[str], Json] = completion

    def __post_init__(self) -> None:
        self.server.answers |= {
            "/v1/models": Answer.json(self.models),
            "/v1/chat/completions": self._answer,
        }

    @property
    def asked(self) -> list[Json]:
        """The chat requests after the probe."""
        return [body for body in self.chats if not is_probe(body)]

    @property
    def chats(self) -> list[Json]:
        """All chat requests."""
        sent = (request for request in self.server.requests if request.path == "/v1/chat/completions")
        return [json.loads(request.body) for request in sent]

    def _answer(self, request: Request) -> Answer:
        body = json.loads(request.body)
        if not is_probe(body):
            return self.replies(body)
        if self.field not in body or not (word := MADE_UP.search(json.dumps(body[self.field]))):
            return Answer.json(completion("Hello! How can I help you today?"))
        text = f"{word[1]}07"
        wrapped = self.field == "response_format"
        return Answer.json(self.probe(json.dumps({"reply": text}) if wrapped else text))


def is_probe(body: Mapping[str, Json]) -> bool:
    """Whether a request is one of the first ones, which ask for a made-up word."""
    return "Say hello." in json.dumps(body["messages"])
