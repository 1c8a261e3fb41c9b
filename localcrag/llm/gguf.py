"""Reads the header of a GGUF file in plain Python: the kind of the model, and whether the file is whole.

llama.cpp answers a damaged file with a line on stderr, or by ending the process, so every file is
checked here before llama.cpp sees it. The layout is that of ``docs/gguf.md`` of the ggml project
(https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): magic, version, two counts, key-value pairs,
tensor infos, padding, tensor data. Only the header is read (some 10 MB for a vocabulary of 150,000
tokens), through a memory map of limited length, so that no number in a crafted file makes the reader
read, or keep, more.
"""

from __future__ import annotations

import hashlib
import math
import mmap
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from localcrag.errors import ModelFileError, ModelNotFound
from localcrag.llm.model_entry import sha256

Scalar = str | int | float | bool
Value = Scalar | tuple[Scalar, ...]

WHOLE_FILE_BYTES = 64 << 20
"""The size up to which a fingerprint covers the whole file."""
SAMPLED_BLOCKS, BLOCK_BYTES = 1024, 4096
"""The number and the size of the blocks that a fingerprint samples from a larger file."""

_SCALAR_FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The struct format of each scalar type of a value."""
_STRING_TYPE, _ARRAY_TYPE = 8, 9
_MAX_KEPT_ARRAY_ITEMS = 64
"""Arrays up to this length are kept; longer ones (a vocabulary) are skipped."""
_TOKENIZER_PREFIX = "tokenizer.ggml."
_MAX_HEADER_BYTES = 128 << 20
_MAX_TENSORS, _MAX_PAIRS = 1_000_000, 100_000
_MAX_TENSOR_DIMENSIONS = 4
"""As in ggml.h."""

# ggml type → (elements in a block, bytes of a block), from ggml.h; an unknown type counts no bytes
_BLOCK_SIZES = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 36),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82),
    23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2),
    34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip
_FILE_TYPE_NAMES = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S",
    12: "Q3_K_M", 13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K",
    19: "IQ2_XXS", 20: "IQ2_XS", 21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL",
    26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0",
    37: "TQ2_0", 38: "MXFP4",
}  # fmt: skip
_POOLING_NAMES = {0: "none", 1: "mean", 2: "cls", 3: "last", 4: "rank"}
_ENCODER_ARCHITECTURES = frozenset(
    {"bert", "nomic-bert", "nomic-bert-moe", "jina-bert-v2", "jina-bert-v3", "modern-bert", "neo-bert",
     "eurobert", "gemma-embedding", "llama-embed", "t5", "t5encoder", "clip", "wavtokenizer-dec", "whisper"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One tensor of a GGUF file.

    ``dimensions`` are in the order of ggml, so that a matrix of shape (rows, columns) has (columns, rows).
    ``kind`` is the number of ggml's type. ``start`` is its first byte in the file.
    """

    name: str
    dimensions: tuple[int, ...]
    kind: int
    start: int


@dataclass(frozen=True, slots=True)
class GgufInfo:
    """The header of a GGUF file.

    Attributes:
        path: the file.
        size: its bytes.
        name: the model's name, else the file's without its ending.
        architecture: llama.cpp's name of the architecture.
        parameters: the number of weights.
        context_train: the window in tokens that the model was trained for; 0 if the file does not say.
        file_type: the main quantisation, such as "Q4_K_M"; "unknown" if the file does not say.
        chat_template: the source of the chat template, or "".
        pooling: none, mean, cls, last or rank; "" if the file does not say.
        vocabulary: the sha256 of the tokenizer's metadata.
        metadata: the keys with their values, except long arrays.
        tensors: the tensors of this file; of a split model, of this part.
    """

    path: Path
    size: int
    name: str
    architecture: str
    parameters: int
    context_train: int
    file_type: str
    chat_template: str
    pooling: str
    vocabulary: str
    metadata: tuple[tuple[str, Value], ...]
    tensors: tuple[TensorInfo, ...]

    @property
    def evaluator(self) -> bool:
        """Whether the model is a reranker, which gives one number for a pair of texts."""
        return self.pooling == "rank"

    @property
    def adapter(self) -> bool:
        """Whether the file is an adapter, which changes the weights of another model."""
        return self.value("general.type", "model") == "adapter"

    @property
    def generator(self) -> bool:
        """Whether the model writes text."""
        return (
            self.architecture not in _ENCODER_ARCHITECTURES
            and self.pooling in ("", "none")
            and self.value(f"{self.architecture}.attention.causal", True) is not False
            and self.value("general.type", "model") == "model"
        )

    def value(self, key: str, default: Value) -> Value:
        """The value of a key; the default if it is missing."""
        return next((value for name, value in self.metadata if name == key), default)

    def number(self, key: str, default: float) -> float:
        """The number under a key; the default if it is missing or not a finite number."""
        value = self.value(key, default)
        return float(value) if isinstance(value, (int, float)) and math.isfinite(value) else default

    def numbers(self, key: str) -> tuple[float, ...]:
        """The array of numbers under a key; empty if it is missing."""
        value = self.value(key, ())
        return tuple(float(v) for v in value if not isinstance(v, str)) if isinstance(value, tuple) else ()


