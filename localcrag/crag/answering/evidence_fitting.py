"""The evidence that fits the context of the language model beside the answer."""

from __future__ import annotations

from localcrag.crag.prompt_layout import PromptLayout
from localcrag.crag.state import QuestionState
from localcrag.errors import ContextOverflow
from localcrag.events import Degraded, Steps
from localcrag.types import Evidence


def fitting_evidence(
    state: QuestionState, evidence: list[Evidence], layout: PromptLayout
) -> Steps[list[Evidence]]:
    """The evidence that fits the context with the answer; the least probable pieces are dropped first.

    Raises ContextOverflow if not even one piece fits.
    """
    model = state.adapters.model
    room = model.context - state.options.answer_tokens
    ranked = sorted(evidence, key=lambda item: -item.strip.score)
    while ranked:
        kept = sorted(ranked, key=lambda item: item.key)
        if (needed := model.count(layout.answer(state.question, kept))) <= room:
            break
        ranked.pop()
    if not ranked and evidence:
        raise ContextOverflow(
            f"the answer needs {needed} tokens for one passage alone, and the context holds {model.context}",
            hint="raise model.context, or ask a shorter question",
        )
    if dropped := len(evidence) - len(ranked):
        yield Degraded("evidence", f"{dropped} of {len(evidence)} pieces did not fit the context")
    return sorted(ranked, key=lambda item: item.key)
