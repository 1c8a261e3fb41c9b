"""A network is written as CTranslate2's own converter would, though its vocabulary is read in parts."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localcrag import bert_network
from localcrag.bert_network import parts_of, weight_names, write_network

WIDTH, INNER, WORDS, POSITIONS, LAYERS = 8, 16, 11, 6, 2


@pytest.fixture
def weights() -> dict[str, np.ndarray]:
    random = np.random.default_rng(3)
    rows = {"token_embd.weight": WORDS, "position_embd.weight": POSITIONS, "token_types.weight": 2}

    def shape(name: str) -> tuple[int, ...]:
        if name in rows:
            return rows[name], WIDTH
        inner = INNER if "ffn_up" in name else WIDTH
        if name.endswith("bias") or "norm" in name:
            return (inner,)
        return inner, INNER if "ffn_down" in name else WIDTH

    made = {
        name: random.standard_normal(shape(name)).astype(np.float32)
        for name in sorted(weight_names(LAYERS, pooler=True))
    }
    made["token_embd.weight"][4] = 0.0
    return made


def written(folder: Path, weights: dict[str, np.ndarray], **words: Any) -> bytes:
    folder.mkdir()
    write_network(folder, deepcopy(weights), layers=LAYERS, heads=2, epsilon=1e-12, **words)
    return (folder / "model.bin").read_bytes()


def test_parts_of_the_vocabulary_make_the_same_file(
    tmp_path: Path, weights: dict[str, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = written(tmp_path / "whole", weights)
    monkeypatch.setattr(bert_network, "ROWS_PER_PART", 4)
    assert [len(part) for part in parts_of(weights["token_embd.weight"])] == [4, 4, 3]
    assert written(tmp_path / "parts", weights) == whole
    words = weights.pop("token_embd.weight")
    assert written(tmp_path / "given", weights, words=[words[:2], words[2:]]) == whole


def test_the_vocabulary_is_brought_into_8_bits_as_ctranslate2_does(weights: dict[str, np.ndarray]) -> None:
    from ctranslate2.specs import common_spec

    words = weights["token_embd.weight"]
    own: Any = vars(common_spec)["EmbeddingsSpec"]()
    own.weight = words.copy()
    own.validate()
    own.optimize(quantization="int8")
    integers, scales = bert_network._in_integers(parts_of(words))
    np.testing.assert_array_equal(integers, own.weight.numpy())
    np.testing.assert_array_equal(scales, own.weight_scale.numpy())
    assert not integers[4].any()
    assert integers.dtype == np.int8
    assert scales.dtype == np.float32
