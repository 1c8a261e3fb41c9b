"""What is measured: picking sentences, and finding passages in small collections, on held-out documents."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from localcrag.calibration.scale import Scale
from localcrag.crag.retrieval import (
    SEARCH_RANK_WEIGHT,
    SIMILARITY_WEIGHT,
    evaluator_weight,
    reranking_scores,
    standardized,
)
from localcrag.evaluation.statistics import Floats, Whole
from localcrag.rank_fusion import STANDARD_RRF_K

from .calibration import auc
from .data import SQUAD, Example, read_jsonl, split_sentences
from .groups import Embed, Vectors
from .instructions import INSTRUCTIONS_SET
from .labelled_documents import DocumentQuestion, judged_passage
from .retrieval import Bm25, Ranked, Scores, fused, hit_at, ndcg_at, top

JUDGED_HITS = 24
"""Candidates of a question that are judged for an order."""
GRADED_HITS = 8
"""Candidates of a question, the first of the fused order, that are graded."""
CONTEXT_TOKENS = 2048
"""The language model's window while it grades and rewrites."""
UNANSWERABLE_SHARE = 0.2
"""The share of questions that no passage answers, in the collections that have such."""
MAX_PASSAGE_CHARACTERS = 1100


class Scorer(Protocol):
    """Judges texts against a question: an evaluator of the product."""

    @property
    def own_scale(self) -> Scale:
        """The scale of the model's file, from logits to probabilities."""
        ...

    def numbers(self, query: str, texts: Sequence[str], /) -> Sequence[float]:
        """The logit of each text."""
        ...


@dataclass(frozen=True)
class Kind:
    """What a collection is made of: its name, its sets, and how many passages it has at most."""

    name: str
    datasets: tuple[str, ...]
    passages: int
    halved: bool = True
    """Whether one half of the questions fits and the other reports; a small set reports only."""


COLLECTION_KINDS = (
    Kind("encyclopaedia", (SQUAD,), 400),
    Kind("search queries", ("boolq", "qed_nq"), 1000),
    Kind("quiz questions", ("selqa",), 400, halved=False),
    Kind("health pages", ("medquad",), 800),
    Kind("handbooks", ("headings",), 1000),
    Kind("instructions", (INSTRUCTIONS_SET,), 1000, halved=False),
)
DOCUMENTS = "mixed documents"
"""Minutes, tables, records, manuals and prose, read and cut by the product."""
LIBRARY = "library abstracts"
"""The collection CISI: abstracts of library science, and queries of one or several sentences, of which many
are statements. It is there to be measured on alone."""


@dataclass(frozen=True)
class Collection:
    """Passages, and questions with the indices of the passages that answer; of none if none does."""

    name: str
    passages: list[str]
    questions: list[str]
    right: list[frozenset[int]]


def library_collection(data: Path) -> Collection | None:
    """The test collection CISI of `data/qa/retrieval`, with the queries that have judgements, if it is there.

    Raises DataError.
    """
    folder = data / "qa" / "retrieval"
    if not (folder / "cisi_docs.jsonl.zst").exists():
        return None
    documents, queries, judgements = (
        list(read_jsonl(folder / f"cisi_{part}.jsonl.zst")) for part in ("docs", "queries", "qrels")
    )
    place = {record["doc_id"]: at for at, record in enumerate(documents)}
    right: dict[str, set[int]] = defaultdict(set)
    for record in judgements:
        right[record["query_id"]].add(place[record["doc_id"]])
    asked = [record for record in queries if record["query_id"] in right]
    return Collection(
        LIBRARY,
        [f"{record['title']}\n{record['text']}" for record in documents],
        [" ".join(record["text"].split()) for record in asked],
        [frozenset(right[record["query_id"]]) for record in asked],
    )


