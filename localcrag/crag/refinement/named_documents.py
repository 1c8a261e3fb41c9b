"""Of rows that begin alike in several documents, those of the document that a question names answer.

The manuals of a dryer and of a washing machine both have the code E31, and "E31 on the dryer" asks for one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import begin_alike, is_row
from localcrag.types import Strip

_BREAK = re.compile(r"[\W_]+")
"""What parts the words of a file name."""


def of_named_document(kept: Sequence[Strip], question: str) -> list[Strip]:
    """The strips without the best one, if it is a row which a document that the question names has as well.

    That is one with the same value in its first cell, of another document, whose title or file name has all
    terms of the question that those of the best one's have, and more.

    Args:
        kept: the strips that were kept, with their probabilities as scores.
        question: the question.
    """
    best = best_strip(kept)
    if best is None or not is_row(best):
        return list(kept)
    named = _named_by(question, best)
    others = (strip for strip in kept if strip.passage.document != best.passage.document and is_row(strip))
    if not any(begin_alike(strip, best) and _named_by(question, strip) > named for strip in others):
        return list(kept)
    return of_named_document([strip for strip in kept if strip is not best], question)


def _named_by(question: str, row: Strip) -> set[str]:
    """The terms of a question that the title or the file name of a row's document has, and not the row."""
    document = _BREAK.sub(" ", f"{row.passage.title} {PurePath(row.passage.source).stem}")
    return (terms(question) & terms(document)) - terms(row.text)
