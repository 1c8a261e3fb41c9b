"""What evidence speaks of without telling it: a thing not explained, a state taken for given.

"Tags that point at blobs are ignored" is about blobs, and does not tell what a blob is. "If the disk is
encrypted, enter the passphrase" does not tell how to encrypt it, and "the request is refused" not why. To a
judge of relevance all look like answers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

from localcrag.crag.doubts.expected_answers import NEAR_SHARE
from localcrag.crag.questions.query_terms import stem, terms
from localcrag.crag.refinement.strip_context import block_index, headings_above, lead_in
from localcrag.crag.refinement.strip_filter import near_best
from localcrag.types import Strip

_THING_ASKED = re.compile(
    r"(?:and |so )?what(?:['’]s| is) an? (?P<thing>[\w-]+(?: [\w-]+)?)(?: in [\w-]+)?\W*", re.IGNORECASE
)
"""A question for what a thing is, of which nothing else is said."""
_ACTION_ASKED = re.compile(
    r"(?:and |so )?how (?:do|can|could|should|would) (?:i|we|you|one) (?P<verb>[a-z]+)\b", re.IGNORECASE
)
"""How a question begins that asks how something is done."""
_GIVEN_STATE = re.compile(
    r"(?:^|(?<=[.!?:;]\s)|(?<=\n))(?:if|when(?:ever)?|once|after|as soon as|since|because|unless) "
    r"[^,.:;!?\n]*?\b(?:is|are|was|were|been|being)\b[^,.:;!?\n]*,",
    re.IGNORECASE,
)
"""A clause that says in which state something is, before what is told of that state."""
_REASON_ASKED = re.compile(
    r"\W*(?:(?:and|so|und|et|e|y) )?(?:why|warum|wieso|weshalb|pourquoi|perché|por qué)\b", re.IGNORECASE
)
_REASON_TOLD = re.compile(
    r"\b(?:because|since|as|due|owing|reasons?|cause[ds]?|so|to|in order|for|thanks?|therefore|hence|thus|by"
    r"|avoid\w*|prevent\w*|otherwise|allow\w*|help\w*|ensur\w*|if|when|after|without|mean[st]?|with"
    r"|weil|da|denn|damit|wegen|um|zu[mr]?|nach|aufgrund|parce|car|pour|afin|puisque|faute|perché|poiché|per"
    r"|siccome|porque|para|por|debido|pues)\b|[;:()–—]",
    re.IGNORECASE,
)
"""How a question asks for a reason, and the words with which one may be told."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
MAX_BARE_WORDS = 12
"""The most words of a text that tells a fact alone, if none of them is such a word."""
_WORD = re.compile(r"[^\W\d_]+")


def told_in_passing(question: str, kept: Sequence[Strip]) -> bool:
    """Whether a question asks what a thing is, how it is done or why, and the best strips only speak of it.

    It is not so if the question asks for more, or if there are no strips.

    Args:
        question: the question.
        kept: the strips that may be shown, with their probabilities as scores.
    """
    near = near_best(kept, NEAR_SHARE)
    if not near:
        return False
    asked = " ".join(question.split())
    if _REASON_ASKED.match(asked):
        return not any(_may_tell_reason(strip, terms(question)) for strip in near)
    if (thing := _THING_ASKED.fullmatch(asked)) is not None:
        return not any(_explains(strip, thing["thing"]) for strip in near)
    action = _ACTION_ASKED.match(asked)
    return action is not None and _is_given(stem(action["verb"].casefold()), near)


def _may_tell_reason(strip: Strip, asked: Set[str]) -> bool:
    """Whether a strip may tell a reason: its sentences with most of the terms asked for, or the next ones.

    They do if one is long, or has a word with which a reason is told.
    """
    sentences = [each.strip() for each in _SENTENCE_END.split(strip.text) if each.strip()]
    shared = [len(asked & terms(each)) for each in sentences]
    nearest = [at for at, count in enumerate(shared) if count == max(shared)]
    told = (sentences[at] for first in nearest for at in range(first, min(first + 2, len(sentences))))
    return any(len(each.split()) > MAX_BARE_WORDS or _REASON_TOLD.search(each) for each in told)


def _explains(strip: Strip, thing: str) -> bool:
    """Whether a strip may say what a thing is: a sentence begins with it or names it, or a heading does."""
    name = rf"(?:{re.escape(thing)}|{re.escape(thing.removesuffix('y'))})(?:e?s|ies)?\b"
    begins = rf"(?:^|[.!?:;(]\s*|\n|, )(?:(?:an?|the|each|every|any|all|such|this|these|our) )?[\"“‘']?{name}"
    named = rf"\b(?:called|named|known as|mean|means|by|term|word|is|are) (?:an? |the )?[\"“‘']?{name}"
    at, passage = block_index(strip), strip.passage
    block = passage.text_between(passage.blocks[at].start, passage.blocks[at].end) if at >= 0 else strip.text
    return (
        re.search(rf"{begins}|{named}", block, re.IGNORECASE) is not None
        or re.search(rf"\b{name}", headings_above(strip), re.IGNORECASE) is not None
    )


def _is_given(verb: str, kept: Sequence[Strip]) -> bool:
    """Whether strips have words of a verb in clauses alone that say in which state something is."""
    told = "\n".join(" ".join(_shown(strip).split()) for strip in kept)
    around = " ".join((*map(headings_above, kept), *(strip.passage.title for strip in kept)))
    return _has(verb, told) and not _has(verb, f"{_GIVEN_STATE.sub(' ', told)} {around}")


def _shown(strip: Strip) -> str:
    """A strip behind what leads in to it."""
    lead = lead_in(strip)
    return f"{lead.text} {strip.text}" if lead else strip.text


def _has(verb: str, text: str) -> bool:
    """Whether a text has a word of a verb, by its stem: "encrypted" and "encryption" of "encrypt"."""
    return any(word.casefold().startswith(verb) for word in _WORD.findall(text))
