"""What an answer must hold to be shown: checked sentence by sentence, while it streams.

Every citation must name evidence that exists, every quotation must stand verbatim in it, and
every number must come from it or from the question. What does not hold is left out, and said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from localcrag.crag.refinement import LIST_MARKER, sentences
from localcrag.types import Citation, Evidence

_KEY = re.compile(r"\[(\d+)\]")
_TRAILING_KEYS = re.compile(r"\s*(?:\[\d+\][.,;]?\s*)+")
_QUOTED = re.compile(r"“([^”]+)”|\"([^\"]+)\"")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?")
_NUMERALS = {
    word: str(number)
    for number, word in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
         "twelve")
    )
}  # fmt: skip
_NUMERAL = re.compile(
    rf"(?<![\w-])({'|'.join(_NUMERALS)})(?!\w|[\s-]+(?:hundred|thousand|million|billion))", re.IGNORECASE
)
_ITEM = re.compile(r"^[\s#>*+•–-]*\(?(\d{1,2})[.)](?=\s+\S)|(?<!\S)\(?(\d{1,2})\)(?=\s+\S)")
"""The number of an item of a list: "2." where a sentence begins, "2)" there and within it."""
_TYPOGRAPHY = str.maketrans("’‘ʼ“”„", "'''\"\"\"")
MIN_QUOTED_WORDS = 3
"""A quotation of fewer words is a term, not a quotation."""


@dataclass(slots=True)
class CitationChecker:
    """Checks sentences against the evidence; ``removed`` collects what did not hold, and why.

    Evidence in ``lost`` may not be cited any more; it says why not, by key.
    """

    question: str
    evidence: Sequence[Evidence]
    removed: list[str] = field(default_factory=list)
    lost: dict[int, str] = field(default_factory=dict)
    _items: set[int] = field(default_factory=set, init=False)

    def check(self, sentence: str) -> str:
        """The sentence as it may be shown: without citations that do not exist; "" if it does not hold."""
        known = {item.key: item.text for item in self.evidence if item.key not in self.lost}
        keys = [int(key) for key in _KEY.findall(sentence)]
        for key in sorted(set(keys) - set(known)):
            reason = f"citation [{key}]: {self.lost.get(key, 'there is no such evidence')}"
            if reason not in self.removed:
                self.removed.append(reason)
            sentence = sentence.replace(f" [{key}]", "").replace(f"[{key}]", "")
        keys = [key for key in keys if key in known]
        support = "\n".join(known[key] for key in keys) if keys else "\n".join(known.values())
        text = _KEY.sub("", sentence)
        if reason := _misquoted(text, support) or _miscounted(self._unnumbered(text), support, self.question):
            self.removed.append(f"“{text.strip()}”: {reason}")
            return ""
        return sentence

    def _unnumbered(self, sentence: str) -> str:
        """The sentence without the numbers of the items of a list: those that count up from one."""

        def blank(item: re.Match[str]) -> str:
            number, before = int(item[1] or item[2]), sentence[: item.start()]
            within = before.count("(") > before.count(")")
            if within or (number != 1 and number - 1 not in self._items):
                return item[0]
            self._items.add(number)
            return " "

        return _ITEM.sub(blank, sentence)

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
    """Where the first sentence ends; the marker of an item of a list belongs to the sentence after it."""
    spans = sentences(text)
    if not spans:
        return len(text)
    first = next(
        (n for n, span in enumerate(spans) if not LIST_MARKER.fullmatch(text, *span)), len(spans) - 1
    )
    end = spans[first][1]
    if len(spans) > first + 1 and (keys := _TRAILING_KEYS.match(text, end)):
        end = keys.end()
    rest = text[end:]
    return end + len(rest) - len(rest.lstrip())


def _misquoted(sentence: str, support: str) -> str:
    flat = _flat(support)
    for first, second in _QUOTED.findall(sentence):
        quoted = _flat(first or second)
        if len(quoted.split()) >= MIN_QUOTED_WORDS and quoted.rstrip(".,;") not in flat:
            return "the quotation is not in the evidence"
    return ""


def _miscounted(sentence: str, support: str, question: str) -> str:
    numbers = _numbers(support) | _numbers(question)
    for number in _NUMBER.findall(sentence):
        if _plain(number) not in numbers:
            return f"{number} is not in the evidence"
    return ""


def _numbers(text: str) -> set[str]:
    """The numbers of a text, small ones also where they are written as words."""
    words = _NUMERAL.findall(text)
    return {*map(_plain, _NUMBER.findall(text)), *(_NUMERALS[word.lower()] for word in words)}


def _plain(number: str) -> str:
    """A number without the commas between its thousands."""
    return number.replace(",", "") if _THOUSANDS.fullmatch(number) else number


def _flat(text: str) -> str:
    """A text for comparison: without case, line breaks, and the typographer's apostrophes and marks."""
    return " ".join(text.translate(_TYPOGRAPHY).split()).casefold()
