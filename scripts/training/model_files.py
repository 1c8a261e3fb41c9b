"""What the exported files are by themselves: their sizes, their speed, and what is stored in them."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from localcrag.calibration.scale import StripFusion
from localcrag.llm.evaluator import GgufEvaluator
from localcrag.llm.gguf import read_metadata
from localcrag.loaded_models import LoadedModels
from localcrag.settings import ModelSettings

from . import benchmarks as bench
from .base_model import PACKAGED
from .calibration import Fused, auc
from .evaluator_base import english_base
from .pair_tokenizer import PairTokenizer
from .product_evaluator import product_evaluator
from .result_row import Row
from .shipping import export_evaluator, restored_evaluator

FORMAT_QUESTIONS = 25
PAIR_TOKENS = 250


def stored_fusions(files: Mapping[str, Path], base: Path | None) -> tuple[Fused | None, StripFusion | None]:
    """The fusions that the adapter's file carries for this evaluator, as the product finds them."""
    if "adapter" not in files:
        return None, None
    named = ModelSettings(
        language=str(base or PACKAGED), adapter=str(files["adapter"]), evaluator=str(files["evaluator"])
    )
    with tempfile.TemporaryDirectory() as home:
        models = LoadedModels(named, Path(home))
        found = models.fusion
        return Fused(*found) if found else None, models.strip_fusion


def format_rows(
    judged: dict[str, list[bench.Judged]], checkpoint: Path, most: int = FORMAT_QUESTIONS
) -> list[Row]:
    """AUC over the fused top 8 of up to `most` questions per collection, by the weights in f32 and in Q8_0.

    Both files are written from the checkpoint into a temporary folder.
    """
    model, words = restored_evaluator(checkpoint), PairTokenizer(english_base().folder)
    some = [j.found for each in judged.values() for j in each[:most]]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("f32", "q8_0"):
            path = Path(folder) / f"{kind}.gguf"
            export_evaluator(model, words, path, None, kind)
            with GgufEvaluator(path) as scorer:
                again = bench.judge(some, scorer, sentences=False, depth=bench.GRADED_HITS)
            logits, labels, _ = bench.graded_pairs(again)
            figures = {
                "auc": auc(labels, logits),
                "MB": path.stat().st_size / 1e6,
                "pairs": float(len(labels)),
            }
            rows.append(Row("formats", "all", kind, figures))
    return rows


def cost_rows(files: dict[str, Path], seconds: float = 4.0) -> list[Row]:
    """Sizes of the files, and how many pairs of 250 tokens the product judges in a second on two threads."""
    rows = []
    for role, path in files.items():
        info = read_metadata(path)
        figures = {
            "MB": info.size / 1e6,
            "M weights": info.parameters / 1e6,
            "context": float(info.context_train),
        }
        rows.append(Row("cost", role, path.stem, figures))
    question = "What is the name of the river?"
    text = "river " * (PAIR_TOKENS - 3 - len(question.rstrip("?").split()) - 1)
    with product_evaluator(files["evaluator"], threads=2) as judge:
        judge.score(question, [text])
        before, began, pairs = judge.tokens.evaluated, time.monotonic(), 0
        while time.monotonic() - began < seconds:
            judge.score(question, [text] * 16)
            pairs += 16
        spent = time.monotonic() - began
        tokens = (judge.tokens.evaluated - before) / pairs
    rows.append(Row("cost", "evaluator", "speed", {"pairs/s": pairs / spent, "tokens a pair": tokens}))
    return rows
