"""The multilingual embedding model: made of a package's file, and its vectors those of the same weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from localcrag import e5_conversion
from localcrag.embedding.multilingual_embedder import MultilingualEmbedder
from localcrag.errors import ModelFileError, ModelNotInstalled
from localcrag.loaded_models import LoadedModels
from localcrag.sentence_pieces import FILE_NAME
from localcrag.settings import ModelSettings
from tests.embedding.numpy_bert import BertEncoder
from tests.small_e5_package import HEADS, POSITIONS, Tensors, use_small_package


def reference(folder: Path, values: Tensors, tokenizer: Path) -> BertEncoder:
    """The same weights in the encoder that is written in NumPy."""
    layer = "encoder.layer.0."
    names = {
        "emb.word": "embeddings.word_embeddings.weight",
        "emb.pos": "embeddings.position_embeddings.weight",
        "emb.type": "embeddings.token_type_embeddings.weight",
        "emb.ln": "embeddings.LayerNorm",
        "l0.q": f"{layer}attention.self.query",
        "l0.k": f"{layer}attention.self.key",
        "l0.v": f"{layer}attention.self.value",
        "l0.ao": f"{layer}attention.output.dense",
        "l0.aln": f"{layer}attention.output.LayerNorm",
        "l0.fi": f"{layer}intermediate.dense",
        "l0.fo": f"{layer}output.dense",
        "l0.oln": f"{layer}output.LayerNorm",
    }
    kinds = {".w": ".weight", ".b": ".bias"}
    tensors = {names.get(n) or names[n[:-2]] + kinds[n[-2:]]: v for n, v in values.items()}
    save_file(tensors, folder / "model.safetensors")
    config = {"num_attention_heads": HEADS, "layer_norm_eps": 1e-12, "num_hidden_layers": 1}
    (folder / "config.json").write_text(json.dumps({**config, "max_position_embeddings": POSITIONS}))
    settings = json.loads(tokenizer.read_text("utf-8"))
    special = {"<s>": {"id": "<s>", "ids": [0], "tokens": ["<s>"]}}
    special["</s>"] = {"id": "</s>", "ids": [2], "tokens": ["</s>"]}
    pieces = [{"SpecialToken": {"id": "<s>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}]
    pieces.append({"SpecialToken": {"id": "</s>", "type_id": 0}})
    settings["post_processor"] = {
        "type": "TemplateProcessing",
        "single": pieces,
        "pair": [*pieces, {"Sequence": {"id": "B", "type_id": 1}}],
        "special_tokens": special,
    }
    (folder / "tokenizer.json").write_text(json.dumps(settings))
    return BertEncoder(folder)


@pytest.fixture
def values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tensors:
    """The weights of a small model that takes the place of the package's."""
    return use_small_package(tmp_path, monkeypatch)


TEXTS = ["die Frist", "费用 35", "Frist die 35 Frist", "35\n３５\x01", "die " * 700]


def test_the_vectors_are_those_of_the_same_weights_in_numpy(tmp_path: Path, values: Tensors) -> None:
    embedder = MultilingualEmbedder(tmp_path / "cache", threads=1)
    expected = reference(tmp_path, values, embedder.tokenizer_file())
    for found, prefix in (
        (embedder.encode(TEXTS), "passage: "),
        (embedder.encode_questions(TEXTS), "query: "),
    ):
        assert found.shape == (len(TEXTS), 384) and found.dtype == np.float32
        assert np.linalg.norm(found, axis=1) == pytest.approx(1, abs=1e-5)
        cosines = (found * expected.encode([prefix + text for text in TEXTS])).sum(axis=1)
        assert cosines.min() > 0.999
    embedder.close()
    assert embedder.encode([]).shape == (0, 384)


def test_the_tokenizer_normalises_as_the_model_does(tmp_path: Path, values: Tensors) -> None:
    tokenizer = Tokenizer.from_file(str(MultilingualEmbedder(tmp_path / "cache").tokenizer_file()))
    assert tokenizer.encode("die\n  Frist \x01３５").tokens == ["▁die", "▁Frist", "▁", "35"]
    assert tokenizer.encode("费用").tokens == ["▁", "费", "用"]


def test_the_files_are_made_once_and_of_the_published_weights_only(
    tmp_path: Path, values: Tensors, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = e5_conversion.converted(tmp_path / "cache")
    times = made.stat().st_mtime_ns
    monkeypatch.setattr(e5_conversion, "_weights_file", lambda: pytest.fail("read again"))
    assert e5_conversion.converted(tmp_path / "cache").stat().st_mtime_ns == times
    assert [path for path in made.parent.iterdir() if path.suffix == ".part"] == []
    other = tmp_path / "other.bin"
    other.write_bytes(b"something else")
    monkeypatch.setattr(e5_conversion, "_weights_file", lambda: other)
    with pytest.raises(ModelFileError, match="is not the published model"):
        e5_conversion.converted(tmp_path / "elsewhere")


def test_without_the_package_it_is_said_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(e5_conversion, "PACKAGE", "no_such_package")
    models = LoadedModels(ModelSettings(embedding="multilingual"), tmp_path)
    assert models.embedder.name == "multilingual-e5-small-q4" and models.embedder.dimension == 384
    with pytest.raises(ModelNotInstalled) as raised:
        models.embedder.encode(["text"])
    assert "localcrag[multilingual]" in raised.value.hint


def test_what_is_damaged_is_made_again(tmp_path: Path, values: Tensors) -> None:
    expected = MultilingualEmbedder(tmp_path / "cache").encode(TEXTS)
    made = e5_conversion.converted(tmp_path / "cache")
    for name, content in (("model.bin", b"no network"), (FILE_NAME, b"no pieces"), (FILE_NAME, b"")):
        (made / name).write_bytes(content)
        again = MultilingualEmbedder(tmp_path / "cache")
        assert (again.encode(TEXTS) == expected).all()
        again.close()
    assert (again.encode(TEXTS) == expected).all()
