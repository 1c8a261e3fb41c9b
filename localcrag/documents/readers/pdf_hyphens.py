"""Words that a PDF hyphenates at the end of a line, joined again."""

from __future__ import annotations

import re
from collections.abc import Iterable

# PDFium writes a line's end hyphen, and the line break after it, as one control character.
_BROKEN_WORD = re.compile(r"(?<![^\W\d_])([^\W\d_]++)[\x02\ufffe]([^\W\d_]++)")
_BREAK_MARK = re.compile(r"[\x02\ufffe]")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def mend_hyphens(texts: list[str]) -> list[str]:
    """The texts with the words joined that were hyphenated at the end of a line.

    The vocabulary of the whole document decides. The hyphen is kept if the hyphenated word, or each of its
    halves, occurs elsewhere (``well-known``), or if the second half is capitalised (``Anglo-Saxon``).
    """
    words = _vocabulary(texts)

    def mend(match: re.Match[str]) -> str:
        left, right = match.groups()
        whole, hyphenated = f"{left}{right}", f"{left}-{right}"
        if whole.lower() in words:
            return whole
        apart = left.lower() in words and right.lower() in words
        return hyphenated if hyphenated.lower() in words or apart or not right[0].islower() else whole

    return [_BREAK_MARK.sub("-", _BROKEN_WORD.sub(mend, text)) for text in texts]


def _vocabulary(texts: Iterable[str]) -> set[str]:
    words: set[str] = set()
    for text in texts:
        words.update(word.lower() for word in _WORD.findall(_BROKEN_WORD.sub(" ", text)))
    return words
