"""Excerpts: the words of a text that answer, and the part of a long text around them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate

MAX_SHOWN_CHARACTERS = 400
"""The most characters of a quotation that a terminal shows; a longer one is shortened."""
MAX_CLAUSE_CHARACTERS = 120
"""The characters from which on a clause is divided between words."""
BEST_SENTENCE_WEIGHT = 100
"""The weight of the sentence that was judged best, in words of the question."""
_BORDER = re.compile(
    r"(?P<sentence>\n+|(?<=[.!?…])[\"”’')\]]{0,3}\s+|(?<=[。！？])[」』”）]?)"
    r"|(?<=[,;:–—·])\s+|(?<=[，、；：])"
)
_LINE_BORDER = re.compile(r"(?P<sentence>\n+)")
Span = tuple[int, int]
"""The start and the end of a part of a text, in characters."""


def term_spans(text: str, question: str) -> list[Span]:
    """The places of the question's content words in a text, compared by their stems."""
    from localcrag.crag.questions.query_terms import WORD_PATTERN, stem, terms

    asked = terms(question)
    pairs = [term for term in asked if not term.isascii() and len(term) <= 2]
    found = [word.span() for word in WORD_PATTERN.finditer(text) if stem(word[0]) in asked]
    for pair in pairs:
        found += [match.span() for match in re.finditer(re.escape(pair), text)]
    return merged_spans(found)


def merged_spans(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, with those that touch or overlap made one."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def excerpt(
    text: str,
    marked: Sequence[Span],
    best: Span | None = None,
    *,
    most: int = MAX_SHOWN_CHARACTERS,
    whole_lines: bool = False,
) -> Span:
    """The part of a long text that has most of the words that answer, cut between sentences or clauses.

    It begins with the first sentence that has such words, or with the text if none has.

    Args:
        text: the text, of which all is returned if it is short.
        marked: the places of the words that answer.
        best: the place of the sentence that was judged best.
        most: the most characters of the part.
        whole_lines: whether it is cut only between lines, as code is.
    """
    if len(text) <= most:
        return 0, len(text)
    units = list(_units(text, _LINE_BORDER if whole_lines else _BORDER, divided=not whole_lines))
    starts, ends = [unit[0] for unit in units], [unit[1] for unit in units]
    weights = [_weight(units[at][:2], marked, best) for at in range(len(units))]
    sums = [0, *accumulate(weights)]
    opens = [True, *(unit[2] for unit in units)]
    chosen, highest = (0, 0), (-1, False, False, 0)
    last = 0
    for first in range(len(units)):
        last = max(last, first)
        while last + 1 < len(units) and ends[last + 1] - starts[first] <= most:
            last += 1
        kept = last
        while kept > first and not units[kept][2] and not weights[kept]:
            kept -= 1
        value = sums[last + 1] - sums[first]
        rank = (value, opens[first], units[kept][2], first if value else -first)
        if rank > highest:
            chosen, highest = (first, kept), rank
    return starts[chosen[0]], ends[chosen[1]]


def _units(text: str, border: re.Pattern[str], *, divided: bool) -> Iterator[tuple[int, int, bool]]:
    """The clauses of a text: start, end, and whether the end is one of a sentence."""
    start = 0
    for found in border.finditer(text):
        end = found.start() + len(found[0].rstrip())
        yield from _divided(text, start, end, found["sentence"] is not None, divided)
        start = found.end()
    yield from _divided(text, start, len(text), True, divided)


def _divided(text: str, start: int, end: int, closes: bool, divided: bool) -> Iterator[tuple[int, int, bool]]:
    """A clause, and if it is long and may be divided, its parts between words."""
    while divided and end - start > MAX_CLAUSE_CHARACTERS:
        at = text.rfind(" ", start + 1, start + MAX_CLAUSE_CHARACTERS)
        cut = at if at > start else start + MAX_CLAUSE_CHARACTERS
        yield start, cut, False
        start = cut + (at > start)
    if end > start:
        yield start, end, closes


def _weight(unit: Span, marked: Sequence[Span], best: Span | None) -> int:
    """The words that answer in a unit, with those of the best sentence counted more."""
    start, end = unit
    low, high = bisect_left(marked, (start, 0)), bisect_left(marked, (end, 0))
    in_best = best is not None and start < best[1] and best[0] < end
    return high - low + (BEST_SENTENCE_WEIGHT if in_best else 0)
