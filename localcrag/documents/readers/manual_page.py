"""Reader of manual pages in roff, with the macros of man(7) or mdoc(7).

They are read here because no library at hand does, and groff, which only a part of the machines has, gives
lines of a terminal without their structure.
"""

from __future__ import annotations

import re

from localcrag.documents.block_text import BlockText
from localcrag.documents.encoding import charset_of, decode
from localcrag.documents.extracted import ExtractedText, Limits, clean
from localcrag.documents.formats import MEDIA_TYPES, DocumentFormat
from localcrag.documents.man_blocks import add_man
from localcrag.documents.mdoc_blocks import add_mdoc
from localcrag.errors import UnreadableError

_REFERENCE = re.compile(r"(?:[.']\\\".*\n|[ \t]*\n)*\.so +(\S+)\s*\Z")
_MDOC = re.compile(r"^\.[ \t]*D[dt]\b", re.MULTILINE)


def read_manual_page(data: bytes, limits: Limits, content_type: str = "") -> ExtractedText:
    """Read a manual page; ``content_type`` may name its encoding.

    Raises UnreadableError: binary, only a reference to another page, or more text than ``limits.text``.
    """
    text = clean(decode(data, charset_of(content_type)))
    if reference := _REFERENCE.match(text):
        raise UnreadableError(
            f"it only refers to another manual page ({reference[1][:100]})", hint="Ingest that one."
        )
    made = BlockText(limits)
    title = add_mdoc(made, text) if _MDOC.search(text) else add_man(made, text)
    return ExtractedText(title, MEDIA_TYPES[DocumentFormat.MANUAL_PAGE], (made.page(),))
