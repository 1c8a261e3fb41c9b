"""Follow-up questions in German, French, Spanish, Italian, Dutch, Portuguese and Chinese, by their words.

They are of the same two kinds as in English (:mod:`.follow_ups`): "und für Kinder?" and "儿童呢?" continue
the question before them, and "was kostet sie?" takes up what it named. The words are few and certain; a
question that has none of them is taken to stand alone.
"""

from __future__ import annotations

import re
from itertools import takewhile

from localcrag.crag.questions.query_terms import STOP_WORDS, WORD_PATTERN, folded, is_english
from localcrag.languages import FUNCTION_WORDS, UNSPACED, is_unspaced

MAX_OWN_WORDS = 3
"""The most words of its own in a question that continues another one; with more it stands alone."""
_JOINING = frozenset(["und", "oder", "et", "ou", "y", "e", "o", "en", "of"])
"""Words for "and" and "or" that a question begins with if it continues the last one."""
_ABOUT = re.compile(
    r"^(?:(?:und|et|y|e|en)\s+)?(?:was ist mit|wie (?:sieht es|ist es|steht es) mit|qu['’]en est-il d\w*"
    r"|quid d\w*|[¿¡]?\s*qué (?:hay de|pasa con)|che (?:ne )?dici d\w*|hoe zit het met|e quanto a\w*)\b",
    re.IGNORECASE,
)
"""How "what about" is said."""
_ASKING = """
    was wer wem wen wessen wie wieviel wann wo woher wohin warum wieso weshalb welche welcher welches welchen
    welchem qui que quoi quand où comment combien pourquoi quel quelle quels quelles qué quién cuándo dónde
    cómo cuánto cuánta cuántos cuántas cuál cuáles chi che cosa quando dove come quanto quanta quanti quante
    perché quale quali wat wie waar wanneer waarom hoe hoeveel welk quem onde qual quais
"""
_QUESTION_WORDS = frozenset(_ASKING.split())
_BACK = """
    er ihn ihm ihr ihnen davon dafür dazu damit daran darin darauf daraus dabei deren dessen dort
    elle elles lui celui-ci celle-ci celui-là celle-là cela ça
    él ella ellos ellas eso esto allí ahí
    esso essa lei lui loro
    hij zij hem haar daarvan daarvoor ermee
    ele ela eles elas isso
"""
_PRONOUNS = frozenset(_BACK.split())
"""Words for what was named before, which are nothing else in any of the languages."""
_HYPHENATED = re.compile(r"-(?:t-)?(?:elle|elles|il|ils)$")
_IMPERSONAL = re.compile(r"\b(?:faut|semble|suffit|pleut|a-t|y a|possible|est)-(?:t-)?il\b", re.IGNORECASE)
_ARTICLE_WORDS = """
    der die das den dem des ein eine einen einem einer le la les un une el los las una il lo gli i de het o
    a os as
"""
_ARTICLES = frozenset(_ARTICLE_WORDS.split())
_PLACING = """
    für in im am an auf mit nach bei von vom zu zum zur ab bis seit vor unter über pour dans en à au aux avec
    sans de du des chez sur sous para con sin por al del per nel nella da di voor met bij van op aan em no na
"""
_PREPOSITIONS = frozenset(_PLACING.split())
_OTHERS = """
    ins beim am im ab bis seit vom zur zum è é
    ist sind war wird werden kann können könnte darf dürfen muss müssen soll sollen sollte hat habe haben gibt
    man ich wir sie es mein meine unser unsere auch noch dann denn bitte für über
    suis sont peut peut-on peux pouvons doit dois faut faut-il on je nous vous est-ce cest à c'est aussi a ont
    puede puedo pueden debe hay se es son está tiene también yo posso può deve si sono anche kan moet mag zijn
    pode deve há são também
"""
_OTHER_WORDS = frozenset(_OTHERS.split())
_FREQUENT = STOP_WORDS | FUNCTION_WORDS | _OTHER_WORDS | _QUESTION_WORDS | _PRONOUNS
_NOT_NAMING = _FREQUENT | _JOINING | _ARTICLES | _PREPOSITIONS
_CHINESE_CONTINUES = re.compile(r"^(?:那|那么|还有|其他|其它|另外|以及)|呢\s*[?？]?\s*$")
_CHINESE_REFERS = re.compile(r"[它他她]|这个|那个|这里|那里")
_CHINESE_ASKING = re.compile(
    r"是?多少[钱天个人年]?|是?什么时候|为?什么|怎么样?|怎样|哪[里儿些个]|是?谁|几[个天次]?|多[久长大高]|吗|呢|请问|是否|[?？。，,]"
)


