"""The language of a text, found on this machine: by its script, by frequent English words, by a library.

English is recognised by its function words, and Chinese, Japanese, Korean and Thai by their scripts, so that
nothing is loaded for them; every other text is given to py3langid, a model of byte sequences
(:mod:`localcrag.language_identifier`). On 3,936 questions and 240 paragraphs in 12 languages (XQuAD), it
named the language of every paragraph, and of a question it was never wrong if it was sure to
:data:`MIN_CONFIDENCE`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from localcrag.language_identifier import classifier

ENGLISH = "en"
"""The language of a text that is too short, or too mixed, to tell."""
MIN_CONFIDENCE = 0.5
"""The probability from which the library's finding counts."""
MAX_CHARACTERS = 2000
"""The characters of a text, from its start, that are looked at."""
UNSPACED = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]+")
"""Scripts without spaces between words: Thai, Lao, Japanese and Chinese."""
UNSPACED_WIDTH = 3
"""The characters for which one of a script without spaces counts: seven of them can be a sentence."""
_ENGLISH_FUNCTION_WORDS = """
    and are been but by did does for from has have how is it its many much not of than that the their there
    these they this to were what when where which who why with
"""
_ENGLISH_WORDS = frozenset(_ENGLISH_FUNCTION_WORDS.split())
MIN_ENGLISH_WORDS, MIN_ENGLISH_SHARE, MIN_PLAIN_SHARE = 2, 0.2, 0.08
"""The different function words from which a text is English, and their share of all words; the second share
is that for a text with no letter beyond A to Z."""
_OTHER_FUNCTION_WORDS = """
    aber auch auf aus bei das dem den der durch ein eine einem einen einer eines es gibt haben ist mit nach
    nicht noch nur oder sich sind sowie und viel viele vom von vor wann warum welche welchem welchen welcher
    welches wenn wer werden wie wird wo wurde wurden zu zum zur
    al como con cual cuando cuantos del desde donde el ella en entre es esta fue las lo los mas para pero
    por que quien se ser sobre su sus tiene un una y
    aux avec ce ces cette combien comment dans de des dont du elle est et il ils la le les leur mais ne nous
    ont ou par pas plus pour quand quel quelle quelles quels qui sa sont sur une
    alla che chi da dal dalla degli dei della delle di dove gli nel nella non ogni perche piu quale quali
    quando quanto sono stato tra uno
    aan bij dat deze een heeft het hoe hoeveel maar naar niet ook te uit van voor waar wanneer wat
    welk welke werd wie worden zijn
    ao aos com da das dos em foi mais muito na nas nos onde os ou pela pelo qual quem seu sua um uma
    att av den det ett fra har hur hva hvad hvem hvilken hvor med och og paa som til var vilken
    bir bu hangi ile kac kim nedir ve
    cine cum din este intr pe unde
    az egy hogy mennyi
    czy gdzie ile jak jaki jest kiedy kto nie przez sie
    adalah apa berapa dari dengan di ini itu pada siapa untuk yang
"""
FUNCTION_WORDS = frozenset(_OTHER_FUNCTION_WORDS.split()) - _ENGLISH_WORDS
"""Frequent words of other languages than English in Latin letters, in lower case."""
MIN_ACCENTED_SHARE = 0.25
"""The share of words with letters beyond A to Z from which on a text may be in another language."""
_BEYOND_LATIN = re.compile(r"[\u0370-\u1dff\u2c00-\ua6ff\ua840-\ufaff\ufb1d-\ufdff\ufe70-\ufefc]")
"""Letters of scripts other than Latin."""
MIN_PLAIN_WORDS = 4
"""The words from which on the language of a question without letters beyond A to Z can be told."""
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")),
)
"""Languages with scripts of their own; Japanese comes first, since it has Chinese characters too."""
MIN_SCRIPT_SHARE = 0.2
"""The share of a script among the letters of a text in that language."""
_ALIASES = {"arz": "ar", "ary": "ar", "wuu": "zh", "yue": "zh", "nn": "no", "nb": "no"}


@lru_cache(maxsize=4096)
def language_of(text: str, fallback: str = ENGLISH) -> str:
    """The language of a text as its ISO 639 code, "de" for example; ``fallback`` if it cannot be told."""
    if found := _told(text):
        return found
    if not _WORD.search(text[:MAX_CHARACTERS]):
        return fallback
    found, confidence = classifier()(text[:MAX_CHARACTERS])
    return _ALIASES.get(found, found) if confidence >= MIN_CONFIDENCE else fallback


@lru_cache(maxsize=4096)
def _told(text: str) -> str:
    """The language that script or English function words tell, without the library; "" if they do not."""
    start = text[:MAX_CHARACTERS]
    words = _WORD.findall(start)
    letters = sum(map(len, words))
    for language, script in _SCRIPTS:
        if words and len(script.findall(start)) >= MIN_SCRIPT_SHARE * letters:
            return language
    english = [low for word in words if (low := word.lower()) in _ENGLISH_WORDS]
    share = MIN_PLAIN_SHARE if all(map(str.isascii, words)) else MIN_ENGLISH_SHARE
    plain = len(set(english)) >= MIN_ENGLISH_WORDS and len(english) >= share * len(words)
    return ENGLISH if plain else ""


