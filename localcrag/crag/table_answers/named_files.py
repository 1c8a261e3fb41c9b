"""The file that a question names, "… in budget-2025.csv?": its table is asked, and no other one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

_FILE_NAME = re.compile(r"[^\W_][\w.+~()-]*\.[A-Za-z][A-Za-z0-9]{1,6}(?:\.(?:gz|bz2|xz))?(?!\w)")
"""A word of a question that may be the name of a file."""
_BEFORE = (
    r"(?:,? *\b(?:according to|as (?:per|listed in)|based on|by|from|in|inside|of|on|per|within)\b)?"
    r"(?: *\b(?:the|my|our|this)\b)?"
    r"(?: *\b(?:csv|data|excel|file|json|list|sheet|spreadsheet|table)\b)* *[\"'“‘«`]?"
)
_BEHIND = r"[\"'”’»`]?(?: *\b(?:data|file|list|sheet|spreadsheet|table)\b)?"


def of_named_file(question: str, sources: Iterable[str]) -> tuple[str, str]:
    """The question without the one file that it names, and the name of that file.

    It is a name of one of the ``sources``. The question is as it was, and the name "", if it names none of
    them, or several.
    """
    known = list(sources)
    words = set(_FILE_NAME.findall(question))
    named = {word for word in words if any(is_named(source, word) for source in known)}
    if len(named) != 1:
        return question, ""
    (name,) = named
    parts = re.split(rf"{_BEFORE}{re.escape(name)}{_BEHIND}", question, flags=re.IGNORECASE)
    plain = " ".join(part.strip() for part in parts if part.strip())
    plain = re.sub(r"^[\s,:;–-]+|[\s,:;–-]+(?=[?!.]*$)", "", re.sub(r" +(?=[?!.,:;])", "", plain))
    return plain, name


def is_named(source: str, file: str) -> bool:
    """Whether a source is a file of that name, in whatever letters."""
    return PurePath(source).name.casefold() == file.casefold()
