"""Who speaks in a mail: the line with its sender, for a sentence that says "I" or whose author is asked for.

"Who had the idea of containers?" is answered by "I thought about creating containers" only below the line
that says whose words these are: the header of the mail, or "On Saturday, Ann Weld wrote:" above a quoted one.
"""

from __future__ import annotations

import re

from localcrag.crag.refinement.earlier_mails import is_of_earlier_mail, leads_to_earlier_mail
from localcrag.crag.refinement.knowledge_strips import strip_at
from localcrag.crag.refinement.strip_context import Neighbours, is_in_first_person, passage_before
from localcrag.crag.refinement.strip_kinds import is_mail_header
from localcrag.types import Strip

MAX_PASSAGES_TO_SENDER = 8
"""How many passages before that of a sentence are looked through for the header of its mail."""
_PERSON_ASKED = re.compile(
    r"\b(?:who|whom|whose|whoever|wer|wem|wen|wessen|qui|quién|quiénes|chi|quem)\b"
    r"|\b(?:which|what|welche[rsmn]?|quel(?:le)?) (?:person|member|user|developer|author|colleague|sender)\b",
    re.IGNORECASE,
)
"""How a question asks for a person."""
_SPEAKER_ASKED = re.compile(
    r"\bwho (?:(?:has|had|was|is|first|originally|else|then|also) )*"
    r"(?:ask|post|wr[io]t|report|suggest|propos|sen[dt]|sa(?:id|ys)"
    r"|announc|offer|repl|answer|complain|explain|recommend|shar|contribut|request|wonder|submit|mention"
    r"|point|want|warn|confirm|thank|invit|object|agree|stat|tell|told)\w*"
    r"|\bwer (?:\w+ )*(?:fragte|schrieb|sagte|meldete|antwortete|bat|schlug|gefragt|geschrieben|gesagt"
    r"|gemeldet|geantwortet|gebeten|vorgeschlagen)\b",
    re.IGNORECASE,
)
"""How a question asks for whoever said what a mail has."""


def sender_line(strip: Strip, question: str, neighbours: Neighbours | None = None) -> Strip | None:
    """The line above a sentence of a mail that says whose words it has, if the question asks for a person.

    Args:
        strip: what was found to answer.
        question: the question.
        neighbours: if given, the header of the mail may stand in an earlier passage.

    Returns:
        The header of the mail, or the line that leads in to it as one that is quoted; None if the question
        asks for no person, nobody speaks of himself in the strip and it does not ask who said it, or the
        strip is of no mail.
    """
    is_speaker = _SPEAKER_ASKED.search(question) is not None
    if not is_speaker and (_PERSON_ASKED.search(question) is None or not is_in_first_person(strip)):
        return None
    is_quoted, passage, end = is_of_earlier_mail(strip), strip.passage, strip.start
    for _ in range(MAX_PASSAGES_TO_SENDER):
        for block in reversed(passage.blocks):
            line = strip_at(passage, block.start, block.end, strip.score)
            if block.end <= end and (leads_to_earlier_mail(line) if is_quoted else is_mail_header(line)):
                return line
        earlier = passage_before(passage, neighbours)
        if earlier is None:
            return None
        passage = earlier
    return None
