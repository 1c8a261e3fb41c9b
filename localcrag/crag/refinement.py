"""Knowledge refinement: passages are cut into strips, and the strips that help are kept.

It is section 4.4 of the CRAG paper (Yan et al. 2024, arXiv 2401.15884): decompose, filter, recompose. A
strip is one sentence, found by the Unicode-aware rules of ``sentencex``, or a window of several. It keeps
its span in the document's stored text, so that a citation points at the strip and not at the passage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from localcrag.types import Evidence, Passage, Strip

LIST_MARKER = re.compile(r"[\s#>*+•–-]*\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})?[.):]*")
"""The marker of a list item, which belongs to the sentence after it: "2.", "(a)", "-"."""
_BLOCK_BREAK = re.compile(r"(?<=\|)\n|\n(?=[ \t]*(?:\n|\||[-*+•]\s|\d{1,3}[.)]\s))")
_TABLE_ROW = re.compile(r"\S[^\n:]{0,99}: [^\n]* · [^\n]*")
"""A row of a table as it is stored, "Category: Motorcycle · Fee: 35 EUR", which is one sentence."""
_HEADING = re.compile(r"(?:\A|(?<=\n\n))#{1,6}[ \t]+[^\n]+")
WINDOW_SENTENCES = 3
"""The number of sentences in a window."""
MIN_STRIP_CHARACTERS = 20
"""The fewest characters of a strip; a shorter sentence ("See Fig. 3.") is joined to the one before it."""


def sentences(text: str) -> list[tuple[int, int]]:
    """The spans (start, end) of the sentences of a text, in order, without the white space around them.

    A row of a table and an item of a list are sentences of their own, with or without a full stop.
    """
    from sentencex import get_sentence_boundaries  # type: ignore[attr-defined]

    spans: list[tuple[int, int]] = []
    for origin, block in _blocks(text):
        row = block.strip()
        if _TABLE_ROW.fullmatch(row):
            start = origin + block.index(row)
            spans.append((start, start + len(row)))
            continue
        for boundary in get_sentence_boundaries("en", block):
            raw = block[boundary["start_index"] : boundary["end_index"]]
            body = raw.strip()
            if body:
                start = origin + boundary["start_index"] + raw.index(body[0])
                spans.append((start, start + len(body)))
    return spans


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """The text cut at blank lines, around rows of a table and before items of a list, each with its start."""
    start = 0
    for match in _BLOCK_BREAK.finditer(text):
        yield start, text[start : match.start()]
        start = match.start()
    yield start, text[start:]


def strips(passage: Passage) -> list[Strip]:
    """The sentences of a passage as strips with the score 0, in order; at least one if it has any text.

    A heading is no strip and no part of one, unless the passage has nothing else.
    """
    text = passage.text
    headings = _headings(text) if passage.heading else []
    spans: list[tuple[int, int]] = []
    for start, end in sentences(_blanked(text, headings)) or sentences(text):
        after_marker = bool(spans) and LIST_MARKER.fullmatch(text, *spans[-1]) is not None
        short = end - start < MIN_STRIP_CHARACTERS and not LIST_MARKER.fullmatch(text, start, end)
        apart = any(spans and spans[-1][1] <= heading < start for heading, _ in headings)
        if spans and (after_marker or short) and not apart:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [_strip(passage, start, end, 0.0) for start, end in spans]


def _headings(text: str) -> list[tuple[int, int]]:
    """The spans of the Markdown headings of a text that stand after a blank line and in no code."""
    return [m.span() for m in _HEADING.finditer(text) if text.count("```", 0, m.start()) % 2 == 0]


def _blanked(text: str, spans: Sequence[tuple[int, int]]) -> str:
    """The text with spaces in place of some spans; every other character keeps its place."""
    for start, end in spans:
        text = f"{text[:start]}{' ' * (end - start)}{text[end:]}"
    return text


def windows(passage: Passage, size: int = WINDOW_SENTENCES) -> list[Strip]:
    """A passage as strips of ``size`` consecutive sentences with the score 0; the last may have fewer."""
    cut, origin = strips(passage), passage.start
    groups = [cut[at : at + size] for at in range(0, len(cut), size)]
    return [_strip(passage, group[0].start - origin, group[-1].end - origin, 0.0) for group in groups]


def whole(passage: Passage, score: float) -> Strip:
    """A whole passage as a single strip with the given score."""
    return _strip(passage, 0, len(passage.text), score)


def refine(
    cut: Sequence[Strip], scores: Sequence[float], *, limit: int, floor: float, keep_best: bool
) -> tuple[list[Strip], int]:
    """Filter strips by their scores (CRAG, section 4.4).

    Args:
        cut: the strips of the relevant passages.
        scores: P(the strip helps) of each strip.
        limit: the most strips that are kept.
        floor: the probability that a kept strip must reach.
        keep_best: whether the best strip is kept even if it does not reach the floor, since its passage was
            judged to help.

    Returns:
        The kept strips in their given order, with their scores, and the number of dropped strips.
    """
    judged = [replace(strip, score=score) for strip, score in zip(cut, scores, strict=True)]
    best = sorted(range(len(judged)), key=lambda i: -judged[i].score)[:limit]
    kept = [judged[i] for i in sorted(best) if judged[i].score >= floor or (keep_best and i == best[0])]
    return kept, len(judged) - len(kept)


def joined(kept: Sequence[Strip]) -> list[Strip]:
    """The strips, with adjacent strips of one passage merged into one that has the higher score."""
    merged: list[Strip] = []
    for _, group in groupby(kept, key=lambda strip: strip.passage.id):
        for strip in sorted(group, key=lambda strip: strip.start):
            last = merged[-1] if merged else None
            if last and last.passage.id == strip.passage.id and not _text_between(last, strip).strip():
                start = last.start - last.passage.start
                merged[-1] = _strip(
                    strip.passage, start, strip.end - strip.passage.start, max(last.score, strip.score)
                )
            else:
                merged.append(strip)
    return merged


def numbered(kept: Sequence[Strip]) -> list[Evidence]:
    """The strips as evidence, with keys from 1."""
    return [Evidence(key, strip) for key, strip in enumerate(kept, 1)]


def _text_between(first: Strip, second: Strip) -> str:
    """The text between two strips of the same passage."""
    origin = first.passage.start
    return first.passage.text[first.end - origin : second.start - origin]


def _strip(passage: Passage, start: int, end: int, score: float) -> Strip:
    """A strip from offsets into the text of its passage."""
    return Strip(passage, passage.start + start, passage.start + end, passage.text[start:end], score)
