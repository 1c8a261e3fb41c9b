"""Numbers in brackets in the text of documents, "[42]", which look like citations of localcrag.

A document may cite others, and a hostile one may pretend to be cited. In what is shown, such a number has
other brackets (:func:`disarmed`), and only the marks of the answer itself keep theirs. For the checks of an
answer it is no number that the document states (:func:`without_bracketed_numbers`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localcrag.types import CitationMark

_OPENING = "\\[［【〔〖⟦❲⦋⦍⦏⁅﹝〚〘"
_CLOSING = "\\]］】〕〗⟧❳⦌⦎⦐⁆﹞〛〙"
MAX_BRACKETED_CHARACTERS = 40
"""The most characters between two brackets that may be the mark of a citation."""
_BRACKETED = re.compile(rf"[{_OPENING}]([^{_OPENING}{_CLOSING}]{{1,{MAX_BRACKETED_CHARACTERS}}})[{_CLOSING}]")
_BESIDE_NUMBERS = frozenset(".^*#'\"’,;")
"""What may stand beside the numbers of a mark: a footnote is "[^1]" or "[*1]"."""
_BETWEEN_NUMBERS = frozenset(",;–—-‐‑−/&、，；")
_NUMBER_CATEGORIES = frozenset({"Nd", "Nl", "No"})
_INVISIBLE_CATEGORIES = frozenset({"Zs", "Cc", "Cf", "Mn", "Me"})
_INDEX = re.compile(r"[\w)\]\"'$]$")
_CODE_SIGN = re.compile(r"[=({$]|[;:]\s*$")
"""What a line of code has beside an index, and a sentence with a citation rarely has."""
MAX_CODE_WORDS = 4
"""The most words before an index in a line of code without such a sign."""
SHOWN_BRACKETS = ("‹", "›")
"""The brackets of a number in a document, as it is shown."""


def is_citation_like(inside: str) -> bool:
    """Whether the text between two brackets is one number or several, and so may be taken for a citation."""
    seen = [character for character in inside if unicodedata.category(character) not in _INVISIBLE_CATEGORIES]
    while seen and seen[0] in _BESIDE_NUMBERS:
        del seen[0]
    while seen and seen[-1] in _BESIDE_NUMBERS:
        del seen[-1]
    return bool(seen) and all(
        character in _BETWEEN_NUMBERS or unicodedata.category(character) in _NUMBER_CATEGORIES
        for character in seen
    )


def without_bracketed_numbers(text: str) -> str:
    """The text without its numbers in brackets, and without the white space before each."""
    kept: list[str] = []
    end = 0
    for found in _BRACKETED.finditer(text):
        if is_citation_like(found[1]):
            kept.append(text[end : found.start()].rstrip())
            end = found.end()
            if text[end : end + 1].isalnum():
                kept.append(" ")
    return "".join([*kept, text[end:]])


def disarmed(text: str, marks: Iterable[CitationMark] = (), *, code: bool = False) -> str:
    """The text with other brackets around each number that stands in brackets; it stays as long as it was.

    Args:
        text: the text of a document, or of an answer.
        marks: the citations of the answer itself, which keep their brackets.
        code: whether it is code, in which an index behind a name (``argv[1]``) keeps its brackets.
    """
    own = {mark.start for mark in marks}
    opening, closing = SHOWN_BRACKETS

    def replaced(found: re.Match[str]) -> str:
        if found.start() in own or not is_citation_like(found[1]):
            return found[0]
        if code and _is_index(text, *found.span()):
            return found[0]
        return f"{opening}{found[1]}{closing}"

    return _BRACKETED.sub(replaced, text)


def _is_index(text: str, start: int, end: int) -> bool:
    """Whether a number in brackets is an index in code: behind a name, in a line that is no sentence."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    before, behind = text[first:start], text[end : last if last >= 0 else len(text)]
    is_code = _CODE_SIGN.search(before) or _CODE_SIGN.search(behind) or len(before.split()) <= MAX_CODE_WORDS
    return bool(_INDEX.search(before) and is_code)
