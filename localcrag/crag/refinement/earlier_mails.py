"""Earlier mails that a reply quotes below itself: what the reply says of the same counts more.

The evaluator judges a sentence by itself, and "The concert is on the 14th" is often plainer than "it moves to
the 21st". So a strip of an earlier mail counts less if the mail above it has one that may answer too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from localcrag.calibration.scale import log_odds, sigmoid
from localcrag.crag.query_terms import terms
from localcrag.crag.refinement.strip_context import headings_above
from localcrag.types import Strip

_REPLIED_TO = re.compile(
    r"\b(?:wrote|schrieb|a écrit|escribió|ha scritto)\b[^\n]*:\s*$"
    r"|\b(?:From|Von|De|Da): [^\n]+ (?:Subject|Betreff|Objet|Oggetto|Asunto|Assunto): "
)
"""The heading of an earlier mail that a reply quotes: "… wrote:", or its header."""
RIVAL_LOG_ODDS = math.log(10)
"""A strip of the newer mail may answer too if its odds are a tenth of the earlier one's, which then fall by
as much."""


def is_of_earlier_mail(strip: Strip) -> bool:
    """Whether a strip stands in a mail that another one quotes as what it replies to."""
    return _REPLIED_TO.search(headings_above(strip)) is not None


def with_newer_mails_first(question: str, found: Sequence[Strip], scores: Sequence[float]) -> list[float]:
    """The probabilities of strips, those of earlier mails lowered where the newer mail may answer too.

    A strip of the newer mail may answer if it is of the same document, probable enough, and has a word that
    the question and the earlier strip share.
    """
    strips = list(zip(found, scores, map(is_of_earlier_mail, found), strict=True))
    newer = [(strip, log_odds(p)) for strip, p, old in strips if not old]
    asked = terms(question)

    def lowered(strip: Strip, p: float) -> float:
        low, named = log_odds(p) - RIVAL_LOG_ODDS, asked & terms(strip.text)
        rivalled = any(
            odds >= low and rival.passage.document == strip.passage.document and named & terms(rival.text)
            for rival, odds in newer
        )
        return sigmoid(low) if rivalled else p

    return [lowered(strip, p) if old else p for strip, p, old in strips]
