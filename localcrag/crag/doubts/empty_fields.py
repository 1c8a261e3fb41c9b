"""Fields of a row or a record that a question asks for, and that are empty where it looks.

"Locker: L3 · Key: K-13" says nothing of the owner of L3 where other rows have an owner, and "Deputy: —" names
none. To a judge of relevance both look like an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.knowledge_strips import strips as strips_of
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import cells_of, is_row, named_cell
from localcrag.crag.rows.named_cells import CellQuery, terms_within
from localcrag.crag.table_answers.table_conditions import is_akin
from localcrag.types import Strip

_EMPTY = re.compile(r"[-–—?.…_ ]*|n/a|n\. ?a\.|k\. ?A\.|null|none|nan|nil|undefined|unknown", re.IGNORECASE)
"""A value that tells nothing."""
_ASKED = re.compile(
    r"\b(?:who|whose|whom|what|which|when|where|how (?:much|many|long|old|high|large|big|far)"
    r"|wer|wen|wem|wessen|was|welche[rsmn]?|wann|wo|wie (?:viele?|hoch|lange?|groß|alt|teuer)"
    r"|qui|quel(?:le)?s?|quand|où|combien|qué|quién|cuál|cuándo|cuánto)\b",
    re.IGNORECASE,
)
"""How a question asks for a value, and not whether something is so."""
_FIELD = re.compile(
    r"^[ \t]*(?:[-•*] )?(?P<label>[^\W\d_][^:\n]{0,40}):(?:[ \t]+(?P<value>.*))?$", re.MULTILINE
)
_BLANK = re.compile(r"… \((?P<name>[^()\n]{1,60})\)")
"""What a template leaves open, with its name: "I appoint … (executor name)"."""
_PERSON_ASKED = re.compile(r"\b(?:who|whose|whom|wer|wen|wem|wessen|qui|quién)\b", re.IGNORECASE)
_MIN_COLUMNS = 2
"""How many columns rows of one table share at least."""


def empty_fields(shown: Sequence[Strip], question: str) -> list[str]:
    """The names of the fields that a question asks for and that the best strip has without a value, in order.

    Of a row it is a column that other rows of its table have, if the question names the row by a cell, and no
    other column that the row has. Of lines with labels it is one without a value before the next label, and
    of a template what is to be filled in.

    Args:
        shown: the strips that may be shown, with their probabilities as scores.
        question: the question.
    """
    best = best_strip(shown)
    if best is None or not _ASKED.search(question):
        return []
    if blanks := _blanks(best.text, question):
        return blanks
    return _of_row(best, question) if is_row(best) else _of_lines(best.text, question)


def _blanks(text: str, question: str) -> list[str]:
    """The names of the blanks of a template that a question asks for, in order.

    It asks for the name of whom it names: "Who is the executor?" for "executor name".
    """
    asked, name = terms(question), terms("name")
    asked = asked | name if _PERSON_ASKED.search(question) else asked
    names = dict.fromkeys(found["name"] for found in _BLANK.finditer(text))
    return [each for each in names if (own := terms(each)) and own <= asked and own != name]


def _of_row(row: Strip, question: str) -> list[str]:
    """The empty fields of a row that a question asks for."""
    asked = CellQuery.of(question)
    cells = [named_cell(cell) for cell in cells_of(row)]
    naming = {column for column, value in cells if asked.named_by(column, value)}
    told = {column for column, value in cells if not _EMPTY.fullmatch(value)}
    if not naming or any(_is_named(column, asked.words) for column in told - naming):
        return []
    columns = dict.fromkeys(
        column
        for other in strips_of(row.passage)
        if is_row(other) and _are_of_one_table(own := list(map(named_cell, cells_of(other))), cells)
        for column, _ in own
    )
    return [column for column in columns if column not in told and _is_named(column, asked.words)]


def _are_of_one_table(one: Sequence[tuple[str, str]], other: Sequence[tuple[str, str]]) -> bool:
    """Whether rows have the same first column, and another one in common."""
    shared = {column for column, _ in one} & {column for column, _ in other}
    return one[0][0] == other[0][0] != "" and len(shared) >= _MIN_COLUMNS


def _is_named(column: str, words: frozenset[str]) -> bool:
    """Whether a question has all words of the name of a column, or verbs of their stems: "owns", "Owner"."""
    parts = terms_within(column)
    return bool(parts) and all(any(part == word or is_akin(part, word) for word in words) for part in parts)


def _of_lines(text: str, question: str) -> list[str]:
    """The labels of lines without a value that a question names, if none of the same name has one."""
    asked = terms(question)
    fields = list(_fields(text))
    filled = {label.casefold() for label, value in fields if not _EMPTY.fullmatch(value)}
    return [
        label
        for label, value in fields
        if _EMPTY.fullmatch(value)
        and label.casefold() not in filled
        and (own := terms(label))
        and own <= asked
    ]


def _fields(text: str) -> Iterator[tuple[str, str]]:
    """The labels at the beginning of lines with their values; one without any must stand before another."""
    lines = [line for line in text.split("\n") if line.strip()]
    found = [_FIELD.match(line) for line in lines]
    for at, match in enumerate(found):
        if match is None:
            continue
        value = (match["value"] or "").strip()
        if value or (at + 1 < len(found) and found[at + 1] is not None):
            yield match["label"].strip(), value
