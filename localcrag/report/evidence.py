"""The evidence of an answer as it is shown: each citation as a picture of its page, or within its passage."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from localcrag.documents.page_pictures import boxed_page
from localcrag.errors import UnreadableError
from localcrag.events import Event, Gathered, Graded
from localcrag.types import Answer, Citation, Origin, Passage, WordBox

MAX_PICTURES = 12
"""Pictures in one report; further citations are shown within their passages."""
PDF_SUFFIX = ".pdf"
IMAGE_SUFFIXES = frozenset({".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".webp"})
WordsOf = Callable[[Passage, Citation], Sequence[WordBox]]
"""Gives the boxes of the quoted words if they were recognised in a scan or an image, else none."""


@dataclass(frozen=True, slots=True)
class ShownEvidence:
    """One citation: the quote with what stands ``before`` and ``after`` it in its passage.

    ``picture`` is the page as a ``data:`` address, "" if there is none, and ``boxed`` says whether the quoted
    words have a box on it. ``note`` says why there is no picture of a page that has one. ``document`` is the
    sha256 of the document as it was read, "" if it is unknown.
    """

    citation: Citation
    title: str
    document: str
    before: str
    after: str
    picture: str = ""
    boxed: bool = False
    note: str = ""

    @property
    def from_web(self) -> bool:
        """Whether the evidence came from the web."""
        return self.citation.origin is Origin.WEB


def shown_evidence(answer: Answer, events: Iterable[Event], words_of: WordsOf) -> list[ShownEvidence]:
    """The citations of an answer as they are shown; the events are those of its question."""
    passages = list(_passages(events))
    shown: list[ShownEvidence] = []
    for citation in answer.citations:
        passage = _passage_of(citation, passages)
        pictures = sum(bool(item.picture) for item in shown)
        shown.append(_shown(citation, passage, words_of if pictures < MAX_PICTURES else None))
    return shown


def _passages(events: Iterable[Event]) -> Iterable[Passage]:
    """The passages that evidence was taken from, and all others that were graded."""
    for event in events:
        if isinstance(event, Gathered):
            yield from (item.strip.passage for item in event.evidence)
        elif isinstance(event, Graded):
            yield event.grade.hit.passage


def _passage_of(citation: Citation, passages: Sequence[Passage]) -> Passage | None:
    """The passage that a citation stands in; None if it is in none of them as a whole."""
    place = (citation.source, citation.page)
    for passage in passages:
        within = passage.start <= citation.start and citation.end <= passage.end
        if within and place == (passage.source, passage.page):
            start, end = citation.start - passage.start, citation.end - passage.start
            if passage.text[start:end] == citation.quote:
                return passage
    return None


def _shown(citation: Citation, passage: Passage | None, words_of: WordsOf | None) -> ShownEvidence:
    """A citation as it is shown, without a picture if ``words_of`` is None."""
    if passage is None:
        return ShownEvidence(citation, Path(citation.source).name, "", "", "")
    start, end = citation.start - passage.start, citation.end - passage.start
    before, after = passage.text[:start], passage.text[end:]
    title = passage.title or Path(citation.source).name
    picture, boxed, note = _picture(citation, passage, words_of) if words_of else ("", False, "")
    return ShownEvidence(citation, title, passage.document, before, after, picture, boxed, note)


def _picture(citation: Citation, passage: Passage, words_of: WordsOf) -> tuple[str, bool, str]:
    """The page as a ``data:`` address, whether words are boxed on it, and why there is no picture."""
    file = Path(citation.source)
    if citation.origin is not Origin.DOCUMENTS or not _is_drawable(file, citation.page):
        return "", False, ""
    try:
        with file.open("rb") as opened:
            if hashlib.file_digest(opened, "sha256").hexdigest() != passage.document:
                return "", False, "no picture: the file has changed since it was read"
        picture = boxed_page(file, citation.page, citation.quote)
        if not picture.boxed and (words := words_of(passage, citation)):
            picture = boxed_page(file, citation.page, citation.quote, words=words)
    except OSError as error:
        return "", False, f"no picture: the file cannot be opened ({error.strerror or error})"
    except UnreadableError as error:
        return "", False, f"no picture: {error}"
    return f"data:image/png;base64,{b64encode(picture.png).decode()}", picture.boxed, ""


def _is_drawable(file: Path, page: int | None) -> bool:
    """Whether there is a picture of a page: it is one of a PDF, or an image."""
    suffix = file.suffix.lower()
    return suffix in IMAGE_SUFFIXES or (suffix == PDF_SUFFIX and page is not None)
