"""JSON Schemas (draft 7 and 2020-12) as trees of fields; what cannot be filled is refused with the reason."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from localcrag.errors import UsageError
from localcrag.output_schema.byte_pattern import byte_pattern
from localcrag.output_schema.output_shape import (
    Bounds,
    Field,
    Leaf,
    LeafKind,
    ListShape,
    ObjectShape,
    OutputSchema,
    Shape,
)
from localcrag.types import ScalarValue

MAX_SCHEMA_CHARACTERS = 65_536
MAX_LEAVES = 100
MAX_DEPTH = 6
MAX_OPTIONS = 100
"""The most values of one choice."""
_ANNOTATIONS = frozenset(
    (
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly", "format"),
        *("$schema", "$id", "$comment", "$defs", "definitions"),
        *("additionalProperties", "uniqueItems", "minProperties", "maxProperties"),
    )
)
"""Keywords that every schema may have: they describe, or the answer holds them by itself."""
_BY_TYPE: Mapping[str, frozenset[str]] = {
    "object": frozenset({"properties", "required"}),
    "array": frozenset({"items", "minItems", "maxItems"}),
    "string": frozenset({"pattern", "minLength", "maxLength"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
    "integer": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}),
    "boolean": frozenset(),
}
_KINDS = {"number": LeafKind.NUMBER, "integer": LeafKind.INTEGER, "boolean": LeafKind.BOOLEAN}
_NUMERIC = frozenset({"number", "integer"})
_FORMATS = {
    "": LeafKind.TEXT,
    "date": LeafKind.DATE,
    "time": LeafKind.TIME,
    "email": LeafKind.EMAIL,
    "uri": LeafKind.URI,
    "url": LeafKind.URI,
}
Node = Mapping[str, object]
"""A schema within the schema, as JSON."""


@lru_cache(maxsize=32)
def read_schema(text: str) -> OutputSchema:
    """The form of an answer from a JSON Schema, given as JSON.

    Raises UsageError for what is no schema, refers to itself or to other files, is too large, or uses a
    keyword that no value can be found by.
    """
    if len(text) > MAX_SCHEMA_CHARACTERS:
        raise UsageError(
            f"the schema has {len(text):,} characters, the limit is {MAX_SCHEMA_CHARACTERS:,}",
            hint="ask for less at once, with a schema for each part",
        )
    try:
        root = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the schema is no JSON: {error}", hint="check it with a JSON editor") from None
    if not isinstance(root, dict):
        raise UsageError(
            "the schema is no JSON object", hint='for example {"type": "object", "properties": {…}}'
        )
    shape = _Reader(root).shape(root, "")
    schema = OutputSchema(_text(root, "title"), _text(root, "description"), shape, text)
    if len(schema.leaves) > MAX_LEAVES:
        raise UsageError(
            f"the schema has {len(schema.leaves)} fields, the limit is {MAX_LEAVES}",
            hint="ask for less at once, with a schema for each part",
        )
    if not schema.leaves:
        raise UsageError("the schema has no field to fill", hint="give it properties")
    return schema


def schema_file(path: Path) -> str:
    """The text of a file with a JSON Schema. Raises UsageError if it cannot be read."""
    try:
        with path.open(encoding="utf-8") as file:
            return file.read(MAX_SCHEMA_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not in UTF-8"
        raise UsageError(f"the schema {path} cannot be read: {reason}", hint="name a JSON file") from None


@dataclass(slots=True)
class _Reader:
    """Reads the parts of one schema; ``root`` is the whole, in which references are looked up."""

    root: Node
    leaves: int = 0

    def shape(self, node: object, place: str, seen: tuple[str, ...] = (), depth: int = 0) -> Shape:
        """The form that a part of the schema describes; ``seen`` are the references that led to it."""
        if depth > MAX_DEPTH:
            raise _refusal(place, f"it is nested more than {MAX_DEPTH} levels deep", "flatten it")
        if not isinstance(node, dict):
            raise _refusal(place, "any value is allowed", 'give it a "type"')
        node, nullable, seen = self._plain(node, place, seen)
        kind = _type_of(node, place)
        if "enum" in node or "const" in node:
            return _choice(node, place, nullable)
        if unknown := sorted(set(node) - _ANNOTATIONS - _BY_TYPE[kind] - {"type"}):
            raise _refusal(place, f"{unknown[0]!r} is not supported with {kind}", _HINT)
        if kind == "object":
            return self._object(node, place, nullable, seen, depth)
        if kind == "array":
            return self._list(node, place, nullable, seen, depth)
        return _leaf(node, place, kind, nullable)

    def _plain(self, node: Node, place: str, seen: tuple[str, ...]) -> tuple[Node, bool, tuple[str, ...]]:
        """A part without references and alternatives, whether it may be null, and the references followed."""
        nullable = False
        while True:
            for word in ("anyOf", "oneOf", "allOf"):
                if word in node:
                    others, null = _alternatives(node, word, place)
                    nullable = nullable or null
                    node = {**{k: v for k, v in node.items() if k != word}, **_merged(others, node)}
                    break
            else:
                if "$ref" not in node:
                    break
                name = node["$ref"]
                if not isinstance(name, str) or not name.startswith("#"):
                    raise _refusal(
                        place, f"it refers to {name!r}, outside of the schema", "copy it into $defs"
                    )
                if name in seen:
                    raise _refusal(
                        place, f"it is recursive: {name} holds itself", "write out the levels you need"
                    )
                seen = (*seen, name)
                node = {**self._named(name, place), **{k: v for k, v in node.items() if k != "$ref"}}
        types = node.get("type")
        if isinstance(types, list):
            others = [each for each in types if each != "null"]
            nullable = nullable or len(others) < len(types)
            node = {**node, "type": others[0] if len(others) == 1 else others}
        return node, nullable, seen

    def _named(self, name: str, place: str) -> Node:
        """The part that a reference within the schema names."""
        node: object = self.root
        for step in name.removeprefix("#").split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            node = node.get(step) if isinstance(node, dict) else None
        if not isinstance(node, dict):
            raise _refusal(place, f"there is no {name}", "add it below $defs")
        return node

    def _object(
        self, node: Node, place: str, nullable: bool, seen: tuple[str, ...], depth: int
    ) -> ObjectShape:
        properties, required = node.get("properties"), node.get("required", ())
        if not isinstance(properties, dict) or not properties:
            raise _refusal(place, "an object without properties can hold anything", "name its properties")
        fields = []
        for name, part in properties.items():
            below = f"{place}/{name}"
            shape = self.shape(part, below, seen, depth + 1)
            self.leaves += not isinstance(shape, ObjectShape)
            if self.leaves > MAX_LEAVES:
                raise UsageError(
                    f"the schema has more than {MAX_LEAVES} fields",
                    hint="ask for less at once, with a schema for each part",
                )
            must = isinstance(required, list) and name in required
            fields.append(Field(name, _text(part, "title"), _text(part, "description"), must, shape))
        return ObjectShape(tuple(fields), nullable)

    def _list(self, node: Node, place: str, nullable: bool, seen: tuple[str, ...], depth: int) -> ListShape:
        item = self.shape(node.get("items"), f"{place}/[]", seen, depth + 1)
        flat = isinstance(item, ObjectShape) and all(isinstance(f.shape, Leaf) for f in item.fields)
        if not flat and not isinstance(item, Leaf):
            raise _refusal(place, "a list of lists, or of objects with lists in them", "flatten its items")
        if isinstance(item, Leaf) and item.kind in (LeafKind.BOOLEAN,):
            raise _refusal(place, "a list of booleans says nothing", "give each of them a name")
        bounds = Bounds(_number(node, "minItems", place), _number(node, "maxItems", place))
        assert not isinstance(item, ListShape)
        return ListShape(item, bounds, nullable)


_HINT = "the manual's page structured-answers names the keywords that are"


def _type_of(node: Node, place: str) -> str:
    """The one type of a part, besides null."""
    kind = node.get("type")
    if isinstance(kind, list):
        raise _refusal(place, "it may have several types", "choose one, besides null")
    if kind is None:
        if "enum" in node or "const" in node:
            return "string"
        kind = "object" if "properties" in node else "array" if "items" in node else None
    if kind is None:
        raise _refusal(place, "any value is allowed", 'give it a "type"')
    if not isinstance(kind, str) or kind not in _BY_TYPE:
        raise _refusal(place, f"there is no type {kind!r}", f"one of: {', '.join(_BY_TYPE)}")
    return kind


def _alternatives(node: Node, word: str, place: str) -> tuple[list[Node], bool]:
    """The alternatives of a part besides null, and whether null is one of them."""
    given = node[word]
    parts = [part for part in given if isinstance(part, dict)] if isinstance(given, list) else []
    others: list[Node] = [part for part in parts if part.get("type") != "null"]
    nullable = len(others) < len(parts)
    constants = [part for part in others if set(part) & {"const", "enum"}]
    if word != "allOf" and len(constants) == len(others) > 1:
        options = [value for part in others for value in _options(part)]
        others = [{"enum": options}]
    if word != "allOf":
        others = _numbers_of(others) or others
    if len(others) != 1:
        raise _refusal(place, f"{word} allows several forms", "choose one, besides null")
    return others, nullable


def _numbers_of(parts: list[Node]) -> list[Node]:
    """The one number of which the other parts are only other spellings; empty if there is no such.

    A number that may be written as a text is how pydantic describes a decimal number; the number stands first
    there. A number may also be a whole one.
    """
    kinds = [str(part.get("type")) for part in parts]
    if not parts or kinds[0] not in _NUMERIC or set(kinds) - _NUMERIC - {"string"}:
        return []
    numbers = [part for part, kind in zip(parts, kinds, strict=True) if kind == "number"]
    return numbers or [part for part, kind in zip(parts, kinds, strict=True) if kind == "integer"]


def _merged(parts: list[Node], outer: Node) -> Node:
    """The only alternative, below what the part itself says in words."""
    return {
        key: value
        for key, value in parts[0].items()
        if key not in ("title", "description") or key not in outer
    }


def _options(node: Node) -> list[object]:
    """The values that a choice lists."""
    values = node["enum"] if "enum" in node else [node["const"]]
    return list(values) if isinstance(values, list) else []


def _choice(node: Node, place: str, nullable: bool) -> Leaf:
    """A choice between listed values; null among them says that there may be none."""
    values = _options(node)
    options = tuple(value for value in values if isinstance(value, (str, int, float)))
    if len(options) + values.count(None) != len(values) or not options:
        raise _refusal(place, "a choice is between texts, numbers, true and false", "list such values")
    if len(options) > MAX_OPTIONS:
        raise _refusal(
            place, f"a choice between {len(options)} values, the limit is {MAX_OPTIONS}", "ask for a text"
        )
    if len(set(map(str, options))) < len(options):
        raise _refusal(place, "two values of the choice are written alike", "leave one out")
    nullable = nullable or None in values
    if set(options) == {True, False} and all(isinstance(value, bool) for value in options):
        return Leaf(LeafKind.BOOLEAN, nullable)
    return Leaf(LeafKind.CHOICE, nullable, options)


def _leaf(node: Node, place: str, kind: str, nullable: bool) -> Leaf:
    """A text, a number, or true and false."""
    if kind != "string":
        low, high = _number(node, "minimum", place), _number(node, "maximum", place)
        above, below = _number(node, "exclusiveMinimum", place), _number(node, "exclusiveMaximum", place)
        return Leaf(_KINDS[kind], nullable, bounds=Bounds(low, high, above, below))
    form, pattern = node.get("format", ""), node.get("pattern")
    if not isinstance(form, str) or form not in _FORMATS:
        raise _refusal(
            place, f"there is no way to find a text of the format {form!r}", "describe it by a pattern"
        )
    bounds = Bounds(_number(node, "minLength", place), _number(node, "maxLength", place))
    automaton = byte_pattern(pattern) if isinstance(pattern, str) else None
    return replace(Leaf(_FORMATS[form], nullable, bounds=bounds), pattern=automaton)


def _number(node: Node, word: str, place: str) -> float | None:
    """The number under a keyword; None if there is none."""
    value = node.get(word)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _refusal(place, f"{word} is no number", "write a number without quotation marks")
    return value


def _text(node: object, word: str) -> str:
    """The text under a keyword in one line; "" if there is none."""
    value = node.get(word, "") if isinstance(node, dict) else ""
    return " ".join(value.split()) if isinstance(value, str) else ""


def _refusal(place: str, reason: str, hint: str) -> UsageError:
    return UsageError(f"the schema cannot be filled at {place or 'its top'}: {reason}", hint=hint)


def choice_schema(options: tuple[ScalarValue, ...]) -> str:
    """The JSON Schema of a choice between values."""
    return json.dumps({"enum": list(options)}, ensure_ascii=False)
