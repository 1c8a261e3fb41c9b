"""The row of a table that has the very words of the question.

"Which code stands for *the day of the year*?" is answered by the row "%j · The day of the year", although a
judge may find "%D · The date using the format" more probable. One run of words in common says more than
single ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.crag.questions.query_terms import STOP_WORDS, WORD_PATTERN, folded
from localcrag.crag.questions.word_runs import longest_run, places_of
from localcrag.crag.refinement.knowledge_strips import span, strip_at, strips
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import cells_of, column_names, is_row, named_cell
from localcrag.types import Strip

MIN_WORDS, MIN_TELLING_WORDS = 3, 2
"""The fewest words of such a run, and of these the fewest that are no stop words."""
MIN_MORE_WORDS = 2
"""How many words more its run has than those of the rows that were found in its place."""
MAX_ROWS = 200
"""The most rows of a passage that are compared."""


def with_phrase_row(kept: Sequence[Strip], question: str) -> list[Strip]:
    """The strips; in the place of the rows of a table, the one that alone has a run of words of the question.

    Args:
        kept: the strips that were found.
        question: the question.
    """
    rows = [strip for strip in kept if is_row(strip)]
    best = best_strip(rows)
    if best is None:
        return list(kept)
    asked = _words(question)
    columns = column_names(best)
    beside = [row for row in strips(best.passage) if is_row(row) and column_names(row) == columns][:MAX_ROWS]
    runs = [(_longest_run(asked, row), row) for row in beside]
    longest, phrase = max(runs, key=lambda each: each[0], default=(0, best))
    is_alone = all(run < longest for run, row in runs if row is not phrase)
    replaced = [row for row in rows if row.passage.id == best.passage.id and column_names(row) == columns]
    if not longest or not is_alone or span(phrase) in map(span, replaced):
        return list(kept)
    if any(_longest_run(asked, row) > longest - MIN_MORE_WORDS for row in replaced):
        return list(kept)
    at = list(kept).index(replaced[0])
    left = [strip for strip in kept if strip not in replaced]
    return [*left[:at], strip_at(phrase.passage, phrase.start, phrase.end, best.score), *left[at:]]


def _longest_run(asked: Sequence[str], row: Strip) -> int:
    """The number of words of the longest run that a cell shares with the question; 0 if it tells little."""
    return max((_run(asked, _words(named_cell(cell)[1])) for cell in cells_of(row)), default=0)


def _run(asked: Sequence[str], words: Sequence[str]) -> int:
    places, best = places_of(asked), 0
    for at in range(len(words)):
        length, start = longest_run(asked, places, words, at)
        if length > best and _tells(asked[start : start + length]):
            best = length
    return best


def _tells(run: Sequence[str]) -> bool:
    return len(run) >= MIN_WORDS and sum(word not in STOP_WORDS for word in run) >= MIN_TELLING_WORDS


def _words(text: str) -> list[str]:
    return [folded(word) for word in WORD_PATTERN.findall(text)]
