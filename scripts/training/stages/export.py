"""Stage `export`: from checkpoints to model files, calibrated as the product computes them, with a manifest.

An adapter that is given as `--init`, with no checkpoint of its own, is fused anew with the evaluator.

Everything is made in a temporary folder beside its place and moved there at the end.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path

import numpy as np

from localcrag.configured_models import QUERIES_SCALE_KEY
from localcrag.crag.table_queries.table_query import NO_QUERY
from localcrag.evaluation.statistics import Floats
from localcrag.llm.gguf import read_metadata
from localcrag.llm.model_file_checks import ADAPTER_BASE_KEY
from localcrag.llm.query_writers import QUERY_CONTEXT_TOKENS
from localcrag.llm.registry import embedded_folder

from .. import benchmarks as bench
from .. import measure, table_measure
from ..adapted_llama import AdaptedLlama
from ..base_model import PACKAGED, Base, base_of
from ..calibration import Calibrated, auc, calibrate
from ..checkpoint import load
from ..cross_encoder import CrossEncoder
from ..data import USER, Example
from ..evaluator_base import ENGLISH_EVALUATOR
from ..gguf_files import About, Measured, write_adapter
from ..job import Job, StageError, examples_of
from ..manifest import ADAPTER, ADAPTER_WORDS, TABLES_ADAPTERS, TABLES_LANGUAGES, tables_words, write_manifest
from ..pair_tokenizer import PairTokenizer
from ..product_evaluator import product_evaluator
from ..shipping import export_evaluator, restored_evaluator
from ..strip_fusion import judged_strips, strip_fusion_of

CALIBRATION_QUESTIONS = 150
"""Questions of a collection, at most, that scale and thresholds are fitted to."""
FUSION_QUESTIONS = 20
"""Questions of a collection, at most, that the fusion with the chat model is fitted to."""
STRIP_QUESTIONS = 400
"""Questions about documents, at most, that the fusion of both about strips is fitted to."""


def run(job: Job) -> None:
    """Export what has been trained: the evaluator, the chat model's adapter, that for tables.

    The adapter may as well be one that was exported before (`init`).

    Raises StageError, with nothing written, if there is none, or for an evaluator that judges no better
    than the cosine.
    """
    if job.models is None:
        raise StageError("say where the models go: --models DIR")
    judge = restored_evaluator(job.evaluator, job.evaluator_base) if job.evaluator.exists() else None
    is_adapted = job.chat.exists() or bool(job.init and read_metadata(job.init).adapter)
    if judge and job.blend:
        judge.blend(job.blend, job.share)
    if not (judge or is_adapted or job.tables.exists()):
        raise StageError("run the stage 'evaluator', 'chat' or 'tables' first: there is no checkpoint")
    job.models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=job.models, prefix=".making-") as folder:
        made = Path(folder)
        if judge:
            _export_evaluator(job, judge, made / f"{judge.base.evaluator}.gguf")
        if is_adapted:
            _export_adapter(job, _adapted(job), made / f"{ADAPTER}.gguf", _evaluator_beside(job, made))
        if trained := load(job.tables):
            base = base_of(job.base)
            model = AdaptedLlama.restored(base.file, trained["model"])
            if job.blend and not judge:
                model.blend(base.file, job.blend, job.share)
            name = TABLES_ADAPTERS.get(base.name, TABLES_ADAPTERS[PACKAGED])
            _export_tables(job, model, made / f"{name}.gguf", base)
        for file in made.iterdir():
            file.replace(job.models / file.name)
    write_manifest(job.models)


def _export_tables(job: Job, model: AdaptedLlama, path: Path, base: Base) -> None:
    """Write the adapter for questions over tables, with the scale of its probabilities on tables held out."""
    words, known = tables_words(base.name), TABLES_LANGUAGES.get(base.name, ())
    _write_adapter(base, model, path, words, languages=known)
    questions = list(table_measure.questions_for_scale(job.data)) if job.data.is_dir() else []
    if not questions:
        return
    with base.with_adapter(path, QUERY_CONTEXT_TOKENS) as reader:
        asked = table_measure.ask(reader, questions)
    for row in table_measure.rows([each for each in asked if each.label != NO_QUERY]):
        print(f"{row.method}: {', '.join(f'{name} {value:.2f}' for name, value in row.figures.items())}")
    scale: Measured = {QUERIES_SCALE_KEY: astuple(table_measure.scale_of(asked))}
    _write_adapter(base, model, path, words, scale, known)


def _export_evaluator(job: Job, model: CrossEncoder, path: Path) -> None:
    """Write the evaluator, calibrated on held-out questions, or on the held-out part of one's own pairs."""
    _, held_out = examples_of(job)
    if own := [e for e in held_out if e.dataset == USER]:
        words = PairTokenizer(model.base.folder)
        export_evaluator(model, words, path, _calibrated_on_pairs(job, model, own))
    else:
        _calibrated(job, model, path)


