"""Retrieval: hybrid search, and reranking of its hits by the evaluator."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain, islice, takewhile
from statistics import fmean, pstdev
from typing import TYPE_CHECKING

from localcrag.calibration.scale import log_odds
from localcrag.crag.questions.calendar_dates import are_shared, is_day, months_asked
from localcrag.crag.questions.codes import codes_of, has_code, names_of
from localcrag.crag.questions.document_versions import of_asked_version
from localcrag.crag.questions.query_terms import figures_asked, figures_of
from localcrag.crag.refinement.asked_options import with_asked_option
from localcrag.crag.refinement.calendar_spans import passage_holds_on
from localcrag.crag.refinement.reported_codes import has_reported_row, reported_codes
from localcrag.events import Reranked, Retrieved, Steps
from localcrag.filters import Filter, matches
from localcrag.protocols import Embedder, Evaluator, PassageReader
from localcrag.rank_fusion import STANDARD_RRF_K, ranked, rrf
from localcrag.types import BlockKind, Hit, Passage

if TYPE_CHECKING:
    from localcrag.protocols import Vectors

RELEVANT_PROBABILITY = 0.5
"""The P of a candidate from which on no further candidates are judged. On three question sets (132
questions) this took 13 judgements instead of 24, at the same nDCG@10 (differences of -0.006, +0.006 and
+0.003).
"""
SEARCH_RANK_WEIGHT, SIMILARITY_WEIGHT = 0.3, 0.5
"""The weights of the search rank and of the cosine; `scripts/train measure` uses them too."""
LEAST_EVALUATOR_WEIGHT = SIMILARITY_WEIGHT
"""The weight of an evaluator that holds nothing to be relevant; it still tells more than the cosine does."""

MAX_PASSAGES_OF_TABLES = 600
"""The most passages of a document with a table in which the part with a day is looked for."""
MAX_SCANNED_DOCUMENTS = 2
"""The most documents in whose passages a code is looked for that no search finds."""
MAX_NAMES = 3
"""The most names of a question that are searched for."""
_LONG_NUMBER = re.compile(r"(?<![\w.])\d[\d.,:/-]*\d(?!\w)")
"""A number of two digits or more."""


@dataclass(frozen=True, slots=True)
class Retriever:
    """Searches one knowledge base for the hits that go on to grading.

    With an ``evaluator``, up to ``candidates`` hits are fetched and reranked; at most ``passages`` hits
    are returned.
    """

    store: PassageReader
    embedder: Embedder
    evaluator: Evaluator | None
    passages: int
    candidates: int

    def search(
        self,
        queries: Sequence[str],
        question: str,
        filter: Filter | None = None,
        *,
        vectors: Vectors | None = None,
    ) -> Steps[list[Hit]]:
        """Search for the queries; yields Retrieved for each query, and Reranked if there is an evaluator.

        The hits of several queries are fused by reciprocal rank. The evaluator judges a hit against the
        ``question``, whatever the queries are. A reranked hit of a search for another text than the
        question has no similarity, since its cosine was that of the other text.

        Args:
            queries: the texts to search for.
            question: the question that reranking judges the hits against.
            filter: only passages that pass it are found.
            vectors: vectors of shape (queries, dimension) to search with, in place of the embeddings of
                the queries.

        Returns:
            At most ``passages`` hits, best first.
        """
        otherwise = vectors is not None or any(query != question for query in queries)
        found = yield from self.found(queries, filter, vectors=vectors)
        return (yield from self.best(found, question, filter, as_question=not otherwise))

    def found(
        self, queries: Sequence[str], filter: Filter | None = None, *, vectors: Vectors | None = None
    ) -> Steps[list[Hit]]:
        """Search for the queries, and fuse their hits; parameters and events as for :meth:`search`."""
        vectors = self.embedder.encode_questions(list(queries)) if vectors is None else vectors
        lists: list[list[Hit]] = []
        for query, vector in zip(queries, vectors, strict=True):
            hits = distinct(self.store.search(query, vector, k=self._search_depth, filter=filter))
            lists.append(hits)
            yield Retrieved(query, tuple(hits))
        return lists[0] if len(lists) == 1 else fuse(lists)

    def best(
        self, found: Sequence[Hit], question: str, filter: Filter | None = None, *, as_question: bool = True
    ) -> Steps[list[Hit]]:
        """The hits that go on to grading; yields Reranked if there is an evaluator.

        The part of a table that has the day of the question is among them if another part of it is, a
        passage with the option that is asked for or with a code or a name of the question if there is one, or
        with the row of a code that something shows. There are none of another version of a document than the
        one asked for.

        Args:
            found: hits in the order of their search.
            question: the question that reranking judges the hits against.
            filter: only passages that pass it are added.
            as_question: whether they were found by the question itself, so that their cosine is its.
        """
        found = of_asked_version(found, question)
        best = self.narrowed(found, question)
        if self.evaluator and best:
            best = with_other_document(best, found)
            best = with_named_figures(best, found, question)
            of_day = self._of_the_day(best, found, question, filter)
            best = [*best[:-1], of_day[0]] if of_day else best
            best = with_asked_option(best, found, question)
            best = with_codes(best, [*found, *self._having([codes_of(question)], found, filter)], question)
            names = [[name] for name in names_of(question)[:MAX_NAMES]]
            best = with_names(best, [*found, *self._having(names, found, filter)], question)
            best = self._with_reported_row(best, found, question, filter)
        if self.evaluator and best:
            best = best if as_question else [replace(hit, similarity=None) for hit in best]
            yield Reranked(tuple(best))
        return best

    def narrowed(self, found: Sequence[Hit], question: str) -> list[Hit]:
        """The hits that go on to grading, best first: reranked, if there is an evaluator.

        Args:
            found: hits in the order of their search.
            question: the question that reranking judges the hits against.
        """
        if self.evaluator is None or not found:
            return list(found[: self.passages])
        best = rerank(question, found[: self._search_depth], self.evaluator, self.passages)[: self.passages]
        return with_named_figures(best, found, question)

    def _of_the_day(
        self, best: Sequence[Hit], found: Sequence[Hit], question: str, filter: Filter | None
    ) -> list[Hit]:
        """The parts of documents with tables among the best hits that have the day or month of a question.

        Those of the best document are first. There are none if the question names none or a table among the
        best hits has it, nor of a document of which a passage that was found has it.
        """
        days = {figure for figure in figures_asked(question) if is_day(figure)} | months_asked(question)
        having = [hit for hit in (*best, *found) if days and has_figure(hit.passage, days)]
        known = {hit.passage.source for hit in having}
        tables = [hit.passage for hit in best if has_rows(hit.passage)]
        of_tables = {each.source: each.document for each in tables if each.source not in known}
        if not days or not of_tables or any(each.source in known for each in tables):
            return []
        tried, order = {hit.passage.id for hit in found}, list(of_tables)
        parts = [
            Hit(passage, 0.0)
            for passage in self.store.passages(of_tables, limit=MAX_PASSAGES_OF_TABLES)
            if passage.id not in tried and has_rows(passage) and has_figure(passage, days)
            if filter is None or matches(filter, passage)
        ]
        return sorted(parts, key=lambda hit: order.index(hit.passage.source))

    def _having(
        self, sought: Iterable[Sequence[str]], found: Sequence[Hit], filter: Filter | None
    ) -> list[Hit]:
        """The hits with codes or names that no passage found has, if there are any.

        They are those of a search for each of the texts ``sought``, which have one or more of them, and for
        what that does not find the passages of the best documents: "5.6.1" is no word to search by.
        """
        hits, unfound = list[Hit](), list[str]()
        for codes in sought:
            missing = [code for code in codes if not _are_in(found, [code])]
            of_search = self._searched(" ".join(missing), filter) if missing else []
            if _are_in(of_search, missing):
                hits += of_search
            else:
                unfound += missing
        return hits + self._looked_through(unfound, found, filter)

    def _searched(self, text: str, filter: Filter | None) -> list[Hit]:
        """The hits of a search for another text than the question, to which they have no similarity."""
        (vector,) = self.embedder.encode_questions([text])
        hits = distinct(self.store.search(text, vector, k=self._search_depth, filter=filter))
        return [replace(hit, similarity=None) for hit in hits]

    def _looked_through(self, codes: Sequence[str], found: Sequence[Hit], filter: Filter | None) -> list[Hit]:
        """The passages of the best documents that have one of some codes or names."""
        sources = {hit.passage.source: hit.passage.document for hit in found}
        best = dict(islice(sources.items(), MAX_SCANNED_DOCUMENTS))
        passages = self.store.passages(best, limit=MAX_PASSAGES_OF_TABLES) if codes else []
        hits = (Hit(passage, 0.0) for passage in passages if filter is None or matches(filter, passage))
        return [hit for hit in hits if _are_in([hit], codes)]

    def _with_reported_row(
        self, best: Sequence[Hit], found: Sequence[Hit], question: str, filter: Filter | None
    ) -> list[Hit]:
        """The best hits, the last one replaced by the one passage with the row of a code that is shown.

        It is one that was found, or of a document that was: "34" is little to search by.
        """
        codes = reported_codes(question)
        if not codes or any(has_reported_row(hit.passage, codes) for hit in best):
            return list(best)
        sources = {hit.passage.source: hit.passage.document for hit in found}
        rows = [
            passage
            for passage in self.store.passages(sources, limit=MAX_PASSAGES_OF_TABLES)
            if has_reported_row(passage, codes) and (filter is None or matches(filter, passage))
        ]
        return [*best[:-1], Hit(rows[0], 0.0)] if len(rows) == 1 else list(best)

    @property
    def _search_depth(self) -> int:
        """The number of hits to ask the store for."""
        return max(self.candidates, self.passages) if self.evaluator else self.passages


def with_named_figures(best: Sequence[Hit], found: Sequence[Hit], question: str) -> list[Hit]:
    """The best hits, the last one replaced by the first hit found with a figure that no other has.

    A version, a date or a number of a part is named by a question to find the one row that has it, or that
    holds on that day, and to the evaluator the rows of a table are all alike. A month of a year says more
    than its year, and a day more than the number of a station that all rows have.
    """
    figures = figures_asked(question, _LONG_NUMBER)
    days = set(filter(is_day, figures))
    tiers = (months_asked(question), days if days < figures else set())
    named = next((tier for tier in tiers if any(has_figure(hit.passage, tier) for hit in found)), figures)

    def has_one(hit: Hit) -> bool:
        return has_figure(hit.passage, named)

    if not named or any(map(has_one, best)):
        return list(best)
    tried = {hit.passage.id for hit in best}
    having = next((hit for hit in found if hit.passage.id not in tried and has_one(hit)), None)
    return [*best[:-1], having] if having else list(best)


def with_other_document(best: Sequence[Hit], found: Sequence[Hit]) -> list[Hit]:
    """The best hits; if all are of one document, the last one replaced by one of another that came before it.

    A log of a thousand lines alike leaves no place for the file of settings that it is about, though the
    search found that before most of them.
    """
    if len(best) < 2 or len({hit.passage.source for hit in best}) > 1:
        return list(best)
    before = takewhile(lambda hit: hit.passage.id != best[-1].passage.id, found)
    other = next((hit for hit in before if hit.passage.source != best[0].passage.source), None)
    return [*best[:-1], other] if other else list(best)


def with_codes(best: Sequence[Hit], found: Sequence[Hit], question: str) -> list[Hit]:
    """The best hits, the last one replaced by the hit found with most of the codes that no other has.

    A code or an abbreviation is what a question can be looked up by, and little to an evaluator, which reads
    it in pieces; a story around it is like many other texts.
    """
    codes = [code for code in codes_of(question) if not any(has_code(hit.passage, code) for hit in best)]
    having = max(found, key=lambda hit: sum(has_code(hit.passage, code) for code in codes), default=None)
    if not codes or having is None or not any(has_code(having.passage, code) for code in codes):
        return list(best)
    return [*best[:-1], having]


def with_names(best: Sequence[Hit], found: Sequence[Hit], question: str) -> list[Hit]:
    """The best hits, the last one replaced by the first hit found with a name that none of them has.

    "PostgreSQL License" stands in one row of a list, and to an evaluator the rows of licences are all alike.
    """
    missing = [name for name in names_of(question) if not any(has_code(hit.passage, name) for hit in best)]
    having = (hit for name in missing for hit in found if has_code(hit.passage, name))
    first = next(having, None)
    return [*best[:-1], first] if first else list(best)


def _are_in(hits: Sequence[Hit], codes: Sequence[str]) -> bool:
    """Whether a passage has one of some codes or names."""
    return any(has_code(hit.passage, code) for hit in hits for code in codes)


def has_figure(passage: Passage, figures: Set[str]) -> bool:
    """Whether a passage has one of some figures, or a row that holds on one of the days among them."""
    return are_shared(figures, figures_of(passage.text, _LONG_NUMBER)) or passage_holds_on(passage, figures)


def has_rows(passage: Passage) -> bool:
    """Whether a passage has a row of a table."""
    return any(block.kind is BlockKind.ROW for block in passage.blocks)


def fuse(lists: Sequence[Sequence[Hit]]) -> list[Hit]:
    """One list from several ranked lists, by reciprocal rank fusion (:mod:`localcrag.rank_fusion`).

    The score of a hit is Σ 1 / (60 + rank) over the lists that have it, with ranks from 1. Hits with the
    same text are kept once.
    """
    scores = rrf((ranked(hit.passage.id for hit in hits) for hits in lists), STANDARD_RRF_K)
    hits: dict[str, Hit] = {}
    for hit in chain.from_iterable(lists):
        hits.setdefault(hit.passage.id, hit)
    best = sorted(hits, key=lambda id: -scores[id])
    return distinct([replace(hits[id], score=scores[id]) for id in best])


def rerank(question: str, hits: Sequence[Hit], evaluator: Evaluator, step: int) -> list[Hit]:
    """The hits reordered by the evaluator's judgement, the rank of the search and the cosine.

    The hits are judged ``step`` at a time in their given order, until one is more probably relevant than
    not; the rest are left out. The score of a hit is w · z(log-odds of P) + 0.3 · z(1 / (60 + rank)) +
    0.5 · z(cosine), with z the z-score among the judged hits. An unknown cosine is taken as the mean. The
    weight w is 1 if a hit is more probably relevant than not; if none is, the evaluator may know little of
    such texts or questions, and w falls with the largest P, to no less than that of the cosine.

    Args:
        question: the question that the passages are judged against.
        hits: hits in the order of their search.
        evaluator: the judge.
        step: the number of hits judged at a time, at least 1.
    """
    judged: list[float] = []
    while len(judged) < len(hits) and max(judged, default=0.0) < RELEVANT_PROBABILITY:
        texts = [hit.passage.judged for hit in hits[len(judged) : len(judged) + max(step, 1)]]
        judged += evaluator.score(question, texts)
    hits = hits[: len(judged)]
    weight = evaluator_weight(max(judged))
    scores = reranking_scores([log_odds(p) for p in judged], [hit.similarity for hit in hits], weight)
    order = sorted(range(len(hits)), key=lambda i: -scores[i])
    return [replace(hits[i], score=scores[i]) for i in order]


def evaluator_weight(best: float) -> float:
    """The weight of the evaluator's word in an order, in [0.5, 1], from the largest P among the hits."""
    return min(1.0, max(LEAST_EVALUATOR_WEIGHT, best / RELEVANT_PROBABILITY))


