"""Measure the exported models through llama.cpp, every figure beside its baselines."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from localcrag.crag.rewrite import rewrite
from localcrag.llm.engine import LlamaCppModel

from . import benchmarks as bench
from .calibration import Calibration, auc, calibrate, calibration_error, cross_validated_auc, fuse
from .chatter import Chatter
from .data import SQUAD, DataError, Example, read_examples, split
from .evaluator import CrossEncoder, PairTokenizer, base_folder
from .retrieval import Bm25, hit_at, rank_of
from .runtime import GgufEvaluator, GgufLanguageModel
from .tasks import grade_message

RULE = "whole, z + 0.3 z(fused)"
"""The order that the product uses; see `benchmarks.RULES`."""
IN_OWN_WORDS = "chatty, rewritten in its own words"
SENTENCE_SETS = (SQUAD, "selqa", "qed_nq", "squad_v1_nqg")


@dataclass(frozen=True)
class Row:
    """One line of the table: what, on what, by whom, and the figures by name."""

    part: str
    subject: str
    method: str
    figures: dict[str, float]


@dataclass(frozen=True)
class Bench:
    """The held-out material of a run, retrieved once."""

    held_out: Sequence[Example]
    found: dict[str, list[bench.Found]]
    embed: bench.Embed
    vectors: dict[str, np.ndarray]


def prepare(
    train: Sequence[Example], held_out: Sequence[Example], embed: bench.Embed, questions: int
) -> Bench:
    """Embed the collections and retrieve for `questions` questions of each."""
    found, vectors = {}, {}
    for collection in bench.collections(train, held_out, questions):
        vectors[collection.name] = embed(collection.passages)
        found[collection.name] = bench.retrieve(collection, embed, vectors=vectors[collection.name])
    return Bench(held_out, found, embed, vectors)


def sentence_rows(material: Bench, scorer: bench.Scorer, most: int) -> list[Row]:
    """Picking the answering sentence of a passage: evaluator, cosine, BM25."""
    rows = []
    for dataset in SENTENCE_SETS:
        examples = bench.pickable(material.held_out, dataset, most)
        if not examples:
            continue
        methods = {
            "evaluator": lambda q, texts: scorer.score([(q, t) for t in texts]),
            "cosine": lambda q, texts: material.embed(texts) @ material.embed([q])[0],
            "BM25": lambda q, texts: Bm25(texts).scores([q])[0],
        }
        for name, score in methods.items():
            rows.append(Row("sentences", dataset, name, bench.sentence_pick(examples, score)))
    return rows


def rerank_rows(judged: dict[str, list[bench.Judged]], rules: Sequence[str]) -> list[Row]:
    """Finding the right passage among the fused top 24."""
    rows = []
    for name, each in judged.items():
        for method, figures in bench.baselines([j.found for j in each]).items():
            rows.append(Row("passages", name, method, figures))
        for rule in rules:
            rows.append(
                Row("passages", name, f"evaluator: {rule}", bench.figures(bench.rankings(each, rule)))
            )
    return rows


def grading_rows(judged: dict[str, list[bench.Judged]], calibration: Calibration) -> list[Row]:
    """How well P(relevant) separates the fused top 8, and what the thresholds give."""
    rows = []
    for name, each in judged.items():
        logits, labels, _ = bench.graded_pairs(each)
        cosines = np.concatenate([j.found.cosines[: bench.GRADED] for j in each])
        p = calibration.probability(logits)
        above, below = p >= calibration.upper, p < calibration.lower
        figures = {
            "auc": auc(labels, p),
            "ece": calibration_error(p, labels),
            "precision above upper": float(labels[above].mean()) if above.any() else float("nan"),
            "recall above upper": float(labels[above].sum() / max(labels.sum(), 1)),
            "relevant below lower": float(labels[below].sum() / max(labels.sum(), 1)),
        }
        rows.append(Row("grades", name, "evaluator", figures))
        rows.append(Row("grades", name, "cosine", {"auc": auc(labels, cosines)}))
    return rows


def calibration_of(judged: dict[str, list[bench.Judged]]) -> Calibration:
    """Temperature, bias and thresholds over the fused top 8 of all collections."""
    parts = [bench.graded_pairs(each)[:2] for each in judged.values()]
    return calibrate(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def stored_calibration(evaluator: GgufEvaluator) -> Calibration:
    """What a GGUF says of its own scores."""
    keys = ("evaluator.temperature", "evaluator.bias", "crag.upper", "crag.lower")
    values = [evaluator.metadata(f"localcrag.{key}") for key in keys]
    return Calibration(*(float(v or default) for v, default in zip(values, (1, 0, 0.5, 0.5), strict=True)))


@dataclass(frozen=True)
class Graded:
    """Features (n, 3) of judged pairs: logit of the evaluator's P, LM margin, cosine; labels; questions."""

    features: np.ndarray
    labels: np.ndarray
    questions: np.ndarray


