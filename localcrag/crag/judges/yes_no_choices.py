"""The constrained yes or no of the language model: does a passage help, is a claim borne out?

The model can reply nothing else, and P(yes) is read from its logits.
"""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.crag import prompts
from localcrag.crag.prompt_layout import JointPassages
from localcrag.errors import ContextOverflow, LocalCragError
from localcrag.protocols import LanguageModel
from localcrag.types import Choice, Passage, Prompt

YES_NO_OPTIONS = ("yes", "no")
"""The options of a constrained choice; the first probability of a choice is P(yes)."""


def ask_each(model: LanguageModel, question: str, texts: Sequence[str]) -> list[Choice | Exception]:
    """The model's constrained yes or no for each text, in order; a failed choice is its error.

    Each text has a prompt of its own. What the prompts share at their beginning is read once.
    """
    if not texts:
        return []
    choices = yes_or_no(model, [prompts.grade(question, text, trained=model.trained) for text in texts])
    return [_checked(choice) for choice in choices]


def ask_jointly(
    model: LanguageModel, question: str, joint: JointPassages, passages: Sequence[Passage]
) -> list[Choice | Exception]:
    """The model's constrained yes or no for each passage, in order, from one prompt with all passages.

    The passages are added to ``joint``, which the model reads once, for the grades and for the answer. If
    it does not fit the context, the passages of earlier searches are removed from it. If it still does not
    fit, ``joint`` is cleared, and each passage is asked about in a prompt of its own.
    """
    if not passages:
        return []
    for earlier in (joint.passages, []):
        joint.passages = earlier
        places = joint.add(passages)
        asked = [prompts.grade_joint(question, joint.texts, place, trained=model.trained) for place in places]
        try:
            return [_checked(choice) for choice in model.choose(asked, YES_NO_OPTIONS)]
        except ContextOverflow:
            continue
    joint.clear()
    return ask_each(model, question, [passage.text for passage in passages])


def yes_or_no(model: LanguageModel, asked: Sequence[Prompt]) -> list[Choice | Exception]:
    """A constrained yes or no for each prompt, in order; a prompt that does not fit the context is an error.

    Such a prompt does not harm the others, which are then asked one by one.
    """
    try:
        return model.choose(asked, YES_NO_OPTIONS)
    except ContextOverflow as error:
        if len(asked) == 1:
            return [error]
    return [choice for prompt in asked for choice in yes_or_no(model, [prompt])]


def _checked(choice: Choice | Exception) -> Choice | Exception:
    """The choice, or an error if it is neither yes nor no."""
    if isinstance(choice, Choice) and choice.text not in YES_NO_OPTIONS:
        return LocalCragError(f"the grade is {choice.text!r}, neither yes nor no")
    return choice
