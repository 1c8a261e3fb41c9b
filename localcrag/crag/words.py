"""The words of a question: those that say what it is about, and the little ones between them."""

from __future__ import annotations

import re

WORD = re.compile(r"[^\W_]+(?:[-'’.,/&+#_][^\W_]+)*[%+#]*")
_LITTLE_WORDS = """
    a about again ah all also am an and another any anyone anything are as ask at be been being but by can
    could curious did do does doing ever explain exactly find for from get give got had has have having
    hello help her here hey hi him his hope how i if in into is it its just know like lol lot many may
    maybe me mean might mind much my need of ok okay on or our out please quick quite re really say she
    should so some someone something sorry still such sure tell than thank thanks that the their them
    then there these they thing things think this those to too up us very want wanted was we well were
    what when where whether which who whom whose why will with wonder wondered wondering would yes yet
    you your
"""
LITTLE = frozenset(_LITTLE_WORDS.split())


def bare(word: str) -> str:
    """A word as it is compared: lower case, without what an apostrophe joins to it."""
    return re.sub(r"['’].*", "", word.lower())


def telling(text: str) -> list[str]:
    """The words that carry meaning, in order."""
    return [word for word in WORD.findall(text) if bare(word) not in LITTLE]
