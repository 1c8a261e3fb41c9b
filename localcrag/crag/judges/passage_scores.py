"""How probably passages and strips help: a passage is judged whole, and by what it says of the question.

A passage of many rows, or one whose answer is half a sentence, is judged with doubt as a whole. So the strips
that share most terms with the question are judged beside it, and the best judgement counts. On 35 questions
about tables, manuals, pages and reports the passage that came first was the right one for 0.94 of them (whole
passages alone: 0.86), and 0.80 had one at 0.45 or more (0.54); more strips than two changed nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from localcrag.calibration.scale import log_odds, sigmoid
from localcrag.crag.judges.constant_definitions import defined_names
from localcrag.crag.judges.mail_lookup import named_headers
from localcrag.crag.judges.manual_entries import named_entries
from localcrag.crag.judges.named_settings import named_settings
from localcrag.crag.questions.codes import lacking_codes
from localcrag.crag.questions.query_terms import figures_asked, figures_of, terms
from localcrag.crag.refinement.calendar_spans import tells_figure
from localcrag.crag.refinement.earlier_mails import with_newer_mails_first
from localcrag.crag.refinement.entry_order import with_asked_entry_first
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.readable_names import in_words
from localcrag.crag.refinement.strip_context import judged_text
from localcrag.crag.refinement.strip_kinds import is_row
from localcrag.crag.rows.row_lookup import DENIAL_WEIGHT, looked_up, raised, with_named_key_first
from localcrag.languages import beyond_english, is_across_english
from localcrag.protocols import Evaluator
from localcrag.types import Passage, Strip

JUDGED_STRIPS = 2
"""The number of strips of each passage that are judged beside the whole."""
MAX_STRIPS_ACROSS = 8
"""That number if question and passage have no term in common because they are in different languages."""
FITTED_EVALUATOR, STRIP_GAIN = "localcrag-evaluator-v6", 0.7
"""What the log-odds of a strip gain by the evaluator whose scale was fitted to whole passages. A logistic
regression on 4,600 strips of documents held out from its training says 0.42, and 0.68 with the cosine beside
it; the bounds of :mod:`.sureness` go with 0.7."""

OWN_LANGUAGE_RIVAL = 0.05
"""The probability from which on a passage in the question's own language may be what it is about."""
ACROSS_WEIGHT = -2.3
"""What the log-odds of a passage in another language then lose: its odds fall to a tenth."""

LACKING_CODE_WEIGHT = -1.5
"""What the log-odds lose of what is of a document without the code that a question names and another has."""


def judged_alone(evaluator: Evaluator, query: str, texts: Sequence[str]) -> list[bool]:
    """Whether each text is for the evaluator alone, since query or text is in another language than English.

    What is fitted to be combined with an evaluator was fitted to English; one that knows English only is
    never alone.
    """
    return beyond_english(query, texts) if evaluator.multilingual and texts else [False] * len(texts)


def passage_scores(evaluator: Evaluator, question: str, passages: Sequence[Passage]) -> list[float]:
    """P(the passage helps) of each passage: that of the whole, or of its best strip if it is greater."""
    cut = [strips(passage) for passage in passages]
    every = [strip for found in cut for strip in found]
    gains = _gains(question, every, looked_up(question, every))
    chosen: list[list[tuple[Strip, float]]] = []
    first, asked = 0, terms(question)
    other_languages = judged_alone(evaluator, question, [passage.text for passage in passages])
    for found, other in zip(cut, other_languages, strict=True):
        own = [gains.get(first + at, 0.0) for at in range(len(found))]
        nearest = _nearest(list(zip(found, own, strict=True)), asked)
        if not nearest and other and len(found) > 1:
            nearest = [(strip, 0.0) for strip in found[:MAX_STRIPS_ACROSS]]
        chosen.append(nearest)
        first += len(found)
    texts = [passage.judged for passage in passages]
    texts += [judged_text(strip) for picked in chosen for strip, _ in picked]
    scores = evaluator.score(question, texts)
    rest = iter(scores[len(passages) :])
    best = [
        max([p, *(raised(next(rest), gain) for _, gain in picked)])
        for p, picked in zip(scores[: len(passages)], chosen, strict=True)
    ]
    of_another_date = _of_another_date(question, cut)
    best = [raised(p, DENIAL_WEIGHT) if other else p for p, other in zip(best, of_another_date, strict=True)]
    best = _with_codes_first(question, passages, best)
    return _own_language_first(evaluator, question, passages, best)


def _with_codes_first(question: str, passages: Sequence[Passage], scores: Sequence[float]) -> list[float]:
    """The probabilities, lowered those of documents without a code of the question that another one has."""
    lacking = lacking_codes(question, passages)
    return [raised(p, LACKING_CODE_WEIGHT) if lacks else p for p, lacks in zip(scores, lacking, strict=True)]


