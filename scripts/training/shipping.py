"""The trained evaluator: out of its checkpoint, and into its file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from localcrag.llm.multilingual_evaluator import ACROSS_KEY, BASE_KEY

from .calibration import Calibrated
from .checkpoint import load
from .cross_encoder import CrossEncoder
from .evaluator_base import EvaluatorBase, english_base
from .gguf_files import About, write_evaluator
from .job import StageError
from .pair_tokenizer import PairTokenizer

ACROSS_ENGLISH = 1.8
"""What the multilingual evaluator's numbers lack for a pair of English and another language, in log-odds.

The difference between the bias that fits XQuAD's English questions about paragraphs in another language and
the one that fits questions in the language of the paragraphs: 1.84 for Spanish, Russian and Arabic, 2.09 for
German and Chinese (41 questions each). With the one of either group no other paragraph of the other group was
held to be relevant that had not been, but one in 250, and 22 to 29 % of the right ones in Latin letters, in
place of 4 %."""


def restored_evaluator(checkpoint: Path, base: EvaluatorBase | None = None) -> CrossEncoder:
    """The evaluator of a checkpoint, with its layers. Raises StageError if there is none, CheckpointError."""
    trained = load(checkpoint)
    if trained is None:
        raise StageError("run the stage 'evaluator' first: there is no checkpoint")
    numbers = (re.match(r"bert\.encoder\.layer\.(\d+)\.", name) for name in trained["model"])
    layers = 1 + max(int(number[1]) for number in numbers if number)
    model = CrossEncoder(replace(base or english_base(), layers=layers))
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
        measured[ACROSS_KEY] = ACROSS_ENGLISH
    about = About(base.evaluator, base.words, base=(base.name, base.url), measured=measured)
    vocabulary = None if base.frozen_layers else words.vocabulary
    write_evaluator(path, model.weights(), model.shape, vocabulary, about, kind)
