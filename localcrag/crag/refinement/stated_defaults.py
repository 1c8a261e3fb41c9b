"""The default of a setting or an option: the part of its entry that says it, often not the one that answers.

"--max-unused limit allow unused data up to the specified limit" is what a judge of relevance chooses for the
default of --max-unused. That it is 5% stands in a later paragraph of the same item of the list, and the mode
of a new file in the line above the sentence that speaks of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localcrag.crag.questions.question_extent import asks_what_to_do
from localcrag.crag.refinement.knowledge_strips import span, strip_at, strips_of_block
from localcrag.crag.refinement.strip_context import Neighbours, block_index, heading_blocks_above
from localcrag.crag.refinement.strip_filter import near_best
from localcrag.crag.refinement.strip_kinds import is_code
from localcrag.types import Block, BlockKind, Passage, Strip

_UNLESS_SET = (
    r"\bunless (?:[\w'’]+ ){0,3}?"
    r"(?:told|set|says?|said|given|specified|configured|changed?|overridden|stated)\b"
    r"|\bout of the box\b|\bab Werk\b"
    r"|\bif (?:I|you|we|one|nobody|nothing|none|it|that|this|they)\b[^,.?]{0,30}?"
    r"\b(?:set|give|given|specif(?:y|ied)|pass(?:ed)?|say|leave|left|omit(?:ted)?)\b[^,.?]{0,20}"
    r"\b(?:none|nothing|no|not|out|unset|empty)\b"
    r"|\bif (?:(?:I|you|we|one|they|it)\b[^,.?]{0,10}?(?:n['’]t|\bnot|\bnever)|nobody|no one)\b[^,.?]{0,20}?"
    r"\b(?:ask|choose|chose|change|configur|gi?ve|gave|name|pass|pick|provid|sa(?:y|id)|select|set|specif|t[eo]ll?d?)"
    r"\w*"
    r"|\bif (?:it|that|this|none|nothing|they) (?:is|are) (?:(?:not|never) )?"
    r"(?:set|given|specified|omitted|unset)\b"
)
"""How a question asks for a default without the word."""
_WORD = (
    r"\b(?:defaults?\b|Standardwert|Voreinstellung|voreingestellt|standardmäßig|par défaut|por defecto"
    r"|predeterminad)"
)
_ASKED = re.compile(rf"{_WORD}|{_UNLESS_SET}", re.IGNORECASE)
_SURELY_ASKED = re.compile(
    r"\bdefaults? (?:(?:values?|settings?)\b|(?:of|for) )|\bby default\b|\bdefaults? to\b"
    rf"|\b(?:Standardwert|Voreinstellung) (?:von|für|der|des)\b|\bstandardmäßig\b|{_UNLESS_SET}",
    re.IGNORECASE,
)
"""How a question asks for a default, and not for a thing that is called so, as the default gateway is."""
_STATED = re.compile(
    r"\bdefault(?:s|ed|ing)?\b|\bstandardmäßig|\bStandardwert|\bVoreinstellung|\bvoreingestellt|\bVorgabe"
    r"|\bpar défaut|\bpor defecto|\bpredeterminad",
    re.IGNORECASE,
)
_MAY_BE_STATED = re.compile(
    rf"{_STATED.pattern}|\b(?:unless|otherwise|omitted|unspecified|unset|absent|missing|without|initial(?:ly)?"
    r"|not (?:set|given|specified)|preset|standard|normal(?:ly)?|usual(?:ly)?|assumed?|built-?in|factory"
    r"|out of the box|implicit(?:ly)?|if (?:no|none|nothing)|when (?:no|none|nothing)|sonst|ab Werk"
    r"|werkseitig|normalerweise|sinon|normalement|normalmente)\b",
    re.IGNORECASE,
)
"""Words with which a text may say what holds if nothing is set."""
_EXPLAINS_PARAMETERS = re.compile(
    r"^[ \t]*(?:(?:Parameters|Arguments|Args)\b|:param |[A-Za-z_]\w* : )", re.MULTILINE
)
"""Lines of the text in which a function of Python explains its parameters."""
_SIGNATURE = re.compile(r"^[ \t]*(?:async )?def \w+\([^()]*(?:\([^()]*\)[^()]*)*\)[^:\n]*:", re.MULTILINE)
_ENDS = frozenset({BlockKind.ITEM, BlockKind.PARAGRAPH, BlockKind.CODE, BlockKind.ROW})
"""What an item ends before if it is no deeper."""
MAX_SECTION_BLOCKS = 8
"""The most blocks of a section that is the entry of one setting."""
MAX_PASSAGES_ON = 2
"""How many passages after that of a strip its entry may go on in."""
NEAR_SHARE = 0.9
"""The share of the best strip's probability from which on another one may as well say what the default is."""


