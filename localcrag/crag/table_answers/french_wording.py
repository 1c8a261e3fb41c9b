"""Questions over a table in French, in the words of English that :mod:`.table_questions` reads."""

from __future__ import annotations

import re

from localcrag.crag.table_answers.language_wording import LanguageWording

_ASKING = re.compile(
    r"(?:combien (?:de |d['’])|quel(?:le)?s?\b|(?:à|dans|sur|en) quel(?:le)?s?\b|qui\b)", re.IGNORECASE
)
"""How a French question begins that goes over a table."""
_EXTREME_FIRST = re.compile(
    r"quel(?:le)?s? (?:est|sont|était|étaient) (?:le|la|les) (?P<thing>[^\W\d_]+) "
    r"(?=(?:le|la|les) (?:plus|moins)\b)",
    re.IGNORECASE,
)
"""How a question begins that names the thing before the superlative: "Quel est l'article le plus cher"."""
_ELISION = re.compile(r"\b([dln])['’](?=\w)", re.IGNORECASE)
_WORDINGS = tuple(
    (re.compile(rf"(?<![\w-])(?:{french})(?![\w-])", re.IGNORECASE), english)
    for french, english in (
        (
            r"quel(?:le)? (?:est (?:le|la) )?(?:pourcentage|part|proportion) (?:des?|du)(?: (?:la|le|les))?",
            "what percentage of the",
        ),
        (r"combien de", "how many"),
        (r"quel(?:le)?s? (?:est|sont|était|étaient)", "what is"),
        (r"quel(?:le)?s?", "which"),
        (r"qui", "who"),
        (r"y a-t-il|il y a", "are there"),
        (r"au total|en tout", "in total"),
        (r"moyen(?:ne)?", "average"),
        (r"(?:coûte(?:nt)? )?(?:(?:le|la|les) )?plus (?:cher|chère)s?", "most expensive"),
        (r"(?:coûte(?:nt)? )?(?:(?:le|la|les) )?moins (?:cher|chère)s?", "cheapest"),
        (r"coûte(?:nt)? le plus", "most expensive"),
        (r"coûte(?:nt)? le moins", "cheapest"),
        (r"plus de(?= \d)", "more than"),
        (r"moins de(?= \d)", "less than"),
        (r"au moins", "at least"),
        (r"au plus", "at most"),
        (r"(?:le|la|les) plus (?:grand|élevé)e?s?", "highest"),
        (r"(?:le|la|les) plus (?:petit|bas|basse|faible)e?s?", "lowest"),
        (r"(?:le|la|les) plus long(?:ue)?s?", "longest"),
        (r"(?:le|la|les) plus courte?s?", "shortest"),
        (r"(?:le|la|les) plus lourde?s?", "heaviest"),
        (r"(?:le|la|les) plus lég(?:er|ère)s?", "lightest"),
        (r"(?:le|la|les) plus rapides?", "fastest"),
        (r"(?:le|la|les) plus lente?s?", "slowest"),
        (r"(?:le|la|les) plus (?:ancien(?:ne)?|vieux|vieille)s?", "oldest"),
        (r"(?:le|la|les) plus (?:récente?|jeune)s?", "newest"),
        (r"le plus de", "the most"),
        (r"le moins de", "the fewest"),
        (r"le plus", "the most"),
        (r"le moins", "the least"),
        (r"gagne(?:nt)?", "earns"),
        (r"coûte(?:nt)?", "cost"),
        (r"pas|sans|sauf|aucune?", "not"),
        (r"ou", "or"),
        (r"ne", ""),
        (r"ont|avaient", "have"),
        (r"a|avait", "has"),
        (r"sont|étaient", "are"),
        (r"est|était", "is"),
        (r"v(?:a|ont)|revien(?:t|nent)", "goes"),
        (r"vien(?:t|nent)", "comes"),
        (r"par", "per"),
        (r"chaque", "each"),
        (r"encore|déjà|actuellement", "currently"),
        (r"les?|la", "the"),
        (r"une?", "a"),
        (r"des?|du", "of"),
        (r"dans|en|à|au|aux|sur", "in"),
        (r"avec", "with"),
        (r"et", "and"),
        (r"tableau|liste|fichier", "table"),
    )
)
FRENCH = LanguageWording(
    _ASKING, _WORDINGS, before=((_ELISION, r"\1e "), (_EXTREME_FIRST, r"quel \g<thing> est "))
)
