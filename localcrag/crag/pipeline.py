"""The corrective loop: a generator of events that ends in Finished(answer).

It is algorithm 1 of the CRAG paper (Yan et al. 2024, arXiv 2401.15884), read from top to bottom:

=============================  =======  ====================================================
step                           section  here
=============================  =======  ====================================================
understand the question        –        ``_understand``: condense, divide
retrieve, grade each passage   4.2      ``gather_evidence``, :mod:`.retrieval`, :mod:`.graders`
choose the action              4.3      ``emit_decision``, :mod:`.policy`, :mod:`.sureness`
compute over a table           –        ``_search``, :mod:`.table_questions`, :mod:`.aggregation`
correct what is weak           4.5      ``_correct``, :mod:`.correction`
refine into strips             4.4      ``_refine``, :mod:`.refinement`
write, check, ground           –        ``_answer``, :mod:`.generation`, :mod:`.grounding`
or quote, or fill a schema     –        :mod:`.quotation`, :mod:`.structured_generation`
=============================  =======  ====================================================

Corrections that need no network are tried before the one that does. With the agent
(:mod:`.agent`), a plan takes the place of the fixed steps between retrieving and refining.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from localcrag.crag import agent, generation
from localcrag.crag.answer_builder import AnswerBuilder
from localcrag.crag.condense import Standalone, condense
from localcrag.crag.correction import correct_by
from localcrag.crag.decomposition import divide, may_have_parts
from localcrag.crag.filter_hints import suggest_filter
from localcrag.crag.graders import ask
from localcrag.crag.grading import emit_decision, grade_hits
from localcrag.crag.passage_scores import strip_scores
from localcrag.crag.policy import nearest, relevant, settled
from localcrag.crag.query_terms import terms
from localcrag.crag.refinement.knowledge_strips import span, statements, whole, wholes
from localcrag.crag.refinement.row_selection import narrowed_to_rows
from localcrag.crag.refinement.strip_context import in_context
from localcrag.crag.refinement.strip_filter import refine, standing_out
from localcrag.crag.refinement.strip_kinds import says_more
from localcrag.crag.refinement.strip_windows import windows
from localcrag.crag.row_lookup import is_one_of_many
from localcrag.crag.shared_web_access import SharedWebAccess
from localcrag.crag.state import (
    Adapters,
    Finding,
    Outcome,
    PipelineOptions,
    Query,
    QuestionState,
    timed,
)
from localcrag.crag.structured_answers.structured_generation import fill_schema
from localcrag.crag.sureness import borne_out, missing_numbers, stands_alone
from localcrag.crag.table_answers.aggregation import compute, show_computed
from localcrag.crag.table_answers.table_questions import recognised
from localcrag.crag.unread import say_unread
from localcrag.events import Degraded, Delta, Event, Finished, PartSettled, Refined, Steps
from localcrag.output_schema.output_shape import OutputSchema
from localcrag.types import (
    Action,
    Choice,
    CorrectionKind,
    Grade,
    GraderKind,
    Hit,
    Origin,
    Passage,
    Policy,
    Status,
    Strip,
    StripKind,
    Verdict,
)

NOT_FOUND = {
    True: "Neither your documents nor the web pages that were read answer this.",
    False: "Your documents do not answer this.",
}
"""The text of the answer if nothing was found; the key says whether web pages were read."""
NOT_TOLD = "what was found does not tell of {numbers}, which your question names"
MODEL_STRIP_FLOOR = 0.5
"""The P(yes) that a strip must reach if the language model judges it, for lack of an evaluator."""
WINDOW_FLOOR = 0.5
"""The probability that a window must reach if no sentence by itself was kept."""
STANDING_OUT_GRADE, STANDING_OUT_FLOOR = 0.2, 0.04
"""The grade of a passage from which on its window that stands out is shown, though none reached a floor, and
the probability that such a window must have if the grade is lower."""
_GRADERS_OF_EVALUATOR = frozenset({GraderKind.EVALUATOR, GraderKind.FUSED})
CUTTERS: Mapping[StripKind, Sequence[Callable[[Passage], Sequence[Strip]]]] = {
    StripKind.SENTENCE: (statements, windows),
    StripKind.WINDOW: (windows,),
    StripKind.NONE: (wholes,),
}
"""How relevant passages are cut; the next way is tried if no strip of the one before reaches the floor."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Answers a question with the given adapters and options."""

    adapters: Adapters
    options: PipelineOptions

    def run(self, query: Query) -> Iterator[Event]:
        """The events of one question; the last one is Finished, with the answer.

        Raises the error of an adapter if the loop cannot go on without it: StoreError, FilterError,
        ModelNotFound, ModelFileError, ContextOverflow.
        """
        started = perf_counter()
        builder = AnswerBuilder(query.question, self.options.mode, self.options.policy)
        steps = self._steps(query)
        while True:
            try:
                event = next(steps)
            except StopIteration as stop:
                outcome: Outcome = stop.value
                break
            builder.add(event)
            yield event
        yield Finished(builder.answer(outcome, perf_counter() - started))

    def _steps(self, query: Query) -> Steps[Outcome]:
        """Understand the question, find the evidence for each part of it, and answer from all evidence."""
        if self.options.without_model:
            yield Degraded("model", self.options.without_model)
        (question, is_doubtful), parts = yield from self._understand(query)
        state = QuestionState(self.adapters, self.options, question, query.question, query.filter)
        state.doubtful = is_doubtful
        if len(parts) > 1:
            findings = yield from self._find_each(state, parts, alone=not query.history)
        else:
            findings = [(yield from self._find(state))]
        outcome = yield from timed(self.adapters, "generate", self._answer(state, findings))
        for finding in findings:
            if query.filter is not None and not finding.sure:
                yield from timed(self.adapters, "suggest", suggest_filter(finding.state, query.filter))
        return outcome

    def _understand(self, query: Query) -> Steps[tuple[Standalone, list[str]]]:
        """Rewrite the question as a standalone one, and divide it; returns both, with itself as one part."""
        adapters, options, asked = self.adapters, self.options, Standalone(query.question)
        if query.history:
            condensed = condense(adapters.model, query.history, query.question, extractive=options.extractive)
            asked = yield from timed(adapters, "condense", condensed)
        if not options.divide or options.agent is not None or not may_have_parts(asked.question):
            return asked, [asked.question]
        divided = divide(adapters.model, asked.question, by_rule=options.divide_by_rule)
        return asked, (yield from timed(adapters, "divide", divided))

    def _find_each(self, whole: QuestionState, parts: Sequence[str], *, alone: bool) -> Steps[list[Finding]]:
        """Find the evidence for each part separately.

        With a conversation before the question (``alone`` is False), the web query of every part is made
        from the user's whole question, and is sent only once. For the first part that nothing is found for,
        the whole question is asked of the documents as well: division may have taken what names the subject.
        What it finds belongs to the part if it shares a word with it that the other parts do not have.
        """
        shared, findings = SharedWebAccess(), list[Finding]()
        adapters, options = shared.wrap(self.adapters, replace(self.options, tables=False))
        undivided: tuple[Strip, ...] | None = None
        for part in parts:
            state = QuestionState(adapters, options, part, part if alone else whole.asked, whole.filter)
            state.doubtful = whole.doubtful
            finding = yield from shared.without_repeats(self._find(state))
            whole.grades += state.grades
            if not finding.strips or finding.weak:
                undivided = (yield from self._find_undivided(whole)) if undivided is None else undivided
                known = {span(strip) for earlier in findings for strip in earlier.strips}
                others = [other for other in parts if other != part]
                left = [strip for strip in undivided if span(strip) not in known]
                found = _of_part(left, part, others) or finding.strips
                finding = replace(finding, strips=found, sure=False)
            findings.append(finding)
            yield PartSettled(part, finding.status, state.action or Action.INCORRECT)
        return findings

    def _find_undivided(self, whole: QuestionState) -> Steps[tuple[Strip, ...]]:
        """The strips that the documents have for a whole question; nothing is corrected for it."""
        options = replace(self.options, corrections=(), tables=False)
        adapters = replace(self.adapters, web=None)
        state = QuestionState(adapters, options, whole.question, whole.asked, whole.filter)
        finding = yield from self._find(state)
        whole.grades += state.grades
        return finding.strips

    def _find(self, state: QuestionState) -> Steps[Finding]:
        """Gather passages for one question, and keep the strips of them that help."""
        search = gather_evidence if self.options.agent is None else agent.gather_evidence
        bound = yield from search(state)
        if state.computed:
            return Finding(state, state.computed.rows, sure=not state.doubtful)
        kept = yield from timed(self.adapters, "refine", self._refine(state))
        if kept and (missing := missing_numbers(kept, state.question)):
            state.doubtful = True
            yield Degraded("answer", NOT_TOLD.format(numbers=", ".join(missing)))
        weak = self._is_weak(kept)
        sure = not weak and self._is_sure(state, kept) and not state.doubtful
        sure = sure and not _goes_over_rows(state, kept)
        return Finding(state, tuple(kept), sure, bound, weak)

    def _is_weak(self, kept: Sequence[Strip]) -> bool:
        """Whether no strip reaches the evaluator's floor: then one is shown only since it stands out."""
        evaluator = self.adapters.evaluator
        return evaluator is not None and all(strip.score < evaluator.thresholds.lower for strip in kept)

    def _is_sure(self, state: QuestionState, kept: Sequence[Strip]) -> bool:
        """Whether the evidence is enough: by the policy, or as the evaluator judges strips and passages.

        If no passage could be graded, it is not, however sure a strip seems.
        """
        policy = self.options.policy
        if all(grade.verdict is Verdict.ERROR for grade in state.grades):
            return False
        if settled(state.grades, policy, self.adapters.grader.thresholds):
            return True
        if policy is not Policy.CRAG or self.adapters.evaluator is None:
            return False
        return borne_out(kept) or (self._is_graded_by_evaluator and stands_alone(kept, state.grades))

    @property
    def _is_graded_by_evaluator(self) -> bool:
        """Whether the confidences of the grades are on the scale that the evaluator's thresholds are on."""
        return self.adapters.grader.kind in _GRADERS_OF_EVALUATOR

    def _refine(self, state: QuestionState) -> Steps[list[Strip]]:
        """Cut the relevant passages into strips, and keep the best ones.

        The evaluator judges the strips; if there is none, the language model does. With strips ``none``,
        the passages are kept whole. What the evaluator holds to be below its lower threshold is no
        evidence, whoever judged the passage to help; if that is every sentence, since the answer goes over
        several, windows of them are tried, which must be more probable than not, or stand out.
        """
        thresholds = self.adapters.grader.thresholds
        passages = relevant(state.grades, self.options.policy, thresholds)
        if not passages and self._is_graded_by_evaluator:
            passages = nearest(state.grades, thresholds)
        if not passages:
            return []
        if self.adapters.evaluator is None and self.options.strips is StripKind.NONE:
            return [whole(grade.hit.passage, grade.confidence or 0.0) for grade in passages]
        kept: list[Strip] = []
        dropped = 0
        for cutter in CUTTERS[self.options.strips]:
            every = (strip for grade in passages for strip in cutter(grade.hit.passage))
            cut = [strip for strip in every if says_more(strip, state.question)]
            kept, dropped = yield from self._judged(state, cut)
            if cutter is not CUTTERS[self.options.strips][0]:
                kept = [strip for strip in kept if strip.score >= WINDOW_FLOOR]
                kept = [row for strip in kept for row in narrowed_to_rows(strip, state.question)]
            if kept:
                break
        else:
            kept = self._standing_out(state, passages)
        if dropped or self.options.strips is not StripKind.NONE:
            yield Refined(tuple(kept), dropped)
        return kept

    def _standing_out(self, state: QuestionState, passages: Sequence[Grade]) -> list[Strip]:
        """The window of the best passage that stands out, if no sentence of any was judged to answer.

        If the evaluator judged the passage itself to help, it is its best window even if none stands out.
        ``passages`` are the grades of the relevant passages, best first.
        """
        evaluator, best = self.adapters.evaluator, passages[0]
        if evaluator is None:
            return []
        cut = windows(best.hit.passage)
        scores = strip_scores(evaluator, state.question, cut)
        found = standing_out(cut, scores, state.question)
        if not found and best.verdict is Verdict.YES and self._is_graded_by_evaluator:
            found = refine(cut, scores, limit=1, floor=0.0, keep_best=True)[0]
        floor = 0.0 if (best.confidence or 0.0) >= STANDING_OUT_GRADE else STANDING_OUT_FLOOR
        kept = [strip for strip in found if strip.score >= floor]
        return [row for strip in kept for row in narrowed_to_rows(strip, state.question)]

    def _judged(self, state: QuestionState, cut: Sequence[Strip]) -> Steps[tuple[list[Strip], int]]:
        """The strips that help, with their scores, and the number of the others."""
        options, evaluator = self.options, self.adapters.evaluator
        if evaluator is not None:
            scores, floor = strip_scores(evaluator, state.question, cut), evaluator.thresholds.lower
        else:
            choices = ask(self.adapters.model, state.question, [in_context(strip) for strip in cut])
            scores = [choice.probabilities[0] if isinstance(choice, Choice) else 0.0 for choice in choices]
            floor = MODEL_STRIP_FLOOR
            if failed := [choice for choice in choices if isinstance(choice, Exception)]:
                yield Degraded("refine", f"{len(failed)} strips could not be judged: {failed[0]}")
        limit = len(cut) if options.strips is StripKind.NONE else options.evidence
        return refine(cut, scores, limit=limit, floor=floor, keep_best=evaluator is None)

    def _answer(self, whole: QuestionState, findings: Sequence[Finding]) -> Steps[Outcome]:
        """Generate the answer from the evidence, or say that nothing was found."""
        if len(findings) == 1 and (computed := findings[0].state.computed):
            return (yield from show_computed(computed, sure=findings[0].sure))
        if self.options.output is not None:
            return (yield from self._fill(whole, findings, self.options.output))
        outcome = Outcome(Status.NOT_FOUND)
        if any(finding.strips for finding in findings):
            outcome = yield from generation.answer(whole, findings)
        if not outcome.found:
            self.adapters.store.require_whole(thorough=True)
            web = any(grade.hit.passage.origin is Origin.WEB for grade in whole.grades)
            yield Delta(NOT_FOUND[web])
            yield from say_unread(self.adapters.store)
        for finding in findings:
            if len(findings) > 1 and not finding.strips:
                yield Degraded("answer", f"nothing was found for: {finding.state.question}")
        if any(finding.bound for finding in findings):
            return replace(outcome, cut_short=True)
        return outcome

    def _fill(
        self, whole: QuestionState, findings: Sequence[Finding], schema: OutputSchema
    ) -> Steps[Outcome]:
        """Answer in the form of a schema, in which what is not found is null."""
        outcome = yield from fill_schema(whole, findings, schema)
        if not outcome.found:
            self.adapters.store.require_whole(thorough=True)
            yield from say_unread(self.adapters.store)
        return replace(outcome, cut_short=any(finding.bound for finding in findings))


