"""From checkpoints to the files in `models/`: export, calibrate through llama.cpp, export again, list."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from . import benchmarks as bench
from . import evaluate, evaluator, train_language
from . import tokenizer as bpe
from .calibration import Calibration, Fusion, calibrate
from .checkpoint import load
from .data import USER, Example
from .export import About, ByteLevelVocabulary, Shape, write_evaluator, write_language_model
from .runtime import GgufEvaluator, GgufLanguageModel
from .stages import Job, StageError, examples_of

EVALUATOR = "localcrag-evaluator-v1"
LANGUAGE_MODEL = "localcrag-mini-v1"
_BASE = ("all-MiniLM-L6-v2", "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2")
_EVALUATOR_WORDS = (
    "Cross-encoder that judges whether a sentence or a passage helps to answer a question. Fine-tuned from "
    "all-MiniLM-L6-v2 (Apache-2.0)."
)
_LANGUAGE_MODEL_WORDS = (
    "Tiny LLaMA trained from scratch: it shortens a question to a search line in the question's own words. "
    "Its grades are hardly better than chance, and it does not write answers. Use a chat model where you can."
)


def publish(job: Job, questions: int = 60) -> None:
    """Export what has been trained; `questions` per collection are used to calibrate."""
    if job.models is None:
        raise StageError("say where the models go: --models DIR")
    train, held_out = examples_of(job)
    trained = load(job.evaluator / "checkpoint.pt")
    if trained is None:
        raise StageError("run the stage 'evaluator' first: there is no checkpoint")
    model = evaluator.CrossEncoder(evaluator.base_folder())
    base = evaluator.CrossEncoder(evaluator.base_folder())
    model.load_state_dict(trained["model"])
    words = evaluator.PairTokenizer(evaluator.base_folder())
    path = job.models / f"{EVALUATOR}.gguf"
    own = [e for e in held_out if e.dataset == USER]
    if own:
        calibration = _calibrated_on_pairs(model, words, own)
        export_evaluator(model, words, path, calibration)
    else:
        material = evaluate.prepare(train, held_out, lambda texts: base.embed(words, texts, 256), questions)
        judged = _calibrated(model, words, path, material)
        if job.language_model("tasks").exists():
            _publish_language_model(job, judged, path, questions)
    write_manifest(job.models)


def export_evaluator(
    model: evaluator.CrossEncoder,
    words: evaluator.PairTokenizer,
    path: Path,
    calibration: Calibration | None,
    kind: str = "q8_0",
) -> None:
    """Write the evaluator, with its calibration where that is known."""
    measured = {}
    if calibration:
        measured = {
            "localcrag.evaluator.temperature": calibration.temperature,
            "localcrag.evaluator.bias": calibration.bias,
            "localcrag.crag.upper": calibration.upper,
            "localcrag.crag.lower": calibration.lower,
        }
    about = About(EVALUATOR, _EVALUATOR_WORDS, base=_BASE, measured=measured)
    write_evaluator(path, model.weights(), model.shape, words.vocabulary, about, kind)


def _calibrated(model, words, path: Path, material: evaluate.Bench) -> dict[str, list[bench.Judged]]:
    """Calibrate on what llama.cpp says of the quantised file, and write the file with it."""
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / path.name
        export_evaluator(model, words, draft, None)
        scorer = GgufEvaluator(draft)
        judged = {
            name: bench.judge(found, scorer, sentences=False, depth=bench.GRADED)
            for name, found in material.found.items()
        }
        scorer.close()
    export_evaluator(model, words, path, evaluate.calibration_of(judged))
    return judged


def _calibrated_on_pairs(model, words, examples: Sequence[Example]) -> Calibration:
    labels = np.array([float(e.relevant) for e in examples])
    if len(set(labels)) < 2:
        raise StageError("the held-out part has only one kind of label: add more examples of both kinds")
    return calibrate(model.score(words, [(e.question, e.passage) for e in examples]), labels)


def _publish_language_model(
    job: Job, judged: dict[str, list[bench.Judged]], judge: Path, questions: int
) -> None:
    """Write the language model, fit its fusion with the evaluator through llama.cpp, and write it again."""
    path = job.models / f"{LANGUAGE_MODEL}.gguf"
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / path.name
        export_language_model(job, draft, None)
        scorer, model = GgufEvaluator(judge), GgufLanguageModel(draft)
        graded = evaluate.graded_by_both(judged, evaluate.stored_calibration(scorer), model, questions)
        scorer.close()
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
    about = About(LANGUAGE_MODEL, _LANGUAGE_MODEL_WORDS, measured=measured)
    write_language_model(path, model.tensors(), shape, words, about, kind)


def write_manifest(models: Path) -> None:
    """List the GGUF files of a folder with their sizes and hashes in `manifest.toml`."""
    known = ((LANGUAGE_MODEL, "language", _LANGUAGE_MODEL_WORDS), (EVALUATOR, "evaluator", _EVALUATOR_WORDS))
    entries = [_entry(models / f"{name}.gguf", name, *rest) for name, *rest in known]
    part = models / "manifest.toml.part"
    part.write_text("\n".join(entry for entry in entries if entry))
    part.replace(models / "manifest.toml")


def _entry(path: Path, name: str, role: str, words: str) -> str:
    if not path.exists():
        return ""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return (
        f'[[model]]\nname = "{name}"\nfile = "{path.name}"\nrole = "{role}"\nsha256 = "{digest}"\n'
        f'bytes = {path.stat().st_size}\nlicense = "Apache-2.0"\ndescription = "{words}"\n'
    )
