"""Lists of values: what a label or a sentence enumerates, and the rows of a table as objects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_kinds import is_row
from localcrag.crag.structured_answers.field_candidates import fits_text
from localcrag.crag.structured_answers.field_scores import TERM_WEIGHT, Candidate, FieldScorer
from localcrag.crag.structured_answers.field_wording import FieldWording
from localcrag.crag.structured_answers.value_context import around
from localcrag.crag.structured_answers.value_spans import SPANS_OF, ValueSpan, labelled, names
from localcrag.output_schema.output_shape import Leaf, LeafKind
from localcrag.types import CELL_SEPARATOR, Strip

MIN_LIST_SCORE = 0.6
"""The score from which on an enumeration is what the field asks for."""
MIN_COLUMN_SCORE = 0.5
"""The score from which on a column holds the values of a property."""
MIN_COLUMN_SHARE = 0.5
"""The share of the properties of an object that a table must have columns for."""
_SEPARATOR = re.compile(r"\s*(?:;|,(?: and\b)?|\band\b|&)\s*")
_BETWEEN_NAMES = re.compile(r"(?: \([^()]*\))?,? (?:and |& )?")
_PARENTHESIS = re.compile(r"\s*\([^()]*\)")
_NOTHING = frozenset({"none", "no", "nil", "nobody", "nothing", "-", "–", "n/a"})


@dataclass(frozen=True, slots=True)
class ListItem:
    """One item of a list that stands in the evidence, as characters of its strip."""

    strip: Strip
    span: ValueSpan


def enumerated(
    leaf: Leaf, asked: FieldWording, pieces: Sequence[Strip], scorer: FieldScorer
) -> tuple[Strip, list[ListItem]] | None:
    """The items that the evidence enumerates for a field, with their strip; None if it does not.

    There are none in a strip that says so ("Apologies: none").
    """
    found = [
        Candidate(strip, span, *around(strip, span))
        for strip in pieces
        for span in _bodies(asked, strip.text)
    ]
    ranked = scorer.scored(asked, found)
    if not ranked or ranked[0].score < MIN_LIST_SCORE:
        return None
    strip, body = ranked[0].candidate.strip, ranked[0].candidate.span
    return strip, [ListItem(strip, span) for span in _items(leaf, asked, strip.text, body)]


def _bodies(asked: FieldWording, text: str) -> Iterator[ValueSpan]:
    """What may be an enumeration: all behind a label, or the names in a sentence that asks for people."""
    for span in labelled(text):
        if span.labelled:
            end = len(text) if "\n" not in text[span.start :] else text.index("\n", span.start)
            yield ValueSpan(span.start, end, text[span.start : end], labelled=True)
    if asked.wants_person and ":" not in text:
        people = [span for span in names(text) if " " in str(span.value)]
        yield from _side_by_side(people, text)


def _side_by_side(people: Sequence[ValueSpan], text: str) -> Iterator[ValueSpan]:
    """The names with nothing but commas or "and" between them, each row of them as one span."""
    start = 0
    for at, span in enumerate(people):
        following = people[at + 1] if at + 1 < len(people) else None
        if following is None or not _BETWEEN_NAMES.fullmatch(text, span.end, following.start):
            yield ValueSpan(people[start].start, span.end, text[people[start].start : span.end])
            start = at + 1


def _items(leaf: Leaf, asked: FieldWording, text: str, body: ValueSpan) -> Iterator[ValueSpan]:
    """The items of an enumeration, without what stands in parentheses."""
    at = body.start
    for part in [*_SEPARATOR.finditer(text, body.start, body.end), None]:
        end = part.start() if part else body.end
        bare = _PARENTHESIS.sub("", text[at:end]).strip(" .")
        if bare and bare.casefold() not in _NOTHING and bare in text[at:end]:
            start = text.index(bare, at)
            yield from _values(leaf, asked, text, ValueSpan(start, start + len(bare), bare))
        at = part.end() if part else end


def _values(leaf: Leaf, asked: FieldWording, text: str, item: ValueSpan) -> Iterator[ValueSpan]:
    """An item as the value of a leaf; nothing if it is none."""
    if leaf.kind is LeafKind.TEXT:
        if leaf.admits(item.value) and (not asked.wants_person or fits_text(asked, item, text)):
            yield item
        return
    if leaf.kind is LeafKind.CHOICE:
        yield from (
            ValueSpan(item.start, item.end, value)
            for value in leaf.options
            if str(value).casefold() == str(item.value).casefold()
        )
        return
    for span in SPANS_OF[leaf.kind](str(item.value)):
        if leaf.admits(span.value):
            yield ValueSpan(item.start + span.start, item.start + span.end, span.value, span.unit)
            return


@dataclass(frozen=True, slots=True)
class TableProperty:
    """A property of an object that is a row of a table."""

    name: str
    leaf: Leaf
    asked: FieldWording


def table_rows(
    properties: Sequence[TableProperty], pieces: Sequence[Strip], scorer: FieldScorer
) -> list[dict[str, ListItem]]:
    """The rows of the table whose columns fit the properties best, each as its values by property.

    There are none if no table has columns for half of the properties.
    """
    tables: dict[tuple[str, tuple[str, ...]], list[Strip]] = {}
    for strip in pieces:
        if is_row(strip) or CELL_SEPARATOR in strip.text:
            columns = tuple(cell.partition(":")[0].strip() for cell in strip.text.split(CELL_SEPARATOR))
            tables.setdefault((strip.passage.document, columns), []).append(strip)
    best: tuple[float, dict[str, int], list[Strip]] = 0.0, {}, []
    for (_, columns), rows in tables.items():
        chosen, score = _columns(properties, columns, scorer)
        if len(chosen) >= MIN_COLUMN_SHARE * len(properties) and score * len(rows) ** 0.5 > best[0]:
            best = score * len(rows) ** 0.5, chosen, rows
    _, chosen, rows = best
    found = [_row(properties, chosen, row) for row in rows]
    return [values for values in found if len(values) >= MIN_COLUMN_SHARE * len(properties)]


def _columns(
    properties: Sequence[TableProperty], columns: Sequence[str], scorer: FieldScorer
) -> tuple[dict[str, int], float]:
    """The column of each property, by its name, and the sum of their scores."""
    pairs = []
    for each in properties:
        cosines = scorer.cosines(each.asked, columns)
        for at, (cosine, column) in enumerate(zip(cosines, columns, strict=True)):
            shared = len(each.asked.terms & terms(column)) / max(1, len(each.asked.terms))
            pairs.append((cosine + TERM_WEIGHT * shared, each.name, at))
    chosen: dict[str, int] = {}
    total = 0.0
    for score, name, at in sorted(pairs, reverse=True):
        if score >= MIN_COLUMN_SCORE and name not in chosen and at not in chosen.values():
            chosen[name] = at
            total += score
    return chosen, total


def _row(properties: Sequence[TableProperty], chosen: dict[str, int], row: Strip) -> dict[str, ListItem]:
    """The values of a row by property; one that its cell does not have is left out."""
    values: dict[str, ListItem] = {}
    cells = row.text.split(CELL_SEPARATOR)
    for each in properties:
        if each.name not in chosen or chosen[each.name] >= len(cells):
            continue
        at = chosen[each.name]
        start = sum(len(cell) + len(CELL_SEPARATOR) for cell in cells[:at])
        label, mark, _ = cells[at].partition(":")
        value = cells[at][len(label) + len(mark) :] if mark else cells[at]
        body = value.strip()
        if not body:
            continue
        first = start + cells[at].index(body, len(label) + len(mark) if mark else 0)
        item = ValueSpan(first, first + len(body), body)
        for span in _values(each.leaf, each.asked, row.text, item):
            values[each.name] = ListItem(row, span)
    return values
