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
refine into strips             4.4      :mod:`.evidence_selection`, :mod:`.refinement`
write, check, ground           –        ``_answer``, :mod:`.generation`, :mod:`.grounding`
or quote, or fill a schema     –        :mod:`.quotation`, :mod:`.structured_generation`
=============================  =======  ====================================================

Corrections that need no network are tried before the one that does. With the agent
(:mod:`.agent`), a plan takes the place of the fixed steps between retrieving and refining.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from localcrag.crag import agent
from localcrag.crag.answering import generation
from localcrag.crag.answering.aggregation import compute, show_computed
from localcrag.crag.answering.answer_builder import AnswerBuilder
from localcrag.crag.answering.closest_passages import say_closest
from localcrag.crag.answering.unsure_tables import compute_unsure, confirmed
from localcrag.crag.correction import correct_by, corrections_for, keep_better_question
from localcrag.crag.doubts.amendments import with_amendments, with_corrections
from localcrag.crag.doubts.empty_fields import empty_fields
from localcrag.crag.doubts.reasons import has_doubts
from localcrag.crag.doubts.sureness import (
    is_sure,
    is_weak,
    loses_best,
)
from localcrag.crag.doubts.told_numbers import contradicted_numbers, missing_numbers
from localcrag.crag.doubts.told_options import missing_options
from localcrag.crag.evidence_selection import select_evidence
from localcrag.crag.filter_hints import suggest_filter
from localcrag.crag.grading import emit_decision, grade_hits, say_if_foreign
from localcrag.crag.part_evidence import beside, stands_whole, tells_all
from localcrag.crag.policy import settled
from localcrag.crag.questions.condense import Standalone, condense
from localcrag.crag.questions.courtesy import is_courtesy
from localcrag.crag.questions.decomposition import divide, may_have_parts
from localcrag.crag.questions.document_versions import of_asked_version
from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.current_versions import of_last_version
from localcrag.crag.refinement.knowledge_strips import span
from localcrag.crag.refinement.named_documents import of_named_document
from localcrag.crag.refinement.strip_context import in_context
from localcrag.crag.refinement.strip_filter import best_score
from localcrag.crag.rows.coded_rows import without_other_codes
from localcrag.crag.rows.phrase_rows import with_phrase_row
from localcrag.crag.rows.row_selection import with_named_row, with_row_in_range, without_other_rows
from localcrag.crag.rows.spelled_rows import with_spelled_row
from localcrag.crag.second_opinion import read_passages, reconsidered
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
from localcrag.crag.table_answers.lookup_questions import TABLE_FORMS
from localcrag.crag.table_answers.named_files import is_named, of_named_file
from localcrag.crag.unread import say_unread
from localcrag.events import Degraded, Delta, Event, Finished, PartSettled, Steps, observed
from localcrag.languages import is_across_english
from localcrag.output_schema.output_shape import OutputSchema
from localcrag.types import (
    Action,
    CorrectionKind,
    Hit,
    Origin,
    Status,
    Strip,
)

