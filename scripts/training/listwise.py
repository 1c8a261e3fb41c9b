"""Softmax within groups: each text against the others behind the same question."""

from __future__ import annotations

import torch


def log_softmax_within(scores: torch.Tensor, group: torch.Tensor) -> torch.Tensor:
    """The logarithm of each score's share of its group (n,), for scores and the numbers of groups (n,)."""
    groups = int(group.max()) + 1 if len(group) else 0
    most = scores.new_full((groups,), -torch.inf).scatter_reduce(0, group, scores.detach(), "amax")
    whole = scores.new_zeros(groups).index_add(0, group, (scores - most[group]).exp())
    return scores - (whole.log() + most)[group]
