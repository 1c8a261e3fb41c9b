"""The evaluator in CTranslate2: the judgements of llama.cpp, converted once, and again if it is damaged."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from localcrag.llm import ctranslate_bert, pair_readers
from localcrag.llm.ctranslate_bert import CLASSIFIER, is_plain_bert
from localcrag.llm.evaluator import GgufEvaluator
from localcrag.llm.gguf import TensorInfo
from localcrag.llm.pair_readers import CTranslatePairReader, LlamaPairReader, PairReader
from localcrag.llm.registry import embedded_folder
from tests import prepared_models

SHIPPED = embedded_folder() / "localcrag-evaluator-v6.gguf"
QUESTION = "When does the reading room open?"
TEXTS = (
    "The reading room is open from nine to five.",
    "Reading room: Tuesday to Saturday, 09:00-17:00",
    "The room for readers was painted in 1998.",
    "The archive holds 4,000 maps, and the oldest is of 1612.",
    "Opening a letter of somebody else is an offence.",
    "Readers bring pencils.",
    "No.",
    *(f"Shelf {i} holds the papers of year {1900 + i}. " * (i % 12 + 1) for i in range(40)),
)


def reader_of(evaluator: GgufEvaluator) -> PairReader:
    return evaluator._loaded().context


@pytest.fixture(scope="module", autouse=True)
def it_is_really_converted() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ctranslate_bert, "_convert", prepared_models.convert)
        yield


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("converted")


@pytest.fixture(scope="module")
def evaluator(cache: Path) -> Iterator[GgufEvaluator]:
    with GgufEvaluator(SHIPPED, threads=2, cache=cache) as loaded:
        yield loaded


def test_it_judges_as_llama_cpp_does_and_counts_the_same_tokens(evaluator: GgufEvaluator) -> None:
    assert isinstance(reader_of(evaluator), CTranslatePairReader)
    with GgufEvaluator(SHIPPED, threads=1) as reference:
        assert isinstance(reader_of(reference), LlamaPairReader)
        before = evaluator.tokens
        numbers, expected = (each.numbers(QUESTION, TEXTS) for each in (evaluator, reference))
        assert evaluator.tokens - before == reference.tokens
        assert np.abs(np.subtract(numbers, expected)).mean() < 0.25
        assert np.corrcoef(numbers, expected)[0, 1] > 0.98
        assert evaluator.thresholds == reference.thresholds and evaluator.scale == reference.scale
        assert max(TEXTS, key=dict(zip(TEXTS, numbers, strict=True)).__getitem__) in TEXTS[:2]


def test_a_pair_has_the_same_number_whatever_stands_beside_it(evaluator: GgufEvaluator, cache: Path) -> None:
    together = evaluator.numbers(QUESTION, TEXTS)
    assert [evaluator.numbers(QUESTION, [text])[0] for text in TEXTS] == together
    with GgufEvaluator(SHIPPED, threads=1, cache=cache) as single:
        assert single.numbers(QUESTION, TEXTS[:9]) == together[:9]


def test_a_text_beyond_the_window_is_cut(evaluator: GgufEvaluator) -> None:
    before = evaluator.tokens.evaluated
    evaluator.numbers(QUESTION, ["word " * 3000])
    assert evaluator.tokens.evaluated - before == evaluator._loaded().window


def test_it_is_converted_once_and_again_if_it_is_damaged(evaluator: GgufEvaluator, cache: Path) -> None:
    expected = evaluator.numbers(QUESTION, TEXTS[:3])
    [folder] = (found for found in cache.iterdir() if found.is_dir())
    made = folder.stat().st_mtime_ns
    with GgufEvaluator(SHIPPED, threads=1, cache=cache) as again:
        assert again.numbers(QUESTION, TEXTS[:3]) == expected
    assert folder.stat().st_mtime_ns == made
    for name in ("model.bin", CLASSIFIER):
        damaged = folder / name
        half = damaged.read_bytes()[: damaged.stat().st_size // 2]
        damaged.unlink()  # other homes have the same file
        damaged.write_bytes(half)
        with GgufEvaluator(SHIPPED, threads=1, cache=cache) as again:
            assert again.numbers(QUESTION, TEXTS[:3]) == expected
    assert not list(cache.glob("*.part"))


def test_without_a_place_for_what_is_converted_llama_cpp_judges(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with GgufEvaluator(SHIPPED, threads=1, cache=tmp_path / "taken") as evaluator:
        assert isinstance(reader_of(evaluator), LlamaPairReader)
        assert len(evaluator.numbers(QUESTION, TEXTS[:2])) == 2


def test_closed_it_is_loaded_again_and_keeps_its_count(cache: Path) -> None:
    evaluator = GgufEvaluator(SHIPPED, threads=2, cache=cache)
    first = evaluator.numbers(QUESTION, TEXTS[:2])
    count = evaluator.tokens
    evaluator.close()
    assert evaluator.tokens == count
    assert evaluator.numbers(QUESTION, TEXTS[:2]) == first
    assert evaluator.tokens == count + count
    evaluator.close()


def test_other_models_and_a_gpu_are_left_to_llama_cpp(cache: Path) -> None:
    with GgufEvaluator(SHIPPED, threads=1, gpu_layers=1, cache=cache) as evaluator:
        assert isinstance(reader_of(evaluator), LlamaPairReader)
        info = evaluator.info
    assert is_plain_bert(info)
    assert not is_plain_bert(replace(info, architecture="jina-bert-v2"))
    assert not is_plain_bert(replace(info, pooling="mean"))
    assert not is_plain_bert(replace(info, tensors=info.tensors[1:]))
    assert not is_plain_bert(replace(info, tensors=(*info.tensors, TensorInfo("rope_freqs", (8,), 0, 0))))


def test_without_ctranslate_llama_cpp_judges(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_readers, "find_spec", lambda name: None)
    with GgufEvaluator(SHIPPED, threads=1, cache=cache) as evaluator:
        assert isinstance(reader_of(evaluator), LlamaPairReader)


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_no_socket_is_opened(tmp_path: Path) -> None:
    """The egress guard does not see what compiled code does."""
    log = tmp_path / "calls.txt"
    code = (
        "import sys; from pathlib import Path; from localcrag.llm.evaluator import GgufEvaluator\n"
        "with GgufEvaluator(sys.argv[1], threads=2, cache=Path(sys.argv[2])) as evaluator:\n"
        "    print(len(evaluator.numbers('when', ['at nine', 'at ten'])), evaluator._loaded().context)"
    )
    traced: list[str | Path] = ["strace", "-f", "-qq", "-e", "trace=network", "-o", log]
    command: list[str | Path] = [*traced, sys.executable, "-c", code, SHIPPED, tmp_path / "converted"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.startswith("2 ") and "CTranslatePairReader" in done.stdout
    assert [line for line in log.read_text().splitlines() if "SIG" not in line and "exited" not in line] == []