def read_metadata(path: Path | str) -> GgufInfo:
    """Read the header of a GGUF file. Raises ModelNotFound, ModelFileError."""
    path = Path(path)
    try:
        if not path.exists():
            raise ModelNotFound(f"No model file at {path}.", hint="Check the path, or name another model.")
        if not path.is_file():
            raise ModelFileError(f"{path} is not a file.", hint="Give the path of one GGUF file.")
        stat = path.stat()
        return _read(path, stat.st_size, stat.st_mtime_ns)
    except PermissionError as error:
        raise ModelFileError(f"{path} may not be read.", hint="Check its permissions.") from error
    except OSError as error:
        raise ModelFileError(
            f"{path} cannot be read: {error.strerror or error}.",
            hint="Look at the disk, or copy the file again.",
        ) from error


def fingerprint(path: Path) -> str:
    """A name that tells a model file from every other, whatever its path.

    For a small model it is the sha256 of the whole file. For a large one it covers the size, the header
    and some thousand blocks spread over the weights: that takes milliseconds, while a digest of gigabytes
    would take seconds at every start. Raises ModelNotFound, ModelFileError.
    """
    info = read_metadata(path)
    stat = path.stat()
    return _fingerprint(path.resolve(), stat.st_size, stat.st_mtime_ns, int(info.number("split.count", 1)))


@lru_cache(maxsize=16)
def _fingerprint(path: Path, size: int, _mtime_ns: int, parts: int) -> str:
    """The fingerprint, remembered as long as the file's size and time stay as they are."""
    if size <= WHOLE_FILE_BYTES and parts == 1:
        return sha256(path)
    info = read_metadata(path)
    digest = hashlib.sha256(f"{size} {info.vocabulary} {info.metadata}".encode())
    for part in list(parts_of(path, parts)) or [path]:
        digest.update(_sample(part))
    return f"sampled-{digest.hexdigest()}"


