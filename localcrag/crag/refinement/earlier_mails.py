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
from localcrag.crag.questions.calendar_dates import dates_of
from localcrag.crag.questions.query_terms import stem, terms
from localcrag.crag.refinement.knowledge_strips import strip_at
from localcrag.crag.refinement.strip_context import headings_above
from localcrag.crag.refinement.strip_kinds import is_mail_header
from localcrag.types import HEADING_SEPARATOR, BlockKind, Strip

_REPLIED_TO = re.compile(
    r"\b(?:wrote|schrieb|a écrit|escribió|ha scritto)\b[^\n]*:\s*$"
    r"|\b(?:From|Von|De|Da): [^\n]+ (?:Subject|Betreff|Objet|Oggetto|Asunto|Assunto): "
)
"""The heading of an earlier mail that a reply quotes: "… wrote:", or its header."""
_REPLY_MARK = re.compile(r"\s*(?:Re|Aw|Antw|Sv|Vs|Ref|Rif|R|Odp)(?:\[\d+\])?:\s*", re.IGNORECASE)
"""What mail programs put before the subject of a reply."""
_MONEY_ASKED = re.compile(
    r"\b(?:prices?|costs?|fees?|rent|pay|paid|totals?|amount|how much)\b|[€$£]", re.IGNORECASE
)
_MONEY_TOLD = re.compile(
    r"[€$£] ?\d|\d ?(?:[€$£]|(?:EUR|USD|GBP|CHF|euros?|dollars|pounds|(?:an?|per) (?:day|week|month|year))\b)"
)
"""How a question asks for a sum of money, and how a sentence tells one."""
RIVAL_LOG_ODDS, SETTLED_LOG_ODDS = math.log(10), math.log(100)
"""A strip of the newer mail may answer too if its odds are a tenth of the earlier one's, which then fall by
as much; a hundredth if the question wants what held in the end, or the earlier one only proposes it."""
_PROPOSED = re.compile(
    r"\b(?:would|['’]d|could|might)\b[^.!?\n]*\b(?:if|provided|unless)\b"
    r"|\b(?:shall we|how about|what about|what if|propose|proposal|suggest(?:ion)?)\b",
    re.IGNORECASE,
)
_PROPOSAL_ASKED = re.compile(
    r"\b(?:would|could|might|propos\w*|suggest\w*|offer\w*|want\w*|idea|conditions?|if|recommend\w*|should)\b",
    re.IGNORECASE,
)
"""How a sentence of a mail proposes something ("I would sign if she pays for the door"), and how a question
asks for what was proposed."""
_DAY_ASKED = re.compile(
    r"\b(?:when|(?:what|which) (?:day|date)|until|wann|welche[mnrs]? tag|quand|quel jour|cuándo|qué día"
    r"|quando|che giorno)\b",
    re.IGNORECASE,
)
_NUMBER_ASKED = re.compile(
    r"\b(?:how (?:much|many)|wie ?viele?|combien|cuánt[oa]s?|quant[oaie]|number of)\b", re.IGNORECASE
)
_COUNTED = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)? (?P<unit>[^\W\d]{2,})")
"""How a question asks for a day and for a number, and how a sentence tells how many there are of what."""
_SETTLED_ASKED = re.compile(
    r"\b(?:final(?:ly)?|agreed?(?: on)?|in the end|eventually|settled|after all|at last|latest|updated"
    r"|now|actual(?:ly)?|real(?:ly)?|jetzt|nun|wirklich|tatsächlich|endgültig|schließlich|finalement|vraiment"
    r"|maintenant|finalmente|al final|ahora|realmente|alla fine|adesso|davvero|infine)\b",
    re.IGNORECASE,
)
"""How a question asks for what held in the end: in English, German, French, Spanish, Italian."""


def is_of_earlier_mail(strip: Strip) -> bool:
    """Whether a strip stands in a mail that another one quotes as what it replies to."""
    return _REPLIED_TO.search(headings_above(strip)) is not None


def only_proposes(strip: Strip, question: str) -> bool:
    """Whether a strip of a mail proposes something, and a question does not ask for what was proposed."""
    if not _PROPOSED.search(strip.text) or _PROPOSAL_ASKED.search(question):
        return False
    return "from" in strip.passage.meta or _beginning_of_mail(strip) >= 0 or is_of_earlier_mail(strip)


