"""Whether more of a column is better, by its name: of a rating it is, of deaths and of prices it is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

from localcrag.crag.table_answers.table_columns import BEST_SAID
from localcrag.crag.table_answers.table_values import WORD, root, word_list
from localcrag.crag.table_answers.table_vocabulary import HARM_WORDS, QUANTITY_WORDS

_SAVING_WORDS = frozenset(word_list("saving savings deposit deposits account accounts tagesgeld festgeld"))
_LENDING_WORDS = frozenset(word_list("loan loans credit credits mortgage mortgages kredit darlehen"))
"""Words for what a higher rate of interest is better for, and for what it is worse."""
_MERIT_WORDS = frozenset(word_list("rating score points stars quality satisfaction bewertung punkte"))
"""Words in the name of a column of which more is better."""
_DURATION_WORDS = frozenset(
    word_list(
        "time times duration s sec secs second seconds ms min mins minute minutes h hour hours zeit dauer"
    )
)
"""Words in the name of a column that has how long something takes."""


def is_better_high(header: str, names: Iterable[str], values: Sequence[Decimal]) -> bool | None:
    """Whether more of a column is better; None if that is not clear.

    Args:
        header: the name of the column.
        names: the names of its table.
        values: its numbers, which a name such as "Mark (1 best)" speaks of.
    """
    if (said := BEST_SAID.search(header)) and values:
        end = Decimal(said["value"])
        if min(values) < end < max(values):
            return None
        return (end >= max(values)) is (said["end"].lower() == "best")
    named, known = _words(header), _words(" ".join(names))
    if {"interest", "rate"} & named:
        is_good, is_bad = bool((known | named) & _SAVING_WORDS), bool((known | named) & _LENDING_WORDS)
    else:
        bad = QUANTITY_WORDS["price"] | QUANTITY_WORDS["deaths"] | HARM_WORDS
        is_good = bool(named & _MERIT_WORDS)
        is_bad = not is_good and not bad.isdisjoint(map(root, named))
    return None if is_good is is_bad else is_good


def takes_time(header: str) -> bool:
    """Whether a column has how long something takes, by its name: the fastest has the least of it."""
    return not _words(header.replace("_", " ")).isdisjoint(_DURATION_WORDS)


def _words(text: str) -> set[str]:
    """The words of a text in lower case, with their endings: a rate is no rating."""
    return {word.lower() for word in WORD.findall(text)}
