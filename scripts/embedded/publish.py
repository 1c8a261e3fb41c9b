"""From checkpoints to the files in `models/`: export, calibrate through llama.cpp, export again, list.

Everything is made in a temporary folder beside its place and moved there at the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from . import benchmarks as bench
from . import evaluate, evaluator, train_language
from . import tokenizer as bpe
from .calibration import Calibration, Fusion, auc, calibrate
from .data import USER, Example
from .export import About, ByteLevelVocabulary, Shape, write_language_model
from .listing import EVALUATOR, LANGUAGE_MODEL, LANGUAGE_MODEL_WORDS, write_manifest
from .runtime import GgufEvaluator, GgufLanguageModel
from .shipping import export_evaluator, restored_evaluator
from .stages import Job, StageError, examples_of

Judged = dict[str, list[bench.Judged]]


def publish(job: Job, questions: int = 150) -> None:
    """Export what has been trained; `questions` per collection are used to calibrate.

    Refuses, with StageError and nothing written, an evaluator that judges no better than the cosine.
    """
    if job.models is None:
        raise StageError("say where the models go: --models DIR")
    _, held_out = examples_of(job)
    model = restored_evaluator(job.evaluator / "checkpoint.pt")
    own = [e for e in held_out if e.dataset == USER]
    job.models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=job.models, prefix=".making-") as folder:
        made = Path(folder)
        if own:
            calibration = _calibrated_on_pairs(job, model, own)
            export_evaluator(model, _words(), made / f"{EVALUATOR}.gguf", calibration)
        else:
            judged = _calibrated(job, model, made / f"{EVALUATOR}.gguf", questions)
            if job.language_model("tasks").exists():
                _fuse(job, judged, made / f"{LANGUAGE_MODEL}.gguf", made / f"{EVALUATOR}.gguf")
        for file in made.iterdir():
            file.replace(job.models / file.name)
    write_manifest(job.models)


def _words() -> evaluator.PairTokenizer:
    return evaluator.PairTokenizer(evaluator.base_folder())


def _calibrated(job: Job, model: evaluator.CrossEncoder, path: Path, questions: int) -> Judged:
    """Calibrate on what llama.cpp says of the quantised file, and write the file with it.

    The questions are those of the half that fits.
    """
    material = evaluate.material_of(job.data, questions, fitting=True)
    words = _words()
    export_evaluator(model, words, path, None)
    scorer = GgufEvaluator(path)
    judged = {
        name: bench.judge(found, scorer, sentences=False, depth=bench.GRADED)
        for name, found in material.found.items()
    }
    scorer.close()
    logits, labels, cosines = (
        np.concatenate(column) for column in zip(*map(_pairs, judged.values()), strict=True)
    )
    _refuse_ballast(job, auc(labels, logits), auc(labels, cosines))
    export_evaluator(model, words, path, evaluate.calibration_of(judged))
    return judged


def _pairs(judged: Sequence[bench.Judged]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    logits, labels, _ = bench.graded_pairs(judged)
    return logits, labels, np.concatenate([j.found.cosines[: bench.GRADED] for j in judged])


def _refuse_ballast(job: Job, reached: float, cosine: float) -> None:
    """An evaluator that does not beat the cosine of the embedding model costs time for nothing."""
    print(f"held-out pairs: AUC {reached:.3f}, cosine {cosine:.3f}")
    if not reached > cosine and not job.anyway:
        raise StageError(
            f"the evaluator judges no better than the cosine (AUC {reached:.3f} against {cosine:.3f}): "
            "give the stage 'evaluator' more --minutes or more data, or export it --anyway"
        )


def _calibrated_on_pairs(job: Job, model: evaluator.CrossEncoder, examples: Sequence[Example]) -> Calibration:
    """Calibrate on the held-out pairs of a user's own file."""
    labels = np.array([float(e.relevant) for e in examples])
    if len(set(labels)) < 2:
        raise StageError("the held-out part has only one kind of label: add more examples of both kinds")
    words, base = _words(), evaluator.CrossEncoder(evaluator.base_folder())
    pairs = [(e.question, e.passage) for e in examples]
    logits = model.score(words, pairs)
    asked, known = (base.embed(words, texts, 256) for texts in _columns(examples))
    _refuse_ballast(job, auc(labels, logits), auc(labels, (asked * known).sum(1)))
    if job.init:
        base.load_gguf(job.init)
        print(f"before the fine-tuning: AUC {auc(labels, base.score(words, pairs)):.3f}")
    return calibrate(logits, labels)


def _columns(examples: Sequence[Example]) -> tuple[list[str], list[str]]:
    return [e.question for e in examples], [e.passage for e in examples]


def _fuse(job: Job, judged: Judged, path: Path, judge: Path) -> None:
    """Write the language model with its fusion with the evaluator, fitted through llama.cpp."""
    export_language_model(job, path, None)
    model = GgufLanguageModel(path)
    graded = evaluate.graded_by_both(judged, evaluate.stored_calibration(judge), model, 60)
    model.close()
    export_language_model(job, path, evaluate.fusion_of(graded))


def export_language_model(job: Job, path: Path, fusion: Fusion | None, kind: str = "f16") -> None:
    """Write the language model, with its fusion where that is known."""
    model = train_language.restored(job.language_model("tasks"))
    size = model.size
    pieces, merges = bpe.pieces_and_merges(bpe.load(job.tokenizer))
    words = ByteLevelVocabulary(pieces, merges, frozenset(bpe.CONTROL), bpe.END, bpe.TEMPLATE)
    measured = {}
    if fusion:
        measured = {
            "localcrag.fusion.weights": [*fusion.weights, fusion.bias],
            "localcrag.fusion.evaluator": EVALUATOR,
            "localcrag.crag.upper": fusion.upper,
            "localcrag.crag.lower": fusion.lower,
        }
    shape = Shape(size.context, size.width, size.inner, size.layers, size.heads, size.epsilon)
    about = About(LANGUAGE_MODEL, LANGUAGE_MODEL_WORDS, measured=measured)
    write_language_model(path, model.tensors(), shape, words, about, kind)
