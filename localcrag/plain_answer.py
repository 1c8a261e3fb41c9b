"""An answer as plain text: what it says, how sure that is, and where its citations stand.

For readers that show text and nothing else: a terminal, a chat window, a chain of another library. What a
document says can never be taken for a citation, see :mod:`localcrag.crag.answering.bracketed_numbers`.
"""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from localcrag.crag.answering.bracketed_numbers import disarmed
from localcrag.types import Origin, Status, Verdict

if TYPE_CHECKING:  # a search shows places alone, and loads neither answers nor events
    from localcrag.events import Delta
    from localcrag.types import Answer, Citation, Passage

_PAGE_NOUNS = {
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".odp", ".otp"), "slide"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xltm", ".xls", ".xlt", ".ods", ".ots"), "sheet"),
    **dict.fromkeys((".sqlite", ".sqlite3", ".db", ".db3"), "table"),
    **dict.fromkeys((".srt", ".vtt", ".ass", ".ssa"), "minute"),
    **dict.fromkeys((".ppt", ".pps", ".pot"), "slide"),
}
"""What a page is called in files that have none."""


def cited_text(answer: Answer) -> str:
    """The text of an answer; below it a line on why it is unsure, if it is, and the sources."""
    return marked_text(answer) + note_below(answer) + sources_below(answer)


def marked_text(answer: Answer) -> str:
    """The text of an answer, in which only its own citations have the brackets of citations.

    A structured answer is JSON, whose brackets are no citations.
    """
    if answer.structured is not None:
        return answer.text
    return disarmed(answer.text, answer.marks, code=True)


def cited_piece(piece: Delta) -> str:
    """A piece of an answer's text as it streams; all pieces together are :func:`marked_text`."""
    return disarmed(piece.text, piece.marks, code=True)


def note_below(answer: Answer) -> str:
    """The line on why an answer is unsure, as it stands below its text; "" if there is none."""
    note = status_note(answer)
    return note and f"\n\n{note}"


def sources_below(answer: Answer) -> str:
    """The list of the sources, as it stands below the text of an answer; "" if it cites nothing."""
    lines = [source_line(citation) for citation in answer.citations]
    return "\n".join(["\n\nSources:", *lines]) if lines else ""


def source_line(citation: Citation) -> str:
    """A citation in one line: "[1] leave.md, page 3"."""
    where = disarmed(place(citation.source, citation.page, citation.sheet, citation.rows))
    held = f" (in {citation.kb})" if citation.kb else ""
    return f"[{citation.key}] {where}{held}" + (" (from the web)" if citation.origin is Origin.WEB else "")


def link(citation: Citation) -> str:
    """The URL that opens the source of a citation at its page, in viewers that know ``#page=``.

    It is "" for a source that has none, such as standard input.
    """
    if not citation.source.startswith("/"):
        printable = citation.origin is Origin.WEB and citation.source.isprintable()
        return citation.source if printable else ""
    return Path(citation.source).as_uri() + (f"#page={citation.page}" if citation.page else "")


def status_note(answer: Answer) -> str:
    """A line on why an answer is incomplete or unsure; "" if it is neither."""
    if answer.status is Status.TRUNCATED:
        return "Cut short: the answer is not complete."
    if answer.status is not Status.UNSURE:
        return ""
    if answer.contradictions:
        return "Unsure: the sources disagree. Check them."
    if any(claim.verdict is Verdict.NO for claim in answer.claims):
        return "Unsure: not every sentence is borne out by its evidence. Check the sources."
    if any(part.status is Status.NOT_FOUND for part in answer.parts):
        return "Unsure: a part of the question is not answered."
    return "Unsure: the evidence is weak. Check the sources."


def place_of(passage: Passage) -> str:
    """The place of a passage: its source with page, slide, or sheet and rows."""
    return place(passage.source, passage.page, passage.sheet, passage.rows())


def place(source: str, page: int | None, sheet: str = "", rows: tuple[int, int] | None = None) -> str:
    """A source with page, slide or minute, or sheet and rows: "fees.xlsx, sheet Tariffs, row 14".

    The source is a path relative to the working directory if it is below that.
    """
    shown = source
    if source.startswith("/"):
        try:
            shown = str(Path(source).relative_to(Path.cwd()))
        except (ValueError, OSError):  # elsewhere, or the working directory is gone
            shown = source
    noun = _PAGE_NOUNS.get(PurePath(source).suffix.lower())
    if page and not sheet:
        shown += f", {noun or 'page'} {page}"
    elif sheet:
        shown += f", {noun or 'sheet'} {sheet}"
    if rows is None:
        return shown
    first, last = rows
    return f"{shown}, row {first}" if first == last else f"{shown}, rows {first}–{last}"
