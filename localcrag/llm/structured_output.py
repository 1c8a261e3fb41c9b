"""Structured output: the JSON schema of a dataclass, and the instance that a JSON text spells."""

from __future__ import annotations

import json
from typing import TypeVar

from localcrag.errors import ConstraintError

T = TypeVar("T")


def schema_of(kind: type) -> str:
    """The JSON schema of a dataclass, as JSON, with every field required, even one with a default.

    It is made by pydantic, as Outlines makes it. Fields may be str, int, float, bool, Literal, enums,
    lists and tuples of these, optional, and dataclasses of such fields. Raises ConstraintError if the
    type has no schema.
    """
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

    try:
        schema = TypeAdapter(kind).json_schema(mode="serialization")
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise ConstraintError(f"{kind.__name__} has no JSON schema: {error}.") from error
    _require_all(schema)
    return json.dumps(schema)


def _require_all(schema: object) -> None:
    """Mark every property of every object in a schema as required, in place."""
    if isinstance(schema, dict):
        if isinstance(properties := schema.get("properties"), dict):
            schema["required"] = list(properties)
        for value in schema.values():
            _require_all(value)
    elif isinstance(schema, list):
        for value in schema:
            _require_all(value)


def read_record(text: str, kind: type[T]) -> T:
    """The instance of ``kind`` that a JSON text spells, without conversions between types.

    Raises ConstraintError if the text spells none.
    """
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(kind).validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise ConstraintError(f"The model's JSON is no {kind.__name__}: {where}: {first['msg']}.") from error
