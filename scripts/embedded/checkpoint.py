"""Checkpoints that are whole or absent: written beside their place and renamed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch


def save(path: Path, state: dict[str, Any]) -> None:
    """Write `state` to `path` in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".part")
    torch.save(state, temporary)
    temporary.replace(path)


def load(path: Path) -> dict[str, Any] | None:
    """The state at `path`, or None where there is none; tensors are placed on the CPU."""
    return torch.load(path, map_location="cpu", weights_only=True) if path.exists() else None
