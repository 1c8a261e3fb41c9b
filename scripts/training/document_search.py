"""How well an evaluator finds what answers among the strips, and the passages, of whole documents.

The candidates are those that BM25 and the cosine find together in all documents of a group. The documents are
those held out from training, and those that nothing was ever trained or fitted on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import numpy as np

from localcrag.crag.judges.passage_scores import passage_scores, strip_scores
from localcrag.evaluation.statistics import Floats
from localcrag.protocols import Evaluator
from localcrag.types import Passage, Strip

from .calibration import auc, calibration_error
from .groups import Embed
from .labelled_documents import DocumentQuestion, judged_passage, judged_strip
from .result_row import Row
from .retrieval import Bm25, fused, top

STRIP_CANDIDATES, PASSAGE_CANDIDATES = 20, 8
"""The strips and the passages of a search that are judged, at most."""
SEARCHED = 50
"""What each of the two searches finds."""


@dataclass(frozen=True)
class Judged:
    """The candidates of one question: their probabilities and whether each answers, both of shape (n,)."""

    p: Floats
    answers: Floats


def document_rows(
    evaluator: Evaluator, embed: Embed, groups: Mapping[str, Sequence[DocumentQuestion]], most: int
) -> list[Row]:
    """For each group of questions, the strips and the passages of at most so many of them.

    The figures: `first`, the share of the questions with an answer among the candidates for which the most
    probable one answers; `auc` over all pairs; `answerable`, the AUC of a question's greatest probability for
    whether anything answers it; `ece`, the calibration error.
    """
    rows = []
    for name, asked in groups.items():
        of_strips = _judged(_strips_of(asked), asked, partial(strip_scores, evaluator), embed, most)
        rows.append(Row("documents", name, "strips", _figures(list(of_strips))))
        of_passages = _judged(_passages_of(asked), asked, partial(passage_scores, evaluator), embed, most)
        rows.append(Row("documents", name, "passages", _figures(list(of_passages))))
    return rows


def _figures(judged: Sequence[Judged]) -> dict[str, float]:
    answered = [each for each in judged if each.answers.any()]
    p = np.concatenate([each.p for each in judged])
    labels = np.concatenate([each.answers for each in judged])
    is_answerable = np.array([float(each.answers.any()) for each in judged])
    return {
        "first": float(np.mean([each.answers[each.p.argmax()] for each in answered])),
        "auc": auc(labels, p),
        "answerable": auc(is_answerable, np.array([each.p.max() for each in judged])),
        "ece": calibration_error(p, labels),
        "questions": float(len(judged)),
    }


Unit = TypeVar("Unit", Strip, Passage)


@dataclass(frozen=True)
class Pool(Generic[Unit]):
    """All units of some documents, their texts, how many are judged, and what answers each question."""

    units: list[Unit]
    texts: list[str]
    judged: int
    right: list[frozenset[int]]


def _strips_of(asked: Sequence[DocumentQuestion]) -> Pool[Strip]:
    first: dict[str, int] = {}
    units: list[Strip] = []
    for document in {each.document.name: each.document for each in asked}.values():
        first[document.name] = len(units)
        units += document.strips
    right = [frozenset(first[each.document.name] + at for at in each.answering) for each in asked]
    return Pool(units, [judged_strip(strip, titled=True) for strip in units], STRIP_CANDIDATES, right)


def _passages_of(asked: Sequence[DocumentQuestion]) -> Pool[Passage]:
    documents = {each.document.name: each.document for each in asked}.values()
    units = [passage for document in documents for passage in document.passages]
    place = {passage.id: at for at, passage in enumerate(units)}
    right = [frozenset(place[passage] for passage in each.answering_passages) for each in asked]
    texts = [judged_passage(passage, titled=True) for passage in units]
    return Pool(units, texts, PASSAGE_CANDIDATES, right)


def _judged(
    pool: Pool[Unit],
    asked: Sequence[DocumentQuestion],
    score: Callable[[str, Sequence[Unit]], Sequence[float]],
    embed: Embed,
    most: int,
) -> Iterator[Judged]:
    """The candidates of evenly chosen questions, judged."""
    for question, units, answers in _candidates(pool, asked, embed, most):
        yield Judged(np.array(score(question, units)), answers)


def strip_candidates(
    asked: Sequence[DocumentQuestion], embed: Embed, most: int
) -> Iterator[tuple[str, list[Strip], Floats]]:
    """Of evenly chosen questions, at most so many, each with its candidates and whether they answer."""
    return _candidates(_strips_of(asked), asked, embed, most)


def _candidates(
    pool: Pool[Unit], asked: Sequence[DocumentQuestion], embed: Embed, most: int
) -> Iterator[tuple[str, list[Unit], Floats]]:
    chosen = range(0, len(asked), max(1, len(asked) // most))
    questions = [asked[at].question for at in chosen]
    lexical = Bm25(pool.texts).top(questions, SEARCHED)
    similar = top(embed(questions) @ embed(pool.texts).T, SEARCHED)
    for row, at in enumerate(chosen):
        candidates = fused([list(lexical[row]), list(similar[row])])[: pool.judged]
        answers = np.array([float(i in pool.right[at]) for i in candidates])
        yield questions[row], [pool.units[i] for i in candidates], answers