def _sample(path: Path) -> bytes:
    """The digest of blocks spread evenly over a file, including its beginning and its end."""
    size = path.stat().st_size
    digest = hashlib.sha256(str(size).encode())
    with path.open("rb") as file:
        for number in range(SAMPLED_BLOCKS):
            file.seek(max(0, size - BLOCK_BYTES) * number // (SAMPLED_BLOCKS - 1))
            digest.update(file.read(BLOCK_BYTES))
    return digest.digest()


def parts_of(path: Path, count: int) -> Iterator[Path]:
    """All files of a model that was split with llama.cpp's naming; none if it was not split."""
    match = re.fullmatch(r"(.*)-(\d{5})-of-(\d{5})\.gguf", path.name)
    if match is None or count < 2:
        return
    for number in range(1, count + 1):
        yield path.with_name(f"{match[1]}-{number:05}-of-{match[3]}.gguf")


@lru_cache(maxsize=32)
def _read(path: Path, size: int, _mtime_ns: int) -> GgufInfo:
    """The header, remembered as long as the file's size and time stay. Raises ModelFileError, OSError."""
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ModelFileError(
                f"{path.name} is not a GGUF file.",
                hint="Give a model in GGUF format; other formats must be converted first.",
            )
        try:
            with mmap.mmap(file.fileno(), min(size, _MAX_HEADER_BYTES), access=mmap.ACCESS_READ) as data:
                return _Reader(data, path).info(size)
        except (struct.error, LookupError, ValueError, OverflowError) as error:
            raise _truncated(path, "its header ends early, or makes no sense") from error


def _truncated(path: Path, why: str) -> ModelFileError:
    """The error for a file that is damaged or cut off."""
    return ModelFileError(f"{path.name} is damaged or incomplete: {why}.", hint="Copy or download it again.")


class _Reader:
    """A cursor over the mapped header, which begins after the magic."""

    def __init__(self, data: mmap.mmap, path: Path) -> None:
        self._data, self._path, self._at = data, path, 4
        self._tokenizer = hashlib.sha256()

    def info(self, size: int) -> GgufInfo:
        """Read the whole header of a file of ``size`` bytes.

        Raises ModelFileError, and the errors of decoding beyond the header's end.
        """
        version = int(self._number("I"))
        if version not in (2, 3):
            raise ModelFileError(
                f"{self._path.name} has GGUF version {version}, which cannot be read here.",
                hint="Convert the model again with a current llama.cpp.",
            )
        tensors, pairs = int(self._number("Q")), int(self._number("Q"))
        if tensors > _MAX_TENSORS or pairs > _MAX_PAIRS:
            raise _truncated(self._path, "its counts make no sense")
        values: dict[str, Value] = {}
        for _ in range(pairs):
            key = self._string()
            start = self._at
            value = self._value(int(self._number("I")))
            if self._at > len(self._data):  # a long array was only skipped
                raise _truncated(self._path, "its header ends early")
            if value is not None:
                values[key] = value
            if key.startswith(_TOKENIZER_PREFIX):
                self._hash_pair(key, start)
        listed, weights, extent = self._tensors(tensors)
        alignment = _integer(values.get("general.alignment"), 32)
        if alignment < 1:
            raise _truncated(self._path, f"its weights are aligned to {alignment} bytes")
        start = self._at + (-self._at) % alignment
        if tensors and start + extent > size:
            raise _truncated(self._path, "the file is shorter than the weights it lists")
        placed = tuple(replace(tensor, start=start + tensor.start) for tensor in listed)
        return self._info_of(values, placed, weights, size)

    def _hash_pair(self, key: str, start: int) -> None:
        """Add a pair to the vocabulary's digest; its value, which begins at ``start``, is not copied."""
        self._tokenizer.update(key.encode())
        with memoryview(self._data) as header, header[start : self._at] as value:
            self._tokenizer.update(value)

    def _info_of(
        self, values: dict[str, Value], tensors: tuple[TensorInfo, ...], weights: int, size: int
    ) -> GgufInfo:
        """The header's values as one object. Raises ModelFileError."""
        architecture = str(values.get("general.architecture", ""))
        if not architecture:
            raise ModelFileError(f"{self._path.name} names no architecture.", hint="Give another model file.")
        pooling = values.get(f"{architecture}.pooling_type")
        return GgufInfo(
            path=self._path,
            size=size,
            name=str(values.get("general.name") or self._path.stem),
            architecture=architecture,
            parameters=weights,
            context_train=_integer(values.get(f"{architecture}.context_length"), 0),
            file_type=_FILE_TYPE_NAMES.get(_integer(values.get("general.file_type"), -1), "unknown"),
            chat_template=str(values.get("tokenizer.chat_template", "")),
            pooling=_POOLING_NAMES.get(_integer(pooling, -1), ""),
            vocabulary=self._tokenizer.hexdigest(),
            metadata=tuple(values.items()),
            tensors=tensors,
        )

    def _tensors(self, count: int) -> tuple[tuple[TensorInfo, ...], int, int]:
        """The tensors, the number of weights, and the bytes from the first's start to the last one's end.

        The tensors' starts are counted from the first one's.
        """
        tensors, weights, extent = [], 0, 0
        for _ in range(count):
            name = self._string()
            if (dimensions := int(self._number("I"))) > _MAX_TENSOR_DIMENSIONS:
                raise _truncated(self._path, f"it lists weights of {dimensions} dimensions")
            shape = tuple(int(self._number("Q")) for _ in range(dimensions))
            kind, elements = int(self._number("I")), math.prod(shape)
            block, width = _BLOCK_SIZES.get(kind, (1, 0))
            weights += elements
            start = int(self._number("Q"))
            extent = max(extent, start + elements // block * width)
            tensors.append(TensorInfo(name, shape, kind, start))
        return tuple(tensors), weights, extent

    def _value(self, kind: int) -> Value | None:
        """Read a value of this type; None for a long array, which is skipped."""
        if kind == _STRING_TYPE:
            return self._string()
        if kind == _ARRAY_TYPE:
            return self._array()
        if kind not in _SCALAR_FORMATS:
            raise self._unknown(kind)
        return self._number(_SCALAR_FORMATS[kind])

    def _array(self) -> tuple[Scalar, ...] | None:
        """Read an array; None for a long one, which is skipped."""
        kind, count = int(self._number("I")), int(self._number("Q"))
        if count <= _MAX_KEPT_ARRAY_ITEMS and kind != _ARRAY_TYPE:
            return tuple(
                self._string() if kind == _STRING_TYPE else self._number(_SCALAR_FORMATS[kind])
                for _ in range(count)
            )
        if kind == _STRING_TYPE:
            self._skip_strings(count)
        elif kind in _SCALAR_FORMATS:
            self._at += count * struct.calcsize(_SCALAR_FORMATS[kind])
        else:
            raise self._unknown(kind)
        return None

    def _skip_strings(self, count: int) -> None:
        """Move the cursor past so many strings."""
        data, at, length = self._data, self._at, struct.Struct("<Q").unpack_from
        for _ in range(count):
            at += 8 + length(data, at)[0]
        self._at = at

    def _unknown(self, kind: int) -> ModelFileError:
        """The error for a value of a type that does not exist."""
        return _truncated(self._path, f"its header has a value of unknown type {kind}")

    def _string(self) -> str:
        """Read a string."""
        length = int(self._number("Q"))
        if self._at + length > len(self._data):
            raise _truncated(self._path, "its header ends early")
        text = self._data[self._at : self._at + length].decode("utf-8", errors="replace")
        self._at += length
        return text

    def _number(self, code: str) -> int | float | bool:
        """Read a scalar of this struct format, little-endian."""
        layout = struct.Struct("<" + code)
        value: int | float | bool = layout.unpack_from(self._data, self._at)[0]
        self._at += layout.size
        return float(f"{value:.7g}") if code == "f" else value  # the digits that 32 bits hold


def _integer(value: Value | None, default: int) -> int:
    """The value as an integer; the default if it is no finite number."""
    return int(value) if isinstance(value, (int, float)) and math.isfinite(value) else default
