"""Tables of contents of a PDF: their entries end in page numbers, and say nothing by themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from localcrag.documents.readers.pdf_paragraphs import Draft
from localcrag.types import BlockKind

_ENTRY = re.compile(r"(?P<title>.*[^\W\d_].*?)[\s.…·:]+(?P<page>\d{1,4}|[ivxlc]{1,7})", re.DOTALL)
"""An entry as its line was read, with dots or without: "2.1 Fees … 14", "2.1 Fees: 14"."""
_NAMES = (
    "(?:table of )?contents|list of (?:figures|tables)|inhalt(?:s(?:verzeichnis|übersicht))?|sommaire"
    "|table des matières|(?:tabla de )?contenidos?|índice(?: general)?|indice|sumário|inhoud(?:sopgave)?"
    "|innehåll(?:sförteckning)?|indhold(?:sfortegnelse)?|innhold(?:sfortegnelse)?|spis treści|obsah"
    "|содержание|оглавление|目录|目錄|目次|차례|목차"
)
_NAME = re.compile(rf"\W*(?:{_NAMES})\W*(?:[ivxlc\d]+\W*)?", re.IGNORECASE)
"""What stands above a table of contents, or at the edge of its page."""
_NUMBER = re.compile(r"^(?:[A-Z]?[\d.]+|[A-Z]\.|§)\s+")
_MIN_PAGES = 4
_MIN_ENTRIES, _MAX_BETWEEN, _MAX_CHARACTERS = 3, 2, 240
_MIN_ENTRY_SHARE, _MIN_HEADED_SHARE = 0.5, 0.5


def mark_contents(pages: Sequence[Sequence[Draft]]) -> None:
    """Make furniture of the tables of contents among the drafts of all pages, if these are not few.

    One stands below its name, or half of its entries are headings of the document, too. The numbers of its
    pages go up.
    """
    drafts = [draft for page in pages for draft in page] if len(pages) >= _MIN_PAGES else []
    headings = {_title(draft.text) for draft in drafts if draft.kind is BlockKind.HEADING}
    for first, run in _runs(drafts):
        above = next((d for d in reversed(drafts[:first]) if d.kind is not BlockKind.FURNITURE), None)
        within = [above, *run] if above else run
        is_named = any(_NAME.fullmatch(draft.text) for draft in within)
        titles = [_title(found["title"]) for draft in run if (found := _ENTRY.fullmatch(draft.text))]
        headed = sum(title in headings for title in titles)
        if is_named or headed >= _MIN_HEADED_SHARE * len(titles):
            for draft in run:
                draft.kind, draft.marker, draft.level = BlockKind.FURNITURE, "", 0


def _title(text: str) -> str:
    return " ".join(_NUMBER.sub("", text).split()).casefold()


def _runs(drafts: Sequence[Draft]) -> Iterator[tuple[int, list[Draft]]]:
    """The runs of drafts that may be tables of contents, each with the index of its first."""
    entries: list[int] = []
    last = 0
    for at, draft in enumerate(drafts):
        found = None if len(draft.text) > _MAX_CHARACTERS else _ENTRY.fullmatch(draft.text)
        if found is None:
            continue
        number = int(found["page"]) if found["page"].isdecimal() else 0
        between = (
            [d for d in drafts[entries[-1] + 1 : at] if d.kind is not BlockKind.FURNITURE] if entries else []
        )
        too_far = len(between) > _MAX_BETWEEN or any(len(d.text) > _MAX_CHARACTERS for d in between)
        if too_far or number < last:
            yield from _run(drafts, entries)
            entries = []
        entries.append(at)
        last = number
    yield from _run(drafts, entries)


def _run(drafts: Sequence[Draft], entries: Sequence[int]) -> Iterator[tuple[int, list[Draft]]]:
    if len(entries) >= _MIN_ENTRIES:
        run = drafts[entries[0] : entries[-1] + 1]
        if len(entries) >= _MIN_ENTRY_SHARE * len(run):
            yield entries[0], list(run)
