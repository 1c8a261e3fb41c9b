"""Prompts as the messages of a chat request.

The server puts them into the chat template of its model and makes tokens of them, and it recognises control
tokens in whatever it is given. So everything in a text of others that looks like one (``<|im_start|>``,
``</s>``, ``[INST]``) gets a space behind its first character, which no control token has.
"""

from __future__ import annotations

import re

from localcrag.types import JsonValue, Prompt, RemovableText, UntrustedText

_MARKER = re.compile(r"<(?=/?[\w|｜▁@!$.:-]{1,64}>)|\[(?=/?[A-Z_]{2,32}\])|<(?=<)")
"""The first character of what could be a control token of some model."""


def messages_of(prompt: Prompt, *, folded: bool) -> list[JsonValue]:
    """The messages of a prompt, without the texts that were removed from it.

    ``folded``: the system text stands at the beginning of the user's turn, for templates without another.
    """
    system, user = prompt.system.strip(), _joined(prompt, removed=False).strip()
    if not system or folded:
        return [{"role": "user", "content": f"{system}\n\n{user}".strip()}]
    return [{"role": "system", "content": system}, {"role": "user", "content": user}]


def text_of(prompt: Prompt) -> str:
    """All texts of a prompt, those removed from it as well, as they are counted."""
    return f"{prompt.system.strip()}\n\n{_joined(prompt, removed=True).strip()}".strip()


def without_markers(text: str) -> str:
    """A text in which nothing can be taken for a control token."""
    return _MARKER.sub(lambda found: f"{found[0]} ", text)


def _joined(prompt: Prompt, *, removed: bool) -> str:
    """The user's turn as one text."""
    return "".join(
        without_markers(part.text) if isinstance(part, UntrustedText) else part
        for part in prompt.user
        if removed or not (isinstance(part, RemovableText) and part.removed)
    )
