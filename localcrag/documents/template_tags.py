"""The tags of templates (Jinja, Django) in documents that a program fills in, as letters and forms of courts.

``{% if child %}`` and ``{%p endif %}`` are markup, which nobody reads in the letter that is made. What
is to be filled in, ``{{ name }}``, stays.
"""

from __future__ import annotations

import re

_TAG = re.compile(r"\{%(?:(?!%\}|\{%|</?(?:p|li|td|tr|h\d|ul|ol|table)\b).){0,400}%\}", re.DOTALL)
"""A tag within one paragraph of HTML, with changes of letters in it."""
_BLOCK_TAG = re.compile(r"\{%-?\s*(?:p|tr|tc|r)\s")
"""A tag for a whole paragraph or row, which only templates of documents have."""
_ENDING = re.compile(r"\{%-?\s*(?:p\s+|tr\s+)?end(?:if|for)\b")
_EMPTY_ITEM = re.compile(r"<li>(?:\s|</?(?:p|strong|em|b|i)>)*</li>")


def without_template_tags(html: str) -> str:
    """The HTML of a document without the tags of a template, if it is one, and without items of only them."""
    if not _BLOCK_TAG.search(html) and not (_ENDING.search(html) and "{{" in html):
        return html
    return _EMPTY_ITEM.sub("", _TAG.sub("", html))
