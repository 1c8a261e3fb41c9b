"""Filling the fields of a schema from evidence: which value of the evidence goes to which field.

All fields that have one value each are looked at together: the pair of field and value that fits best is
taken first, and a value belongs to one field. So the due date does not go to the date of the invoice only
because it is a date. What fits no field well, or two fields or two values equally, is left out: no value is
better than a wrong one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.structured_answers import closed_choices, list_values
from localcrag.crag.structured_answers.closed_choices import ClosedChoice
from localcrag.crag.structured_answers.field_candidates import CandidateFinder
from localcrag.crag.structured_answers.field_scores import FieldScorer, Scored
from localcrag.crag.structured_answers.field_wording import FieldWording, wording
from localcrag.crag.structured_answers.list_values import TableProperty
from localcrag.crag.structured_answers.value_spans import ValueSpan
from localcrag.output_schema.output_shape import (
    Field,
    Leaf,
    LeafKind,
    ListShape,
    ObjectShape,
    OutputSchema,
    Shape,
    pointer,
)
from localcrag.types import ScalarValue, Strip, Support

MIN_TEXT_SCORE = 0.6
"""The score from which on a text is the value of a field."""
MIN_TYPED_SCORE = 0.5
"""The score from which on a number or a date is: fewer words are of the kind that is asked for."""
MIN_PATTERN_SCORE = 0.0
"""The score from which on a text is that matches the pattern of its field."""
MIN_SOLE_SCORE = 0.2
"""The score from which on the only e-mail or web address of the evidence is that of a field."""
MIN_VALUE_MARGIN = 0.02
"""How much a value must fit better than another one of the same field."""
MIN_FIELD_MARGIN = 0.03
"""How much a value must fit its field better than another field that has no value of its own."""
MIN_VAGUE_MARGIN = 0.15
"""The same for a value whose label says less than both fields."""
NOT_STATED = "the evidence does not say"
AMBIGUOUS = "several values of the evidence fit as well"
_PARTIES = frozenset(
    (
        *("customer", "client", "buyer", "recipient", "supplier", "seller", "vendor", "sender", "employer"),
        *("manufacturer", "maker", "doctor", "landlord", "tenant", "chair", "author"),
    )
)
"""Words that say whose address a field asks for."""
_Place = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class FilledField:
    """A single value at a place of the answer, with the strip and the characters of it that bear it out."""

    place: str
    value: ScalarValue | None
    support: Support
    strip: Strip | None = None
    start: int = 0
    end: int = 0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A single value or a list that is wanted: its place, its form, and its words."""

    place: str
    name: str
    shape: Leaf | ListShape
    wording: FieldWording


def wanted(schema: OutputSchema, question: str) -> list[Asked]:
    """All single values and lists of a schema, in its order; one without a name is asked by the question."""
    if isinstance(schema.root, ObjectShape):
        about = schema.title or schema.description
        fields = _wanted(schema.root, "", about)
        return [replace(each, wording=each.wording.asked_by(question)) for each in fields]
    asked = FieldWording(schema.title, schema.description or question)
    return [Asked("", "", schema.root, asked if schema.description else FieldWording("", question))]


def _wanted(shape: ObjectShape, place: str, about: str) -> Iterator[Asked]:
    for field in shape.fields:
        below = pointer(place, field.name)
        if isinstance(field.shape, ObjectShape):
            yield from _wanted(field.shape, below, field.title or field.description or field.name)
        else:
            yield Asked(below, field.name, field.shape, wording(field, about))


