"""Rewriting a follow-up question as a standalone question.

A chat model reads the last turns and rewrites the follow-up. A very small model makes mistakes when it
copies, and is not asked: a rule adds the words that the follow-up refers to, from the user's own questions
only (:mod:`.follow_ups`). Nor is any asked where one thing is put in the place of another ("And Bergeron?",
:mod:`.replaced_parts`), nor is a model that writes English alone asked about a question in another
language. Either reads the questions before it as they were understood: "can it be cured?" says what "it" is
only there. The rule also takes over if the line of a chat model answers, repeats a turn or its own words,
leaves out a part of the follow-up, or is about something else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from itertools import takewhile
from typing import NamedTuple

from localcrag.crag import prompts
from localcrag.crag.questions.courtesy import is_courtesy
from localcrag.crag.questions.follow_ups import completed, completion, continues, has_pronoun
from localcrag.crag.questions.replaced_parts import put_in_place, with_place
from localcrag.crag.questions.rewrite_check import adds_nothing, standalone_refusal
from localcrag.errors import ModelError
from localcrag.events import Condensed, Degraded, Steps
from localcrag.languages import is_in_english
from localcrag.protocols import LanguageModel
from localcrag.types import Turn

MAX_TURNS = 8
"""The most turns that a chat model reads: a follow-up rarely depends on more."""
STANDALONE_TOKENS = 96
"""The most tokens of a standalone question."""
MAX_EARLIER_QUESTIONS = 24
"""The most earlier questions of the user that the rule considers."""


class Standalone(NamedTuple):
    """A question by itself; ``is_doubtful`` says that its words for "it" may be the wrong ones."""

    question: str
    is_doubtful: bool = False


def condense(
    model: LanguageModel,
    history: Sequence[Turn],
    question: str,
    *,
    extractive: bool,
    english_only: bool = False,
) -> Steps[Standalone]:
    """Rewrite a follow-up as a standalone question; yields Condensed if the question changes.

    Args:
        model: the chat model that rewrites.
        history: the turns before the question, oldest first. Where the record of an answer keeps how its
            question was understood, that is read in place of the question.
        question: the follow-up.
        extractive: rewrite by rule (:mod:`.follow_ups`), without the model and from the user's turns only.
        english_only: rewrite so a question that is in another language than English.

    Returns:
        The standalone question; the question itself, if it depends on nothing before it or the model
        fails (a Degraded event). If the model's line is refused
        (:func:`~.rewrite_check.standalone_refusal`, a Degraded event), or it leaves a question that continues
        or has a pronoun as it is, it is made by the rule.
        It is doubtful if the rule could have chosen another topic (a Degraded event that names both).
    """
    history = _as_understood(history)
    asked = [turn.text for turn in history if turn.role == "user" and not is_courtesy(turn.text)]
    earlier = asked[-MAX_EARLIER_QUESTIONS:]
    last = reduce(lambda before, text: put_in_place(text, before) or text, earlier, "")
    if replaced := put_in_place(question, last):
        yield Condensed(question, replaced)
        return Standalone(replaced)
    by_rule = extractive or (english_only and not is_in_english(question, earlier))
    placed = standalone = with_place(question, last)
    if not by_rule:
        turns = history[-MAX_TURNS:]
        read = _fitting(model, turns, placed)
        if len(read) < len(turns):
            yield Degraded("condense", f"only {len(read)} of the last {len(turns)} turns fit the context")
        try:
            standalone = model.line(prompts.condense(read, placed), max_tokens=STANDALONE_TOKENS)
        except ModelError as error:
            yield Degraded("condense", str(error))
            return Standalone(question)
        said = [turn.text for turn in turns]
        if refusal := standalone_refusal(standalone, placed, said, nearest=_last_turn(history, earlier)):
            yield Degraded("condense", f"“{standalone}” was refused: {refusal}")
            by_rule = True
        elif adds_nothing(standalone, placed) and (continues(placed) or has_pronoun(placed)):
            by_rule = True
    rival = ""
    if by_rule:
        standalone, rival = completion(placed, earlier)
    if standalone != question:
        yield Condensed(question, standalone)
    if rival:
        yield Degraded("condense", f"it may ask about “{rival}” instead")
    return Standalone(standalone, bool(rival))


def _as_understood(history: Sequence[Turn]) -> list[Turn]:
    """The turns, each question as it was understood if the answer behind it kept that."""
    answers = [*history[1:], Turn("assistant", "")]
    return [
        replace(turn, text=_understood(answer) or turn.text) if turn.role == "user" else turn
        for turn, answer in zip(history, answers, strict=True)
    ]


def _understood(answer: Turn) -> str:
    """The question that an answer's record says it was understood as; "" if it says nothing of it."""
    try:
        record = json.loads(answer.record or "{}")
    except ValueError:
        return ""
    return str(record.get("standalone") or "") if isinstance(record, dict) else ""


def _last_turn(history: Sequence[Turn], earlier: Sequence[str]) -> list[str]:
    """The last question, completed by the rule, and what was answered to it."""
    if not earlier:
        return []
    answers = takewhile(lambda turn: turn.role != "user", reversed(history))
    return [completed(earlier[-1], earlier[:-1]), *(turn.text for turn in answers)]


def _fitting(model: LanguageModel, turns: Sequence[Turn], question: str) -> Sequence[Turn]:
    """The newest turns that leave the context room for the standalone question."""
    for start in range(len(turns)):
        if model.count(prompts.condense(turns[start:], question)) + STANDALONE_TOKENS <= model.context:
            return turns[start:]
    return ()
