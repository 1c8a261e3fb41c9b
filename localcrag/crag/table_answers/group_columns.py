"""The columns of a question over groups of rows: that which names the groups, and that which is added up."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from localcrag.crag.table_answers.parsed_tables import ParsedTable
from localcrag.crag.table_answers.partial_values import PERIOD_OF
from localcrag.crag.table_answers.question_words import tokens_of
from localcrag.crag.table_answers.row_nouns import RowNouns
from localcrag.crag.table_answers.table_columns import UnclearError
from localcrag.crag.table_answers.table_conditions import is_akin
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_questions import TableQuestion
from localcrag.crag.table_answers.table_values import (
    CURRENCIES,
    TEMPORAL,
    UNITS,
    ColumnKind,
    is_missing,
    month_number,
    root,
    roots,
    word_list,
)
from localcrag.crag.table_answers.table_vocabulary import (
    AUXILIARIES,
    COST_WORDS,
    LIGHT_VERBS,
    PERSONS,
    QUANTITY_WORDS,
    RECORDING_VERBS,
)
from localcrag.types import Aggregate

_SEVERAL = re.compile(r"\s*[,;&+/]\s+|\s+and\s+")
"""What stands between the several things that a cell lists: "Ann, Bo"."""
_PLACES = frozenset(map(root, word_list("place location site city town country region station county state")))
_UNADDED = frozenset(
    map(
        root,
        word_list(
            """
            age altitude code date depth elevation grade height id index
            latitude longitude mark number percent percentage population price rank rate
            rating ratio score speed temp temperature width year zip
            """
        ),
    )
)
"""Words in the name of a column whose numbers are no parts of a sum, unless a question says "total"."""
_COUNTED = frozenset(map(root, word_list("quantity qty count pieces units unit amount number anzahl menge")))
"""Words in the name of a column that says how much there is of whatever a row is about."""
_FORMS_OF_VERBS = {
    form: forms.split()[0]
    for forms in (
        "sell sells sold selling sales sale",
        "buy buys bought buying purchase purchases purchased",
        "spend spends spent spending",
        "pay pays paid paying",
        "cost costs costing",
        "earn earns earned earning",
        "drive drives drove driven driving",
        "run runs ran running",
        "ride rides rode ridden riding",
        "walk walks walked walking",
        "cycle cycles cycled cycling",
        "travel travels travelled traveled travelling",
        "swim swims swam swum swimming",
        "work works worked working",
        "catch catches caught catching",
        "win wins won winning",
        "eat eats ate eaten eating",
        "give gives gave given donate donates donated donation donations",
        "take takes took taken taking",
        "make makes made making earnings revenue",
        "write writes wrote written writing",
        "lay lays laid laying",
        "raise raises raised raising",
        "collect collects collected collecting",
        "produce produces produced producing",
        "yield yields yielded yielding",
        "harvest harvests harvested harvesting",
        "deliver delivers delivered delivering",
        "use uses used using consume consumes consumed",
        "pick picks picked picking",
        "score scores scored scoring",
    )
    for form in forms.split()
}
"""The first form of the verbs that are often asked about."""
_MONEY_WORDS = COST_WORDS | QUANTITY_WORDS["earnings"]
_MONEY_NOUNS = frozenset(map(root, word_list("money cash revenue income turnover spending expenses")))
_KIN_OF_VERBS = {
    "sell": frozenset(map(root, word_list("sale sales sold sell revenue turnover umsatz verkauf"))),
    "buy": frozenset(map(root, word_list("purchase bought buy order ordered spend spent"))),
    "spend": _MONEY_WORDS | frozenset(map(root, word_list("spending spent expenses paid"))),
    "pay": _MONEY_WORDS | frozenset(map(root, word_list("payment paid pay"))),
    "cost": _MONEY_WORDS,
    "earn": frozenset(map(root, word_list("earnings income revenue salary wage pay paid"))),
    "work": frozenset(map(root, word_list("hours worked"))),
    "win": frozenset(map(root, word_list("medal prize title wins won"))),
    "score": frozenset(map(root, word_list("goals points"))),
    **dict.fromkeys(
        ("drive", "run", "ride", "walk", "cycle", "travel", "swim"),
        frozenset(map(root, word_list("km miles mile kilometres distance metres laps"))),
    ),
}
"""Words in the names of columns that such verbs are about."""
_OF_COSTS = frozenset(word_list("buy spend pay cost claim claimed charge charged invoice invoiced"))
_OF_INCOME = frozenset(word_list("sell earn give make raise bring brought generate generated"))
"""The verbs that are about money if a table has it: what is paid, and what comes in."""
_COSTS = frozenset(
    map(
        root, word_list("cost costs expense expenses expenditure price fee charge rent spending spent kosten")
    )
)
_INCOME = frozenset(
    map(root, word_list("revenue income sale sales turnover earnings profit donation salary wage umsatz"))
)
"""Words in the names of columns and tables of what is paid, and of what comes in."""
_CONTRARY = frozenset(
    word_list(
        "lost missed failed cancelled canceled returned refused rejected dropped declined skipped wasted owed"
        " refunded lose miss fail cancel return refuse reject drop decline skip waste owe refund"
    )
)
"""Verbs for what did not come about, which the rows of a table are not about unless they say so."""
_PLAIN_VERBS = (
    AUXILIARIES | LIGHT_VERBS | RECORDING_VERBS | {"is", "are", "got", "with", "of", "show", "shows"}
)
"""Verbs that say no more than that a group has what its rows have."""


@dataclass(frozen=True, slots=True)
class GroupLabels:
    """The groups of a table: the words that name them, their column, what they are called, that of each row.

    ``order`` are texts to sort them by if they are in one, and ``is_period`` says that they are the
    periods of a column of dates.
    """

    phrase: str
    column: str
    by: str
    labels: tuple[str, ...]
    order: Mapping[str, str] = field(default_factory=dict)
    is_period: bool = False


class GroupColumns(RowNouns):
    """Finds the columns of a table that the words of a question over groups mean."""

    @classmethod
    def of_phrase(cls, table: ParsedTable, phrase: str) -> GroupColumns:
        """The columns of a table under a phrase of a question."""
        tokens = tokens_of(phrase)
        return cls(TableQuestion(tokens, Aggregate.COUNT, subject=list(range(len(tokens)))), table)

    def groups(self) -> GroupLabels | None:
        """The groups that all words of the phrase name; None if they name no column, or could mean two.

        "Who" is the one column of persons, and "where" that of places. The months of a column of dates are
        groups as well.
        """
        lows = [token.low for token in self.tokens]
        try:
            if lows in (["who"], ["where"]):
                words = PERSONS if lows == ["who"] else _PLACES
                found = [column for column in self.table.columns if set(self.named(column)) & words]
                return self._labelled(found[0]) if len(found) == 1 else None
            column = self.numbering(0, self.table.columns) if len(lows) == 1 else ""
            column = column or self.column_said(self.table.columns, range(len(lows)))
            if column and all(token.used or token.root in self.named(column) for token in self.tokens):
                return self._labelled(column)
        except UnclearError:
            return None
        period = PERIOD_OF.get(self.tokens[0].root) if len(lows) == 1 else None
        dated = self.of_kind(ColumnKind.DATE)
        return self._of_periods(dated[0], period) if not column and period and len(dated) == 1 else None

    def _labelled(self, column: str) -> GroupLabels | None:
        """The groups by the cells of a column; None if cells list several of them."""
        spelled: dict[str, str] = {}
        labels = []
        for cell in self.cells(column):
            text = " ".join(cell.split())
            labels.append("" if is_missing(cell) else spelled.setdefault(text.casefold(), text))
        known = set(spelled)
        if any(
            known & {part.casefold() for part in _SEVERAL.split(label)} - {label.casefold()}
            for label in labels
        ):
            return None
        values = self.kinds[column].values if self.kinds[column].kind in TEMPORAL else ()
        order = {label: str(value) for label, value in zip(labels, values, strict=False)}
        months = {label: f"{month_number(label) or 0:02}" for label in labels}
        if not order and min(months.values()) > "00":
            order = months
        return GroupLabels(self._phrase, column, self.table.header(column), tuple(labels), order)

    @property
    def _phrase(self) -> str:
        return " ".join(token.text for token in self.tokens)

    def _of_periods(self, column: str, period: Callable[[date], tuple[int, ...]]) -> GroupLabels:
        """The groups by the periods of a column of dates."""
        names = []
        for day in self.kinds[column].values:
            parts = period(day) if isinstance(day, date) else ()
            is_quarter = self.tokens[0].low.startswith("quart")
            rest = [f"Q{part}" if is_quarter else f"{part:02}" for part in parts[1:]]
            names.append("-".join((*map(str, parts[:1]), *rest)))
        by = f"{self.tokens[0].low.removesuffix('s')} of {self.table.header(column)}"
        return GroupLabels(
            self._phrase, column, by, tuple(names), {name: name for name in names}, is_period=True
        )

    @property
    def _added(self) -> list[str]:
        return [column for column in self.quantities if self.adds_up(column)]

    def adds_up(self, column: str) -> bool:
        """Whether the numbers of a column may be parts of a sum, by its name."""
        return not set(self.named(column)) & _UNADDED and not self._is_balance(column)

    def measure_of(self, word: str, *, is_verb: bool) -> tuple[str, bool]:
        """The column that a verb or a noun is about, and whether that is to be checked; "" if none is.

        A verb is about the only column of numbers if none is named after it.
        """
        verb = _FORMS_OF_VERBS.get(word, word)
        kin = _KIN_OF_VERBS.get(verb, frozenset()) | {root(word), root(verb)}
        if not is_verb and root(word) in _UNADDED:
            return "", False
        if not is_verb and root(word) in _MONEY_WORDS | _MONEY_NOUNS:
            kin = kin | _MONEY_WORDS
        found = [
            c for c in self._added if any(name in kin or is_akin(name, root(word)) for name in self.named(c))
        ]
        is_money_noun = not is_verb and bool({root(word)} & (_MONEY_WORDS | _MONEY_NOUNS))
        of_money = verb in _OF_COSTS | _OF_INCOME or is_money_noun
        money = [c for c in self._added if self.may_be_money(c) and self._is_of_kind(verb, c)]
        found = found or (money if of_money else [])
        if len(found) > 1:
            products = [column for column in found if self.is_product(column)]
            found = products if len(products) == 1 else [c for c in found if self.units(c) & CURRENCIES]
        counted = [c for c in self._counts if c not in found]
        if len(found) == 1:
            is_either = bool(verb in ("sell", "buy") and counted and found[0] in money)
            is_vague = verb in _OF_INCOME and not self._words_around(found[0]) & (_INCOME | kin)
            return found[0], is_either or (is_vague and not set(self.named(found[0])) & kin)
        if found or not is_verb:
            return "", False
        if verb in LIGHT_VERBS:
            counted = counted or [c for c in self.quantities[:1] if self.quantities == self._added == [c]]
            return (counted[0], True) if len(counted) == 1 else ("", False)
        if len(self.quantities) != 1 or self._added != self.quantities:
            return "", False
        (column,) = self.quantities
        is_akin_to_name = any(is_akin(name, root(verb)) or name in kin for name in self._words_around(""))
        if not (
            (self.is_bare(column) and word in _FORMS_OF_VERBS) or is_akin_to_name
        ) or not self._is_of_kind(verb, column):
            return "", False
        return column, not (is_akin_to_name or (of_money and set(self.named(column)) & _COUNTED))

    def _words_around(self, column: str) -> set[str]:
        """The words of the name of a column, and of the nearest names of the table."""
        names = {word for name in self.table.own_names for word in roots(name)}
        return names | (set(roots(self.table.wording(column))) if column else set())

    def _is_of_kind(self, verb: str, column: str) -> bool:
        """Whether a verb may be about a column of money: nobody earns expenses, or spends an income."""
        around = self._words_around(column)
        if verb in _OF_INCOME:
            return not around & _COSTS
        return not (verb in _OF_COSTS and around & _INCOME and not around & _COSTS)

    def counts_things(self) -> bool:
        """Whether a column says how many of a thing a row stands for."""
        return bool(self._counts)

    @property
    def _counts(self) -> list[str]:
        """The columns that say how much there is of a thing, and are no money."""
        return [c for c in self._added if set(self.named(c)) & _COUNTED and not self.may_be_money(c)]

    def adds_over_time(self, match: TableMatch, column: str) -> bool:
        """Whether what is added up may be so for each thing of a column, though it may have several times."""
        is_of_times = self.is_panel(column) and not (
            self.is_of_events(match.column) or self.is_of_days(match.column)
        )
        return match.question.operation is not Aggregate.TOTAL or not is_of_times

    def is_bare(self, column: str) -> bool:
        """Whether the name of a column says no more than that it is an amount, or its unit."""
        return set(self.named(column)) <= _COUNTED | UNITS

    def is_amount(self, column: str) -> bool:
        """Whether the numbers of a column are surely meant: money, or amounts without another name."""
        return bool(column) and (self.is_bare(column) or self.may_be_money(column))

    def is_measured(self) -> bool:
        """Whether the words of what a question counts stand in the name of a column of numbers."""
        said = {self.tokens[at].root for at in self.question.subject}
        return any(said & set(roots(self.table.wording(column))) for column in self.quantities)

    def only_measure(self) -> str:
        """The one column that can be added up; "" if there are several, none of which is the product."""
        products = [column for column in self._added if self.is_product(column)]
        found = self._added if len(self._added) == 1 else products
        return found[0] if len(found) == 1 else ""

    def takes_verb(self, verb: str, column: str) -> bool | None:
        """Whether a verb says no more than a column and the names of the table do; None if it may not.

        It may not if it stands in another column or its cells.
        """
        if not verb or verb in _PLAIN_VERBS:
            return True
        if verb in _CONTRARY:
            return None
        first = _FORMS_OF_VERBS.get(verb, verb)
        kin = _KIN_OF_VERBS.get(first, frozenset()) | {root(verb), root(first)}
        said = self._words_around(column) | (self.units(column) if column else set())
        if any(word in kin or is_akin(word, root(verb)) for word in said if word):
            return True
        known = self.words_of_headers() | self.words_in_cells()
        return None if {root(verb), root(first)} & known else False


def is_repeated(labels: Sequence[str], rows: Sequence[int]) -> bool:
    """Whether a group has several of some rows, and there is more than one."""
    counts = Counter(labels[at] for at in rows if labels[at])
    return len(counts) > 1 and max(counts.values()) > 1
