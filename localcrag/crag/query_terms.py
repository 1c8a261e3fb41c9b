"""The words of a question, and the search line that is made of them.

:data:`STOP_WORDS` is the one list of words that carry no meaning in a question. :func:`rewrite` is the
rewriter of CRAG (arXiv 2401.15884, section 4.5). A language model that can paraphrase writes the line
freely, constrained to one line. A very small one garbles what it copies; it is constrained to the
question's own words in their order, and only decides which of the stop words stay. Such a line cannot
say anything that was not asked.
"""

from __future__ import annotations

import re

from localcrag.crag import prompts
from localcrag.protocols import LanguageModel

WORD_PATTERN = re.compile(r"[^\W_]+(?:[-'’.,/&+#_][^\W_]+)*[%+#]*")
_STOP_WORDS = """
    a about again ah all also am an and another any anyone anything are as ask at be been being but by can
    could curious did do does doing ever explain exactly find for from get give got had has have having
    hello help her here hey hi him his hope how i if in into is it its just know like lol lot many may
    maybe me mean might mind much my need of ok okay on or our out please quick quite re really say she
    should so some someone something sorry still such sure tell than thank thanks that the their them
    then there these they thing things think this those to too up us very want wanted was we well were
    what when where whether which who whom whose why will with wonder wondered wondering would yes yet
    you your
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())


def folded(word: str) -> str:
    """A word as it is compared: lower case, without what an apostrophe joins to it."""
    return re.sub(r"['’].*", "", word.lower())


def content_words(text: str) -> list[str]:
    """The words that carry meaning, in order."""
    return [word for word in WORD_PATTERN.findall(text) if folded(word) not in STOP_WORDS]


MAX_LINE_WORDS = 24
"""Words of an extractive line, at most; more of a question makes a search vaguer."""
TOKENS_PER_WORD = 16
"""Room for the spelling of a rare word by a small vocabulary."""


def rewrite(model: LanguageModel, question: str, *, extractive: bool) -> str:
    """One search line for a question. Raises ConstraintError, ContextOverflow."""
    if extractive and (pattern := own_words(question)):
        room = MAX_LINE_WORDS * TOKENS_PER_WORD
        return "".join(model.stream(prompts.rewrite(question), pattern=pattern, max_tokens=room))
    return model.line(prompts.rewrite(question))


def own_words(question: str) -> str:
    """The pattern of the lines that keep a question's words in their order.

    All words that carry meaning stay, and any of the stop words between them may. "" for a question
    without a word that carries meaning.
    """
    words = WORD_PATTERN.findall(question)
    content_words = [i for i, word in enumerate(words) if folded(word) not in STOP_WORDS]
    content_words = content_words[:MAX_LINE_WORDS]
    if not content_words:
        return ""
    first, last = content_words[0], content_words[-1]
    parts = [re.escape(words[first])]
    for i in range(first + 1, last + 1):
        word = f" {re.escape(words[i])}"
        parts.append(word if i in content_words else f"({word})?")
    return "".join(parts)
