"""The question as one search line (the rewriter of CRAG, arXiv 2401.15884, section 4.5).

A language model that can paraphrase writes the line freely, constrained to one line. A very small
one garbles what it copies; it is constrained to the question's own words in their order, and only
decides which of the little words stay. Such a line cannot say anything that was not asked.
"""

from __future__ import annotations

import re

from localcrag.crag import prompts
from localcrag.crag.words import LITTLE, WORD, bare
from localcrag.protocols import LanguageModel

MAX_WORDS = 24
"""Words of an extractive line, at most; more of a question makes a search vaguer."""
TOKENS_PER_WORD = 16
"""Room for the spelling of a rare word by a small vocabulary."""


def rewrite(model: LanguageModel, question: str, *, extractive: bool) -> str:
    """One search line for a question. Raises ConstraintError, ContextOverflow."""
    if extractive and (pattern := own_words(question)):
        room = MAX_WORDS * TOKENS_PER_WORD
        return "".join(model.stream(prompts.rewrite(question), pattern=pattern, max_tokens=room))
    return model.line(prompts.rewrite(question))


def own_words(question: str) -> str:
    """The pattern of the lines that keep a question's words in order: all that carry meaning, and any
    of the little ones between them. "" for a question without a word that carries meaning.
    """
    words = WORD.findall(question)
    telling = [i for i, word in enumerate(words) if bare(word) not in LITTLE]
    telling = telling[:MAX_WORDS]
    if not telling:
        return ""
    first, last = telling[0], telling[-1]
    parts = [re.escape(words[first])]
    for i in range(first + 1, last + 1):
        word = f" {re.escape(words[i])}"
        parts.append(word if i in telling else f"({word})?")
    return "".join(parts)
