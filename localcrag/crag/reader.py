"""The reader: a larger model reads the strips where the evaluator is not sure, and says what they tell.

In a system of retriever and reader (Chen et al. 2017, arXiv 1704.00051, section 3) a reader takes the answer
from what was retrieved. This one costs a hundred times as much a token as the evaluator, so it is asked only
where its word may count:

- An answer that is not sure, and that no rule objects to, becomes sure if the reader is nearly certain, its
  sentence holds, and the evaluator has found a strip that it cites to be the best one. The sentence is shown,
  and what it cites below it.
- An answer that is sure though no strip surely answers, since its passage stands alone or was graded so,
  becomes one to be checked if the reader holds that the strips do not answer.

Its prompt is that of a written answer, which its adapter was trained on with questions that nothing answers
among them. So the probability of the sentence that declines is its doubt, and one prompt tells both: whether
the strips answer, and what. What it writes is checked like anything that is written
(:mod:`.citation_check`): figures and names must stand in what it cites.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from localcrag.calibration.scale import Scale
from localcrag.crag import prompts
from localcrag.crag.answering.answer_form import answer_pattern, by_sentence, cited_keys, without_keys
from localcrag.crag.answering.citation_check import CitationChecker
from localcrag.crag.answering.strip_display import shown_text
from localcrag.crag.doubts.sureness import SHOWN_SHARE, SURE_STRIP
from localcrag.crag.refinement.recomposition import numbered
from localcrag.crag.refinement.strip_filter import best_score
from localcrag.crag.state import Finding, QuestionState, timed
from localcrag.errors import ConstraintError, ContextOverflow
from localcrag.events import Degraded, EvidenceRead, Steps
from localcrag.protocols import LineWriter
from localcrag.types import Evidence, Mode, Strip

BELIEVED, DENIED = 0.95, 0.5
"""P(the strips answer) from which on an unsure answer is sure, and below which a sure one is not."""
MAX_STRIPS, MAX_STRIP_CHARACTERS = 4, 600
"""The most strips that are read, the most probable ones, and the most characters of one."""
MAX_SAID_TOKENS = 96
NOT_ANSWERING = "the reader holds that it does not answer (P = {:.2f})"
_DECLINING = re.escape(prompts.NOT_IN_EVIDENCE)


@dataclass(frozen=True, slots=True)
class Reading:
    """What the reader makes of strips.

    ``probability`` is P(they answer); ``said`` are sentences that hold, without citations, and ``cited`` the
    strips that they cite; "" and none if it declines, or nothing holds.
    """

    probability: float
    said: str = ""
    cited: tuple[Strip, ...] = ()


def read_evidence(whole: QuestionState, findings: Sequence[Finding]) -> Steps[list[Finding]]:
    """The findings after a reader has read the strips of those that are open; as they are without one.

    A model that fails is reported, and the finding stays as it was.
    """
    model, options = whole.adapters.reader, whole.options
    if model is None or options.mode is not Mode.QUOTE or options.output is not None:
        return list(findings)
    read: list[Finding] = []
    for finding in findings:
        if _is_open(finding):
            finding = yield from timed(whole.adapters, "read", _after_reading(model, finding))
        read.append(finding)
    return read


def _is_open(finding: Finding) -> bool:
    """Whether the reader's word may change how sure a finding is."""
    if not finding.strips or finding.doubted:
        return False
    return not finding.sure or best_score(finding.strips) < SURE_STRIP


def _after_reading(model: LineWriter, finding: Finding) -> Steps[Finding]:
    """A finding after the reader has read its strips."""
    scale = finding.state.adapters.reader_scale or Scale()
    try:
        least = 1.0 if finding.sure else BELIEVED
        reading = reading_of(model, finding.state.question, finding.strips, scale, least)
    except (ConstraintError, ContextOverflow) as error:
        yield Degraded("evidence", f"the reader has no word on it: {error}")
        return finding
    yield EvidenceRead(len(finding.strips), reading.said, reading.probability)
    if finding.sure and reading.probability < DENIED:
        yield Degraded("evidence", NOT_ANSWERING.format(reading.probability))
        return replace(finding, sure=False)
    agreed = best_score(reading.cited) >= SHOWN_SHARE * best_score(finding.strips)
    if finding.sure or reading.probability < BELIEVED or not reading.said or not agreed:
        return finding
    return replace(finding, strips=reading.cited, said=reading.said, sure=True)


def reading_of(
    model: LineWriter, question: str, strips: Sequence[Strip], scale: Scale, least: float = DENIED
) -> Reading:
    """What the reader makes of the most probable strips, its probability on a scale.

    It writes nothing where that is less than the ``least``. Raises ConstraintError, ContextOverflow.
    """
    chosen = sorted(strips, key=lambda strip: -strip.score)[:MAX_STRIPS]
    evidence = numbered(chosen)
    prompt = prompts.answer(question, numbered([_cut(strip, question) for strip in chosen]), trained=True)
    probability = scale(1 - model.write_line(prompt, _DECLINING).probability)
    if probability < least:
        return Reading(probability)
    pattern = answer_pattern((item.key for item in evidence), may_decline=False)
    try:
        text = model.write_line(prompt, pattern, max_tokens=MAX_SAID_TOKENS).text
    except ConstraintError:  # it comes to no end
        return Reading(probability)
    held = _held(question, evidence, text)
    keys = {key for sentence in held for key in cited_keys(sentence)}
    cited = tuple(strip for key, strip in enumerate(chosen, 1) if key in keys)
    return Reading(probability, " ".join(map(without_keys, held)), cited)


def _cut(strip: Strip, question: str) -> Strip:
    """A strip as it is shown, a wide row with the cells that are asked for, and only its first characters."""
    return replace(strip, text=shown_text(strip, question)[:MAX_STRIP_CHARACTERS])


def _held(question: str, evidence: Sequence[Evidence], text: str) -> list[str]:
    """The sentences of a text that hold, with their citations."""
    checker = CitationChecker(question, evidence)
    return [checked for sentence in by_sentence([text]) if (checked := checker.check(sentence.strip()))]
