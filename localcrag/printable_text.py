"""The filter for text of others: what a document, a name or an address must not do where it is shown.

Control characters (C0, DEL, C1, and so every escape sequence) and line separators become blanks. What has no
width of its own and can hide or reorder text is left out: bidirectional controls, tags, zero-width and
deprecated format characters. Joiners (U+200C, U+200D) stay behind a character that is not ASCII, since
Persian, the scripts of India and emoji need them.
"""

from __future__ import annotations

import re

BLANKED_CLASS = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029"
"""The characters that become blanks, as a class of a regular expression."""
HIDDEN_CLASS = (
    "\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
)
"""The characters that are left out, as a class of a regular expression."""
SURROGATES_CLASS = "\ud800-\udfff"
_BLANKED = re.compile(f"[{BLANKED_CLASS}]")
_HIDDEN = re.compile(f"[{HIDDEN_CLASS}]+|(?<![^\x00-\x7f])[\u200c\u200d]+")
_SURROGATES = re.compile(f"[{SURROGATES_CLASS}]")


def plain(text: str) -> str:
    """Text that may be shown; its line breaks and tabs stay."""
    return _SURROGATES.sub("\ufffd", _HIDDEN.sub("", _BLANKED.sub(" ", text)))


def one_line(text: str) -> str:
    """Text that may be shown, on one line: line breaks and tabs become blanks as well."""
    return plain(text).replace("\n", " ").replace("\t", " ")
