"""The reader: a larger model reads the strips of an answer that is not sure, and says what they tell.

In a system of retriever and reader (Chen et al. 2017, arXiv 1704.00051, section 3) a reader takes the answer
from what was retrieved. This one is asked only where evaluator and rules leave it open whether the strips
that were kept answer, since it costs ten times as much a token. Its prompt is that of a written answer, which
its adapter was trained on with questions that nothing answers among them. So the probability of the sentence
that declines is its doubt, and one prompt tells both: whether the strips answer, and what.

What it writes is checked like anything that is written (:mod:`.citation_check`): figures and names must stand
in what it cites. What it cites is shown below it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from localcrag.calibration.scale import Scale
from localcrag.crag import prompts
from localcrag.crag.answering.answer_form import answer_pattern, by_sentence, cited_keys, without_keys
from localcrag.crag.answering.citation_check import CitationChecker
from localcrag.crag.refinement.recomposition import numbered
from localcrag.crag.state import Finding, QuestionState, timed
from localcrag.errors import ConstraintError, ContextOverflow
from localcrag.events import Degraded, EvidenceRead, Steps
from localcrag.protocols import LineWriter
from localcrag.types import Evidence, Mode, Strip

BELIEVED, DENIED = 0.8, 0.2
"""P(the strips answer) from which on an answer is sure, and below which there is none."""
MAX_STRIPS, MAX_STRIP_CHARACTERS = 6, 1200
"""The most strips that are read, the most probable ones, and the most characters of one."""
MAX_SAID_TOKENS = 96
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
    """The findings after a reader has read the strips of those that are not sure; as they are without one.

    A model that fails is reported, and the finding stays as it was.
    """
    model, options = whole.adapters.reader, whole.options
    if model is None or options.mode is not Mode.QUOTE or options.output is not None:
        return list(findings)
    read: list[Finding] = []
    for finding in findings:
        if finding.strips and not finding.sure:
            finding = yield from timed(whole.adapters, "read", _after_reading(model, finding))
        read.append(finding)
    return read


def _after_reading(model: LineWriter, finding: Finding) -> Steps[Finding]:
    """A finding after the reader has read its strips."""
    scale = finding.state.adapters.reader_scale or Scale()
    try:
        reading = reading_of(model, finding.state.question, finding.strips, scale)
    except (ConstraintError, ContextOverflow) as error:
        yield Degraded("evidence", f"the reader has no word on it: {error}")
        return finding
    yield EvidenceRead(len(finding.strips), reading.said, reading.probability)
    if reading.probability < DENIED:
        return replace(finding, strips=())
    if not reading.said:
        return finding
    sure = reading.probability >= BELIEVED and not finding.doubted
    return replace(finding, strips=reading.cited, said=reading.said, sure=sure)


def reading_of(model: LineWriter, question: str, strips: Sequence[Strip], scale: Scale) -> Reading:
    """What the reader makes of the most probable strips, its probability on a scale.

    Raises ConstraintError, ContextOverflow.
    """
    chosen = sorted(strips, key=lambda strip: -strip.score)[:MAX_STRIPS]
    evidence = numbered([_cut(strip) for strip in chosen])
    prompt = prompts.answer(question, evidence, trained=True)
    probability = scale(1 - model.write_line(prompt, _DECLINING).probability)
    if probability < DENIED:
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


def _cut(strip: Strip) -> Strip:
    """A strip without what is beyond so many characters of it."""
    text = strip.text[:MAX_STRIP_CHARACTERS]
    return replace(strip, text=text, end=strip.start + len(text))


def _held(question: str, evidence: Sequence[Evidence], text: str) -> list[str]:
    """The sentences of a text that hold, with their citations."""
    checker = CitationChecker(question, evidence)
    return [checked for sentence in by_sentence([text]) if (checked := checker.check(sentence.strip()))]
