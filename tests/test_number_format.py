"""The number format of training follows the processor: bfloat16 only where it has instructions for it."""

from __future__ import annotations

import pytest
import torch
from training.number_format import working_format


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({"avx512_f": True, "avx512_vnni": True, "avx512_bf16": False}, torch.float32),
        ({"avx512_f": True, "avx512_bf16": True}, torch.bfloat16),
        ({"amx_bf16": True}, torch.bfloat16),
        ({"neon": True, "bf16": True}, torch.bfloat16),
        ({"avx2": True}, torch.float32),
    ],
)
def test_a_processor_that_only_emulates_bfloat16_trains_in_float32(
    capabilities: dict[str, bool], expected: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: capabilities)
    assert working_format("cpu") is expected
    assert working_format("cuda") is torch.bfloat16
