"""A cited part of a document with the text around it, as it is stored."""

from __future__ import annotations

from dataclasses import dataclass

from localcrag.errors import UsageError
from localcrag.types import Document, Page

MAX_TEXT_CHARACTERS = 8000
"""The most characters of a part, and of the text on each side of it."""


@dataclass(frozen=True, slots=True)
class CitedText:
    """Characters ``[start, end)`` of the stored text of a page, with what stands before and after them.

    ``page`` is None for a document without numbered pages, and ``length`` the characters of the page.
    """

    source: str
    title: str
    page: int | None
    start: int
    end: int
    length: int
    before: str
    text: str
    after: str


def cited_text(document: Document, page: int | None, start: int, end: int | None, around: int) -> CitedText:
    """A part of a document.

    Parameters:
        document: the document with its stored text.
        page: the number of the page; None if it has no numbered pages, or only one.
        start: the first character of the part.
        end: its end; None for as much as MAX_TEXT_CHARACTERS allow, which no part may exceed.
        around: the characters to give on each side.

    Raises UsageError for a page that is not there, or a part outside of it.
    """
    found = _page(document, page)
    text, length = found.text, len(found.text)
    last = length if end is None else end
    if not start <= last <= length:
        raise UsageError(
            f"there are no characters {start} to {last} in {document.source}: it has {length:,}",
            hint="take start and end from a citation; they count within its page",
        )
    stop = min(last, start + MAX_TEXT_CHARACTERS)
    return CitedText(
        source=document.source,
        title=document.title,
        page=found.number,
        start=start,
        end=stop,
        length=length,
        before=text[max(0, start - around) : start],
        text=text[start:stop],
        after=text[stop : stop + around],
    )


def _page(document: Document, number: int | None) -> Page:
    """The page of this number. Raises UsageError, and says which there are."""
    for page in document.pages:
        if page.number == number or (number is None and len(document.pages) == 1):
            return page
    numbers = [page.number for page in document.pages if page.number is not None]
    wanted = "no page" if number is None else f"page {number}"
    raise UsageError(
        f"{wanted} of {document.source} cannot be read",
        hint=f"it has the pages {min(numbers)} to {max(numbers)}" if numbers else "it has no numbered pages",
    )
