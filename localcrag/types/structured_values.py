"""The values of a structured answer, each with the place in the evidence where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from localcrag.types.passages import JsonValue

ScalarValue = str | int | float | bool
"""A single value of a structured answer that is not null."""


class Support(StrEnum):
    """How the evidence bears a value out.

    ``verbatim``: it stands there as it is. ``normalised``: it stands there in another spelling, as a date in
    words. ``judged``: what stands there was judged to mean it, as a choice. ``none``: it is not borne out.
    """

    VERBATIM = "verbatim"
    NORMALISED = "normalised"
    JUDGED = "judged"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class FieldResult:
    """One value of a structured answer: characters ``[start, end)`` of the page that citation ``key`` cites.

    ``place`` is its JSON pointer in the value ("/total", "/items/0/price", "" for the whole value). A value
    that the evidence does not bear out is None, its ``key`` is 0, and ``reason`` says why.
    """

    place: str
    value: ScalarValue | None
    support: Support
    key: int = 0
    start: int = 0
    end: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class StructuredValue:
    """The value of a structured answer as JSON text, and where each part of it comes from."""

    json: str
    fields: tuple[FieldResult, ...]

    @property
    def unsupported(self) -> tuple[str, ...]:
        """The places of the values that the evidence does not bear out, as JSON pointers."""
        return tuple(field.place for field in self.fields if field.support is Support.NONE)

    @property
    def found(self) -> bool:
        """Whether the evidence bears out any value."""
        return any(field.support is not Support.NONE for field in self.fields)

    def loaded(self) -> JsonValue:
        """The value itself."""
        import json

        value: JsonValue = json.loads(self.json)
        return value
