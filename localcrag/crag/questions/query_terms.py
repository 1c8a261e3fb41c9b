"""Query terms: the content words of a question, and the search line made from them.

:data:`STOP_WORDS` is the only list of words that carry no meaning in a question. :func:`rewrite` is the
query rewriter of CRAG (Yan et al. 2024, arXiv 2401.15884, section 4.5). A language model that can
paraphrase writes the line freely, constrained to one line. A very small model makes mistakes when it
copies; it is constrained to the question's own words in their order, and only decides which of the stop
words stay. Such a line has no word that is not in the question.
"""

from __future__ import annotations

import re

from localcrag.crag import prompts
from localcrag.crag.questions.calendar_dates import (
    bare_weekday_numbers,
    dates_of,
    months_asked,
    weekday_numbers,
    without_dates,
)
from localcrag.languages import FUNCTION_WORDS, UNSPACED, other_than_english
from localcrag.protocols import LanguageModel

WORD_PATTERN = re.compile(r"[^\W_]+(?:[-'’.,/&+#_][^\W_]+)*[%+#]*")
"""A word, with the marks inside it and at its end that belong to it: "don't", "3.5%", "C++"."""
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

_ASKING_WORDS = """
    who am are is was were do does did has have had can could may might must shall should will would
"""
ASKING_WORDS = frozenset(_ASKING_WORDS.split())
"""Words that make a whole question with one more word; "which" and "how many" only make a part of one."""
COUNTING_ELSE = r"(?:wie ?viele|combien d['’e]|cuánt[oa]s|quant[ie])\b"
"""How a question counts things in German, French, Spanish and Italian, as a pattern."""
OPENING_WORDS = ASKING_WORDS | {"what", "when", "where", "which", "whose", "whom", "why", "how"}
"""Words that a question begins with."""


def folded(word: str) -> str:
    """A word for comparison: in lower case, without an apostrophe and the letters after it."""
    return re.sub(r"['’].*", "", word.lower())


def content_words(text: str) -> list[str]:
    """The words of a text that are no stop words, in order and as they are written."""
    return [word for word in WORD_PATTERN.findall(text) if folded(word) not in STOP_WORDS]


_SUFFIX = re.compile(r"(?:ing|ed|es|s|e)$")
_ENGLISH_WORDS = """
    and are by does for from how is it of that the this to what when where which who why with
"""
_ENGLISH = frozenset(_ENGLISH_WORDS.split())
"""Frequent English words that are none in the languages written with the same letters."""
_FIGURES = re.compile(r"\d+(?:[-_/.:]\d+)+")
"""A date or the like, whose parts are in an order."""
_CARDINALS = "one two three four five six seven eight nine ten eleven twelve"
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
"""English words for the places of a few things in order."""
IN_WORDS = {
    word: str(value) for words in (_CARDINALS, ORDINALS) for value, word in enumerate(words.split(), 1)
}
"""English words for small numbers, in figures: "two" and "second" are "2"."""
MIN_STEM = 3
"""The fewest letters that are left of a word without its ending."""


def terms(text: str) -> set[str]:
    """The content words of a text for comparison: folded, and without English endings.

    Of a script without spaces between words, it is each two characters side by side.
    """
    found: set[str] = set()
    for run in UNSPACED.findall(text):
        found |= {run[i : i + 2] for i in range(max(1, len(run) - 1))}
    return found | {stem(word) for word in content_words(UNSPACED.sub(" ", text))}


def stem(word: str) -> str:
    """A word for comparison: folded, and without the endings of English verbs and plurals."""
    low = folded(word)
    bare = _SUFFIX.sub("", low)
    kept = bare if len(bare) >= MIN_STEM else low
    return f"{kept[:-1]}i" if kept.endswith("y") else kept


_FUNCTION_TERMS = frozenset(map(stem, FUNCTION_WORDS))


def terms_asked_for(question: str) -> set[str]:
    """The terms of a question, without the frequent words of another language than English that it is in."""
    asked = terms(question)
    return asked - _FUNCTION_TERMS if asked & _FUNCTION_TERMS and other_than_english(question) else asked


def figures_of(text: str, others: re.Pattern[str] = _FIGURES) -> set[str]:
    """The dates in a text, in one spelling, and the like, as they are written: "2/3" is not "3/2".

    ``others`` finds what counts beside dates.
    """
    without = without_dates(text)
    return dates_of(text) | bare_weekday_numbers(without) | set(others.findall(without))


def figures_asked(question: str, others: re.Pattern[str] = _FIGURES) -> set[str]:
    """The figures of a question, with its days as columns are named by them ("Sat 16"), and its months."""
    return figures_of(question, others) | weekday_numbers(question) | months_asked(question)


def is_english(text: str) -> bool:
    """Whether a text has a frequent English word."""
    return any(folded(word) in _ENGLISH for word in WORD_PATTERN.findall(text))


_ASPECT_WORDS = """
    advantage advantages another become began begin benefit benefits best better between big call called
    cause caused causes come common compare comparison cons cool cost costs day days define definition
    describe difference differences different disadvantage disadvantages effect effects else example
    examples famous first get getting give go going good great happen happened happens history hmm impact
    importance important info information interesting involve involved kind kinds known large last long
    look main made make makes making meaning means more most name named names new next often old options
    other others overview people play played popular price pros purpose related role same significance
    similar sort sorts start started steps time times told type types use used uses using way ways went
    work working works worst wow year years
"""
ASPECTS = frozenset(_ASPECT_WORDS.split())
"""Words for what is asked about a thing, whatever the conversation is about: they do not name a topic."""
ASPECT_TERMS = frozenset(map(stem, ASPECTS))
"""The aspects for comparison with :func:`terms`."""
MAX_LINE_WORDS = 24
"""The most content words of an extractive line; more of a question makes a search vaguer."""
MAX_TOKENS_PER_WORD = 16
"""The most tokens for one word: enough for a rare word in a small vocabulary."""


def rewrite(model: LanguageModel, question: str, *, extractive: bool) -> str:
    """One search line for a question, written by the model.

    Args:
        model: the language model that writes the line.
        question: the question to rewrite.
        extractive: constrain the line to the question's own words in their order.

    Raises ConstraintError, ContextOverflow.
    """
    if extractive and (pattern := own_words_pattern(question)):
        room = MAX_LINE_WORDS * MAX_TOKENS_PER_WORD
        return "".join(model.stream(prompts.rewrite(question), pattern=pattern, max_tokens=room))
    return model.line(prompts.rewrite(question))


def own_words_pattern(question: str) -> str:
    """The regular expression of the lines that keep a question's words in their order.

    All content words must stay, up to ``MAX_LINE_WORDS``, and each stop word between them may stay. It is
    "" for a question without content words.
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
