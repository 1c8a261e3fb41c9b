"""Hints at filters that hide relevant passages; a filter is never dropped silently."""

from __future__ import annotations

from shlex import quote

from localcrag.crag.state import QuestionState
from localcrag.events import Steps, Suggested, result_of
from localcrag.filters import Filter, relaxations, spelled


def suggest_filter(state: QuestionState, filter: Filter) -> Steps[None]:
    """Suggest the least relaxed filter under which a further passage is surely relevant, if there is one.

    A passage is surely relevant if its confidence reaches the upper threshold of the grader. The passages
    that these searches find do not become evidence.

    Args:
        state: the question, after its evidence was found under the filter.
        filter: the filter that the user gave.
    """
    adapters = state.adapters
    for relaxed in relaxations(filter):
        hits = result_of(state.retriever.search([state.question], state.question, relaxed))
        fresh = [hit for hit in hits if hit.passage.id not in state.seen]
        grades = [
            grade
            for grade in adapters.grader.grade(state.question, fresh)
            if (grade.confidence or 0.0) >= adapters.grader.thresholds.upper
        ]
        if grades:
            how = f"with --filter {quote(spelled(relaxed))}" if relaxed else "without the filter"
            places = "1 passage" if len(grades) == 1 else f"{len(grades)} passages"
            yield Suggested(f"{how}, {places} more would help, in {grades[0].hit.passage.source}")
            return
