"""Models for the tests of localcrag.llm: loaded once, closed at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import gguf
import pytest

from localcrag.llm.evaluator import GgufEvaluator
from localcrag.llm.language_model import LlamaCppModel
from localcrag.model_address import ModelAddress
from localcrag.model_server.served_model import ServedModel
from localcrag.model_server.server_connection import ServerConnection
from tests.model_servers import CONTEXT
from tests.shape_models import CACHE, encoder, shape

Load = Callable[[str], LlamaCppModel]


class Shaped(NamedTuple):
    """A loaded shape model and its name."""

    name: str
    model: LlamaCppModel


def _open(name: str) -> LlamaCppModel:
    return LlamaCppModel(shape(name), context=2048, threads=1, cache_dir=CACHE / "constraints")


@pytest.fixture(scope="session", params=["qwen3", "llama3", "phi3", "gemma", "gemma4", "llama2", "base"])
def shaped(request: pytest.FixtureRequest) -> Iterator[Shaped]:
    """Every vocabulary in turn; pytest runs all tests of one before it opens the next."""
    with _open(request.param) as model:
        yield Shaped(request.param, model)


@pytest.fixture(scope="session")
def load() -> Iterator[Load]:
    """One shape model by name; opening another closes it."""
    loaded: dict[str, LlamaCppModel] = {}

    def by_name(name: str) -> LlamaCppModel:
        if name not in loaded:
            for other in loaded.values():
                other.close()
            loaded.clear()
            loaded[name] = LlamaCppModel(
                shape(name), context=2048, threads=1, cache_dir=CACHE / "constraints"
            )
        return loaded[name]

    yield by_name
    for model in loaded.values():
        model.close()


@pytest.fixture(scope="session")
def served(model_server: str) -> ServedModel:
    """A model on a real server, probed once."""
    return ServedModel(
        ServerConnection(ModelAddress.parse(model_server), lambda kind, target: None), context=CONTEXT
    )


@pytest.fixture(scope="session")
def reranker_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    metadata = {
        "localcrag.evaluator.temperature": 2.0,
        "localcrag.evaluator.bias": 0.25,
        "localcrag.crag.upper": 0.7,
        "localcrag.crag.lower": 0.2,
    }
    path = tmp_path_factory.mktemp("models") / "reranker.gguf"
    return encoder(path, pooling=gguf.PoolingType.RANK, metadata=metadata)


@pytest.fixture(scope="session")
def embedding_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return encoder(tmp_path_factory.mktemp("models") / "embedding.gguf", pooling=gguf.PoolingType.MEAN)


@pytest.fixture(scope="session")
def llama_evaluator(reranker_file: Path) -> Iterator[GgufEvaluator]:
    """The evaluator in llama.cpp."""
    with GgufEvaluator(reranker_file, threads=1) as loaded:
        yield loaded


@pytest.fixture(scope="session")
def ctranslate_evaluator(
    reranker_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GgufEvaluator]:
    """The same evaluator in CTranslate2."""
    with GgufEvaluator(reranker_file, threads=1, cache=tmp_path_factory.mktemp("converted")) as loaded:
        yield loaded


@pytest.fixture(params=["llama_evaluator", "ctranslate_evaluator"])
def evaluator(request: pytest.FixtureRequest) -> GgufEvaluator:
    """The evaluator, computed by either engine."""
    chosen: GgufEvaluator = request.getfixturevalue(request.param)
    return chosen
