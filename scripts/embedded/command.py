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
    parser.add_argument(
        "--init", type=Path, help="an evaluator GGUF to fine-tune; what comes out is exported at once"
    )
    parser.add_argument("--models", type=Path, help="where export writes (default: OUT/models)")
    parser.add_argument(
        "--anyway",
        action="store_true",
        help="export an evaluator that judges no better than cosine similarity",
    )
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
    work = {
        "tokenizer": stages.train_tokenizer,
        "pretrain": stages.pretrain,
        "tasks": stages.train_tasks,
        "evaluator": stages.train_evaluator,
        "export": publish.publish,
    }
    stages.run(work[chosen.stage], job)
    if chosen.stage == "evaluator" and job.init:
        publish.publish(job)


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
    parser.add_argument("--questions", type=int, default=100, help="questions per collection, at most")
    parser.add_argument("--checkpoint", type=Path, help="an evaluator's checkpoint: compare Q8_0 with f32")
    parser.add_argument("--all-rules", action="store_true", help="compare more ways to order and to rewrite")
    parser.add_argument(
        "--fitting-half",
        action="store_true",
        help="ask the questions that calibration and weights were fitted on",
    )
    parser.add_argument("--json", action="store_true", help="print bars and figures as one JSON object")
    return _guarded(lambda: _measure(parser.parse_args(arguments)))


def _measure(chosen: argparse.Namespace) -> None:
    from . import bars, evaluate
    from .stages import StageError

    if chosen.questions < 1:
        raise StageError("--questions must be 1 or more")
    if not chosen.data.is_dir():
        raise DataError(f"no data folder at {chosen.data}")
    plan = evaluate.Plan(
        chosen.data, chosen.models, chosen.questions, chosen.fitting_half, chosen.all_rules, chosen.checkpoint
    )
    rows = evaluate.measure(plan)
    held = bars.held_against(rows)
    if chosen.json:
        made = {"bars": [asdict(bar) for bar in held], "figures": [asdict(row) for row in rows]}
        print(json.dumps(_without_nan(made), indent=1))
    else:
        print(f"{bars.table(held)}\n\nAll figures\n{bars.figures_table(rows)}")


def _without_nan(value: object) -> object:
    """The same values with None in the place of NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and value != value else value


def _guarded(work: Callable[[], None]) -> int:
    from localcrag.errors import LocalCragError

    from .checkpoint import CheckpointError
    from .export import ShapeError
    from .stages import StageError

    try:
        work()
    except (DataError, StageError, CheckpointError, ShapeError, LocalCragError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0
