"""Splitting a document into passages of a bounded number of tokens.

The splitter is semantic-text-splitter: it fills a passage with the largest pieces that fit (sections,
paragraphs, sentences, words); between blocks there are the more line ends the greater the break, and the
splitter cuts at the longest run of them. Around it:

* tokens are counted once per stretch of text with the embedding model's own tokenizer (word by word if it
  allows that, see :mod:`localcrag.word_cache`), and a piece's count is looked up by its position, which is
  ten times faster than tokenizing every candidate;
* a line end that only wraps a paragraph is shown to the splitter as a space, so that it cuts at the
  end of a sentence, not of a line, and a blank line in a docstring as no more than the end of a line;
  positions stay those of the stored text;
* a heading is never the end of a passage if something follows it, and short passages are merged with a
  neighbour.

The passages cover every character that is not white space exactly once, in order.
"""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.documents.extracted import one_line
from localcrag.documents.kept_together import kept_line_ends
from localcrag.documents.line_wraps import Heading, Outline, prose_wraps
from localcrag.errors import CorpusError
from localcrag.types import HEADING_SEPARATOR, Block, BlockKind, Document, Page, Passage
from localcrag.word_cache import WordCache, supports

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Span = tuple[int, int]
Cut = tuple[int, int, int, str]
"""A passage as (index of its page, start, end, heading)."""

_MAX_HEADING_CHARACTERS = 1000
_WINDOW_CHARACTERS = 64 * 1024
"""Characters of text that are tokenized at once."""
_MAX_CHARACTERS_PER_TOKEN = 16
_SHORT_DIVISOR = 5
"""A passage is short if it has less than the limit of tokens divided by this."""
_WRAPPED_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM})
_BLANK_CHARACTERS = " \t\n"


def passages_of(document: Document, tokenizer: Path, passage_tokens: int = 250) -> list[Passage]:
    """The passages of a document, page by page, each at most ``passage_tokens`` tokens.

    ``tokenizer`` is a ``tokenizer.json``; special tokens are not counted. A passage also holds at most
    16 characters per token, which bounds long words that the tokenizer maps to one unknown token.

    Raises CorpusError for a tokenizer that cannot be loaded.
    """
    return passages_at(document, cuts_of(document, tokenizer, passage_tokens))


def cuts_of(document: Document, tokenizer: Path, passage_tokens: int = 250) -> list[Cut]:
    """The bounds and headings of the passages of :func:`passages_of`, without their texts.

    They are much smaller than the passages, and :func:`passages_at` makes the passages of them.

    Raises CorpusError for a tokenizer that cannot be loaded.
    """
    cutter = _Cutter(load_tokenizer(tokenizer), passage_tokens)
    cuts: list[Cut] = []
    path: list[Heading] = []
    for index, page in enumerate(document.pages):
        spans, headings = cutter.cut(page)
        above = _heading_paths(_starts_of_content(spans, page.blocks), headings, path)
        cuts += [(index, *span, heading) for span, heading in zip(spans, above, strict=True)]
    return cuts


def passages_at(document: Document, cuts: Sequence[Cut]) -> list[Passage]:
    """The passages of a document that :func:`cuts_of` has found."""
    prefix = f"{sha256(document.source.encode()).hexdigest()[:12]}-{document.hash[:12]}"
    starts = [[block.start for block in page.blocks] for page in document.pages]
    return [
        Passage(
            id=f"{prefix}-{ordinal}",
            document=document.hash,
            source=document.source,
            title=document.title,
            heading=heading,
            page=document.pages[index].number,
            start=start,
            end=end,
            text=document.pages[index].text[start:end],
            ordinal=ordinal,
            meta=document.meta,
            blocks=tuple(_blocks_within(document.pages[index].blocks, starts[index], (start, end))),
        )
        for ordinal, (index, start, end, heading) in enumerate(cuts)
    ]


def _blocks_within(blocks: Sequence[Block], starts: Sequence[int], span: Span) -> Iterator[Block]:
    """The blocks that overlap a span, cut to it; ``starts`` are those of the blocks."""
    start, end = span
    for block in blocks[max(0, bisect_right(starts, start) - 1) : bisect_left(starts, end)]:
        if block.end > start:
            whole = start <= block.start and block.end <= end
            yield block if whole else replace(block, start=max(block.start, start), end=min(block.end, end))


@lru_cache(maxsize=4)
def load_tokenizer(path: Path) -> Tokenizer:
    """The tokenizer in the file ``path``, without the truncation and padding that the file may ask for.

    Raises CorpusError.
    """
    from tokenizers import Tokenizer

    try:
        settings = json.loads(path.read_text(encoding="utf-8"))
        settings["truncation"] = settings["padding"] = None
        tokenizer: Tokenizer = Tokenizer.from_str(json.dumps(settings))
    except Exception as error:  # the library raises bare Exception for a bad file
        raise CorpusError(
            f"not a tokenizer: {path} ({error})", hint="Give the tokenizer.json of the embedding model."
        ) from error
    return tokenizer


