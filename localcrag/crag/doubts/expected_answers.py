"""Whether the evidence has anything of the kind that a question asks for: a number, a time or an address.

To a judge of relevance "the invoice is of 3 May" looks like an answer to "what does it cost?", since both are
about the invoice. Evidence without anything of the type of the answer (:mod:`.answer_types`) is a reason to
check it. It is none to withhold it: a word for a price that is not known here may be one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.doubts.answer_types import lacks_asked_type
from localcrag.crag.doubts.told_options import lacks_name_in_code
from localcrag.crag.questions.calendar_dates import dates_of, without_dates
from localcrag.crag.questions.query_terms import COUNTING_ELSE, IN_WORDS, stem
from localcrag.crag.refinement.strip_context import block_index, headings_above, lead_in, led_to
from localcrag.crag.refinement.strip_filter import near_best
from localcrag.languages import is_unspaced, language_of
from localcrag.types import Strip

NEAR_SHARE = 0.5
"""The share of the best strip's probability from which on another one may be shown beside it."""
_QUANTITY_ASKED = re.compile(
    r"(?:by|until|till|since|from) when\b|how (?:many|much|long|old|often|far|high|heavy|deep|wide)\b"
    r"|(?:at|from|until|by|before) what (?:time|age|date|temperature)\b|(?:in )?(?:what|which) year\b",
    re.IGNORECASE,
)
"""How a question begins that asks for a number or a time."""
_TIME_WORDS = (
    r"until|forever|noon|midnight|midday|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april"
    r"|may|june|july|august|september|october|november|december|today|tomorrow|spring|summer|autumn|winter|easter"
    r"|christmas|daily|hourly|weekly|monthly|yearly|annual(?:ly)?|never|always"
)
_QUANTITY = re.compile(
    rf"\d|\b(?:{'|'.join(IN_WORDS)}|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand"
    r"|million|half|quarter|dozen|once|twice|thrice|no|none|nothing|nobody|free|every|each|all|any|several|few"
    rf"|many|most|unlimited|{_TIME_WORDS})\b",
    re.IGNORECASE,
)
"""A number, or a word for how much, how often or when."""
_TIME = re.compile(
    rf"\b(?:{_TIME_WORDS}|\d{{1,2}}[:.h]\d\d|\d{{1,2}} ?(?:am|pm|Uhr)|(?:19|20)\d\d"
    r"|(?:minute|hour|day|week|month|year)s?)\b",
    re.IGNORECASE,
)
"""A time, a day, a year, or a word for one."""
_WHEN_ASKED = re.compile(
    r"¿?(?:(?:ab|bis|seit|depuis|jusqu['’]à|desde|hasta|da|fino a) )?(?:when|wann|quand|quando|cuándo)\b"
    r"(?!.*\b(?:and|und|et|e|y) )",
    re.IGNORECASE,
)
"""How a question begins that asks when something is, and nothing else."""
_TELLS_WHEN = re.compile(
    rf"{_TIME.pattern}|(?<![\d.])[12]\d\d\d\b|\d(?:\d|[.,:/-])*\s?(?:h|s|min|ms|d|Std)\b|['’]\d\ds?\b"
    r"|\b(?:if|when(?:ever)?|once|while|during|before|after|as soon as|unless|as long as|except|each|every"
    r"|upon|seconds?|quarters?|decades?|century|centuries|terms?|semesters?|seasons?|nights?|mornings?|evenings?"
    r"|afternoons?|weekends?|holidays?|start|end|begin\w*|now|soon|later|ago|immediately|yet|on request"
    r"|wenn|sobald|falls|während|bevor|nachdem|solange|(?:vor|nach|bei|beim) (?:de[mnr]|ein\w*|\d+)"
    r"|ab|bis|seit|immer|nie|sofort|jeweils"
    r"|täglich|\w+tags?|Woche\w*|Monat\w*|Jahr\w*|Stunde\w*|Minute\w*|Frühjahr|Sommer|Herbst|Winter"
    r"|lorsque?|quand|si|dès|avant|après|pendant|jusqu\w*|jours?|semaines?|mois|ans|années?|heures?"
    r"|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|printemps|automne|hiver|jamais|toujours"
    r"|quando|cuando|se|si|appena|prima|dopo|durante|entro|fino|antes|después|hasta|desde|mientras|subito|inmediat\w+"
    r"|giorn[oi]|settiman[ae]|mes[ei]|ann[oi]|or[ae]|días?|semanas?|mes(?:es)?|años?|horas?|minut[oi]s?|ogni|cada"
    r"|luned[ìi]|marted[ìi]|mercoled[ìi]|gioved[ìi]|venerd[ìi]|sabato|domenica|lunes|martes|miércoles|jueves|viernes"
    r"|sábado|domingo|primavera|estate|autunno|inverno|verano|otoño|invierno|mai|sempre|nunca|siempre)\b",
    re.IGNORECASE,
)
"""A time, or a word with which one is told, be it the condition under which something happens."""
_LANGUAGES_OF_WHEN = frozenset({"en", "de", "fr", "it", "es"})
"""The languages of these words."""
_TIME_ASKED_TOO = re.compile(
    r"\band (?:(?:by|until|since|from) )?(?:when|on (?:what|which) (?:day|date))\W*$", re.IGNORECASE
)
"""How a question ends that asks for a time as well: "What is due, and by when?"."""
_DAY_ASKED = re.compile(
    r"(?:and )?(?:on|since|until|by|from) (?:what|which) (?:day|date|weekday)s?\b"
    r"|what (?:day|date) (?:is|was|were|are|did|does|do|will)\b|an welchem tag\b|quel jour\b",
    re.IGNORECASE,
)
"""How a question begins that asks for a day."""
_DONE_ASKED = re.compile(r"\b(?:when|on (?:what|which) (?:day|date)) did\b(?P<what>[^?.!]*)", re.IGNORECASE)
"""How a question asks when something was done."""
_TO_BE_DONE = re.compile(
    r"\b(?:please|kindly|must|shall|should|(?:has|have|is|are) to)(?: be)? (?P<what>[^\W\d_]+)", re.IGNORECASE
)
"""What a text asks for, or says is to be done."""
_WORD = re.compile(r"[^\W\d_]+")
_COUNT_ASKED = re.compile(r"(?:and |so )?how many\b", re.IGNORECASE)
_COUNT_ASKED_ELSE = re.compile(rf"¿?(?:und )?{COUNTING_ELSE}(?! ?euros?\b)", re.IGNORECASE)
"""How a question begins that counts: in English; in German, French, Spanish, Italian."""
_NUMBER = re.compile(r"\d+")
_NO_COUNT = re.compile(
    r"\b\d{1,2}[:.h]\d\d\b(?! ?%)|(?<![\d.,])(?:19[5-9]\d|20(?!00)[0-4]\d)(?![\d.,]*\d)"
    r"|(?:^|· )(?:no|nr|id|item|pos)\.?: [^·\n]+",
    re.IGNORECASE | re.MULTILINE,
)
"""A time of day, a year, or the number of a row, which count nothing."""
_MONEY = re.compile(
    r"[€$£] ?\d[\d.,]*|(?<![\d.,])\d[\d.,]* ?(?:[€$£]|(?:euros?|eur|usd|gbp|chf|dollars?|dólares|pounds?"
    r"|francs?|franken)\b)",
    re.IGNORECASE,
)
"""A sum of money, which counts no things."""
_UNITS_ASKED = re.compile(
    r"\bhow many (?:(?:milli)?seconds|minutes|hours|days|weeks|months|years|met(?:re|er)s|kilomet(?:re|er)s"
    r"|miles|feet|inches|grams|kilos|kilograms|lit(?:re|er)s|euros|dollars|pounds|francs|per ?cent|degrees"
    r"|(?:kilo|mega)?bytes)\b",
    re.IGNORECASE,
)
"""How a question asks for a number of units."""
_AMOUNT = re.compile(
    rf"\d|\b(?:{'|'.join(IN_WORDS)}|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand"
    r"|million|half|quarter|dozen|once|twice|zero|none|nothing|unlimited|forever|fortnight|daily|weekly|monthly"
    r"|yearly|(?:an?|per) (?:second|minute|hour|day|week|month|year|met(?:re|er)|mile|foot|kilo|lit(?:re|er)"
    r"|euro|dollar|pound|byte))\b",
    re.IGNORECASE,
)
"""A number, in figures or words, also of one unit: "a week"."""
_ASKER_ASKED = re.compile(
    r"\bwho (?:has |had |first )?(?:asked|asks|wondered|inquired|wanted to know)\b", re.I
)
_ASKS = re.compile(
    r"\?|\b(?:ask|wonder|whether|inquir|want to know|could you|would you|please)", re.IGNORECASE
)
"""How a text asks something, which is whoever asked it."""


