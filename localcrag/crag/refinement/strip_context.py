"""The context of a strip: what stands above it in its passage, and what it would not be understood without.

"a glass of water" answers what is needed below "Before you take it, you need:", and "Not by itself." says
what it means below "Does it open archives?". So a strip is judged below its headings, and after the sentence
that leads in to its list, the question that it answers, or the line above its section of settings. What a
mail says of "me" is judged after the name of its sender.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from email.utils import parseaddr
from itertools import islice, takewhile

from localcrag.crag.refinement.knowledge_strips import strip_at, strips_of_block
from localcrag.crag.refinement.readable_names import in_words
from localcrag.crag.refinement.setting_spans import section_of
from localcrag.crag.refinement.strip_kinds import (
    QUESTION_MARKS,
    ends_as_sentence,
    is_code,
    is_row,
    says_anything,
)
from localcrag.crag.refinement.strip_spans import is_caption_above
from localcrag.types import HEADING_SEPARATOR, SENDER_FIELD, Block, BlockKind, Passage, Strip

Neighbours = Callable[[Passage], Sequence[Passage]]
"""The passages just before and after one, in its document."""

MAX_DOCUMENT_QUESTION_CHARACTERS = 200
"""The longest question of a document that is read with its answer."""
MAX_ITEM_TITLE_CHARACTERS = 100
"""The longest first line of an item that is the title of the paragraphs below it."""
MAX_LED_TO = 8
"""The most items of a list, or pieces of code, that are shown since a sentence leads to them."""
MAX_LED_TO_CHARACTERS = 320
"""The longest paragraph that is shown since a sentence leads to it."""
MAX_LED_TO_ROW_CHARACTERS = 120
"""The longest row of a table that is shown since a sentence leads to it: a wide table is none to read."""
_LEAD_ENDS = (":", "：", "，", "、")
"""How what leads in to a list ends."""
_OPEN_END = re.compile(
    r"(?:,|\b(?:to|with|is|are|as|by|at|from|of|for|the|an?|in|on|under|like|run|use|call|write|dial|type|enter"
    r"|issue|via|using|and|or|called|named|entitled|namely|mit|an|über|zu|bei|lautet|ist|sind|als|von|aus|unter|und|oder|avec"
    r"|à|au|est|sont|par|de|sur|et|ou|con|es|son|y|è|sono))$",
    re.IGNORECASE,
)
"""How a text ends whose sentence goes on in the next paragraph, as before an address that is set apart."""
MIN_OPEN_WORDS = 4
"""The fewest words of such a text: a heading may end so too."""
_TERM = re.compile(r"[^\n:!?\"“]{1,60}:\s+\S")
"""How an item begins that is a term with its definition, or an option with what it does."""
_OF_THE_ITEM = re.compile(
    r"\bthis (?:option|command|flag|switch|variable|setting|parameter|argument|function|mode)\b"
    r"|\bdiese[rsmn]? (?:Option|Befehl|Schalter|Variable|Einstellung|Parameter|Argument|Funktion)\b",
    re.IGNORECASE,
)
"""How a paragraph speaks of the item of a list that it stands below."""
_SENTENCE_GAP = re.compile(r"(?<=[.!?:])\s+")
_FIRST_PERSON = re.compile(
    r"\bI\b(?!\.)|\b(?:[Mm]e|[Mm]y|mine|myself|[Ii]ch|[Mm]ir|[Mm]ich|[Mm]ein(?:e[mnrs]?)?|[Jj]e|[Mm]oi)\b(?!\.)|\b[jJ]['’]"
)
"""Words of whoever writes of themselves, in English, German and French."""
_INTRODUCTION = re.compile(
    r"\b(?:I am|I['’]m|My name is|I,|Ich bin|Mein Name ist|Je suis|Je m['’]appelle) "
    r"(?P<who>[A-Z][\w'’-]+(?: (?:[a-z]{2,3} )?[A-Z][\w'’-]+){1,3}(?:, [^.:;!?\n]{1,80})?)"
)
"""How whoever speaks of themselves is introduced, with what they are: "I am Jo Lund, nurse in ward 3"."""
_LED_TO = frozenset({BlockKind.CODE, BlockKind.ITEM, BlockKind.PARAGRAPH, BlockKind.ROW})
STEPS = frozenset({BlockKind.ITEM, BlockKind.CODE})
"""What is shown of a list."""
ANSWERING_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM})
"""The kinds of block in which questions of a document are asked and answered."""


def judged_text(strip: Strip) -> str:
    """A strip in its context, below the title of its document, as the evaluator reads it (names in words)."""
    text = in_context(strip)
    if is_row(strip) or is_code(strip):
        return strip.passage.below_title(in_words(text))
    speaker = sender_of(strip)
    return strip.passage.below_title(f"{speaker}: {text}" if speaker else text)


def passage_before(passage: Passage, neighbours: Neighbours | None) -> Passage | None:
    """The passage before another one in its document; None if there is none, or no ``neighbours``."""
    beside = neighbours(passage) if neighbours is not None else ()
    return next((each for each in beside if each.ordinal < passage.ordinal), None)


def is_in_first_person(strip: Strip) -> bool:
    """Whether whoever wrote a strip speaks of himself in it."""
    return _FIRST_PERSON.search(strip.text) is not None


def sender_of(strip: Strip) -> str:
    """The name of whoever a strip with "I" or "me" is by; "" if that is not known.

    It is that of the sender of the mail, or how a statement introduces its speaker before the strip. A mail
    that another one quotes stands below a heading that has the name already.
    """
    if not is_in_first_person(strip):
        return ""
    sender = strip.passage.meta.get(SENDER_FIELD)
    if isinstance(sender, str):
        return "" if headings_above(strip) else parseaddr(sender)[0]
    introduced = _INTRODUCTION.search(strip.passage.text, 0, max(0, strip.start - strip.passage.start))
    return introduced["who"] if introduced else ""


def in_context(strip: Strip) -> str:
    """The text of a strip below its headings, after what leads in to it.

    An item of a list stands after its sentence, an answer after its question, a setting below the line above
    its section, and a paragraph of an item below the item's title.
    """
    lead, headings = lead_in(strip), headings_above(strip)
    before = lead.text if lead else _question_before(strip)
    text = f"{before} {strip.text}" if before else strip.text
    if is_code(strip):
        section = section_of(strip.passage, strip.start - strip.passage.start)
        section = "" if section in headings else section
    else:
        section = "" if lead else _item_title(strip)
    return "\n".join(filter(None, (headings, section, text)))


def headings_above(strip: Strip) -> str:
    """The path of the headings of its passage that a strip stands below; those above the passage if none."""
    passage = strip.passage
    found = (" ".join(passage.text_between(h.start, h.end).split()) for h in heading_blocks_above(strip))
    return HEADING_SEPARATOR.join(found) or passage.heading


def heading_blocks_above(strip: Strip) -> list[Block]:
    """The headings of its passage that a strip stands below, the outermost first.

    A strip that is a heading itself stands below the outer ones only.
    """
    path: list[Block] = []
    for block in strip.passage.blocks:
        if block.kind is BlockKind.HEADING and block.start <= strip.start:
            path = [heading for heading in path if heading.level < block.level]
            path += [block] if block.end <= strip.start else []
    return path


def lead_in(strip: Strip) -> Strip | None:
    """What leads in to code or to an item of a list, "You need:", or what a later sentence of one is about.

    The latter is the item's first sentence, with its term: "adm: A group for watching the system.", also for
    a paragraph below the item that speaks of "this option". To the items of a list inside another one the
    item around them leads in, if it goes on: "On Windows,". None if nothing leads in to the strip.
    """
    blocks, at = strip.passage.blocks, block_index(strip)
    if at > 0 and blocks[at].kind is BlockKind.CODE:
        above = blocks[at - 1]
        return _leading_end(strip, above, to_code=True) if above.kind in ANSWERING_KINDS else None
    is_below = at > 0 and blocks[at].kind is BlockKind.PARAGRAPH and bool(_OF_THE_ITEM.search(strip.text))
    at -= is_below
    if at < 0 or blocks[at].kind is not BlockKind.ITEM:
        return None
    first, *_ = strips_of_block(strip.passage, blocks[at]) or [strip]
    if first.end <= strip.start and _TERM.match(first.text):
        return replace(first, score=strip.score)
    if is_below:
        return None
    if (outer := _outer_item(blocks, at)) and (lead := _leading_end(strip, outer, to_code=True)):
        return lead
    while at >= 0 and is_in_list(blocks[at]):
        at -= 1
    return _leading_end(strip, blocks[at]) if at >= 0 and blocks[at].kind is BlockKind.PARAGRAPH else None


def lead_above(strip: Strip) -> Strip | None:
    """What leads in to a strip, or the heading just above it whose sentence goes on in it, as in an outline.

    Such a strip begins with a small letter, below a heading of several words that does not end a sentence.
    """
    passage, at = strip.passage, block_index(strip)
    above = passage.blocks[at - 1] if at > 0 else None
    begins = (
        at > 0 and passage.blocks[at].kind is BlockKind.PARAGRAPH and passage.blocks[at].start == strip.start
    )
    if above is None or above.kind is not BlockKind.HEADING or not begins or not strip.text[:1].islower():
        return lead_in(strip)
    heading = strip_at(passage, above.start, above.end, strip.score)
    is_open = len(heading.text.split()) >= MIN_OPEN_WORDS and not ends_as_sentence(heading.text)
    return heading if is_open else lead_in(strip)


def _outer_item(blocks: Sequence[Block], at: int) -> Block | None:
    """The item of a list in whose own list another one stands; None if it is in no list inside one."""
    level = blocks[at].level
    above = takewhile(is_in_list, reversed(blocks[:at]))
    return next((block for block in above if block.kind is BlockKind.ITEM and block.level < level), None)


def _item_title(strip: Strip) -> str:
    """The first line of the item that a paragraph belongs to, or the term it explains; "" if it has none.

    "4. Maximum number of tables in a join" says what is told of in the paragraphs of this item.
    """
    blocks, at = strip.passage.blocks, block_index(strip)
    if at < 1 or blocks[at].kind is not BlockKind.PARAGRAPH or not blocks[at].level:
        return ""
    while at > 0 and blocks[at].kind is not BlockKind.ITEM and is_in_list(blocks[at]):
        at -= 1
    if blocks[at].kind is not BlockKind.ITEM:
        return ""
    text = " ".join(strip.passage.text_between(blocks[at].start, blocks[at].end).split())
    if len(text) <= MAX_ITEM_TITLE_CHARACTERS and not ends_as_sentence(text):
        return text
    term = _TERM.match(text)
    return term[0].rpartition(":")[0] if term else ""


def _leading_end(strip: Strip, above: Block, *, to_code: bool = False) -> Strip | None:
    """The last sentence of the block above a strip, with its score, if it leads on to the strip."""
    *_, last = strips_of_block(strip.passage, above)
    return replace(last, score=strip.score) if leads_on(last.text, to_code=to_code) else None


def leads_on(text: str, *, to_code: bool) -> bool:
    """Whether a sentence leads to what stands below it, by its colon or as the caption of a formula.

    So does one that ends with a word that none ends with ("Please send mail to"), and to code any that does
    not end before.
    """
    ends_so = text.rstrip().endswith(_LEAD_ENDS) or is_caption_above(text)
    return ends_so or _is_open(text) or (to_code and not ends_as_sentence(text))


def _is_open(text: str) -> bool:
    """Whether a sentence stops before its end, to go on below."""
    return len(text.split()) >= MIN_OPEN_WORDS and _OPEN_END.search(text.rstrip()) is not None


def led_to(strip: Strip, neighbours: Neighbours | None = None) -> list[Strip]:
    """What a sentence leads to by its colon, or a caption to the formula below it; none if there is nothing.

    It is the code, the items of a list, the narrow rows of a table or the short paragraph that stand directly
    below it, with the paragraphs that go on with the same sentence. Of long lists it is the first
    ``MAX_LED_TO`` items with their code; the pictures and further paragraphs of the items are passed over.
    A sentence that does not end before code leads to it too.

    Args:
        strip: the sentence.
        neighbours: if given, what a sentence at the end of its passage leads to may be in the next one.
    """
    passage, at = strip.passage, block_index(strip) + 1
    if not at or passage.blocks[at - 1].end > strip.end:
        return []
    own = passage.blocks[at - 1]
    below, place = passage.blocks[at:], passage
    is_last = all(map(_is_furniture, below))
    if neighbours and is_last and leads_on(strip.text, to_code=False):
        following = [other for other in neighbours(passage) if _goes_on(passage, other)]
        place = following[0] if following else passage
        below = tuple(block for other in following for block in other.blocks if not _is_furniture(block))
    if not below or below[0].kind not in _LED_TO:
        return []
    first = below[0]
    to_code = first.kind is BlockKind.CODE and own.kind in ANSWERING_KINDS
    longest = {BlockKind.PARAGRAPH: MAX_LED_TO_CHARACTERS, BlockKind.ROW: MAX_LED_TO_ROW_CHARACTERS}
    too_long = first.end - first.start > longest.get(first.kind, first.end)
    if not leads_on(strip.text, to_code=to_code):
        return []
    if too_long:
        return _end_of_sentence(strip, place, first)
    is_list = first.kind is BlockKind.ITEM
    if is_list and own.kind is BlockKind.ITEM:
        below = tuple(takewhile(lambda block: not _is_beside(own, block), below))
    together = takewhile(lambda block: is_in_list(block) if is_list else block.kind is first.kind, below)
    is_text = first.kind is BlockKind.PARAGRAPH
    shown = (block for block in together if block.kind in STEPS or not is_list)
    chosen = islice(_one_sentence(place, below) if is_text else shown, MAX_LED_TO)
    led = (strip_at(place, block.start, block.end, strip.score) for block in chosen)
    return [each for each in led if says_anything(each)]


def _end_of_sentence(strip: Strip, passage: Passage, paragraph: Block) -> list[Strip]:
    """The first sentence of a long paragraph if it ends one that stopped in the middle, as over two pages."""
    if paragraph.kind is not BlockKind.PARAGRAPH or not _is_open(strip.text):
        return []
    first, *_ = strips_of_block(passage, paragraph) or [strip]
    is_end = first is not strip and first.end - first.start <= MAX_LED_TO_CHARACTERS
    return [replace(first, score=strip.score)] if is_end else []


def _is_beside(item: Block, other: Block) -> bool:
    """Whether another item stands beside one, and not below it."""
    return other.kind is BlockKind.ITEM and other.level <= item.level


def _one_sentence(passage: Passage, blocks: Sequence[Block]) -> Iterator[Block]:
    """The first of some paragraphs, with those after it that begin in lower case as it does not end."""
    before = ""
    for block in blocks:
        text = passage.text_between(block.start, block.end)
        is_rest = not before or (text[:1].islower() and not ends_as_sentence(before))
        if block.kind is not BlockKind.PARAGRAPH or not is_rest or len(text) > MAX_LED_TO_CHARACTERS:
            return
        yield block
        before = text


def _goes_on(passage: Passage, other: Passage) -> bool:
    """Whether another passage stands behind one, on its page or the next."""
    return other.ordinal > passage.ordinal and (other.page or 0) - (passage.page or 0) < 2


def is_definition(passage: Passage, block: Block) -> bool:
    """Whether a block is an item of a list, or a paragraph of one, that is a term with its definition."""
    is_of_item = block.kind is BlockKind.ITEM or (block.kind is BlockKind.PARAGRAPH and block.level > 0)
    return is_of_item and _TERM.match(passage.text_between(block.start, block.end)) is not None


def _is_furniture(block: Block) -> bool:
    return block.kind is BlockKind.FURNITURE


def is_in_list(block: Block) -> bool:
    """Whether a block is an item of a list, or what an item goes on with, or a picture between two."""
    if block.kind is BlockKind.ITEM or block.kind is BlockKind.CAPTION:
        return True
    return block.level > 0 and block.kind in (BlockKind.PARAGRAPH, BlockKind.CODE)


def intro_of_table(row: Strip) -> str:
    """The paragraph directly above the table of a row, which says what it is of; "" if there is none."""
    blocks, at = row.passage.blocks, block_index(row)
    while at >= 0 and blocks[at].kind is BlockKind.ROW:
        at -= 1
    if at < 0 or blocks[at].kind is not BlockKind.PARAGRAPH:
        return ""
    text = row.passage.text_between(blocks[at].start, blocks[at].end)
    return text if len(text) <= MAX_LED_TO_CHARACTERS else ""


def _question_before(strip: Strip) -> str:
    """The question of the document that stands directly before a strip, in its block or as the one above.

    Of a row it is the one above its table. "" if there is none.
    """
    blocks, at = strip.passage.blocks, block_index(strip)
    while at > 0 and blocks[at].kind is BlockKind.ROW and blocks[at - 1].kind is BlockKind.ROW:
        at -= 1
    if at < 0 or blocks[at].kind not in ANSWERING_KINDS | {BlockKind.ROW}:
        return ""
    if blocks[at].start == strip.start or blocks[at].kind is BlockKind.ROW:
        at -= 1
        if at < 0 or blocks[at].kind not in ANSWERING_KINDS:
            return ""
    above = strip.passage.text_between(blocks[at].start, min(blocks[at].end, strip.start))
    *_, before = _SENTENCE_GAP.split(above.strip())
    asked = " ".join(before.split())
    return asked if asked.endswith(QUESTION_MARKS) and len(asked) <= MAX_DOCUMENT_QUESTION_CHARACTERS else ""


def block_index(strip: Strip) -> int:
    """The index of the block of its passage in which a strip begins; -1 if the passage has none."""
    return bisect_right([block.start for block in strip.passage.blocks], strip.start) - 1
