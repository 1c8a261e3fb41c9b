"""Values of data that are fragments of HTML, as exports of posts and descriptions have them, read as text."""

from __future__ import annotations

import re
from html import unescape

from localcrag.documents.block_text import BlockText
from localcrag.documents.html_blocks import add_html
from localcrag.errors import UnreadableError

_TAGS = (
    r"a|abbr|article|aside|b|blockquote|code|dd|div|dl|dt|em|figure|h[1-6]|i|li|ol|p|pre|s|section|small|span"
    r"|strong|sub|sup|table|tbody|td|th|thead|tr|u|ul"
)
_OPENED = re.compile(rf"<({_TAGS})(?:\s[^<>]*)?>", re.IGNORECASE)
_CLOSED = re.compile(rf"</({_TAGS})\s*>", re.IGNORECASE)
_NAMED_CHARACTER = re.compile(r"&(?:nbsp|amp|quot|apos|[mn]dash|euro|deg|eacute|[aou]uml|szlig|#\d{2,5});")
_ALONE = re.compile(r"<br\s*/?>|\A\s*<p>", re.IGNORECASE)
"""A line end, or a paragraph that need not be closed."""
_MAX_CHARACTERS = 1_000_000


def without_markup(value: str) -> str:
    """A value as text: the blocks of a fragment of HTML as lines, and characters for names as "&nbsp;"."""
    if "<" not in value or len(value) > _MAX_CHARACTERS or not _is_fragment(value):
        return _NAMED_CHARACTER.sub(lambda name: unescape(name[0]), value)
    made = BlockText()
    try:
        add_html(made, value)
    except UnreadableError:
        return value
    lines = (" ".join(line.split()) for line in made.page(None).text.split("\n"))
    return "\n".join(filter(None, lines)) or value


def _is_fragment(value: str) -> bool:
    """Whether an element of a value is closed, or it has a line end of HTML."""
    closed = {found[1].lower() for found in _CLOSED.finditer(value)}
    is_closed = any(found[1].lower() in closed for found in _OPENED.finditer(value)) if closed else False
    return is_closed or _ALONE.search(value) is not None
