"""Options that evidence does not tell of: those of a question, or any at all.

What another option does looks to a judge of relevance just like what "--parallel" does, and a text about
backups like an answer to "Which option keeps them?".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.questions.question_extent import asks_for_name_in_code
from localcrag.types import BlockKind, Strip

_OPTION = re.compile(r"(?<![\w<-])(?:--[A-Za-z][\w-]*\w|-[A-Za-z](?![\w-]))")
_NAME = re.compile(
    r"(?<![\w<-])--?[A-Za-z][\w-]*|\b\w+_\w+|\b\w[\w-]*(?:\.[a-z]\w+)+|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z]+[A-Z]\w+"
    r"|\b[A-Z][A-Z0-9]+\b|\w\(\)|[\\:!/]\w|\w=\S|[\"“„«'‘`][^\s\"”'’`][^\"”'’`\n]{0,40}[\"”“»'’`]"
    r"|^[^\n:.!?]{1,60}: \S"
    r"|\b(?:[Uu]se|[Rr]un|[Cc]all|[Tt]ype|[Ss]et|[Ee]nter|with|by|via) (?:the )?[a-z][\w-]+"
    r" (?:command|option|flag|switch|setting|directive|parameter|variable|function)\b",
    re.MULTILINE,
)
"""What may be a name in code, or a term with its definition."""
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


def lacks_name_in_code(question: str, text: str, strips: Sequence[Strip]) -> bool:
    """Whether a question asks which option or command it is, and a text has no name of any.

    It is no such question if the passages of the strips have neither an option nor code: "Which options are
    there?" may be asked of a menu.

    Args:
        question: the question.
        text: the evidence with its headings.
        strips: the strips that may be shown.
    """
    if not asks_for_name_in_code(question) or _NAME.search(text):
        return False
    passages = [strip.passage for strip in strips]
    has_code = any(block.kind is BlockKind.CODE for passage in passages for block in passage.blocks)
    return has_code or any(_OPTION.search(passage.text) for passage in passages)
