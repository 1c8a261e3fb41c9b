"""Settings that a question hardly names: of "which port does the phone system use?" the one port that is set.

Such a setting is shown, since it may be the one that is meant (:mod:`..judges.named_settings`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath

from localcrag.crag.doubts.sureness import SURE_STRIP
from localcrag.crag.judges.named_settings import name_of_setting, section_around, words_of_name
from localcrag.crag.questions.query_terms import terms, terms_asked_for
from localcrag.crag.refinement.strip_context import judged_text
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.types import Strip


def is_barely_named(question: str, kept: Sequence[Strip]) -> bool:
    """Whether the best strip is a setting with less than half of the words of a question around it.

    A setting that surely answers by its own probability is none such.

    Args:
        question: the question.
        kept: the strips that may be shown, with their probabilities as scores.
    """
    best = best_strip(kept)
    if best is None or best.score >= SURE_STRIP or not name_of_setting(best):
        return False
    source = PurePath(best.passage.source).name
    told = f"{judged_text(best)} {best.passage.title} {source} {section_around(best)}"
    asked = terms_asked_for(question)
    return 2 * len(asked & (terms(told) | words_of_name(told))) < len(asked)
