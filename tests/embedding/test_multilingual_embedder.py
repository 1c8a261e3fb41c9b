"""The multilingual embedding model: made of a package's file, and its vectors those of the same weights."""

from __future__ import annotations

import json
import struct
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file
from tokenizers import Tokenizer

from localcrag import e5_conversion
from localcrag.embedding.multilingual_embedder import MultilingualEmbedder
from localcrag.errors import ModelFileError, ModelNotInstalled
from localcrag.loaded_models import LoadedModels
from localcrag.settings import ModelSettings
from tests.embedding.numpy_bert import BertEncoder

WIDTH, HEADS, INNER, POSITIONS, TYPES = 384, 12, 128, 512, 2
PIECES = [
    *[("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0)],
    *[("▁query", -4.0), ("▁passage", -4.0), (":", -2.0), ("▁die", -4.0), ("▁Frist", -5.0), ("费", -5.0)],
    *[("用", -5.0), ("35", -5.0), ("<mask>", 0.0)],
]
ROWS = len(PIECES) + 3
Tensors = dict[str, np.ndarray]


def small_tensors() -> Tensors:
    """The tensors of a model of one layer, by their names in the package's file."""
    random = np.random.default_rng(7)

    def made(*shape: int) -> np.ndarray:
        return random.standard_normal(shape).astype(np.float32) * 0.2

    tensors = {
        "emb.word": made(ROWS, WIDTH),
        "emb.pos": made(POSITIONS, WIDTH),
        "emb.type": made(TYPES, WIDTH),
    }
    tensors |= {"emb.ln.w": 1 + made(WIDTH), "emb.ln.b": made(WIDTH)}
    for part in ("q", "k", "v", "ao"):
        tensors |= {f"l0.{part}.w": made(WIDTH, WIDTH), f"l0.{part}.b": made(WIDTH)}
    tensors |= {"l0.aln.w": 1 + made(WIDTH), "l0.aln.b": made(WIDTH)}
    tensors |= {"l0.fi.w": made(INNER, WIDTH), "l0.fi.b": made(INNER)}
    tensors |= {"l0.fo.w": made(WIDTH, INNER), "l0.fo.b": made(WIDTH)}
    return tensors | {"l0.oln.w": 1 + made(WIDTH), "l0.oln.b": made(WIDTH)}


def is_quantised(name: str, tensor: np.ndarray) -> bool:
    return tensor.ndim == 2 and name not in ("emb.pos", "emb.type")


def blocks(tensor: np.ndarray) -> tuple[bytes, np.ndarray]:
    """A tensor in blocks as Q4_0 has them, and the numbers that they stand for."""
    rows = tensor.reshape(-1, 32)
    peaks = rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)]
    scales = (peaks / -8).astype(np.float16)
    codes = np.clip(np.round(rows / scales[:, None].astype(np.float32)) + 8, 0, 15).astype(np.uint8)
    packed = codes[:, :16] | codes[:, 16:] << 4
    raw = b"".join(scale.tobytes() + row.tobytes() for scale, row in zip(scales, packed, strict=True))
    values = (codes.astype(np.float32) - 8) * scales[:, None].astype(np.float32)
    return raw, values.reshape(tensor.shape)


def source_file(path: Path, tensors: Tensors) -> Tensors:
    """Write the weights as the package carries them; returns the numbers that they stand for."""
    texts = [text.encode() for text, _ in PIECES]
    bounds = np.cumsum([0, *map(len, texts)]).astype("<u4")
    normal = b"".join(
        struct.pack("<IB", ord(a), len(b)) + struct.pack(f"<{len(b)}I", *map(ord, b))
        for a, b in (("\n", " "), ("\x01", ""), ("５", "5"))
    )
    header = struct.pack(
        "<4sI7ifi5iQ",
        *(b"E5S1", 1, WIDTH, 1, HEADS, INNER, ROWS, POSITIONS, TYPES, 1e-12, 32),
        *(len(PIECES), 0, 2, 1, 3, sum(map(len, texts))),
    )
    start = header + bounds.tobytes() + np.array([s for _, s in PIECES], "<f4").tobytes() + b"".join(texts)
    start += struct.pack("<iI", 3, len(normal)) + normal + struct.pack("<i", len(tensors))
    held = {name: blocks(t) if is_quantised(name, t) else (t.tobytes(), t) for name, t in tensors.items()}
    at = len(start) + sum(2 + len(name) + 21 for name in tensors)
    data = b""
    for name, (raw, values) in held.items():
        entry = (name in tensors and is_quantised(name, tensors[name]), values.size, at + len(data), len(raw))
        start += struct.pack("<H", len(name)) + name.encode() + struct.pack("<BIQQ", *entry)
        data += raw
    path.write_bytes(start + data)
    return {name: values for name, (_, values) in held.items()}


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
    path = tmp_path / "small.bin"
    made = source_file(path, small_tensors())
    monkeypatch.setattr(e5_conversion, "packaged_weights", lambda: path)
    monkeypatch.setattr(e5_conversion, "WEIGHTS_SHA256", sha256(path.read_bytes()).hexdigest())
    return made


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
    monkeypatch.setattr(e5_conversion, "packaged_weights", lambda: pytest.fail("read again"))
    assert e5_conversion.converted(tmp_path / "cache").stat().st_mtime_ns == times
    assert [path for path in made.parent.iterdir() if path.suffix == ".part"] == []
    other = tmp_path / "other.bin"
    other.write_bytes(b"something else")
    monkeypatch.setattr(e5_conversion, "packaged_weights", lambda: other)
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
    (made / "model.bin").write_bytes(b"no network")
    again = MultilingualEmbedder(tmp_path / "cache")
    assert (again.encode(TEXTS) == expected).all()
    again.close()
    assert (again.encode(TEXTS) == expected).all()
