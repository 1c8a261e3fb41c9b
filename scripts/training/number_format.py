"""The number format that training computes in, by the machine."""

from __future__ import annotations

import torch


def working_format(device: str) -> torch.dtype:
    """bfloat16 where the device multiplies it natively, else float32.

    A processor without AVX-512 has no kernels for bfloat16: converting there and back takes longer than the
    half of the memory saves.
    """
    native = device != "cpu" or torch.ops.mkldnn._is_mkldnn_bf16_supported()
    return torch.bfloat16 if native else torch.float32


def mixed(device: str, *, enabled: bool = True) -> torch.autocast:
    """A context in which float32 weights are multiplied in the working format of a device."""
    wanted = enabled and working_format(device) is torch.bfloat16
    return torch.autocast(device, torch.bfloat16, enabled=wanted)
