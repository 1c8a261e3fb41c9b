"""Words of a question: what to keep as keywords, and how people mistype it."""

from __future__ import annotations

import random
import re

_STOPPED = """
    a about all am an and any are as at be been being but by can could did do does doing done for from
    get give had has have having he her hers him his how i if in into is it its itself let lets list
    many may me might much my name of on one or our ours own please she should shall so some such tell
    than that the their theirs them then there these they this those to up us use used very was we were
    what when where which who whom whose why will with would you your yours explain describe exactly
    happen happened happens called also just only really s t d ll m re ve don
"""
STOP_WORDS = frozenset(_STOPPED.split())
_WORD = re.compile(r"[^\W_]+(?:[-'.,/&+#_][^\W_]+)*[%+#]*", re.UNICODE)


def words(text: str) -> list[str]:
    """The words of a text as written, with inner hyphens, apostrophes and decimal points kept."""
    return _WORD.findall(text)


def keywords(question: str) -> str:
    """The question's content words in their order; the question's words themselves if none remain."""
    kept = [_without_possessive(w) for w in words(question) if _base(w) not in STOP_WORDS]
    return " ".join(kept or words(question))


def _without_possessive(word: str) -> str:
    return re.sub(r"['’]s?$", "", word)


def _base(word: str) -> str:
    return re.sub(r"['’].*$", "", word.lower())


def mistype(text: str, rng: random.Random) -> str:
    """Swap, drop or double one letter inside one word of four letters or more."""
    pieces = text.split()
    long = [i for i, piece in enumerate(pieces) if len(piece) >= 4]
    if not long:
        return text
    i = rng.choice(long)
    word, at = pieces[i], rng.randrange(1, len(pieces[i]) - 2)
    pieces[i] = rng.choice(
        [
            word[:at] + word[at + 1] + word[at] + word[at + 2 :],
            word[:at] + word[at + 1 :],
            word[:at] + word[at] + word[at:],
        ]
    )
    return " ".join(pieces)