def documents_collection(
    asked: Sequence[DocumentQuestion], questions: int, fitting: bool
) -> Collection | None:
    """The passages of labelled documents of all kinds, and questions about those held out; None without any.

    One half of the questions, chosen by a hash, fits; the other half reports.
    """
    documents = {each.document.name: each.document for each in asked}
    passages = [passage for document in documents.values() for passage in document.passages]
    place = {passage.id: at for at, passage in enumerate(passages)}
    chosen = [each for each in asked if each.held_out and each.fits is fitting]
    if not chosen:
        return None
    random.Random(0).shuffle(chosen)
    chosen = chosen[:questions]
    return Collection(
        DOCUMENTS,
        [judged_passage(passage, titled=True)[:MAX_PASSAGE_CHARACTERS] for passage in passages],
        [each.question for each in chosen],
        [frozenset(place[passage] for passage in each.answering_passages) for each in chosen],
    )


@dataclass(frozen=True)
class Found:
    """One question's fused candidates (passage indices, best first) with their cosines and BM25 scores."""

    collection: Collection
    question: int
    candidates: list[int]
    cosines: Vectors
    lexical_scores: Scores
    lexical: list[int]
    semantic: list[int]

    @property
    def text(self) -> str:
        """The question as it was written."""
        return self.collection.questions[self.question]

    @property
    def right(self) -> frozenset[int]:
        """The passages that answer."""
        return self.collection.right[self.question]


def collections(
    train: Sequence[Example],
    held_out: Sequence[Example],
    questions: int,
    fitting: bool = False,
    seed: int = 0,
) -> list[Collection]:
    """The collections that there are questions for, each with so many `questions` at most.

    Questions come from held-out documents only, of the half that fits or of the half that reports; the
    passages are the same for both, those of the training part are there to be confused with.
    """
    made = []
    for kind in COLLECTION_KINDS:
        known, asked = ([e for e in part if e.dataset in kind.datasets] for part in (train, held_out))
        made.append(_collection(kind, known, asked, questions, fitting, seed))
    return [c for c in made if c.questions]


def _collection(
    kind: Kind,
    train: Sequence[Example],
    held_out: Sequence[Example],
    questions: int,
    fitting: bool,
    seed: int,
) -> Collection:
    usable = [e for e in held_out if len(_cut(e)) > 60 and _answer_kept(e)]
    asked = [e for e in usable if (kind.halved and e.fits) == fitting]
    random.Random(seed).shuffle(asked)
    passages = dict.fromkeys(map(_cut, held_out))
    others = sorted(set(map(_cut, train)) - set(passages))
    random.Random(seed).shuffle(others)
    every = [*passages, *others[: max(0, kind.passages - len(passages))]]
    place = {text: i for i, text in enumerate(every)}
    answered = [e for e in asked if e.relevant]
    unanswered = [e for e in asked if not e.relevant]
    share = int(questions * UNANSWERABLE_SHARE) if unanswered else 0
    asked = [*answered[: questions - share], *unanswered[:share]]
    right = [frozenset({place[_cut(e)]} if e.relevant else ()) for e in asked]
    return Collection(kind.name, every, [e.question for e in asked], right)


def _kept(example: Example) -> int:
    """How many of the passage's first sentences fit into some 1,100 characters; at least one."""
    ends = np.cumsum([len(sentence) for sentence in example.sentences])
    return max(1, int(np.searchsorted(ends, MAX_PASSAGE_CHARACTERS, side="right")))


def _cut(example: Example) -> str:
    """The passage's first sentences, up to some 1,100 characters."""
    return " ".join(sentence[:MAX_PASSAGE_CHARACTERS] for sentence in example.sentences[: _kept(example)])


def _answer_kept(example: Example) -> bool:
    """Whether the cut passage still has a sentence that answers, if the set says which do."""
    return not example.evidence or example.evidence[0] < _kept(example)


