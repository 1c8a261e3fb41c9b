"""Text as UTF-8 can hold it."""

from __future__ import annotations

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def storable(text: str) -> str:
    """The text with U+FFFD for each lone surrogate.

    That is what JSON and some encodings can name of half a character, and what bytes that are no text
    become in an argument.
    """
    return _SURROGATES.sub("\ufffd", text)
