"""The static embedder: what is distilled, where it is kept, and that its vectors are sums of tokens."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from localcrag.embedding import distillation
from localcrag.embedding.embedder import SentenceTransformerEmbedder
from localcrag.embedding.static_embedder import StaticEmbedder
from localcrag.errors import ModelError, ModelNotFound
from tests.tiny_encoder import tiny_encoder


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_encoder(tmp_path_factory.mktemp("teacher") / "tiny")


@pytest.fixture(scope="module")
def made(teacher: Path, tmp_path_factory: pytest.TempPathFactory) -> StaticEmbedder:
    embedder = StaticEmbedder(SentenceTransformerEmbedder(teacher), tmp_path_factory.mktemp("models"))
    embedder.warm()
    return embedder


def test_the_vectors_are_unit_rows_and_sums_of_tokens(made: StaticEmbedder) -> None:
    vectors = made.encode(["the valve", "the", "valve", "valve the", "", "漢字漢字"])
    assert vectors.dtype == np.float32 and vectors.shape == (6, made.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(6), abs=1e-5)
    assert vectors[0] == pytest.approx(vectors[3], abs=1e-6), "the order of words says nothing"
    assert abs(float(vectors[0] @ vectors[1])) < 0.999
    assert vectors[4] == pytest.approx(vectors[5]), "neither has a token that the model knows"
    assert (made.encode_questions(["the valve"]) == vectors[:1]).all()
    assert made.encode([]).shape == (0, made.dimension)


def test_the_file_is_named_after_the_teacher_and_says_how_far_it_is(teacher: Path, tmp_path: Path) -> None:
    embedder = StaticEmbedder(SentenceTransformerEmbedder(teacher), tmp_path / "new" / "models")
    steps = list(embedder.prepare())
    total = len(json.loads((teacher / "tokenizer.json").read_text("utf-8"))["model"]["vocab"])
    assert steps[0] == (0, total) and steps[-1] == (total, total)
    weights = hashlib.sha256((teacher / "model.safetensors").read_bytes()).hexdigest()
    assert embedder.file.name.startswith(weights) and embedder.file in embedder.model_files()
    assert list(embedder.prepare()) == [], "it is made once"
    assert embedder.name == f"static:{SentenceTransformerEmbedder(teacher).name}"


def test_a_damaged_file_is_made_again_with_the_same_vectors(made: StaticEmbedder, teacher: Path) -> None:
    before = made.encode(["the pump stops"])
    content = bytearray(made.file.read_bytes())
    content[-5] ^= 0xFF
    made.file.write_bytes(bytes(content))
    again = StaticEmbedder(SentenceTransformerEmbedder(teacher), made.file.parent)
    assert again.encode(["the pump stops"]) == pytest.approx(before, abs=1e-6)


def test_without_a_teacher_or_room_there_is_one_clear_error(teacher: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        StaticEmbedder(SentenceTransformerEmbedder(tmp_path / "none"), tmp_path).warm()
    (tmp_path / "file").write_text("")
    with pytest.raises(ModelError, match="cannot be written") as caught:
        StaticEmbedder(SentenceTransformerEmbedder(teacher), tmp_path / "file" / "models").warm()
    assert caught.value.hint


def test_rare_tokens_count_more_and_components_are_ordered() -> None:
    outputs = np.random.default_rng(0).normal(size=(500, 8)).astype(np.float32) * np.arange(8, 0, -1)
    found = distillation.distilled(outputs, 4)
    assert found.shape == (500, 4) and found.dtype == np.float32
    assert (np.diff(found.std(axis=0)) < 0).all()
    plain = outputs - outputs.mean(axis=0)
    shrunk = np.linalg.norm(found, axis=1) / np.linalg.norm(plain, axis=1)
    assert shrunk[:20].mean() < shrunk[-200:].mean()


def test_the_teacher_of_a_copied_folder_has_the_same_file(
    made: StaticEmbedder, teacher: Path, tmp_path: Path
) -> None:
    shutil.copytree(teacher, tmp_path / "tiny")
    copied = StaticEmbedder(SentenceTransformerEmbedder(tmp_path / "tiny"), made.file.parent)
    assert copied.file == made.file
