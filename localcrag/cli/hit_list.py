"""Printing hits, without rich, whose import takes longer than a search in the warm process."""

from __future__ import annotations

import os
import re
import shutil
import sys

import click

from localcrag.cli.line_wrapping import wrapped
from localcrag.cli.safe_output import one_line, plain
from localcrag.crag.answering.bracketed_numbers import disarmed
from localcrag.plain_answer import place_of
from localcrag.types import Hit

MAX_WORD_CHARACTERS = 24
"""The most characters of a word that a snippet does not cut."""


def print_hits(query: str, hits: list[Hit]) -> None:
    """Print hits on stdout: rank, score, source, and a snippet with the words of the query marked."""
    colour = False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
    for rank, hit in enumerate(hits, 1):
        passage = hit.passage
        behind = [
            f"{hit.score:.4f}",
            *([passage.kb] if passage.kb else []),
            *([disarmed(one_line(passage.heading))] if passage.heading else []),
        ]
        head = [
            click.style(f"{rank}. ", bold=True),
            click.style(one_line(place_of(passage)), fg="cyan"),
        ]
        click.echo("".join([*head, *(click.style(f"  {text}", dim=True) for text in behind)]), color=colour)
        shown, terms = snippet(disarmed(plain(passage.text), code=True), query)
        shown = f"   {shown}"
        if sys.stdout.isatty():
            shown = wrapped(shown, shutil.get_terminal_size().columns)
        click.echo(marked(shown, terms), color=colour)


def snippet(text: str, words: str, width: int = 240) -> tuple[str, list[str]]:
    """A part of the text around the first word of ``words`` that it holds, and the words to highlight.

    The part is at most ``width`` characters long, without the ellipses.
    """
    flat = " ".join(text.split())
    terms = [word for word in "".join(c if c.isalnum() else " " for c in words).split() if len(word) > 2]
    places = [at for at in (flat.casefold().find(term.casefold()) for term in terms) if at >= 0]
    start = max(0, min(places, default=0) - width // 4)
    start = _word_start(flat, start)
    end = _word_end(flat, start, min(start + width, len(flat)))
    return ("…" if start else "") + flat[start:end] + ("…" if end < len(flat) else ""), terms


def _word_start(text: str, at: int) -> int:
    """The start of the next word, if ``at`` lies within a word of usual length."""
    if not at or text[at - 1] == " ":
        return at
    blank = text.find(" ", at, at + MAX_WORD_CHARACTERS)
    return blank + 1 if blank >= 0 else at


def _word_end(text: str, start: int, at: int) -> int:
    """The end of the word before, if ``at`` lies within a word of usual length."""
    if at == len(text) or text[at] == " ":
        return at
    blank = text.rfind(" ", max(start, at - MAX_WORD_CHARACTERS), at)
    return blank if blank > start else at


def marked(text: str, terms: list[str]) -> str:
    """The text with the terms highlighted, whatever their case."""
    if not terms:
        return text
    any_term = "|".join(map(re.escape, sorted(terms, key=len, reverse=True)))
    return re.sub(any_term, lambda found: click.style(found[0], fg="yellow", bold=True), text, flags=re.I)
