"""Two ways to answer from evidence: write, citing keys that exist; or quote, inventing nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from localcrag.crag import prompts
from localcrag.crag.parts import Inquiry, Outcome
from localcrag.crag.refine import joined, numbered, strips
from localcrag.crag.verify import Verifier, by_sentence, cite
from localcrag.errors import ConstraintError, ContextOverflow, StoreError
from localcrag.events import Degraded, Delta, Gathered, Steps, Verified
from localcrag.protocols import PassageStore
from localcrag.types import Citation, Evidence, Finish, Origin, Status, Strip

QUOTES = 3
"""Quotations in a quoted answer, at most."""
NEAR_BEST = 0.5
"""A quotation beside the best one must be judged at least this fraction as probable."""


def write(inquiry: Inquiry, kept: Sequence[Strip], sure: bool) -> Steps[Outcome]:
    """The model writes; it can cite only keys that exist, and a sentence is verified before it is shown.

    Where the constraint fails before anything was shown, the evidence is quoted instead.
    """
    evidence = yield from _fitting(inquiry, numbered(joined(kept)))
    yield Gathered(tuple(evidence))
    verifier = Verifier(inquiry.question, evidence)
    shown, finish = yield from _verified(inquiry, evidence, verifier)
    if finish is None and not shown:
        return (yield from quote(inquiry, kept, sure=False))
    citations, gone = still_there(inquiry, verifier.citations())
    yield Verified((*verifier.removed, *gone))
    if finish in _ENDINGS:
        yield Degraded("answer", _ENDINGS[finish])
    return Outcome(_status(shown, citations, finish, sure), tuple(citations))


def _verified(
    inquiry: Inquiry, evidence: Sequence[Evidence], verifier: Verifier
) -> Steps[tuple[str, Finish | None]]:
    """What was shown of the written text, and how it ended: None where its constraint failed."""
    shown = ""
    try:
        for sentence in by_sentence(_written(inquiry, evidence)):
            checked = verifier.check(sentence)
            if checked and not _declines(checked):
                shown += checked
                yield Delta(checked)
    except ConstraintError as error:
        yield Degraded("answer", str(error))
        return shown, None
    return shown, inquiry.parts.model.last_finish


def quote(inquiry: Inquiry, kept: Sequence[Strip], sure: bool) -> Steps[Outcome]:
    """The strips that answer, verbatim, each with its key."""
    judged = inquiry.parts.evaluator is not None
    chosen = _most_probable(kept) if judged else (yield from _chosen_by_model(inquiry, kept))
    evidence = numbered(joined(chosen))
    yield Gathered(tuple(evidence))
    citations, gone = still_there(inquiry, [cite(item) for item in evidence])
    held = {citation.key for citation in citations}
    shown = [item for item in evidence if item.key in held]
    for position, item in enumerate(shown):
        gap = "\n\n" if position else ""
        yield Delta(f"{gap}{' '.join(item.text.split())} [{item.key}]")
    yield Verified(tuple(gone))
    if not shown:
        return Outcome(Status.NOT_FOUND)
    return Outcome(Status.ANSWERED if sure else Status.UNSURE, tuple(citations))


def still_there(inquiry: Inquiry, citations: Sequence[Citation]) -> tuple[list[Citation], list[str]]:
    """The citations whose quote is exactly what the store holds at their span, and why the others went."""
    kept, gone = [], []
    hashes = {(g.hit.passage.source, g.hit.passage.page): g.hit.passage.document for g in inquiry.grades}
    for citation in citations:
        if citation.origin is Origin.DOCUMENTS:
            document = hashes[citation.source, citation.page]
            if _stored(inquiry.parts.store, document, citation) != citation.quote:
                gone.append(f"citation [{citation.key}]: {citation.source} has changed since it was read")
                continue
        kept.append(citation)
    return kept, gone


def _stored(store: PassageStore, document: str, citation: Citation) -> str:
    """What the store holds at a citation's span; "" where the document is gone."""
    try:
        text = store.text(document, citation.page, source=citation.source)
    except StoreError:
        return ""
    return text[citation.start : citation.end]


_ENDINGS: Mapping[Finish | None, str] = {
    Finish.LENGTH: "cut short at the longest length allowed",
    Finish.CONTEXT: "cut short: the model's context is full",
    Finish.REPEAT: "stopped: the model began to repeat itself",
}


def _status(shown: str, citations: Sequence[Citation], finish: Finish | None, sure: bool) -> Status:
    if not shown.strip():
        return Status.NOT_FOUND
    if finish is not Finish.STOP:
        return Status.TRUNCATED
    return Status.ANSWERED if sure and citations else Status.UNSURE


def _declines(sentence: str) -> bool:
    return sentence.strip("\"'“” \n") == prompts.NOT_IN_EVIDENCE


def _written(inquiry: Inquiry, evidence: Sequence[Evidence]) -> Iterator[str]:
    keys = "|".join(str(item.key) for item in evidence)
    return inquiry.parts.model.stream(
        prompts.answer(inquiry.question, evidence),
        pattern=rf"([^\[\]]|\[({keys})\])+",
        max_tokens=inquiry.options.answer_tokens,
    )


def _fitting(inquiry: Inquiry, evidence: list[Evidence]) -> Steps[list[Evidence]]:
    """The evidence that fits the context; what does not is dropped from the least probable on."""
    model = inquiry.parts.model
    room = model.context - inquiry.options.answer_tokens
    ranked = sorted(evidence, key=lambda item: -item.strip.score)
    while ranked:
        kept = sorted(ranked, key=lambda item: item.key)
        if (needed := model.count(prompts.answer(inquiry.question, kept))) <= room:
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
    best = sorted(distinct.values(), key=lambda strip: -strip.score)[:QUOTES]
    return [strip for strip in kept if strip in best and strip.score >= NEAR_BEST * ranked[0].score]


def _chosen_by_model(inquiry: Inquiry, kept: Sequence[Strip]) -> Steps[list[Strip]]:
    """Without an evaluator, the model picks sentences by number, under a pattern that allows nothing else."""
    sentences = [part for strip in kept for part in strips(strip.passage)]
    evidence = yield from _fitting(inquiry, numbered(sentences))
    if not evidence:
        return []
    keys = "|".join(str(item.key) for item in evidence)
    pattern = rf"none|({keys})(, ({keys})){{0,{QUOTES - 1}}}"
    prompt = prompts.select(inquiry.question, evidence)
    try:
        picked = "".join(inquiry.parts.model.stream(prompt, pattern=pattern, max_tokens=16))
    except ConstraintError as error:
        yield Degraded("quote", f"{error}; the surest passages are quoted")
        return _most_probable(kept)
    if picked == "none":
        return []
    wanted = {int(key) for key in picked.split(", ")}
    return [item.strip for item in evidence if item.key in wanted]
