"""Generation: the answer is written by the model with citations, or quoted verbatim from the evidence."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from localcrag.crag import prompts
from localcrag.crag.answer_form import (
    MAX_FAILED_SENTENCES,
    MAX_SENTENCES,
    SaidBefore,
    answer_pattern,
    by_sentence,
    citation_marks,
    declines,
    without_keys,
)
from localcrag.crag.citation_check import CitationChecker, cite
from localcrag.crag.grounding import compare, ground, is_unsupported
from localcrag.crag.prompt_layout import IndependentLayout, JointLayout, PromptLayout
from localcrag.crag.refinement.knowledge_strips import span, strips
from localcrag.crag.refinement.recomposition import completed, joined, numbered, with_surroundings
from localcrag.crag.refinement.row_selection import without_other_rows
from localcrag.crag.refinement.strip_display import before_mark
from localcrag.crag.refinement.strip_kinds import is_row
from localcrag.crag.state import Finding, Outcome, QuestionState, timed
from localcrag.crag.stored_quotes import lost_citations
from localcrag.crag.sureness import SURE_STRIP
from localcrag.errors import ConstraintError, ContextOverflow
from localcrag.events import Degraded, Delta, Gathered, Steps, Verified
from localcrag.types import (
    Citation,
    CitationMark,
    Evidence,
    FinishReason,
    Grounding,
    Mode,
    Status,
    Strip,
    StripKind,
    Verdict,
)

MAX_QUOTES = 3
"""The most quotations for one question, or for one part of it."""
MIN_QUOTE_SCORE_SHARE = 0.5
"""The smallest score of a further quotation, as a share of the best one's."""
MIN_ROW_SCORE_SHARE = 0.9
"""The smallest score of a further row of a table, as a share of the best score."""


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
    sentence was kept, or no sentence that was written passes, the evidence is quoted instead.

    Raises ContextOverflow if not even one piece of evidence fits the context.
    """
    kept = with_surroundings(strip for finding in findings for strip in finding.strips)
    layout = _layout_of(whole, kept)
    evidence = yield from _fitting(whole, layout.evidence(kept), layout)
    yield Gathered(tuple(evidence))
    verifier = CitationChecker(whole.question, evidence)
    text = _generated_text(whole, evidence, layout)
    try:
        written, finish, declined = yield from _check_sentences(whole, text, verifier)
    finally:
        text.close()
    if finish is None and not written:
        return (yield from quote(whole, [replace(finding, sure=False) for finding in findings]))
    agreed = (yield from _check_agreement(whole, evidence)) if written else True
    shown, grounding = yield from _check_grounding(whole, written, evidence)
    citations = verifier.citations(shown)
    yield Verified(
        (*verifier.removed, *(f"“{text}”: its evidence does not say so" for text in grounding.removed))
    )
    if finish in _TRUNCATION_REASONS:
        yield Degraded("answer", _TRUNCATION_REASONS[finish])
    late = lost_citations(whole, citations)
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
    joint_layout = JointLayout(state.joint)
    if not state.joint.passages or any(strip.text != strip.passage.text for strip in kept):
        return IndependentLayout()
    prompt = joint_layout.answer(state.question, joint_layout.evidence(kept))
    fits = state.adapters.model.count(prompt) + state.options.answer_tokens <= state.adapters.model.context
    return joint_layout if fits else IndependentLayout()


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
            verifier.lost |= lost_citations(state, verifier.citations([sentence]))
            checked = verifier.check(sentence)
            if checked and is_unsupported(state, checked, verifier.evidence):
                verifier.removed.append(f"“{without_keys(checked)}”: its evidence does not say so")
            elif checked:
                written.append(f" {checked}" if written else checked)
                if state.options.grounding is not Grounding.REMOVE:
                    yield Delta(written[-1], citation_marks(written[-1]))
    except ConstraintError as error:
        then = "what was written before it stands" if written else "the evidence is quoted instead"
        yield Degraded("answer", f"{error}; {then}")
        return _Written(written, None)
    if verifier.removed and not written and not declined:
        yield Verified(tuple(verifier.removed))
        yield Degraded("answer", "nothing that was written holds; the evidence is quoted instead")
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


def quote(whole: QuestionState, findings: Sequence[Finding]) -> Steps[Outcome]:
    """Quote the strips that answer verbatim, each with its key, grouped by the parts of the question.

    The most probable strips are quoted, if an evaluator or the model judged them; otherwise the model
    chooses sentences by number. A quotation whose source has changed since it was read is left out.

    Raises ContextOverflow if not even one piece of evidence fits the context.
    """
    chosen: list[list[Strip]] = []
    for finding in findings:
        judged = whole.adapters.evaluator is not None or whole.options.strips is not StripKind.NONE
        picked = (
            _most_probable(finding.strips, finding.state.question)
            if judged
            else (yield from _chosen_by_model(finding.state, finding.strips))
        )
        chosen.append(joined(with_surroundings(completed(picked, SURE_STRIP))))
    evidence = numbered(_distinct(strip for picked in chosen for strip in picked))
    yield Gathered(tuple(evidence))
    agreed = yield from _check_agreement(whole, evidence)
    gone = lost_citations(whole, [cite(item) for item in evidence])
    held = [item for item in evidence if item.key not in gone]
    if held:
        shown = {span(item.strip): item for item in held}
        yield _quotations(_quotation_blocks(findings, chosen, shown))
    yield Verified(tuple(f"citation [{key}]: {reason}" for key, reason in gone.items()))
    if not held:
        return Outcome(Status.NOT_FOUND)
    sure = agreed and not gone and all(finding.sure for finding in findings)
    return Outcome(Status.ANSWERED if sure else Status.UNSURE, tuple(map(cite, held)))


def _quotations(blocks: Iterable[Sequence[tuple[str, int]]]) -> Delta:
    """The blocks of lines as text, with a blank line between two, and the places of their citations.

    A line is a text and the key that it cites, 0 for none. Behind code, the citation has a line of its own.
    """
    text, marks = "", list[CitationMark]()
    for block in blocks:
        text += "\n\n" if text else ""
        for number, (line, key) in enumerate(block):
            text += f"\n{line}" if number else line
            if key:
                marks.append(CitationMark(key, len(text), len(text) + len(f"[{key}]")))
                text += f"[{key}]"
    return Delta(text, tuple(marks))


def _quotation_blocks(
    findings: Sequence[Finding],
    chosen: Sequence[Sequence[Strip]],
    shown: Mapping[tuple[str, int, int], Evidence],
) -> Iterator[list[tuple[str, int]]]:
    """The quotations, each with its key; if there are several findings, those of each below its question."""
    for finding, picked in zip(findings, chosen, strict=True):
        items = [shown[span(strip)] for strip in picked if span(strip) in shown]
        lines = [(before_mark(item.strip), item.key) for item in items]
        if len(findings) == 1:
            yield from ([line] for line in lines)
        else:
            yield [(finding.state.question, 0), *(lines or [(prompts.NOT_IN_EVIDENCE, 0)])]


def _check_agreement(state: QuestionState, evidence: Sequence[Evidence]) -> Steps[bool]:
    """Check whether the sources of the evidence agree; True also if that is not asked for."""
    if not state.options.contradictions:
        return True
    found = yield from timed(state.adapters, "verify", compare(state, evidence))
    sources = {item.key: item.strip.passage.source for item in evidence}
    for pair in found:
        first, second = (f"[{key}] ({sources[key]})" for key in (pair.first, pair.second))
        yield Degraded("evidence", f"the sources of {first} and {second} disagree")
    return not found


def _distinct(kept: Iterable[Strip]) -> list[Strip]:
    """The strips, each span once."""
    return list({span(strip): strip for strip in kept}.values())


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
    state: QuestionState, evidence: Sequence[Evidence], layout: PromptLayout
) -> Generator[str]:
    """The answer as the model writes it, in the form of :func:`~.answer_form.answer_pattern`."""
    yield from state.adapters.model.stream(
        layout.answer(state.question, evidence),
        pattern=answer_pattern(item.key for item in evidence),
        max_tokens=state.options.answer_tokens,
    )


def _fitting(state: QuestionState, evidence: list[Evidence], layout: PromptLayout) -> Steps[list[Evidence]]:
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


def _most_probable(kept: Sequence[Strip], question: str) -> list[Strip]:
    """The best strips with different texts, at most ``MAX_QUOTES``, in their given order."""
    if not kept:
        return []
    ranked = sorted(without_other_rows(kept, question), key=lambda strip: -strip.score)
    distinct = {" ".join(strip.text.split()): strip for strip in reversed(ranked)}
    best = sorted(distinct.values(), key=lambda strip: -strip.score)[:MAX_QUOTES]
    return [strip for strip in kept if strip in best and strip.score >= _least_share(strip) * ranked[0].score]


def _least_share(strip: Strip) -> float:
    """The share of the best score that a quotation must have: rows of one table are all alike."""
    return MIN_ROW_SCORE_SHARE if is_row(strip) else MIN_QUOTE_SCORE_SHARE


def _chosen_by_model(state: QuestionState, kept: Sequence[Strip]) -> Steps[list[Strip]]:
    """Have the model choose sentences by number, under a pattern that allows nothing else.

    If the constraint fails, the most probable strips are returned.
    """
    sentences = [part for strip in kept for part in strips(strip.passage)]
    evidence = yield from _fitting(state, numbered(sentences), IndependentLayout())
    if not evidence:
        return []
    keys = "|".join(str(item.key) for item in evidence)
    pattern = rf"none|({keys})(, ({keys})){{0,{MAX_QUOTES - 1}}}"
    prompt = prompts.select(state.question, evidence)
    try:
        picked = "".join(state.adapters.model.stream(prompt, pattern=pattern, max_tokens=16))
    except ConstraintError as error:
        yield Degraded("quote", f"{error}; the surest passages are quoted")
        return _most_probable(kept, state.question)
    if picked == "none":
        return []
    wanted = {int(key) for key in picked.split(", ")}
    return [item.strip for item in evidence if item.key in wanted]
