"""A server for all tests of object storage, a proxy before it that can fail, and machines that use them."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from localcrag.object_storage.remote_knowledge_bases import RemoteKnowledgeBases
from localcrag.object_storage.remote_store import RemoteStore
from localcrag.store.lance_store import LanceStore
from tests.object_storage.fault_proxy import FaultProxy, running_proxy
from tests.object_storage.object_server import BUCKET, WRITER, running_object_server
from tests.store.conftest import EMBEDDER, item

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def object_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_object_server(tmp_path_factory.mktemp("objects")) as url:
        yield url


@pytest.fixture(scope="session")
def proxy_before_server(object_server: str) -> Iterator[FaultProxy]:
    with running_proxy(object_server) as found:
        yield found


@pytest.fixture
def proxy(proxy_before_server: FaultProxy) -> FaultProxy:
    proxy_before_server.choose = lambda request: None
    proxy_before_server.seen.clear()
    return proxy_before_server


@pytest.fixture(autouse=True)
def environment(proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    """The keys of the writer, the proxy as the server, and no waiting between two tries."""
    for name in ("AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_S3", "AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ENDPOINT_URL", proxy.url)
    use_keys(WRITER, monkeypatch)
    monkeypatch.setattr("localcrag.object_storage.object_client.RETRY_SECONDS", (0.01, 0.01))


def use_keys(user: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", user[0])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", user[1])


@pytest.fixture
def address() -> str:
    """An address that no other test uses."""
    return f"s3://{BUCKET}/test/{next(_NUMBERS)}"


@dataclass
class Machine:
    """A machine with a cache of its own, and what its ledger says."""

    home: Path
    ledger: list[str] = field(default_factory=list)

    def bases(self, seconds: float = 20.0) -> RemoteKnowledgeBases:
        return RemoteKnowledgeBases(self.home, lambda kind, target: self.ledger.append(target), seconds)

    def open(self, address: str) -> RemoteStore:
        return self.bases().open(address, EMBEDDER.name, EMBEDDER.dimension)

    def create(self, address: str) -> RemoteStore:
        return self.bases().create(address, EMBEDDER.name, EMBEDDER.dimension)


@pytest.fixture
def machine(tmp_path: Path) -> Callable[[str], Machine]:
    return lambda name: Machine(tmp_path / name)


@pytest.fixture
def writer(machine: Callable[[str], Machine]) -> Machine:
    return machine("writer")


@pytest.fixture
def reader(machine: Callable[[str], Machine]) -> Machine:
    return machine("reader")


def write(store: LanceStore, **texts: str) -> None:
    """Documents of one passage each, in one batch."""
    store.replace([item(name, text) for name, text in texts.items()])


def found(store: LanceStore, query: str) -> list[str]:
    return [hit.passage.text for hit in store.search(query, EMBEDDER.encode([query])[0], k=8)]


def sources(store: LanceStore) -> Sequence[str]:
    return sorted(store.indexed())