@dataclass(frozen=True, slots=True)
class FieldFiller:
    """Fills fields from pieces of the evidence."""

    pieces: Sequence[Strip]
    scorer: FieldScorer

    def fill(self, fields: Sequence[Asked]) -> list[FilledField]:
        """The values of all fields, in their order; a list gives one value for each of its items.

        A field without a value gives one that is None, with the reason.
        """
        spans = [each for each in fields if isinstance(each.shape, Leaf) and not _is_closed(each.shape)]
        assigned = self._assigned(spans)
        return [filled for each in fields for filled in self._filled(each, assigned)]

    def _filled(self, asked: Asked, assigned: dict[str, FilledField]) -> Iterator[FilledField]:
        if isinstance(asked.shape, ListShape):
            yield from self._list(asked, asked.shape)
        elif _is_closed(asked.shape):
            yield self._closed(asked, asked.shape)
        else:
            yield assigned[asked.place]

    # -------------------------------------------------------------------------- single values

    def _assigned(self, fields: Sequence[Asked]) -> dict[str, FilledField]:
        """The values of fields that stand in the evidence as they are, by place."""
        finder = CandidateFinder(self.pieces)
        ranked: dict[str, list[Scored]] = {}
        for each in fields:
            assert isinstance(each.shape, Leaf)
            ranked[each.place] = self.scorer.scored(each.wording, finder.candidates(each.shape, each.wording))
        pairs = [(scored.score, each, scored) for each in fields for scored in ranked[each.place]]
        pairs.sort(key=lambda pair: -pair[0])
        sole = _sole_addresses(fields, ranked)
        filled: dict[str, FilledField] = {}
        taken: list[_Place] = []
        for score, each, scored in pairs:
            if each.place in filled or _is_taken(scored, taken):
                continue
            if score < (MIN_SOLE_SCORE if each.place in sole else _floor(each.shape)):
                continue
            is_ambiguous = _has_rival_value(scored, ranked[each.place], taken) or _has_rival_field(
                each,
                scored,
                [(o, ranked[o.place]) for o in fields if o is not each and o.place not in filled],
            )
            taken.append(scored.candidate.place)
            if is_ambiguous:
                filled[each.place] = FilledField(each.place, None, Support.NONE, reason=AMBIGUOUS)
            else:
                filled[each.place] = _stated(each.place, scored.candidate.strip, scored.candidate.span)
        missing = {each.place: _missing(each.place) for each in fields}
        return missing | filled

    # -------------------------------------------------------------------------- closed choices

    def _closed(self, asked: Asked, leaf: Leaf) -> FilledField:
        """A value that is true or false, or one of several."""
        chosen = self._chosen(asked, leaf)
        if chosen is None:
            return _missing(asked.place)
        return FilledField(asked.place, chosen.value, Support.JUDGED, chosen.strip, chosen.start, chosen.end)

    def _chosen(self, asked: Asked, leaf: Leaf) -> ClosedChoice | None:
        required = terms(asked.name.replace("_", " ")) if asked.name else terms(asked.wording.question)
        if leaf.kind is LeafKind.BOOLEAN:
            return closed_choices.truth(asked.wording, required, self.pieces, self.scorer)
        by_word = {str(value).casefold(): value for value in leaf.options}
        if {"yes", "no"} <= by_word.keys():
            said = closed_choices.truth(asked.wording, required, self.pieces, self.scorer)
            if said is None:
                return self._undecided(asked, by_word)
            return ClosedChoice(by_word["yes" if said.value else "no"], said.strip, said.start, said.end)
        stated = [value for word, value in by_word.items() if word not in closed_choices.UNDECIDED]
        found = closed_choices.option(asked.wording, stated, self.pieces, self.scorer)
        return found or self._undecided(asked, by_word)

    def _undecided(self, asked: Asked, by_word: Mapping[str, ScalarValue]) -> ClosedChoice | None:
        """The value that says that the evidence does not decide, if the question itself offers it.

        It stands by the piece of the evidence that is nearest to the question.
        """
        words = sorted(closed_choices.UNDECIDED & by_word.keys())
        if not words or asked.place or not self.pieces:
            return None
        cosines = self.scorer.cosines(asked.wording, [strip.text for strip in self.pieces])
        nearest = self.pieces[max(range(len(cosines)), key=cosines.__getitem__)]
        return ClosedChoice(by_word[words[0]], nearest, 0, len(nearest.text))

    # -------------------------------------------------------------------------- lists

    def _list(self, asked: Asked, shape: ListShape) -> Iterator[FilledField]:
        """The items of a list, each at its own place; one value that is None if there is no list."""
        if isinstance(shape.item, Leaf):
            found = list_values.enumerated(shape.item, asked.wording, self.pieces, self.scorer)
            if found is None or not shape.bounds.hold(len(found[1])):
                yield _missing(asked.place)
            elif not found[1]:
                yield FilledField(asked.place, None, Support.JUDGED, found[0], 0, len(found[0].text))
            else:
                for number, item in enumerate(found[1]):
                    yield _stated(pointer(asked.place, str(number)), item.strip, item.span)
            return
        properties = [_property(field) for field in shape.item.fields]
        rows = list_values.table_rows(properties, self.pieces, self.scorer)
        if not rows or not shape.bounds.hold(len(rows)):
            yield _missing(asked.place)
            return
        for number, row in enumerate(rows):
            for each in properties:
                place = pointer(pointer(asked.place, str(number)), each.name)
                cell = row.get(each.name)
                yield _stated(place, cell.strip, cell.span) if cell else _missing(place)


