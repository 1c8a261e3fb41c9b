"""Questions over a table in German, in the words of English that :mod:`.table_questions` reads."""

from __future__ import annotations

import re

from localcrag.crag.table_answers.language_wording import LanguageWording

_ASKING = re.compile(
    r"(?:(?:gesamt)?summe|wie ?viele?|(?:[ai]n |[ai]m |bei |auf |zu )?welche[rsnm]?|wer|wann|wo"
    r"|was (?:ist|war|kostet|hat|haben)|wie (?:hoch|groß|lang|teuer)"
    r"|(?:[^\W\d_]+ ){1,2}(?:pro|je) (?!rata)[^\W\d_]+(?=\W*$))\b",
    re.IGNORECASE,
)
"""How a German question begins that goes over a table."""
_WORDINGS = tuple(
    (re.compile(rf"\b(?:{german})\b", re.IGNORECASE), english)
    for german, english in (
        (
            r"(?:wie ?viel prozent|welcher (?:prozentsatz|(?:prozentuale )?anteil)"
            r"|wie (?:hoch|groß) (?:ist|war) der (?:prozentsatz|(?:prozentuale )?anteil))"
            r" (?:der|des|aller|an den|an der|am)",
            "what percentage of the",
        ),
        (r"entfällt|entfallen|entfiel(?:en)?|geht|gehen|ging(?:en)?", "goes"),
        (r"wie (?:hoch|groß) (?:ist|sind|war|waren)", "what is"),
        (r"(?:gesamt)?summe", "total"),
        (r"wie ?viele", "how many"),
        (r"wie ?viel", "how much"),
        (r"welche[rsnm]?", "which"),
        (r"wer", "who"),
        (r"wann", "when"),
        (r"wo", "where"),
        (r"was", "what"),
        (r"(?:in|auf|am) lager", "in stock"),
        (r"gibt es", "are there"),
        (r"insgesamt|zusammen", "in total"),
        (r"(?:kommt|kommen|kam|kamen) am häufigsten(?: vor)?|am häufigsten vor", "occurs most often"),
        (r"(?:am )?häufigste[nrs]?", "most common"),
        (r"kommt|kommen|kam|kamen", "comes"),
        (r"verschiedenen?|unterschiedlichen?", "different"),
        (r"pro|je", "per"),
        (r"jede[rns]?", "each"),
        (r"einträge?n?|zeilen?", "entries"),
        (r"durchschnittlichen?|durchschnitt(?: der| von)?", "average"),
        (r"(?:am )?teuersten?|(?:am )?meisten kostet", "most expensive"),
        (r"(?:am )?(?:billigste|günstigste)n?", "cheapest"),
        (r"(?:am |die |den |das )?meisten?", "the most"),
        (r"(?:am |die |den |das )?wenigsten?", "the fewest"),
        (r"(?:am )?höchsten?", "highest"),
        (r"(?:am )?(?:niedrigste|tiefste)n?", "lowest"),
        (r"(?:am )?größten?", "largest"),
        (r"(?:am )?kleinsten?", "smallest"),
        (r"(?:am )?längsten?", "longest"),
        (r"(?:am )?kürzesten?", "shortest"),
        (r"(?:am )?schwersten?", "heaviest"),
        (r"(?:am )?leichtesten?", "lightest"),
        (r"(?:am )?schnellsten?", "fastest"),
        (r"(?:am )?langsamsten?", "slowest"),
        (r"(?:am )?wärmsten?", "warmest"),
        (r"(?:am )?kältesten?", "coldest"),
        (r"(?:am )?ältesten?", "oldest"),
        (r"(?:am )?(?:neueste|jüngste)n?", "newest"),
        (r"letzte[nrsm]?", "last"),
        (r"erste[nrsm]?", "first"),
        (r"wert", "worth"),
        (r"verdient", "earns"),
        (r"ausgegeben", "spent"),
        (r"(?:aus|be)?gezahlt|bezahlt", "paid"),
        (r"abgerechnet|eingereicht", "claimed"),
        (r"mehr als", "more than"),
        (r"weniger als", "less than"),
        (r"mindestens", "at least"),
        (r"höchstens", "at most"),
        (r"keine?[rsnm]?", "no"),
        (r"ohne", "without"),
        (r"nicht|außer", "not"),
        (r"oder", "or"),
        (r"haben|hatten", "have"),
        (r"hat|hatte", "has"),
        (r"sind|waren|stehen", "are"),
        (r"ist|war|steht", "is"),
        (r"gerade|derzeit|momentan|aktuell|noch|schon|bereits", "currently"),
        (r"de[rnms]|die|das|es", "the"),
        (r"eine?[rnms]?", "a"),
        (r"im|in|am|an|auf|bei|beim", "in"),
        (r"vom|von", "of"),
        (r"mit", "with"),
        (r"und", "and"),
        (r"kalender|tabelle|liste|datei", "table"),
        (r"termine?", "event"),
    )
)
_PLACE = re.compile(
    r"\b(?P<place>zweit|dritt|viert|fünft)(?=(?:meist|wenigst|höchst|niedrigst|größt|kleinst|längst|kürzest|schwerst"
    r"|leichtest|schnellst|teuerst|billigst|günstigst|ältest|jüngst)e)",
    re.IGNORECASE,
)
"""How a word says which place of an order is asked for: "der zweithöchste"."""
_PLACES = {"zweit": "second ", "dritt": "third ", "viert": "fourth ", "fünft": "fifth "}
GERMAN = LanguageWording(
    _ASKING, _WORDINGS, before=((_PLACE, lambda found: _PLACES[found["place"].lower()]),)
)
