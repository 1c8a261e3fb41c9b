"""JSON Schemas as trees of fields, and what is refused before a model is loaded."""

from __future__ import annotations

import json
from typing import Any

import pytest

from localcrag import AskOptions
from localcrag.errors import UsageError
from localcrag.output_schema.byte_pattern import byte_pattern
from localcrag.output_schema.output_shape import Leaf, LeafKind, ListShape, ObjectShape, OutputSchema
from localcrag.output_schema.schema_reading import MAX_LEAVES, read_schema


def read(schema: object) -> OutputSchema:
    return read_schema(json.dumps(schema))


def leaf(schema: object) -> Leaf:
    root = read(schema).root
    assert isinstance(root, Leaf)
    return root


def test_the_fields_are_those_of_the_schema_in_its_order() -> None:
    schema = read(
        {
            "title": "Invoice",
            "type": "object",
            "properties": {
                "number": {"type": "string", "title": "Invoice number"},
                "total": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "null"}]},
                "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
                "buyer": {"$ref": "#/$defs/party", "description": "who pays"},
                "paid": {"type": ["boolean", "null"]},
            },
            "required": ["number"],
            "$defs": {
                "line": {"type": "object", "properties": {"item": {"type": "string"}}},
                "party": {"type": "object", "properties": {"a/b": {"type": "string", "format": "email"}}},
            },
        }
    )
    assert schema.leaves == ("/number", "/total", "/lines", "/buyer/a~1b", "/paid")
    assert isinstance(schema.root, ObjectShape)
    number, total, lines, buyer, paid = schema.root.fields
    assert (number.title, number.required, total.required) == ("Invoice number", True, False)
    assert isinstance(total.shape, Leaf) and total.shape.nullable
    assert total.shape.admits(0) and not total.shape.admits(-1)
    assert isinstance(lines.shape, ListShape) and isinstance(lines.shape.item, ObjectShape)
    assert buyer.description == "who pays"
    assert isinstance(paid.shape, Leaf) and paid.shape.kind is LeafKind.BOOLEAN


def test_a_choice_is_one_of_its_values_and_null_says_that_there_may_be_none() -> None:
    found = leaf({"enum": ["low", "high", None]})
    assert (found.kind, found.options, found.nullable) == (LeafKind.CHOICE, ("low", "high"), True)
    either = leaf({"oneOf": [{"const": "a"}, {"const": "b"}]})
    assert (either.options, either.nullable) == (("a", "b"), False)
    assert leaf({"anyOf": [{"const": "a"}, {"const": "b"}, {"type": "null"}]}).nullable
    assert leaf({"enum": [True, False]}).kind is LeafKind.BOOLEAN


NODE = {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}
MANY = {f"f{n}": {"type": "string"} for n in range(MAX_LEAVES + 1)}


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"$ref": "#/$defs/node", "$defs": {"node": NODE}}, "recursive"),
        ({"$ref": "#"}, "recursive"),
        ({"$ref": "https://example.org/a.json"}, "outside of the schema"),
        ({"$ref": "other.json#/x"}, "outside of the schema"),
        ({"$ref": "#/$defs/none"}, "there is no #/$defs/none"),
        ({"type": "object", "properties": MANY}, "more than 100 fields"),
        ({"type": "object"}, "an object without properties"),
        ({"type": "object", "properties": {"a": {}}}, "any value is allowed"),
        ({"type": "object", "properties": {"a": {"not": {}}}}, "any value is allowed"),
        (
            {"type": "object", "properties": {"a": {"type": "string"}}, "patternProperties": {}},
            "not supported",
        ),
        ({"type": "string", "if": {}}, "'if' is not supported"),
        ({"anyOf": [{"type": "string"}, {"type": "number"}]}, "allows several forms"),
        ({"type": ["string", "number"]}, "several types"),
        ({"type": "strnig"}, "there is no type 'strnig'"),
        ({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}, "list of lists"),
        ({"enum": [{"a": 1}]}, "a choice is between"),
        ({"enum": list(range(200))}, "a choice between 200 values"),
        ({"type": "string", "format": "uuid"}, "format 'uuid'"),
        ({"type": "string", "pattern": "(?=a)b"}, "cannot constrain an answer"),
        ({"type": "string", "pattern": "a{100000}"}, "too large"),
        ({"type": "string", "pattern": "((a{50}){50}){50}"}, "too large"),
        ({"type": "number", "minimum": "1"}, "minimum is no number"),
        ([1], "no JSON object"),
    ],
)
def test_what_cannot_be_filled_is_refused_with_the_reason_and_a_hint(schema: Any, reason: str) -> None:
    with pytest.raises(UsageError, match=r"schema|pattern") as refused:
        AskOptions(output=json.dumps(schema))
    assert reason in str(refused.value)
    assert refused.value.hint


def test_what_is_no_schema_or_too_long_is_refused() -> None:
    with pytest.raises(UsageError, match="is no JSON"):
        read_schema("{")
    with pytest.raises(UsageError, match="is no JSON"):
        read_schema("[" * 60_000)
    with pytest.raises(UsageError, match="the limit is 65,536"):
        read_schema(" " * 70_000)


def test_a_deep_schema_is_refused() -> None:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(8):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(UsageError, match="levels deep"):
        read(schema)


def test_a_pattern_matches_a_whole_text_in_linear_time() -> None:
    found = byte_pattern("^[A-Z]{2}-\\d+$")
    assert found.matches("AB-12") and not found.matches("AB-12 ") and not found.matches("xAB-12")
    assert byte_pattern("é+").matches("éé") and not byte_pattern("é+").matches("é\x03")
    assert byte_pattern("a*|b").matches("") and byte_pattern("a*|b").matches("aaa")
    slow = byte_pattern("(a+)+b")
    assert not slow.matches("a" * 5000), "Python's own re would not end"
