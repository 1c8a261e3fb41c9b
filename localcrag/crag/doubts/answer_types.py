"""The type of answer that a question expects, and whether a text has anything of that type.

Questions tell what kind of answer they want (Li and Roth 2002, "Learning Question Classifiers"): an amount of
money, the time of a day, a telephone number, an address, a code. Each type has the words with which it is
asked for and the form in which it is told. The words must ask for it ("What is the PIN?") and not only name
it ("What happens after three wrong PINs?"); the forms are wide, since a text that has something of the form
is not doubted for it. English, German, French and Spanish words are known; what other languages ask for is
of no type here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from localcrag.crag.questions.calendar_dates import without_dates
from localcrag.crag.questions.query_terms import IN_WORDS, OPENING_WORDS, content_words, stem, terms
from localcrag.crag.refinement.strip_kinds import cells_in, named_cell
from localcrag.types import CELL_SEPARATOR

_NUMBER_WORDS = "|".join(IN_WORDS)
_CLOCK = r"\d{1,2}[:.h]\d\d(?!\d)"
_SENTENCE = re.compile(r"[^.?!\n]+(?:[.](?=\w)[^.?!\n]+)*[?!.]*")
_DIGITS = re.compile(r"\d+")
_OF_NO_QUESTION = "|".join(sorted(OPENING_WORDS - {"what", "which"}))
_BETWEEN = (
    r"(?: (?!with|about|if|of|in|on|for|does|do|did|happens?|to|should|must|can|could|changed|wrong)"
    r"[\w'’-]+){0,4}?"
)
"""Words between "what is" and the noun that it asks for."""
_PRICE = r"(?:price|rent|fee|fare|salary|wages?|toll)s?\b"
_MONEY_ASKED = re.compile(
    r"\bhow much (?:money|cash|rent)\b|\bhow expensive\b|\bat (?:what|which) price\b|\bwhat price\b"
    r"|\bwhat (?:would|will|does|do|did) [\w'’-]+(?: [\w'’-]+)? (?:take|ask) for"
    r" (?:an?|the|it|this|that|his|her|its|their|our|my|your)\b"
    r"|\b(?:what|how much)(?: extra| more)? (?:do|does|did|will|would|must|should|can|could|have|has|had)\b"
    r"(?! been)[^.?!]*?"
    r"(?:(?<!the )(?<!of )\bcost\b(?! (?:cent|code|type|plan|item|down|up))"
    r"|(?<!the )(?<!a )\b(?:pay|paid|charged?|earn)\b(?! (?:with|by|attention)\b)(?! for\W*$))"
    rf"|\b(?:what|how high)(?:['’]s| is| was| are| were| will)\b{_BETWEEN} {_PRICE}"
    r"(?! (?:list|range|class|group|rise|increase|reduction|paid|called)\b)(?! for\W*$)"
    r"|\b(?:was|wie ?viel) (?:kostete?n?|muss .* zahlen)\b|\bwie teuer\b"
    r"|\bwie hoch (?:ist|sind|war|waren) (?:der|die) [\w-]*(?:preis|miete|gebühr|kosten)\w*"
    r"|\bcombien (?:coûte|coute|faut-il payer|dois-je payer)"
    r"|\bquel (?:est|sera|était) le (?:prix|tarif|loyer)\b"
    r"|\bcuánto (?:cuesta|hay que pagar)\b",
    re.IGNORECASE,
)
_MONEY_WORD = (
    r"(?:prices?|costs?|cost|pays?|paid|payable|fees?|rents?|fares?|charges?|charged|worth|budget|amounts?|totals?"
    r"|sum|bills?|invoiced?|salary|wages?|offer|preis\w*|\w*kosten|kostet|betrag|gebühr\w*|miete|prix|coûte|loyer"
    r"|montant|precio|cuesta|net|netto|gross|brutto|tax|vat)"
)
_MONEY_TOLD = re.compile(
    r"[€$£¥₹%]|\b(?:eur|usd|gbp|chf|euros?|dollars?|pounds?|pence|cents?|francs?|franken|kr|kronor|yen|pesos?"
    r"|zł|pln|free|gratis|nothing|none|(?:no|without|extra) (?:extra )?(?:charge|cost|fee)|included|waived"
    r"|half|a third|double|kostenlos|umsonst|gratuit\w*|inclus\w*|inbegriffen)\b"
    r"|\d[.,]\d\d(?![\d:])(?!\.\d)(?!\s?(?:[cmk]?m|k?g|[cm]?l|t|k?W|V|A|h|°)\w?\b)"
    r"|\d[.,]-|\d{1,3}(?:[.,' ]\d{3})+(?!\d)"
    rf"|\b{_MONEY_WORD}\b[^\n]{{0,40}}?(?<![\d.,-])\d[\d.,]*k?"
    r"(?=\W*$|\s*[·|,;.)(/–-]|\W+(?:per|pro|par|la|le|die|der|das|im|an?|each|for|to|and|or|if|in|on|at|until|from"
    r"|instead|more|less|by|was)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_NUMERIC_CELL = re.compile(
    r"(?:^|· )(?!(?:no|nr|num|number|id|item|pos|place|rank|row|line|page|week|year|days?|hours?|code|ref)\b"
    r"|[^·:\n]*[(\[](?:h|hrs?|hours|min|minutes|s|days|kg|g|t|km|m|cm|mm|l|ml|m²|ha|kwh|w|v|°c|%|pcs)[)\]]: )"
    r"[^·:\n]+: [+-]?\d[\d.,' ]*(?= ·|\n|$)",
    re.IGNORECASE,
)
"""A cell of a row that is nothing but a number, neither that of the row nor one in a unit of other things."""
_PHONE = (
    r"(?:(?:phone|telephone|mobile|cell|fax|extension|hotline|emergency) (?:numbers?|no\.)"
    r"|number to (?:ring|call|dial|phone))"
)
_PHONE_ASKED_TOO = re.compile(
    r"\b(?:what|which) number (?:do|can|should|must|shall) \w+ (?:ring|call|dial|phone)\b"
    r"|\bunter welcher (?:telefon)?nummer\b|\bwie (?:ist|lautet) die (?:telefon|handy|fax)nummer\b"
    r"|\bquel est le numéro de téléphone\b|\bcuál es el (?:número de )?teléfono\b",
    re.IGNORECASE,
)
_PHONE_TOLD = re.compile(
    r"(?<![\w.,:-])(?:\+|\(?0)?\d(?:[ ()/.–-]{0,2}\d){2,}(?![\d.,]*\d)"
    r"(?!\s?(?:%|[€$£°]|[^\W\d_]{1,3}\b(?<!or)))"
    r"|\b(?:ext(?:ension)?|durchwahl|poste|dial|press)\.? ?[*#\d]|[*#]\d"
)
_FAX_ASKED = re.compile(r"\b(?:tele)?fax(?:nummer| numbers?| no\.)", re.IGNORECASE)
_FAX_TOLD = re.compile(r"fax", re.IGNORECASE)
_RELEASE_ASKED = re.compile(
    r"^(?:(?:in|with|since|from) )?(?:which|what) (?:[\w.+-]+ ){0,2}(?:release|version)\b", re.IGNORECASE
)
_RELEASE_TOLD = re.compile(r"(?<![\w.,-])v?\d+(?:\.\d+)*(?![\w-])")
_MEASURE_ASKED = re.compile(
    r"\b(?:what|which|qué|quelle?|welche[rsn]?|quale|qual) (?:[\w-]+ )?"
    r"(?:voltage|temperature|pressure|percentage|speed|distance"
    r"|voltaje|tensión|temperatura|presión|porcentaje|velocidad|distancia|tension|température|pression|vitesse"
    r"|spannung|temperatur|geschwindigkeit|entfernung|tensione|pressione)\b",
    re.IGNORECASE,
)
_MAIL = r"(?:e-?mail[ -]address(?:es)?|mail address)"
_MAIL_TOLD = re.compile(r"\S@\S|\(at\)|\bat [\w.-]+ dot\b")
_WEB = r"(?:(?:web|internet)[ -]?(?:address|site)|url|ip(?:v[46])? address|mac address)"
_WEB_TOLD = re.compile(
    r"https?:|www\.|[\w-]\.[a-z]{2,}\b|\d+\.\d+\.\d+|(?:[0-9a-f]{2}[:-]){2}|[0-9a-f]*::", re.IGNORECASE
)
_ADDRESS = r"(?:(?:postal |street |home |delivery )?address)"
_ADDRESS_TOLD = re.compile(
    r"\d|@|\w\.[a-z]{2,}\b|\b(?:Street|Road|Lane|Square|Avenue|Way|Path|Hill|Row|Place|Court|Drive|Park|Quay|Wharf|Farm|House"
    r"|Rd|St|Ave|Box)\b|(?:stra(?:ß|ss)e|str\.|weg|platz|gasse|allee)\b|\b(?:rue|avenue|place|calle|plaza)\b"
)
_PIN = r"(?:(?-i:PIN)|(?:door|access|entry|alarm|gate|key|lock|unlock|safe|pin)[ -]codes?|passcode)"
_PIN_TOLD = re.compile(r"(?<![\w.,:/-])[A-Z0-9]*\d(?:[ -]?[A-Z0-9]){2,}(?![\w.,:/-]*\d)|\bcode \d")
_PASSWORD = r"(?:passwords?|passphrase)"
_PASSWORD_TOLD = re.compile(
    r"[\"“„«'‘`]\w[^\s]{2,}|\S*(?:[A-Za-z]\d|\d[A-Za-z])\S*|[=:] ?\S"
    r"|\b(?:password|passphrase) (?:is|was|remains) (?!(?:with|in|at|on|kept|known|stored|written|by|from"
    r"|to|the|not|a|an|set|changed|required|hidden|needed|asked|given|sent|wrong)\b)\S",
    re.IGNORECASE,
)
_PASSWORD_NAMED = re.compile(
    rf"\W*(?!(?:{_OF_NO_QUESTION}|forgot\w*|lost|reset\w*|chang\w+|set\w*|wrong|new|expired|my)\b)"
    rf"(?:[\w.-]+ ){{0,2}}{_PASSWORD}(?: (?:of|for|to))?(?: [\w.-]+){{1,2}}\W*",
    re.IGNORECASE,
)
"""A search line that is a password's name and no more: "wifi password guest-net"."""
_ABOUT_PASSWORDS = re.compile(
    rf"{_PASSWORD} (?:rules?|polic\w+|length|manager|change\w*|reset|expir\w+|protection|hash\w*|file|prompt"
    r"|store)",
    re.IGNORECASE,
)
_PASSWORD_BESIDE = re.compile(
    r"[\"“„«'‘`]\w[^\s]{2,}|\b(?:passwords?|passphrase|pass|pw|psk|key)\b[^\n·]{0,20}?(?:[:=]|\bis\b) ?\S",
    re.IGNORECASE,
)
"""A password in quotation marks or behind the word for it; other cells of a row tell none."""
_WEIGHT_ASKED = re.compile(
    r"\bhow heavy\b(?! (?:is the )?(?:traffic|rain|load))"
    r"|\bhow much (?:do|does|did|will) [^.?!]*\bweigh\b"
    r"|\bwhat (?:do|does|did) [^.?!]*\bweigh\b|\bwhat(?:['’]s| is| was) the weight\b"
    r"|\bwie schwer (?:ist|sind|war)\b",
    re.IGNORECASE,
)
_WEIGHT_TOLD = re.compile(
    rf"(?:\d|\b(?:{_NUMBER_WORDS}|half|an?|hundred|thousand)) ?-?(?:kgs?|g|mg|t|lbs?|oz|kilos?|kilograms?"
    r"|grams?|tons?|tonnes?|pounds?|ounces?|stones?|hundredweights?|kilogramm|gramm|tonnen?|pfund)\b"
    r"|\b(?:weigh\w*|weight\w*|mass|gewicht\w*)\b[^\n]{0,30}?\d|\b(?:as heavy as|weightless)\b",
    re.IGNORECASE,
)
_HOUR_ASKED = re.compile(
    r"\b(?:at|from|until|till|by|before) (?:what|which) (?:time|hour)s?\b"
    r"|(?<!within )(?<!after )\bwhat time (?:is|are|do|does|did|can|will|was|must|should)\b"
    r"|\bum wie ?viel uhr\b|\b(?:à|a) quelle heure\b|\ba qué hora\b",
    re.IGNORECASE,
)
_HOUR_TOLD = re.compile(
    rf"{_CLOCK}|\b\d{{1,2}} ?(?:am|pm|a\.m|p\.m|o['’]?clock|uhr|h|heures?|hrs?)\b|\b(?:\d{{4}}) (?:h|hours)\b"
    rf"|\b(?:{_NUMBER_WORDS}|half past \w+|quarter (?:to|past) \w+)"
    r" (?:o['’]?clock|in the (?:morning|evening|afternoon)|uhr)\b"
    r"|\b(?:noon|midnight|midday|dawn|dusk|sunrise|sunset|dark|mornings?|evenings?|afternoons?|nights?|daily"
    r"|always|any ?time|hour|hourly|half past|quarter (?:to|past)|mittags?|mitternacht"
    r"|morgens|abends|nachts|midi|minuit|matin|soir|nuit|mediodía|medianoche|if|when|once|before|after"
    r"|as soon as|as long as|never)\b"
    rf"|\b(?:at|from|until|till|by|before|after|to|and|um|von|bis)"
    rf" (?:\d{{1,2}}|{_NUMBER_WORDS})\b(?![.,]?\d)",
    re.IGNORECASE,
)
_HOURS_ASKED = re.compile(r"\b(?:at|from|until|by) (?:what|which) (?:times|hours)\b", re.IGNORECASE)
_BIRTH_ASKED = re.compile(
    r"\b(?:when|where|(?:what|which) (?:day|date|year)) (?:was|were)\b[^?.!]*\bborn\b", re.IGNORECASE
)
_BIRTH_TOLD = re.compile(
    r"\bborn\b|birth|\bb\.|\*|\bbaptised|\bnée?\b|\bgeb(?:oren)?\b|\bnat[ao]\b|\bnacid[ao]\b", re.IGNORECASE
)
_BOTH_ASKED = re.compile(
    r"\bboth (?:numbers|figures|values|prices|dates|times|amounts|shares|sums|temperatures)\b"
    r"|\bfrom what (?:[\w-]+ )?to what\b|\bfrom when (?:un)?till? when\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(rf"\d+(?:[.,:/]\d+)*|\b(?:{_NUMBER_WORDS})\b", re.IGNORECASE)
_WHO_ASKED = re.compile(r"^(?:and |so |but )?(?:who|whom|whose)\b", re.IGNORECASE)
_MAKER_ASKED = re.compile(
    r"^(?:and |so |but )?who (?:built|made|painted|drew|wrote|designed|composed|invented|founded|discovered"
    r"|donated|restored|repaired|carved|printed|published|recorded|translated|won|lost|scored|led|coached|trained"
    r"|taught|signed|approved|paid)\b",
    re.IGNORECASE,
)
_MAKER_TOLD = re.compile(r"\D*[A-ZÀ-Þ]\D*")
"""A cell of a row that may be somebody's name: without a digit, and with a capital letter."""
_FULL_NAME = re.compile(r"[A-ZÀ-Þ][\w.'’-]* [A-ZÀ-Þ][\w'’-]+")
_FIRM_ASKED = re.compile(
    r"\b(?:which|what) (?:[\w-]+ )?(?:firm|company|supplier|carrier|contractor|vendor|manufacturer|maker"
    r"|dealer|insurer|airline|publisher)\b"
    r"(?! (?:do|does|did|should|must|can|has to|have to) (?:i|we|you|one)\b)",
    re.IGNORECASE,
)
_NAME = re.compile(
    r"(?<=[\w,;:'’)\]·—–-] )[A-ZÀ-Þ][\w&'’.-]*"
    r"|(?:(?<=\n)|(?<=[.!?] ))[A-ZÀ-Þ][\w&'’-]*(?![\w&'’-]| (?:of|on|in|at|by|with|for|from|to|under|over)\b)"
)
"""A word with a capital letter: within a sentence, or at the start of one but not before a preposition."""
_TIME_WORD = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|days?|weeks?|months?|years?|hours?|minutes?|today|tomorrow|spring|summer|autumn"
    r"|winter",
    re.IGNORECASE,
)
_MIN_SHARED_LETTERS = 4
"""The letters from which on a word that begins as one of the question does is taken to be a form of it."""


