"""What clients of the OpenAI API send: bodies as values, and messages as a question with its history.

A parameter falls in one of three groups. Some are obeyed. Some ask for what there is not, such as tools, and
are refused by name. All others tune a model that writes freely (``temperature``, …); a loop that checks its
evidence has no use for them, so they are ignored, and the reply names them. So it is with the messages of
the system: how a question is answered is said by options, and a client's standing text is not one of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal, NoReturn, TypeVar

import msgspec
from starlette.requests import Request

from localcrag.errors import UsageError
from localcrag.options import AskOptions
from localcrag.serve.http_api.admission import DoorLimits, bounded_body, require_content_type
from localcrag.serve.http_api.api_bodies import OptionsBody
from localcrag.serve.http_api.problems import Problem, ProblemError
from localcrag.types import Turn

B = TypeVar("B", bound=msgspec.Struct)

MODEL = "localcrag"
"""The name of the model that is the default knowledge base; ``localcrag/NAME`` is any other."""
MAX_TEXTS = 2048
"""The most texts that are embedded at a time."""
REFUSED_PARAMETERS: Mapping[str, tuple[str, tuple[object, ...]]] = MappingProxyType(
    {
        "n": ("one answer is given", (None, 1)),
        "tools": ("no tools are called", (None, [])),
        "functions": ("no functions are called", (None, [])),
        "audio": ("answers are text", (None,)),
        "modalities": ("answers are text", (None, [], ["text"])),
        "logprobs": ("there are no probabilities of tokens", (None, False)),
        "top_logprobs": ("there are no probabilities of tokens", (None, 0)),
        "web_search_options": ("a client cannot have the web searched", (None,)),
    }
)
"""Parameters that ask for what there is not: why, and the values that ask for nothing."""
_PLACE = re.compile(r" - at `\$\.?(.*)`$")
"""Where in a body msgspec found what does not fit."""


class ContentPart(msgspec.Struct, frozen=True):
    """A part of a message: text, or something of another type, which is refused."""

    type: str
    text: str = ""


class ChatMessage(msgspec.Struct, frozen=True):
    """A message of a conversation."""

    role: str
    content: str | list[ContentPart] | None = None


class StreamOptions(msgspec.Struct, frozen=True):
    """``include_usage``: end the stream with a chunk that says what the answer cost."""

    include_usage: bool = False


class NamedSchema(msgspec.Struct, frozen=True):
    """A JSON Schema; its name, and whether it is strict, make no difference here."""

    schema: dict[str, Any]


class ResponseFormat(msgspec.Struct, frozen=True):
    """The form of the answer."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    json_schema: NamedSchema | None = None


