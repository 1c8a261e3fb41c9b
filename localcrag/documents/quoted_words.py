"""The places of quoted words in the text of a PDF page.

A quote is a slice of the stored text, which the reader made of the page: words that were hyphenated are
joined, the cells of a table have labels, and the order may be another. So only letters and digits are
compared, in their plain form. A quote that is not found as a whole is looked for line by line, and a line
that is not found in its longest parts.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from typing import NamedTuple

from localcrag.types import CELL_SEPARATOR

MIN_LINE_LETTERS, MIN_PART_LETTERS = 6, 16
"""Letters of a line, and of a part of one, that tell its place; a shorter part must follow another."""
NEAR_LETTERS = 240
"""Letters of the page within which a short part must follow the one before it."""
MAX_PART_WORDS = 200
MAX_QUOTE_CHARACTERS = 20_000
"""Characters of a quote that are looked for at most."""
LABEL_END = ": "
"""The end of the label of a cell, which the reader took from the head of its column."""


class QuoteSpan(NamedTuple):
    """Characters ``[start, end)`` of a page."""

    start: int
    end: int


class _Letters(NamedTuple):
    """The letters and digits of a text in plain form, and of each the index of its character."""

    text: str
    places: list[int]


def quoted_spans(characters: str, quote: str) -> list[QuoteSpan]:
    """The spans of ``characters`` that hold the words of ``quote``, in the order of the quote.

    None, if the page does not hold them. ``characters`` is the text of a page as PDFium gives it.
    """
    page, quote = _Page(characters), quote[:MAX_QUOTE_CHARACTERS]
    words = _words(quote)
    if not words:
        return []
    if whole := page.found_word("".join(words), 0):
        return [whole]
    spans: list[QuoteSpan] = []
    for line in quote.splitlines():
        after = page.letter_behind(spans[-1]) if spans else 0
        spans += page.found_line(line, after)
    return spans


class _Page:
    """The letters of a page, to look for words in."""

    def __init__(self, characters: str) -> None:
        self.characters = characters
        self.letters = _letters(characters)

    def found_line(self, line: str, after: int) -> list[QuoteSpan]:
        """The spans of a line, or of the values of a row; of several, the next from letter ``after`` on."""
        values = _words(_unlabelled(line))
        for words in (_words(line), values):
            wanted = "".join(words)
            if len(wanted) >= MIN_LINE_LETTERS and (span := self._next_place(wanted, after)):
                return [span]
        return self._found_parts(values, after)

    def letter_behind(self, span: QuoteSpan) -> int:
        """The number of the first letter behind a span."""
        return bisect_left(self.letters.places, span.end)

    def found_word(self, wanted: str, start: int, end: int | None = None) -> QuoteSpan | None:
        """The first place between two letters, by their numbers, that holds ``wanted`` and cuts no word."""
        text, places = self.letters
        at = text.find(wanted, start, end)
        while at >= 0:
            span = QuoteSpan(places[at], places[at + len(wanted) - 1] + 1)
            if self._is_bounded(span):
                return span
            at = text.find(wanted, at + 1, end)
        return None

    def _next_place(self, wanted: str, after: int) -> QuoteSpan | None:
        return self.found_word(wanted, after) or self.found_word(wanted, 0)

    def _found_parts(self, words: list[str], after: int) -> list[QuoteSpan]:
        """The spans of parts of a line, each as long as can be; words that are nowhere are left out."""
        spans, at = [], 0
        while at < len(words):
            count, span = self._longest_part(words[at : at + MAX_PART_WORDS], after)
            if span is not None:
                spans.append(span)
                after = self.letter_behind(span)
            at += count
        return spans

    def _longest_part(self, words: list[str], after: int) -> tuple[int, QuoteSpan | None]:
        """The number of the words from the first on that stand together, and where; 1 and None without."""
        near = after + NEAR_LETTERS if after else 0
        for start, end, least in (
            (after, None, MIN_PART_LETTERS),
            (0, None, MIN_PART_LETTERS),
            (after, near, 1),
        ):
            count = self._held_count(words, start, end)
            wanted = "".join(words[:count])
            if len(wanted) >= least:
                return count, self.found_word(wanted, start, end)
        return 1, None

    def _held_count(self, words: list[str], start: int, end: int | None) -> int:
        """The number of the words from the first on that stand together between two letters."""

        def fails(count: int) -> bool:
            return self.found_word("".join(words[:count]), start, end) is None

        return bisect_left(range(1, len(words) + 1), True, key=fails)

    def _is_bounded(self, span: QuoteSpan) -> bool:
        before, behind = self.characters[: span.start][-1:], self.characters[span.end : span.end + 1]
        first, last = self.characters[span.start], self.characters[span.end - 1]
        return not (_joined(before, first) or _joined(last, behind))


def _joined(left: str, right: str) -> bool:
    """Whether two characters stand in one number, or in one word of a script that separates words."""
    both_digits = left.isdigit() and right.isdigit()
    return both_digits or (left.isalpha() and right.isalpha() and max(left, right) < "\u0e00")


def _unlabelled(line: str) -> str:
    """A row of a table without the labels of its cells; another line as it is."""
    cells = line.split(CELL_SEPARATOR)
    return " ".join(cell.partition(LABEL_END)[2] or cell for cell in cells) if len(cells) > 1 else line


def _words(text: str) -> list[str]:
    """The letters and digits of each word of a text."""
    return [letters for word in text.split() if (letters := _letters(word).text)]


def _letters(text: str) -> _Letters:
    letters, places = [], []
    for index, character in enumerate(text):
        for plain in unicodedata.normalize("NFKD", character).casefold():
            if plain.isalnum():
                letters.append(plain)
                places.append(index)
    return _Letters("".join(letters), places)
