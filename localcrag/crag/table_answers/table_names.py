"""The words of a question that name the table itself, or say no more than that something has something."""

from __future__ import annotations

import re

from localcrag.crag.table_answers.table_columns import content
from localcrag.crag.table_answers.table_conditions import TableConditions
from localcrag.crag.table_answers.table_values import ColumnKind, roots
from localcrag.crag.table_answers.table_vocabulary import LIGHT_VERBS, PRONOUNS

_LISTING = re.compile(r"[,&/+]|\band\b|\bor\b")
"""A name that lists several things, of which a question may mean one."""


class TableNames(TableConditions):
    """Accounts for the words of a question that stand in the names of the table."""

    def take_names(self) -> None:
        """Account for words of the table's names, of its file and of its document's title.

        A word that occurs in cells is a condition that was not understood, and so is one of several things or
        years that a name lists.
        """
        within = self._words_in_cells()
        single = [name for name in self.table.names if not _LISTING.search(name)]
        known = {word for name in (*single, self.table.prefix) for word in (*roots(name), *content(name))}
        years = {word for name in self.table.names for word in roots(name) if word.isdecimal()}
        for at in self.question.open_tokens():
            token = self.tokens[at]
            one_of_years = token.is_number and len(years) > 1
            token.used = token.root in known and token.root not in within and not one_of_years

    def take_light_verbs(self) -> None:
        """Account for a verb that says no more than "has": "which company offers the longest guarantee".

        So does any verb of whoever asks in a total: "how many kilometres in total did we paddle".
        """
        headers = {word for column in self.table.columns for word in roots(self.table.header(column))}
        known = headers | self._words_in_cells()
        for at in self.question.open_tokens():
            token = self.tokens[at]
            is_own = bool(at) and self.question.in_total and self.tokens[at - 1].low in PRONOUNS
            token.used = (token.low in LIGHT_VERBS or is_own) and token.root not in known

    def _words_in_cells(self) -> set[str]:
        """The words of all cells that are text."""
        columns = self.of_kind(ColumnKind.TEXT)
        return {word for column in columns for cell in self.cells(column) for word in content(cell)}
