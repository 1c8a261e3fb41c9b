"""Looking up where code or a file of settings gives a name its value.

"What is the value of POOL_SIZE?" is answered by the line "POOL_SIZE = 12". To a judge of sentences a comment
that speaks of the value of POOL_SIZE says more of it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.types import Strip

DEFINED_WEIGHT = 4.0
"""What the log-odds gain of what defines the name, and lose of what only has it in the same document."""
_NAME = re.compile(r"(?<![\w-])(?:[A-Za-z]\w*_\w+|[A-Z][A-Z0-9]{2,}|[a-z]+[A-Z]\w*)(?![\w-])")
"""A name in code: "POOL_SIZE", "TIMEOUT", "poolSize"."""
_VALUE_ASKED = re.compile(
    r"\b(?:values?|set to|defined as|initiali[sz]ed|equals?|Wert|gesetzt|valeur|valor)\b"
    r"|\bhow (?:large|long|many|much|high|big|often)\b|^\W*what(?:'s|’s| is) \S+\W*$",
    re.IGNORECASE,
)
"""How a question asks for the value that a name has."""
_DEFAULT_ASKED = re.compile(r"\bdefaults?\b|\bStandardwert|\bpar défaut\b|\bpor defecto\b", re.IGNORECASE)
"""How it asks for another one, which a comment tells."""
_DEFINITION = (
    r"^[ \t]*(?:[\w<>]+[ \t]+){0,4}{name}[ \t]*(?::[ \t]*[\w\[\], .|<>]+)?[ \t]*(?:=(?![=>~])|:=)[ \t]*\S"
    r"|^[ \t]*#[ \t]*define[ \t]+{name}[ \t]+\S"
)
"""A line that gives a name a value."""


def defined_names(question: str, found: Sequence[Strip]) -> dict[int, float]:
    """What the log-odds of strips gain that give a name of the question its value, by index.

    Those that only have the name lose as much if their document defines it. There are none if the question
    asks for no value, or for a default, which the line need not have.

    Args:
        question: the question.
        found: the strips to choose from, of one passage or of several.
    """
    is_asked = _VALUE_ASKED.search(question) and not _DEFAULT_ASKED.search(question)
    names = list(dict.fromkeys(_NAME.findall(question))) if is_asked else []
    gains: dict[int, float] = {}
    for name in names:
        definition = re.compile(_DEFINITION.replace("{name}", re.escape(name)), re.MULTILINE)
        defining = [at for at, strip in enumerate(found) if definition.search(strip.text)]
        documents = {found[at].passage.document for at in defining}
        word = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        for at, strip in enumerate(found):
            if strip.passage.document in documents and word.search(strip.text):
                gains.setdefault(at, -DEFINED_WEIGHT)
        gains |= dict.fromkeys(defining, DEFINED_WEIGHT)
    return gains
