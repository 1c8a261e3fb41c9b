"""Attention as one operation, on a GPU."""

from __future__ import annotations

import torch

PADDED_TO = 16
"""The lengths that its kernels want are multiples of this."""


def use_kernels_of_any_shape() -> None:
    """Leave out cuDNN's kernels, which are planned anew for every shape of a batch: 5 ms each time."""
    torch.backends.cuda.enable_cudnn_sdp(False)
