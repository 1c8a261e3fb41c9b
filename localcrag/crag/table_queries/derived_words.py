"""Words that are derived from what a cell says: "Kenyan" of Kenya, "rowers" of Row or Rowing.

Adjectives of countries and peoples are known by their endings and a capital, but for those that change the
word ("Danish"); whoever does something, by "-er".
"""

from __future__ import annotations

from collections.abc import Sequence

_OF_PEOPLE = ("ian", "ean", "ese", "ish", "an", "n", "i", "ic")
"""Endings of such adjectives."""
_MIN_STEM, _MAX_REST = 3, 4
"""The fewest letters that an adjective and a country share, and the most that the country has behind them."""
_IRREGULAR = {
    "american": ("united states", "united states of america", "usa", "us", "u.s."),
    "british": ("united kingdom", "great britain", "uk", "gbr"),
    "english": ("england",),
    "scottish": ("scotland",),
    "welsh": ("wales",),
    "irish": ("ireland",),
    "french": ("france",),
    "dutch": ("netherlands", "the netherlands", "holland"),
    "danish": ("denmark",),
    "norwegian": ("norway",),
    "finnish": ("finland",),
    "spanish": ("spain",),
    "portuguese": ("portugal",),
    "swiss": ("switzerland",),
    "greek": ("greece",),
    "turkish": ("turkey", "türkiye"),
    "czech": ("czech republic", "czechia"),
    "filipino": ("philippines",),
    "thai": ("thailand",),
    "polish": ("poland",),
    "emirati": ("united arab emirates", "uae"),
    "korean": ("south korea", "korea"),
    "chinese": ("china",),
    "dane": ("denmark",),
    "swede": ("sweden",),
    "finn": ("finland",),
    "turk": ("turkey", "türkiye"),
    "brit": ("united kingdom", "great britain", "uk", "gbr"),
    "briton": ("united kingdom", "great britain", "uk", "gbr"),
    "scot": ("scotland",),
    "spaniard": ("spain",),
}
"""Adjectives and names of peoples that are not their country with an ending, and the names of these."""
_VOWELS = "aeiou"


def cells_of_word(word: str, cells: Sequence[str]) -> list[str]:
    """The cells that a word of a question is derived from.

    Args:
        word: the word, as it is written.
        cells: the cells of a column.
    """
    lower = word.casefold()
    names = _doing(lower)
    people = lower.removesuffix("s")  # "Americans"
    irregular = _IRREGULAR.get(lower, _IRREGULAR.get(people, ())) if word[:1].isupper() else ()
    names += irregular
    found = [cell for cell in cells if cell.casefold() in names]
    if found or irregular or not word[:1].isupper():
        return found
    stems = [*_stems(lower), *(_stems(people) if people != lower else ())]
    ofs = ([cell for cell in cells if _is_of(stem, cell.casefold())] for stem in stems)
    return next(filter(None, ofs), [])


def _stems(word: str) -> list[str]:
    """What may be left of a country's name in an adjective, the longest first."""
    found = {word.removesuffix(ending) for ending in _OF_PEOPLE if word.endswith(ending)}
    return sorted((stem for stem in found if len(stem) >= _MIN_STEM), key=len, reverse=True)


def _is_of(stem: str, name: str) -> bool:
    """Whether a name of one word begins with a stem and has little behind it."""
    return name.startswith(stem) and name.isalpha() and len(name) - len(stem) <= _MAX_REST


def _doing(word: str) -> tuple[str, ...]:
    """What those do whom a word ending in "-er" names, as a verb and as a noun: row and rowing."""
    plain = word.removesuffix("s")
    if not plain.endswith("er") or len(plain) < _MIN_STEM + 2:
        return ()
    verb = plain[:-2]
    is_doubled = len(verb) > 2 and verb[-1] == verb[-2] and verb[-1] not in _VOWELS
    verbs = (verb, verb[:-1]) if is_doubled else (verb, f"{verb}e")
    return (*verbs, f"{verb}ing", f"{verb}e" if is_doubled else f"{verb}s")
