"""Measure the exported models through llama.cpp, every figure beside its baselines.

What was fitted (calibration, thresholds, fusion, the weights of the order) was fitted on one half of the
held-out questions; the figures come from the other half.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from localcrag.calibration.band import YES_PROBABILITY, JudgedPair, narrowest_band
from localcrag.calibration.scale import Scale, log_odds, sigmoid
from localcrag.crag import prompts
from localcrag.crag.judges.yes_no_choices import ask_each
from localcrag.evaluation.statistics import Floats, Whole
from localcrag.protocols import LanguageModel
from localcrag.types import Thresholds

from . import benchmarks as bench
from . import chat_measure
from .base_model import base_of
from .calibration import Calibrated, Fused, auc, calibrate, calibration_error, cross_validated_auc, fuse
from .chatter import Chatter
from .cross_encoder import CrossEncoder
from .data import SQUAD, DataError, Example, split
from .document_search import document_rows
from .evaluator_base import english_base
from .groups import Embed, Vectors
from .headings import read_labelled
from .labelled_documents import (
    DOCUMENTS_SET,
    DocumentQuestion,
    as_example,
    document_folders,
    read_labelled_documents,
    unseen_folders,
)
from .manifest import manifest_files
from .model_files import cost_rows, format_rows, stored_fusions
from .pair_tokenizer import PairTokenizer
from .product_evaluator import product_evaluator
from .result_row import Row
from .retrieval import Bm25, Ranked, hit_at
from .strip_fusion import judged_strips, strip_fusion_rows

UNASKED = 0.5
"""P of a language model that is not asked: its log-odds are 0."""
REWRITTEN = "chatty, rewritten by the language model"
CHATTY = "chatty"
SENTENCE_SETS = (SQUAD, "selqa", "qed_nq", "squad_v1_nqg")
MAX_QUESTIONS = 100
"""Questions of a collection, at most."""
BOTH_GRADED_QUESTIONS = 25
"""Questions of a collection that the language model grades as well."""
BAND_MARGIN = 0.005
"""The share of passages that a cascade may judge wrong beyond those that the fusion does."""


@dataclass(frozen=True)
class Bench:
    """The held-out material of a run, retrieved once."""

    held_out: Sequence[Example]
    found: dict[str, list[bench.Found]]
    embed: Embed
    vectors: dict[str, Vectors]
    documents: Sequence[DocumentQuestion]
    """Questions about whole documents that are held out from training."""


@dataclass(frozen=True)
class Plan:
    """What to measure: data and models, how much, which half, and a checkpoint to compare formats with.

    `base` is the chat model that the adapter of `models` is for, by default the one of the package.
    """

    data: Path
    models: Path
    questions: int = MAX_QUESTIONS
    fitting: bool = False
    thorough: bool = False
    checkpoint: Path | None = None
    base: Path | None = None


def material_of(data: Path, questions: int, fitting: bool) -> Bench:
    """The collections of a data folder, embedded and searched. Raises DataError if there are none."""
    train, held_out = split(read_labelled(data))
    made = bench.collections(train, held_out, questions, fitting)
    if not made:
        names = ", ".join(name for kind in bench.COLLECTION_KINDS for name in kind.datasets)
        raise DataError(f"{data}: nothing to measure on, no held-out questions of any of {names}")
    asked = read_labelled_documents(document_folders(data))
    if mixed := bench.documents_collection(asked, questions, fitting):
        made.append(mixed)
    if not fitting and (library := bench.library_collection(data)):
        made.append(library)
    known = english_base()
    base, words = CrossEncoder(known), PairTokenizer(known.folder)

    known_vectors: dict[str, Vectors] = {}

    def embed(texts: Sequence[str]) -> Vectors:
        """The vectors of texts, each text embedded once: the collections share many with what is asked."""
        new = [text for text in dict.fromkeys(texts) if text not in known_vectors]
        made = base.embed(words, new, 256)
        known_vectors.update(zip(new, made, strict=True))
        return np.stack([known_vectors[text] for text in texts]) if texts else made

    vectors = {c.name: embed(c.passages) for c in made}
    found = {c.name: bench.retrieve(c, embed, vectors=vectors[c.name]) for c in made}
    about_documents = [each for each in asked if each.held_out and each.fits is fitting]
    of_documents = [as_example(each) for each in about_documents]
    return Bench([*held_out, *of_documents], found, embed, vectors, about_documents)


def sentence_rows(material: Bench, scorer: bench.Scorer, most: int) -> list[Row]:
    """Picking the answering sentence of a passage: evaluator, cosine, BM25."""
    rows = []
    for dataset in (*SENTENCE_SETS, DOCUMENTS_SET):
        examples = bench.pickable(material.held_out, dataset, most)
        if not examples:
            continue
        vectors = _vectors(examples, material.embed)
        methods: dict[str, Callable[[str, Sequence[str]], Sequence[float] | Floats | Vectors]] = {
            "evaluator": scorer.numbers,
            "cosine": partial(_cosines, vectors),
            "BM25": lambda question, texts: Bm25(texts).scores([question])[0],
        }
        for name, score in methods.items():
            figures = bench.sentence_pick(examples, score)
            rows.append(Row("sentences", dataset, name, {**figures, "questions": len(examples)}))
    return rows


def _cosines(vectors: Mapping[str, Vectors], question: str, texts: Sequence[str]) -> Vectors:
    """The cosine of each text, shape (texts,), to a question."""
    found: Vectors = np.stack([vectors[text] for text in texts]) @ vectors[question]
    return found


def _vectors(examples: Sequence[Example], embed: Embed) -> dict[str, Vectors]:
    """Unit vectors of all questions and sentences, by their text."""
    texts = sorted({text for e in examples for text in (e.question, *e.sentences)})
    return dict(zip(texts, embed(texts), strict=True))


def near_miss_rows(
    material: Bench, scorer: bench.Scorer, most: int, calibrated: Calibrated | None = None
) -> list[Row]:
    """Telling a whole passage that answers from one that was made to look so: evaluator, cosine, BM25."""
    made = bench.adversarial(material.held_out, most)
    if not made.pairs:
        return []
    logits = np.array([scorer.numbers(question, [text])[0] for question, text in made.pairs])
    asked, texts = zip(*made.pairs, strict=True)
    cosines = (material.embed(asked) * material.embed(texts)).sum(1)
    lexical = Bm25(texts).scores(asked).diagonal()
    figures = {"auc": auc(made.labels, logits), "pairs": float(len(made.pairs))}
    if calibrated:
        figures["ece"] = calibration_error(calibrated.probabilities(logits), made.labels)
    return [
        Row("near misses", SQUAD, "evaluator", figures),
        Row("near misses", SQUAD, "cosine", {"auc": auc(made.labels, cosines)}),
        Row("near misses", SQUAD, "BM25", {"auc": auc(made.labels, lexical)}),
    ]


def rerank_rows(judged: dict[str, list[bench.Judged]], rules: Sequence[str]) -> list[Row]:
    """Finding the right passage among the fused top 24."""
    rows = []
    for name, each in judged.items():
        for method, figures in bench.baselines([j.found for j in each]).items():
            rows.append(Row("passages", name, method, figures))
        for rule in rules:
            figures = bench.figures(bench.rankings(each, rule))
            rows.append(Row("passages", name, f"evaluator: {rule}", figures))
    return rows


def grading_rows(
    judged: dict[str, list[bench.Judged]], calibrated: Calibrated, fused: Fused | None = None
) -> list[Row]:
    """How well P(relevant) separates the fused top 8, and what the thresholds give."""
    rows = []
    for name, each in judged.items():
        logits, labels, _ = bench.graded_pairs(each)
        cosines = np.concatenate([j.found.cosines[: bench.GRADED_HITS] for j in each])
        lexical = np.concatenate([j.found.lexical_scores[: bench.GRADED_HITS] for j in each])
        p = calibrated.probabilities(logits)
        rows.append(Row("grades", name, "evaluator", _graded(p, labels, calibrated.thresholds)))
        if fused:
            pairs = zip(p.tolist(), cosines.tolist(), strict=True)
            both = np.array([fused.fusion(sure, UNASKED, cosine) for sure, cosine in pairs])
            rows.append(Row("grades", name, "evaluator + cosine", _graded(both, labels, fused.thresholds)))
        rows.append(Row("grades", name, "cosine", {"auc": auc(labels, cosines)}))
        rows.append(Row("grades", name, "BM25", {"auc": auc(labels, lexical)}))
    return rows


def _graded(p: Floats, labels: Floats, bounds: Thresholds) -> dict[str, float]:
    above, below = p >= bounds.upper, p < bounds.lower
    right = max(labels.sum(), 1)
    return {
        "auc": auc(labels, p),
        "ece": calibration_error(p, labels),
        "precision above upper": float(labels[above].mean()) if above.any() else float("nan"),
        "recall above upper": float(labels[above].sum() / right),
        "relevant below lower": float(labels[below].sum() / right),
    }


def calibration_of(judged: dict[str, list[bench.Judged]]) -> Calibrated:
    """Scale and thresholds over the fused top 8 of all collections."""
    logits, labels, _ = zip(*map(bench.graded_pairs, judged.values()), strict=True)
    return calibrate(np.concatenate(logits), np.concatenate(labels))


@dataclass(frozen=True)
class Graded:
    """Judged pairs: features (n, 3), labels (n,), and the numbers of their questions (n,).

    The features are those of the product's fusion: log-odds of the evaluator's P, log-odds of the language
    model's P(yes), cosine.
    """

    features: Floats
    labels: Floats
    questions: Whole


def graded_by_both(
    judged: dict[str, list[bench.Judged]], scale: Scale, model: LanguageModel, most: int | None = None
) -> Graded:
    """Judge the fused top 8 of all questions, or of `most` per collection, with both models.

    Raises LocalCragError if the language model cannot judge a passage.
    """
    rows: list[tuple[float, float, float]] = []
    labels: list[bool] = []
    questions: list[int] = []
    for number, each in enumerate(j for judgements in judged.values() for j in judgements[:most]):
        candidates = each.found.candidates[: bench.GRADED_HITS]
        choices = ask_each(model, each.found.text, [each.found.collection.passages[i] for i in candidates])
        for at, choice in enumerate(choices):
            if isinstance(choice, Exception):
                raise choice
            sure = log_odds(scale.of(float(each.whole[at])))
            rows.append((sure, log_odds(choice.probabilities[0]), float(each.found.cosines[at])))
        labels += [candidate in each.found.right for candidate in candidates]
        questions += [number] * len(candidates)
    return Graded(np.array(rows), np.array(labels, np.float64), np.array(questions, np.intp))


def fusion_rows(graded: Graded) -> list[Row]:
    """AUC of each judge alone and of their logistic fusions, cross-validated by question."""
    names = ("evaluator", "language model", "cosine")
    rows = [
        Row("fusion", "all", n, {"auc": auc(graded.labels, graded.features[:, i])})
        for i, n in enumerate(names)
    ]
    fusions: tuple[tuple[int, ...], ...] = ((0, 2), (0, 1), (0, 1, 2))
    for chosen in fusions:
        value = cross_validated_auc(graded.features[:, chosen], graded.labels, graded.questions)
        rows.append(Row("fusion", "all", " + ".join(names[i] for i in chosen), {"auc": value}))
    return rows


def fusion_of(graded: Graded) -> Fused:
    """The fusion with all three features, fitted on everything."""
    return fuse(graded.features, graded.labels)


def band_of(graded: Graded, fused: Fused) -> Thresholds:
    """The narrowest band of the evaluator's P in which the fusion need be asked, fitted on everything."""
    evaluator, model = (np.array([sigmoid(v) for v in graded.features[:, i]]) for i in (0, 1))
    pairs = zip(evaluator.tolist(), model.tolist(), graded.features[:, 2].tolist(), strict=True)
    verdicts = np.array([fused.fusion(*pair) >= YES_PROBABILITY for pair in pairs])
    right = graded.labels > 0
    return narrowest_band(JudgedPair(evaluator, verdicts == right, right, graded.questions), BAND_MARGIN)


