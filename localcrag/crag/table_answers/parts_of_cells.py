"""Conditions on how cells are written: "a postcode that begins with 79", "violet in its name"."""

from __future__ import annotations

from collections.abc import Callable

from localcrag.crag.table_answers.row_states import RowStates
from localcrag.crag.table_answers.table_columns import RowCondition, UnclearError
from localcrag.crag.table_answers.table_values import root, word_list

_BEGINS = frozenset(word_list("begin begins beginning start starts starting"))
_ENDS = frozenset(word_list("end ends ending"))
_HAS = frozenset(word_list("contain contains containing include includes including have has having with"))
_KINDS = frozenset(word_list("word words letter letters digit digits number numbers string prefix name"))
"""What a question calls the part that it quotes: "the letter C"."""
_BETWEEN = frozenset(word_list("a an the that which whose who is are does do it they its their"))
_OF_ROW = frozenset(word_list("it them its their his her the"))
"""What stands behind the "in" of "with violet in it" and "in its name"."""
_CALLED = frozenset(map(root, word_list("name called title")))
"""What a question calls the cells that name the rows, whatever the column is called."""
_TESTS: dict[str, Callable[[str, str], bool]] = {
    "begins with": str.startswith,
    "ends with": str.endswith,
    "has": str.__contains__,
}


class PartsOfCells(RowStates):
    """Accounts for the words of a question that quote a part of the cells of a column."""

    def take_parts_of_cells(self) -> None:
        """Account for "begins with", "ends with" and "has … in it", with the column that is named for it.

        Without one it is the first column, which names the rows. If no cell of it is so, it is the one column
        that has such cells, and the match is loose. Raises UnclearError if there is none.
        """
        for at, token in enumerate(self.tokens):
            behind = self.tokens[at + 1].low if at + 1 < len(self.tokens) else ""
            if token.low in _BEGINS and behind == "with":
                self._take_part("begins with", at, at + 2)
            elif token.low in _ENDS and behind == "with":
                self._take_part("ends with", at, at + 2)
            elif token.low in _HAS and self._is_quoted(at + 1) and not self._is_verb_of_part(at - 1):
                self._take_part("has", at, at + 1)

    def _is_verb_of_part(self, at: int) -> bool:
        return at >= 0 and self.tokens[at].low in _BEGINS | _ENDS

    def _is_quoted(self, at: int) -> bool:
        """Whether a part of a cell follows: "the word violet", "violet in it", "violet in its name"."""
        words = [token.low for token in self.tokens[at : at + 5]]
        if words[:1] == ["the"] and words[1:2] and words[1] in _KINDS:
            return True
        in_it = words[1:2] == ["in"] and words[2:3] and words[2] in _OF_ROW
        named = words[3:4] and root(words[3]) in _CALLED
        return bool(in_it and (words[2] in ("it", "them") or named))

    def _column_of_subject(self) -> str:
        """The column whose name is what is counted: "how many descriptions contain …"; "" if none is."""
        said = {self.tokens[place].root for place in self.question.subject}
        return next((column for column in self.table.columns if said >= set(self.named(column)) > set()), "")

    def _take_part(self, test: str, first: int, at: int) -> None:
        while at < len(self.tokens) and self.tokens[at].low in _BETWEEN | _KINDS:
            at += 1
        if at >= len(self.tokens):
            raise UnclearError
        part = self.tokens[at].text
        before = first - 1
        while before > 0 and self.tokens[before].low in _BETWEEN:
            before -= 1
        near = [place for place in (before, *range(at + 1, min(at + 4, len(self.tokens)))) if place >= 0]
        beside = [place for place in near if place not in self.question.subject]
        column = self.column_said(self.table.columns, beside) or self._column_of_subject() or self.label
        rows = self._rows_with(test, part, column)
        if not rows:
            having = {
                each: found for each in self.table.columns if (found := self._rows_with(test, part, each))
            }
            if len(having) != 1:
                raise UnclearError
            [(column, rows)] = having.items()
            self.loose = True
        self.conditions.append(RowCondition(column, f"{self.table.header(column)} {test} {part}", rows))
        for place in range(first, at + 1):
            self.tokens[place].used = True
        for place in beside:
            token = self.tokens[place]
            token.used = token.used or self.loose or token.root in _CALLED

    def _rows_with(self, test: str, part: str, column: str) -> frozenset[int]:
        """The rows whose cell of a column is so."""
        cells = (" ".join(cell.casefold().split()) for cell in self.cells(column))
        return frozenset(at for at, cell in enumerate(cells) if _TESTS[test](cell, part.casefold()))