def asks_for_units(question: str) -> bool:
    """Whether a question asks for a number of units: "how many days", "how many litres"."""
    return _UNITS_ASKED.search(question) is not None


def lacks_expected(question: str, kept: Sequence[Strip]) -> bool:
    """Whether a question asks for something of a type of which the strips near the best one have nothing.

    A strip is read with its block, its headings and what it leads to, as it is shown with them.

    Args:
        question: the question.
        kept: the strips that may be shown, with their probabilities as scores.
    """
    if not kept:
        return False
    if lacks_quantity(question, kept):
        return True
    near = near_best(kept, NEAR_SHARE)
    if asks_for_units(question) and not any(map(_tells_amount, near)):
        return True
    if _DAY_ASKED.match(question.strip()) and not any(map(_tells_when, near)):
        return True
    told, headings = ("\n".join(map(each, near)) for each in (_shown_text, headings_above))
    if _ASKER_ASKED.search(question) and not _ASKS.search(told):
        return True
    if lacks_name_in_code(question, f"{headings}\n{told}", near):
        return True
    return lacks_asked_type(question, told, headings) or _is_only_to_be_done(question, told)


def lacks_quantity(question: str, kept: Sequence[Strip]) -> bool:
    """Whether a question asks for a number or a time, and no strip has one, nor a heading of it a date.

    "By when is it to be paid?" is not told by the row with the name of whoever pays, and "What is due, and by
    when?" not by the amount alone.
    """
    if not kept:
        return False
    if _TIME_ASKED_TOO.search(question) and not any(_tells_time(strip) for strip in kept):
        return True
    if _WHEN_ASKED.match(question.strip()):
        return not any(map(_tells_when, near_best(kept, NEAR_SHARE)))
    if _COUNT_ASKED_ELSE.match(question.strip()):
        return _tells_sums_alone(near_best(kept, NEAR_SHARE))
    if _QUANTITY_ASKED.match(question.strip()) is None:
        return False
    if _COUNT_ASKED.match(question.strip()):
        return not any(
            _tells_count(_shown_text(strip), question) or dates_of(headings_above(strip)) for strip in kept
        )
    return not any(_QUANTITY.search(strip.text) or dates_of(headings_above(strip)) for strip in kept)