def rewrite_rows(material: Bench, writer: LanguageModel) -> list[Row]:
    """Recall@4 of the hybrid retrieval for plain, chatty and rewritten questions.

    The chatty wrappers are phrases that training never saw. The model writes as in the product.
    """
    rows: list[Row] = []
    ranked: dict[str, list[Ranked]] = {}
    for name, found in material.found.items():
        asked = [f for f in found if f.right]
        chatter = Chatter(random.Random(1), held_out=True)
        talk = [chatter.wrap(f.text, mistakes=0.0) for f in asked]
        forms = {
            "question as written": [f.text for f in asked],
            CHATTY: [said for said, _ in talk],
            "chatty, its own keywords": [target for _, target in talk],
        }
        forms[REWRITTEN] = [chat_measure.line_or(said, writer, prompts.rewrite(said)) for said, _ in talk]
        for form, questions in forms.items():
            ranks = _ranks(asked, questions, material.embed, material.vectors[name])
            ranked.setdefault(form, []).extend(ranks)
            rows.append(Row("rewriting", name, form, _recall(ranks)))
    return [*rows, *(Row("rewriting", "all", form, _recall(ranks)) for form, ranks in ranked.items())]


def _ranks(
    asked: Sequence[bench.Found], questions: list[str], embed: Embed, vectors: Vectors
) -> list[Ranked]:
    again = bench.retrieve(asked[0].collection, embed, questions, vectors)
    return [Ranked.of(new.candidates, old.right) for new, old in zip(again, asked, strict=True)]


