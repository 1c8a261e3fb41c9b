"""What a field of a schema asks for, in words: its question, its terms, and what its value must look like."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.table_answers.table_values import CURRENCIES, UNITS, root, roots, word_list
from localcrag.output_schema.output_shape import Field

_TIMES = root("times")
MEASURES = UNITS | {"mg", "ml"}
"""The units that a number may have, in one spelling."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\W]+")
_CODE_WORDS = frozenset(word_list("number no code id identifier reference ref serial sku iban isbn version"))
_PERSON_WORDS = frozenset(word_list("who whom person people name names attendees author"))
_MONEY_WORDS = frozenset(
    word_list("amount price cost costs total money budget fee salary sum subtotal net gross paid")
)
_MEASURE_WORDS = frozenset(
    word_list(
        "dose dosage weight mass length height width depth distance size duration time period term age "
        "amount quantity capacity volume power voltage current pressure temperature speed range limit load"
    )
)
_DAY_WORDS = frozenset(word_list("date dates day deadline birthday"))
_TIME_WORDS = frozenset(word_list("time times hour hours"))
_PERCENT_WORDS = frozenset(word_list("percent percentage rate share vat"))


@dataclass(frozen=True, slots=True)
class FieldWording:
    """The words of a field.

    ``name`` is the field's title, or its name as words; ``whole`` has the description behind it. ``about``
    is what the object is, "" if the schema does not say. ``given`` are the terms of the user's question if it
    asks for this field by its name ("What is the usual dose of Zeldrine?"): what it names is not its answer.
    """

    name: str
    description: str
    about: str = ""
    given: frozenset[str] = frozenset()

    @property
    def whole(self) -> str:
        """Name and description in one line."""
        return f"{self.name}: {self.description}" if self.description else self.name

    @property
    def question(self) -> str:
        """The question that the value of the field answers."""
        if self.description.endswith("?"):
            return self.description[:1].upper() + self.description[1:]
        said = f" ({self.description})" if self.description else ""
        return f"What is the {self.name}{said}?"

    @property
    def terms(self) -> set[str]:
        """The terms of the name."""
        return terms(self.name)

    @property
    def words(self) -> set[str]:
        """All words of name and description, in small letters."""
        return set(re.findall(r"[^\W_]+|%|°[CF]", self.whole.lower()))

    @property
    def units(self) -> set[str]:
        """The units that the field names, in one spelling."""
        found = set(roots(self.whole)) & UNITS
        found |= {f"°{letter}" for letter in ("c", "f") if f"°{letter}" in self.whole.lower()}
        found |= {word for word in ("mg", "ml") if word in self.words}
        found |= {_TIMES} if "times" in self.words else set()
        return found | ({"%"} if self.words & _PERCENT_WORDS else set())

    @property
    def wants_code(self) -> bool:
        """Whether its text is a number or a code, and so has a digit."""
        return bool(self.words & _CODE_WORDS)

    @property
    def wants_person(self) -> bool:
        """Whether its text names people, and so has no digit."""
        return bool(self.words & _PERSON_WORDS) and not self.wants_code

    @property
    def wants_day(self) -> bool:
        """Whether its text says which day."""
        return bool(self.words & _DAY_WORDS) and not self.wants_code and not self.wants_person

    @property
    def wants_time(self) -> bool:
        """Whether its text may be a time of day."""
        return bool(self.words & _TIME_WORDS) and not self.wants_code and not self.wants_person

    @property
    def wants_count(self) -> bool:
        """Whether its number counts something."""
        return bool(re.search(r"\b(?:number of|how many|count)\b", self.whole.lower()))

    @property
    def wants_money(self) -> bool:
        """Whether its number is an amount of money."""
        return bool(self.words & _MONEY_WORDS) and not self.units

    @property
    def wants_measure(self) -> bool:
        """Whether its text is a number with a unit."""
        return bool(self.words & _MEASURE_WORDS) or self.wants_money or bool(self.units)

    def asked_by(self, question: str) -> FieldWording:
        """The same field as it is asked for by a question."""
        asked = terms(question)
        return replace(self, given=frozenset(asked)) if self.terms and self.terms <= asked else self

    def fits_unit(self, unit: str) -> bool:
        """Whether a number with this unit, "" for none, can be what the field asks for."""
        if not unit or unit in self.units:
            return True
        measured = unit in MEASURES
        if self.units:
            return not measured
        if self.wants_money:
            return unit in CURRENCIES or not measured
        return unit not in ("%", *CURRENCIES) and not (measured and self.wants_count)


def wording(field: Field, about: str = "") -> FieldWording:
    """The words of a field of an object that is ``about`` something."""
    name = field.title or " ".join(word for word in _HUMP.split(field.name) if word)
    lowered = " ".join(word if word.isupper() else word.lower() for word in name.split())
    return FieldWording(lowered, field.description, about)
