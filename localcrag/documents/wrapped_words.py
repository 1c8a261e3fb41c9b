"""Words of plain text that were hyphenated at the end of a line, joined again."""

from __future__ import annotations

import re

from localcrag.documents.line_wraps import prose_wraps
from localcrag.documents.readers.pdf_hyphens import mend_hyphens
from localcrag.documents.readers.pdf_lines import SUSPENDED

_BREAK_MARKS = re.compile("[\x02\ufffe]")
_BROKEN = re.compile(r"(?<=[^\W\d_]{2})-\n(?P<rest>[^\W\d_]\S*)[ ]?(?P<end>\n?)")
"""A word that goes on in the next line, up to the end of it."""


def with_whole_words(text: str) -> str:
    """A text whose words are not broken at the end of a line, if its lines were broken to a width.

    The line then ends after the word. A word of which another one is the second half ("Haus- und Garten")
    stays as it is, and so does one with a capital letter behind its hyphen.
    """
    if "-\n" not in text or _BREAK_MARKS.search(text):
        return text
    wraps = set(prose_wraps(text))

    def marked(match: re.Match[str]) -> str:
        rest = match["rest"]
        if match.start() + 1 not in wraps or not rest[0].islower() or SUSPENDED.match(rest):
            return match[0]
        return f"\x02{rest}" + ("\n" if match.end() < len(text) or match["end"] else "")

    return mend_hyphens([_BROKEN.sub(marked, text)])[0]
