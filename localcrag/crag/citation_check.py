"""Checks of a written answer against its evidence, sentence by sentence, while it streams.

Every citation must name evidence that exists, every quotation must occur verbatim in the evidence, and
every number must occur in the evidence or in the question. A sentence that fails a check is left out of
the answer, and the reason is reported.
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
_ITEM_NUMBER = re.compile(r"^[\s#>*+•–-]*\(?(\d{1,2})[.)](?=\s+\S)|(?<!\S)\(?(\d{1,2})\)(?=\s+\S)")
"""The number of a list item: "2." at the beginning of a sentence, "2)" also within it."""
_PLAIN_QUOTATION_MARKS = str.maketrans("’‘ʼ“”„", "'''\"\"\"")
MIN_QUOTED_WORDS = 3
"""The fewest words of a quotation; fewer words in quotation marks are a term, and are not checked."""


@dataclass(slots=True)
class CitationChecker:
    """Checks sentences against the evidence that they cite.

    ``removed`` collects the citations and sentences that failed a check, with the reasons. ``lost`` are
    the keys of evidence that may not be cited any more, each with its reason.
    """

    question: str
    evidence: Sequence[Evidence]
    removed: list[str] = field(default_factory=list)
    lost: dict[int, str] = field(default_factory=dict)
    _item_numbers: set[int] = field(default_factory=set, init=False)

    def check(self, sentence: str) -> str:
        """Check a sentence, and record in ``removed`` what fails.

        A sentence is checked against the evidence it cites, or against all of it if it cites none.

        Returns:
            The sentence without citations of evidence that does not exist or is lost; "" if a quotation
            or a number in it is not in the evidence.
        """
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
        if reason := _quotation_error(text, support) or _number_error(
            self._blank_item_numbers(text), support, self.question
        ):
            self.removed.append(f"“{text.strip()}”: {reason}")
            return ""
        return sentence

    def _blank_item_numbers(self, sentence: str) -> str:
        """Replace the numbers of list items, which count up from one, by blanks.

        The numbers are remembered, since a list goes on over several sentences.
        """

        def blank(item: re.Match[str]) -> str:
            number, before = int(item[1] or item[2]), sentence[: item.start()]
            within = before.count("(") > before.count(")")
            if within or (number != 1 and number - 1 not in self._item_numbers):
                return item[0]
            self._item_numbers.add(number)
            return " "

        return _ITEM_NUMBER.sub(blank, sentence)

    def citations(self, shown: Iterable[str]) -> list[Citation]:
        """The evidence that the shown sentences cite, in the order of its keys."""
        cited = {int(key) for sentence in shown for key in _KEY.findall(sentence)}
        return [cite(item) for item in self.evidence if item.key in cited]


def cite(evidence: Evidence) -> Citation:
    """The citation of a piece of evidence."""
    strip = evidence.strip
    passage = strip.passage
    return Citation(
        evidence.key, passage.source, passage.page, strip.start, strip.end, strip.text, passage.origin
    )


def by_sentence(pieces: Iterable[str]) -> Iterator[str]:
    """The streamed text, regrouped into sentences.

    Each sentence includes the citations and the white space that follow it. Joined, the sentences are
    the text.
    """
    pending = ""
    for piece in pieces:
        pending += piece
        while (end := _complete_end(pending)) is not None:
            yield pending[:end]
            pending = pending[end:]
    while pending:
        end = _first_end(pending)
        yield pending[:end]
        pending = pending[end:]


def _complete_end(text: str) -> int | None:
    """The end of the first sentence, or None if more of its citations could still follow."""
    end = _first_end(text)
    rest = text[end:]
    return end if rest and not "[".startswith(rest[0]) else None


def _first_end(text: str) -> int:
    """The end of the first sentence; the marker of a list item belongs to the sentence after it."""
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


def _quotation_error(sentence: str, support: str) -> str:
    """The reason why a quotation in the sentence does not hold, or "" if all of them do."""
    flat = _comparable(support)
    for first, second in _QUOTED.findall(sentence):
        quoted = _comparable(first or second)
        if len(quoted.split()) >= MIN_QUOTED_WORDS and quoted.rstrip(".,;") not in flat:
            return "the quotation is not in the evidence"
    return ""


def _number_error(sentence: str, support: str, question: str) -> str:
    """The reason why a number in the sentence does not hold, or "" if all of them do."""
    numbers = _numbers(support) | _numbers(question)
    for number in _NUMBER.findall(sentence):
        if _plain_number(number) not in numbers:
            return f"{number} is not in the evidence"
    return ""


def _numbers(text: str) -> set[str]:
    """The numbers of a text, in digits; those from zero to twelve also if they are written as words."""
    words = _NUMERAL.findall(text)
    return {*map(_plain_number, _NUMBER.findall(text)), *(_NUMERALS[word.lower()] for word in words)}


def _plain_number(number: str) -> str:
    """A number without the commas between its thousands."""
    return number.replace(",", "") if _THOUSANDS.fullmatch(number) else number


def _comparable(text: str) -> str:
    """A text for comparison: case, line breaks and typographic apostrophes and quotation marks removed."""
    return " ".join(text.translate(_PLAIN_QUOTATION_MARKS).split()).casefold()
