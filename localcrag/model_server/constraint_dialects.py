"""How servers are told what a reply must be: GBNF, a regular expression, or a JSON Schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from localcrag.errors import ConstraintError
from localcrag.model_server.gbnf import gbnf
from localcrag.types import JsonValue

Fields = dict[str, JsonValue]
"""Fields of the JSON object of a request."""

_REPLY = "reply"
"""The property of the object in which a text is wrapped for servers that know JSON Schemas only."""
_OPENING = re.compile(rb'\s*\{\s*"reply"\s*:\s*"')
_NO_THOUGHT: Mapping[str, JsonValue] = {"enable_thinking": False, "thinking": False}
"""Variables by which chat templates are asked to open no thought."""


class Dialect(StrEnum):
    """The field of a request that carries the constraint."""

    GRAMMAR = "grammar"
    """GBNF: llama.cpp's own server, and that of llama-cpp-python."""
    STRUCTURED_OUTPUTS = "structured_outputs"
    """A regular expression: vLLM from 0.11 on."""
    GUIDED_REGEX = "guided_regex"
    """A regular expression: earlier vLLM."""
    RESPONSE_FORMAT = "response_format"
    """A JSON Schema, as in the OpenAI API."""


@dataclass(frozen=True, slots=True)
class ReplyForm:
    """What a reply must be.

    Attributes:
        pattern: the regular expression that the whole text must match.
        options: the texts that the pattern allows, if it is a choice.
        schema: the JSON Schema, itself JSON, if the text is an object; else "".
    """

    pattern: str
    options: tuple[str, ...] = ()
    schema: str = ""


def constraint_fields(dialect: Dialect, form: ReplyForm | None) -> Fields:
    """The fields of a request that constrain its reply to a form; None for free text.

    Raises ConstraintError if the form cannot be said in this dialect.
    """
    if dialect is Dialect.RESPONSE_FORMAT:
        return {} if form is None else {"response_format": _response_format(form)}
    fields: Fields = {"chat_template_kwargs": {**_NO_THOUGHT}}
    if dialect is Dialect.GRAMMAR:
        fields |= {"repeat_penalty": 1.0, "cache_prompt": True}
    if form is None:
        return fields
    pattern = f" ?(?:{form.pattern})"
    if dialect is Dialect.GRAMMAR:
        return fields | {"grammar": gbnf(pattern)}
    return fields | (
        {"guided_regex": pattern}
        if dialect is Dialect.GUIDED_REGEX
        else {"structured_outputs": {"regex": pattern}}
    )


def wraps(dialect: Dialect, form: ReplyForm | None) -> bool:
    """Whether the text of a reply stands in a JSON object, from which :func:`unwrapped` takes it."""
    return dialect is Dialect.RESPONSE_FORMAT and form is not None and not form.schema


def unwrapped(text: str) -> str:
    """The text in the JSON object of a reply. Raises ConstraintError if it is none."""
    try:
        reply = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ConstraintError("The model server wrote no JSON object.", hint="Allow more tokens.") from error
    inner = reply.get(_REPLY) if isinstance(reply, dict) else None
    if not isinstance(inner, str) or len(reply) != 1:
        raise ConstraintError(
            "The model server wrote a JSON object of another form.", hint="Use another server."
        )
    return inner


def said(written: bytes, *, wrapped: bool) -> bytes:
    """The beginning of the text that a reply has said so far.

    Args:
        written: the bytes of the reply so far.
        wrapped: whether the text stands in a JSON object.
    """
    if not wrapped:
        return written.removeprefix(b" ")
    opened = _OPENING.match(written)
    return written[opened.end() :] if opened else b""


def _response_format(form: ReplyForm) -> JsonValue:
    """The value of ``response_format`` for a form: its own schema, or that of an object around the text."""
    if form.schema:
        schema: JsonValue = json.loads(form.schema)
    else:
        text: dict[str, JsonValue] = {"type": "string"}
        text |= {"enum": [*form.options]} if form.options else {"pattern": f"^(?:{form.pattern})$"}
        schema = {
            "type": "object",
            "properties": {_REPLY: text},
            "required": [_REPLY],
            "additionalProperties": False,
        }
    return {"type": "json_schema", "json_schema": {"name": _REPLY, "strict": True, "schema": schema}}
