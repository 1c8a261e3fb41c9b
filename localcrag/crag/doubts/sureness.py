"""Whether the evidence found is enough to answer without a warning, when the grades alone leave it open.

A passage is judged with doubt where much of it is about something else. So the evidence also surely answers
if a strip of it is probable enough by itself (:func:`borne_out`), or if it is of the one passage that is far
more probable than all others (:func:`stands_alone`). And whatever the judges say, a number of the question
that the evidence does not have (:mod:`.told_numbers`) is a reason to check it: what a garage costs "from
May 2028" is not told by its price of 2026, which to a judge of relevance looks just like it.

The bounds were chosen by version 6 of the evaluator's word on questions about documents held out from its
training and about such that nothing was trained on (``scripts/training/unseen_documents``): of 136 of these
whose answer is among twenty strips, the best strip reaches 0.55 and answers for 0.55, and does not answer for
0.07; of 58 that only look answerable one reaches it for 0.10. With 0.45 it would be 0.59, 0.09 and 0.19.
"""

from __future__ import annotations

from collections.abc import Sequence

from localcrag.calibration.scale import log_odds
from localcrag.crag.doubts.one_of_rows import is_any_row
from localcrag.crag.policy import confidences_of, settled
from localcrag.crag.refinement.completed_quotations import is_read_with
from localcrag.crag.refinement.strip_filter import best_score
from localcrag.crag.refinement.strip_kinds import is_row
from localcrag.crag.state import QuestionState
from localcrag.languages import language_of
from localcrag.types import Grade, GraderKind, Policy, Strip, Verdict

SURE_STRIP, PROBABLE_STRIP = 0.55, 0.45
"""The evaluator's probability from which on a strip surely answers, and that from which on it does if hardly
another one is nearly as probable."""
MAX_RIVALS, RIVAL_SHARE = 1, 0.5
"""How many other strips may be nearly as probable as one that probably answers, of a row none, and the share
of its probability from which on they are."""
ALONE_ROW, ALONE_SHARE, ALONE_GRADE = 0.38, 0.45, 0.2
"""The probability from which on a row answers if no other strip has this share of it, and the grade of its
passage, which must be the highest: of nine exams over real files 7 questions that would else be unsure were
answered by such, and none wrongly. Of prose 5 of 84 questions that encyclopaedia articles only seem to answer
would be sure."""
FAR_ALONE_STRIP, FAR_ALONE_SHARE = 0.31, 0.25
"""The probability from which on any strip answers if no other one has this share of it, and no passage has a
higher grade than its own: of six collections of real and made files 7 questions that would else be unsure
were answered by such, and none wrongly; of 90 that encyclopaedia articles only seem to answer 3. It is above
that of a row or a setting that is only looked up."""
SHOWN_SHARE = 0.75
"""The share of the probability of the best strip that one must have which is shown in its place."""
MIN_PROBABLE_GRADE = 0.3
"""The grade that its passage needs for a strip that probably answers, unless none has a higher one: strips of
other passages below it answered none of 8 questions of six collections."""
LONE_GRADE, LONE_LOG_ODDS = 0.3, 1.6
"""The grade from which on a passage surely answers by itself, and by how much its log-odds must then be above
those of every other passage: its odds are five times as high."""
LOW_LONE_GRADE, LOW_LONE_STRIP = 0.15, 0.2
"""The grade from which on it does if its best strip has such a probability: of the questions of six
collections that would else be unsure, 7 were answered by these, and none wrongly."""
_GRADERS_OF_EVALUATOR = frozenset({GraderKind.EVALUATOR, GraderKind.FUSED})


def is_sure(state: QuestionState, kept: Sequence[Strip]) -> bool:
    """Whether the evidence is enough: by the policy, or as the evaluator judges strips and passages.

    If no passage could be graded, it is not, however sure a strip seems.
    """
    policy = state.options.policy
    if all(grade.verdict is Verdict.ERROR for grade in state.grades):
        return False
    if settled(state.grades, policy, state.adapters.grader.thresholds):
        return True
    if policy is not Policy.CRAG or state.adapters.evaluator is None:
        return False
    is_comparable = is_graded_by_evaluator(state)
    if borne_out(kept, state.question, state.grades if is_comparable else ()):
        return True
    return is_comparable and stands_alone(kept, state.grades) and not is_any_row(state.question, kept)


