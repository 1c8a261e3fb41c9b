"""The tags of templates (Jinja, Django) in documents that a program fills in, as letters and forms of courts.

``{% if child %}`` and ``{%p endif %}`` are markup, which nobody reads in the letter that is made. What
is to be filled in, ``{{ tenant.name.full() }}``, is a blank with its name: "… (tenant name)".
"""

from __future__ import annotations

import re

_TAG = re.compile(r"\{%(?:(?!%\}|\{%|</?(?:p|li|td|tr|h\d|ul|ol|table)\b).){0,400}%\}", re.DOTALL)
"""A tag within one paragraph of HTML, with changes of letters in it."""
_BLOCK_TAG = re.compile(r"\{%-?\s*(?:p|tr|tc|r)\s")
"""A tag for a whole paragraph or row, which only templates of documents have."""
_ENDING = re.compile(r"\{%-?\s*(?:p\s+|tr\s+)?end(?:if|for)\b")
_FILLED_IN = re.compile(
    r"\{\{-?((?:(?!\}\}|\{\{|</?(?:p|li|td|tr|h\d|ul|ol|table)\b).){1,400}?)-?\}\}", re.DOTALL
)
"""What a program fills in, within one paragraph of HTML, with changes of letters in it."""
_HTML_TAG = re.compile(r"<[^<>]*>")
_CALLED = re.compile(r"\.?\w+\(.*", re.DOTALL)
"""A function that gives what is filled in another form, and what stands behind it."""
_INDEX = re.compile(r"\[[^\]]*\]")
_EMPTY_ITEM = re.compile(r"<li>(?:\s|</?(?:p|strong|em|b|i)>)*</li>")


def without_template_tags(html: str) -> str:
    """The HTML of a document without the tags of a template, if it is one, and without items of only them.

    What is to be filled in is a blank with its name.
    """
    if not _BLOCK_TAG.search(html) and not (_ENDING.search(html) and "{{" in html):
        return html
    return _FILLED_IN.sub(_blank, _EMPTY_ITEM.sub("", _TAG.sub("", html)))


def _blank(found: re.Match[str]) -> str:
    """The blank in the place of what is to be filled in, with its name in words: "… (tenant name)"."""
    expression = _HTML_TAG.sub("", found[1]).split("|")[0]
    words = re.findall(r"[^\W_]+", _CALLED.sub("", _INDEX.sub("", expression)))
    return f"… ({' '.join(words)})" if words else "…"
