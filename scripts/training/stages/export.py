"""Stage `export`: from checkpoints to model files, calibrated through llama.cpp, with a manifest.

Everything is made in a temporary folder beside its place and moved there at the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np

from localcrag.evaluation.statistics import Floats
from localcrag.llm.evaluator import LlamaCppEvaluator
from localcrag.llm.language_model import LlamaCppModel

from .. import benchmarks as bench
from .. import byte_bpe, language_batches, measure
from ..calibration import Calibrated, Fused, auc, calibrate
from ..cross_encoder import CrossEncoder, PairTokenizer, base_folder
from ..data import USER, Example
from ..gguf_files import About, ByteLevelVocabulary, Measured, Shape, write_language_model
from ..job import Job, StageError, examples_of
from ..manifest import EVALUATOR, LANGUAGE_MODEL, LANGUAGE_MODEL_WORDS, write_manifest
from ..shipping import export_evaluator, restored_evaluator

CALIBRATION_QUESTIONS = 150
"""Questions of a collection, at most, that scale and thresholds are fitted to."""
FUSION_QUESTIONS = 60
"""Those that the language model grades as well, to fit the fusion."""
Judged = dict[str, list[bench.Judged]]


def run(job: Job) -> None:
    """Export what has been trained.

    Raises StageError, with nothing written, for an evaluator that judges no better than the cosine.
    """
    if job.models is None:
        raise StageError("say where the models go: --models DIR")
    _, held_out = examples_of(job)
    model = restored_evaluator(job.evaluator)
    own = [e for e in held_out if e.dataset == USER]
    job.models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=job.models, prefix=".making-") as folder:
        made = Path(folder)
        if own:
            calibration = _calibrated_on_pairs(job, model, own)
            export_evaluator(model, _words(), made / f"{EVALUATOR}.gguf", calibration)
        else:
            judged = _calibrated(job, model, made / f"{EVALUATOR}.gguf")
            if job.language_model("tasks").exists():
                _fuse(job, judged, made / f"{LANGUAGE_MODEL}.gguf", made / f"{EVALUATOR}.gguf")
        for file in made.iterdir():
            file.replace(job.models / file.name)
    write_manifest(job.models)


def _words() -> PairTokenizer:
    return PairTokenizer(base_folder())


def _calibrated(job: Job, model: CrossEncoder, path: Path) -> Judged:
    """Calibrate on what llama.cpp says of the quantised file, and write the file with it.

    The questions are those of the half that fits.
    """
    material = measure.material_of(job.data, CALIBRATION_QUESTIONS, fitting=True)
    words = _words()
    export_evaluator(model, words, path, None)
    with LlamaCppEvaluator(path) as scorer:
        judged = {
            name: bench.judge(found, scorer, sentences=False, depth=bench.GRADED_HITS)
            for name, found in material.found.items()
        }
    logits, labels, cosines = (
        np.concatenate(column) for column in zip(*map(_pairs, judged.values()), strict=True)
    )
    _refuse_ballast(job, auc(labels, logits), auc(labels, cosines))
    export_evaluator(model, words, path, measure.calibration_of(judged))
    return judged


def _pairs(judged: Sequence[bench.Judged]) -> tuple[Floats, Floats, Floats]:
    logits, labels, _ = bench.graded_pairs(judged)
    return logits, labels, np.concatenate([j.found.cosines[: bench.GRADED_HITS] for j in judged])


def _refuse_ballast(job: Job, reached: float, cosine: float) -> None:
    """An evaluator that does not beat the cosine of the embedding model costs time for nothing."""
    print(f"held-out pairs: AUC {reached:.3f}, cosine {cosine:.3f}")
    if not reached > cosine and not job.anyway:
        raise StageError(
            f"the evaluator judges no better than the cosine (AUC {reached:.3f} against {cosine:.3f}): "
            "give the stage 'evaluator' more --minutes or more data, or export it --anyway"
        )


def _calibrated_on_pairs(job: Job, model: CrossEncoder, examples: Sequence[Example]) -> Calibrated:
    """Calibrate on the held-out pairs of a user's own file."""
    labels = np.array([float(e.relevant) for e in examples])
    if len(set(labels)) < 2:
        raise StageError("the held-out part has only one kind of label: add more examples of both kinds")
    words, base = _words(), CrossEncoder(base_folder())
    pairs = [(e.question, e.passage) for e in examples]
    logits = model.score(words, pairs).astype(np.float64)
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
    with LlamaCppModel(path, context=bench.CONTEXT_TOKENS) as model, LlamaCppEvaluator(judge) as evaluator:
        graded = measure.graded_by_both(judged, evaluator.own_scale, model, FUSION_QUESTIONS)
    export_language_model(job, path, measure.fusion_of(graded))


def export_language_model(job: Job, path: Path, fused: Fused | None, kind: str = "f16") -> None:
    """Write the language model, with its fusion if that is known."""
    model = language_batches.restored(job.language_model("tasks"))
    size = model.size
    pieces, merges = byte_bpe.pieces_and_merges(byte_bpe.load(job.tokenizer))
    words = ByteLevelVocabulary(pieces, merges, frozenset(byte_bpe.CONTROL), byte_bpe.END, byte_bpe.TEMPLATE)
    measured: Measured = {}
    if fused:
        measured = {
            "localcrag.fusion.weights": astuple(fused.fusion),
            "localcrag.fusion.evaluator": EVALUATOR,
            "localcrag.crag.upper": fused.thresholds.upper,
            "localcrag.crag.lower": fused.thresholds.lower,
        }
    shape = Shape(size.context, size.width, size.inner, size.layers, size.heads, size.epsilon)
    about = About(LANGUAGE_MODEL, LANGUAGE_MODEL_WORDS, measured=measured)
    write_language_model(path, model.tensors(), shape, words, about, kind)