NOT_FOUND = {
    True: "Neither your documents nor the web pages that were read answer this.",
    False: "Your documents do not answer this.",
}
"""The text of the answer if nothing was found; the key says whether web pages were read."""
NO_QUESTION = "That asks nothing of your documents."
"""The text of the answer to thanks and greetings."""
NOT_TOLD = "what was found does not tell of {numbers}, which your question names"
LEFT_EMPTY = "what was found leaves {fields} empty, which your question asks for"


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
        outcome = yield from observed(self._steps(query), builder.add)
        yield Finished(builder.answer(outcome, perf_counter() - started))

    def _steps(self, query: Query) -> Steps[Outcome]:
        """Understand the question, find the evidence for each part of it, and answer from all evidence."""
        if is_courtesy(query.question) and self.options.output is None:
            yield Delta(NO_QUESTION)
            return Outcome(Status.NOT_FOUND)
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
            condensed = condense(
                adapters.model,
                query.history,
                query.question,
                extractive=options.extractive,
                english_only=options.english_only,
            )
            asked = yield from timed(adapters, "condense", condensed)
        if not options.divide or options.agent is not None or not may_have_parts(asked.question):
            return asked, [asked.question]
        divided = divide(adapters.model, asked.question, by_rule=options.divide_by_rule)
        return asked, (yield from timed(adapters, "divide", divided))

    def _find_each(self, whole: QuestionState, parts: Sequence[str], *, alone: bool) -> Steps[list[Finding]]:
        """Find the evidence for each part separately.

        With a conversation before the question (``alone`` is False), the web query of every part is made
        from the user's whole question, and is sent only once. For the first part that nothing is found for,
        or nothing sure if an evaluator judges, the whole question is asked of the documents as well: division
        may have taken what names the subject. If what it finds is better evidence (:mod:`.part_evidence`), it
        is the only finding. Otherwise it belongs to the part if it shares a word with it that the other parts
        do not have, or if it is evidence of an earlier part that answers the whole question better than that
        part alone. Across languages there are no such words: there it belongs to every part that has nothing
        as probable.
        """
        shared, findings = SharedWebAccess(), list[Finding]()
        adapters, options = shared.wrap(self.adapters, replace(self.options, tables=False))
        undivided: Finding | None = None
        for part in parts:
            state = QuestionState(adapters, options, part, part if alone else whole.asked, whole.filter)
            state.doubtful = whole.doubtful
            finding = yield from shared.without_repeats(self._find(state))
            whole.grades += state.grades
            is_lacking = not finding.strips or finding.weak
            if is_lacking or (adapters.evaluator is not None and not finding.sure):
                undivided = undivided or (yield from self._find_undivided(whole))
            if undivided is not None and is_lacking:
                known = {span(strip): strip.score for earlier in findings for strip in earlier.strips}
                others = [other for other in parts if other != part]
                left = [strip for strip in undivided.strips if span(strip) not in known]
                both = tuple(s for s in undivided.strips if s.score > known.get(span(s), math.inf))
                own = finding.strips or both
                found = _of_part(left, part, others) or _more_probable(undivided.strips, own, part)
                finding = replace(finding, strips=found, sure=False)
            elif undivided is not None and not finding.sure:
                near = beside(undivided.strips, finding.strips, findings)
                finding = replace(finding, strips=near or finding.strips)
            findings.append(finding)
            yield PartSettled(part, finding.status, state.action or Action.INCORRECT)
        if adapters.evaluator is not None and undivided is not None and stands_whole(undivided, findings):
            return [replace(undivided, sure=undivided.sure and tells_all(undivided, parts))]
        return findings

    def _find_undivided(self, whole: QuestionState) -> Steps[Finding]:
        """What the documents have for a whole question; nothing is corrected for it."""
        options = replace(self.options, corrections=(), tables=False)
        adapters = replace(self.adapters, web=None)
        state = QuestionState(adapters, options, whole.question, whole.asked, whole.filter)
        finding = yield from self._find(state)
        whole.grades += state.grades
        return finding

    def _find(self, state: QuestionState) -> Steps[Finding]:
        """Gather passages for one question, and keep the strips of them that help."""
        search = gather_evidence if self.options.agent is None else agent.gather_evidence
        is_ambiguous = state.doubtful
        bound = yield from search(state)
        if state.computed:
            sure = not state.doubtful
            if not sure and not is_ambiguous:
                asked = timed(self.adapters, "compute", confirmed(state, state.computed))
                state.computed, sure = yield from asked
            return Finding(state, state.computed.rows, sure)
        kept = yield from timed(self.adapters, "refine", select_evidence(state))
        passages = [grade.hit.passage for grade in state.grades]
        kept = of_last_version(kept, state.question, passages)
        kept = with_row_in_range(of_named_document(kept, state.question), state.question)
        kept = with_phrase_row(with_named_row(kept, state.question), state.question)
        kept = without_other_codes(with_spelled_row(kept, state.question, passages), state.question)
        shown = without_other_rows(kept, state.question)
        lack = _told_lack(shown, state.question) if kept else ""
        state.doubtful = state.doubtful or bool(lack)
        weak = is_weak(state, shown)
        sure = not weak and is_sure(state, shown) and not state.doubtful and not loses_best(kept, shown)
        sure = sure and not has_doubts(state, kept, shown)
        if not sure:
            computed = yield from timed(self.adapters, "compute", compute_unsure(state, shown))
            if computed is not None:
                state.computed, sure = computed
                return Finding(state, state.computed.rows, sure=sure and not is_ambiguous)
        if lack:
            yield Degraded("answer", lack)
        kept = with_corrections((yield from with_amendments(state, kept)))
        return Finding(state, tuple(kept), sure, bound, weak)

    def _answer(self, whole: QuestionState, findings: Sequence[Finding]) -> Steps[Outcome]:
        """Generate the answer from the evidence, or say that nothing was found."""
        if len(findings) == 1 and (computed := findings[0].state.computed):
            return (yield from show_computed(computed, sure=findings[0].sure))
        if self.options.output is not None:
            return (yield from self._fill(whole, findings, self.options.output))
        findings = yield from reconsidered(whole, findings)
        outcome = Outcome(Status.NOT_FOUND)
        if any(finding.evidence for finding in findings):
            outcome = yield from generation.answer(whole, findings)
        if not outcome.found:
            self.adapters.store.require_whole(thorough=True)
            web = any(grade.hit.passage.origin is Origin.WEB for grade in whole.grades)
            yield Delta(NOT_FOUND[web])
            yield from self._say_what_is_near(whole, findings)
        for finding in findings:
            if len(findings) > 1 and not finding.evidence:
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
            yield from self._say_what_is_near(whole, findings)
        return replace(outcome, cut_short=any(finding.bound for finding in findings))

    def _say_what_is_near(self, whole: QuestionState, findings: Sequence[Finding]) -> Steps[None]:
        """Say what could help where nothing was found: documents to read, and passages to look at."""
        yield from say_unread(self.adapters.store)
        asked = [finding.state for finding in findings]
        for state in asked:
            yield from say_if_foreign(state, [grade.hit for grade in state.grades], thorough=True)
        yield from say_closest(whole.grades, asked)