def is_foreign(text: str) -> bool:
    """Whether a text has more words of other languages than of English; its language is not looked for."""
    if is_unspaced(text):
        return True
    if is_english(text):
        return False
    low = _low(text)
    if low[:1] in (["e"], ["o"]):
        return set(low[1:2]) <= _ARTICLES | _PREPOSITIONS | _QUESTION_WORDS
    back = {"sie", *_PRONOUNS}.intersection(WORD_PATTERN.findall(text)[1:])  # not in capitals, as names are
    return bool(back or FUNCTION_WORDS & set(low)) or low[:1] in (["und"], ["et"], ["y"])


def continues(text: str) -> bool:
    """Whether a question continues the one before it, as "und für Kinder?" does."""
    if is_unspaced(text):
        return _CHINESE_CONTINUES.search(text) is not None and len(text) <= 4 * MAX_OWN_WORDS
    if _ABOUT.match(text):
        return True
    words = WORD_PATTERN.findall(text)
    if len(words) < 2 or folded(words[0]) not in _JOINING or len(naming_words(text)) > MAX_OWN_WORDS:
        return False
    return folded(words[1]) not in _QUESTION_WORDS or len(naming_words(text)) < 2


def refers_back(text: str) -> bool:
    """Whether a question takes up what was named before, and names nothing before that itself."""
    if is_unspaced(text):
        return _CHINESE_REFERS.search(text) is not None
    words = WORD_PATTERN.findall(_IMPERSONAL.sub("", text))
    naming = set(naming_words(text))
    named = 0
    for at, word in enumerate(words):
        low = word if at else folded(word)
        if named <= 1 and (low in _PRONOUNS or word == "sie" or _HYPHENATED.search(low)):
            return True
        named += word in naming
    return not naming and bool(words)


def naming_words(text: str) -> list[str]:
    """The words of a text that are no frequent ones of its language; of Chinese the runs that ask nothing."""
    if is_unspaced(text):
        return [run for part in _CHINESE_ASKING.split(text) for run in UNSPACED.findall(part)]
    return [word for word in WORD_PATTERN.findall(text) if folded(word) not in _NOT_NAMING]


def topic_words(text: str) -> list[str]:
    """The words that name the topic of a question: its nouns in German, told by their capitals, else all."""
    found = naming_words(text)
    words = WORD_PATTERN.findall(text)
    nouns = [word for word in found if word[0].isupper() and word != words[0]]
    return nouns or found


def replaced_object(text: str, before: str) -> set[str]:
    """The words of the last question in whose place "and the X?" puts others: those behind its first article.

    They are folded. There are none if the text begins with no article, or a preposition stands before the
    article of the last question.
    """
    words = [word for word in WORD_PATTERN.findall(_ABOUT.sub("", text)) if folded(word) not in _JOINING]
    if not words or folded(words[0]) not in _ARTICLES:
        return set()
    low = _low(before)
    for at, word in enumerate(low):
        if word in _ARTICLES and (at == 0 or low[at - 1] not in _PREPOSITIONS):
            return set(takewhile(lambda each: each not in _NOT_NAMING, low[at + 1 :]))
    return set()


def _low(text: str) -> list[str]:
    """The words of a text, folded."""
    return [folded(word) for word in WORD_PATTERN.findall(text)]
