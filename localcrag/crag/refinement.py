"""Knowledge refinement: passages are cut into strips, and the strips that help are kept.

Section 4.4 of the CRAG paper (arXiv 2401.15884): decompose, filter, recompose. A strip is one
sentence, found by the Unicode-aware rules of ``sentencex``, or a window of a few; it keeps its span
in the document's stored text, so that a citation points at the strip and not at the passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from localcrag.types import Evidence, Passage, Strip

LIST_MARKER = re.compile(r"[\s#>*+•–-]*\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})?[.):]*")
"""What begins an item of a list, and belongs to the sentence after it: "2.", "(a)", "-"."""
_ITEM = re.compile(r"(?<=\|)\n|\n(?=[ \t]*(?:\||[-*+•]\s|\d{1,3}[.)]\s))")
WINDOW_SENTENCES = 3
"""Sentences of a window."""
MIN_STRIP_CHARACTERS = 20
"""Characters; a shorter sentence ("See Fig. 3.") is judged together with the one before it."""


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences of a text, without the white space around them.

    A row of a table and an item of a list stand for themselves, ended by a full stop or not.
    """
    from sentencex import get_sentence_boundaries  # type: ignore[attr-defined]

    spans: list[tuple[int, int]] = []
    for origin, block in _blocks(text):
        for boundary in get_sentence_boundaries("en", block):
            raw = block[boundary["start_index"] : boundary["end_index"]]
            body = raw.strip()
            if body:
                start = origin + boundary["start_index"] + raw.index(body[0])
                spans.append((start, start + len(body)))
    return spans


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """The text cut around every row of a table and before every item of a list, each piece with its start."""
    start = 0
    for match in _ITEM.finditer(text):
        yield start, text[start : match.start()]
        start = match.start()
    yield start, text[start:]


def strips(passage: Passage) -> list[Strip]:
    """A passage as sentence strips, in order; one strip at least for a passage with any text."""
    text = passage.text
    spans: list[tuple[int, int]] = []
    for start, end in sentences(text):
        after_marker = bool(spans) and LIST_MARKER.fullmatch(text, *spans[-1]) is not None
        short = end - start < MIN_STRIP_CHARACTERS and not LIST_MARKER.fullmatch(text, start, end)
        if spans and (after_marker or short):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [_strip(passage, start, end, 0.0) for start, end in spans]


def windows(passage: Passage, size: int = WINDOW_SENTENCES) -> list[Strip]:
    """A passage as strips of ``size`` sentences that follow each other, the last one shorter."""
    cut, origin = strips(passage), passage.start
    groups = [cut[at : at + size] for at in range(0, len(cut), size)]
    return [_strip(passage, group[0].start - origin, group[-1].end - origin, 0.0) for group in groups]


def whole(passage: Passage, score: float) -> Strip:
    """A passage as a single strip."""
    return _strip(passage, 0, len(passage.text), score)


def refine(
    cut: Sequence[Strip], scores: Sequence[float], *, limit: int, floor: float
) -> tuple[list[Strip], int]:
    """The best ``limit`` strips with P ≥ ``floor``, and how many were dropped.

    Where no strip reaches the floor, the best one alone is kept: its passage was held to help. The
    strips stay in their order.
    """
    judged = [replace(strip, score=score) for strip, score in zip(cut, scores, strict=True)]
    best = sorted(range(len(judged)), key=lambda i: -judged[i].score)[:limit]
    kept = [judged[i] for i in sorted(best) if judged[i].score >= floor or i == best[0]]
    return kept, len(judged) - len(kept)


def joined(kept: Sequence[Strip]) -> list[Strip]:
    """Strips that follow each other in one passage become one, with the higher score of the two."""
    merged: list[Strip] = []
    for _, group in groupby(kept, key=lambda strip: strip.passage.id):
        for strip in sorted(group, key=lambda strip: strip.start):
            last = merged[-1] if merged else None
            if last and last.passage.id == strip.passage.id and not _between(last, strip).strip():
                start = last.start - last.passage.start
                merged[-1] = _strip(
                    strip.passage, start, strip.end - strip.passage.start, max(last.score, strip.score)
                )
            else:
                merged.append(strip)
    return merged


def numbered(kept: Sequence[Strip]) -> list[Evidence]:
    """Strips as evidence, keyed from 1."""
    return [Evidence(key, strip) for key, strip in enumerate(kept, 1)]


def _between(first: Strip, second: Strip) -> str:
    origin = first.passage.start
    return first.passage.text[first.end - origin : second.start - origin]


def _strip(passage: Passage, start: int, end: int, score: float) -> Strip:
    """A strip from offsets into the passage's own text."""
    return Strip(passage, passage.start + start, passage.start + end, passage.text[start:end], score)