class ChatBody(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of ``POST /v1/chat/completions`` that are obeyed.

    ``localcrag`` is an extension: how the question is to be answered, as in ``POST /api/ask``.
    """

    model: str
    messages: list[ChatMessage]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    response_format: ResponseFormat | None = None
    localcrag: OptionsBody | None = None


class EmbeddingsBody(msgspec.Struct, frozen=True, kw_only=True):
    """The parameters of ``POST /v1/embeddings`` that are obeyed."""

    model: str
    input: str | list[str | int | list[int]]
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: int | None = None

    def texts(self) -> list[str]:
        """The texts to embed. Raises ProblemError if there are none, too many, or tokens in their place."""
        texts = [self.input] if isinstance(self.input, str) else self.input
        if not 0 < len(texts) <= MAX_TEXTS:
            refuse(f"input has {len(texts)} texts", "input", f"give from 1 to {MAX_TEXTS}")
        if not all(isinstance(text, str) for text in texts):
            refuse(
                "input has numbers of tokens, which differ from model to model",
                "input",
                "give texts; in LangChain with check_embedding_ctx_length=False",
            )
        if not all(texts):
            refuse("input has an empty text", "input", "leave it out")
        return [str(text) for text in texts]


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A chat completion as it is asked for.

    ``kb`` is "" for the default knowledge base; ``ignored`` are the parameters and messages without effect.
    """

    model: str
    kb: str
    question: str
    options: AskOptions
    stream: bool
    include_usage: bool
    ignored: tuple[str, ...]


async def read_chat(request: Request, limits: DoorLimits) -> ChatRequest:
    """The chat completion that a request asks for. Raises ProblemError, UsageError."""
    text = await _json_text(request, limits)
    body = _decoded(text, ChatBody)
    ignored = _ignored_parameters(_decoded_fields(text))
    *history, question = turns_of(body.messages)
    unheard = [
        f"messages[{at}] ({message.role})"
        for at, message in enumerate(body.messages)
        if message.role in ("system", "developer")
    ]
    return ChatRequest(
        model=body.model,
        kb=kb_of(body.model),
        question=question.text,
        options=in_form((body.localcrag or OptionsBody()).options(tuple(history)), body.response_format),
        stream=bool(body.stream),
        include_usage=bool(body.stream_options and body.stream_options.include_usage),
        ignored=(*ignored, *unheard),
    )


async def read_embeddings(request: Request, limits: DoorLimits) -> EmbeddingsBody:
    """What a request wants embedded. Raises ProblemError."""
    return _decoded(await _json_text(request, limits), EmbeddingsBody)


def turns_of(messages: Sequence[ChatMessage]) -> tuple[Turn, ...]:
    """The turns of a conversation, the last of which is the question. Raises ProblemError."""
    turns: list[Turn] = []
    for at, message in enumerate(messages):
        place = f"messages[{at}]"
        if message.role in ("user", "assistant"):
            turns.append(Turn(message.role, _text(message, f"{place}.content")))
        elif message.role not in ("system", "developer"):
            refuse(f"a message of the role {message.role[:40]!r} is not understood", f"{place}.role")
    if not turns or turns[-1].role != "user":
        refuse("the last message is no question", "messages", "end with a message of the role user")
    return tuple(turns)


def in_form(options: AskOptions, wanted: ResponseFormat | None) -> AskOptions:
    """The options with the form of the answer. Raises ProblemError for one that no answer can have."""
    if wanted is None or wanted.type == "text":
        return options
    if wanted.json_schema is None:
        refuse(f"{wanted.type} needs a schema", "response_format", "give json_schema with a schema")
    try:
        return AskOptions.of(options, output=wanted.json_schema.schema)
    except UsageError as error:
        raise ProblemError(replace(Problem.of(error), parameter="response_format")) from error


def kb_of(model: str) -> str:
    """The knowledge base that a model is, "" for the default one. Raises ProblemError."""
    name = model.removeprefix(f"{MODEL}/")
    if model == MODEL:
        return ""
    if not name or name == model:
        raise ProblemError(unknown_model(model))
    return name


def unknown_model(model: str) -> Problem:
    """The problem of a model that there is not."""
    hint = f"GET /v1/models lists all; a knowledge base is {MODEL}/NAME"
    return Problem(404, "ModelNotFound", f"there is no model {model[:80]!r}", hint, parameter="model")


def refuse(detail: str, parameter: str, hint: str = "") -> NoReturn:
    """Raise the ProblemError of a parameter that cannot be obeyed."""
    raise ProblemError(Problem(400, "Unsupported", detail, hint, parameter=parameter))


def _text(message: ChatMessage, place: str) -> str:
    """The text of a message. Raises ProblemError for one that has none, or more than text."""
    if isinstance(message.content, str):
        return message.content
    if message.content is None:
        refuse("a message has no text", place)
    for at, part in enumerate(message.content):
        if part.type != "text":
            refuse(f"{part.type[:40]!r} is not understood, only text", f"{place}[{at}].type")
    return "\n".join(part.text for part in message.content)


def _ignored_parameters(fields: Mapping[str, object]) -> list[str]:
    """The names of parameters that have no effect. Raises ProblemError for one that is refused."""
    for name, (why, harmless) in REFUSED_PARAMETERS.items():
        if fields.get(name) not in harmless:
            refuse(f"{name} is not supported: {why}", name, "leave it out")
    known = {*ChatBody.__struct_fields__, *REFUSED_PARAMETERS}
    return [name for name, value in fields.items() if name not in known and value is not None]


async def _json_text(request: Request, limits: DoorLimits) -> bytes:
    require_content_type(request, "application/json")
    return await bounded_body(request, limits.json_bytes, limits.json_seconds)


def _decoded(text: bytes, kind: type[B]) -> B:
    """A body as a value. Raises ProblemError, which names the parameter that does not fit."""
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        found = _PLACE.search(str(error))
        what = str(error)[: found.start()] if found else str(error)
        problem = Problem(
            400, "BadBody", f"the body does not fit: {what}", parameter=found[1] if found else ""
        )
        raise ProblemError(problem) from error


def _decoded_fields(text: bytes) -> dict[str, object]:
    fields: dict[str, object] = msgspec.json.decode(text)
    return fields
