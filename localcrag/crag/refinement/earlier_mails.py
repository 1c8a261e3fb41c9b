"""Earlier mails of a thread: what a reply says of the same counts more.

The evaluator judges a sentence by itself, and "The concert is on the 14th" is often plainer than "it moves to
the 21st". So a strip of an earlier mail counts less if a later one has a strip that may answer too: the mail
that quotes it below itself, or a reply with its subject in the same mail folder or in a file of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from localcrag.calibration.scale import log_odds, sigmoid
from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_context import headings_above
from localcrag.types import HEADING_SEPARATOR, Strip

_REPLIED_TO = re.compile(
    r"\b(?:wrote|schrieb|a écrit|escribió|ha scritto)\b[^\n]*:\s*$"
    r"|\b(?:From|Von|De|Da): [^\n]+ (?:Subject|Betreff|Objet|Oggetto|Asunto|Assunto): "
)
"""The heading of an earlier mail that a reply quotes: "… wrote:", or its header."""
_REPLY_MARK = re.compile(r"\s*(?:Re|Aw|Antw|Sv|Vs|Ref|Rif|Odp)(?:\[\d+\])?:\s*", re.IGNORECASE)
"""What mail programs put before the subject of a reply."""
RIVAL_LOG_ODDS = math.log(10)
"""A strip of the newer mail may answer too if its odds are a tenth of the earlier one's, which then fall by
as much."""


def is_of_earlier_mail(strip: Strip) -> bool:
    """Whether a strip stands in a mail that another one quotes as what it replies to."""
    return _REPLIED_TO.search(headings_above(strip)) is not None


def leads_to_earlier_mail(line: Strip) -> bool:
    """Whether a line says whose mail is quoted below it: "On Saturday, Ann Weld wrote:"."""
    return _REPLIED_TO.search(line.text) is not None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a strip stands among mails.

    ``subject`` is that of its mail without the marks of a reply, whose number is ``replies``; ``day`` is that
    of a mail in a file of its own (ISO 8601), else "".
    """

    document: str
    start: int
    quoted: bool
    subject: str
    replies: int
    day: str

    @staticmethod
    def of(strip: Strip) -> _Place:
        meta = strip.passage.meta
        day = str(meta.get("date") or "") if "from" in meta else ""
        subject = (
            str(meta.get("subject", "")) if day else headings_above(strip).partition(HEADING_SEPARATOR)[0]
        )
        replies = 0
        while mark := _REPLY_MARK.match(subject):
            subject, replies = subject[mark.end() :], replies + 1
        quoted = is_of_earlier_mail(strip)
        return _Place(strip.passage.document, strip.start, quoted, subject.casefold(), replies, day)

    def is_before(self, other: _Place) -> bool:
        """Whether the other strip is of a later mail of the same thread."""
        is_same_thread = bool(self.subject) and self.subject == other.subject
        if self.document == other.document:
            is_reply = is_same_thread and other.replies > self.replies and other.start > self.start
            return is_reply or (self.quoted and not other.quoted)
        if not (is_same_thread and self.day and other.day):
            return False
        return (self.day, self.replies) < (other.day, other.replies)


def with_newer_mails_first(question: str, found: Sequence[Strip], scores: Sequence[float]) -> list[float]:
    """The probabilities of strips, those of earlier mails lowered where a later mail may answer too.

    A strip of the later mail may answer if it is probable enough, and has a word that the question and the
    earlier strip share.
    """
    strips = list(zip(found, scores, map(_Place.of, found), strict=True))
    if not any(place.quoted or place.replies or place.day for _, _, place in strips):
        return list(scores)
    odds = [log_odds(p) for p in scores]
    asked = terms(question)

    def lowered(strip: Strip, p: float, place: _Place) -> float:
        low, named = log_odds(p) - RIVAL_LOG_ODDS, asked & terms(strip.text)
        later = (
            rival
            for (rival, _, other), rival_odds in zip(strips, odds, strict=True)
            if rival_odds >= low and place.is_before(other)
        )
        return sigmoid(low) if any(named & terms(rival.text) for rival in later) else p

    return [lowered(*each) for each in strips]
