"""What a question tells before it asks: "The desk came up with SNAP CRC. What do I do?"

The words of such a story may name what is asked about, but not all of them need to be told of it.
"""

from __future__ import annotations

import re

from localcrag.crag.questions.codes import codes_of

_QUESTION_WORD = r"(?:who|whom|whose|what|when|where|why|which|how|was|wer|wie|wann|wo|warum|welche[rnsm]?)\b"
_SENTENCE_END = re.compile(r"(?<!\b[A-Z])(?<!\bMr)(?<!\bMrs)(?<!\bDr)(?<!\bvs)[.!]+\s+|\s[–—-]\s+")
_ASKS = re.compile(rf"(?:\w+\s+)?{_QUESTION_WORD}|[^?]*\?\W*$", re.IGNORECASE)
_BEFORE_MEANING = re.compile(
    r"\W*(?:who|what)(?:\s+(?:on earth|the hell|the heck|in the world))?(?:['’]s|\s+(?:is|are|does|do))\s+"
    r"(?:an?\s+)?$",
    re.IGNORECASE,
)
"""The words before a code whose meaning is asked for."""


def told_before(question: str) -> str:
    """The sentences before the last one of a text that asks; "" if that does not ask, or is the only one."""
    ends = [match.end() for match in _SENTENCE_END.finditer(question)]
    for end in reversed(ends):
        if question[end:].strip():
            return question[:end] if _ASKS.match(question[end:]) else ""
    return ""


def told_around(question: str) -> str:
    """The words of a question that need not be told by what answers it: a story, and where a code was read.

    "Who is IM in the minutes?" and "what does E21 on the display mean?" ask for no more than the code.
    """
    for code in codes_of(question):
        before, _, after = question.partition(code)
        if _BEFORE_MEANING.fullmatch(before):
            return f"{before} {after}"
    return told_before(question)
