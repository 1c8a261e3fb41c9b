"""The trained evaluator: out of its checkpoint, and into its file."""

from __future__ import annotations

from pathlib import Path

from . import evaluator
from .calibration import Calibration
from .checkpoint import load
from .export import About, write_evaluator
from .listing import EVALUATOR, EVALUATOR_WORDS
from .stages import StageError

_BASE = ("all-MiniLM-L6-v2", "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2")


def restored_evaluator(checkpoint: Path) -> evaluator.CrossEncoder:
    """The evaluator of a checkpoint. Raises StageError where there is none."""
    trained = load(checkpoint)
    if trained is None:
        raise StageError("run the stage 'evaluator' first: there is no checkpoint")
    model = evaluator.CrossEncoder(evaluator.base_folder())
    model.load_state_dict(trained["model"])
    return model


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
    about = About(EVALUATOR, EVALUATOR_WORDS, base=_BASE, measured=measured)
    write_evaluator(path, model.weights(), model.shape, words.vocabulary, about, kind)
