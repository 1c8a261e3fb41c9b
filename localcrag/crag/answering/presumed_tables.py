"""Computing over the table that the best evidence is a row of, though it has not every word of the question.

"How many flows of the mapping are emissions to soil?" has words that stand in no column and no cell. Where
the rows found are not sure to answer, those that the other words tell are counted, or compared, and the words
that were left out are named: the answer is to be checked, but it is what was asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from localcrag.crag.answering.aggregation import aggregated
from localcrag.crag.answering.document_tables import document_of
from localcrag.crag.doubts.one_of_rows import goes_over_rows
from localcrag.crag.doubts.sureness import PROBABLE_STRIP
from localcrag.crag.refinement.strip_filter import best_strip
from localcrag.crag.refinement.strip_kinds import is_row
from localcrag.crag.state import ComputedAnswer, QuestionState
from localcrag.crag.table_answers.document_matches import document_matches
from localcrag.crag.table_answers.table_match import TableMatch
from localcrag.crag.table_answers.table_matching import MAX_LEFT_OUT
from localcrag.crag.table_answers.table_questions import recognised
from localcrag.crag.table_answers.table_values import roots
from localcrag.crag.table_queries.missing_conditions import names_of_counted
from localcrag.types import Passage, Strip

MIN_NEAREST = 3
"""How many of the best passages must be of one table if no strip of them is kept."""
MAX_LEFT_OUT_UNSEEN = 1
"""The most words that may be left out then."""


def presumed(state: QuestionState, kept: Sequence[Strip]) -> tuple[ComputedAnswer, list[str]] | None:
    """The answer over the table of the best evidence, and the words of the question that were left out.

    There is none if the best strip is no row, or probably answers by itself unless the question goes over all
    rows; nor of a list, of which each word may tell rows.

    Args:
        state: the question and its adapters.
        kept: the strips that are not sure to answer; without any, the best passages must all be of one table.
    """
    question = recognised(state.question) if state.options.tables else None
    passage, most = _presumed_passage(state, kept)
    if question is None or question.listing or passage is None:
        return None
    document = document_of(state, passage)
    lenient = replace(question, is_lenient=True, beside=document.passages)
    matches = list(document_matches(lenient, document.tables, state.filter))
    left = [[match.question.tokens[at].text for at in match.question.open_tokens()] for match in matches]
    fewest = min(map(len, left), default=0)
    found = [(match, words) for match, words in zip(matches, left, strict=True) if len(words) == fewest]
    if len(found) != 1 or fewest > most or _measures_counted(found[0][0], state.question):
        return None
    computed = aggregated(found[0][0])
    return (computed, found[0][1]) if computed is not None else None


def _measures_counted(match: TableMatch, question: str) -> bool:
    """Whether a number is compared with the column that numbers the things counted: "pig" is no weight."""
    names = names_of_counted(question)
    return any(roots(match.table.header(each.column)) in names for each in match.conditions)


def _presumed_passage(state: QuestionState, kept: Sequence[Strip]) -> tuple[Passage | None, int]:
    """A passage of the table that is presumed to answer, if any, and how many words may then be left out."""
    best = best_strip(kept)
    if best is not None:
        may_compute = best.score < PROBABLE_STRIP or goes_over_rows(state, kept)
        return (best.passage if is_row(best) and may_compute else None), MAX_LEFT_OUT
    ranked = sorted(state.grades, key=lambda grade: -(grade.confidence or 0.0))
    nearest = [grade.hit.passage for grade in ranked[:MIN_NEAREST]]
    is_one = len(nearest) == MIN_NEAREST and len({passage.document for passage in nearest}) == 1
    return (nearest[0] if is_one else None), MAX_LEFT_OUT_UNSEEN