def _tells_sums_alone(kept: Sequence[Strip]) -> bool:
    """Whether all figures of strips are of money, days or times: in words there may be others."""
    told = "\n".join(strip.text for strip in kept)
    bare = _NO_COUNT.sub(" ", without_dates(_MONEY.sub(" ", told)))
    return _NUMBER.search(told) is not None and _NUMBER.search(bare) is None


def _tells_count(text: str, question: str) -> bool:
    """Whether a text has a number that is no date, time or one of the question, or a word for one.

    Sums of money count nothing, unless units are asked for.
    """
    bare = _NO_COUNT.sub(" ", without_dates(text if asks_for_units(question) else _MONEY.sub(" ", text)))
    asked = set(_NUMBER.findall(question))
    return _QUANTITY.search(_NUMBER.sub(lambda n: " " if n[0] in asked else n[0], bare)) is not None


def _tells_amount(strip: Strip) -> bool:
    """Whether a strip has a number, or what stands beside it in a list or leads in to it."""
    lead = lead_in(strip)
    told = (strip, *([lead] if lead else []), *led_to(strip))
    return any(_AMOUNT.search(each.text) for each in told) or bool(dates_of(headings_above(strip)))


def _tells_time(strip: Strip) -> bool:
    """Whether a strip or a heading above it has a time."""
    text = f"{headings_above(strip)} {strip.text}"
    return bool(_TIME.search(text) or dates_of(text))


def _tells_when(strip: Strip) -> bool:
    """Whether a strip or a heading above it tells when, by a time or by a condition; code and others may."""
    text = f"{headings_above(strip)} {strip.text}"
    is_told = _TELLS_WHEN.search(text) is not None or bool(dates_of(text))
    return is_told or is_unspaced(text) or language_of(text) not in _LANGUAGES_OF_WHEN


def _shown_text(strip: Strip) -> str:
    """A strip with its block, what leads in to it and what it leads to."""
    at, passage = block_index(strip), strip.passage
    block = passage.text_between(passage.blocks[at].start, passage.blocks[at].end) if at >= 0 else ""
    lead = lead_in(strip)
    led = (each.text for each in led_to(strip))
    return "\n".join((lead.text if lead else "", block, strip.text, *led))


def _is_only_to_be_done(question: str, text: str) -> bool:
    """Whether a question asks when something was done, and a text only says that it is to be done.

    "When did they pay?" is not told by "please pay by 3 May".
    """
    asked = _DONE_ASKED.search(question)
    if asked is None:
        return False
    wanted = set(map(stem, _WORD.findall(asked["what"])))
    asked_for = [stem(match["what"]) for match in _TO_BE_DONE.finditer(text)]
    words = list(map(stem, _WORD.findall(text)))
    return any(asked_for.count(verb) == words.count(verb) for verb in wanted & set(asked_for))