def other_than_english(text: str) -> bool | None:
    """Whether a text is in another language than English; None if it does not tell.

    What is in Latin letters is only given to the library if it has :data:`MIN_PLAIN_WORDS`, and words that
    are frequent in other languages or many with letters beyond A to Z: names and the rows of a table are of
    no language.
    """
    if told := _told(text):
        return told != ENGLISH
    words = _WORD.findall(text[:MAX_CHARACTERS])
    if not words:
        return None
    letters = sum(map(len, words))
    if len(_BEYOND_LATIN.findall(text[:MAX_CHARACTERS])) >= MIN_SCRIPT_SHARE * letters:
        return True
    accented = sum(not word.isascii() for word in words)
    frequent = {low for word in words if (low := word.lower()) in FUNCTION_WORDS}
    few = accented < MIN_ACCENTED_SHARE * len(words) and len(frequent) < MIN_ENGLISH_WORDS
    if few or len(words) < MIN_PLAIN_WORDS:
        return None
    found = language_of(text, "")
    return found != ENGLISH if found else None


def is_in_english(text: str, beside: Iterable[str] = ()) -> bool:
    """Whether a text is in English, as it tells itself or, if it does not, as most texts ``beside`` it are.

    A frequent word of another language, or a letter beyond A to Z, makes the library decide, and a text that
    it cannot tell is then in none. A text of neither, with no others that tell, is taken for English.
    """
    told = other_than_english(text)
    if told is not None:
        return not told
    words = set(map(str.lower, _WORD.findall(text[:MAX_CHARACTERS])))
    if words & FUNCTION_WORDS or not text.isascii():
        return language_of(text, "") == ENGLISH
    if words & _ENGLISH_WORDS:
        return True
    others = [other for each in beside if (other := other_than_english(each)) is not None]
    return 2 * others.count(True) <= len(others)


def beyond_english(query: str, texts: Sequence[str]) -> list[bool]:
    """Whether each pair of a query and a text has something in another language than English.

    A text too short to tell goes with most of the others.
    """
    return [True] * len(texts) if other_than_english(query) else _as_most(map(other_than_english, texts))


def is_across_english(query: str, texts: Sequence[str]) -> list[bool]:
    """Whether each pair is of a query and a text of which one is in English and the other one is not.

    It is not for a query too short to tell; a text too short to tell goes with most of the others.
    """
    asked = other_than_english(query)
    if asked is None:
        return [False] * len(texts)
    told = map(other_than_english, texts)
    return _as_most(None if other is None else other != asked for other in told)


def _as_most(told: Iterable[bool | None]) -> list[bool]:
    """Each of some answers; in place of None that of more than half of the others, else False."""
    told = list(told)
    most = 2 * told.count(True) > len(told) - told.count(None)
    return [most if each is None else each for each in told]


FOREIGN_PASSAGES = (
    "the question and the passages found are in different languages, which the evaluator cannot compare; "
    "ask in the language of the documents, or take the default evaluator with its part for other languages: "
    "pip install 'localcrag[multilingual]'"
)
"""The reason, in an answer's ``degraded``, why a no of the evaluator is not to be relied on."""


def is_foreign_to(text: str, others: Iterable[str], *, thorough: bool = False) -> bool:
    """Whether a text is in another language than each of some others, as far as languages can be told.

    A text of ASCII alone is taken for English beside an English one. Nothing is loaded where script and
    function words tell that two are alike.
    With ``thorough`` it is not if it has :data:`MIN_PLAIN_WORDS`, which can take a second.
    """
    others = list(others)
    alike = _told(text) or (ENGLISH if text.isascii() and not (thorough and _has_words(text)) else "")
    if alike and alike in map(_told, others):
        return False
    languages = {language for other in others if (language := language_of(other, ""))}
    if not languages:
        return False
    if ENGLISH in languages and text.isascii() and not (thorough and _has_words(text)):
        return False
    return (language_of(text, "") or next(iter(languages))) not in languages


def _has_words(text: str) -> bool:
    """Whether a text has words enough for its language to be told without letters beyond A to Z."""
    return len(_WORD.findall(text)) >= MIN_PLAIN_WORDS


def is_unspaced(text: str) -> bool:
    """Whether at least half of the letters and digits of a text are of a script without spaces."""
    unspaced = sum(map(len, UNSPACED.findall(text)))
    return unspaced > 0 and 2 * unspaced >= sum(map(str.isalnum, text))


def reading_width(text: str) -> int:
    """The characters of a text, with those of scripts without spaces counted for what they say."""
    return len(text) + (UNSPACED_WIDTH - 1) * sum(map(len, UNSPACED.findall(text)))