def reranking_scores(
    judged: Sequence[float],
    similarities: Sequence[float | None],
    judged_weight: float = 1.0,
    found_weight: float = SEARCH_RANK_WEIGHT,
    similarity_weight: float = SIMILARITY_WEIGHT,
) -> list[float]:
    """The scores that :func:`rerank` orders by, for candidates in the order in which they were found.

    Args:
        judged: the evaluator's log-odds of each candidate, or a linear function of them.
        similarities: cosines of question and passage; an unknown one (None) is taken as the mean.
        judged_weight: the weight of the evaluator's judgement (:func:`evaluator_weight`).
        found_weight: the weight of the rank in the search.
        similarity_weight: the weight of the cosine.
    """
    found = [1 / (STANDARD_RRF_K + rank) for rank in range(1, len(judged) + 1)]
    known = [cosine for cosine in similarities if cosine is not None]
    cosines = [fmean(known) if cosine is None else cosine for cosine in similarities] if known else found
    weights = (judged_weight, found_weight, similarity_weight if known else 0.0)
    parts = zip(*map(standardized, (judged, found, cosines)), strict=True)
    return [sum(w * z for w, z in zip(weights, part, strict=True)) for part in parts]


def standardized(values: Sequence[float]) -> list[float]:
    """The z-scores of values, with mean 0 and standard deviation 1; all 0 if the values are all the same."""
    mean, deviation = fmean(values), pstdev(values)
    return [(value - mean) / deviation if deviation else 0.0 for value in values]


def distinct(hits: Sequence[Hit]) -> list[Hit]:
    """The hits without those whose text an earlier hit has, as copies of one document do."""
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(" ".join(hit.passage.text.split()), hit)
    return list(first.values())
