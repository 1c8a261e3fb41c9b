"""Python types as JSON Schemas, by Outlines' own types."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, TypeAlias, get_args, get_origin

from localcrag.errors import UsageError
from localcrag.output_schema.schema_reading import choice_schema, read_schema

OutputType: TypeAlias = Any
"""The form that an answer may be asked for in: a pydantic model, a dataclass, a TypedDict, a JSON Schema (a
mapping or its text), Literal, an enumeration, str, int, float, bool, datetime.date, a list of such, or a term
of Outlines."""


def checked_schema(output: OutputType) -> str:
    """The JSON Schema of a type, as JSON. Raises UsageError if no answer can be given in that form."""
    text = schema_text(output)
    read_schema(text)
    return text


def schema_text(output: OutputType) -> str:
    """The JSON Schema of a type, as JSON; a schema itself is returned as text.

    Outlines is imported if it is needed. Raises UsageError for what has no schema.
    """
    if isinstance(output, str):
        return output
    if isinstance(output, Mapping):
        return _as_json(output)
    origin: object = get_origin(output)
    if origin is Literal:
        return choice_schema(get_args(output))
    if isinstance(output, type) and issubclass(output, Enum):
        return choice_schema(tuple(member.value for member in output))
    return _by_outlines(output)


def _by_outlines(output: OutputType) -> str:
    """The schema of a type or a term of Outlines; a regular expression becomes a text with a pattern."""
    from outlines.types.dsl import Choice, JsonSchema, Term, to_regex
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

    try:
        if isinstance(output, JsonSchema):
            return str(output.schema)
        if isinstance(output, Choice):
            return choice_schema(tuple(output.items))
        if isinstance(output, Term):
            return _as_json({"type": "string", "pattern": to_regex(output)})
        return str(JsonSchema(TypeAdapter(output).json_schema()).schema)
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError, ValueError, NameError) as error:
        name = getattr(output, "__name__", repr(output)[:60])
        raise UsageError(
            f"{name} has no JSON schema: {str(error).splitlines()[0]}",
            hint="give a pydantic model, a dataclass, a JSON Schema, Literal or a term of Outlines",
        ) from error


def _as_json(schema: Mapping[str, object]) -> str:
    try:
        return json.dumps(schema, ensure_ascii=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the schema is no JSON: {error}", hint="give plain JSON values") from None
