"""The options of a question that its evidence does not tell of: "What does --parallel do in foo?".

What another option does looks to a judge of relevance just like it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.types import Strip

_OPTION = re.compile(r"(?<![\w<-])(?:--[A-Za-z][\w-]*\w|-[A-Za-z](?![\w-]))")
_MAY_BE_NEGATED = re.compile(r"\[no-?\]-?|<no->")


def missing_options(strips: Sequence[Strip], question: str) -> list[str]:
    """The options of a question that no passage of the strips has, in order.

    "--[no-]trim" tells of "--trim" and of "--no-trim". There are none if there are no strips.

    Args:
        strips: the strips that may be shown.
        question: the question.
    """
    asked = dict.fromkeys(_OPTION.findall(question))
    if not asked or not strips:
        return []
    told = " ".join(strip.passage.text for strip in strips)
    forms = f"{told} {_MAY_BE_NEGATED.sub('', told)} {_MAY_BE_NEGATED.sub('no-', told)}"
    return [option for option in asked if not re.search(rf"(?<![\w-]){option}(?![\w-])", forms)]
