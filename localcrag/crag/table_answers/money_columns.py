"""The columns of money of a table, by their names, their units, and the numbers in their rows."""

from __future__ import annotations

from localcrag.crag.table_answers.row_products import is_product
from localcrag.crag.table_answers.spelled_values import SpelledValues
from localcrag.crag.table_answers.table_columns import UnclearError
from localcrag.crag.table_answers.table_values import CURRENCIES, root, word_list
from localcrag.crag.table_answers.table_vocabulary import COST_WORDS, QUANTITY_WORDS


def root_set(words: str) -> frozenset[str]:
    """The roots of the words of a text."""
    return frozenset(map(root, word_list(words)))


_TOTAL = root("total")
_FINAL_WORDS = root_set("final actual paid spent real effective tatsächlich ist")
"""Words in the name of a column of what something cost in the end."""
_SUM_WORDS = _FINAL_WORDS | root_set(
    "estimate estimated planned plan budget budgeted total sum net gross due offer"
)
"""Words that name a column of sums of money by themselves."""
_MONEY_WORDS = root_set("money revenue turnover takings")
"""Words of a question for sums of money, however their column is called."""
_FEE_WORDS = root_set("fee fare charge gebühr")
"""Words that name a column of what was paid for each row."""


class MoneyColumns(SpelledValues):
    """Finds the column of what things cost, and what they cost altogether."""

    def check_counted(self) -> None:
        """Refuse to count rows if a question asks for a sum of money: it is no number of things."""
        said = {self.tokens[at].root for at in self.question.open_tokens()}
        if said & COST_WORDS and not any(token.low == "number" for token in self.tokens):
            raise UnclearError

    def total_said(self) -> str:
        """The one column of totals of what is asked for: "total cost" of "total_cost" beside "unit_cost".

        If another column has all words but "total" it must be proven by the numbers of its rows.
        """
        said = {self.tokens[at].root for at in self.question.open_tokens()}
        named = {column: set(self.named(column)) for column in self.quantities}
        found = [c for c, words in named.items() if _TOTAL in words and words - said == {_TOTAL} != words]
        others = [c for c, words in named.items() if found and words == named[found[0]] - {_TOTAL}]
        if len(found) != 1 or (others and not self.is_product(found[0])):
            return ""
        for at in self.question.open_tokens():
            self.tokens[at].used = self.tokens[at].root in named[found[0]]
        return found[0]

    def is_product(self, column: str) -> bool:
        """Whether the numbers of a column are those of two others, one times the other, in each row."""
        others = [self.kinds[other].values for other in self.quantities if other != column]
        return is_product(self.kinds[column].values, others)

    def costs(self) -> str:
        """The one column of what something cost; in the end, that of what was paid at last."""
        money = [c for c in self.quantities if self.may_be_money(c)]
        if self.question.costing == "final":
            money = [c for c in money if set(self.named(c)) & _FINAL_WORDS]
        products = [c for c in money if len(money) > 1 and self.is_product(c)]
        money = products or money
        if len(money) != 1:
            raise UnclearError
        return money[0]

    def money_said(self) -> str:
        """The one column of what something cost, for a word that no column has: "revenue", "the most money".

        The word is then accounted for, and the match is loose. "" if no word of the question is one.
        """
        places = [at for at in self.question.open_tokens() if self.tokens[at].root in _MONEY_WORDS]
        if not places:
            return ""
        column = self.costs()
        for at in places:
            self.tokens[at].used = True
        self.loose = True
        return column

    def fees(self) -> str:
        """The one column of money, if its numbers are what was paid for each row: fees, and no prices.

        Beside numbers of something else a fee may be one for each of them; the match is then loose.
        """
        money = [column for column in self.quantities if self.may_be_money(column)]
        if len(money) != 1 or not set(self.named(money[0])) & _FEE_WORDS:
            return ""
        self.loose = self.loose or len(self.quantities) > 1
        return money[0]

    def may_be_money(self, column: str) -> bool:
        """Whether a column is one of sums of money, by its unit or its name."""
        named = set(self.named(column))
        is_named = named & COST_WORDS or named <= _SUM_WORDS
        return bool(self.units(column) & CURRENCIES or (is_named and not self.units(column) - {""}))

    def take_words_for_money(self, column: str) -> None:
        """Account for "cost" and the like beside the name of a column of sums: "the total actual cost"."""
        if set(self.named(column)) <= _SUM_WORDS and self.may_be_money(column):
            for at in self.question.open_tokens():
                self.tokens[at].used = self.tokens[at].root in QUANTITY_WORDS["spending"]
