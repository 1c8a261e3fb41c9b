"""The stages of training by name: each is one module with one function, `run(job)`.

A new stage is a module here and its name in `STAGES`; data, wall-clock budget and checkpoints come from `job`
and `training_loop`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from ..job import Drawing, Stage

STAGES = {
    "chat": "train the chat model's adapters, or go on from --init",
    "evaluator": "train the evaluator, or fine-tune it from --init",
    "tables": "train the adapters that read a question over a table as a query",
    "export": "write what was trained as GGUF, calibrated, with a manifest",
}
"""What each stage does, in the order in which they are run."""


def stage_of(name: str) -> Stage:
    """The function of a stage; its module is imported now."""
    return cast("Stage", import_module(f".{name}", __name__).run)


def drawing_of(name: str) -> Drawing:
    """The function that writes what a stage reads; its module is imported now."""
    return cast("Drawing", import_module(f".{name}", __name__).draw)
