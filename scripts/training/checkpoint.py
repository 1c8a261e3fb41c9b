"""Checkpoints that are whole or absent: written beside their place and renamed."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn


class CheckpointError(Exception):
    """A checkpoint cannot be read; the message is one line for the user."""


@dataclass(frozen=True)
class Progress:
    """How far a training has come: seconds of wall time, steps, and tokens read."""

    seconds: float = 0.0
    steps: int = 0
    tokens: int = 0


def save(path: Path, state: dict[str, Any]) -> None:
    """Write `state` to `path` in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    torch.save(state, temporary)
    temporary.replace(path)


def load(path: Path) -> dict[str, Any] | None:
    """The state at `path`, its tensors on the CPU; None if there is none. Raises CheckpointError."""
    if not path.exists():
        return None
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise CheckpointError(
            f"{path} is no checkpoint, or a damaged one: remove it to start over"
        ) from error
    return state


def snapshot(model: nn.Module, optimiser: torch.optim.Optimizer, progress: Progress) -> dict[str, Any]:
    """The state that a training resumes from."""
    return {
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "spent": progress.seconds,
        "step": progress.steps,
        "tokens": progress.tokens,
    }


def resume(model: nn.Module, optimiser: torch.optim.Optimizer, path: Path) -> Progress:
    """Load the checkpoint at `path` into model and optimiser, if there is one. Raises CheckpointError."""
    state = load(path)
    if state is None:
        return Progress()
    model.load_state_dict(state["model"])
    optimiser.load_state_dict(state["optimiser"])
    return Progress(state["spent"], state["step"], state["tokens"])
