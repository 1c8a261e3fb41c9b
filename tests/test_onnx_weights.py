"""A cross-encoder in ONNX, in 8 bits or in float, becomes what an evaluator is trained from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from training.__main__ import main
from training.cross_encoder import CrossEncoder
from training.evaluator_base import english_base
from training.groups import Vectors
from training.onnx_weights import read_onnx

from localcrag.llm.gguf import read_metadata

LOOKED_UP = ("embeddings", "LayerNorm")
"""Parts of the names of weights that nothing is multiplied by: exporters leave them their names."""


@pytest.fixture(scope="module")
def weights() -> Mapping[str, Vectors]:
    """A cross-encoder of one layer, its matrices in steps of which 8 bits can hold each."""
    model = CrossEncoder(replace(english_base(), layers=1))
    rng = np.random.default_rng(5)
    return {
        name: _in_steps(rng, each.shape) if _is_matrix(name) else each
        for name, each in model.weights().items()
    }


def _in_steps(rng: np.random.Generator, shape: tuple[int, ...]) -> Vectors:
    return np.asarray((rng.integers(0, 256, shape) - 128) / 4, np.float32)


def _is_matrix(name: str) -> bool:
    return name.endswith(".weight") and not any(part in name for part in LOOKED_UP)


def write_onnx(path: Path, weights: Mapping[str, Vectors], *, quantised: bool, named: bool = True) -> Path:
    """A graph of the products alone: each matrix under a number, and, if ``named``, its bias after it."""
    stored = [numpy_helper.from_array(each, name) for name, each in weights.items() if not _is_matrix(name)]
    nodes = []
    for number, name in enumerate(filter(_is_matrix, weights)):
        matrix, out = f"onnx::MatMul_{number}", f"out_{number}"
        if quantised:
            whole = (weights[name].T * 4 + 128).astype(np.uint8)
            stored += [
                numpy_helper.from_array(whole, f"{matrix}_quantized"),
                numpy_helper.from_array(np.array(0.25, np.float32), f"{matrix}_scale"),
                numpy_helper.from_array(np.array(128, np.uint8), f"{matrix}_zero_point"),
            ]
            nodes.append(helper.make_node("MatMulInteger", ["x", f"{matrix}_quantized"], [f"{out}_whole"]))
            nodes.append(helper.make_node("Cast", [f"{out}_whole"], [out], to=onnx.TensorProto.FLOAT))
        else:
            stored.append(numpy_helper.from_array(np.ascontiguousarray(weights[name].T), matrix))
            nodes.append(helper.make_node("MatMul", ["x", matrix], [out]))
        if named:
            bias = f"{name.removesuffix('.weight')}.bias"
            nodes.append(helper.make_node("Add", [bias, out], [f"sum_{number}"]))
    onnx.save(helper.make_model(helper.make_graph(nodes, "encoder", [], [], stored)), path)
    return path


@pytest.mark.parametrize("quantised", [True, False])
def test_every_weight_is_read_under_its_name(
    weights: Mapping[str, Vectors], tmp_path: Path, quantised: bool
) -> None:
    read = read_onnx(write_onnx(tmp_path / "model.onnx", weights, quantised=quantised))
    assert set(read) == set(weights)
    assert all(np.array_equal(each, weights[name]) for name, each in read.items())


def test_an_evaluator_can_be_trained_from_what_is_converted(
    weights: Mapping[str, Vectors], tmp_path: Path
) -> None:
    file, out = write_onnx(tmp_path / "model.onnx", weights, quantised=True), tmp_path / "base.gguf"
    assert (
        main(["convert", str(file), "--out", str(out), "--name", "small", "--url", "https://a.example"]) == 0
    )
    base = english_base(out)
    assert (base.name, base.url, base.layers) == ("small", "https://a.example", 1)
    model = CrossEncoder(base)
    model.load_gguf(out)
    assert all(np.array_equal(each, weights[name]) for name, each in model.weights().items())
    assert read_metadata(out).value("general.name", "") == "base"


def test_what_is_no_such_encoder_is_refused(
    weights: Mapping[str, Vectors], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refusal(file: Path) -> str:
        given = ["--out", str(tmp_path / "base.gguf"), "--name", "a", "--url", "https://a.example"]
        assert main(["convert", str(file), *given]) == 1
        return capsys.readouterr().err

    without = {name: each for name, each in weights.items() if "pooler" not in name}
    assert "as wide as" in refusal(write_onnx(tmp_path / "other.onnx", without, quantised=True))
    unnamed = write_onnx(tmp_path / "unnamed.onnx", weights, quantised=True, named=False)
    assert "no bias" in refusal(unnamed)
    (tmp_path / "text.onnx").write_text("no graph")
    assert "is not ONNX" in refusal(tmp_path / "text.onnx")
    assert "no model at" in refusal(tmp_path / "missing.onnx")
    assert not (tmp_path / "base.gguf").exists()
