"""Python types and Outlines' own types as JSON Schemas."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Literal

import outlines
import pytest
from outlines.types import JsonSchema
from pydantic import BaseModel, Field

from localcrag import AskOptions
from localcrag.errors import UsageError
from localcrag.output_schema.output_shape import Bounds, Leaf, LeafKind, ObjectShape
from localcrag.output_schema.schema_reading import read_schema
from localcrag.serve.ask_request import AskRequest
from localcrag.serve.protocol import decode, encode
from localcrag.settings import ModelSettings
from tests.serve.test_protocol import START


class Invoice(BaseModel):
    number: str
    total: float | None = None


@dataclass
class Point:
    x: int


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


@pytest.mark.parametrize(
    ("output", "held"),
    [
        (Literal["yes", "no"], {"enum": ["yes", "no"]}),
        (Size, {"enum": ["small", "large"]}),
        (outlines.regex("[A-Z]+"), {"type": "string", "pattern": "([A-Z]+)"}),
        (outlines.types.Choice(["a", "b"]), {"enum": ["a", "b"]}),
        (JsonSchema({"type": "integer"}), {"type": "integer"}),
        ({"type": "string"}, {"type": "string"}),
        (date, {"type": "string", "format": "date"}),
        (bool, {"type": "boolean"}),
        (list[str], {"type": "array", "items": {"type": "string"}}),
    ],
)
def test_a_type_is_kept_as_the_text_of_its_schema(output: Any, held: object) -> None:
    assert json.loads(AskOptions(output=output).output) == held


def test_models_and_dataclasses_have_their_fields() -> None:
    assert set(json.loads(AskOptions(output=Invoice).output)["properties"]) == {"number", "total"}
    assert set(json.loads(AskOptions(output=Point).output)["properties"]) == {"x"}


class Amount(BaseModel):
    total: Annotated[Decimal, Field(ge=0)] | None
    share: int | float


def test_a_decimal_number_is_a_number_and_no_text() -> None:
    schema = read_schema(AskOptions(output=Amount).output or "")
    assert isinstance(schema.root, ObjectShape)
    assert [field.shape for field in schema.root.fields] == [
        Leaf(LeafKind.NUMBER, nullable=True, bounds=Bounds(minimum=0)),
        Leaf(LeafKind.NUMBER),
    ]


def test_what_has_no_schema_is_refused() -> None:
    with pytest.raises(UsageError, match="has no JSON schema"):
        AskOptions(output=object())
    with pytest.raises(UsageError, match="is no JSON"):
        AskOptions(output={"enum": {1, 2}})


def test_the_form_of_an_answer_reaches_the_warm_process() -> None:
    asked = AskRequest(START, "default", ModelSettings(), "why?", AskOptions(output=Invoice))
    assert decode(encode(asked), AskRequest).options.output == asked.options.output


def test_a_schema_as_text_needs_no_outlines() -> None:
    program = (
        'import sys, localcrag; localcrag.AskOptions(output=\'{"type": "string"}\');'
        "sys.exit('outlines' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