def _own_language_first(
    evaluator: Evaluator, question: str, passages: Sequence[Passage], scores: Sequence[float]
) -> list[float]:
    """The probabilities, those across languages lowered if a passage in the question's own may help too.

    What a French passage says of a barbecue is near to any English question about one.
    """
    if not evaluator.multilingual:
        return list(scores)
    across = is_across_english(question, [passage.text for passage in passages])
    own = [p for p, other in zip(scores, across, strict=True) if not other]
    if max(own, default=0.0) < OWN_LANGUAGE_RIVAL:
        return list(scores)
    return [raised(p, ACROSS_WEIGHT) if other else p for p, other in zip(scores, across, strict=True)]


def _of_another_date(question: str, cut: Sequence[Sequence[Strip]]) -> list[bool]:
    """Of each passage, whether it has rows with dates alone, and another one has the date of the question."""
    wanted = figures_asked(question)
    if not wanted:
        return [False] * len(cut)
    rows = [[is_row(strip) and bool(figures_of(strip.text)) for strip in found] for found in cut]
    has_it = [[tells_figure(strip, wanted) for strip in found] for found in cut]
    if not any(
        is_dated and has
        for pair in zip(rows, has_it, strict=True)
        for is_dated, has in zip(*pair, strict=True)
    ):
        return [False] * len(cut)
    return [bool(found) and all(found) and not any(has) for found, has in zip(rows, has_it, strict=True)]


def strip_scores(evaluator: Evaluator, question: str, found: Sequence[Strip]) -> list[float]:
    """P(the strip helps) of each strip, by the evaluator, on the scale of strips (:data:`STRIP_GAIN`).

    That of a row which is looked up is raised (:mod:`.row_lookup`), above the others of its table, so is the
    header of a mail that is asked about (:mod:`.mail_lookup`), and so is the entry of a manual that is named
    (:mod:`.manual_entries`), what gives a name its value (:mod:`.constant_definitions`), or the one setting
    that is named (:mod:`.named_settings`); those of an earlier mail where a newer one may answer
    (:mod:`.refinement.earlier_mails`), of other entries than the first or last one that is asked for
    (:mod:`.refinement.entry_order`), and of a document without the code that is asked about (:mod:`.codes`)
    are lowered.
    """
    rows = looked_up(question, found)
    gains = _gains(question, found, rows)
    scores = _own_scale(evaluator, question, [judged_text(strip) for strip in found])
    scores = [raised(p, gains.get(at, 0.0)) for at, p in enumerate(scores)]
    scores = with_named_key_first(question, found, scores, rows)
    scores = with_asked_entry_first(question, found, scores)
    scores = _with_codes_first(question, [strip.passage for strip in found], scores)
    return with_newer_mails_first(question, found, scores)


def moved_by(scores: Sequence[float], offsets: Sequence[float]) -> list[float]:
    """The probabilities with the offset of each added to its log-odds; one of 0 changes nothing."""
    return [sigmoid(log_odds(p) + by) if by else p for p, by in zip(scores, offsets, strict=True)]


def _own_scale(evaluator: Evaluator, question: str, texts: Sequence[str]) -> list[float]:
    """P(the strip helps) for the text of each, on the scale that was fitted to strips if one was."""
    scores = evaluator.score(question, texts)
    if evaluator.name != FITTED_EVALUATOR:
        return scores
    foreign = judged_alone(evaluator, question, texts)
    return [
        p if other else sigmoid(log_odds(p) + STRIP_GAIN) for p, other in zip(scores, foreign, strict=True)
    ]


def _gains(question: str, found: Sequence[Strip], rows: Mapping[int, float]) -> dict[int, float]:
    """What the log-odds of strips gain, by their index, since they are looked up; ``rows`` that of rows."""
    named = named_headers(question, found) | named_entries(question, found)
    return dict(rows) | named_settings(question, found) | defined_names(question, found) | named


def _nearest(found: Sequence[tuple[Strip, float]], asked: set[str]) -> list[tuple[Strip, float]]:
    """The strips of a passage that are looked up or share most terms with the question, with their gains.

    There are none if the passage has only one strip and it is not looked up.
    """
    if len(found) <= 1:
        return [pair for pair in found if pair[1] > 0]
    shared = [(pair[1] > 0, len(terms(in_words(pair[0].text)) & asked), pair) for pair in found]
    ranked = sorted(shared, key=lambda each: (-each[0], -each[1]))[:JUDGED_STRIPS]
    return [pair for _, count, pair in ranked if count or pair[1] > 0]
