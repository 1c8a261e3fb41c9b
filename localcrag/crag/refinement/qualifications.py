"""Qualifications: the sentence behind a statement that makes an exception to it, or says the contrary.

"Flights are not paid." is half of what is so if "Exception: the train takes nine hours." follows. A contrast
shows by its first word; what follows a denial may be one without such a word: "The authors declare no
interest. Ms Lund owns shares."
"""

from __future__ import annotations

import re

from localcrag.crag.refinement.knowledge_strips import strips_of_block
from localcrag.crag.refinement.strip_kinds import ends_as_question
from localcrag.labelled_lines import line_ends
from localcrag.languages import reading_width
from localcrag.types import BlockKind, Strip

MAX_QUALIFIED_WIDTH = 320
"""The greatest width of a statement with what qualifies it."""
_QUALIFIED_KINDS = frozenset({BlockKind.PARAGRAPH, BlockKind.ITEM})
_CONTRAST = re.compile(
    r"[(\"“]?(?:(?:the |an |one |only )?exceptions?|exempted|except|excluded|but|however|nevertheless|unless"
    r"|otherwise|instead|yet|still|though|only|not (?:for|if)|(?:this|that) does not|in (?:that|this) case"
    r"|(?:die |eine )?ausnahmen?|ausgenommen|aber|jedoch|allerdings|sonst|nur|außer|dies gilt nicht"
    r"|(?:seule |une )?exceptions?|sauf|mais|cependant|toutefois|sinon|seulement"
    r"|(?:la )?excepción|excepto|salvo|pero|sin embargo)\b",
    re.IGNORECASE,
)
"""How a sentence begins that qualifies the one before."""
_DENIAL = re.compile(
    r"\b(?:no|not|none|never|nobody|nothing|neither|cannot|\w+n['’]t|kein\w*|nicht|nie|niemand|nichts|aucune?"
    r"|jamais|ne .+ pas|ninguna?|nunca)\b",
    re.IGNORECASE,
)


def end_of_qualified(strip: Strip) -> int:
    """The end of a strip with the sentences of its paragraph or item that qualify it; its own end if none."""
    passage = strip.passage
    block = next((b for b in passage.blocks if b.start < strip.end <= b.end), None)
    if block is None or block.kind not in _QUALIFIED_KINDS:
        return strip.end
    if line_ends(passage.text_between(block.start, block.end)):
        return strip.end
    within = strips_of_block(passage, block)
    ends = [sentence.end for sentence in within]
    if strip.end not in ends:
        return strip.end
    at = ends.index(strip.end)
    end, is_denied = strip.end, _DENIAL.search(within[at].text) is not None
    for sentence in within[at + 1 :]:
        is_next = is_denied and end == strip.end
        qualifies = _CONTRAST.match(sentence.text) or is_next
        start = max(strip.start, block.start)
        if not qualifies or ends_as_question(sentence.text):
            break
        if reading_width(passage.text_between(start, sentence.end)) > MAX_QUALIFIED_WIDTH:
            break
        end = sentence.end
    return end
