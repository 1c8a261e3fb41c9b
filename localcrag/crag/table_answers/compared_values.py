"""Questions that compare two values of a table by what their rows add up to: "Did Ann or Ben sell more?"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from localcrag.crag.table_answers.foreign_wording import in_english
from localcrag.crag.table_answers.group_columns import GroupColumns
from localcrag.crag.table_answers.group_questions import REFUSED_WORDS, quantities_of
from localcrag.crag.table_answers.grouped_quantities import GroupedQuantity
from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.crag.table_answers.question_words import tokens_of, with_plain_wording
from localcrag.crag.table_answers.row_extremes import extreme_of_row, things_of
from localcrag.crag.table_answers.row_groups import Grouping
from localcrag.crag.table_answers.table_columns import RowCondition, content, required_words
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_questions import MAX_WORDS
from localcrag.crag.table_answers.table_values import root, roots
from localcrag.crag.table_answers.table_vocabulary import FUNCTION_WORDS
from localcrag.crag.table_answers.unrivalled_tables import unrivalled

_MORE = r"(?P<more>more|higher|larger|bigger|greater|less|fewer|lower|smaller)"
_PAIR = r"(?P<one>[^?,;]+?),? or (?:(?:on|in|by|at|for|from|to) )?(?:the )?(?P<other>[^?,;]+?)"
_TAIL = r"(?P<tail> (?:in|during|for|at|since|between|over) [^?,;]+?)?\W*"
_FORMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?:(?:who|what|which(?: (?P<noun>[\w-]+))?)) (?P<verb>[\w-]+(?: (?:we|i|they|you) [\w-]+)?)"
        rf" (?:the )?{_MORE}(?P<rest>[^?,;:]*)[,:;] (?:the )?{_PAIR}{_TAIL}",
        rf"(?:did|do|does) (?P<asker>we|i|they) (?P<verb>[\w-]+) {_MORE}(?P<rest>(?: [\w-]+)*?)"
        rf" (?:on|in|at|for|from|to) (?:the )?{_PAIR}{_TAIL}",
        rf"(?:did|do|does) (?P<asker>we|i|they) (?P<verb>[\w-]+) {_MORE}(?P<rest>) {_PAIR}{_TAIL}",
        r"(?:did|do|does|has|have) (?:the )?(?P<one>[^?,;]+?)"
        r" or (?:the )?(?P<other>[\w'’.-]+(?: [A-Z][\w'’.-]*)?)"
        rf" (?P<verb>[\w-]+) {_MORE}(?P<rest>[^?,;]*?)\W*",
        rf"(?:by )?how (?:much|many) {_MORE}(?P<rest>(?: [\w-]+)*?) (?:did|do|does|has|have|had|was|is)"
        r" (?:the )?(?P<one>[^?,;]+?) (?P<verb>[\w-]+) than (?:did )?(?:the )?(?P<other>[^?,;]+?)"
        rf"{_TAIL}",
        r"(?:was|were|is|are) (?P<verb>more) (?P<spent>[\w-]+)(?P<rest>)"
        rf" (?:on|in|at|for|from|to) (?:the )?{_PAIR}{_TAIL}",
    )
)
"""How a question compares: "which was higher, A or B", "did A or B sell more", "how much more has A …"."""
_BETWEEN = re.compile(r" (?:or|than) ", re.IGNORECASE)
"""What stands between the two that are compared, once."""
_LESS = frozenset(("less", "fewer", "lower", "smaller"))
_SINGLE = frozenset(("more", "less", "fewer"))
_SIZED = frozenset(("bigger", "larger", "smaller", "greater"))
"""What may be about any column, unless a question names one."""
_LEADING = re.compile(r"(?:on|in|by|at|for|from|to|the) ", re.IGNORECASE)
_SPENDING = frozenset(("spend", "spent", "pay", "paid", "cost", "costs"))
"""Verbs that say of what is compared that it is money."""
_BEING = frozenset(("was", "is", "were", "are", "had", "has", "have", "got"))


@dataclass(frozen=True, slots=True)
class ComparedQuestion:
    """A question which of two values has more, or less: for each of them, what it asks of its rows.

    ``noun`` is what it calls them, "" if it does not. If they are columns, ``names`` are theirs and ``row``
    is the name of the row in which they are compared; ``is_plain`` says that its verb only has or spends.
    """

    noun: str
    quantities: tuple[tuple[GroupedQuantity, GroupedQuantity], ...]
    highest: bool
    question: str = ""
    names: tuple[str, ...] = ()
    row: str = ""
    is_plain: bool = True

    def matches(self, tables: Sequence[ParsedTable]) -> Iterator[TableMatch]:
        """How the tables of a document answer; by two of their columns if none does by two values."""
        found = list(unrivalled(tables, self._match))
        yield from found or filter(None, map(self._of_columns, tables))

    def _of_columns(self, table: ParsedTable) -> TableMatch | None:
        """Which of two columns has more in the row that is named; it is loose if a verb is left over."""
        things = things_of(table)
        said = [
            [
                column
                for column in things
                if content(name) in (content(table.wording(column)), required_words(table.wording(column)))
            ]
            for name in self.names
        ]
        columns = [column for found in said for column in found]
        if len(columns) != len(self.names) or len(set(columns)) != len(columns) or not self.row:
            return None
        more = "highest" if self.highest else "lowest"
        found = extreme_of_row(
            table, columns, self.row, self.question, highest=self.highest, superlative=more
        )
        return replace(found, loose=not self.is_plain) if found is not None else None

    def _match(self, table: ParsedTable) -> TableMatch | None:
        for pair in self.quantities:
            first, second = (quantity.match(table) for quantity in pair)
            if first is not None and second is not None and (both := self._united(first, second)):
                return both
        return None

    def _united(self, first: TableMatch, second: TableMatch) -> TableMatch | None:
        """One match over the rows of two; None if they differ in more than a value of one column."""
        own = [c for c in first.conditions if c not in second.conditions]
        other = [c for c in second.conditions if c not in first.conditions]
        if (
            len(own) != 1
            or len(other) != 1
            or own[0].column != other[0].column
            or own[0].rows & other[0].rows
        ):
            return None
        of_one = (first.column, first.entity, first.question.operation, first.rows)
        if of_one != (second.column, second.entity, second.question.operation, second.rows):
            return None
        column = own[0].column
        if self.noun and root(self.noun) not in roots(first.table.wording(column)):
            return None
        if not GroupColumns(first.question, first.table).adds_over_time(first, column):
            return None
        cells = [row.cells.get(column, "") for row in first.rows]
        names = [next(cells[at] for at in sorted(condition.rows)) for condition in (own[0], other[0])]
        labels = tuple(
            names[0] if at in own[0].rows else names[1] if at in other[0].rows else ""
            for at in range(len(cells))
        )
        header = first.table.header(column)
        either = RowCondition(column, f"{header} = {names[0]} or {names[1]}", own[0].rows | other[0].rows)
        conditions = (*(c for c in first.conditions if c != own[0]), either)
        grouping = Grouping(header, labels, self.highest, is_compared=True)
        is_loose = first.loose or second.loose
        return replace(first, conditions=conditions, grouping=grouping, loose=is_loose)


def compared_question(question: str) -> ComparedQuestion | None:
    """The form of a question which of two values has more; None for another question."""
    plain = with_plain_wording(in_english(question)).strip()
    found = next(filter(None, (form.fullmatch(plain) for form in _FORMS)), None)
    if found is None or len(_BETWEEN.findall(plain)) != 1:
        return None
    said = found.groupdict()
    names = (_plain_name(said["one"]), _plain_name(said["other"]))
    more, rest = (said.get("more") or "more").lower(), f"{said['rest']}{said.get('tail') or ''}".split()
    verb = (said.get("spent") or said["verb"]).lower().split()[-1]
    refused = REFUSED_WORDS - {"or", "than"}
    others = {token.low for token in tokens_of(" ".join((*names, *rest)))}
    if not all(names) or refused & others or not others or len(plain.split()) > MAX_WORDS:
        return None
    plain_verb = "" if verb in _BEING else verb
    if more in _SIZED and not said["rest"]:
        return None
    pairs = [
        quantities_of(plain_verb, [*rest, "of", *name.split()], is_summed=more not in _SINGLE)
        for name in names
    ]
    row = [word for word in rest if word.lower() not in FUNCTION_WORDS]
    return ComparedQuestion(
        said.get("noun") or "",
        tuple(zip(*pairs, strict=True)),
        more not in _LESS,
        plain,
        names,
        " ".join(row),
        is_plain=not plain_verb or plain_verb in _SPENDING,
    )


def _plain_name(name: str) -> str:
    """A name without the preposition and the article before it."""
    while (found := _LEADING.match(name)) is not None:
        name = name[found.end() :]
    return name.strip(" ?.!")
