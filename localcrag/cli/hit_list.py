"""Printing hits, without rich, whose import takes longer than a search in the warm process."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePath

import click

from localcrag.types import Hit, Passage

_PAGE_NOUNS = {
    **dict.fromkeys((".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".odp", ".otp"), "slide"),
    **dict.fromkeys((".xlsx", ".xlsm", ".xltx", ".xltm", ".ods", ".ots"), "sheet"),
}
"""What a page is called in files that have none."""


def print_hits(query: str, hits: list[Hit]) -> None:
    """Print hits on stdout: rank, score, source, and a snippet with the words of the query marked."""
    colour = False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
    for rank, hit in enumerate(hits, 1):
        passage = hit.passage
        behind = [f"{hit.score:.4f}", *([passage.heading] if passage.heading else [])]
        head = [
            click.style(f"{rank}. ", bold=True),
            click.style(_plain(place_of(passage)), fg="cyan"),
        ]
        click.echo(
            "".join([*head, *(click.style(f"  {_plain(text)}", dim=True) for text in behind)]), color=colour
        )
        shown, terms = snippet(passage.text, query)
        click.echo("   " + marked(_plain(shown), terms), color=colour)


def place_of(passage: Passage) -> str:
    """The place of a passage: its source with page, slide, or sheet and rows."""
    return place(passage.source, passage.page, passage.sheet, passage.rows())


def place(source: str, page: int | None, sheet: str = "", rows: tuple[int, int] | None = None) -> str:
    """A source with page, slide, or sheet and rows: "fees.xlsx, sheet Tariffs, row 14".

    The source is a path relative to the working directory if it is below that.
    """
    shown = source
    if source.startswith("/"):
        try:
            shown = str(Path(source).relative_to(Path.cwd()))
        except (ValueError, OSError):  # elsewhere, or the working directory is gone
            shown = source
    if page and not sheet:
        shown += f", {_PAGE_NOUNS.get(PurePath(source).suffix.lower(), 'page')} {page}"
    elif sheet:
        shown += f", sheet {sheet}"
    if rows is None:
        return shown
    first, last = rows
    return f"{shown}, row {first}" if first == last else f"{shown}, rows {first}–{last}"


def snippet(text: str, words: str, width: int = 240) -> tuple[str, list[str]]:
    """A part of the text around the first word of ``words`` that it holds, and the words to highlight.

    The part is at most ``width`` characters long, without the ellipses.
    """
    flat = " ".join(text.split())
    terms = [word for word in "".join(c if c.isalnum() else " " for c in words).split() if len(word) > 2]
    places = [at for at in (flat.casefold().find(term.casefold()) for term in terms) if at >= 0]
    start = max(0, min(places, default=0) - width // 4)
    cut = flat[start : start + width]
    return ("…" if start else "") + cut + ("…" if start + width < len(flat) else ""), terms


def marked(text: str, terms: list[str]) -> str:
    """The text with the terms highlighted, whatever their case."""
    if not terms:
        return text
    any_term = "|".join(map(re.escape, sorted(terms, key=len, reverse=True)))
    return re.sub(any_term, lambda found: click.style(found[0], fg="yellow", bold=True), text, flags=re.I)


def _plain(text: str) -> str:
    """Text without unprintable characters, which a document must not send to the terminal.

    They are dropped, line breaks and tabs among them, because the text is a part of one line whose white
    space is already normal. ``plain`` of event_rendering.py keeps line breaks for whole answers.
    """
    return "".join(c for c in text if c.isprintable())
