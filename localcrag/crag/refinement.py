"""Knowledge refinement: passages are cut into strips, and the strips that help are kept.

It is section 4.4 of the CRAG paper (Yan et al. 2024, arXiv 2401.15884): decompose, filter, recompose. A
strip is one sentence within a block (a paragraph, an item of a list), found by the rules that ``sentencex``
has for the language of the passage, or a row of a table, a piece of code, or a window of several. It keeps
its span in the document's stored text, so that a citation points at the strip and not at the passage.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from localcrag.crag.query_terms import terms
from localcrag.crag.readable_names import in_words, without_prefix
from localcrag.crag.strip_spans import LIST_MARKER, section_of, spans_of_block, spans_of_passage
from localcrag.labelled_lines import flowing, line_ends
from localcrag.types import CELL_SEPARATOR, HEADING_SEPARATOR, Block, BlockKind, Evidence, Passage, Strip

BULLET = "• "
"""What stands before the items of a list that are shown together."""
_MARKERS_BEFORE = re.compile(r"^(?:(?:[•◦▪▫‣⁃·∙●○■□➢►✓*+–—-]|\|)\s+)+")
_SEPARATORS_BEHIND = re.compile(r"(?:\s*[·|¦•]|(?<![:\s])\s+[–—/>-])+$|(?<=\w)\s*[,;]$")
_UNSPOKEN = frozenset({BlockKind.ROW, BlockKind.CODE})
_LED_TO = frozenset({BlockKind.CODE, BlockKind.ITEM})
_ANSWERS = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM})
"""The kinds of block in which questions of a document are asked and answered."""
_SENTENCE_GAP = re.compile(r"(?<=[.!?:])\s+")
MAX_QUESTION_CHARACTERS = 200
"""The longest question of a document that is read with its answer."""
_TERM = re.compile(r"[^\n:!?\"“]{1,60}:\s+\S")
"""How an item begins that is a term with its definition, or an option with what it does."""
MAX_COMPLETED_CHARACTERS = 320
"""The longest paragraph that is quoted in whole where one of its sentences answers."""
_REFERRING = re.compile(
    r"(?:This|That|These|Those|It|They|He|She|Such|Both|Then|Otherwise|Instead|However|Sonst|Dies\w*|Dann|Sinon"
    r"|Cela|Alors|Ils?|Elles?)\b"
)
"""How a sentence begins that refers to the one before."""
MAX_LED_TO = 8
"""The most items of a list, or pieces of code, that are shown since a sentence leads to them."""
STANDING_OUT_RATIO = 5.0
"""How many times the probability of the next strip one must have to stand out."""
WORDED_RATIO = 2.5
"""The same for a strip that has a word of the question which no other strip has."""
WINDOW_SENTENCES = 3
"""The number of sentences in a window."""
MIN_LEAD_WORDS = 4
"""The fewest words of what leads in to a list if it is shown above another item than the first: "You need:"
says nothing without the whole list, "The following is not covered:" does."""
_QUESTION_MARKS = ("?", "？", "؟")
_SENTENCE_ENDS = (*_QUESTION_MARKS, ".", "!", ":", "…", "。", "！", "：")
_CLOSING_QUOTES = "\"'”’»)]"


def strips(passage: Passage) -> list[Strip]:
    """The strips of a passage with the score 0, in order; see :mod:`.strip_spans` for where they are cut."""
    return [_strip(passage, *span, 0.0) for span in spans_of_passage(passage)]


def statements(passage: Passage) -> list[Strip]:
    """The strips of a passage that are no questions.

    A question in a document may be much like the one that is asked, and answers nothing.
    """
    return [strip for strip in strips(passage) if not _is_question(strip.text)]


def _is_question(text: str) -> bool:
    return text.rstrip().rstrip(_CLOSING_QUOTES).endswith(_QUESTION_MARKS)


def says_more(strip: Strip, question: str) -> bool:
    """Whether a strip says more than the question does, as a mere name that has only its words does not."""
    words = terms(strip.text)
    is_sentence = strip.text.rstrip().rstrip(_CLOSING_QUOTES).endswith(_SENTENCE_ENDS)
    return is_sentence or not words or not words <= terms(question) or is_row(strip) or is_code(strip)


def is_row(strip: Strip) -> bool:
    """Whether a strip is a row of a table."""
    return any(
        block.kind is BlockKind.ROW and (block.start, block.end) == (strip.start, strip.end)
        for block in strip.passage.blocks
    )


def is_code(strip: Strip) -> bool:
    """Whether a strip is code, or a setting of a file of settings."""
    return any(
        block.kind is BlockKind.CODE and block.start <= strip.start < block.end
        for block in strip.passage.blocks
    )


def prose_of(passage: Passage) -> str:
    """The text of a passage without rows of tables and code, whose names and values are of no language."""
    if not passage.blocks:
        return passage.text
    spoken = (block for block in passage.blocks if block.kind not in _UNSPOKEN)
    return "\n".join(
        passage.text[block.start - passage.start : block.end - passage.start] for block in spoken
    )


def lead_in(strip: Strip) -> Strip | None:
    """What leads in to an item of a list, "You need:", or what a later sentence of an item is about.

    The latter is the item's first sentence, with its term: "adm: A group for watching the system." None if
    the strip is no item, or nothing leads in to it.
    """
    blocks = strip.passage.blocks
    at = bisect_right([block.start for block in blocks], strip.start) - 1
    if at < 0 or blocks[at].kind is not BlockKind.ITEM:
        return None
    start, end = next(spans_of_block(strip.passage, blocks[at]), (0, 0))
    first = _strip(strip.passage, start, end, strip.score)
    if first.end <= strip.start and _TERM.match(first.text):
        return first
    while at >= 0 and blocks[at].kind is BlockKind.ITEM:
        at -= 1
    if at < 0 or blocks[at].kind is not BlockKind.PARAGRAPH:
        return None
    *_, (start, end) = spans_of_block(strip.passage, blocks[at])
    found = _strip(strip.passage, start, end, strip.score)
    return found if found.text.endswith((":", "：")) else None


def led_to(strip: Strip) -> list[Strip]:
    """The code, or the items of a list, that a sentence leads to by its colon; none if it leads to nothing.

    They stand directly below it in its passage. Of long ones it is the first ``MAX_LED_TO``.
    """
    if not strip.text.rstrip().endswith((":", "：")):
        return []
    blocks = strip.passage.blocks
    at = bisect_right([block.start for block in blocks], strip.start)
    if at == len(blocks) or blocks[at - 1].end > strip.end or blocks[at].kind not in _LED_TO:
        return []
    kind, found = blocks[at].kind, list[Strip]()
    for block in blocks[at:]:
        if block.kind is not kind or len(found) == MAX_LED_TO:
            break
        origin = strip.passage.start
        found.append(_strip(strip.passage, block.start - origin, block.end - origin, strip.score))
    return found


def with_surroundings(kept: Iterable[Strip]) -> list[Strip]:
    """The strips, each span once, with what leads in to them and what they lead to.

    What leads in to a list stands before the first item of it that was kept, unless it is a mere name above
    other items; the code or the list that a sentence leads to stands after it, unless some of it was kept
    itself.
    """
    given = list(kept)
    places = set(map(span, given))
    result: dict[tuple[str, int, int], Strip] = {}
    for strip in given:
        led = led_to(strip)
        lead = lead_in(strip)
        if lead and len(lead.text.split()) < MIN_LEAD_WORDS and _text_between(lead, strip).strip():
            lead = None
        for each in (lead, strip, *([] if places & set(map(span, led)) else led)):
            if each is not None:
                result.setdefault(span(each), each)
    return list(result.values())


def completed(picked: Sequence[Strip], sure: float = 1.0) -> list[Strip]:
    """The strips, the most probable one with the rest of its short paragraph or item, unless it is sure.

    ``sure`` is the probability from which on a strip surely answers by itself. What follows a sentence often
    has what it only leads up to ("It had the number 41"). A sentence of a long paragraph that refers to the
    one before ("This also …") stands after it.
    """
    if not picked:
        return []
    best = max(picked, key=lambda strip: strip.score)
    made = [_completed(strip, is_whole=strip is best and best.score < sure) for strip in picked]
    return [strip for strip in made if not any(_is_part(strip, other) for other in made)]


def _is_part(strip: Strip, other: Strip) -> bool:
    """Whether a strip is a part of another, and not all of it."""
    within = other.start <= strip.start and strip.end <= other.end
    return within and strip.passage.id == other.passage.id and span(strip) != span(other)


def _completed(strip: Strip, *, is_whole: bool) -> Strip:
    passage, origin = strip.passage, strip.passage.start
    within = [b for b in passage.blocks if b.start <= strip.start and strip.end <= b.end]
    if not within or within[0].kind not in _ANSWERS:
        return strip
    block = within[0]
    text = passage.text[block.start - origin : block.end - origin]
    if is_whole and len(text) <= MAX_COMPLETED_CHARACTERS and not line_ends(text):
        kept = list(spans_of_block(passage, block))
        start, end = (kept[0][0], kept[-1][1]) if kept else (strip.start - origin, strip.end - origin)
        return _strip(passage, start, end, strip.score)
    if _REFERRING.match(strip.text):
        before = [start for start, end in spans_of_block(passage, block) if end <= strip.start - origin]
        if before and strip.end - origin - before[-1] <= MAX_COMPLETED_CHARACTERS:
            return _strip(passage, before[-1], strip.end - origin, strip.score)
    return strip


def span(strip: Strip) -> tuple[str, int, int]:
    """The place of a strip: the id of its passage, and its start and end."""
    return strip.passage.id, strip.start, strip.end


def in_context(strip: Strip) -> str:
    """The text of a strip below its headings, after what leads in to it.

    An item of a list stands after its sentence, an answer after its question, a setting below the line above
    its section.
    """
    lead, headings = lead_in(strip), headings_above(strip)
    before = lead.text if lead else _question_before(strip)
    text = f"{before} {strip.text}" if before else strip.text
    section = section_of(strip.passage, strip.start - strip.passage.start) if is_code(strip) else ""
    return "\n".join(filter(None, (headings, section, text)))


def _question_before(strip: Strip) -> str:
    """The question of the document that stands directly before a strip, in its block or as the one above.

    Of a row it is the one above its table.

    "Not by itself." says what it means only below "Does it open archives?". "" if there is none.
    """
    blocks, text, origin = strip.passage.blocks, strip.passage.text, strip.passage.start
    at = bisect_right([block.start for block in blocks], strip.start) - 1
    while at > 0 and blocks[at].kind is BlockKind.ROW and blocks[at - 1].kind is BlockKind.ROW:
        at -= 1
    if at < 0 or blocks[at].kind not in _ANSWERS | {BlockKind.ROW}:
        return ""
    if blocks[at].start == strip.start or blocks[at].kind is BlockKind.ROW:
        at -= 1
        if at < 0 or blocks[at].kind not in _ANSWERS:
            return ""
    block = blocks[at]
    *_, before = _SENTENCE_GAP.split(
        text[block.start - origin : min(block.end, strip.start) - origin].strip()
    )
    asked = " ".join(before.split())
    return asked if asked.endswith(_QUESTION_MARKS) and len(asked) <= MAX_QUESTION_CHARACTERS else ""


def judged_text(strip: Strip) -> str:
    """A strip in its context, below the title of its document, as the evaluator reads it (names in words)."""
    text = in_context(strip)
    return strip.passage.below_title(in_words(text) if is_row(strip) or is_code(strip) else text)


def headings_above(strip: Strip) -> str:
    """The path of the headings of its passage that a strip stands below; those above the passage if none."""
    passage = strip.passage
    path: list[Block] = []
    for block in passage.blocks:
        if block.kind is BlockKind.HEADING and block.end <= strip.start:
            path = [heading for heading in path if heading.level < block.level] + [block]
    origin = passage.start
    found = HEADING_SEPARATOR.join(
        " ".join(passage.text[b.start - origin : b.end - origin].split()) for b in path
    )
    return found or passage.heading


def shown_lines(strip: Strip) -> list[tuple[str, bool]]:
    """The lines in which a strip is shown, each with whether it is code.

    Prose is one line without a marker in front or a separator at its end; lines that stand for themselves, as
    the entries of a log, stay lines; items of a list that are shown
    together have markers. A row is shown as it is: a dash at its end is the value of its last cell.
    """
    origin = strip.passage.start
    within = [b for b in strip.passage.blocks if b.start < strip.end and strip.start < b.end]
    lines: list[tuple[str, bool]] = []
    for block in within:
        start, end = max(block.start, strip.start) - origin, min(block.end, strip.end) - origin
        text = strip.passage.text[start:end]
        if block.kind is BlockKind.CODE:
            lines += [(line, True) for line in text.strip("\n").split("\n")]
        elif block.kind is BlockKind.ROW:
            cells = (" ".join(line.split()) for line in without_prefix(text).split("\n"))
            lines.append((CELL_SEPARATOR.join(filter(None, cells)).strip(CELL_SEPARATOR), False))
        else:
            marker = BULLET if block.kind is BlockKind.ITEM and len(within) > 1 else ""
            first, *more = map(_tidy, flowing(text).split("\n"))
            lines += [(marker + first, False), *((line, False) for line in more)]
    return [line for line in lines if line[0].strip() or line[1]] or [(_tidy(strip.text), False)]


def _tidy(text: str) -> str:
    """Prose in one line, without the marker of a list in front of it and a separator behind it."""
    flat = " ".join(text.split())
    return _SEPARATORS_BEHIND.sub("", _MARKERS_BEFORE.sub("", flat)) or flat


def shown_text(strip: Strip) -> str:
    """A strip as it is shown: prose in one line, lines of code and items of a list below each other."""
    return "\n".join(line for line, _ in shown_lines(strip))


def before_mark(strip: Strip) -> str:
    """A strip as it is shown before its citation, which stands on a line of its own behind code."""
    lines = shown_lines(strip)
    return "\n".join(line for line, _ in lines) + ("\n" if lines[-1][1] else " ")


def windows(passage: Passage, size: int = WINDOW_SENTENCES) -> list[Strip]:
    """A passage as strips of ``size`` consecutive sentences with the score 0, all below the same heading.

    The last below a heading may have fewer, and so may one that would end with a question of the document.
    The settings of a window are of one block, and rows of tables are no window with other text.
    """
    origin = passage.start
    made = []
    for _, below in groupby(strips(passage), key=_together):
        cut = list(below)
        for at in range(0, len(cut), size):
            group = cut[at : at + size]
            while len(group) > 1 and _is_question(group[-1].text):
                group.pop()
            made.append(_strip(passage, group[0].start - origin, group[-1].end - origin, 0.0))
    return made


def _together(strip: Strip) -> tuple[str, bool, int]:
    """What strips have in common that may stand in one window: headings, being rows, the block of code."""
    within = (block.start for block in strip.passage.blocks if block.start <= strip.start < block.end)
    return headings_above(strip), is_row(strip), next(within, 0) if is_code(strip) else 0


def narrowed(window: Strip, question: str) -> list[Strip]:
    """The rows of a window that have most of the question's terms in their cells; other windows as they are.

    What helps of several rows is one of them; a window without any such term is left as it is.
    """
    origin = window.passage.start
    rows = [
        _strip(window.passage, block.start - origin, block.end - origin, window.score)
        for block in window.passage.blocks
        if block.kind is BlockKind.ROW and window.start <= block.start and block.end <= window.end
    ]
    if len(rows) < 2:
        return [window]
    held = [terms(row.text) for row in rows]
    common = set.intersection(*held)
    asked = terms(question) - common
    shared = [len(each & asked) for each in held]
    most = max(shared)
    return [row for row, count in zip(rows, shared, strict=True) if count == most] if most else [window]


def whole(passage: Passage, score: float) -> Strip:
    """A whole passage as a single strip with the given score."""
    return _strip(passage, 0, len(passage.text), score)


def wholes(passage: Passage) -> list[Strip]:
    """A passage as a single strip with the score 0; none if all its blocks are headings or furniture."""
    return [whole(passage, 0.0)] if strips(passage) else []


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


def standing_out(cut: Sequence[Strip], scores: Sequence[float], question: str = "") -> list[Strip]:
    """The most probable of several strips, with its score, if it stands out from the others; else none.

    It need stand out less if it alone has a word of the ``question``.

    A judge that doubts a text in other words than the question's still ranks its parts. Of 18 questions about
    mixed documents that were not answered though a document does, ten had the answer in a window that stands
    out, and none a wrong one; of 27 that none answers, one had such a window.
    """
    ranked = sorted(zip(scores, cut, strict=True), key=lambda pair: -pair[0])
    if not ranked:
        return []
    (score, best), *others = ranked
    elsewhere = set[str]().union(*(terms(in_context(strip)) for _, strip in others))
    ratio = WORDED_RATIO if terms(question) & terms(best.text) - elsewhere else STANDING_OUT_RATIO
    if others and score < ratio * others[0][0]:
        return []
    return [replace(best, score=score)]


def joined(kept: Sequence[Strip]) -> list[Strip]:
    """The strips, with adjacent ones of a passage merged, at the higher score; rows of tables stay apart."""
    merged: list[Strip] = []
    for _, group in groupby(kept, key=lambda strip: strip.passage.id):
        for strip in sorted(group, key=lambda strip: strip.start):
            last = merged[-1] if merged and not is_row(strip) else None
            if (
                last
                and not is_row(last)
                and last.passage.id == strip.passage.id
                and not _text_between(last, strip).strip()
            ):
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
    """The text between two strips of the same passage, without the markers of list items."""
    origin = first.passage.start
    between = first.passage.text[first.end - origin : second.start - origin]
    return between if LIST_MARKER.fullmatch(between) is None or not second.passage.blocks else ""


def _strip(passage: Passage, start: int, end: int, score: float) -> Strip:
    """A strip from offsets into the text of its passage."""
    return Strip(passage, passage.start + start, passage.start + end, passage.text[start:end], score)
