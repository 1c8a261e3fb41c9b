"""Quotation: the strips that answer are the answer, word by word, each with its citation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from localcrag.crag import prompts
from localcrag.crag.answering.citation_check import cite
from localcrag.crag.answering.evidence_fitting import fitting_evidence
from localcrag.crag.answering.grounding import check_agreement
from localcrag.crag.answering.repeated_quotes import untold, without_repeats
from localcrag.crag.answering.row_legends import with_legends
from localcrag.crag.answering.stored_quotes import lost_citations
from localcrag.crag.answering.strip_display import before_mark
from localcrag.crag.answering.whole_tables import with_whole_table
from localcrag.crag.doubts.amendments import corrections_first
from localcrag.crag.doubts.sureness import SURE_STRIP
from localcrag.crag.doubts.told_numbers import missing_numbers
from localcrag.crag.prompt_layout import IndependentLayout
from localcrag.crag.questions.query_terms import terms, terms_asked_for
from localcrag.crag.questions.question_extent import (
    asks_for_command,
    asks_for_option,
    asks_what_it_does,
    asks_what_to_do,
    compared_things,
    things_asked_for,
)
from localcrag.crag.questions.told_stories import told_before
from localcrag.crag.refinement.closed_strings import with_closed_strings
from localcrag.crag.refinement.completed_quotations import completed_quotations
from localcrag.crag.refinement.knowledge_strips import span, strips
from localcrag.crag.refinement.procedures import with_told_steps
from localcrag.crag.refinement.recomposition import joined, numbered, with_surroundings
from localcrag.crag.refinement.short_listings import with_whole_listings
from localcrag.crag.refinement.stated_defaults import with_stated_default
from localcrag.crag.refinement.strip_context import Neighbours
from localcrag.crag.refinement.strip_filter import best_score
from localcrag.crag.refinement.strip_kinds import is_command, is_row, names_option
from localcrag.crag.refinement.task_states import of_asked_state
from localcrag.crag.refinement.telling_headings import with_telling_headings
from localcrag.crag.rows.row_selection import without_other_rows
from localcrag.crag.state import Finding, Outcome, QuestionState
from localcrag.errors import ConstraintError
from localcrag.events import Degraded, Delta, Gathered, Steps, Verified
from localcrag.types import CitationMark, Evidence, Status, Strip, StripKind

MAX_QUOTES = 3
"""The most quotations for one question, or for one part of it."""
MIN_QUOTE_SCORE_SHARE = 0.5
"""The smallest score of a further quotation, as a share of the best one's."""
MIN_ROW_SCORE_SHARE, MIN_DOUBTED_ROW_SHARE = 0.9, 0.75
"""The smallest score of a further row of the table that the best strip is a row of, as a share of its score,
and that if it is doubted."""
DOUBTED_ROW = 0.25
"""The score below which a row that is the best strip is doubted."""


def quote(whole: QuestionState, findings: Sequence[Finding]) -> Steps[Outcome]:
    """Quote the strips that answer verbatim, each with its key, grouped by the parts of the question.

    The most probable strips are quoted, if an evaluator or the model judged them; otherwise the model
    chooses sentences by number. A quotation whose source has changed since it was read is left out.

    Raises ContextOverflow if not even one piece of evidence fits the context.
    """
    chosen: list[list[Strip]] = []
    for at, finding in enumerate(findings):
        judged = whole.adapters.evaluator is not None or whole.options.strips is not StripKind.NONE
        picked = (
            _most_probable(finding.strips, finding.state.question)
            if judged
            else (yield from _chosen_by_model(finding.state, finding.strips))
        )
        asked, neighbours = finding.state.question, whole.adapters.store.neighbours
        shown = [strip for earlier in chosen for strip in earlier]
        new = [] if finding.sure else untold(picked, [s for f in findings[:at] for s in f.strips], shown)
        read = _readable(new[:MAX_QUOTES] or picked, finding.strips, asked, neighbours)
        chosen.append(without_repeats(read, shown) if new else read)
    evidence = numbered(_distinct(strip for picked in chosen for strip in picked))
    yield Gathered(tuple(evidence))
    agreed = yield from check_agreement(whole, evidence)
    passages = [item.strip.passage for item in evidence]
    gone = lost_citations(whole, [cite(item) for item in evidence], passages)
    held = [item for item in evidence if item.key not in gone]
    if held:
        items = {span(item.strip): item for item in held}
        yield _quotations(_quotation_blocks(whole.asked, findings, chosen, items))
    yield Verified(tuple(f"citation [{key}]: {reason}" for key, reason in gone.items()))
    if not held:
        return Outcome(Status.NOT_FOUND)
    sure = agreed and not gone and all(finding.sure for finding in findings)
    return Outcome(Status.ANSWERED if sure else Status.UNSURE, tuple(map(cite, held)))


def _readable(
    picked: Sequence[Strip], kept: Sequence[Strip], asked: str, neighbours: Neighbours
) -> list[Strip]:
    """The strips that were picked of those ``kept``, with what they are read with, as the question asks."""
    procedure, several = asks_what_to_do(asked), things_asked_for(asked)
    sure = 1.0 if procedure or asks_what_it_does(asked) else SURE_STRIP
    closed, own = with_whole_listings(with_closed_strings(picked)), terms_asked_for(asked)
    closed = with_told_steps(closed) if procedure else closed
    completed = completed_quotations(closed, sure, own, whole_steps=procedure)
    completed = with_stated_default(completed, asked, neighbours)
    told = with_telling_headings(with_whole_table(completed, asked), asked, neighbours)
    least = MIN_QUOTE_SCORE_SHARE * best_score(picked)
    near = [strip for strip in kept if strip.score >= least]
    read = with_surroundings(told, neighbours, whole_lists=procedure, several=several, evidence=near)
    return with_legends(joined(of_asked_state(read, asked)), asked, neighbours)