def _recall(ranks: Sequence[Ranked]) -> dict[str, float]:
    return {"recall@4": hit_at(ranks, 4), "recall@1": hit_at(ranks, 1), "questions": len(ranks)}


def measure(plan: Plan) -> list[Row]:
    """Every figure of the models in a folder, on the held-out documents of a data folder.

    Raises DataError, LocalCragError (a damaged model file).
    """
    files = manifest_files(plan.models)
    if "evaluator" not in files:
        raise DataError(f"no evaluator in {plan.models / 'manifest.toml'}")
    _say("embedding and searching the collections")
    material = material_of(plan.data, plan.questions, plan.fitting)
    with product_evaluator(files["evaluator"]) as scorer:
        calibrated = Calibrated(scorer.own_scale, scorer.thresholds)
        _say("cost, sentences")
        rows = [*cost_rows(files), *sentence_rows(material, scorer, plan.questions * 4)]
        rows += near_miss_rows(material, scorer, plan.questions * 2, calibrated)
        groups = {"held out": material.documents, "unseen": read_labelled_documents(unseen_folders())}
        rows += document_rows(scorer, material.embed, groups, plan.questions)
        _say("passages")
        judged = {n: bench.judge(found, scorer, plan.thorough) for n, found in material.found.items()}
    fusion, strip_fusion = stored_fusions(files, plan.base)
    rows += rerank_rows(judged, list(bench.RULES | (bench.COSTLY_RULES if plan.thorough else {})))
    rows += grading_rows(judged, calibrated, fusion)
    if plan.checkpoint:
        _say("formats")
        rows += format_rows(judged, plan.checkpoint)
    if "adapter" in files:
        _say("language model")
        with base_of(plan.base).with_adapter(files["adapter"], bench.CONTEXT_TOKENS) as chat:
            rows += fusion_rows(graded_by_both(judged, calibrated.scale, chat, BOTH_GRADED_QUESTIONS))
            rows += rewrite_rows(material, chat)
            with product_evaluator(files["evaluator"]) as scorer:
                strips = {
                    name: list(judged_strips(asked, material.embed, scorer, chat, plan.questions))
                    for name, asked in groups.items()
                }
                rows += strip_fusion_rows(strips, strip_fusion)
                rows += chat_measure.rows(
                    plan.data, material.held_out, SENTENCE_SETS, chat, scorer, plan.questions
                )
    return rows


def _say(what: str) -> None:
    print(f"measuring: {what} …", file=sys.stderr, flush=True)
