"""Where the strips of a text begin and end: sentences within blocks, and lines with labels.

A sentence is found by the rules that ``sentencex`` has for the language of the text. What people and programs
write in lines ("Apologies: Sven Malloy", an entry of a log) is cut at the lines; settings are cut by
:mod:`.setting_spans`, and :mod:`localcrag.chat_exchanges` joins the lines of a chat that belong together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from localcrag.chat_exchanges import is_chat_line, with_exchanges
from localcrag.crag.refinement.setting_spans import spans_of_code
from localcrag.labelled_lines import LABEL, LEADERS, line_ends
from localcrag.languages import ENGLISH, language_of, other_than_english, reading_width
from localcrag.types import Block, BlockKind, Passage

LIST_MARKER = re.compile(r"[\s#>*+•–-]*\(?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})?[.):]*")
"""The marker of a list item, which belongs to the sentence after it: "2.", "(a)", "-"."""
_BLOCK_BREAK = re.compile(r"(?<=\|)\n|\n(?=[ \t]*(?:\n|\||[-*+•]\s|\d{1,3}[.)]\s))")
_TABLE_ROW = re.compile(r"\S[^\n:]{0,99}: [^\n]* · [^\n]*")
"""A row of a table as it is stored, "Category: Motorcycle · Fee: 35 EUR", which is one sentence."""
_NO_EVIDENCE = frozenset({BlockKind.HEADING, BlockKind.FURNITURE})
"""The kinds of block that hold no strips: a heading says what is to come, and furniture says nothing."""
MIN_STRIP_CHARACTERS = 20
"""The fewest characters of a strip; a shorter sentence ("See Fig. 3.") is joined to the one before it."""
MIN_HEADING_WORDS = 4
"""The fewest words of a heading that says something without anything below it."""
_ANSWER_WORD = re.compile(r"[^\W\d_]+(?:, ?[^\W\d_]+)?[.!]")
"""A sentence that begins a block and is read with the next one: "Yes.", "No, sorry."."""
_SHOWN_BELOW = (
    "Equation|Formula|Example|Listing|Gleichung|Formel|Beispiel|Équation|Formule|Exemple|Ecuación|Ejemplo"
)
"""What a caption stands above, as a formula, in English, German, French and Spanish."""
_NUMBERED = r"\s+\d+(?:[.-]\d+)*\b[.:]?"
_CAPTION_ABOVE = re.compile(rf"(?:{_SHOWN_BELOW}){_NUMBERED}(?:\s|$)")
_CAPTION = re.compile(
    rf"(?:{_SHOWN_BELOW}|Fig(?:ure|\.)|Table|Abb(?:ildung|\.)|Tab(?:elle|leau|la|\.)|Figura){_NUMBERED}\s[^\n]{{1,160}}"
)
"""A caption with its number, which is one strip: "Equation 2.1. The accounting equation"."""
_LANGUAGE_CODE = re.compile(r"([a-z]{2})(?:[-_]|$)")
"""The language in a code like "de" or "de-AT"."""
_SHORTENED = re.compile(r"(?<![^\W_])(?:\d{1,3}|[^\W\d_])\.(?=(?P<gap>\s*)(?P<next>[^\W\d_]|°))")
"""A number or a letter with a dot, and the letter after it: "3. maja", "1.º", "r. regulamin"."""
GERMAN = "de"
_ASKS_NOUN = """
    ab am auf beim bis das dem den der des die ein eine einem einen einer eines im in ins ihr ihre ihrem ihren
    jede jedem jeden jeder jedes mit nach seit unser unsere unserem unseren vom von vor zu zum zur