def leads_to_earlier_mail(line: Strip) -> bool:
    """Whether a line says whose mail is quoted below it: "On Saturday, Ann Weld wrote:"."""
    return _REPLIED_TO.search(line.text) is not None


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a strip stands among mails.

    ``subject`` is that of its mail without the marks of a reply, whose number is ``replies``; ``day`` is that
    of a mail in a file of its own (ISO 8601), else "". ``mail`` is where a reply begins in a mail folder; -1
    of others, and if that is in an earlier passage.
    """

    document: str
    start: int
    quoted: bool
    subject: str
    replies: int
    day: str
    mail: int

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
        begun = _beginning_of_mail(strip) if replies else -1
        return _Place(strip.passage.document, strip.start, quoted, subject.casefold(), replies, day, begun)

    def is_before(self, other: _Place) -> bool:
        """Whether the other strip is of a later mail of the same thread."""
        is_same_thread = bool(self.subject) and self.subject == other.subject
        if self.document == other.document:
            is_other_mail = -1 < self.mail < other.mail and other.replies == self.replies
            is_later = other.start > self.start and (other.replies > self.replies or is_other_mail)
            return (is_same_thread and is_later) or (self.quoted and not other.quoted)
        if not (is_same_thread and self.day and other.day):
            return False
        return (self.day, self.replies) < (other.day, other.replies)


def _beginning_of_mail(strip: Strip) -> int:
    """Where the header of the mail that a strip stands in begins; -1 if that is in an earlier passage."""
    passage = strip.passage
    above = (block for block in reversed(passage.blocks) if block.end <= strip.start)
    rows = (strip_at(passage, block.start, block.end) for block in above if block.kind is BlockKind.ROW)
    return next((row.start for row in rows if is_mail_header(row)), -1)


def with_newer_mails_first(question: str, found: Sequence[Strip], scores: Sequence[float]) -> list[float]:
    """The probabilities of strips, those of earlier mails lowered where a later mail may answer too.

    A strip of the later mail may answer if it is probable enough, and has a word that the question and the
    earlier strip share, or as that has a sum of money, a day or a number of things, if one is asked for. What
    an earlier mail has word for word is quoted from it.
    """
    first: dict[tuple[str, str], _Place] = {}
    for strip in sorted(found, key=lambda each: each.start):
        first.setdefault((strip.passage.document, strip.text), _Place.of(strip))
    places = [first[strip.passage.document, strip.text] for strip in found]
    strips = list(zip(found, scores, places, strict=True))
    if not any(place.quoted or place.replies or place.day for _, _, place in strips):
        return list(scores)
    odds = [log_odds(p) for p in scores]
    asked = terms(question)
    distance = SETTLED_LOG_ODDS if _SETTLED_ASKED.search(question) else RIVAL_LOG_ODDS

    def lowered(strip: Strip, p: float, place: _Place) -> float:
        fall = SETTLED_LOG_ODDS if only_proposes(strip, question) else distance
        low, named = log_odds(p) - fall, asked & terms(strip.text)
        later = (
            rival
            for (rival, _, other), rival_odds in zip(strips, odds, strict=True)
            if rival_odds >= low and place.is_before(other)
        )
        is_rival = any(
            named & terms(rival.text) or _tell_alike(question, strip.text, rival.text) for rival in later
        )
        return sigmoid(low) if is_rival else p

    return [lowered(*each) for each in strips]


def _tell_alike(question: str, one: str, other: str) -> bool:
    """Whether two texts each tell a sum of money, a day or a number of the same things, as is asked for."""
    if _MONEY_ASKED.search(question) and _MONEY_TOLD.search(one) and _MONEY_TOLD.search(other):
        return True
    if _DAY_ASKED.search(question) and dates_of(one) and dates_of(other):
        return True
    units = [{stem(found["unit"].casefold()) for found in _COUNTED.finditer(text)} for text in (one, other)]
    return _NUMBER_ASKED.search(question) is not None and not units[0].isdisjoint(units[1])
