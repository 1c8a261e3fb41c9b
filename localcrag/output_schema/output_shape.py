"""The form of a structured answer as a tree: objects and lists of leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from localcrag.output_schema.byte_pattern import BytePattern
from localcrag.types import ScalarValue


class LeafKind(StrEnum):
    """What a single value is; a ``choice`` is one of the listed values."""

    TEXT = "text"
    NUMBER = "number"
    INTEGER = "integer"
    BOOLEAN = "boolean"
    CHOICE = "choice"
    DATE = "date"
    TIME = "time"
    EMAIL = "email"
    URI = "uri"


@dataclass(frozen=True, slots=True)
class Bounds:
    """The numbers or lengths that are allowed; None for no bound. ``exclusive`` bounds are not allowed
    themselves."""

    minimum: float | None = None
    maximum: float | None = None
    exclusive_minimum: float | None = None
    exclusive_maximum: float | None = None

    def hold(self, number: float) -> bool:
        """Whether a number lies within the bounds."""
        return (
            (self.minimum is None or number >= self.minimum)
            and (self.maximum is None or number <= self.maximum)
            and (self.exclusive_minimum is None or number > self.exclusive_minimum)
            and (self.exclusive_maximum is None or number < self.exclusive_maximum)
        )


@dataclass(frozen=True, slots=True)
class Leaf:
    """A single value: its kind, what is allowed, and whether it may be null.

    ``options`` are the values of a choice, ``pattern`` restricts a text, and ``bounds`` restrict a number or
    the length of a text.
    """

    kind: LeafKind
    nullable: bool = False
    options: tuple[ScalarValue, ...] = ()
    pattern: BytePattern | None = None
    bounds: Bounds = Bounds()

    def admits(self, value: ScalarValue) -> bool:
        """Whether a value of the leaf's kind is one that the schema allows."""
        if self.kind is LeafKind.CHOICE:
            return value in self.options
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return self.bounds.hold(value)
        if isinstance(value, str):
            matches = self.pattern is None or self.pattern.matches(value)
            return self.bounds.hold(len(value)) and matches
        return True


@dataclass(frozen=True, slots=True)
class Field:
    """A property of an object: its name, what the schema says about it, and its form."""

    name: str
    title: str
    description: str
    required: bool
    shape: Shape


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """An object with fields, in the order of the schema."""

    fields: tuple[Field, ...]
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class ListShape:
    """A list of single values or of objects of single values; ``bounds`` restrict its length."""

    item: Leaf | ObjectShape
    bounds: Bounds = Bounds()
    nullable: bool = False


Shape: TypeAlias = Leaf | ObjectShape | ListShape


@dataclass(frozen=True, slots=True)
class OutputSchema:
    """The form of a structured answer; ``text`` is the JSON Schema that it was read from."""

    title: str
    description: str
    root: Shape
    text: str

    @property
    def leaves(self) -> tuple[str, ...]:
        """The places of all single values and lists as JSON pointers, in the order of the schema."""
        return tuple(_leaves(self.root, ""))


def _leaves(shape: Shape, place: str) -> Iterator[str]:
    if isinstance(shape, ObjectShape):
        for field in shape.fields:
            yield from _leaves(field.shape, pointer(place, field.name))
    else:
        yield place


def pointer(place: str, name: str) -> str:
    """The JSON pointer (RFC 6901) of a property of the object at ``place``."""
    return f"{place}/{name.replace('~', '~0').replace('/', '~1')}"
