"""Tables where the evidence is not sure: what rules and the language model each make of the question.

Rules that leave out words (:mod:`.presumed_tables`) and a query that the model writes
(:mod:`.queried_tables`) err in different ways. Where both give the same rows and the same value, the answer
is sure; where one of them gives any, it is shown as one to be checked.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from localcrag.crag.answering.aggregation import adds_one_row, has_rows
from localcrag.crag.answering.computed_rows import MAX_NAMED_ROWS
from localcrag.crag.answering.presumed_tables import presumed
from localcrag.crag.answering.queried_tables import QueriedTable, is_read_alike, queried
from localcrag.crag.answering.query_answers import is_lookup, lists_rows
from localcrag.crag.doubts.expected_answers import asks_for_units
from localcrag.crag.doubts.one_of_rows import COUNT_ASKED, asks_over_table
from localcrag.crag.doubts.told_others import asks_for_difference
from localcrag.crag.refinement.strip_filter import best_strip, near_best
from localcrag.crag.refinement.strip_kinds import cells_of, is_row
from localcrag.crag.state import ComputedAnswer, QuestionState
from localcrag.crag.table_answers.foreign_wording import is_in_known_wording
from localcrag.crag.table_answers.list_questions import asks_for_extreme, asks_for_list
from localcrag.crag.table_answers.spelled_values import SEXES
from localcrag.crag.table_answers.table_values import root, roots
from localcrag.crag.table_answers.table_vocabulary import SUPERLATIVES
from localcrag.crag.table_queries.query_doubts import counts_rows
from localcrag.crag.table_queries.table_query import TableQuery
from localcrag.events import Computed, Degraded, Steps
from localcrag.languages import other_than_english
from localcrag.types import Aggregate, Strip

CONFIRMING, CONFIRMING_LESS = 0.15, 0.3
"""The least probability of a query that confirms what rules computed, and what they did with words left out;
not without "women", whom a table without the sex of persons does not tell apart."""
TELLING, SURE = 0.3, 0.85
"""The least probability of a query whose answer is shown, and of one that is sure by itself."""
SURE_OVER_ROWS = 0.75
"""That of one that counts rows by a condition, adds up or ranks them, if rules make nothing else of the
question. Over real files 21 of 23 of such between it and ``SURE`` were right; a share, whose whole is easily
mistaken, was not."""
OVER_ROWS = 0.15
"""The least probability of a query that is shown for a question over all rows, which no row alone answers.
Of such queries below ``TELLING`` 0.44 were right, of files as packages ship them."""
LISTED = 0.5
"""The least probability of a query that lists rows in the place of the prose that was found."""
LOOKED_UP, LOOKED_UP_BY_TEXT, LOOKED_UP_ELSE, SURE_OF_ONE_ROW = 0.8, 0.4, 0.65, 0.9
"""The least probability of a query that looks up a cell of the row that was found best; of one that looks up
a single other row by the whole of a text, or by anything else; and of one that is sure of such a row. Of 13
such over real files 9 were right, 2 wrong, and 2 of questions that nothing answers; without them 4 of the
questions were not answered, or wrongly."""
ALIKE_SHARE = 0.5
"""The share of the probability of the best strip from which on another row may be the one that is meant."""
OVERRULING = 0.65
"""The least probability of a query that is shown in the place of what rules computed with words left out."""
AGREED = 0.4
"""The least probability of a query that is sure if another model's query gives the same answer. Of 13 such
over six collections of real and made files all were right, of 21 where the answers differ 10."""
_WHICH_ASKED = re.compile(
    r"\W*(?:(?:and|in|on|at|for|of) )?(?:which|who|welche[rsmn]?|quel(?:le)?)\b", re.IGNORECASE
)
LEFT_OUT = "no column or cell of the table has these words of your question, which were left out: {words}"


def confirmed(state: QuestionState, computed: ComputedAnswer) -> Steps[tuple[ComputedAnswer, bool]]:
    """What was computed for a question, and whether the language model reads it as that.

    If it gives the same, its words are shown, which name the column that is asked for. So are they if its
    query passed over a cell that the question says, as the rules may have done.
    """
    yield from ()
    read = _read(state, computed.rows)
    if read is None:
        return computed, False
    if not _agree(read, computed):
        return (computed if read.is_whole or read.probability < OVERRULING else read.answer), False
    return read.answer, read.probability >= CONFIRMING and not adds_one_row(read.answer, state.question)


def compute_unsure(state: QuestionState, kept: Sequence[Strip]) -> Steps[tuple[ComputedAnswer, bool] | None]:
    """Compute the answer over the table of what was found, and say whether it is sure.

    Yields Computed, and Degraded if words were left out, if there is one.

    Args:
        state: the question and its adapters.
        kept: the strips that are not sure to answer.
    """
    by_rule = presumed(state, kept)
    read = _read(state, kept) if by_rule or _may_go_over_rows(state, kept) else None
    if by_rule is not None and not (by_rule[1] and _counts_one(by_rule[0])):
        computed, words = by_rule
        do_agree = read is not None and _agree(read, computed)
        if read is not None and do_agree:
            computed = read.answer
        if read is None or do_agree or not _overrules(read, words):
            least = CONFIRMING_LESS if words else CONFIRMING
            is_sure = read is not None and do_agree and read.probability >= least
            is_sure = is_sure and SEXES.isdisjoint(map(root, words))
            is_sure = is_sure and not adds_one_row(computed, state.question)
            yield Computed(computed.computation)
            if words and not is_sure:
                yield Degraded("answer", LEFT_OUT.format(words=", ".join(words)))
            return computed, is_sure
    if read is None or read.probability < (OVER_ROWS if asks_over_table(state.question) else TELLING):
        return None
    if _is_misread(read):
        return None
    is_list = lists_rows(read.query, read.answer.computation, state.question) or _tells_several(read, state)
    surely = SURE_OVER_ROWS if is_list else _least_sure(read.query)
    is_sure = read.probability >= (surely if by_rule is None else SURE)
    if is_list:
        listed, best = read.answer.computation, best_strip(kept)
        least = LISTED if best is not None and not is_row(best) else TELLING
        if listed.rows == listed.table_rows or read.probability < least:
            return None
    elif is_lookup(read.query):
        is_of_best = _is_of_best_row(read, kept)
        subtracts = _subtracts(read.query) and asks_for_difference(state.question)
        least = TELLING if subtracts else LOOKED_UP
        if not (read.probability >= least if is_of_best else _is_of_one_row(read, state.question)):
            return None
        is_sure = read.probability >= (LOOKED_UP if is_of_best else SURE_OF_ONE_ROW)
        is_sure = is_sure and not _is_one_of_alike(read, kept)
    may_agree = read.is_whole and (is_list or not is_lookup(read.query))
    is_sure = is_sure or (may_agree and _is_agreed(state, read))
    yield Computed(read.answer.computation)
    return read.answer, read.is_whole and is_sure and not adds_one_row(read.answer, state.question)


def _is_agreed(state: QuestionState, read: QueriedTable) -> bool:
    """Whether a query that is likely, and not sure, is confirmed by the answer of another model's query.

    Both models learnt from the same questions: what is doubtful of a query is so though both write it.
    """
    model = state.adapters.other_query_model
    if model is None or read.probability < AGREED or other_than_english(state.question):
        return False
    return is_read_alike(model, state.question, read)


def _least_sure(query: TableQuery) -> float:
    """The least probability from which on a query is sure by itself."""
    is_share = query.targets[0].function == "SHARE"
    counts_all = counts_rows(query) and not query.conditions
    return SURE if is_share or counts_all or is_lookup(query) else SURE_OVER_ROWS


def _overrules(read: QueriedTable, words: Sequence[str]) -> bool:
    """Whether a query is shown in the place of what rules computed without some words of the question.

    It need not be likely if one of these measures: "heavier" is said of a weight.
    """
    is_likely = read.probability >= (TELLING if any(map(_measures, words)) else OVERRULING)
    return not _is_misread(read) and (is_likely or _asks_for(read, words))


def _measures(word: str) -> bool:
    """Whether a word is the comparative of a superlative that means a quantity: "heavier", "older"."""
    superlative = f"{word.casefold()[:-1]}st"
    return word.endswith("er") and bool(SUPERLATIVES.get(superlative, ("", ""))[1])


def _asks_for(read: QueriedTable, words: Sequence[str]) -> bool:
    """Whether a query that may be shown asks for what rules left out."""
    said = (*read.query.columns, *(value for each in read.query.conditions for value in each.values))
    known = {each for text in said for each in roots(text)}
    return read.probability >= TELLING and any(known & {*roots(word)} for word in words)


def _counts_one(computed: ComputedAnswer) -> bool:
    """Whether a single row was counted: with words left out that is the row of a name, and no answer."""
    told = computed.computation
    return told.operation is Aggregate.COUNT and told.value == "1"


def _is_misread(read: QueriedTable) -> bool:
    """Whether what a query that is not sure adds up or takes the mean of is a single row."""
    computed = read.answer.computation
    is_of_one_row = computed.operation in (Aggregate.TOTAL, Aggregate.AVERAGE) and computed.rows == 1
    return is_of_one_row and read.probability < SURE


def _is_of_best_row(read: QueriedTable, kept: Sequence[Strip]) -> bool:
    """Whether a query looks up cells of one row, which is the best strip."""
    best = best_strip(kept)
    return best is not None and [row.text for row in read.answer.rows] == [best.text]


def _subtracts(query: TableQuery) -> bool:
    """Whether a query gives the difference of two cells, which no row tells by itself."""
    expression = query.targets[0].expression
    return expression is not None and expression.operator == "-"


def _is_one_of_alike(read: QueriedTable, kept: Sequence[Strip]) -> bool:
    """Whether rows of other tables have the very cells that tell the row which is looked up.

    "What does bit 7 mean?" is told by every table of bits.
    """
    told = {f"{each.column}: {value}" for each in read.query.conditions for value in each.values[:1]}
    shown = {row.text for row in read.answer.rows}
    others = (strip for strip in near_best(kept, ALIKE_SHARE) if is_row(strip) and strip.text not in shown)
    return any(told <= {*cells_of(strip)} for strip in others)


def _is_of_one_row(read: QueriedTable, question: str) -> bool:
    """Whether a query that is likely enough looks up a single row, by what its question says."""
    asked, texts = {*roots(question)}, [each for each in read.query.conditions if each.are_texts]
    if len(read.answer.rows) != 1 or not all({*roots(v)} <= asked for each in texts for v in each.values):
        return False
    is_by_text = any(each.operator == "=" for each in texts)
    return read.probability >= (LOOKED_UP_BY_TEXT if is_by_text else LOOKED_UP_ELSE)


def _tells_several(read: QueriedTable, state: QuestionState) -> bool:
    """Whether a query that is sure gives several rows to a question which asks which one: all are told."""
    asks = _WHICH_ASKED.match(state.question) is not None
    is_likely = is_lookup(read.query) and read.probability >= SURE and read.is_whole
    return asks and is_likely and 1 < len(read.answer.rows) <= MAX_NAMED_ROWS


def _read(state: QuestionState, rows: Sequence[Strip]) -> QueriedTable | None:
    """What a query of the language model gives; None without such a model, or in a language new to it."""
    model = state.adapters.query_model
    if model is None or not state.options.tables:
        return None
    if not state.adapters.reads_all_languages and other_than_english(state.question):
        return None
    return queried(state, model, rows)


def _may_go_over_rows(state: QuestionState, kept: Sequence[Strip]) -> bool:
    """Whether a table may answer: its question counts, goes over rows or asks for a list, or a row is best.

    In languages whose words for that are not known, any question may. Of 112 questions over real files that a
    query answered, one was none of these, and wrongly answered; of 149 others 53 need no query so.
    """
    question = state.question
    if any(asks(question) for asks in (asks_over_table, asks_for_list, asks_for_extreme)):
        return True
    is_counting = COUNT_ASKED.search(question) is not None and not asks_for_units(question)
    if is_counting or not is_in_known_wording(question):
        return True
    if (best := best_strip(kept)) is not None:
        return is_row(best)
    nearest = max(state.grades, key=lambda grade: grade.confidence or 0.0, default=None)
    return nearest is not None and has_rows(nearest.hit.passage)


def _plain_value(computed: ComputedAnswer) -> str:
    """The value of an answer as it is compared: of each group what is computed for it."""
    values = (value.rpartition(": ")[2] for value in computed.computation.value.split("; "))
    return " ".join("; ".join(values).split()).casefold()


def _agree(read: QueriedTable, computed: ComputedAnswer) -> bool:
    """Whether a query gives the same value of the same rows, of which one answer may cite fewer."""
    values = {_plain_value(each) for each in (read.answer, computed)}
    mine, theirs = ({row.text for row in each.rows} for each in (read.answer, computed))
    counts = {each.computation.rows for each in (read.answer, computed)}
    is_part = len(counts) == 1 and (mine < theirs or theirs < mine)
    return len(values) == 1 and (mine == theirs or is_part)
