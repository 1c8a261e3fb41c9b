"""The labels of the benchmark of structured answers fit its schemas, and are compared as they should be."""

from __future__ import annotations

import json

import pytest
from benchmarks.extract import MATERIAL, outcome

from localcrag.output_schema.output_shape import ObjectShape
from localcrag.output_schema.schema_reading import read_schema

EXPECTED = json.loads((MATERIAL / "expected.json").read_text("utf-8"))


@pytest.mark.parametrize("name", EXPECTED)
def test_each_document_is_there_and_has_a_label_for_each_field(name: str) -> None:
    assert (MATERIAL / name).is_file()
    root = read_schema((MATERIAL / f"{name.split('/')[0]}.schema.json").read_text("utf-8")).root
    assert isinstance(root, ObjectShape)
    assert [field.name for field in root.fields] == list(EXPECTED[name])


def test_a_value_is_right_wrong_or_left_null() -> None:
    assert outcome(None, None) == outcome([], None) == outcome([], []) == "empty"
    assert outcome("a", None) == outcome(["a"], []) == "null"
    assert outcome("a", "a") == outcome(["a", "b"], "b") == outcome(["a"], ["a"]) == "right"
    assert outcome(None, "a") == outcome("a", "b") == outcome(["a", "b"], ["a"]) == "wrong"
    assert outcome(True, 1) == "wrong"
