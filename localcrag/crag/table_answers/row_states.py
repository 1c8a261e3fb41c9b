"""The states of rows that a question over a table asks for: not scanned, out of stock, expired."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from decimal import Decimal

from localcrag.crag.table_answers.table_columns import RowCondition, UnclearError, content
from localcrag.crag.table_answers.table_conditions import TableConditions, is_akin
from localcrag.crag.table_answers.table_values import FLAGS, ColumnKind, is_missing, word_list
from localcrag.crag.table_answers.table_vocabulary import FUNCTION_WORDS

_UNTIL = re.compile(r"until|\btill\b|expir|valid|\bends?\b|\bbis\b|ablauf|jusqu|hasta", re.IGNORECASE)
"""How a column is named that says until when something holds."""
_DUE = re.compile(r"\bdue\b|deadline|fällig|échéance|vencimiento|\bby\b|next check", re.IGNORECASE)
"""How a column is named that says when something is due."""
_DONE = frozenset(
    word_list(
        "done closed completed finished paid cancelled expired settled erledigt abgeschlossen bezahlt fertig "
        "fait terminé payé hecho pagado ☑ ✓ ✔"
    )
)
"""What a cell says of a row that is done."""
_TABLE_WORDS = frozenset(word_list("list lists sheet sheets table file register book inventory"))
"""What a word before it names as a table: the "stock list"."""
_NONE_WORDS = frozenset(word_list("none nobody keine keiner nichts aucun aucune ninguno ninguna"))


class RowStates(TableConditions):
    """Accounts for the words of a question that say in which state the rows are that count."""

    def take_flags(self, measure: str) -> None:
        """Account for the name of a column of yes and no: a row counts if it says yes.

        It counts if it says no where the question does: "not scanned", "which boxes have scanned = false".
        """
        for column in self.of_kind(ColumnKind.FLAG):
            places = self._places_of_name(column)
            if not places or column == measure:
                continue
            behind = [t for t in self.tokens[places[-1] + 1 : places[-1] + 2] if t.low in FLAGS]
            said = all(FLAGS[token.low] for token in behind)
            wanted = said is not self.denies(places)
            values = self.kinds[column].values
            rows = frozenset(at for at, value in enumerate(values) if value is wanted)
            shown = "yes" if wanted else "no"
            self.conditions.append(RowCondition(column, f"{self.table.header(column)} = {shown}", rows))
            for token in (*(self.tokens[at] for at in places), *behind):
                token.used = True

    def _places_of_name(self, column: str) -> list[int]:
        """The places of the open words that name a column; none if a word of its name is missing."""
        named = self.named(column)

        def names(at: int, word: str) -> bool:
            return self.tokens[at].root == word or is_akin(self.tokens[at].root, word)

        places = [at for at in self.question.open_tokens() if any(names(at, word) for word in named)]
        return places if all(any(names(at, word) for at in places) for word in named) else []

    def take_stock(self) -> None:
        """Account for "in stock" and "not in stock", if one column says how many of a thing there are.

        The "stock list" is the table itself.
        """
        places = [
            at
            for at in self.question.open_tokens()
            if self.tokens[at].low == "stock"
            and not any(token.low in _TABLE_WORDS for token in self.tokens[at + 1 : at + 2])
        ]
        column = self.stocked((*self.quantities, *self.of_kind(ColumnKind.FLAG))) if places else ""
        if column:
            self._take_stock_of(column, places)

    def _take_stock_of(self, column: str, places: Sequence[int]) -> None:
        """Account for what is in stock by its number, which is never below zero, or by yes and no."""
        values, denied = self.kinds[column].values, self.denies(places)
        if any(isinstance(value, Decimal) and value < 0 for value in values):
            raise UnclearError
        rows = frozenset(
            at for at, value in enumerate(values) if value is not None and bool(value) is not denied
        )
        shown = "= no" if denied else "= yes"
        if self.kinds[column].kind is ColumnKind.NUMBER:
            shown = "= 0" if denied else "more than 0"
        self.conditions.append(RowCondition(column, f"{self.table.header(column)} {shown}", rows))
        for at in places:
            self.tokens[at].used = True

    def take_expired(self) -> None:
        """Account for "out of warranty" and "expired", if one column says until when: before today."""
        dated = [c for c in self.of_kind(ColumnKind.DATE) if _UNTIL.search(self.table.wording(c))]
        words = [token.low for token in self.tokens]
        if "overdue" in words:
            self._take_overdue(words.index("overdue"))
            return
        is_out = any(words[at : at + 2] == ["out", "of"] for at in range(len(words)))
        places = [at for at in self.question.open_tokens() if words[at] == "expired"]
        if not is_out and not places:
            return
        named = [at for at in self.question.open_tokens() if at not in places + self.question.subject]
        if is_out or named:
            dated = [c for c in dated if any(self.tokens[at].root in self.named(c) for at in named)]
        if len(dated) == 1:
            (column,) = dated
            self._add_past(column)
            places += [at for at in named if self.tokens[at].root in self.named(column)]
            for at in places:
                self.tokens[at].used = True

    def _add_past(self, column: str) -> None:
        """Add the condition that the date in a column is before today."""
        today = date.today()
        days = (day.date() if isinstance(day, datetime) else day for day in self.kinds[column].values)
        rows = frozenset(at for at, day in enumerate(days) if isinstance(day, date) and day < today)
        shown = f"{self.table.header(column)} before {today.isoformat()}"
        self.conditions.append(RowCondition(column, shown, rows))

    def _take_overdue(self, place: int) -> None:
        """Account for "overdue": due before today, and in no cell said to be done."""
        dated = [c for c in self.of_kind(ColumnKind.DATE) if _DUE.search(self.table.wording(c))]
        states = [c for c in self.of_kind(ColumnKind.TEXT) if any(map(says_done, self.cells(c)))]
        if len(dated) != 1 or len(states) > 1:
            return
        self._add_past(dated[0])
        for column in states:
            cells = self.cells(column)
            rows = frozenset(at for at, cell in enumerate(cells) if not says_done(cell))
            shown = " or ".join(dict.fromkeys(filter(says_done, cells)))
            self.conditions.append(RowCondition(column, f"{self.table.header(column)} is not {shown}", rows))
        self.tokens[place].used = True

    def take_contents(self, measure: str) -> None:
        """Account for words within the cells of one column: "when was the oil changed last".

        If something else tells the rows apart, a verb at the end may be in no cell; the match is then loose.
        """
        places = [at for at in self.question.open_tokens() if not self.tokens[at].is_number]
        verb = places[-1:] if places and places[-1] == self._last_word() else []
        if verb and any(is_akin(self.tokens[verb[0]].root, word) for word in self.words_of_headers()):
            self.tokens[verb[0]].used = True
            places.pop()
        if len(places) != len(self.question.open_tokens()) or not places:
            return
        if self._take_within(places, measure) or not verb:
            return
        others = [at for at in places if at not in verb]
        if self._take_within(others, measure) if others else self.conditions:
            self.tokens[verb[0]].used = self.loose = True

    def _last_word(self) -> int:
        """The place of the last word that is neither a function word nor the superlative."""
        last = self.question.superlative.split()[-1]
        places = [at for at, token in enumerate(self.tokens) if token.low not in FUNCTION_WORDS | {last}]
        return places[-1] if places else -1

    def words_of_headers(self) -> set[str]:
        """The words of the names of all columns, without units."""
        return {word for column in self.table.columns for word in self.named(column)}

    def _take_within(self, places: Sequence[int], measure: str) -> bool:
        """Account for words that all stand in cells of one column only, in rows that meet the conditions."""
        said = {self.tokens[at].root for at in places}
        met = [at for at in range(len(self.rows)) if all(at in c.rows for c in self.conditions)]
        found: list[RowCondition] = []
        for column in self.of_kind(ColumnKind.TEXT):
            cells = self.cells(column)
            rows = frozenset(at for at in met if said <= set(content(cells[at])))
            if rows and column != measure and column not in {c.column for c in self.conditions}:
                told = {cells[at] for at in rows}
                words = " ".join(self.tokens[at].text for at in places)
                shown = f"= {told.pop()}" if len(told) == 1 else f"has “{words}”"
                found.append(RowCondition(column, f"{self.table.header(column)} {shown}", rows))
        if len(found) != 1:
            return False
        self.conditions += found
        for at in places:
            self.tokens[at].used = True
        return True

    def take_lacking(self) -> None:
        """Account for "no receipt", "no sugar": a row counts if it says no in that column, or nothing, or 0.

        A verb before it says no more: "play no instrument". Raises UnclearError if there is no such column.
        """
        lacking = self.question.lacking
        if not lacking:
            return
        said = {self.tokens[at].root for at in lacking}
        kinds = (*self.of_kind(ColumnKind.FLAG, ColumnKind.TEXT), *self.quantities)
        columns = [column for column in kinds if set(self.named(column)) == said]
        if not columns and self._take_excluded(said):
            return
        if len(columns) != 1:
            raise UnclearError
        (column,) = columns
        if self.kinds[column].kind is ColumnKind.FLAG:
            values = self.kinds[column].values
            rows = frozenset(at for at, value in enumerate(values) if value is False)
            shown = f"{self.table.header(column)} = no"
        elif column in self.quantities:
            rows = frozenset(at for at, value in enumerate(self.kinds[column].values) if value == 0)
            shown = f"{self.table.header(column)} = 0"
        else:
            rows = frozenset(at for at, cell in enumerate(self.cells(column)) if _says_none(cell))
            shown = f"no {self.table.header(column)}"
        if not rows:
            raise UnclearError
        self.conditions.append(RowCondition(column, shown, rows))
        before = [at for at in range(lacking[0] - 2, lacking[0] - 1) if at not in self.question.subject]
        for at in (
            *lacking,
            *(at for at in before if at > 0 and self.tokens[at].root not in self.words_in_cells()),
        ):
            self.tokens[at].used = True

    def _take_excluded(self, said: set[str]) -> bool:
        """Account for "without the disputed ones", if that is a value of one column: a row counts without it.

        It is kept in ``excluded``, as the question may name another value of the column.
        """
        found = {
            (column, cell)
            for column in self.of_kind(ColumnKind.TEXT)
            for cell in self.cells(column)
            if content(cell) and set(content(cell)) == said
        }
        if len({column for column, _ in found}) != 1:
            return False
        self.excluded += sorted(found)
        for at in self.question.lacking:
            self.tokens[at].used = True
        return True

    def take_excluded(self) -> None:
        """Add the conditions that rows lack what is excluded, unless they must have another value there."""
        for column, text in self.excluded:
            if all(condition.column != column for condition in self.conditions):
                cells = self.cells(column)
                rows = frozenset(at for at, cell in enumerate(cells) if cell != text)
                self.conditions.append(
                    RowCondition(column, f"{self.table.header(column)} is not {text}", rows)
                )


def _says_none(cell: str) -> bool:
    """Whether a cell says that a row has nothing of a kind."""
    return is_missing(cell) or cell.strip().casefold() in _NONE_WORDS


def says_done(cell: str) -> bool:
    """Whether a cell says that a row is done."""
    return cell.strip().casefold() in _DONE
