"""Checkpoints that are whole or absent: written beside their place and renamed."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import torch


class CheckpointError(Exception):
    """A checkpoint cannot be read; the message is one line for the user."""


def save(path: Path, state: dict[str, Any]) -> None:
    """Write `state` to `path` in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    torch.save(state, temporary)
    temporary.replace(path)


def load(path: Path) -> dict[str, Any] | None:
    """The state at `path`, or None where there is none; tensors are placed on the CPU."""
    if not path.exists():
        return None
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (RuntimeError, EOFError, pickle.UnpicklingError) as error:
        raise CheckpointError(
            f"{path} is no checkpoint, or a damaged one: remove it to start over"
        ) from error
