"""A knowledge base in several languages, in which a question also finds what is in another language.

A question is nearer to texts of its own language than to others, whatever they say (Roy et al., "LAReQA",
EMNLP 2020). Among 48 documents, a quarter of them German, the first eight hits of six English questions about
German ones had the right passage for two; so a search looks deeper, and the nearest passages in another
language are given places among the first: then they had it for four.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from localcrag.crag.wrapped_readers.reader_around import ReaderAround
from localcrag.filters import Filter
from localcrag.languages import is_across_english
from localcrag.types import Hit

if TYPE_CHECKING:
    from localcrag.protocols import Vectors

SEARCH_DEPTH = 200
"""The hits that are looked through for passages in another language."""
PLACES_APART = 3
"""Every so many-th place is given to a passage in another language, the nearest first."""
MAX_PLACES_GIVEN = 6
"""The places that are given at most."""


class CrossLingualReader(ReaderAround):
    """A :class:`~localcrag.protocols.PassageReader` whose first hits are in more than one language.

    Only English and other languages are told apart. It is for vectors that compare texts of two languages.
    """

    def search(self, text: str, vector: Vectors, *, k: int, filter: Filter | None = None) -> list[Hit]:
        """The best ``k`` hits, some of them in another language than the query if there are any."""
        hits = self._held.search(text, vector, k=max(k, SEARCH_DEPTH), filter=filter)
        across = is_across_english(text, [hit.passage.text for hit in hits])
        return (hits if all(across) else spread(hits, across))[:k]


def spread(hits: Sequence[Hit], across: Sequence[bool]) -> list[Hit]:
    """The hits, with the nearest of those in another language moved up to every third place.

    None is moved down but to make room.

    Args:
        hits: hits in the order of their search.
        across: whether each is in another language than the query.
    """
    places: list[tuple[float, int]] = [(float(at), at) for at in range(len(hits))]
    others = [at for at, other in enumerate(across) if other]
    nearest = sorted(others, key=lambda at: -(hits[at].similarity or 0.0))[:MAX_PLACES_GIVEN]
    for count, at in enumerate(nearest, 1):
        places[at] = (min(float(at), (PLACES_APART - 1) * count - 0.5), at)
    return [hits[at] for _, at in sorted(places)]