@dataclass(frozen=True, slots=True)
class _AnswerType:
    """A type of answer: whether a question asks for it, and whether a text tells one."""

    is_asked: Callable[[str], bool]
    is_told: Callable[[str, str], bool]


def lacks_asked_type(question: str, text: str, headings: str = "") -> bool:
    """Whether a question asks for something of a known type, and a text has nothing of the form of it.

    Args:
        question: the question.
        text: the evidence.
        headings: the headings that it stands below. Someone is named there by two words with capital letters.
    """
    if _WHO_ASKED.search(question) and not _tells_of_others(text, question):
        return not any(_tells_of_others(name, question) for name in _FULL_NAME.findall(headings))
    if _MAKER_ASKED.search(question) and CELL_SEPARATOR in text:
        values = (value for name, value in map(named_cell, cells_in(text)) if name)
        return not any(_MAKER_TOLD.fullmatch(value) and _tells_of_others(value, question) for value in values)
    told = f"{headings}\n{text}"
    return any(kind.is_asked(question) and not kind.is_told(told, question) for kind in _TYPES)


def _asks_by(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda question: pattern.search(question) is not None


def _asks_for(noun: str) -> Callable[[str], bool]:
    """Whether a question asks for what a noun names: "What is the PIN?", "Next number to ring?".

    So does a search line that begins with it: "gate code of the car park".
    """
    with_pronoun = re.compile(
        rf"\b(?:what|which)(?:['’]s| is| are| was| were)?{_BETWEEN} {noun}(?!\w)", re.IGNORECASE
    )
    alone = re.compile(
        rf"\W*(?!(?:{_OF_NO_QUESTION})\b)(?:(?!{noun})[\w'’-]+ ){{0,2}}{noun}"
        rf"(?: (?:of|for|to|in|at|from) [^?.!]*)?\?|\W*{noun} (?:of|for) [^?.!]*",
        re.IGNORECASE,
    )

    def is_asked(question: str) -> bool:
        said = (match[0].strip() for match in _SENTENCE.finditer(question))
        return any(with_pronoun.search(each) or alone.fullmatch(each) for each in said)

    return is_asked


def _names_password(question: str) -> bool:
    """Whether a search line is a password's name, and not a matter of passwords."""
    return _PASSWORD_NAMED.fullmatch(question) is not None and _ABOUT_PASSWORDS.search(question) is None


def _has(pattern: re.Pattern[str]) -> Callable[[str, str], bool]:
    return lambda text, question: pattern.search(text) is not None


def _has_new(pattern: re.Pattern[str]) -> Callable[[str, str], bool]:
    """Whether a text has a match without the dates and times in it, and with figures the question has not."""

    def is_told(text: str, question: str) -> bool:
        asked = set(_DIGITS.findall(question))
        bare = re.sub(_CLOCK, " ", without_dates(text))
        return any(
            not (own := _DIGITS.findall(match[0])) or not asked.issuperset(own)
            for match in pattern.finditer(bare)
        )

    return is_told


def _tells_money(text: str, question: str) -> bool:
    """Whether a text tells an amount: by its currency, its form, the words around it, or as a bare cell."""
    bare = without_dates(text)
    return _MONEY_TOLD.search(bare) is not None or _NUMERIC_CELL.search(bare) is not None


def _tells_several_hours(text: str, question: str) -> bool:
    """Whether a text has two times of a day, or tells them in words."""
    found = {match[0].casefold() for match in _HOUR_TOLD.finditer(text)}
    return len(found) > 1 or any(not _DIGITS.search(each) for each in found)


def _tells_release(text: str, question: str) -> bool:
    """Whether a text has a number by itself, or one of several parts, that the question has not."""
    return any(match[0] not in question for match in _RELEASE_TOLD.finditer(text))


def _tells_several_figures(text: str, question: str) -> bool:
    """Whether a text has two different numbers."""
    return len(set(_figures(text))) > 1


def _figures(text: str) -> Iterator[str]:
    return (match[0].casefold() for match in _FIGURE.finditer(text))


def _tells_name(text: str, question: str) -> bool:
    """Whether a text has a word with a capital letter that is not in the question, and is no time."""
    asked = terms(question)
    return any(terms(name) - asked for name in _NAME.findall(f"\n{text}") if not _TIME_WORD.fullmatch(name))


def _tells_of_others(text: str, question: str) -> bool:
    """Whether a text has a word for someone: one that is in the question in no form, and is no time."""
    asked = terms(question)
    words = (word for word in content_words(text) if any(map(str.isalpha, word)))
    new = (word for word in words if word.casefold() not in IN_WORDS and not _TIME_WORD.fullmatch(word))
    return any(stem(word) not in asked and not _is_form_of(stem(word), asked) for word in new)


def _is_form_of(word: str, asked: set[str]) -> bool:
    """Whether a word begins with a term, or a term with it, as "drawn" begins with "draw"."""
    alike = (min(len(word), len(term)) for term in asked if word.startswith(term) or term.startswith(word))
    return any(shared >= _MIN_SHARED_LETTERS for shared in alike)


_TYPES = (
    _AnswerType(_asks_by(_MONEY_ASKED), _tells_money),
    _AnswerType(_asks_for(_PHONE), _has_new(_PHONE_TOLD)),
    _AnswerType(_asks_by(_PHONE_ASKED_TOO), _has_new(_PHONE_TOLD)),
    _AnswerType(_asks_by(_FAX_ASKED), _has(_FAX_TOLD)),
    _AnswerType(_asks_by(_RELEASE_ASKED), _tells_release),
    _AnswerType(_asks_by(_MEASURE_ASKED), _has(_FIGURE)),
    _AnswerType(_asks_for(_MAIL), _has(_MAIL_TOLD)),
    _AnswerType(_asks_for(_WEB), _has(_WEB_TOLD)),
    _AnswerType(_asks_for(_ADDRESS), _has(_ADDRESS_TOLD)),
    _AnswerType(_asks_for(_PIN), _has_new(_PIN_TOLD)),
    _AnswerType(_asks_for(_PASSWORD), _has(_PASSWORD_TOLD)),
    _AnswerType(_names_password, _has(_PASSWORD_BESIDE)),
    _AnswerType(_asks_by(_WEIGHT_ASKED), _has(_WEIGHT_TOLD)),
    _AnswerType(_asks_by(_HOUR_ASKED), _has(_HOUR_TOLD)),
    _AnswerType(_asks_by(_HOURS_ASKED), _tells_several_hours),
    _AnswerType(_asks_by(_BIRTH_ASKED), _has(_BIRTH_TOLD)),
    _AnswerType(_asks_by(_BOTH_ASKED), _tells_several_figures),
    _AnswerType(_asks_by(_FIRM_ASKED), _tells_name),
)
"""The types of answers, in the order in which they are tried."""