@lru_cache(maxsize=4)
def word_cache(tokenizer: Tokenizer) -> WordCache | None:
    """The tokens of words; None if the tokenizer does not tokenize word by word."""
    return WordCache(tokenizer) if supports(tokenizer) else None


def _token_ends(tokenizer: Tokenizer, text: str) -> list[int]:
    """The positions in a text at which its tokens end, in ascending order."""
    cache = word_cache(tokenizer)
    if cache is None:
        return [end for _, end in tokenizer.encode(text, add_special_tokens=False).offsets]
    return cache.ends(text)


class _Counter:
    """Counts the tokens of pieces of one text, which is tokenized once.

    ``view`` is the text that is given to the splitter; it has the same length.
    """

    def __init__(self, tokenizer: Tokenizer, text: str, view: str) -> None:
        self._tokenizer, self._text, self._view = tokenizer, text, view
        self._ends = _token_ends(tokenizer, text)
        self._last = 0

    def __call__(self, piece: str) -> int:
        """The number of tokens of a piece of the view.

        The splitter asks in reading order, so the piece is looked up from the position of the last one.
        """
        start = self._last  # most often it is a longer or shorter piece from the same place
        if not self._view.startswith(piece, start):
            start = self._view.find(piece, start)
        if start < 0:
            start = self._view.index(piece)
        self._last = start
        return self.size((start, start + len(piece)))

    def size(self, span: Span) -> int:
        """The number of tokens that end in a span of the text; at least one per 16 characters."""
        start, end = span
        tokens = bisect_right(self._ends, end) - bisect_right(self._ends, start)
        return max(tokens, -(-(end - start) // _MAX_CHARACTERS_PER_TOKEN))

    def exact_size(self, span: Span) -> int:
        """The number of tokens of a span that is tokenized by itself; at least one per 16 characters.

        It differs from ``size`` if the span begins or ends inside a word.
        """
        encoding = self._tokenizer.encode(self._text[slice(*span)], add_special_tokens=False)
        return max(len(encoding.ids), -(-(span[1] - span[0]) // _MAX_CHARACTERS_PER_TOKEN))


@dataclass(frozen=True, slots=True)
class _Cutter:
    tokenizer: Tokenizer
    limit: int

    def cut(self, page: Page) -> tuple[list[Span], list[Heading]]:
        """The spans of a page's passages, and its headings."""
        spans: list[Span] = []
        headings: list[Heading] = []
        for start, end in _windows(page.text):
            piece = page.text[start:end]
            outline = _outline(page, (start, end))
            spans += [(a + start, b + start) for a, b in _Window(self, piece, outline).spans()]
            headings += [replace(h, start=h.start + start, end=h.end + start) for h in outline.headings]
        return spans, headings


class _Window:
    """A part of a page, short enough to be tokenized at once."""

    def __init__(self, cutter: _Cutter, text: str, outline: Outline) -> None:
        self._limit, self._text = cutter.limit, text
        self._headings, self._starts = outline.headings, [heading.start for heading in outline.headings]
        self._view = _unwrapped(text, outline)
        self._counter = _Counter(cutter.tokenizer, text, self._view)

    def spans(self) -> list[Span]:
        """The spans of the passages, in order."""
        spans = self._split((0, len(self._text)), self._limit)
        spans = self._merge_short(self._move_trailing_headings(spans))
        return [exact for span in spans for exact in self._within_limit(span)]

    def _split(self, span: Span, limit: int) -> list[Span]:
        from semantic_text_splitter import TextSplitter

        first, last = span
        pieces = TextSplitter.from_callback(self._counter, limit).chunk_indices(self._view[first:last])
        cuts = [first, *(first + start for start, _ in pieces[1:]), last]
        stripped = (self._stripped(cut) for cut in pairwise(cuts))
        return [piece for piece in stripped if piece[0] < piece[1]]

    def _stripped(self, span: Span) -> Span:
        start, end = span
        while start < end and self._text[start].isspace():
            start += 1
        while start < end and self._text[end - 1].isspace():
            end -= 1
        return start, end

    def _within_limit(self, span: Span) -> list[Span]:
        """The span, or halves of it if a cut inside a word has given it more tokens than were counted."""
        start, end = span
        edges = [i for i in (start, end) if 0 < i < len(self._text)]
        whole_words = all(
            self._text[i - 1] in _BLANK_CHARACTERS or self._text[i] in _BLANK_CHARACTERS for i in edges
        )
        size = self._counter.size(span) if whole_words else self._counter.exact_size(span)
        if size <= self._limit or end - start <= 1:
            return [span]
        middle = (start + end) // 2
        halves = (self._stripped((start, middle)), self._stripped((middle, end)))
        return [exact for half in halves if half[0] < half[1] for exact in self._within_limit(half)]

    # ------------------------------------------------------------------ headings and short passages

    def _move_trailing_headings(self, spans: list[Span]) -> list[Span]:
        """The spans, with headings at the end of one moved to the next one, which they belong to."""
        result: list[Span] = []
        for span in spans:
            if result and (start := self._trailing_headings(result[-1])) is not None:
                before = self._stripped((result[-1][0], start))
                led = self._with_lead(start, span)
                if led:
                    result[-1:] = [before] if before[0] < before[1] else []
                    result += led
                    continue
            result.append(span)
        return result

    def _trailing_headings(self, span: Span) -> int | None:
        """The start of the headings at the end of a passage; None if it does not end with a heading."""
        end = span[1]
        for heading in reversed(self._headings[: bisect_left(self._starts, span[1])]):
            if heading.start < span[0] or self._text[heading.end : end].strip():
                break
            end = heading.start
        return end if end < span[1] else None

    def _starts_with_heading(self, span: Span) -> bool:
        at = bisect_left(self._starts, span[0])
        return at < len(self._starts) and self._starts[at] == span[0]

    def _with_lead(self, start: int, span: Span) -> list[Span]:
        """``span`` extended to begin at ``start``, as two spans if one would be too large.

        The list is empty if there is too little room beside the text from ``start`` to the span.
        """
        both = (start, span[1])
        if self._counter.size(both) <= self._limit:
            return [both]
        room = self._limit - self._counter.size((start, span[0]))
        if room < max(1, self._limit // 4):
            return []
        first = self._split(span, room)[0]
        led, rest = (start, first[1]), self._stripped((first[1], span[1]))
        return [led, rest] if self._counter.size(led) <= self._limit and rest[0] < rest[1] else []

    def _merge_short(self, spans: list[Span]) -> list[Span]:
        """The spans, with short ones merged with the one before.

        A short passage under a heading of its own is merged with the one after it. If both together are
        too large, they are split again into two of similar size.
        """
        for before_heading in (False, True):
            joined: list[Span] = []
            for span in spans:
                if joined and (before_heading or not self._starts_with_heading(span)):
                    joined[-1:] = self._merged(joined[-1], span)
                else:
                    joined.append(span)
            spans = joined
        return spans

    def _merged(self, left: Span, right: Span) -> list[Span]:
        size, short = self._counter.size, self._limit // _SHORT_DIVISOR
        if min(size(left), size(right)) >= short:
            return [left, right]
        both = (left[0], right[1])
        if size(both) <= self._limit:
            return [both]
        if self._starts_with_heading(right) or self._trailing_headings(left) is not None:
            return [left, right]
        even = self._split(both, min(self._limit, size(both) * 3 // 5))
        good = len(even) == 2 and min(map(size, even)) >= short and self._trailing_headings(even[0]) is None
        return even if good else [left, right]


def _windows(text: str) -> Iterator[Span]:
    """Spans short enough to be tokenized at once, cut at a heading, a blank line, a line end or a space."""
    start = 0
    while len(text) - start > _WINDOW_CHARACTERS:
        half, full = start + _WINDOW_CHARACTERS // 2, start + _WINDOW_CHARACTERS
        found = (text.rfind(mark, half, full) for mark in ("\n\n\n", "\n\n", "\n", " "))
        end = next((at + 1 for at in found if at > 0), full)
        yield start, end
        start = end
    yield start, len(text)


def _outline(page: Page, span: Span) -> Outline:
    """The headings of a page within a span, and the line ends that wrap its paragraphs, at their places."""
    start, end = span
    if not page.blocks:
        return Outline(wraps=tuple(prose_wraps(page.text[start:end])))
    within = [block for block in page.blocks if start <= block.start and block.end <= end]
    headings = (
        Heading(
            block.start - start,
            block.end - start,
            block.level,
            one_line(page.text[block.start : block.end], _MAX_HEADING_CHARACTERS),
        )
        for block in within
        if block.kind is BlockKind.HEADING
    )
    wraps = [
        block.start - start + wrap
        for block in within
        if block.kind in _WRAPPED_KINDS
        for wrap in prose_wraps(page.text[block.start : block.end])
    ]
    kept = kept_line_ends(page.text[start:end], start, within)
    return Outline(tuple(headings), tuple(sorted({*wraps, *kept})))


def _unwrapped(text: str, outline: Outline) -> str:
    """The text with a space in place of each line end that only wraps a paragraph."""
    parts, last = [], 0
    for wrap in outline.wraps:
        parts.append(text[last:wrap])
        last = wrap + 1
    return " ".join([*parts, text[last:]])


def _starts_of_content(spans: Sequence[Span], blocks: Sequence[Block]) -> Iterator[int]:
    """Where the content of each span begins: behind the running header of its page, if it has that."""
    content = [block for block in blocks if block.kind is not BlockKind.FURNITURE]
    ends = [block.end for block in content]
    for start, end in spans:
        at = bisect_right(ends, start)
        first = content[at].start if at < len(content) else start
        yield max(start, first) if first < end else start


def _heading_paths(starts: Iterable[int], headings: list[Heading], path: list[Heading]) -> Iterator[str]:
    """The path of the headings above the content of each span, given where it begins: ``Dosage > Children``.

    ``path`` holds the headings above the page, and then those above the next one.
    """
    remaining = iter(headings)
    following = next(remaining, None)
    for start in starts:
        while following is not None and following.start <= start:
            path[:] = [heading for heading in path if heading.level < following.level] + [following]
            following = next(remaining, None)
        yield HEADING_SEPARATOR.join(heading.title for heading in path if heading.title)
