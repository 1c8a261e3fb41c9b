"""The step from graded passages to evidence: the relevant ones are cut, judged, and the best strips kept.

It is knowledge refinement, section 4.4 of the CRAG paper (Yan et al. 2024, arXiv 2401.15884), with the parts
in :mod:`.refinement`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from localcrag.calibration.scale import log_odds
from localcrag.crag.doubts.sureness import is_graded_by_evaluator
from localcrag.crag.judges.passage_scores import moved_by, strip_scores
from localcrag.crag.judges.yes_no_choices import ask_each
from localcrag.crag.policy import confidences_of, nearest, relevant
from localcrag.crag.refinement.knowledge_strips import statements, whole, wholes
from localcrag.crag.refinement.release_headings import asks_for_release, release_heading
from localcrag.crag.refinement.strip_context import in_context
from localcrag.crag.refinement.strip_filter import refine, standing_out
from localcrag.crag.refinement.strip_kinds import says_more
from localcrag.crag.refinement.strip_windows import windows
from localcrag.crag.refinement.task_states import without_unasked_tasks
from localcrag.crag.rows.row_selection import narrowed_to_rows, of_the_day, of_the_entry
from localcrag.crag.state import QuestionState
from localcrag.events import Degraded, Refined, Steps
from localcrag.types import Choice, Grade, Origin, Passage, Strip, StripKind, Verdict

MAX_PASSAGES_OF_RELEASES = 600
"""The most passages of a document in which the heading of a release is looked for."""
MODEL_STRIP_FLOOR = 0.5
"""The P(yes) that a strip must reach if the language model judges it, for lack of an evaluator."""
WINDOW_FLOOR = 0.5
"""The probability that a window must reach if no sentence by itself was kept."""
MAX_CUT_PASSAGES, PASSAGE_WEIGHT = 6, 0.3
"""How many of the passages that an evaluator graded are cut, and the share of the distance of a passage's
log-odds from those of the best one that the log-odds of its strips lose."""
STANDING_OUT_GRADE, STANDING_OUT_FLOOR = 0.2, 0.02
"""The grade of a passage from which on its best window is shown, though none reached a floor, and the
probability that a window which stands out must have if the grade is lower."""
CUTTERS: Mapping[StripKind, Sequence[Callable[[Passage], Sequence[Strip]]]] = {
    StripKind.SENTENCE: (statements, windows),
    StripKind.WINDOW: (windows,),
    StripKind.NONE: (wholes,),
}
"""How passages are cut; the next way is tried if no strip of the one before reaches the floor."""


def select_evidence(state: QuestionState) -> Steps[list[Strip]]:
    """Cut the relevant passages into strips, and keep the best ones.

    The evaluator judges the strips; if there is none, the language model does. With strips ``none``,
    the passages are kept whole. Of what an evaluator graded, the next best passages are cut as well, since it
    often doubts a passage of which one sentence answers; their strips count for less. What the evaluator
    holds to be below its lower threshold is no evidence, whoever judged the passage to help; if that is every
    sentence, since the answer goes over several, windows of them are tried, which must be more probable than
    not, or stand out. The day of a release is told by the heading of its entry alone.
    """
    if told := _release(state):
        yield Refined((told,), 0)
        return [told]
    thresholds = state.adapters.grader.thresholds
    passages = relevant(state.grades, state.options.policy, thresholds)
    if not passages and is_graded_by_evaluator(state):
        passages = nearest(state.grades, thresholds)
    if not passages:
        return []
    if state.adapters.evaluator is None and state.options.strips is StripKind.NONE:
        return [whole(grade.hit.passage, grade.confidence or 0.0) for grade in passages]
    offsets = dict[str, float]()
    if is_graded_by_evaluator(state) and state.options.strips is not StripKind.NONE:
        offsets = _offsets(state.grades)
        passages = [*passages, *_less_relevant(state.grades, passages)]
    kept: list[Strip] = []
    dropped = 0
    for cutter in CUTTERS[state.options.strips]:
        every = (strip for grade in passages for strip in cutter(grade.hit.passage))
        cut = _telling(every, state.question)
        kept, dropped = yield from _judged(state, cut, offsets)
        if cutter is not CUTTERS[state.options.strips][0]:
            kept = [strip for strip in kept if strip.score >= WINDOW_FLOOR]
            kept = [row for strip in kept for row in narrowed_to_rows(strip, state.question)]
        if kept:
            break
    else:
        kept = _standing_out(state, passages)
    if dropped or state.options.strips is not StripKind.NONE:
        yield Refined(tuple(kept), dropped)
    return kept


def _release(state: QuestionState) -> Strip | None:
    """The heading of the release whose day is asked for, also in passages that the search did not find."""
    if not asks_for_release(state.question):
        return None
    found = [grade.hit.passage for grade in state.grades]
    if told := release_heading(state.question, found):
        return told
    documents = {passage.source: passage.document for passage in found if passage.origin is not Origin.WEB}
    every = state.adapters.store.passages(documents, limit=MAX_PASSAGES_OF_RELEASES)
    return release_heading(state.question, every)


def _less_relevant(grades: Sequence[Grade], relevant: Sequence[Grade]) -> list[Grade]:
    """The next best passages after the relevant ones, so that ``MAX_CUT_PASSAGES`` are cut if there are."""
    known, others = {grade.hit.passage.id for grade in relevant}, dict[str, Grade]()
    for grade in sorted(grades, key=lambda grade: -(grade.confidence or 0.0)):
        if grade.verdict is not Verdict.ERROR and grade.hit.passage.id not in known:
            others.setdefault(grade.hit.passage.id, grade)
    return list(others.values())[: max(0, MAX_CUT_PASSAGES - len(relevant))]


def _offsets(grades: Sequence[Grade]) -> dict[str, float]:
    """What is added to the log-odds of the strips of each passage, by its id: at most 0, that of the best."""
    odds = {passage: PASSAGE_WEIGHT * log_odds(p) for passage, p in confidences_of(grades).items()}
    best = max(odds.values(), default=0.0)
    return {passage: each - best for passage, each in odds.items()}


def _standing_out(state: QuestionState, passages: Sequence[Grade]) -> list[Strip]:
    """The window or sentence of the best passage that stands out, if none of any was judged to answer.

    If the passage itself may help, by a grade of ``STANDING_OUT_GRADE``, it is its best window even if none
    stands out. ``passages`` are the grades of the relevant passages, best first.
    """
    evaluator, best = state.adapters.evaluator, passages[0]
    if evaluator is None:
        return []
    confidence = best.confidence or 0.0
    floor = 0.0 if confidence >= STANDING_OUT_GRADE else STANDING_OUT_FLOOR
    cuts = [_telling(cutter(best.hit.passage), state.question) for cutter in (windows, statements)]
    scores = [strip_scores(evaluator, state.question, cut) for cut in cuts]
    each = (standing_out(cut, p, state.question) for cut, p in zip(cuts, scores, strict=True))
    found = next((out for out in each if out and out[0].score >= floor), [])
    if not found and confidence >= STANDING_OUT_GRADE and is_graded_by_evaluator(state):
        found = refine(cuts[0], scores[0], limit=1, floor=0.0, keep_best=True)[0]
    return [row for strip in found for row in narrowed_to_rows(strip, state.question)]


def _telling(cut: Iterable[Strip], question: str) -> list[Strip]:
    """The strips that say more than the question does, and are not of another day or state than it names."""
    telling = (strip for strip in cut if says_more(strip, question))
    return of_the_day(of_the_entry(without_unasked_tasks(telling, question), question), question)


def _judged(
    state: QuestionState, cut: Sequence[Strip], offsets: Mapping[str, float]
) -> Steps[tuple[list[Strip], int]]:
    """The strips that help, with their scores, and the number of the others.

    ``offsets`` are added to the log-odds of the strips, by the ids of their passages.
    """
    options, evaluator = state.options, state.adapters.evaluator
    if evaluator is not None:
        judge, by_strip = state.adapters.strip_judge, [offsets.get(strip.passage.id, 0.0) for strip in cut]
        if judge is not None:
            scores = judge.score(state.question, cut, by_strip)
        else:
            scores = moved_by(strip_scores(evaluator, state.question, cut), by_strip)
        floor = evaluator.thresholds.lower
    else:
        choices = ask_each(state.adapters.model, state.question, [in_context(strip) for strip in cut])
        scores = [choice.probabilities[0] if isinstance(choice, Choice) else 0.0 for choice in choices]
        floor = MODEL_STRIP_FLOOR
        if failed := [choice for choice in choices if isinstance(choice, Exception)]:
            yield Degraded("refine", f"{len(failed)} strips could not be judged: {failed[0]}")
    limit = len(cut) if options.strips is StripKind.NONE else options.evidence
    return refine(cut, scores, limit=limit, floor=floor, keep_best=evaluator is None)
