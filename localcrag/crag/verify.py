"""What an answer must hold to be shown: checked sentence by sentence, while it streams.

Every citation must name evidence that exists, every quotation must stand verbatim in it, and
every number must come from it or from the question. What does not hold is left out, and said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from localcrag.crag.refine import sentences
from localcrag.types import Citation, Evidence

_KEY = re.compile(r"\[(\d+)\]")
_TRAILING_KEYS = re.compile(r"\s*(?:\[\d+\][.,;]?\s*)+")
_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
MIN_QUOTED_WORDS = 3
"""A quotation of fewer words is a term, not a quotation."""


@dataclass(slots=True)
class Verifier:
    """Checks sentences against the evidence; ``removed`` collects what did not hold, and why."""

    question: str
    evidence: Sequence[Evidence]
    removed: list[str] = field(default_factory=list)

    def check(self, sentence: str) -> str:
        """The sentence as it may be shown: without citations that do not exist; "" if it does not hold."""
        known = {item.key: item.text for item in self.evidence}
        keys = [int(key) for key in _KEY.findall(sentence)]
        for key in sorted(set(keys) - set(known)):
            self.removed.append(f"citation [{key}]: there is no such evidence")
            sentence = sentence.replace(f" [{key}]", "").replace(f"[{key}]", "")
        keys = [key for key in keys if key in known]
        support = "\n".join(known[key] for key in keys) if keys else "\n".join(known.values())
        if reason := _unsupported(_KEY.sub("", sentence), support, self.question):
            self.removed.append(f"“{_KEY.sub('', sentence).strip()}”: {reason}")
            return ""
        return sentence

    def citations(self, shown: Iterable[str]) -> list[Citation]:
        """The evidence that the shown sentences cite, in the order of its keys."""
        cited = {int(key) for sentence in shown for key in _KEY.findall(sentence)}
        return [cite(item) for item in self.evidence if item.key in cited]


def cite(evidence: Evidence) -> Citation:
    """The place where a piece of evidence stands."""
    strip = evidence.strip
    passage = strip.passage
    return Citation(
        evidence.key, passage.source, passage.page, strip.start, strip.end, strip.text, passage.origin
    )


def by_sentence(pieces: Iterable[str]) -> Iterator[str]:
    """Streamed text regrouped into sentences, each with the citations that follow it and its white space."""
    pending = ""
    for piece in pieces:
        pending += piece
        while (end := _complete(pending)) is not None:
            yield pending[:end]
            pending = pending[end:]
    while pending:
        end = _first_end(pending)
        yield pending[:end]
        pending = pending[end:]


def _complete(text: str) -> int | None:
    """Where the first sentence ends, once something else than its citations has begun after it."""
    end = _first_end(text)
    rest = text[end:]
    return end if rest and not "[".startswith(rest[0]) else None


def _first_end(text: str) -> int:
    spans = sentences(text)
    if not spans:
        return len(text)
    end = spans[0][1]
    if len(spans) > 1 and (keys := _TRAILING_KEYS.match(text, end)):
        end = keys.end()
    rest = text[end:]
    return end + len(rest) - len(rest.lstrip())


def _unsupported(sentence: str, support: str, question: str) -> str:
    flat = _flat(support)
    for first, second in _QUOTED.findall(sentence):
        quoted = _flat(first or second)
        if len(quoted.split()) >= MIN_QUOTED_WORDS and quoted.rstrip(".,;") not in flat:
            return "the quotation is not in the evidence"
    numbers = set(_NUMBER.findall(support)) | set(_NUMBER.findall(question))
    for number in _NUMBER.findall(sentence):
        if number not in numbers:
            return f"{number} is not in the evidence"
    return ""


def _flat(text: str) -> str:
    return " ".join(text.split()).casefold()
