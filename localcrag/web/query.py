"""A question as one line that a search engine takes literally.

SearXNG reads commands out of a query: ``!wp`` picks an engine, ``!!g`` **redirects the whole query
to an outside site**, ``:fr`` sets the language, ``<3`` the time limit. A question about
``!important`` in CSS must not do any of that.
"""

from __future__ import annotations

import unicodedata

from localcrag.errors import UsageError

MAX_CHARACTERS = 400
"""Search engines look at some 32 to 50 words; more of a question only tells more about its asker."""

_COMMANDS = "!:<"


def search_line(text: str) -> str:
    """The words of ``text`` on one line, at most ``MAX_CHARACTERS`` long, with no command among them.

    Exactly what is sent, so show this one when asking for consent; a line that went through once
    comes out the same. Raises UsageError where there is no word in it.
    """
    visible = "".join(c if unicodedata.category(c) not in ("Cc", "Cs") else " " for c in text)
    words = [stripped for word in visible.split() if (stripped := word.lstrip(_COMMANDS))]
    if not words:
        raise UsageError("there is no word to search the web for", hint="ask with at least one word")
    return _shortened(words)


def _shortened(words: list[str]) -> str:
    """Whole words up to the limit; a first word longer than it is cut."""
    line = words[0][:MAX_CHARACTERS]
    for word in words[1:]:
        if len(line) + 1 + len(word) > MAX_CHARACTERS:
            break
        line += f" {word}"
    return line
