"""Model files that are not what they should be, and what a good one says of itself."""

from __future__ import annotations

import shutil
import struct
import subprocess
import sys
import tracemalloc
from pathlib import Path

import gguf
import pytest

from localcrag.errors import LocalCragError, ModelFileError, ModelNotFound
from localcrag.llm.evaluator import GgufEvaluator
from localcrag.llm.gguf import read_metadata
from localcrag.llm.language_model import LlamaCppModel
from localcrag.llm.model_file_checks import require_evaluator, require_generator
from tests.shape_models import shape, vendored


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"none\.gguf") as caught:
        LlamaCppModel(tmp_path / "none.gguf").load()
    assert caught.value.hint


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="not a file"):
        require_generator(tmp_path)


@pytest.mark.parametrize("content", [b"", b"GG", b"PK\x03\x04 a zip file", b"\x00" * 5000])
def test_not_a_gguf(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match="not a GGUF") as caught:
        LlamaCppModel(path).load()
    assert caught.value.hint


def test_a_file_cut_off_anywhere_is_refused_before_llama_cpp_sees_it(tmp_path: Path) -> None:
    whole = shape("llama2").read_bytes()
    path = tmp_path / "cut.gguf"
    tensors = len(whole) - 2_000_000
    for length in (5, 12, 24, 40, 1000, 300_000, 700_000, tensors, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError, match="damaged or incomplete"):
            require_generator(path)
    path.write_bytes(whole)
    assert require_generator(path).parameters > 2_000_000


def test_garbage_in_the_header_is_refused(tmp_path: Path) -> None:
    whole = bytearray(shape("llama2").read_bytes())
    path = tmp_path / "garbage.gguf"
    refused = 0
    for at in range(4, 200, 7):
        broken = bytearray(whole)
        broken[at : at + 8] = struct.pack("<Q", 2**63 + 5)
        path.write_bytes(broken)
        try:
            require_generator(path)
        except ModelFileError:  # and never another error
            refused += 1
    assert refused > 5


F32_INFINITY = struct.pack("<f", float("inf"))
F32_NONE = struct.pack("<f", float("nan"))
MOST = 2**64 - 1
UNMEASURED = 99  # a type of weights that is not known here


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _pair(key: str, kind: int, value: bytes) -> bytes:
    return _text(key) + struct.pack("<I", kind) + value


def _array(kind: int, count: int, values: bytes = b"") -> bytes:
    return struct.pack("<IQ", kind, count) + values


def _written(path: Path, pair: bytes, dimensions: int = 1, *, size: int = 0) -> Path:
    """A file of one weight beside this pair; with ``size`` without weights, filled up with zeros."""
    header = b"GGUF" + struct.pack("<IQQ", 3, not size, 2) + _pair("general.architecture", 8, _text("llama"))
    weight = (
        _text("w")
        + struct.pack("<I", dimensions)
        + struct.pack("<Q", MOST if dimensions > 1 else 1) * dimensions
    )
    with path.open("wb") as file:
        file.write(header + pair + (b"" if size else weight + struct.pack("<IQ", UNMEASURED, 0) + bytes(64)))
        file.truncate(max(size, file.tell()))
    return path


@pytest.mark.parametrize(
    ("pair", "dimensions"),
    [
        pytest.param(_pair("general.alignment", 4, struct.pack("<I", 0)), 1, id="alignment 0"),
        pytest.param(_pair("general.alignment", 5, struct.pack("<i", -32)), 1, id="alignment below 0"),
        pytest.param(_pair("a", 8, struct.pack("<Q", MOST)), 1, id="a long string"),
        pytest.param(_pair("a", 9, _array(10, MOST)), 1, id="a long array"),
        pytest.param(_pair("tokenizer.ggml.tokens", 9, _array(10, MOST)), 1, id="a long vocabulary"),
        pytest.param(_pair("a", 9, _array(8, MOST, _text("x"))), 1, id="a long array of strings"),
        pytest.param(
            _pair("a", 9, _array(8, 100, struct.pack("<Q", MOST))), 1, id="an array of a long string"
        ),
        pytest.param(_pair("a", 9, _array(77, 2, bytes(64))), 1, id="an array of nothing known"),
        pytest.param(_pair("a", 9, _array(9, 2, bytes(64))), 1, id="an array of arrays"),
        pytest.param(_pair("a", 7, b"\1"), 30_000, id="dimensions without end"),
    ],
)
def test_a_header_made_to_break_its_reader_is_a_damaged_file(
    tmp_path: Path, pair: bytes, dimensions: int
) -> None:
    with pytest.raises(ModelFileError, match="damaged or incomplete") as caught:
        require_generator(_written(tmp_path / "crafted.gguf", pair, dimensions))
    assert "\n" not in str(caught.value) and caught.value.hint


@pytest.mark.parametrize(
    "key", ["general.alignment", "llama.context_length", "general.file_type", "split.count"]
)
@pytest.mark.parametrize("value", [F32_INFINITY, F32_NONE], ids=["infinite", "not a number"])
def test_a_number_that_is_none_is_one_that_is_missing(tmp_path: Path, key: str, value: bytes) -> None:
    info = require_generator(_written(tmp_path / "crafted.gguf", _pair(key, 6, value)))
    assert (info.parameters, info.context_train, info.number(key, 7.0)) == (1, 0, 7.0)