def _told_lack(shown: Sequence[Strip], question: str) -> str:
    """What the evidence does not tell of the numbers, options and fields that a question names; "" if all."""
    missing = missing_numbers(shown, question) or contradicted_numbers(shown, question)
    if missing := missing + missing_options(shown, question):
        return NOT_TOLD.format(numbers=", ".join(missing))
    fields = empty_fields(shown, question)
    return LEFT_EMPTY.format(fields=", ".join(fields)) if fields else ""


def _of_part(found: Sequence[Strip], part: str, others: Sequence[str]) -> tuple[Strip, ...]:
    """Those of the strips found for a whole question that have a word which only this part of it has."""
    own = terms(part) - terms(" ".join(others))
    return tuple(strip for strip in found if terms(in_context(strip)) & own)


def _more_probable(found: Sequence[Strip], own: Sequence[Strip], part: str) -> tuple[Strip, ...]:
    """The strips found for a whole question if they are in another language and more probable; else own.

    ``own`` are those that were found for the ``part``.
    """
    is_across = all(is_across_english(part, [strip.text for strip in found]))
    return tuple(found if best_score(found) > best_score(own) and is_across else own)


def gather_evidence(state: QuestionState) -> Steps[str]:
    """Search the documents, grade the hits, and correct unless the decided action is ``correct``.

    Nothing is corrected either if a language model that gives a second opinion has read the best passages,
    and believes that they answer. The grades are added to ``state.grades``. Returns "", since this loop has
    no bound at which it stops.
    """
    state.mark_tried([state.question])
    hits = state.mark_seen((yield from timed(state.adapters, "retrieve", _search(state))))
    if state.computed:
        return ""
    yield from timed(state.adapters, "grade", grade_hits(state, hits))
    correct = (yield from emit_decision(state)) is Action.CORRECT
    if not correct and not (yield from read_passages(state)):
        yield from timed(state.adapters, "correct", _correct(state))
        yield from read_passages(state)
    return ""


def _search(state: QuestionState) -> Steps[list[Hit]]:
    """The hits that go on to grading; none if the question was computed over the rows of a table."""
    found = yield from state.retriever.found([state.question], state.filter)
    found = of_asked_version(found, state.question)
    question, file = of_named_file(state.question, {hit.passage.source for hit in found})
    rows = [hit for hit in found if not file or is_named(hit.passage.source, file)]
    asked = TABLE_FORMS if state.options.tables else ()
    for read in asked:
        form = read(question) if state.computed is None else None
        if form is not None:
            state.computed = yield from timed(state.adapters, "compute", compute(state, form, rows))
    return [] if state.computed else (yield from state.retriever.best(found, state.question, state.filter))


def _correct(state: QuestionState) -> Steps[None]:
    """Make one correction after the other, until the policy holds the evidence to be enough."""
    for kind in (*corrections_for(state), CorrectionKind.WEB):
        fresh = yield from correct_by(kind, state)
        if not fresh:
            continue
        yield from grade_hits(state, fresh)
        yield from keep_better_question(state)
        if settled(state.grades, state.options.policy, state.adapters.grader.thresholds):
            break
    yield from emit_decision(state, "after correction: ")
