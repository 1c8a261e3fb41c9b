"""Two ways to answer from evidence: write, citing keys that exist; or quote, inventing nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from localcrag.crag import prompts
from localcrag.crag.citation_check import CitationChecker, by_sentence, cite
from localcrag.crag.grounding import compare, ground, without_keys
from localcrag.crag.prompt_layout import IndependentLayout, JointLayout, PromptLayout
from localcrag.crag.refinement import joined, numbered, strips
from localcrag.crag.state import Finding, Outcome, QuestionState, timed
from localcrag.errors import ConstraintError, ContextOverflow, StoreError
from localcrag.events import Degraded, Delta, Gathered, Steps, Verified
from localcrag.protocols import PassageStore
from localcrag.types import (
    Citation,
    Evidence,
    FinishReason,
    Grounding,
    Mode,
    Origin,
    Status,
    Strip,
    StripKind,
    Verdict,
)

MAX_QUOTES = 3
"""Quotations in a quoted answer, at most."""
MIN_SHARE_OF_BEST = 0.5
"""A quotation beside the best one must be judged at least this fraction as probable."""


def answer(whole: QuestionState, findings: Sequence[Finding]) -> Steps[Outcome]:
    """An answer to the whole question from what was found for its parts."""
    make = quote if whole.options.mode is Mode.QUOTE else write
    return (yield from make(whole, findings))


def write(whole: QuestionState, findings: Sequence[Finding]) -> Steps[Outcome]:
    """The model writes; it can cite only keys that exist, and a sentence is verified before it is shown.

    Where the constraint fails before anything was shown, or nothing that was written holds, the evidence
    is quoted instead.
    """
    kept = _distinct(strip for finding in findings for strip in finding.strips)
    layout = _layout_of(whole, kept)
    evidence = yield from _fitting(whole, layout.evidence(kept), layout)
    yield Gathered(tuple(evidence))
    verifier = CitationChecker(whole.question, evidence)
    text = _written(whole, evidence, layout)
    written, finish = yield from _verified(whole, text, verifier)
    if finish is None and not written:
        return (yield from quote(whole, [replace(finding, sure=False) for finding in findings]))
    agreed = (yield from _agreed(whole, evidence)) if written else True
    shown, borne_out = yield from _borne_out(whole, written, evidence)
    citations = verifier.citations(shown)
    yield Verified(
        (*verifier.removed, *(f"“{text}”: its evidence does not say so" for text in borne_out.gone))
    )
    if finish in _ENDINGS:
        yield Degraded("answer", _ENDINGS[finish])
    late = lost(whole, citations)
    for key, reason in late.items():
        yield Degraded("evidence", f"citation [{key}]: {reason}")
    current = not verifier.lost and not late
    sure = current and agreed and borne_out.all and all(finding.sure for finding in findings)
    return Outcome(_status("".join(shown), citations, finish, sure), tuple(citations))


def _layout_of(state: QuestionState, kept: Sequence[Strip]) -> PromptLayout:
    """The table, where whole passages were laid on it for this question and the answer fits behind them."""
    joint_layout = JointLayout(state.joint)
    if not state.joint.passages or any(strip.text != strip.passage.text for strip in kept):
        return IndependentLayout()
    prompt = joint_layout.answer(state.question, joint_layout.evidence(kept))
    fits = state.adapters.model.count(prompt) + state.options.answer_tokens <= state.adapters.model.context
    return joint_layout if fits else IndependentLayout()


def _verified(
    state: QuestionState, text: Iterator[str], verifier: CitationChecker
) -> Steps[tuple[list[str], FinishReason | None]]:
    """The sentences of the written text that may be shown, and how it ended: None where its constraint
    failed or none of them holds. They are shown as they come, but for those that are to be held against
    the evidence first.
    """
    written: list[str] = []
    declined = False
    try:
        for sentence in by_sentence(text):
            if _declines(sentence):
                declined = True
                continue
            verifier.lost |= lost(state, verifier.citations([sentence]))
            if checked := verifier.check(sentence):
                written.append(checked)
                if state.options.grounding is not Grounding.REMOVE:
                    yield Delta(checked)
    except ConstraintError as error:
        then = "what was written before it stands" if written else "the evidence is quoted instead"
        yield Degraded("answer", f"{error}; {then}")
        return written, None
    if verifier.removed and not written and not declined:
        yield Verified(tuple(verifier.removed))
        yield Degraded("answer", "nothing that was written holds; the evidence is quoted instead")
        return written, None
    return written, state.adapters.model.last_finish


@dataclass(frozen=True, slots=True)
class _Grounds:
    """Whether every sentence is borne out by its evidence, and those that were left out for it."""

    all: bool = True
    gone: tuple[str, ...] = ()


def _borne_out(
    state: QuestionState, written: Sequence[str], evidence: Sequence[Evidence]
) -> Steps[tuple[list[str], _Grounds]]:
    """The sentences that stand after each was held against its evidence."""
    how = state.options.grounding
    if how is Grounding.OFF or not written:
        return list(written), _Grounds()
    claims = yield from timed(state.adapters, "verify", ground(state, written, evidence))
    failed = {claim.text for claim in claims if claim.verdict is Verdict.NO}
    if how is Grounding.MARK:
        for text in sorted(failed):
            yield Delta(f"\n\n(Not borne out by the evidence: “{text}”)")
            yield Degraded("grounding", f"the evidence does not bear out: “{text}”")
        return list(written), _Grounds(not failed)
    stands = [sentence for sentence in written if without_keys(sentence) not in failed]
    for sentence in stands:
        yield Delta(sentence)
    return stands, _Grounds(not failed, tuple(sorted(failed)))


def quote(whole: QuestionState, findings: Sequence[Finding]) -> Steps[Outcome]:
    """The strips that answer, verbatim, each with its key; under each part of a question its own."""
    chosen: list[list[Strip]] = []
    for finding in findings:
        judged = whole.adapters.evaluator is not None or whole.options.strips is not StripKind.NONE
        picked = (
            _most_probable(finding.strips)
            if judged
            else (yield from _chosen_by_model(finding.state, finding.strips))
        )
        chosen.append(joined(picked))
    evidence = numbered(_distinct(strip for picked in chosen for strip in picked))
    yield Gathered(tuple(evidence))
    agreed = yield from _agreed(whole, evidence)
    gone = lost(whole, [cite(item) for item in evidence])
    held = [item for item in evidence if item.key not in gone]
    if held:
        shown = {_span(item.strip): item for item in held}
        yield Delta("\n\n".join(_blocks(findings, chosen, shown)))
    yield Verified(tuple(f"citation [{key}]: {reason}" for key, reason in gone.items()))
    if not held:
        return Outcome(Status.NOT_FOUND)
    sure = agreed and not gone and all(finding.sure for finding in findings)
    return Outcome(Status.ANSWERED if sure else Status.UNSURE, tuple(map(cite, held)))


def _blocks(
    findings: Sequence[Finding],
    chosen: Sequence[Sequence[Strip]],
    shown: Mapping[tuple[str, int, int], Evidence],
) -> Iterator[str]:
    """The quotations; those of a part under its question, where there are several."""
    for finding, picked in zip(findings, chosen, strict=True):
        items = [shown[_span(strip)] for strip in picked if _span(strip) in shown]
        lines = [f"{' '.join(item.text.split())} [{item.key}]" for item in items]
        if len(findings) == 1:
            yield from lines
        else:
            yield "\n".join([finding.state.question, *(lines or [prompts.NOT_IN_EVIDENCE])])


def _agreed(state: QuestionState, evidence: Sequence[Evidence]) -> Steps[bool]:
    """Whether the sources of the evidence agree, where that is asked for."""
    if not state.options.contradictions:
        return True
    found = yield from timed(state.adapters, "verify", compare(state, evidence))
    sources = {item.key: item.strip.passage.source for item in evidence}
    for pair in found:
        first, second = (f"[{key}] ({sources[key]})" for key in (pair.first, pair.second))
        yield Degraded("evidence", f"the sources of {first} and {second} disagree")
    return not found


def _distinct(kept: Iterable[Strip]) -> list[Strip]:
    return list({_span(strip): strip for strip in kept}.values())


def _span(strip: Strip) -> tuple[str, int, int]:
    return strip.passage.id, strip.start, strip.end


def lost(state: QuestionState, citations: Sequence[Citation]) -> dict[int, str]:
    """The keys of the citations whose quote is not what the store holds at their span now, and why."""
    gone = {}
    hashes = {(g.hit.passage.source, g.hit.passage.page): g.hit.passage.document for g in state.grades}
    for citation in citations:
        if citation.origin is Origin.DOCUMENTS:
            document = hashes[citation.source, citation.page]
            if _stored(state.adapters.store, document, citation) != citation.quote:
                gone[citation.key] = f"{citation.source} has changed since it was read"
    return gone


def _stored(store: PassageStore, document: str, citation: Citation) -> str:
    """What the store holds at a citation's span; "" where the document is gone."""
    try:
        text = store.text(document, citation.page, source=citation.source)
    except StoreError:
        return ""
    return text[citation.start : citation.end]


