"""The value of a structured answer from its filled fields, and the citations of the strips they stand in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.crag.answering.citation_check import cite
from localcrag.crag.refinement.knowledge_strips import span
from localcrag.crag.refinement.recomposition import numbered
from localcrag.crag.structured_answers.field_filling import FilledField
from localcrag.output_schema.output_shape import Leaf, ListShape, ObjectShape, OutputSchema, Shape, pointer
from localcrag.types import Citation, Evidence, FieldResult, JsonValue, ScalarValue, StructuredValue, Support


@dataclass(frozen=True, slots=True)
class AssembledValue:
    """A structured value with its evidence, numbered in the order of the fields, and the citations of it."""

    structured: StructuredValue
    evidence: tuple[Evidence, ...]

    @property
    def citations(self) -> tuple[Citation, ...]:
        """The strips that the values stand in."""
        return tuple(map(cite, self.evidence))


def assembled(schema: OutputSchema, filled: Sequence[FilledField]) -> AssembledValue:
    """The value that the filled fields make.

    A field without a value is null if the schema allows it, and else absent.
    """
    held = {span(each.strip): each.strip for each in filled if each.strip is not None}
    evidence = numbered(list(held.values()))
    keys = {span(item.strip): item.key for item in evidence}
    results = tuple(
        FieldResult(each.place, each.value, each.support, reason=each.reason)
        if each.strip is None
        else FieldResult(
            each.place,
            each.value,
            each.support,
            keys[span(each.strip)],
            each.strip.start + each.start,
            each.strip.start + each.end,
        )
        for each in filled
    )
    value = _Assembly({each.place: each for each in filled}).value(schema.root, "")
    text = json.dumps(None if value is _ABSENT else value, ensure_ascii=False)
    return AssembledValue(StructuredValue(text, results), tuple(evidence))


class _Absent:
    """What stands in place of a value that the schema wants and the evidence does not have."""


_ABSENT = _Absent()


@dataclass(frozen=True, slots=True)
class _Assembly:
    """Puts single values at their places; ``filled`` are the fields by place."""

    filled: dict[str, FilledField]

    def value(self, shape: Shape, place: str) -> JsonValue | _Absent:
        """The value of a part of the schema."""
        if isinstance(shape, ObjectShape):
            return self._object(shape, place)
        if isinstance(shape, ListShape):
            return self._list(shape, place)
        return _or_absent(self._scalar(place), nullable=shape.nullable or place == "")

    def _object(self, shape: ObjectShape, place: str) -> JsonValue:
        below = ((field.name, self.value(field.shape, pointer(place, field.name))) for field in shape.fields)
        return {name: value for name, value in below if not isinstance(value, _Absent)}

    def _list(self, shape: ListShape, place: str) -> JsonValue | _Absent:
        own = self.filled.get(place)
        if own is not None:
            return _or_absent(None, nullable=shape.nullable) if own.support is Support.NONE else []
        items: list[JsonValue] = []
        while any(
            each == f"{place}/{len(items)}" or each.startswith(f"{place}/{len(items)}/")
            for each in self.filled
        ):
            value = self.value(shape.item, f"{place}/{len(items)}")
            items.append(None if isinstance(value, _Absent) else value)
        return items

    def _scalar(self, place: str) -> ScalarValue | None:
        return self.filled[place].value if place in self.filled else None


def _or_absent(value: ScalarValue | None, *, nullable: bool) -> JsonValue | _Absent:
    return _ABSENT if value is None and not nullable else value


def is_single(schema: OutputSchema) -> bool:
    """Whether an answer is one value or one list, which the question itself asks for."""
    return isinstance(schema.root, (Leaf, ListShape))
