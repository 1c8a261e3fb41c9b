"""How words are found: the settings of the full-text index, by the language of a knowledge base.

Words are divided as ICU's dictionaries do, so that Chinese, Japanese and Thai can be searched too. They are
compared by their stems, in the language that most passages are in; of languages without a stemmer, words are
compared as they are. Measured with questions and 65 paragraphs in each language (XQuAD, nDCG@10 of BM25 with
the English stemmer and with the language's own): Russian 0.874 and 0.954, German 0.942 and 0.949, Spanish
0.965 and 0.970.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from localcrag.languages import ENGLISH, language_of

_STOP_WORDS = """
a about after again all also am an and any are as at be because been before being between both but by can
could did do does doing don down during each few for from further had has have having he her here hers
herself him himself his how i if in into is it its itself just me might more most must my myself no nor not
now of off on once only or other our ours ourselves out over own s same shall she should so some such t than
that the their theirs them themselves then there these they this those through to too under until up very
was we were what when where which while who whom why will with would you your yours yourself yourselves
"""
STEMMERS: Mapping[str, str] = {
    "ar": "Arabic",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "hu": "Hungarian",
    "it": "Italian",
    "nl": "Dutch",
    "no": "Norwegian",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "ta": "Tamil",
    "tr": "Turkish",
}
"""The languages with a stemmer, and its name in LanceDB."""
MIXED = "mul"
"""The code of ISO 639 for several languages."""
_LATIN_LETTER = re.compile("[A-Za-z]")
FOREIGN_WORDS_WEIGHT = 0.3
"""The weight of the words of a query in another language than the passages."""
UNKNOWN = ""
"""The language of a text that cannot be told."""
SAMPLED_PASSAGES = 48
"""The passages, at equal distances, by which the language of a knowledge base is found."""
MIN_LANGUAGE_SHARE = 0.5
"""The share of the passages that must be in a language for its stemmer to be used."""


def index_settings(language: str) -> dict[str, Any]:
    """The settings of the full-text index for a language; English words are stemmed if it has no stemmer.

    The stop words are our own, because this tokenizer's built-in list covers all languages at once and drops
    digits and single letters too.
    """
    return {
        "base_tokenizer": "icu/split",
        "language": STEMMERS.get(language, STEMMERS[ENGLISH]),
        "stem": True,
        "ascii_folding": True,
        "custom_stop_words": _STOP_WORDS.split(),
    }


def main_language(texts: Iterable[str]) -> str:
    """The language that most of the texts are in, :data:`MIXED` if there is none.

    Texts whose language cannot be told do not count; if there are no others, it is English.
    """
    listed = [language for text in texts if (language := language_of(text, UNKNOWN))]
    if not listed:
        return ENGLISH
    language, count = Counter(listed).most_common(1)[0]
    return language if count > MIN_LANGUAGE_SHARE * len(listed) else MIXED


def words_weight(language: str, query: str) -> float:
    """The weight of the words of a query beside its vector, for passages in a language.

    A question in another language shares names and numbers with them, and little else: on XQuAD, English
    questions about German and Chinese paragraphs had an nDCG@10 of 0.876 and 0.864 with the full weight, and
    0.923 and 0.895 with this one. For English passages, a query is looked at only if it has letters that
    English has not, so that nothing is loaded for others. Words without any Latin letter count in full: they
    are only found in passages of their own script.
    """
    if language in (UNKNOWN, MIXED) or (language == ENGLISH and query.isascii()):
        return 1.0
    if not _LATIN_LETTER.search(query):
        return 1.0
    return 1.0 if language_of(query, language) == language else FOREIGN_WORDS_WEIGHT