def with_stated_default(
    picked: Sequence[Strip], question: str, neighbours: Neighbours | None = None
) -> list[Strip]:
    """The strips, the most probable one followed by what its entry says of a default, if that is asked for.

    Args:
        picked: the strips, in their order.
        question: the question.
        neighbours: if given, the entry may go on in the passages after that of the strip.
    """
    if not picked or not _ASKED.search(question) or asks_what_to_do(question):
        return list(picked)
    best = max(picked, key=lambda strip: strip.score)
    if _STATED.search(best.text):
        return list(picked)
    stated = next((s for s in _entry(best, neighbours) if _STATED.search(s.text)), None)
    stated = stated or _signature(best, neighbours)
    if stated is None or span(stated) in map(span, picked):
        return list(picked)
    places = [(strip.passage.ordinal, strip.start) for strip in (best, stated)]
    at = list(picked).index(best) + (places[0] <= places[1])
    return [*picked[:at], stated, *picked[at:]]


def _signature(strip: Strip, neighbours: Neighbours | None) -> Strip | None:
    """The first lines of the function whose parameters a strip of code explains, if they have defaults.

    They stand above it, in its passage or the one before: "def select(flow, days=7):".
    """
    if not is_code(strip) or _EXPLAINS_PARAMETERS.search(strip.text) is None:
        return None
    passage = strip.passage
    above = [p for p in (neighbours(passage) if neighbours else ()) if p.ordinal < passage.ordinal]
    before = passage.text[: strip.start - passage.start]
    for place, text in ((passage, before), *((each, each.text) for each in above)):
        if found := list(_SIGNATURE.finditer(text)):
            start, end = (place.start + at for at in found[-1].span())
            return strip_at(place, start, end, strip.score) if "=" in found[-1][0] else None
    return None


def lacks_default(question: str, kept: Sequence[Strip], neighbours: Neighbours | None = None) -> bool:
    """Whether a question asks for a default, and neither the best strip nor its entry may say one.

    Code and settings may: what stands in them is what holds.

    Args:
        question: the question.
        kept: the strips that may be shown, with their probabilities as scores.
        neighbours: if given, the entry may go on in the passages after that of the strip.
    """
    if not kept or not _SURELY_ASKED.search(question) or asks_what_to_do(question):
        return False
    best = max(kept, key=lambda strip: strip.score)
    near = near_best(kept, NEAR_SHARE)
    if any(is_code(strip) or _MAY_BE_STATED.search(strip.text) for strip in near):
        return False
    return not any(_MAY_BE_STATED.search(strip.text) for strip in _entry(best, neighbours))


def _entry(strip: Strip, neighbours: Neighbours | None) -> Iterator[Strip]:
    """The sentences of the entry that a strip is of, with its probability: of its item, or its short section.

    What is told of an item around that one belongs to it too, but not the other items of that list.
    """
    blocks, at = strip.passage.blocks, block_index(strip)
    if at < 0:
        return
    own = blocks[at]
    if own.kind is BlockKind.ITEM or (own.kind is BlockKind.PARAGRAPH and own.level):
        found = _item(strip.passage, at, neighbours)
    elif own.kind is BlockKind.PARAGRAPH:
        found = ((strip.passage, block) for block in _section(strip) or [own])
    else:
        return
    for passage, block in found:
        for sentence in strips_of_block(passage, block):
            yield strip_at(passage, sentence.start, sentence.end, strip.score)


def _section(strip: Strip) -> list[Block]:
    """The blocks of the section that a strip stands in; none if it is long, or its heading is elsewhere."""
    blocks, above = strip.passage.blocks, heading_blocks_above(strip)
    if not above:
        return []
    first = blocks.index(above[-1]) + 1
    rest = blocks[first:]
    end = next((n for n, block in enumerate(rest) if block.kind is BlockKind.HEADING), len(rest))
    return list(rest[:end]) if end <= MAX_SECTION_BLOCKS else []


def _item(passage: Passage, at: int, neighbours: Neighbours | None) -> Iterator[tuple[Passage, Block]]:
    """The blocks of the item that a block is of, or is, and then those of the items around that one."""
    own = passage.blocks[at]
    level = own.level if own.kind is BlockKind.ITEM else own.level - 1
    before, after = passage.blocks[: at + 1], [*_after(passage, at, neighbours)]
    for outer in range(level, -1, -1):
        is_own = outer == level
        start = next((b for b in reversed(before) if b.kind is BlockKind.ITEM and b.level <= outer), None)
        for block in before[before.index(start) :] if start is not None else before:
            if is_own or block is start or _is_text_of(block, outer):
                yield passage, block
        for place, block in after:
            if block.kind is BlockKind.HEADING or (block.level <= outer and block.kind in _ENDS):
                break
            if is_own or _is_text_of(block, outer):
                yield place, block


def _is_text_of(block: Block, level: int) -> bool:
    """Whether a block is a paragraph that goes on with an item of a level, and not with one in its list."""
    return block.kind is BlockKind.PARAGRAPH and block.level == level + 1


def _after(passage: Passage, at: int, neighbours: Neighbours | None) -> Iterator[tuple[Passage, Block]]:
    """The blocks after one, each with its passage."""
    yield from ((passage, block) for block in passage.blocks[at + 1 :])
    for _ in range(MAX_PASSAGES_ON if neighbours else 0):
        later = [p for p in (neighbours(passage) if neighbours else ()) if p.ordinal > passage.ordinal]
        if not later:
            return
        passage = later[0]
        yield from ((passage, block) for block in passage.blocks)