def retrieve(
    collection: Collection,
    embed: Embed,
    questions: Sequence[str] | None = None,
    vectors: Vectors | None = None,
) -> list[Found]:
    """Hybrid candidates of every question: BM25 and cosine, 24 each, fused by reciprocal rank.

    `questions` may replace the collection's own wording, `vectors` saves embedding the passages again.
    """
    asked = list(questions or collection.questions)
    known = embed(collection.passages) if vectors is None else vectors
    cosine = embed(asked) @ known.T
    scores = Bm25(collection.passages).scores(asked)
    lexical = top(scores, JUDGED_HITS)
    semantic = top(cosine, JUDGED_HITS)
    found = []
    for q in range(len(asked)):
        lists = [int(i) for i in lexical[q]], [int(i) for i in semantic[q]]
        best = fused(lists)[:JUDGED_HITS]
        found.append(Found(collection, q, best, cosine[q, best], scores[q, best], *lists))
    return found


@dataclass(frozen=True)
class Judged:
    """The evaluator's logits of one question's candidates: whole passages, and their best sentences.

    `best` is the largest P of a whole passage.
    """

    found: Found
    whole: Floats
    sentence: Floats
    best: float


def judge(
    found: Sequence[Found], scorer: Scorer, sentences: bool = True, depth: int = JUDGED_HITS
) -> list[Judged]:
    """Score the first `depth` candidates whole and, if asked for, by sentence."""
    judged = []
    for each in found:
        passages = [each.collection.passages[i] for i in each.candidates[:depth]]
        whole = np.array(scorer.numbers(each.text, passages))
        best = whole
        if sentences:
            parts = [split_sentences(p) for p in passages]
            flat = np.array(scorer.numbers(each.text, [s for part in parts for s in part]))
            ends = np.cumsum([len(part) for part in parts])
            best = np.array(
                [flat[end - len(part) : end].max() for part, end in zip(parts, ends, strict=True)]
            )
        judged.append(Judged(each, whole, best, scorer.own_scale.of(float(whole.max()))))
    return judged


def _z(values: Floats) -> Floats:
    return np.array(standardized(values.tolist()))


