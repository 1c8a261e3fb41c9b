"""Words of a question: what to keep as keywords, and how people mistype it."""

from __future__ import annotations

import random

from localcrag.crag.questions.query_terms import WORD_PATTERN, content_words


def keywords(question: str) -> str:
    """The words of a question that carry meaning, in their order; all its words if none does."""
    return " ".join(content_words(question) or WORD_PATTERN.findall(question))


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
