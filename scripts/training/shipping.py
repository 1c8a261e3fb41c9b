"""The trained evaluator: out of its checkpoint, and into its file."""

from __future__ import annotations

from pathlib import Path

from localcrag.llm.multilingual_evaluator import BASE_KEY

from .calibration import Calibrated
from .checkpoint import load
from .cross_encoder import CrossEncoder, PairTokenizer
from .evaluator_base import EvaluatorBase, english_base
from .gguf_files import About, write_evaluator
from .job import StageError


def restored_evaluator(checkpoint: Path, base: EvaluatorBase | None = None) -> CrossEncoder:
    """The evaluator of a checkpoint. Raises StageError if there is none, CheckpointError."""
    trained = load(checkpoint)
    if trained is None:
        raise StageError("run the stage 'evaluator' first: there is no checkpoint")
    model = CrossEncoder(base or english_base())
    model.load_state_dict(trained["model"])
    return model


def export_evaluator(
    model: CrossEncoder,
    words: PairTokenizer,
    path: Path,
    calibration: Calibrated | None,
    kind: str = "q8_0",
) -> None:
    """Write the evaluator, with its calibration if that is known.

    Of one that has frozen layers only what lies above them is written, and no vocabulary.
    """
    base = model.base
    measured: dict[str, float | str] = {}
    if calibration:
        measured = {
            "localcrag.evaluator.temperature": calibration.scale.temperature,
            "localcrag.evaluator.bias": calibration.scale.bias,
            "localcrag.crag.upper": calibration.thresholds.upper,
            "localcrag.crag.lower": calibration.thresholds.lower,
        }
    if base.frozen_layers:
        measured[BASE_KEY] = base.weights_sha256
    about = About(base.evaluator, base.words, base=(base.name, base.url), measured=measured)
    vocabulary = None if base.frozen_layers else words.vocabulary
    write_evaluator(path, model.weights(), model.shape, vocabulary, about, kind)
