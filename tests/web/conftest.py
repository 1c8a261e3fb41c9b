from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.web.scripted import ScriptedServer, running_script
from tests.web.searxng_server import Corpus, Searxng, running_corpus, running_searxng, settings_for


@pytest.fixture(scope="session")
def corpus() -> Iterator[Corpus]:
    with running_corpus() as server:
        yield server


@pytest.fixture(scope="session")
def searxng(corpus: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searxng]:
    """A real SearXNG with the settings this project ships, whose engines ask ``corpus``."""
    with running_searxng(settings_for(corpus), tmp_path_factory.mktemp("searxng")) as server:
        yield server


@pytest.fixture
def script() -> Iterator[ScriptedServer]:
    with running_script() as server:
        yield server
