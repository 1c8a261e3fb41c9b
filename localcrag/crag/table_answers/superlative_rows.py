"""How much the longest or the biggest row has: "How many miles is the longest stretch?"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from localcrag.crag.table_answers.foreign_wording import in_english
from localcrag.crag.table_answers.group_columns import GroupColumns
from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.crag.table_answers.question_words import with_plain_wording
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_matching import matched
from localcrag.crag.table_answers.table_questions import TableQuestion, generic_about, recognised
from localcrag.crag.table_answers.table_values import root, roots, word_list
from localcrag.crag.table_answers.table_vocabulary import HIGH, QUANTITY_WORDS, SUPERLATIVES
from localcrag.crag.table_answers.unrivalled_tables import unrivalled

_ASKED = re.compile(
    r"how (?:many|much) (?P<measure>[\w-]+(?: [\w-]+)?) (?P<verb>is|was|are|were|has|had|have|does|did)"
    r" (?:the |our |my )(?P<most>[\w-]+) (?P<what>[\w-]+)(?: (?:have|has|take|last|cover|measure|run))?"
    r"(?P<rest>(?: (?:of|in|on|from|for) [^?;:,]+)?)\W*",
    re.IGNORECASE,
)
"""How a question asks how much a row has that is the most."""
_UNITS_OF = {
    "length": frozenset(
        map(root, word_list("km m cm mm mile miles foot feet yard h min s day week month year"))
    ),
    "height": frozenset(map(root, word_list("m cm mm foot feet"))),
    "depth": frozenset(map(root, word_list("m cm mm foot feet"))),
    "width": frozenset(map(root, word_list("m cm mm foot feet"))),
    "weight": frozenset(map(root, word_list("kg g t mg pound ounce stone"))),
    "temperature": frozenset(map(root, word_list("degree degrees celsius"))),
}
"""The units of what superlatives are about."""


@dataclass(frozen=True, slots=True)
class SuperlativeRowQuestion:
    """A question for the number in a column of the row that is the most, by ``about``, in that column."""

    form: TableQuestion
    measure: str
    about: str

    def matches(self, tables: Sequence[ParsedTable]) -> Iterator[TableMatch]:
        """How the tables of a document answer."""
        return unrivalled(tables, self._match)

    def _match(self, table: ParsedTable) -> TableMatch | None:
        """How a table answers; None if the row may be the most by another column, or by none.

        The longest stretch is the one with the most miles, but the largest house need not be the one with
        the most rooms: the match is loose.
        """
        found = matched(self.form, table)
        columns = GroupColumns(self.form, table)
        if found is None:
            return None
        about = QUANTITY_WORDS.get(self.about, frozenset())
        others = [c for c in columns.quantities if c != found.column and set(columns.named(c)) & about]
        said = {*roots(self.measure), *roots(table.wording(found.column))} | columns.units(found.column)
        is_fitting = bool(said & (_UNITS_OF.get(self.about, frozenset()) | about))
        if others or not (is_fitting or self.about == "size"):
            return None
        return replace(found, loose=found.loose or not is_fitting)


def superlative_row_question(question: str) -> SuperlativeRowQuestion | None:
    """The form of a question how much the row has that is the most; None for another question."""
    found = _ASKED.fullmatch(with_plain_wording(in_english(question)).strip())
    superlative = SUPERLATIVES.get(found["most"].lower()) if found else None
    if found is None or superlative is None:
        return None
    direction, about = superlative
    about = about or generic_about(found["most"].lower())
    most = "most" if direction == HIGH else "fewest"
    form = recognised(f"which {found['what']} has the {most} {found['measure']}{found['rest']}")
    return SuperlativeRowQuestion(form, found["measure"], about) if form and about else None
