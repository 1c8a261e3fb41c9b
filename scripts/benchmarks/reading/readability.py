"""What keeps a person from reading an answer, found by rules over its text and its documents.

- markup: ``**``, ``~~``, double backticks, a row of a Markdown table or the rule below its head, a tag, a
  link as ``[text](url)``, a heading's ``#`` or ``¶``, a directive of reStructuredText; in an answer about
  code, whose text is shown as it is, a fence of backticks only
- furniture: a running header or footer, a page number, the navigation or the sidebar of a document
- glued heading: a heading of a cited document at the start of a line or of a sentence, and in the same line
  a word with a capital letter, or a digit; or a heading at the end of a line, after the end of a sentence
- dumped table: two or more rows of a cited document in whole, where one cell or one fact is asked for
- cut word: a quotation that begins or ends with part of a word of the document
- too long: more than ``MAX_CHARACTERS`` for the one fact that is asked for

A question asks for one fact or one cell, but for those of which every gold answer is to be shown: their
answers may be long, and have several rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from benchmarks.reading.documents import Document
from benchmarks.reading.questions import Outcome
from localcrag.evaluation.text_overlap import normalised, within
from localcrag.types import Mode

MAX_CHARACTERS = 700
MAX_ROWS = 1
FLAWS = ("markup", "furniture", "glued heading", "dumped table", "cut word", "too long")
_FENCE = re.compile("```")
_MARKUP = re.compile(
    r"\*\*|~~|``|¶|^\s*\|.*\||\|\s*:?-{3,}|</?[A-Za-z][^<>\n]*>"
    r"|\[[^\]\n]+\]\([^)\s]+\)|^\s*#{1,6} |^\.\. \w+::",
    re.MULTILINE,
)
_PAGE_NUMBER = re.compile(r"\bPage \d+ of \d+\b")
_KEY = re.compile(r"\s*\[\d+\]")
_WORD = re.compile(r"[^\W\d_]+")


def flaws(shown: Outcome, documents: Mapping[str, Document]) -> tuple[str, ...]:
    """The flaws of an answer that is shown, in the order of :data:`FLAWS`; documents are by file name."""
    cited = dict.fromkeys(each.document for each in shown.citations)
    return tuple(_flaws(shown, [documents[name] for name in cited if name in documents]))


def _flaws(shown: Outcome, cited: Sequence[Document]) -> Iterator[str]:
    if not shown.found:
        return
    text = _KEY.sub("", shown.text)
    if (_FENCE if shown.kind == "code" else _MARKUP).search(text):
        yield "markup"
    words = normalised(text)
    if _PAGE_NUMBER.search(text) or any(
        within(normalised(line), words) for d in cited for line in d.furniture
    ):
        yield "furniture"
    if any(_glued(heading, text) for document in cited for heading in document.headings):
        yield "glued heading"
    of_several = shown.question.every
    if not of_several and any(_rows(document, text) > MAX_ROWS for document in cited):
        yield "dumped table"
    if shown.mode == Mode.QUOTE and any(_cut(each.quote, cited) for each in shown.citations):
        yield "cut word"
    if not of_several and len(text) > MAX_CHARACTERS:
        yield "too long"


def _glued(heading: str, text: str) -> bool:
    """Whether a heading stands in one line with what is not part of it."""
    said = re.escape(heading)
    return bool(re.search(rf"(?m)(?:^\W*|[.!?] ){said} ['\"“(]?[A-Z0-9]|[.!?] {said}[ ¶]*$", text))


def _rows(document: Document, text: str) -> int:
    """How many rows of the document stand in the text with all their cells."""
    words = normalised(text)
    return sum(
        all(within(cell, words) for cell in cells)
        for row in document.rows
        if (cells := [said for cell in row if (said := normalised(cell))])
    )


def _cut(quote: str, cited: Sequence[Document]) -> bool:
    """Whether a quotation begins or ends inside a word: with a proper part of one that is no word itself."""
    known = {word for document in cited for page in document.pages for word in _WORD.findall(page)}
    found = _WORD.findall(quote)
    if not found or not known:
        return False
    first, last = found[0], found[-1]
    starts = quote.startswith(first) and first not in known and any(word.endswith(first) for word in known)
    ends = quote.endswith(last) and last not in known and any(word.startswith(last) for word in known)
    return starts or ends