@pytest.mark.parametrize(
    "pair",
    [
        pytest.param(_pair("a", 8, struct.pack("<Q", 2_000_000_000)), id="a string"),
        pytest.param(_pair("tokenizer.ggml.tokens", 9, _array(0, 2_000_000_000)), id="a vocabulary"),
    ],
)
def test_a_header_as_long_as_its_file_is_not_read_into_memory(tmp_path: Path, pair: bytes) -> None:
    path = _written(tmp_path / "long.gguf", pair, size=2_000_001_000)  # sparse: it takes no room
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError, match="damaged or incomplete"):
            read_metadata(path)
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()


def test_a_name_that_is_too_long_for_a_file(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="too long"):
        read_metadata(tmp_path / ("x" * 5000))


def test_an_old_version_is_named(tmp_path: Path) -> None:
    path = tmp_path / "old.gguf"
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 1, 0, 0))
    with pytest.raises(ModelFileError, match="version 1"):
        read_metadata(path)


def test_a_vocabulary_alone_is_no_model() -> None:
    with pytest.raises(ModelFileError, match="no weights"):
        require_generator(vendored() / "ggml-vocab-phi-3.gguf")


def test_an_embedding_model_is_no_generator_and_no_evaluator(embedding_file: Path) -> None:
    with pytest.raises(ModelFileError, match="embedding model"):
        LlamaCppModel(embedding_file).load()
    with pytest.raises(ModelFileError, match="embedding model"):
        GgufEvaluator(embedding_file).load()


def test_an_evaluator_is_no_generator_and_the_reverse(reranker_file: Path) -> None:
    with pytest.raises(ModelFileError, match="is an evaluator"):
        LlamaCppModel(reranker_file).load()
    with pytest.raises(ModelFileError, match="text generator"):
        GgufEvaluator(shape("llama2")).load()


def test_a_missing_part_of_a_split_model(tmp_path: Path) -> None:
    path = tmp_path / "model-00001-of-00002.gguf"
    _write_split(path)
    with pytest.raises(ModelNotFound, match="00002-of-00002"):
        require_generator(path)


def test_what_llama_cpp_refuses_is_quoted_and_stderr_stays_empty(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "strange.gguf"
    raw = shape("llama2").read_bytes()
    path.write_bytes(raw.replace(b"blk.0.attn_q.weight", b"blk.0.attn_x.weight"))
    with pytest.raises(ModelFileError, match=r"attn_q\.weight") as caught:
        LlamaCppModel(path).load()
    assert "\n" not in str(caught.value) and caught.value.hint
    assert capfd.readouterr() == ("", "")


def test_what_a_model_says_of_itself() -> None:
    info = read_metadata(shape("qwen3"))
    assert (info.name, info.architecture, info.context_train) == ("shape of qwen3", "qwen3", 2048)
    assert "enable_thinking" in info.chat_template
    assert info.generator and not info.evaluator
    assert info.number("qwen3.embedding_length", 0) == 64
    assert info.number("general.name", 5.0) == 5.0


def test_an_evaluators_numbers_and_arrays(reranker_file: Path, tmp_path: Path) -> None:
    info = require_evaluator(reranker_file)
    assert info.pooling == "rank"
    assert info.number("localcrag.evaluator.temperature", 1.0) == 2.0
    assert info.number("localcrag.evaluator.missing", 1.5) == 1.5
    path = tmp_path / "fused.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_array("localcrag.fusion.weights", [1.5, -2.0, 0.25, 3.0])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()
    assert read_metadata(path).numbers("localcrag.fusion.weights") == (1.5, -2.0, 0.25, 3.0)
    assert read_metadata(path).numbers("localcrag.none") == ()


def test_vocabularies_are_told_apart_and_copies_are_not(tmp_path: Path) -> None:
    copy = shutil.copy(shape("llama2"), tmp_path / "copy.gguf")
    assert read_metadata(copy).vocabulary == read_metadata(shape("llama2")).vocabulary
    assert read_metadata(shape("phi3")).vocabulary != read_metadata(shape("llama2")).vocabulary


def test_a_file_that_changes_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    shutil.copy(shape("llama2"), path)
    assert read_metadata(path).architecture == "llama"
    shutil.copy(shape("mamba"), path)
    assert read_metadata(path).architecture == "mamba"


def test_reading_a_header_loads_nothing_heavy(reranker_file: Path) -> None:
    heavy = {"llama_cpp", "numpy", "outlines", "outlines_core", "gguf", "jinja2", "pydantic"}
    code = f"""
import sys
from localcrag.llm.language_model import LlamaCppModel
from localcrag.llm.evaluator import GgufEvaluator
path = {str(reranker_file)!r}
LlamaCppModel(path)
GgufEvaluator(path).thresholds
print(sorted({heavy!r} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def _write_split(path: Path) -> None:
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_uint16("split.count", 2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def test_every_refusal_is_one_line_with_a_hint(tmp_path: Path, embedding_file: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"nothing")
    for path in (tmp_path / "none", tmp_path, bad, embedding_file, vendored() / "ggml-vocab-phi-3.gguf"):
        with pytest.raises(LocalCragError) as caught:
            require_generator(path)
        assert "\n" not in str(caught.value) and caught.value.hint
