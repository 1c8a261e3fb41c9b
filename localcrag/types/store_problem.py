"""What is damaged in a knowledge base, and how it is made whole."""

from __future__ import annotations

from dataclasses import dataclass

from localcrag.types.enums import Mending


@dataclass(frozen=True, slots=True)
class StoreProblem:
    """A part of a knowledge base that is damaged.

    Attributes:
        what: the part and its fault, in one line.
        mending: how it is made whole.
        table: the table that cannot be trusted; "" if only an index, a file beside the tables, or a single
            document is damaged.
        source: the document that has to be read again; "" if it is not about a single one.
        serious: whether a search could miss something because of it.
        hint: the next step, in one line.
    """

    what: str
    mending: Mending
    table: str = ""
    source: str = ""
    serious: bool = True
    hint: str = ""
