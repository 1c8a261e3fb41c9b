"""The values in the evidence that a field of a schema may have: by kind, bounds, pattern, unit and form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.knowledge_strips import strip_at, strips
from localcrag.crag.structured_answers.field_scores import Candidate
from localcrag.crag.structured_answers.field_wording import FieldWording
from localcrag.crag.structured_answers.letter_layout import place_of
from localcrag.crag.structured_answers.prose_roles import without_role
from localcrag.crag.structured_answers.value_context import around
from localcrag.crag.structured_answers.value_spans import SPANS_OF, ValueSpan, codes, dates, texts, times
from localcrag.crag.table_answers.table_values import CURRENCIES
from localcrag.output_schema.output_shape import Leaf, LeafKind
from localcrag.types import CELL_SEPARATOR, BlockKind, Passage, Strip

MAX_PATTERN_WORDS = 6
"""The most words of a value that is found by a pattern."""
_INNER_NAME = re.compile(r"(?<=[a-z,] )[^\W\d_a-z][\w-]+")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_WORD = re.compile(r"[^\s,;:!?()\[\]\"“”]+")


def pieces(passages: Sequence[Passage]) -> tuple[Strip, ...]:
    """The strips of passages with their headings between them, in order: a heading names what it is about."""
    found: list[Strip] = []
    for passage in passages:
        own = [
            strip_at(passage, block.start, block.end)
            for block in passage.blocks
            if block.kind is BlockKind.HEADING
        ]
        found += sorted([*strips(passage), *own], key=lambda strip: strip.start)
    return tuple(found)


@dataclass(frozen=True, slots=True)
class CandidateFinder:
    """Finds the values of fields in pieces of the evidence."""

    pieces: Sequence[Strip]

    def candidates(self, leaf: Leaf, asked: FieldWording) -> list[Candidate]:
        """The values that a field may have, in the order of the evidence."""
        found = [
            Candidate(
                strip, span, *around(strip, span, beside), place_in_letter=place_of(strip, span, self.pieces)
            )
            for strip in self.pieces
            for beside in [_of_kind(leaf, asked, strip.text)]
            for span in self._spans(leaf, asked, strip.text)
        ]
        for units in (asked.units, CURRENCIES if asked.wants_money else frozenset()):
            if any(each.span.unit in units for each in found):
                found = [each for each in found if each.span.unit in units or _is_sum(asked, each.span)]
        return _with_columns(found)

    def _spans(self, leaf: Leaf, asked: FieldWording, text: str) -> Iterator[ValueSpan]:
        if leaf.pattern is not None:
            yield from _matching(leaf, text)
            return
        written = _days_and_times(asked, text) if leaf.kind is LeafKind.TEXT else []
        for span in (*SPANS_OF[leaf.kind](text), *written):
            if _in_column_name(span, text):
                continue
            if leaf.kind is LeafKind.TEXT and not span.labelled:
                span = _without_role(asked, span)
            if leaf.admits(span.value) and self._fits(leaf, asked, span, text):
                yield span

    def _fits(self, leaf: Leaf, asked: FieldWording, span: ValueSpan, text: str) -> bool:
        """Whether a value has the form that its field asks for."""
        if leaf.kind is LeafKind.INTEGER and not isinstance(span.value, int):
            return False
        if leaf.kind in (LeafKind.NUMBER, LeafKind.INTEGER):
            return asked.fits_unit(span.unit)
        if leaf.kind is LeafKind.TEXT:
            if asked.given and terms(str(span.value)) <= asked.given:
                return False
            return fits_text(asked, span, text) and (span.labelled or not self._only_begins(span))
        return True

    def _only_begins(self, span: ValueSpan) -> bool:
        """Whether a single word has a capital letter only since its sentence begins with it."""
        value = str(span.value)
        if span.start or not value.isalpha():
            return False
        return not any(value in _INNER_NAME.findall(strip.text) for strip in self.pieces)


def _without_role(asked: FieldWording, span: ValueSpan) -> ValueSpan:
    """A name without the word for what the field asks for ("Captain Jonas Berg")."""
    value = str(span.value)
    rest = without_role(asked, value)
    return replace(span, start=span.end - len(rest), value=rest) if rest != value else span


def _of_kind(leaf: Leaf, asked: FieldWording, text: str) -> list[ValueSpan]:
    """The values of a text that are of one kind; those of a text field are not, but for days and times."""
    if leaf.pattern is not None:
        return []
    return _days_and_times(asked, text) if leaf.kind is LeafKind.TEXT else list(SPANS_OF[leaf.kind](text))


def _days_and_times(asked: FieldWording, text: str) -> list[ValueSpan]:
    """The days or the times of day that a text field asks for, as they are written."""
    found = [*(dates(text) if asked.wants_day else ()), *(times(text) if asked.wants_time else ())]
    found.sort(key=lambda span: span.start)
    return [replace(span, value=text[span.start : span.end]) for span in found]


def fits_text(asked: FieldWording, span: ValueSpan, text: str) -> bool:
    """Whether a text may be what a field asks for: a code has a digit, a person none, a date is for days."""
    value = str(span.value)
    if any((each.start, each.end) == (span.start, span.end) for each in _days_and_times(asked, text)):
        return True
    if span.unit and not asked.wants_measure:
        return False
    has_digit = any(map(str.isdigit, value))
    if has_digit if asked.wants_person else asked.wants_code and not has_digit:
        return False
    if not asked.wants_code and not _LETTERS.search(value):
        return False
    if span.labelled and (";" in value or value.count(",") > 1):
        return False
    if asked.wants_code and span.labelled and " " in value and any(True for _ in codes(value)):
        return False
    if asked.wants_day:
        return has_digit or span.labelled
    return not any(
        other.overlaps(span) and len(value) < other.end - other.start + 12 for other in dates(text)
    )


def _in_column_name(span: ValueSpan, text: str) -> bool:
    """Whether a span is a part of the name of a column in a row, which is no value of the row."""
    if CELL_SEPARATOR not in text:
        return False
    rest = text[span.end :].split(CELL_SEPARATOR)[0]
    before = text[: span.start].rpartition(CELL_SEPARATOR)[2]
    return ": " in rest and ":" not in before


def _is_sum(asked: FieldWording, span: ValueSpan) -> bool:
    """Whether a number without a unit may be an amount of money all the same: a table says it once above."""
    return asked.wants_money and not span.unit and isinstance(span.value, float)


def _matching(leaf: Leaf, text: str) -> Iterator[ValueSpan]:
    """The words of a text that match the pattern of a leaf, several side by side if it allows spaces."""
    words = [(found.start(), found.end()) for found in _WORD.finditer(text)]
    taken = 0
    for first, (start, _) in enumerate(words):
        if start < taken:
            continue
        for _, end in reversed(words[first : first + MAX_PATTERN_WORDS]):
            value = text[start:end].rstrip(".")
            if leaf.admits(value):
                yield ValueSpan(start, start + len(value), value)
                taken = end
                break
    if not taken:
        yield from (span for span in texts(text) if span.labelled and leaf.admits(span.value))


def _with_columns(found: Sequence[Candidate]) -> list[Candidate]:
    """The candidates, those of a column with values in several rows marked so."""
    columns = Counter(key for each in found if (key := _column(each)))
    return [replace(each, repeated=columns[key] > 1) if (key := _column(each)) else each for each in found]


def _column(each: Candidate) -> tuple[str, str] | None:
    """The passage and the name of the column that a value stands in; None if it is in no row."""
    if CELL_SEPARATOR not in each.strip.text:
        return None
    cell = each.strip.text[: each.span.start].rpartition(CELL_SEPARATOR)[2]
    name, mark, _ = cell.partition(":")
    return (each.strip.passage.id, name) if mark else None
