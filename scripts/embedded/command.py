"""The command lines of `scripts/train_embedded` and `scripts/eval_embedded`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from .data import DataError

STAGES = ("tokenizer", "pretrain", "tasks", "evaluator", "export")
_MODELS = Path(__file__).resolve().parents[2] / "models"


def train(arguments: Sequence[str] | None = None) -> int:
    """Run one stage; 0 where it succeeded, 1 with one line on stderr where it did not."""
    parser = argparse.ArgumentParser(
        prog="train_embedded", description="Train the models that travel with localcrag."
    )
    parser.add_argument("stage", choices=STAGES)
    parser.add_argument(
        "--data", type=Path, required=True, help="a data folder, or your own JSONL (evaluator, export)"
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="checkpoints and results; training resumes from here"
    )
    parser.add_argument(
        "--minutes", type=float, default=30, help="wall time of the stage, earlier runs counted in"
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--workers", type=int, default=1, help="processes that train together, one core each (cpu)"
    )
    parser.add_argument("--init", type=Path, help="an evaluator GGUF to fine-tune, instead of the base model")
    parser.add_argument("--models", type=Path, help="where export writes (default: OUT/models)")
    return _guarded(lambda: _train(parser.parse_args(arguments)))


def _train(chosen: argparse.Namespace) -> None:
    from . import publish, stages

    if chosen.minutes < stages.LEAST_MINUTES:
        raise stages.StageError(
            f"--minutes {chosen.minutes:g} is too small: at least {stages.LEAST_MINUTES:g}"
        )
    if chosen.workers < 1 or (chosen.workers > 1 and chosen.device != "cpu"):
        raise stages.StageError("--workers must be 1 or more, and 1 with --device cuda")
    if not chosen.data.exists():
        raise DataError(f"no data at {chosen.data}")
    if chosen.init and not chosen.init.is_file():
        raise stages.StageError(f"no evaluator at {chosen.init}")
    models = chosen.models or chosen.out / "models"
    job = stages.Job(**{**vars_without(chosen, "stage"), "models": models})
    {
        "tokenizer": stages.train_tokenizer,
        "pretrain": stages.pretrain,
        "tasks": stages.train_tasks,
        "evaluator": stages.train_evaluator,
        "export": publish.publish,
    }[chosen.stage](job)


def vars_without(chosen: argparse.Namespace, name: str) -> dict:
    """The parsed values but one."""
    return {key: value for key, value in vars(chosen).items() if key != name}


def measure(arguments: Sequence[str] | None = None) -> int:
    """Measure the models of a folder; 0 where it succeeded, 1 with one line on stderr where it did not."""
    parser = argparse.ArgumentParser(prog="eval_embedded", description="Measure the embedded models.")
    parser.add_argument(
        "--data", type=Path, required=True, help="the data folder; only held-out documents are asked"
    )
    parser.add_argument("--models", type=Path, default=_MODELS, help="a folder with manifest.toml")
    parser.add_argument("--questions", type=int, default=60, help="questions per collection")
    parser.add_argument("--all-rules", action="store_true", help="compare every way to order passages")
    parser.add_argument("--json", action="store_true", help="print one JSON list instead of the table")
    return _guarded(lambda: _measure(parser.parse_args(arguments)))


def _measure(chosen: argparse.Namespace) -> None:
    from . import evaluate

    rows = evaluate.measure(chosen.data, chosen.models, chosen.questions, chosen.all_rules)
    print(json.dumps([asdict(row) for row in rows], indent=1) if chosen.json else evaluate.table(rows))


def _guarded(work: Callable[[], None]) -> int:
    from .stages import StageError

    try:
        work()
    except (DataError, StageError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0