def is_weak(state: QuestionState, kept: Sequence[Strip]) -> bool:
    """Whether no strip reaches the evaluator's floor: then one is shown only since it stands out."""
    evaluator = state.adapters.evaluator
    return evaluator is not None and all(strip.score < evaluator.thresholds.lower for strip in kept)


def is_graded_by_evaluator(state: QuestionState) -> bool:
    """Whether the confidences of the grades are on the scale that the evaluator's thresholds are on."""
    return state.adapters.grader.kind in _GRADERS_OF_EVALUATOR


def loses_best(kept: Sequence[Strip], shown: Sequence[Strip]) -> bool:
    """Whether of all strips kept those that are shown are much less probable than the best one."""
    return best_score(shown) < SHOWN_SHARE * best_score(kept)


def borne_out(strips: Sequence[Strip], question: str = "", grades: Sequence[Grade] = ()) -> bool:
    """Whether a strip surely answers: by its own probability, or since few others come near it.

    What stands in one list or short paragraph with it is read with it, and is no rival of it. If the
    ``question`` is in another language than the strip, only its own probability counts: what the others have
    is not comparable. So it is if the passage of the strip is doubted, and another one less.

    Args:
        strips: the strips that were kept, with the evaluator's probabilities as scores.
        question: the question, if its language is to be considered.
        grades: the grades of the passages on the evaluator's scale, if they are to be considered.
    """
    if not strips:
        return False
    best = max(strips, key=lambda strip: strip.score)
    if best.score >= SURE_STRIP or _is_across(question, best.text):
        return best.score >= SURE_STRIP
    confidences = confidences_of(grades)
    own, highest = confidences.get(best.passage.id, 1.0), max(confidences.values(), default=0.0)
    is_best_graded = bool(grades) and own >= max(highest, ALONE_GRADE)
    if own < min(MIN_PROBABLE_GRADE, highest):
        return False
    text = " ".join(best.text.split())
    rivals = {
        told: strip.score
        for strip in sorted(strips, key=lambda each: each.score)
        if not is_read_with(strip, best) and (told := " ".join(strip.text.split())) != text
    }
    near = [score for score in rivals.values() if score >= RIVAL_SHARE * best.score]
    if best.score >= PROBABLE_STRIP and len(near) <= (0 if is_row(best) else MAX_RIVALS):
        return True
    rival = max(rivals.values(), default=0.0)
    if best.score >= FAR_ALONE_STRIP and rival < FAR_ALONE_SHARE * best.score:
        return bool(grades) and own >= highest
    is_alone = rival < ALONE_SHARE * best.score
    return is_row(best) and best.score >= ALONE_ROW and is_alone and is_best_graded


def _is_across(question: str, text: str) -> bool:
    """Whether a question and a text are in two languages, as far as they tell."""
    asked, told = language_of(question, ""), language_of(text, "")
    return bool(asked and told) and asked != told


def stands_alone(strips: Sequence[Strip], grades: Sequence[Grade]) -> bool:
    """Whether one passage is far more probable than all others, and the best strip is of it.

    Args:
        strips: the strips that were kept, with the evaluator's probabilities as scores.
        grades: all grades of the question; of a passage that was graded again, the higher one counts.
    """
    confidences = confidences_of(grades)
    if not strips or not confidences:
        return False
    best = max(strips, key=lambda strip: strip.score)
    confidence = confidences.pop(best.passage.id, 0.0)
    others = max(confidences.values(), default=0.0)
    least = LOW_LONE_GRADE if best.score >= LOW_LONE_STRIP else LONE_GRADE
    return confidence >= least and log_odds(confidence) - log_odds(others) >= LONE_LOG_ODDS