"""
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ASKS_NOUN.split())})\s+\d{{1,2}}\.(?=\s)", re.IGNORECASE)
"""The number of a German noun, which an article or a preposition asks for: "Im 2. Obergeschoss"."""
_QUESTION_MARKS = ("?", "？", "؟")


def sentences(text: str, language: str = "") -> list[tuple[int, int]]:
    """The spans (start, end) of the sentences of a text, in order, without the white space around them.

    A row of a table and an item of a list are sentences of their own, with or without a full stop.
    ``language`` is the code of the text's language; by default it is found from the text.
    """
    spans: list[tuple[int, int]] = []
    for origin, block in _blocks(text):
        row = block.strip()
        if _TABLE_ROW.fullmatch(row):
            start = origin + block.index(row)
            spans.append((start, start + len(row)))
        else:
            spans += _sentences_within(text, origin, origin + len(block), language)
    return spans


def _sentences_within(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    """The spans of the sentences of a part of a text that is one block.

    In a language other than English, a sentence ends where the rules of both end one: the lists of
    abbreviations of many languages lack titles that the English one has ("M.", "Dr."). The dots of a form
    end none.
    """
    block = text[start:end]
    ends = _sentence_ends(block, ENGLISH)
    if len(ends) > 1 and (own := language or language_of(text)) != ENGLISH:
        ends &= _sentence_ends(block, own)
        ends -= set(_within_sentence(block, own))
    for leaders in LEADERS.finditer(block):
        ends -= set(range(leaders.start(), leaders.end() + 2))
    ends |= line_ends(block)
    for first, last in pairwise(sorted(ends | {0, len(block)})):
        raw = block[first:last]
        if body := raw.strip():
            at = start + first + raw.index(body[0])
            yield at, at + len(body)


def _sentence_ends(block: str, language: str) -> set[int]:
    """Where the sentences of a block end by the rules of a language."""
    from sentencex import get_sentence_boundaries  # type: ignore[attr-defined]

    return {boundary["end_index"] for boundary in get_sentence_boundaries(language, block)}


def _within_sentence(block: str, language: str) -> Iterator[int]:
    """The places after numbers and letters with a dot that end no sentence, as a dot makes them ordinals.

    They do not if a small letter follows, or in German if the word before asks for a noun.
    """
    for found in _SHORTENED.finditer(block):
        if found["next"].islower() or found["next"] == "°":
            yield from range(found.end(), found.end("gap") + 1)
    for found in _ORDINAL.finditer(block) if language == GERMAN else ():
        yield from range(found.end(), found.end() + 2)


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """The text cut at blank lines, around rows of a table and before items of a list, each with its start."""
    start = 0
    for match in _BLOCK_BREAK.finditer(text):
        yield start, text[start : match.start()]
        start = match.start()
    yield start, text[start:]


def spans_of_passage(passage: Passage) -> list[tuple[int, int]]:
    """The spans of the strips of a passage, in the passage's text, in order.

    With blocks, a strip lies within one, and there may be none: a page number is none, and a heading is one
    only if it says all there is (:func:`has_no_body`). Without, there is at least one if the passage has any
    text.
    """
    if not passage.blocks:
        found = _joined_short(passage.text, sentences(passage.text, _declared_language(passage)))
        return with_exchanges(passage.text, found)
    return [
        found
        for at, block in enumerate(passage.blocks)
        for found in (
            [(block.start - passage.start, block.end - passage.start)]
            if has_no_body(passage, at)
            else spans_of_block(passage, block)
        )
    ]


def has_no_body(passage: Passage, at: int) -> bool:
    """Whether a block is a heading that says something itself, since nothing stands below it.

    Such are the entries of an outline or a diary: "** 09:05 fan 2 replaced". On paper, what stands below a
    heading may be on the next page.
    """
    block, *below = passage.blocks[at:]
    text = passage.text_between(block.start, block.end)
    if block.kind is not BlockKind.HEADING or passage.page is not None:
        return False
    if len(text) < MIN_STRIP_CHARACTERS or len(text.split()) < MIN_HEADING_WORDS:
        return False
    following = next((other for other in below if other.kind is not BlockKind.FURNITURE), None)
    return following is None or (following.kind is BlockKind.HEADING and following.level <= block.level)


def _declared_language(passage: Passage) -> str:
    """The language that a document declares of itself in a field of that name, "" if it declares none.

    It declares none if the text tells that it is not English but is said to be, or the reverse: templates of
    pages bring a language with them.
    """
    declared = _LANGUAGE_CODE.match(str(passage.meta.get("language", "")).lower())
    if declared is None or other_than_english(passage.text) is (declared[1] == ENGLISH):
        return ""
    return declared[1]


def spans_of_block(passage: Passage, block: Block) -> Iterator[tuple[int, int]]:
    """The spans of the strips of one block of a passage, in the passage's text."""
    text, start, end = passage.text, block.start - passage.start, block.end - passage.start
    if block.kind is BlockKind.ROW:
        yield start, end
    elif block.kind is BlockKind.CODE:
        yield from spans_of_code(text, start, end, top=-passage.start)
    elif block.kind is not BlockKind.ITEM and _CAPTION.fullmatch(text, start, end):
        yield start, end
    elif block.kind not in _NO_EVIDENCE:
        found = _sentences_within(text, start, end, _declared_language(passage))
        yield from with_exchanges(text, _joined_short(text, found))


def is_caption_above(text: str) -> bool:
    """Whether a text is the caption of a formula, an example or a listing that stands below it."""
    return _CAPTION_ABOVE.match(text) is not None


def _joined_short(text: str, found: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans of sentences, with a short one joined to the one before, and a marker to the one after.

    A short one with a label ("Rent: 40") stands by itself, and so does a question: it says nothing, and what
    it would be joined to may be the answer to another one. A word that begins a block, as "Yes.", belongs to
    the sentence after it, and what looks like a marker at the end ("abst. 2.") to the one before.
    """
    spans: list[tuple[int, int]] = []
    for start, end in found:
        after_marker = bool(spans) and LIST_MARKER.fullmatch(text, *spans[-1]) is not None
        short = reading_width(text[start:end]) < MIN_STRIP_CHARACTERS and not (
            LIST_MARKER.fullmatch(text, start, end)
            or LABEL.match(text, start, end)
            or is_chat_line(text, start, end)
            or text.endswith(_QUESTION_MARKS, start, end)
        )
        after_word = len(spans) == 1 and _is_one_word(text, *spans[0])
        if spans and (after_marker or short or after_word):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    if len(spans) > 1 and LIST_MARKER.fullmatch(text, *spans[-1]):
        (start, _), (_, end) = spans[-2:]
        spans[-2:] = [(start, end)]
    return spans


def _is_one_word(text: str, start: int, end: int) -> bool:
    """Whether a sentence is one word or two: "No, sorry."; a question or a label is none."""
    return _ANSWER_WORD.fullmatch(text, start, end) is not None