_ENDINGS: Mapping[FinishReason | None, str] = {
    FinishReason.LENGTH: "cut short at the longest length allowed",
    FinishReason.CONTEXT: "cut short: the model's context is full",
    FinishReason.REPEAT: "stopped: the model began to repeat itself",
}


def _status(shown: str, citations: Sequence[Citation], finish: FinishReason | None, sure: bool) -> Status:
    if not shown.strip():
        return Status.NOT_FOUND
    if finish is not FinishReason.STOP:
        return Status.TRUNCATED
    return Status.ANSWERED if sure and citations else Status.UNSURE


def _declines(sentence: str) -> bool:
    return without_keys(sentence).strip("\"'“” \n") == prompts.NOT_IN_EVIDENCE


def _written(state: QuestionState, evidence: Sequence[Evidence], layout: PromptLayout) -> Iterator[str]:
    keys = "|".join(str(item.key) for item in evidence)
    return state.adapters.model.stream(
        layout.answer(state.question, evidence),
        pattern=rf"([^\[\]]|\[({keys})\])+",
        max_tokens=state.options.answer_tokens,
    )


def _fitting(state: QuestionState, evidence: list[Evidence], layout: PromptLayout) -> Steps[list[Evidence]]:
    """The evidence that fits the context; what does not is dropped from the least probable on."""
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


def _most_probable(kept: Sequence[Strip]) -> list[Strip]:
    if not kept:
        return []
    ranked = sorted(kept, key=lambda strip: -strip.score)
    distinct = {" ".join(strip.text.split()): strip for strip in reversed(ranked)}
    best = sorted(distinct.values(), key=lambda strip: -strip.score)[:MAX_QUOTES]
    return [strip for strip in kept if strip in best and strip.score >= MIN_SHARE_OF_BEST * ranked[0].score]


def _chosen_by_model(state: QuestionState, kept: Sequence[Strip]) -> Steps[list[Strip]]:
    """Without an evaluator, the model picks sentences by number, under a pattern that allows nothing else."""
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
        return _most_probable(kept)
    if picked == "none":
        return []
    wanted = {int(key) for key in picked.split(", ")}
    return [item.strip for item in evidence if item.key in wanted]
