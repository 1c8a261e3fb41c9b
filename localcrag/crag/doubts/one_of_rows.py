"""Whether a question goes over all rows of a table, and the evidence is one row that it does not name.

"How many are there?" and "which has the most?" are answered by code if at all, and a row that looks like an
answer to a judge of relevance is one of many.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.questions.calendar_dates import month_and_day, months_asked
from localcrag.crag.questions.query_terms import OPENING_WORDS, terms, terms_asked_for
from localcrag.crag.questions.question_extent import things_asked_for
from localcrag.crag.refinement.knowledge_strips import strips
from localcrag.crag.refinement.strip_context import headings_above, judged_text
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import (
    blocks_within,
    cells_of,
    column_names,
    first_cell,
    is_row,
    named_cell,
    prose_of,
)
from localcrag.crag.rows.row_lookup import is_one_of_many, is_one_of_several, tells_no_count
from localcrag.crag.state import QuestionState
from localcrag.crag.table_answers.foreign_wording import asks_over_rows
from localcrag.crag.table_answers.list_questions import (
    asks_for_all,
    asks_for_extreme,
    asks_for_list,
    compares_with_number,
)
from localcrag.crag.table_answers.long_tables import goes_over_periods
from localcrag.crag.table_answers.lookup_questions import asks_over_groups
from localcrag.crag.table_answers.table_questions import asks_for_rows
from localcrag.crag.table_answers.total_wording import asks_for_total, asks_for_total_of_years
from localcrag.types import BlockKind, Strip

EQUAL_ROW_SHARE, MIN_EQUAL_ROWS = 0.9, 2
"""The share of the probability of a row from which on another one is as probable, and how many others make it
one of many."""
_MUCH_ASKED = re.compile(
    r"\bhow (?:much|many)\b|\bwie ?viele?\b|\bcombien\b|\bcuánt[oa]s?\b|\bquant[aei]\b|\bсколько\b",
    re.IGNORECASE,
)
"""How a question asks for an amount or a number: in English, German, French, Spanish, Italian, Russian."""
COUNT_ASKED = re.compile(r"\bhow many\b|\bwie ?viele\b|\bcombien de\b|\bcuánt[oa]s\b", re.IGNORECASE)
_OF_ALL_ASKED = re.compile(r"\bhow many of (?:the|all|these|those|our|my|their|its)\b", re.IGNORECASE)
"""How a question asks for the number of those among all that are something."""
_EXTREME = (
    r"(?:highest|lowest|largest|smallest|biggest|greatest|longest|shortest|latest|earliest|oldest|newest)"
)
_EXTREME_ASKED = re.compile(
    rf"\bwhich\b.{{1,80}}\b(?:(?:has|had|have|is|was|are|were|got) the (?:very )?{_EXTREME}"
    r"|the (?:most|least|fewest))\b",
    re.IGNORECASE,
)
"""How a question asks for the first of all rows."""
_GREATEST_ASKED = re.compile(
    rf"\b(?:which|who) (?!of\b).{{1,80}}?"
    rf"(?:(?<!\bof )\bthe (?:very )?(?:(?P<word>{_EXTREME})|(?P<many>most|fewest))\b"
    r"|(?<!\bthe )\b(?P<degree>most|least) (?!of\b|likely\b)[a-z])"
    rf"|\bwhat(?:['’]s| is| was) the (?:very )?(?P<one>{_EXTREME})\b",
    re.IGNORECASE,
)
"""How a question asks for the row that has or reaches the greatest figure of all, or is most of all."""
_BOUND_TOLD = re.compile(r"max|min(?!ut)|peak|record|limit|up to|at most|at least", re.IGNORECASE)
"""How a row says that it tells the most or the least of something: "dPitchMax"."""
_AVERAGE_ASKED = re.compile(
    r"\b(?:on average|averaged?|means? of|mean (?=[a-z]))\b"
    r"|\bim (?:durchschnitt|mittel)\b|\bdurchschnittlich",
    re.IGNORECASE,
)
_AVERAGE_TOLD = re.compile(r"average|mean|\bavg|\bø|schnitt|moyen|mittel|promedio", re.IGNORECASE)
"""How a question asks for an average, and how a row says that it is one."""
_LEFT_OUT = re.compile(
    r"\b(?:leaving out|except(?:ing)?(?: for)?|excluding|apart from|other than|besides|not counting|without)"
    r" (?P<what>[^,;:?]+)",
    re.IGNORECASE,
)
"""How a question names what does not count."""
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_WORD_JOINER = re.compile(r"[-_/.]")


def goes_over_rows(state: QuestionState, kept: Sequence[Strip]) -> bool:
    """Whether the question goes over all rows of a table, and the evidence is one that it does not name.

    "How many are there?" and "which has the most?" are answered by code if at all. Of "who won the league?"
    it shows in that other rows are as probable, and of "how much did we bring to the bank?" in that other
    rows have the very cell that names this one. No row of 2016 tells how many there were then.
    """
    best, question = best_strip(kept), state.question
    if best is None or not is_row(best):
        within = [block.kind for block in blocks_within(best)] if best is not None else []
        if within == [BlockKind.ROW] and asks_for_list(question):
            return True
        return len(within) > 1 and set(within) == {BlockKind.ROW} and asks_over_table(question)
    if _OF_ALL_ASKED.search(question) or _is_left_out(best, question) or _adds_periods(best, question):
        return True
    if _AVERAGE_ASKED.search(question) and not _AVERAGE_TOLD.search(judged_text(best)):
        return True
    if _is_for_greatest(question, judged_text(best)) or _lists_rows(best, state, kept):
        return True
    over_rows = asks_over_table(question)
    if asks_for_total_of_years(question) or (asks_for_total(question) and _share_year(kept, best, question)):
        return True
    if _share_month(kept, best, question):
        return True
    if not is_one_of_many(question, best):
        may_add_up = over_rows or _MUCH_ASKED.search(question) is not None
        counts = asks_for_rows(question) and COUNT_ASKED.search(question) is not None
        is_any = counts and tells_no_count(question, best)
        return is_any or (may_add_up and is_one_of_several(question, best, kept))
    return over_rows or (not things_asked_for(question) and _is_among_equals(best, kept, question))


def is_any_row(question: str, kept: Sequence[Strip]) -> bool:
    """Whether the best strip is a row that the question does not name, of a table with several others.

    It names a row by the whole of a cell, or by a word in a cell that the text around the table has not: in
    an offer for the roof, "Roof & Wall" is not named by the roof.
    """
    best = max(kept, key=lambda strip: strip.score)
    rows = sum(block.kind is BlockKind.ROW for block in best.passage.blocks)
    if not is_row(best) or rows <= MIN_EQUAL_ROWS:
        return False
    around = f"{best.passage.title} {headings_above(best)} {prose_of(best.passage)}"
    asked = terms_asked_for(question)
    values = [terms(value) for _, value in map(named_cell, cells_of(best)) if any(map(str.isalpha, value))]
    if any(value and value <= asked for value in values):
        return False
    own = asked & set[str]().union(*values) - terms(around)
    return is_one_of_many(question, best) or not own


def _adds_periods(row: Strip, question: str) -> bool:
    """Whether a question asks for a sum or the most, and a row has the numbers of months or other periods."""
    cells = dict(map(named_cell, cells_of(row)))
    return goes_over_periods(question, cells) and _asks_for_figure_of_all(question)


def asks_over_cells(question: str) -> bool:
    """Whether a question may go over several cells of a row: it asks for an amount, a sum or the most."""
    return _asks_for_figure_of_all(question) or _MUCH_ASKED.search(question) is not None


def _asks_for_figure_of_all(question: str) -> bool:
    """Whether a question asks for a sum, for the most, or for what else goes over rows."""
    return asks_for_total(question) or asks_for_extreme(question) or asks_over_table(question)


def asks_over_table(question: str) -> bool:
    """Whether a question asks for a number, a total, an extreme or groups of the rows of some table."""
    reads = (asks_for_rows, asks_over_rows, asks_for_total, asks_over_groups)
    patterns = (_EXTREME_ASKED, _GREATEST_ASKED)
    return any(asks(question) for asks in reads) or any(each.search(question) for each in patterns)


def _is_for_greatest(question: str, text: str) -> bool:
    """Whether a question asks which is the greatest of all, and a text says of nothing that it is."""
    asked = _GREATEST_ASKED.search(question)
    if asked is None:
        return False
    if degree := asked["degree"] or asked["many"]:
        return degree.casefold() not in text.casefold().split()
    if asked["one"] and _BOUND_TOLD.search(text):
        return False
    return not terms(asked["word"] or asked["one"]) & terms(text)


def _lists_rows(row: Strip, state: QuestionState, kept: Sequence[Strip]) -> bool:
    """Whether a question asks for all rows that meet something, of which the one that was found may be one.

    It is the only one if the question names it by its first cell, or no other row of its passage, beyond
    which its table does not go, has the cells that it is named by.
    """
    question = state.question
    if not asks_for_list(question):
        return False
    if asks_for_all(question) or compares_with_number(question) or is_one_of_several(question, row, kept):
        return True
    is_named = not terms(first_cell(row)[1]).isdisjoint(terms_asked_for(question))
    return not is_named and _goes_on(row, state)


def _goes_on(row: Strip, state: QuestionState) -> bool:
    """Whether other passages that were graded have rows of the table of a row, with most of its columns.

    Of a row that takes up a passage, and may go on in another one, they need not be told by these.
    """
    others = (grade.hit.passage for grade in state.grades if grade.hit.passage.id != row.passage.id)
    same = (passage for passage in others if passage.document == row.passage.document)
    beside = (strip for passage in same for strip in strips(passage) if is_row(strip))
    own = {*column_names(row)}
    if len(row.passage.blocks) == 1:
        return any(True for _ in beside)
    return any(2 * len(own.intersection(column_names(each))) > len(own) for each in beside)


def _is_left_out(row: Strip, question: str) -> bool:
    """Whether a question names a row only to say that it does not count: "except Ohio"."""
    left_out = _LEFT_OUT.search(question)
    name = terms(first_cell(row)[1])
    return left_out is not None and bool(name) and name <= terms(left_out["what"])


def _share_year(kept: Sequence[Strip], best: Strip, question: str) -> bool:
    """Whether several rows of a document have the year of a question in a cell: each is a part of it."""
    beside = [each for each in kept if is_row(each) and each.passage.document == best.passage.document]
    told = [" ".join(named_cell(cell)[1] for cell in cells_of(each)) for each in beside]
    return any(sum(year in cells for cells in told) > 1 for year in _YEAR.findall(question))


def _share_month(kept: Sequence[Strip], best: Strip, question: str) -> bool:
    """Whether several rows of a document are of days in the month of which a question asks how much.

    A search line asks so too: "hours on the museum in February 2025".
    """
    months = months_asked(question)
    is_line = OPENING_WORDS.isdisjoint(question.casefold().split())
    if not months or not (is_line or _MUCH_ASKED.search(question)):
        return False
    own = terms(best.text) & terms_asked_for(question)
    beside = (each for each in kept if is_row(each) and each.passage.document == best.passage.document)
    alike = (each for each in beside if own <= terms(each.text))
    days = [{month_and_day(named_cell(cell)[1])[0] for cell in cells_of(each)} for each in alike]
    return sum(not months.isdisjoint(each) for each in days) > 1


def _is_among_equals(row: Strip, kept: Sequence[Strip], question: str) -> bool:
    """Whether several rows of a document are nearly as probable as one of it, and as near to the question.

    A row that has a word of the question which another one lacks is the one that it names.
    """
    least, asked = EQUAL_ROW_SHARE * row.score, terms_asked_for(question)
    own = terms(row.text) & asked
    alike = [
        each
        for each in kept
        if is_row(each)
        and each.score >= least
        and each.passage.document == row.passage.document
        and own <= terms(each.text)
    ]
    told = judged_text(row)
    known = terms(told) | terms(_WORD_JOINER.sub(" ", told))
    return len(alike) > MIN_EQUAL_ROWS and not asked <= known