def _evaluator_beside(job: Job, made: Path) -> Path | None:
    """The evaluator that an adapter is fused with: made just now, exported before, or shipped."""
    folders = (made, job.models or made, embedded_folder())
    return next((path for folder in folders if (path := folder / f"{ENGLISH_EVALUATOR}.gguf").exists()), None)


def _adapted(job: Job) -> AdaptedLlama:
    """The base with the adapters that were trained, else with those of `init`."""
    base = base_of(job.base).file
    if trained := load(job.chat):
        return AdaptedLlama.restored(base, trained["model"])
    assert job.init is not None
    return AdaptedLlama.with_adapter(base, job.init)


def _export_adapter(job: Job, model: AdaptedLlama, path: Path, judge: Path | None) -> None:
    """Write the adapter, with its fusion with the evaluator if the data are a folder."""
    base = base_of(job.base)
    _write_adapter(base, model, path, ADAPTER_WORDS)
    if judge is None or job.data.is_file():
        return
    material = measure.material_of(job.data, FUSION_QUESTIONS, fitting=True)
    with product_evaluator(judge) as evaluator:
        judged = {
            name: bench.judge(each, evaluator, sentences=False, depth=bench.GRADED_HITS)
            for name, each in material.found.items()
        }
        with base.with_adapter(path, bench.CONTEXT_TOKENS) as chat:
            graded = measure.graded_by_both(judged, evaluator.own_scale, chat)
            embed, asked = material.embed, material.documents
            strips = list(judged_strips(asked, embed, evaluator, chat, STRIP_QUESTIONS))
    for row in measure.fusion_rows(graded):
        print(f"{row.method}: AUC {row.figures['auc']:.4f}")
    fused = measure.fusion_of(graded)
    band = measure.band_of(graded, fused)
    fitted: Measured = {
        "localcrag.fusion.weights": astuple(fused.fusion),
        "localcrag.fusion.evaluator": judge.stem,
        "localcrag.crag.upper": fused.thresholds.upper,
        "localcrag.crag.lower": fused.thresholds.lower,
        "localcrag.fusion.band.upper": band.upper,
        "localcrag.fusion.band.lower": band.lower,
        "localcrag.strips.weights": astuple(strip_fusion_of(strips)),
    }
    _write_adapter(base, model, path, ADAPTER_WORDS, fitted)


def _write_adapter(
    base: Base,
    model: AdaptedLlama,
    path: Path,
    words: str,
    fitted: Measured | None = None,
    languages: tuple[str, ...] = (),
) -> None:
    """Write an adapter for a base under the name of its file, with what was fitted for it."""
    measured: Measured = {ADAPTER_BASE_KEY: base.sha256, **(fitted or {})}
    about = About(path.stem, words, base=(base.name, base.url), languages=languages, measured=measured)
    shape = model.shape
    write_adapter(
        path,
        model.pairs(),
        model.alpha,
        about,
        heads=shape.heads,
        kv_heads=shape.kv_heads,
        architecture=shape.architecture,
        permute=shape.is_permuted,
    )


def _calibrated(job: Job, model: CrossEncoder, path: Path) -> None:
    """Calibrate on what llama.cpp says of the quantised file, and write the file with it.

    The questions are those of the half that fits.
    """
    material = measure.material_of(job.data, CALIBRATION_QUESTIONS, fitting=True)
    words = PairTokenizer(model.base.folder)
    export_evaluator(model, words, path, None)
    with product_evaluator(path) as scorer:
        judged = {
            name: bench.judge(found, scorer, sentences=False, depth=bench.GRADED_HITS)
            for name, found in material.found.items()
        }
    logits, labels, cosines = (
        np.concatenate(column) for column in zip(*map(_pairs, judged.values()), strict=True)
    )
    _refuse_ballast(job, auc(labels, logits), auc(labels, cosines))
    export_evaluator(model, words, path, measure.calibration_of(judged))


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
    words, base = PairTokenizer(model.base.folder), CrossEncoder(replace(model.base, layers=0))
    pairs = [(e.question, e.passage) for e in examples]
    logits = model.score(words, pairs).astype(np.float64)
    asked, known = (base.embed(words, texts, 256) for texts in _columns(examples))
    _refuse_ballast(job, auc(labels, logits), auc(labels, (asked * known).sum(1)))
    if job.init:
        before = CrossEncoder(model.base)
        before.load_gguf(job.init)
        print(f"before the fine-tuning: AUC {auc(labels, before.score(words, pairs)):.3f}")
    return calibrate(logits, labels)


def _columns(examples: Sequence[Example]) -> tuple[list[str], list[str]]:
    return [e.question for e in examples], [e.passage for e in examples]
