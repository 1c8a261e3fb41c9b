"""Looking up who sent a mail, to whom, and when: the header of the mail that a question names.

"Who sent the mail about lyrics?" is answered by the row "From: Ann Weld · To: choir@example.org · Subject:
Lyrics of June", which to a judge that reads sentences says nothing of sending. So the header of a mail counts
for more if the question is about a mail, and if what it names of it stands in the header.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.questions.query_terms import terms
from localcrag.crag.refinement.strip_kinds import is_mail_header
from localcrag.types import Strip

NAMED_WEIGHT, ONE_OF_THREAD_WEIGHT = 7.0, 2.5
"""What the log-odds of the one header gain that a question names, and of one of several."""
MAX_NAMED = 3
"""How many headers may be named; more of them are not told apart by the question."""
_ABOUT_ONE_MAIL = re.compile(
    r"\b(?:e-?mails?|messages?|sen[dt]|sender|recipients?|forwarded|mails?|nachricht|absender|empfänger|geschickt"
    r"|gesendet)\b|\b(?:wr[oi]te|written|schrieb|geschrieben)\b.*\b(?:about|to|über|an)\b",
    re.IGNORECASE,
)
"""How a question speaks of a mail that was sent."""
_OF_ANY_MAIL = terms(
    "about absender address an am came cc date dated day der die das e-mail email empfänger from geschickt "
    "geschrieben gesendet got ist mail mailed mails message messages nachricht received recipient recipients "
    "schrieb send sender sending sent subject time to von wann war was wem wen wer wrote write written über "
    "betreff datum"
)
"""The words of such a question that name no mail: what is asked of it."""


def named_headers(question: str, found: Sequence[Strip]) -> dict[int, float]:
    """What the log-odds of the headers gain whose mail a question names.

    Args:
        question: the question.
        found: the strips to choose from, of one passage or of several.

    Returns:
        The gain by the index of the strip: none if the question is not about a mail, or names nothing of it.
    """
    if _ABOUT_ONE_MAIL.search(question) is None:
        return {}
    named = terms(question) - _OF_ANY_MAIL
    if not named:
        return {}
    held = [at for at, strip in enumerate(found) if is_mail_header(strip) and named <= terms(strip.text)]
    texts = {found[at].text for at in held}
    if not held or len(texts) > MAX_NAMED:
        return {}
    return dict.fromkeys(held, NAMED_WEIGHT if len(texts) == 1 else ONE_OF_THREAD_WEIGHT)
