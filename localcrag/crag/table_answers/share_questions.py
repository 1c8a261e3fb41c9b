"""Questions for the share of a part of the rows: "What percentage of the patients were female?".

It is read as two questions over all rows, of which one has a condition more: "how many patients are there"
and "how many patients were female", or "what is the total budget" and "what is the total budget of rent".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from localcrag.crag.table_answers.foreign_wording import in_english
from localcrag.crag.table_answers.group_columns import GroupColumns
from localcrag.crag.table_answers.group_questions import REFUSED_WORDS, is_plural, without_number
from localcrag.crag.table_answers.grouped_quantities import GroupedQuantity
from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.crag.table_answers.question_words import tokens_of, with_plain_wording
from localcrag.crag.table_answers.row_groups import RowShare
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_questions import MAX_WORDS
from localcrag.crag.table_answers.table_values import TEMPORAL, column_values, is_missing, word_list
from localcrag.crag.table_answers.table_vocabulary import VERBS
from localcrag.crag.table_answers.unrivalled_tables import unrivalled

_SHARE = re.compile(
    r"(?:what|which|how (?:big|large|high|many)(?: (?:a|is|was))?(?: the)?)(?: (?:is|was) the)?"
    r" (?:percentage|per ?cent|%|share|proportion|part|fraction)(?: share)? of (?:(?:all|the|our|my) )*"
    r"(?P<what>[^?;:,]+?)\W*",
    re.IGNORECASE,
)
"""How a question asks for a share."""
_MOVING = frozenset(word_list("goes go went came comes come belongs belong falls fell"))
_SPENT = frozenset(word_list("spent used paid made earned sold due down taken"))
_BEING = VERBS | _MOVING
_WHOLES = frozenset(
    word_list("budget cost costs spending expenses expenditure money income revenue sales total")
)
"""Nouns of sums that need be no name of a column."""
MIN_SHARE_WORDS = 3
"""The fewest words of what a share is of and of the part: "patients are female"."""


@dataclass(frozen=True, slots=True)
class ShareQuestion:
    """A question for a share: pairs of what is asked of the whole and of the part, the likeliest first."""

    pairs: tuple[tuple[GroupedQuantity, GroupedQuantity], ...]

    def matches(self, tables: Sequence[ParsedTable]) -> Iterator[TableMatch]:
        """How the tables of a document answer."""
        return unrivalled(tables, self._match)

    def _match(self, table: ParsedTable) -> TableMatch | None:
        for whole, part in self.pairs:
            all_of_it, some = whole.match(table), part.match(table)
            if all_of_it is not None and some is not None and (found := _shared(all_of_it, some)):
                return found
        return None


def _shared(whole: TableMatch, part: TableMatch) -> TableMatch | None:
    """The match of the whole with its part; None if the part has not one condition more, or goes over others.

    Of "the share of the budget that goes to rent in 2025" the year is that of the whole.
    """
    own = [condition for condition in part.conditions if condition not in whole.conditions]
    is_of_whole = all(condition in part.conditions for condition in whole.conditions)
    of_one = (whole.column, whole.entity, whole.question.operation, whole.rows)
    if not own or not is_of_whole or of_one != (
        part.column, part.entity, part.question.operation, part.rows,
    ):  # fmt: skip
        return None
    temporal = [
        c
        for c in own
        if column_values([r.cells.get(c.column, "") for r in whole.rows], years=True).kind in TEMPORAL
    ]
    if len(own) > 1 and len(temporal) < len(own):
        own = [condition for condition in own if condition not in temporal]
        whole = replace(whole, conditions=(*whole.conditions, *temporal))
    columns = GroupColumns(whole.question, whole.table)
    if len(own) != 1 or not columns.adds_over_time(whole, own[0].column):
        return None
    rows = frozenset(at for at in range(len(whole.rows)) if all(at in c.rows for c in own))
    counted = [at for at in range(len(whole.rows)) if all(at in c.rows for c in whole.conditions)]
    has_gaps = any(is_missing(whole.rows[at].cells.get(c.column, "")) for at in counted for c in own)
    share = RowShare(rows, tuple(condition.words for condition in own))
    return replace(whole, share=share, loose=whole.loose or part.loose or has_gaps)


def share_question(question: str) -> ShareQuestion | None:
    """The form of a question for a share; None for another question."""
    found = _SHARE.fullmatch(with_plain_wording(in_english(question)).strip())
    words = [token.text for token in tokens_of(found["what"])] if found else []
    lows = [word.lower() for word in words]
    if not MIN_SHARE_WORDS <= len(words) <= MAX_WORDS or REFUSED_WORDS & set(lows):
        return None
    verbs = [at for at, low in enumerate(lows) if low in _BEING and at]
    if not verbs:
        return None
    at = verbs[0]
    whole, part = without_number(words[:at]), words[at + 1 :]
    behind = part[1:] if part and part[0].lower() in _SPENT else part
    if not part or not whole:
        return None
    said, some = " ".join(whole), " ".join(behind)
    place = next((place for place, word in enumerate(whole) if word.lower() in _WHOLES), 0)
    noun, rest = whole[place].lower(), " ".join((*whole[:place], *whole[place + 1 :]))
    pairs = [(f"what is the total {said}", f"what is the total {said} of {some}", "", False)]
    pairs.append((f"what is the total {rest}", f"what is the total {rest} of {some}", noun, True))
    made = [
        tuple(GroupedQuantity(text, noun=noun, is_open=is_open) for text in (one, other))
        for one, other, noun, is_open in pairs
    ]
    pair = (f"what is the total {said}", f"what is the total {said} of {some}")
    if noun in _WHOLES:
        made.append(tuple(GroupedQuantity(text, noun="money", is_open=True) for text in pair))
    texts = (f"how many {said} are there", f"how many {said} {words[at]} {' '.join(part)}")
    if is_plural(whole[-1]) or len(whole) > 1:
        made.append(tuple(GroupedQuantity(text, counts=True) for text in texts))
    else:
        made.append(tuple(GroupedQuantity(text, is_open=True, is_vague=True) for text in pair))
    return ShareQuestion(tuple((one, other) for one, other in made))