def _goes_over_rows(state: QuestionState, kept: Sequence[Strip]) -> bool:
    """Whether the question goes over all rows of a table, and the evidence is one that it does not name.

    "How many are there?" and "which has the most?" are answered by code if at all.
    """
    best = max(kept, key=lambda strip: strip.score, default=None)
    return (
        best is not None and is_one_of_many(state.question, best) and recognised(state.question) is not None
    )


def _of_part(found: Sequence[Strip], part: str, others: Sequence[str]) -> tuple[Strip, ...]:
    """Those of the strips found for a whole question that have a word which only this part of it has."""
    own = terms(part) - terms(" ".join(others))
    return tuple(strip for strip in found if terms(in_context(strip)) & own)


def gather_evidence(state: QuestionState) -> Steps[str]:
    """Search the documents, grade the hits, and correct unless the decided action is ``correct``.

    The grades are added to ``state.grades``. Returns "", since this loop has no bound at which it stops.
    """
    state.mark_tried([state.question])
    hits = state.mark_seen((yield from timed(state.adapters, "retrieve", _search(state))))
    if state.computed:
        return ""
    yield from timed(state.adapters, "grade", grade_hits(state, hits))
    if (yield from emit_decision(state)) is not Action.CORRECT:
        yield from timed(state.adapters, "correct", _correct(state))
    return ""


def _search(state: QuestionState) -> Steps[list[Hit]]:
    """The hits that go on to grading; none if the question was computed over the rows of a table."""
    found = yield from state.retriever.found([state.question], state.filter)
    asked = recognised(state.question) if state.options.tables else None
    if asked is not None:
        computed = compute(state, asked, found)
        state.computed = yield from timed(state.adapters, "compute", computed)
    return [] if state.computed else (yield from state.retriever.best(found, state.question))


def _correct(state: QuestionState) -> Steps[None]:
    """Make one correction after the other, until the policy holds the evidence to be enough."""
    for kind in (*state.options.corrections, CorrectionKind.WEB):
        fresh = yield from correct_by(kind, state)
        if not fresh:
            continue
        yield from grade_hits(state, fresh)
        if settled(state.grades, state.options.policy, state.adapters.grader.thresholds):
            break
    yield from emit_decision(state, "after correction: ")
