"""Questions over a table in Spanish, in the words of English that :mod:`.table_questions` reads."""

from __future__ import annotations

import re

from localcrag.crag.table_answers.language_wording import LanguageWording

_ASKING = re.compile(r"¿?\s*(?:cuánt[oa]s?|(?:a |en )?qué|cuál(?:es)?|quién(?:es)?)\b", re.IGNORECASE)
"""How a Spanish question begins that goes over a table."""
_EXTREME_FIRST = re.compile(
    r"cuál(?:es)? (?:es|son|era|eran) (?:el|la|los|las) (?P<thing>[^\W\d_]+) "
    r"(?:que (?P<verb>[^\W\d_]+) )?(?=(?:más|menos|mayor|menor)\b)",
    re.IGNORECASE,
)
"""How a question begins that names the thing before the superlative: "Cuál es el artículo más caro"."""
_THE = r"(?:(?:el|la|los|las|lo) )?"
_WORDINGS = tuple(
    (re.compile(rf"\b(?:{spanish})\b", re.IGNORECASE), english)
    for spanish, english in (
        (r"más de(?= \d)", "more than"),
        (r"menos de(?= \d)", "less than"),
        (r"cuánt[oa]s", "how many"),
        (r"cuánt[oa]", "how much"),
        (r"cuál(?:es)? (?:es|son|era|eran)", "what is"),
        (r"qué|cuál(?:es)?", "which"),
        (r"quién(?:es)?", "who"),
        (r"hay", "are there"),
        (r"en total", "in total"),
        (r"medi[oa]|promedio", "average"),
        (rf"(?:es |son )?{_THE}(?:más car[oa]s?|cuestan? más)", "is the most expensive"),
        (rf"(?:es |son )?{_THE}(?:más barat[oa]s?|menos car[oa]s?|cuestan? menos)", "is the cheapest"),
        (r"al menos|como mínimo", "at least"),
        (r"como máximo", "at most"),
        (rf"{_THE}(?:más (?:alt|grande|elevad)[oa]?s?|mayor(?:es)?)", "highest"),
        (rf"{_THE}(?:más (?:baj|pequeñ)[oa]s?|menor(?:es)?)", "lowest"),
        (rf"{_THE}más larg[oa]s?", "longest"),
        (rf"{_THE}más cort[oa]s?", "shortest"),
        (rf"{_THE}más pesad[oa]s?", "heaviest"),
        (rf"{_THE}más liger[oa]s?", "lightest"),
        (rf"{_THE}más rápid[oa]s?", "fastest"),
        (rf"{_THE}más lent[oa]s?", "slowest"),
        (rf"{_THE}más (?:antigu|viej)[oa]s?", "oldest"),
        (rf"{_THE}más (?:nuev[oa]|reciente|joven|jóvene)s?", "newest"),
        (rf"{_THE}más", "the most"),
        (rf"{_THE}menos", "the fewest"),
        (r"ganan?", "earns"),
        (r"cuestan?", "cost"),
        (r"no|sin|salvo|excepto|ningun[oa]", "not"),
        (r"[ou]", "or"),
        (r"tienen|tenían", "have"),
        (r"tiene|tenía", "has"),
        (r"son|eran|están", "are"),
        (r"es|era|está", "is"),
        (r"aún|todavía|ya|actualmente", "currently"),
        (r"el|la|los|las", "the"),
        (r"una?", "a"),
        (r"de|del", "of"),
        (r"en|al?", "in"),
        (r"con", "with"),
        (r"y", "and"),
        (r"tabla|lista|archivo|fichero", "table"),
    )
)
SPANISH = LanguageWording(
    _ASKING,
    _WORDINGS,
    before=((_EXTREME_FIRST, lambda found: f"qué {found['thing']} {found['verb'] or 'es'} "),),
)