def _reciprocal(scores: Floats) -> Floats:
    """1 / (k + rank) of each candidate when ordered by `scores`."""
    rank = np.empty(len(scores))
    rank[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return 1 / (STANDARD_RRF_K + rank)


def _fused_prior(judged: Judged) -> Floats:
    """1 / (k + rank) of each candidate in the order in which it was found."""
    return 1 / (STANDARD_RRF_K + np.arange(1, len(judged.whole) + 1))


def by_product(
    judged: Judged,
    found: float = SEARCH_RANK_WEIGHT,
    cosine: float = SIMILARITY_WEIGHT,
    weight: float | None = None,
) -> Floats:
    """The scores of the product's reranking, of shape (candidates,), with its weights or with others."""
    cosines = judged.found.cosines[: len(judged.whole)].tolist()
    weight = evaluator_weight(judged.best) if weight is None else weight
    return np.array(reranking_scores(judged.whole.tolist(), cosines, weight, found, cosine))


PRODUCT_RULE = "weighted by certainty"
RULES: dict[str, Callable[[Judged], Floats]] = {
    "whole": lambda j: j.whole,
    "whole + fused": lambda j: by_product(j, cosine=0.0, weight=1.0),
    "whole + fused + cosine": lambda j: by_product(j, weight=1.0),
    PRODUCT_RULE: by_product,
}
"""Ways to order the candidates at the cost of judging each whole passage once."""
COSTLY_RULES: dict[str, Callable[[Judged], Floats]] = {
    "whole, rank-fused": lambda j: _reciprocal(j.whole) + _fused_prior(j),
    "whole + cosine": lambda j: by_product(j, found=0.0, weight=1.0),
    "whole + fused + 0.3 cosine": lambda j: by_product(j, cosine=0.3, weight=1.0),
    "whole + fused + 0.7 cosine": lambda j: by_product(j, cosine=0.7, weight=1.0),
    "whole + fused + 1.0 cosine": lambda j: by_product(j, cosine=1.0, weight=1.0),
    "best sentence": lambda j: j.sentence,
    "best sentence, rank-fused": lambda j: _reciprocal(j.sentence) + _fused_prior(j),
    "best sentence + whole": lambda j: j.whole + j.sentence,
    "best sentence + whole + fused": lambda j: (
        _z(j.whole + j.sentence) + SEARCH_RANK_WEIGHT * _z(_fused_prior(j))
    ),
}
"""More ways to compare with; those with sentences judge every sentence as well."""


def rankings(judged: Sequence[Judged], rule: str | None) -> list[Ranked]:
    """The right passages' ranks for each answerable question, by a rule, or as fused if rule is None."""
    found = []
    for j in judged:
        if not j.found.right:
            continue
        order = j.found.candidates
        if rule is not None:
            scores = (RULES | COSTLY_RULES)[rule](j)
            order = [order[i] for i in np.argsort(-scores, kind="stable")]
        found.append(Ranked.of(order, j.found.right))
    return found


def figures(ranked: Sequence[Ranked]) -> dict[str, float]:
    """nDCG@10, hit@1 and hit@4 of the right passages' ranks."""
    return {"ndcg@10": ndcg_at(ranked), "hit@1": hit_at(ranked, 1), "hit@4": hit_at(ranked, 4)}


def baselines(found: Sequence[Found]) -> dict[str, dict[str, float]]:
    """The figures of BM25, cosine and their fusion."""
    answerable = [f for f in found if f.right]
    return {
        "BM25": figures([Ranked.of(f.lexical, f.right) for f in answerable]),
        "cosine": figures([Ranked.of(f.semantic, f.right) for f in answerable]),
        "fused": figures([Ranked.of(f.candidates, f.right) for f in answerable]),
    }


def graded_pairs(judged: Sequence[Judged]) -> tuple[Floats, Floats, Whole]:
    """Logits, labels and question numbers of the fused top 8 of every question, answerable or not."""
    logits = np.concatenate([j.whole[:GRADED_HITS] for j in judged])
    labels = np.concatenate([[c in j.found.right for c in j.found.candidates[:GRADED_HITS]] for j in judged])
    numbers = np.concatenate([np.full(len(j.whole[:GRADED_HITS]), n) for n, j in enumerate(judged)])
    return logits, labels.astype(float), numbers


def sentence_pick(
    examples: Sequence[Example], score: Callable[[str, Sequence[str]], Sequence[float] | Floats | Scores]
) -> dict[str, float]:
    """Share of questions whose best-scored sentence answers, and the AUC over all their sentences."""
    hits: list[bool] = []
    labels: list[bool] = []
    scores: list[float] = []
    for example in examples:
        values = score(example.question, example.sentences)
        hits.append(int(np.argmax(values)) in example.evidence)
        labels += [i in example.evidence for i in range(len(example.sentences))]
        scores += map(float, values)
    return {"pick": float(np.mean(hits)), "auc": auc(np.array(labels, float), scores)}


@dataclass(frozen=True)
class Adversarial:
    """Whole passages, each with a question that it answers or one that was only written to look so."""

    pairs: list[tuple[str, str]]
    labels: Floats


def adversarial(examples: Sequence[Example], most: int, seed: int = 0) -> Adversarial:
    """Held-out questions of SQuAD 2.0, half of them unanswerable, at most so many of each kind."""
    chosen = [e for e in examples if e.dataset == SQUAD]
    random.Random(seed).shuffle(chosen)
    kinds = [[e for e in chosen if e.relevant is answers][:most] for answers in (True, False)]
    least = min(map(len, kinds))
    both = [e for kind in kinds for e in kind[:least]]
    labels = np.array([float(e.relevant) for e in both])
    return Adversarial([(e.question, e.passage) for e in both], labels)


def pickable(examples: Sequence[Example], dataset: str, most: int, seed: int = 0) -> list[Example]:
    """Questions of a set whose passage has at least two sentences, one of them evidence."""
    chosen = [
        e for e in examples if e.dataset == dataset and e.evidence and len(e.sentences) > 1 and e.relevant
    ]
    random.Random(seed).shuffle(chosen)
    return chosen[:most]