def _quotation_blocks(
    asked: str,
    findings: Sequence[Finding],
    chosen: Sequence[Sequence[Strip]],
    shown: Mapping[tuple[str, int, int], Evidence],
) -> Iterator[list[tuple[str, int]]]:
    """The quotations, each with its key; if there are several findings, those of each below its question.

    It is in the words that were ``asked``. Parts that the same answers are answered together.
    """
    alike = len({tuple(map(span, picked)) for picked in chosen}) == 1
    for finding, picked in zip(findings[:1] if alike else findings, chosen, strict=not alike):
        items = [shown[span(strip)] for strip in picked if span(strip) in shown]
        lines = [(before_mark(item.strip, finding.state.question), item.key) for item in items]
        if alike:
            yield from ([line] for line in lines)
        else:
            yield [(_as_asked(finding.state.question, asked), 0), *(lines or [(prompts.NOT_IN_EVIDENCE, 0)])]


def _as_asked(part: str, asked: str) -> str:
    """A part of a question without the words or sentences of earlier parts that were put before it."""
    story = told_before(part)
    own = part[len(story) :]
    if story and " ".join(part.split()).casefold().rstrip("?") not in " ".join(asked.split()).casefold():
        return own
    _, mark, own = part.partition(": ")
    said, rest = (" ".join(text.split()).casefold() for text in (asked, own.rstrip("?")))
    is_added = bool(mark) and rest in said and part.rstrip("?").casefold() not in said
    return own if is_added else part


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


def _most_probable(kept: Sequence[Strip], question: str) -> list[Strip]:
    """The best strips with different texts, at most ``MAX_QUOTES``, in their order but corrections first."""
    if not kept:
        return []
    ranked = sorted(without_other_rows(kept, question), key=lambda strip: -strip.score)
    distinct = {" ".join(strip.text.split()): strip for strip in reversed(ranked)}
    every = sorted(distinct.values(), key=lambda strip: -strip.score)
    probable = [strip for strip in every if strip.score >= _least_share(strip, ranked[0]) * ranked[0].score]
    best = _covering(probable, every, question)
    telling = _telling_number(best, ranked, question)
    return corrections_first([strip for strip in kept if strip in best or strip is telling])


def _telling_number(picked: Sequence[Strip], ranked: Sequence[Strip], question: str) -> Strip | None:
    """The best strip that tells a number of the question which those picked do not; None if none does.

    "8 mg per kg" is not all that is told of a child of 12 kg if a table has a row for it.
    """
    missing = set(missing_numbers(picked, question))
    if not missing:
        return None
    return next((strip for strip in ranked if missing - set(missing_numbers([strip], question))), None)


def _covering(ranked: Sequence[Strip], every: Sequence[Strip], question: str) -> list[Strip]:
    """The first ``MAX_QUOTES`` of ranked strips, the last of them replaced by what else is needed.

    Of two things that are compared each needs a strip with its name, of ``every`` one if the most probable
    ones have none; a question for a command needs one, and so does one for an option.
    """
    things = compared_things(question)
    needs: list[Callable[[Strip], bool]] = [
        partial(_names, thing, things) for thing in things if any(_names(thing, things, s) for s in every)
    ]
    if asks_for_command(question):
        needs.append(is_command)
    if asks_for_option(question):
        needs.append(names_option)
    chosen, others = list(ranked[:MAX_QUOTES]), ranked[MAX_QUOTES:]
    needed = {next((span(s) for s in chosen if meets(s)), None) for meets in needs}
    for at, meets in enumerate(needs):
        found = next(filter(meets, (*others, *(every if at < len(things) else ()))), None)
        if found is None or any(map(meets, chosen)):
            continue
        least = next((s for s in reversed(chosen[1:]) if span(s) not in needed), None)
        if len(chosen) < MAX_QUOTES:
            chosen.append(found)
        elif least is not None:
            chosen[chosen.index(least)] = found
        needed.add(span(found))
    return chosen


def _names(thing: str, things: Sequence[str], strip: Strip) -> bool:
    """Whether a strip has a thing, by its term; a definition of one of the things is of that one alone."""
    term, mark, _ = strip.text.replace("/", " ").partition(": ")
    defined = [each for each in things if mark and each in terms(term)]
    return thing in defined if defined else thing in terms(strip.text)


def _least_share(strip: Strip, best: Strip) -> float:
    """The share of the best score that a quotation must have: rows of one table are all alike."""
    if not (is_row(strip) and is_row(best) and strip.passage.document == best.passage.document):
        return MIN_QUOTE_SCORE_SHARE
    return MIN_DOUBTED_ROW_SHARE if best.score < DOUBTED_ROW else MIN_ROW_SCORE_SHARE


def _chosen_by_model(state: QuestionState, kept: Sequence[Strip]) -> Steps[list[Strip]]:
    """Have the model choose sentences by number, under a pattern that allows nothing else.

    If the constraint fails, the most probable strips are returned.
    """
    sentences = [part for strip in kept for part in strips(strip.passage)]
    evidence = yield from fitting_evidence(state, numbered(sentences), IndependentLayout())
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


def _distinct(kept: Iterable[Strip]) -> list[Strip]:
    """The strips, each span once."""
    return list({span(strip): strip for strip in kept}.values())