def _is_closed(leaf: Shape) -> bool:
    return isinstance(leaf, Leaf) and leaf.kind in (LeafKind.BOOLEAN, LeafKind.CHOICE)


def _floor(shape: Leaf | ListShape) -> float:
    """The score from which on a value is that of a field."""
    assert isinstance(shape, Leaf)
    if shape.pattern is not None:
        return MIN_PATTERN_SCORE
    return MIN_TEXT_SCORE if shape.kind is LeafKind.TEXT else MIN_TYPED_SCORE


def _sole_addresses(fields: Sequence[Asked], ranked: Mapping[str, Sequence[Scored]]) -> set[str]:
    """The places of e-mail and web addresses of which the evidence has one, and the schema one field.

    A field that says whose address it is ("the customer's") is none of them: it may be that of somebody else.
    """
    found = set()
    for kind in (LeafKind.EMAIL, LeafKind.URI):
        own = [each for each in fields if isinstance(each.shape, Leaf) and each.shape.kind is kind]
        if len(own) == 1 and not own[0].wording.words & _PARTIES:
            values = {each.candidate.span.value for each in ranked[own[0].place]}
            found |= {own[0].place} if len(values) == 1 else set()
    return found


def _is_taken(scored: Scored, taken: Sequence[_Place]) -> bool:
    """Whether another field has the value, or a part of it."""
    passage, start, end = scored.candidate.place
    return any(passage == other and start < until and since < end for other, since, until in taken)


def _has_rival_value(best: Scored, others: Sequence[Scored], taken: Sequence[_Place]) -> bool:
    """Whether another value that is not taken fits the same field as well."""
    for other in others:
        if other.score <= best.score - MIN_VALUE_MARGIN:
            return False
        is_same = other.candidate.span.value == best.candidate.span.value
        if not is_same and not _is_taken(other, [*taken, best.candidate.place]):
            return True
    return False


def _has_rival_field(
    asked: Asked, best: Scored, open_fields: Sequence[tuple[Asked, Sequence[Scored]]]
) -> bool:
    """Whether the value fits another field that has none yet as well.

    A label that says less than both fields ("Date:") may be that of either.
    """
    label = terms(best.candidate.label)
    is_vague = bool(label) and label < asked.wording.terms
    for other, candidates in open_fields:
        margin = MIN_VAGUE_MARGIN if is_vague and label < other.wording.terms else MIN_FIELD_MARGIN
        own = next((each for each in candidates if each.candidate.place == best.candidate.place), None)
        if own and own.score >= max(best.score, _floor(other.shape)) - margin:
            return True
    return False


def _stated(place: str, strip: Strip, span: ValueSpan) -> FilledField:
    """A value as it stands in its strip."""
    is_same = strip.text[span.start : span.end] == str(span.value)
    support = Support.VERBATIM if is_same else Support.NORMALISED
    return FilledField(place, span.value, support, strip, span.start, span.end)


def _missing(place: str) -> FilledField:
    return FilledField(place, None, Support.NONE, reason=NOT_STATED)


def _property(field: Field) -> TableProperty:
    assert isinstance(field.shape, Leaf)
    return TableProperty(field.name, field.shape, wording(field))