def graded_by_both(
    judged: dict[str, list[bench.Judged]], calibration: Calibration, model: GgufLanguageModel, most: int
) -> Graded:
    """Judge the fused top 8 of up to `most` questions per collection with both models."""
    rows, labels, questions = [], [], []
    for number, each in enumerate(j for judgements in judged.values() for j in judgements[:most]):
        passages = [each.found.collection.passages[i] for i in each.found.candidates[: bench.GRADED]]
        for i, passage in enumerate(passages):
            margin = model.yes_margin(grade_message(each.found.text, passage))
            logit = each.whole[i] / calibration.temperature + calibration.bias
            rows.append((logit, margin, each.found.cosines[i]))
            labels.append(float(each.found.candidates[i] == each.found.right))
            questions.append(number)
    return Graded(np.array(rows), np.array(labels), np.array(questions))


def fusion_rows(graded: Graded) -> list[Row]:
    """AUC of each judge alone and of their logistic fusions, cross-validated by question."""
    names = ("evaluator", "language model", "cosine")
    rows = [
        Row("fusion", "all", n, {"auc": auc(graded.labels, graded.features[:, i])})
        for i, n in enumerate(names)
    ]
    for chosen in ((0, 2), (0, 1), (0, 1, 2)):
        value = cross_validated_auc(graded.features[:, chosen], graded.labels, graded.questions)
        rows.append(Row("fusion", "all", " + ".join(names[i] for i in chosen), {"auc": value}))
    return rows


def fusion_of(graded: Graded):
    """The fusion with all three features, fitted on everything."""
    return fuse(graded.features, graded.labels)


def rewrite_rows(material: Bench, model: Path | None, most: int) -> list[Row]:
    """Recall@4 of the hybrid retrieval for plain, chatty and rewritten questions.

    The chatty wrappers are phrases that training never saw. The model writes as in the product:
    freely, and kept by constraint to the question's own words.
    """
    rows = []
    writer = LlamaCppModel(model, context=2048) if model else None
    for name, found in material.found.items():
        asked = [f for f in found if f.right is not None][:most]
        chatter = Chatter(random.Random(1), held_out=True)
        talk = [chatter.wrap(f.text, mistakes=0.0) for f in asked]
        forms = {
            "question as written": [f.text for f in asked],
            "chatty": [said for said, _ in talk],
            "chatty, its own keywords": [target for _, target in talk],
        }
        if writer:
            for form, extractive in (("chatty, rewritten freely", False), (IN_OWN_WORDS, True)):
                forms[form] = [rewrite(writer, said, extractive=extractive) for said, _ in talk]
        for form, questions in forms.items():
            figures = _recall(asked, questions, material.embed, material.vectors[name])
            rows.append(Row("rewriting", name, form, figures))
    return rows


def _recall(
    asked: Sequence[bench.Found], questions: list[str], embed: bench.Embed, vectors: np.ndarray
) -> dict:
    again = bench.retrieve(asked[0].collection, embed, questions, vectors)
    ranks = [rank_of(new.candidates, old.right) for new, old in zip(again, asked, strict=True)]
    return {"recall@4": hit_at(ranks, 4), "recall@1": hit_at(ranks, 1)}


def table(rows: Sequence[Row]) -> str:
    """The rows as aligned text, one part after another."""
    lines, part = [], None
    for row in rows:
        if row.part != part:
            lines += ["", row.part]
            part = row.part
        figures = "  ".join(f"{k} {v:.3f}" for k, v in row.figures.items())
        lines.append(f"  {row.subject:<16} {row.method:<46} {figures}")
    return "\n".join(lines[1:])


def manifest_files(models: Path) -> dict[str, Path]:
    """The files of `models/manifest.toml` by role."""
    manifest = tomllib.loads((models / "manifest.toml").read_text())
    return {entry["role"]: models / entry["file"] for entry in manifest["model"]}


def measure(data: Path, models: Path, questions: int, all_rules: bool = False) -> list[Row]:
    """Every figure of the models in a folder, on the held-out documents of a data folder."""
    if not (models / "manifest.toml").exists():
        raise DataError(f"no manifest.toml in {models}")
    files = manifest_files(models)
    if "evaluator" not in files:
        raise DataError(f"no evaluator in {models / 'manifest.toml'}")
    train, held_out = split(read_examples(data))
    base, words = CrossEncoder(base_folder()), PairTokenizer(base_folder())
    material = prepare(train, held_out, lambda texts: base.embed(words, texts, 256), questions)
    scorer = GgufEvaluator(files["evaluator"])
    judged = {name: bench.judge(found, scorer) for name, found in material.found.items()}
    rows = sentence_rows(material, scorer, questions * 5)
    rows += rerank_rows(judged, list(bench.RULES) if all_rules else ["whole", "sentence", RULE])
    rows += grading_rows(judged, stored_calibration(scorer))
    if "language" in files:
        model = GgufLanguageModel(files["language"])
        rows += rewrite_rows(material, files["language"], questions)
        rows += fusion_rows(graded_by_both(judged, stored_calibration(scorer), model, questions))
        model.close()
    scorer.close()
    return rows
