"""The number format that training computes in, by the machine."""

from __future__ import annotations

from collections.abc import Mapping

import torch

_BFLOAT16 = ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16")
"""The capabilities of processors, x86-64 and ARM, that multiply bfloat16."""


def working_format(device: str) -> torch.dtype:
    """bfloat16 where the device multiplies it natively, else float32.

    A processor without instructions for bfloat16 computes it by converting there and back: with AVX-512 alone
    a product of matrices took 4.3 times as long as in float32.
    """
    native = device != "cpu" or _has_bfloat16(torch.cpu.get_capabilities())
    return torch.bfloat16 if native else torch.float32


def _has_bfloat16(capabilities: Mapping[str, object]) -> bool:
    """Whether a processor with these capabilities multiplies bfloat16 by instructions of its own."""
    return any(capabilities.get(name) for name in _BFLOAT16)


def mixed(device: str, *, enabled: bool = True) -> torch.autocast:
    """A context in which float32 weights are multiplied in the working format of a device."""
    wanted = enabled and working_format(device) is torch.bfloat16
    return torch.autocast(device, torch.bfloat16, enabled=wanted)
