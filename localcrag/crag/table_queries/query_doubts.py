"""What makes a query doubtful by the words of its question, or no answer at all.

A query that measures by another column than the question says, or passes over one that it names ("at the
Olympic **competition**"), answers another question; one that counts the row of a name answers none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from decimal import Decimal

from localcrag.crag.questions.query_terms import COUNTING_ELSE, STOP_WORDS, stem
from localcrag.crag.refinement.strip_kinds import is_unnamed
from localcrag.crag.table_answers.parsed_tables import ROW
from localcrag.crag.table_answers.table_values import WORD, root, roots, word_list
from localcrag.crag.table_answers.table_vocabulary import NAMING_WORDS, PERSONS, QUANTITY_WORDS, SUPERLATIVES
from localcrag.crag.table_queries.query_results import rows_of
from localcrag.crag.table_queries.query_table import QueryTable
from localcrag.crag.table_queries.said_values import SaidValues
from localcrag.crag.table_queries.table_query import Condition, TableQuery
from localcrag.types import HEADER_SEPARATOR

_SHARE_OF = re.compile(
    r"\b(?:share|percentage|per ?cent|proportion|fraction|%) of (?:the |all |our )?"
    r"(?P<whole>(?:[\w-]+ ){1,4})",
    re.IGNORECASE,
)
"""How a question names that of which a share is asked for, by its first words."""
OF_TABLE = re.compile(
    r"\b(?:in|of|on|from|among|according to) (?:the|our|this|that|my) (?:[\w'’-]+ ){0,5}"
    r"(?:list|table|ranking|data ?set|data|file|(?:spread)?sheet|register|figures|statistics|survey)\b",
    re.IGNORECASE,
)
"""How a question names the table that it means: "in the 2022 airport ranking"."""
_ONE_ASKED = re.compile(
    r"^\W*(?:(?:when|where|who)(?! are\b| were\b)|how|why|can|is|does|do|what['’]s"
    r"|(?:which|what) (?:is|was|time|day|date|[\w-]*[^s\W] (?:is|was|does|do|did)))\b",
    re.IGNORECASE,
)
"""How a question asks for a single thing."""
_PAID_BACK = re.compile(
    r"\b(?:pa(?:ys?|id)(?: \w+)? (?:out|back)|g[eo]t(?:s|ting)? (?:\w+ ){0,2}back|(?:refund|reimburse)\w*)\b",
    re.IGNORECASE,
)
_PAYMENT = re.compile(r"pa(?:y|id)|refund|reimburse|settle|back|benefit|grant", re.IGNORECASE)
"""How a question asks for what came back, and how a table says that it did."""
_FALLING = frozenset(
    map(
        stem,
        word_list(
            "drop dropped fall fell fallen decline declined decrease decreased shrink shrank shrunk lose lost"
        ),
    )
)
_RISING = frozenset(
    map(stem, word_list("rise rose risen grow grew grown increase increased gain gained climb climbed"))
)
"""Verbs of what becomes less or more from one year to a later one."""
_NOTIONS = tuple(
    frozenset(map(root, word_list(words)))
    for words in (
        "revenue turnover umsatz umsätze erlös fatturato ricavi ingresos facturación",
        "profit profits gain margin gewinn überschuss bénéfice utile guadagno beneficio ganancia",
    )
)
"""Words for what a firm takes in and for what is left of it: sums of money which no other one tells."""
_DONE_LONGEST = re.compile(
    r"\b(?:do|does|did|people|they|who|which [\w-]+) "
    r"(?P<verb>(?!(?:is|are|was|were|has|have|had|got|the)\b)[a-z]{3,}) (?:the )?(?:longest|shortest)\b",
    re.IGNORECASE,
)
_MIN_SHARED = 3
"""How a question says what is done longest, and how many letters tell its verb."""
_WHO_ASKED = re.compile(r"\W*(?:who|whose|wer|wessen|qui|quién(?:es)?|chi)\b", re.IGNORECASE)
_COUNTED_ELSE = re.compile(rf"\W*{COUNTING_ELSE}", re.IGNORECASE)
"""How a question asks for a person, and how it counts things in other languages than English."""
_AND_OTHERS = re.compile(r"\b(?:and so (?:on|forth)|etc|and the like)\b|…|\.\.\.", re.IGNORECASE)
"""How a question ends a list of which it names some."""
_MARKS = frozenset({"1", "0", "y", "n", "yes", "no", "true", "false"})
MIN_LONG_COLUMNS = 3
"""The fewest columns of a table in long form."""
MIN_ALIKE = 2
"""How many rows on average have the same cell in a column whose name asks for one."""
MIN_UNTOLD, MAX_UNTOLD_SHARE = 5, 0.7
"""How many words of a question a table must lack, and what share of them, if its rows may not be meant. Of 14
questions that were rightly answered by a count over real files none lacked as much."""
MIN_NAMES_SHARE = 0.9
"""The share of the cells of a column that differ if they are names."""
_FORM_WORDS = frozenset(
    map(
        root,
        word_list(
            "how many much number total sum average mean share count most least more less highest lowest"
        ),
    )
) | frozenset(map(root, (*STOP_WORDS, *SUPERLATIVES)))
"""Words of questions that stand for what is computed, and not for what of."""


def passes_over_column(query: TableQuery, table: QueryTable, question: str) -> bool:
    """Whether a question has the name of a column of several rows alike that a query does not ask for.

    A column of which all cells differ has what the rows are, and a question names these for that. The words
    of the table, of a column that the query has and of its conditions are there for other reasons.
    """
    conditions = (value for condition in query.conditions for value in condition.values)
    used = {each for name in (*table.names, *query.columns, *conditions) for each in roots(name)}
    asked = {*roots(OF_TABLE.sub(" ", question))} - used
    others = [column for column in table.columns.values() if column.name not in query.columns]
    return any(
        (words := {*roots(column.name)})
        and words <= asked
        and MIN_ALIKE * len(column.distinct) <= len(column.filled)
        for column in others
    )


def ranks_by_another_verb(query: TableQuery, table: QueryTable, question: str) -> bool:
    """Whether a question says what is done longest or shortest, and a query ranks by something else.

    "Where do people live shortest?" asks for no height. A verb has three letters of the column or its table.
    """
    said = _DONE_LONGEST.search(question)
    if said is None or query.key is None:
        return False
    known = {each for name in (*table.names, *query.measured) for each in roots(name)}
    stem_of_verb = said["verb"].casefold()[:_MIN_SHARED]
    return not any(each.startswith(stem_of_verb) for each in known)


def orders_against_change(query: TableQuery, table: QueryTable, question: str) -> bool:
    """Whether a query ranks changes from the other end than a question does: "fell most", the greatest first.

    Changes are numbers below and above zero.
    """
    rose = asks_for_rise(question)
    if query.key is None or query.key.expression is None or rose is None or query.is_descending is rose:
        return False
    return has_gains_and_losses(table, query.key.expression.columns)


def asks_for_rise(question: str) -> bool | None:
    """Whether a question asks for what rose, by its verbs; False for what fell, None for both or neither."""
    verbs = {stem(word) for word in WORD.findall(question.casefold())}
    fell, rose = not verbs.isdisjoint(_FALLING), not verbs.isdisjoint(_RISING)
    return None if fell is rose else rose


def has_gains_and_losses(table: QueryTable, columns: Iterable[str]) -> bool:
    """Whether columns have numbers below and above zero."""
    values = [
        value for name in columns for value in table.columns[name].typed.values if isinstance(value, Decimal)
    ]
    return bool(values) and min(values) < 0 < max(values)


def ranks_rows_of_groups(query: TableQuery, table: QueryTable) -> bool:
    """Whether a query ranks rows where each thing that it names has several: a county its precincts.

    "Which county has the most voters?" asks for the sum of its rows, and not for the highest of all.
    """
    target = query.targets[0].expression
    is_ranking = query.limit == 1 and not query.group and not query.targets[0].function
    if not is_ranking or target is None or target.operator or table.columns[target.column].is_ordered:
        return False
    named = [table.columns[target.column].cells[at] for at in rows_of(query, table)]
    return len(named) >= MIN_ALIKE * len(set(named)) > MIN_ALIKE


def reads_every_period(query: TableQuery, table: QueryTable) -> bool:
    """Whether a query over a table in long form reads the values of a thing, and says of no period which.

    The last columns of such a table are that of the period and that of the values.
    """
    if table.counted == ROW or not query.reads_cells or query.key or len(table.columns) < MIN_LONG_COLUMNS:
        return False
    *_, period, measure = table.columns
    read = {
        column
        for target in query.targets
        for column in (target.expression.columns if target.expression else ())
    }
    said = {condition.column for condition in query.conditions}
    return measure in read and period not in read | said and measure not in said


def takes_examples_for_all(query: TableQuery, question: str) -> bool:
    """Whether a query takes those that a question only begins to list for all: "AL2, BL3 and so on"."""
    lists = any(len(condition.values) > 1 for condition in query.conditions)
    return lists and _AND_OTHERS.search(question) is not None


def measures_another(query: TableQuery, table: QueryTable, question: str) -> bool:
    """Whether a query measures by a column of numbers that a question does not say, and it says another one.

    "How many died of disease?" is not told by the column "wounds" beside "disease", nor the turnover with a
    customer by the customs value of what it sent. "¿Cuántas ayudas hay?" asks for no sum of points.
    """
    asked = {*roots(OF_TABLE.sub(" ", question))}
    known = {each for name in (*table.names, *query.measured) for each in roots(name)}
    if query.measured and any(notion & asked and not notion & known for notion in _NOTIONS):
        return True
    measured = {name for name in query.measured if table.columns[name].is_number}
    unsaid = [name for name in measured if asked.isdisjoint(roots(name))]
    if unsaid and _COUNTED_ELSE.match(question) and query.targets[0].function not in ("", "COUNT"):
        return True
    others = (column.name for column in table.columns.values() if column.is_number)
    return bool(unsaid) and any(
        name not in query.columns and (words := {*roots(name)}) and words <= asked for name in others
    )


def is_of_other_things(query: TableQuery, table: QueryTable, question: str, said: SaidValues) -> bool:
    """Whether a question has no word of a table but of its own form, and a query measures or groups all rows.

    "The maximum number of books that a collection can hold" is not the highest of any column, and "which area
    has the most docking stations?" asks for no state with airports.
    """
    is_measured = query.targets[0].function not in ("", "COUNT", "SHARE")
    named = {each for name in (*table.names, *table.columns) for each in roots(name)}
    words = {*roots(question)} - _FORM_WORDS
    meant = {each for word in WORD.findall(question.casefold()) for each in _meant_by(word)}
    is_of_all = not (query.conditions or query.group or said.cells or said.parts)
    is_of_groups = bool(query.group) and not (query.conditions or query.period or said.cells)
    meant |= PERSONS if _WHO_ASKED.match(question) else set()
    return ((is_measured and is_of_all) or is_of_groups) and named.isdisjoint(words | meant)


def pays_nothing_back(query: TableQuery, table: QueryTable, question: str) -> bool:
    """Whether a question is for what was paid out or refunded, and a table of costs says nothing of that.

    "How much did the insurance pay out?" is not the sum of the bills that it was sent.
    """
    said = _PAID_BACK.search(question)
    if said is None or not query.measured:
        return False
    told = (*table.names, *table.columns, *(value for each in query.conditions for value in each.values))
    return not any(_PAYMENT.search(text) for text in told)


def _meant_by(superlative: str) -> frozenset[str]:
    """The words for columns that a superlative means; none for other words."""
    about = SUPERLATIVES.get(superlative, ("", ""))[1]
    return QUANTITY_WORDS.get(about, frozenset()) | ({root(about)} if about else frozenset())


def counts_untold(query: TableQuery, table: QueryTable, question: str, said: SaidValues) -> bool:
    """Whether a query counts rows, and the table has few of the words of its question.

    "How many years does the University of Hong Kong keep the recordings?" asks for no rows of "HK".
    """
    values = (
        *(cell for cells in (*said.cells.values(), *said.parts.values()) for cell in cells),
        *(value for each in query.conditions for value in each.values),
    )
    known = {each for name in (*table.names, *table.columns, *values) for each in roots(name)}
    asked = {*roots(question)} - _FORM_WORDS
    untold = asked - known
    return counts_rows(query) and len(untold) >= MIN_UNTOLD and len(untold) > MAX_UNTOLD_SHARE * len(asked)


def counts_by_heading(query: TableQuery, table: QueryTable, counted: Collection[Sequence[str]]) -> bool:
    """Whether a query counts all rows as what only the heading above them is called, and a column names them.

    "How many dogs came in?" asks for no vaccines below "Dogs".

    Args:
        query: the query.
        table: its table.
        counted: the names, in words for comparison, of what its question counts.
    """
    label = table.label
    if not counts_rows(query) or query.conditions or {*roots(label)} <= NAMING_WORDS:
        return False
    heading, *others = table.names or ("",)
    known = {each for name in (*others, *table.columns) for each in roots(name)}
    is_told_apart = len(table.columns[label].distinct) == table.size
    return is_told_apart and any(name and {*name} <= {*roots(heading)} - known for name in counted)


def takes_whole_for_part(query: TableQuery, question: str) -> bool:
    """Whether a query gives the share of the rows of which a question asks for the share of a part.

    "What share of the stage IV patients died?" asks for no share of stage IV among all patients, but what it
    asks for is more than a query can say.
    """
    asked = _SHARE_OF.search(question)
    if asked is None or query.targets[0].function != "SHARE":
        return False
    whole = {*roots(asked["whole"])}
    said = [{*roots(f"{each.column} {' '.join(each.values)}")} - _MARKS for each in query.conditions]
    return any(words and words <= whole for words in said)


def ranks_one_row(query: TableQuery, table: QueryTable) -> bool:
    """Whether a query looks for the first in the one row of a name, which is first of nothing."""
    return query.key is not None and any(is_of_one_name(each, table) for each in query.conditions)


def counts_one_name(query: TableQuery, table: QueryTable) -> bool:
    """Whether a query counts the one row of a name: that is 1, whatever of it a question asks for."""
    return counts_rows(query) and any(is_of_one_name(each, table) for each in query.conditions)


def is_of_one_name(condition: Condition, table: QueryTable) -> bool:
    """Whether a condition is that a name, or a part of one, is that of a single row."""
    column = table.columns.get(condition.column)
    if column is None or len(column.distinct) <= max(1, MIN_NAMES_SHARE * len(column.filled)):
        return False
    return is_of_one_row(condition, table)


def is_of_one_row(condition: Condition, table: QueryTable) -> bool:
    """Whether a single row has a text that a condition asks for."""
    column = table.columns.get(condition.column)
    if column is None or column.is_ordered or condition.operator not in ("=", "LIKE"):
        return False
    if condition.operator == "=":
        return sum(cell in condition.values for cell in column.cells) == 1
    words = {*roots(condition.values[0])}
    return sum(words <= {*roots(cell)} for cell in column.cells) == 1


def counts_rows(query: TableQuery) -> bool:
    """Whether a query gives the number of the rows that meet its conditions."""
    target = query.targets[0]
    return not query.group and target.function == "COUNT" and target.expression is None


def guesses_column(query: TableQuery, table: QueryTable) -> bool:
    """Whether a query asks for the numbers of a column without a name, or ranks by them, beside others alike.

    Which of two such columns is the temperature of a star, nobody knows here.
    """
    unnamed = unnamed_numbers(table)
    return len(unnamed) > 1 and not set(query.measured).isdisjoint(unnamed)


def chooses_among_alike(query: TableQuery, table: QueryTable, question: str) -> bool:
    """Whether a query asks for one of several columns below one name, of which its question has no own word.

    Of "Deposit / private" and "Deposit / trade" the deposit of a business may be either.
    """
    words, asked = {*roots(question)}, set(query.measured)
    for name in asked:
        upper, _, own = name.rpartition(HEADER_SEPARATOR)
        alike = [each for each in table.columns if each.rpartition(HEADER_SEPARATOR)[0] == upper]
        if upper and words.isdisjoint(roots(own)) and not asked.issuperset(alike):
            return True
    return False


def unnamed_numbers(table: QueryTable) -> list[str]:
    """The columns of numbers that have no name."""
    return [name for name, column in table.columns.items() if column.is_number and is_unnamed(name)]


def computes_each_row(query: TableQuery, table: QueryTable) -> bool:
    """Whether a query takes two columns together, row by row, over all of several rows, as no question asks.

    "How old is the patient who was watched from day 3 to day 9?" is no ``"day_9" - "day_3"``.
    """
    target = query.targets[0]
    is_bare = query.reads_cells and not query.conditions
    return is_bare and table.size > 1 and target.expression is not None and bool(target.expression.operator)


def reads_every_row(query: TableQuery, table: QueryTable, question: str) -> bool:
    """Whether a query reads cells of all rows, and the question is for one: "when can I check in?"."""
    is_bare = query.reads_cells and not query.conditions
    return is_bare and table.size > 1 and _ONE_ASKED.search(question) is not None


def gives_what_it_asks(query: TableQuery) -> bool:
    """Whether a query reads only cells that its own conditions tell: the country of those from Iceland."""
    told = {each.column for each in query.conditions if each.operator == "="}
    return query.reads_cells and bool(query.conditions) and set(query.selected) <= told


def repeats_name(query: TableQuery) -> bool:
    """Whether a condition asks for the name of its column, which no question means: airports in "Airport"."""
    return any(
        condition.operator == "LIKE" and {*roots(condition.values[0])} <= {*roots(condition.column)}
        for condition in query.conditions
    )
