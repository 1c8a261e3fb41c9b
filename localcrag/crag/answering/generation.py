"""Generation: the model writes the answer, and each sentence is checked against what it cites."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from localcrag.crag.answering.answer_form import (
    MAX_FAILED_SENTENCES,
    MAX_SENTENCES,
    SaidBefore,
    answer_pattern,
    by_sentence,
    citation_marks,
    declines,
    without_keys,
)
from localcrag.crag.answering.citation_check import CitationChecker
from localcrag.crag.answering.citation_narrowing import narrowed_evidence
from localcrag.crag.answering.evidence_fitting import fitting_evidence
from localcrag.crag.answering.grounding import check_agreement, ground, is_unsupported
from localcrag.crag.answering.quotation import quote
from localcrag.crag.answering.stored_quotes import lost_citations
from localcrag.crag.doubts.sureness import borne_out
from localcrag.crag.prompt_layout import IndependentLayout, JointLayout, PromptLayout
from localcrag.crag.refinement.recomposition import with_surroundings
from localcrag.crag.state import Finding, Outcome, QuestionState, timed
from localcrag.errors import ConstraintError
from localcrag.events import Degraded, Delta, Gathered, Steps, Verified
from localcrag.types import (
    Citation,
    Evidence,
    FinishReason,
    Grounding,
    Mode,
    Status,
    Strip,
    Verdict,
)

_QUOTED = "the evidence is quoted instead"


def answer(whole: QuestionState, findings: Sequence[Finding]) -> Steps[Outcome]:
    """Answer the whole question from the evidence found for its parts, in the mode of its options.

    Args:
        whole: the state of the whole question.
        findings: the evidence of each part; a question of one part has one finding.

    Raises ContextOverflow if not even one piece of evidence fits the context.
    """
    make = quote if whole.options.mode is Mode.QUOTE else write
    return (yield from make(whole, findings))


def write(whole: QuestionState, findings: Sequence[Finding]) -> Steps[Outcome]:
    """Have the model write the answer; yields Delta for the sentences that pass the checks.

    A constraint allows only sentences that cite evidence that exists, and each is checked before it is
    shown. The answer ends where the model declines, or says a thing again. If the constraint fails before a
    sentence was kept, no sentence that was written passes, or the model declines although a strip
    surely answers by itself, the evidence is quoted instead, as unsure. A model that has said that the
    evidence answers is not offered to decline.

    Raises ContextOverflow if not even one piece of evidence fits the context.
    """
    kept = with_surroundings(strip for finding in findings for strip in finding.evidence)
    believed = all(finding.believed for finding in findings) and not whole.adapters.model.trained
    layout = _layout_of(whole, kept)
    evidence = yield from fitting_evidence(whole, layout.evidence(kept), layout)
    yield Gathered(tuple(evidence))
    verifier = CitationChecker(whole.question, evidence)
    text = _generated_text(whole, evidence, layout, believed=believed)
    try:
        written, finish, declined = yield from _check_sentences(whole, text, verifier)
    finally:
        text.close()
    surely_answers = whole.adapters.evaluator is not None and borne_out(kept)
    is_overruled = not written and declined and surely_answers
    if is_overruled:
        yield Degraded("answer", f"the chat model declined to answer, though it is answered; {_QUOTED}")
    if is_overruled or (not written and finish is None):
        return (yield from quote(whole, [replace(finding, sure=False) for finding in findings]))
    shown, grounding = yield from _check_grounding(whole, written, evidence)
    compared = evidence
    if any(finding.read for finding in findings):
        verifier.evidence = narrowed_evidence(whole, shown, evidence)
        yield Gathered(tuple(verifier.evidence))
        compared = verifier.cited_evidence(shown)  # what else was read need not agree with it
    agreed = (yield from check_agreement(whole, compared)) if shown else True
    citations = verifier.citations(shown)
    yield Verified(
        (*verifier.removed, *(f"“{text}”: its evidence does not say so" for text in grounding.removed))
    )
    if finish in _TRUNCATION_REASONS:
        yield Degraded("answer", _TRUNCATION_REASONS[finish])
    late = lost_citations(whole, citations, [item.strip.passage for item in evidence])
    for key, reason in late.items():
        yield Degraded("evidence", f"citation [{key}]: {reason}")
    current = not verifier.lost and not late
    sure = current and agreed and grounding.all_supported and not declined
    sure = sure and all(finding.sure for finding in findings)
    return Outcome(_status("".join(shown), citations, finish, sure), tuple(citations))


def _layout_of(state: QuestionState, kept: Sequence[Strip]) -> PromptLayout:
    """The prompt layout of the answer.

    It is the joint layout, if the passages were graded in a joint prompt, the evidence is whole passages,
    and the answer fits the context after them; otherwise the independent layout.
    """
    trained = state.adapters.model.trained
    joint_layout = JointLayout(state.joint, trained)
    if not state.joint.passages or any(strip.text != strip.passage.text for strip in kept):
        return IndependentLayout(trained)
    prompt = joint_layout.answer(state.question, joint_layout.evidence(kept))
    fits = state.adapters.model.count(prompt) + state.options.answer_tokens <= state.adapters.model.context
    return joint_layout if fits else IndependentLayout(trained)


class _Written(NamedTuple):
    """The sentences of an answer that passed the checks, and how the answer ended.

    ``finish`` is None if the constraint failed, or if all sentences failed the checks. ``declined`` says that
    the model ended by saying that the evidence has no answer.
    """

    sentences: list[str]
    finish: FinishReason | None
    declined: bool = False


def _check_sentences(state: QuestionState, text: Iterator[str], verifier: CitationChecker) -> Steps[_Written]:
    """Check each sentence of the generated text against the evidence that it cites, by words and evaluator.

    A sentence that passes is shown at once, unless the grounding check may remove it later. A sentence that
    declines ends the answer, and so does one that says what an earlier one said, and the one after
    ``MAX_SENTENCES``, or after ``MAX_FAILED_SENTENCES`` if all failed.
    """
    written: list[str] = []
    said, finish, declined = SaidBefore(), None, False
    known = [item.text for item in verifier.evidence]
    passages = [item.strip.passage for item in verifier.evidence]
    try:
        for sentence in by_sentence(text):
            if declines(sentence, known):
                finish, declined = FinishReason.STOP, True
            elif said.repeats(sentence):
                finish = FinishReason.REPEAT
            elif len(said) > MAX_SENTENCES:
                finish = FinishReason.LENGTH
            elif not written and len(said) > MAX_FAILED_SENTENCES:
                finish = FinishReason.STOP
            if finish:
                break
            verifier.lost |= lost_citations(state, verifier.citations([sentence]), passages)
            checked = verifier.check(sentence)
            if checked and is_unsupported(state, checked, verifier.evidence):
                verifier.removed.append(f"“{without_keys(checked)}”: its evidence does not say so")
            elif checked:
                written.append(f" {checked}" if written else checked)
                if state.options.grounding is not Grounding.REMOVE:
                    yield Delta(written[-1], citation_marks(written[-1]))
    except ConstraintError as error:
        then = "what was written before it stands" if written else _QUOTED
        yield Degraded("answer", f"{error}; {then}")
        return _Written(written, None)
    if verifier.removed and not written and not declined:
        yield Verified(tuple(verifier.removed))
        yield Degraded("answer", f"nothing that was written holds; {_QUOTED}")
        return _Written(written, None)
    if written and declined:
        yield Degraded("answer", "it ended by saying that the documents do not answer the question")
    return _Written(written, finish or state.adapters.model.last_finish, declined)


@dataclass(frozen=True, slots=True)
class _GroundingResult:
    """Whether the evidence supports every sentence, and the sentences removed since it does not."""

    all_supported: bool = True
    removed: tuple[str, ...] = ()


def _check_grounding(
    state: QuestionState, written: Sequence[str], evidence: Sequence[Evidence]
) -> Steps[tuple[list[str], _GroundingResult]]:
    """Check whether the evidence supports each sentence, and mark or remove those it does not support.

    Returns the sentences of the answer and the result of the check.
    """
    how = state.options.grounding
    if how is Grounding.OFF or not written:
        return list(written), _GroundingResult()
    claims = yield from timed(state.adapters, "verify", ground(state, written, evidence))
    failed = {claim.text for claim in claims if claim.verdict is Verdict.NO}
    if how is Grounding.MARK:
        for text in sorted(failed):
            yield Delta(f"\n\n(Not borne out by the evidence: “{text}”)")
            yield Degraded("grounding", f"the evidence does not bear out: “{text}”")
        return list(written), _GroundingResult(not failed)
    stands = [sentence for sentence in written if without_keys(sentence) not in failed]
    if stands:
        text = "".join(stands).strip()
        yield Delta(text, citation_marks(text))
    return stands, _GroundingResult(not failed, tuple(sorted(failed)))


_TRUNCATION_REASONS: Mapping[FinishReason | None, str] = {
    FinishReason.LENGTH: "cut short at the longest length allowed",
    FinishReason.CONTEXT: "cut short: the model's context is full",
    FinishReason.REPEAT: "stopped: the model began to repeat itself",
}


def _status(shown: str, citations: Sequence[Citation], finish: FinishReason | None, sure: bool) -> Status:
    """The status of a written answer, from its text, its citations and the reason why the model stopped."""
    if not shown.strip():
        return Status.NOT_FOUND
    if finish is not FinishReason.STOP:
        return Status.TRUNCATED
    return Status.ANSWERED if sure and citations else Status.UNSURE


def _generated_text(
    state: QuestionState, evidence: Sequence[Evidence], layout: PromptLayout, *, believed: bool
) -> Generator[str]:
    """The answer as the model writes it, in the form of :func:`~.answer_form.answer_pattern`."""
    yield from state.adapters.model.stream(
        layout.answer(state.question, evidence, believed=believed),
        pattern=answer_pattern((item.key for item in evidence), may_decline=not believed),
        max_tokens=state.options.answer_tokens,
    )
