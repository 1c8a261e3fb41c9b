"""Of the tasks of a list, those that are open, or those that are done, if a question asks for one of them.

An open task begins with "☐" and one that is done with "☑", as the readers of Markdown and Org write them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from localcrag.crag.refinement.knowledge_strips import strip_at
from localcrag.crag.refinement.strip_kinds import blocks_within
from localcrag.types import Block, BlockKind, Passage, Strip

OPEN, DONE = "☐", "☑"
_THINGS = r"(?:points?|tasks?|items?|issues?|questions?|steps?)"
_OPEN_ASKED = re.compile(
    r"\b(?:still|left|remains?|yet|needs?|ha(?:ve|s))\b.{0,30}?\bto (?:be )?(?:do|done|finish\w*)\b"
    r"|\bstill (?:open|pending|missing|outstanding|undone|unfinished)\b|\bto-?dos?\b"
    rf"|\b(?:open|pending|outstanding|remaining|unfinished) {_THINGS}\b"
    rf"|\b{_THINGS} (?:are|is) (?:still )?(?:open|pending|outstanding|left)\b"
    r"|(?:\bnot|n['’]t)(?: yet)?(?: been)? (?:yet )?(?:done|finished|completed)\b"
    r"|\bnoch (?:offen\w*|zu (?:tun|erledigen|machen))\b|\b(?:nicht|un)(?: ?erledigt| fertig| getan)"
    r"|\boffene[nr]? (?:punkte?|aufgaben?|fragen?)\b|\b(?:punkte|aufgaben|fragen) sind (?:noch )?offen\b",
    re.IGNORECASE,
)
_DONE_ASKED = re.compile(
    r"(?<!be )\b(?:done|finished|completed|ticked off)\b|\b(?:erledigt|fertig|abgeschlossen|abgehakt)\b",
    re.IGNORECASE,
)


def of_asked_state(strips: Iterable[Strip], question: str) -> list[Strip]:
    """The strips without the tasks that are done if the question asks for open ones, and the other way round.

    Of a strip of several items those that are left stand by themselves. All strips stay if none is left, or
    if the question asks for neither.
    """
    given = list(strips)
    unasked = _unasked(question)
    left = [part for strip in given for part in _without(strip, unasked)] if unasked else given
    return left or given


def without_unasked_tasks(strips: Iterable[Strip], question: str) -> list[Strip]:
    """The strips without those that are one task, or a part of it, of the state that is not asked for."""
    unasked = _unasked(question)
    return [strip for strip in strips if not unasked or _without(strip, unasked)]


def _unasked(question: str) -> str:
    """The sign of the tasks that a question does not ask for; "" if it asks for neither kind."""
    if _OPEN_ASKED.search(question):
        return DONE
    return OPEN if _DONE_ASKED.search(question) else ""


def _without(strip: Strip, sign: str) -> list[Strip]:
    """The parts of a strip that are no tasks with that sign: the strip itself if it has none."""
    passage = strip.passage
    within = blocks_within(strip)
    if not any(_is_task(passage, block, sign) for block in within):
        return [strip]
    return [
        strip_at(passage, max(strip.start, block.start), min(strip.end, block.end), strip.score)
        for block in within
        if not _is_task(passage, block, sign)
    ]


def _is_task(passage: Passage, block: Block, sign: str) -> bool:
    return block.kind is BlockKind.ITEM and passage.text_between(block.start, block.end).startswith(sign)
