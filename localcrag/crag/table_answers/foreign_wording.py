"""Questions over a table in other languages than English: put into English, or only known to go over it."""

from __future__ import annotations

import re

from localcrag.crag.table_answers.french_wording import FRENCH
from localcrag.crag.table_answers.german_wording import GERMAN
from localcrag.crag.table_answers.spanish_wording import SPANISH
from localcrag.languages import language_of

_KNOWN = frozenset({"en", "de", "fr", "es"})

_OVER_ROWS = re.compile(
    r"\b(?:le|la|les) (?:plus|moins)\b|\bcombien (?:de (?!temps\b)|d['’])|\ben moyenne\b|\bau total\b"
    r"|\b(?:el|la|los|las)(?: [^\W\d]+)? (?:más|menos|mayor(?:es)?|menor(?:es)?)\b"
    r"|\bcuánt[oa]s\b.*\bhay\b|\ben (?:total|promedio)\b"
    r"|\b(?:il|la|lo|i|gli|le)(?: [^\W\d]+)? (?:più|meno)\b|\bquant[ei] .*\bci sono\b|\bin media\b"
    r"|\bсам(?:ый|ая|ое|ые|ого|ой|ых)\b|\b(?:больше|меньше) всего\b|\bв среднем\b"
    r"|\bсколько\b.*\b(?:всего|есть)\b"
    r"|最[多少高低贵貴大小长長短早晚新旧舊重轻輕快慢好]|最便宜|多少[种種个個家人项項款]|几[种个家项款]|[总總]共|一共|平均"
    r"|一番|最も|何(?:種類|個|人|件|つ)|いくつ|合計",
    re.IGNORECASE,
)
"""How a question goes over all rows of a table: in French, Spanish, Italian, Russian, Chinese, Japanese."""


def in_english(question: str) -> str:
    """A question with the German, French or Spanish words that ask and compare in English, or as it is."""
    for wording in (GERMAN, FRENCH, SPANISH):
        question = wording.in_english(question)
    return question


def asks_over_rows(question: str) -> bool:
    """Whether a question in another language asks for the most, for an average, or how many there are."""
    return _OVER_ROWS.search(question) is not None


def is_in_known_wording(question: str) -> bool:
    """Whether a question is in a language whose words for counting and comparing are known, or in none."""
    return language_of(question, "en") in _KNOWN
