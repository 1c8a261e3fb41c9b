"""The names of a question that its best evidence does not tell of, though other evidence does.

"How long is the guarantee of Weber?" is not told by the offer of another bidder, and "how much atropine for
20 kilos?" not by the row of another medicine, which to a judge of relevance look just like it. A name that no
document has is no reason for doubt: the question may call it otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.knowledge_strips import strips_of_block
from localcrag.crag.refinement.strip_context import judged_text
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import column_names, first_cell, is_row
from localcrag.types import BlockKind, Passage, Strip

_NAME = re.compile(r"(?<=[\w,;:'’)] )[A-ZÀ-Þ][\w'’-]+")
"""A word with a capital letter within a sentence."""
_NAME_IN_CODE = re.compile(r"(?<![\w-])[^\W\d_]\w*_\w+(?![\w-])")
"""A name as programs have it: "living_street"."""
_JOINER = re.compile(r"[-_/.]")
MIN_LETTERS = 4
"""The fewest letters of a word that names another row."""


def names_told_elsewhere(question: str, kept: Sequence[Strip]) -> list[str]:
    """The names of a question that only strips of other documents than the best strip's have, in order.

    A strip is read with its passage, its title, the fields of its document and its source.

    Args:
        question: the question.
        kept: the strips that may be shown, with their probabilities as scores.
    """
    best = best_strip(kept)
    names = _NAME.findall(question)
    if best is None or not names:
        return []
    source = best.passage.source
    others = set[str]().union(*(_terms_around(strip) for strip in kept if strip.passage.source != source))
    told = _terms_around(best)
    return [name for name in names if (own := terms(name)) and own <= others and not own <= told]


def name_in_code_elsewhere(question: str, kept: Sequence[Strip], seen: Sequence[Passage]) -> bool:
    """Whether a question has a name such as "living_street" that another passage has, and no strip shown.

    A strip is read with its headings.

    Args:
        question: the question.
        kept: the strips that may be shown.
        seen: the passages that were graded.
    """
    names = _NAME_IN_CODE.findall(question)
    told = " ".join(map(judged_text, kept))
    return any(name not in told and any(name in passage.text for passage in seen) for name in names)


def names_other_row(question: str, kept: Sequence[Strip], seen: Sequence[Passage]) -> bool:
    """Whether the best strip is a row, and a question names another row that was found, not that one.

    A row is named by the value of its first column, in whatever letters; a number names none. One of the
    same table, or all that are called the same, is named by a word of it that nothing about the best strip
    has, if the name of that has no more words of the question: "spaying a dog" by "Spay bitch", beside
    "Castration dog".

    Args:
        question: the question.
        kept: the strips that may be shown, with their probabilities as scores.
        seen: the passages that were graded.
    """
    best = best_strip(kept)
    if best is None or not is_row(best):
        return False
    asked, own = terms(question), terms(f"{judged_text(best)} {best.passage.title}")
    rows = [(row, terms(first_cell(row)[1])) for row in _named_rows(seen)]
    if any(label and label <= asked and not label & own for _, label in rows):
        return True
    source, columns = best.passage.source, column_names(best)
    beside = [each for row, each in rows if row.passage.source == source and column_names(row) == columns]
    unsaid = {word for word in asked - own if len(word) >= MIN_LETTERS}
    named = [label for label in beside if label & unsaid]
    said = terms(first_cell(best)[1]) & asked
    return len(set(map(frozenset, named))) == 1 and len(named[0] & asked) >= len(said)


def _named_rows(passages: Sequence[Passage]) -> Iterator[Strip]:
    """The rows whose first cell is no number."""
    for passage in passages:
        for block in passage.blocks:
            rows = strips_of_block(passage, block) if block.kind is BlockKind.ROW else []
            yield from (row for row in rows[:1] if first_cell(row)[1][:1].isalpha())


def _terms_around(strip: Strip) -> set[str]:
    """The terms of a strip and of all that it is read with."""
    passage = strip.passage
    fields = " ".join(map(str, passage.meta.values()))
    text = f"{judged_text(strip)} {passage.text} {passage.source} {fields}"
    return terms(text) | terms(_JOINER.sub(" ", text))
