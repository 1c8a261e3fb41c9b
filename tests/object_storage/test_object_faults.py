"""A server that is busy, slow, cut off or lying, and keys without rights: one error, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from localcrag.errors import LocalCragError, ObjectStorageError
from localcrag.object_storage import object_client, writer_lease
from tests.object_storage.conftest import Machine, found, sources, use_keys, write
from tests.object_storage.fault_proxy import Fault, FaultProxy, SeenRequest
from tests.object_storage.object_server import BUCKET, READER, STRANGER, WRITER

Matches = Callable[[SeenRequest], bool]
_MADE: set[str] = set()
"""The knowledge bases that exist on the server of this process."""


@pytest.fixture
def kept(proxy: FaultProxy, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A knowledge base with the document ``a``, which one test after the other uses."""
    name = f"s3://{BUCKET}/kept/{proxy.target[1]}"
    if name not in _MADE:
        write(Machine(tmp_path_factory.mktemp("maker")).create(name), a="kept")
        _MADE.add(name)
    return name


def any_request(request: SeenRequest) -> bool:
    return True


def content(request: SeenRequest) -> bool:
    return not request.is_head and not request.is_lease


@pytest.mark.parametrize("fault", [Fault.BUSY, Fault.CUT, Fault.LOST_REPLY])
def test_a_fault_that_passes_is_not_noticed(
    fault: Fault, writer: Machine, reader: Machine, address: str, proxy: FaultProxy
) -> None:
    proxy.fail(fault, any_request, times=2)
    store = writer.create(address)
    proxy.fail(fault, lambda request: request.method == "PUT" and request.is_head, times=1)
    write(store, a="one")
    proxy.fail(fault, content, times=1)
    write(store, b="two")
    proxy.fail(fault, any_request, times=2)
    assert sources(reader.open(address)) == ["a", "b"]


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault.BUSY, "status 503"),
        (Fault.CUT, "cut off|broke off|not HTTP"),
        (Fault.LOST_REPLY, "broke off|not HTTP"),
        (Fault.STALLED, "did not answer in time"),
        (Fault.RUBBISH, "not the list of files"),
        (Fault.REDIRECT, "redirects"),
        (Fault.FORBIDDEN, "no permission to read .*AccessDenied"),
    ],
)
def test_reading_from_a_server_that_stays_faulty_ends_with_one_error(
    fault: Fault, said: str, reader: Machine, kept: str, proxy: FaultProxy
) -> None:
    proxy.seen.clear()
    proxy.fail(fault, any_request)
    with pytest.raises(ObjectStorageError, match=said) as caught:
        reader.bases(seconds=0.3).open(kept)
    assert caught.value.hint
    assert "\n" not in str(caught.value)
    assert len(proxy.seen) <= 1 + len(object_client.RETRY_SECONDS)


@pytest.mark.parametrize(
    ("fault", "which"),
    [
        (Fault.BUSY, content),
        (Fault.CUT, content),
        (Fault.STALLED, content),
        (Fault.REDIRECT, content),
        (Fault.FORBIDDEN, content),
        (Fault.BUSY, lambda request: request.is_head and request.method == "PUT"),
        (Fault.FORBIDDEN, lambda request: request.is_head and request.method == "PUT"),
    ],
)
def test_writing_to_a_server_that_becomes_faulty_loses_nothing(
    fault: Fault, which: Matches, writer: Machine, reader: Machine, kept: str, proxy: FaultProxy
) -> None:
    store = writer.bases(seconds=0.5).open(kept)
    proxy.fail(fault, which)
    with pytest.raises(ObjectStorageError):
        write(store, a="changed", b="lost")
    assert sources(store) == ["a"]
    proxy.choose = lambda request: None
    assert found(reader.open(kept), "kept") == ["kept"]
    write(store, a="kept")
    assert store.is_current


def test_a_server_that_gives_other_bytes_is_found_out(reader: Machine, kept: str, proxy: FaultProxy) -> None:
    proxy.fail(Fault.CHANGED, content)
    with pytest.raises(ObjectStorageError, match="another content than was written"):
        reader.open(kept)
    proxy.fail(Fault.CHANGED, lambda request: request.is_head)
    with pytest.raises(ObjectStorageError):
        reader.open(kept)
    proxy.choose = lambda request: None
    assert sources(reader.open(kept)) == ["a"]


def test_a_server_that_looks_at_no_condition_is_not_written_to(
    writer: Machine, reader: Machine, kept: str, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_lease, "_CONDITIONAL", set())
    proxy.fail(Fault.CARELESS, lambda request: request.conditional and request.method == "PUT")
    with pytest.raises(ObjectStorageError, match="takes no conditions") as caught:
        write(writer.open(kept), b="two")
    assert "reading needs neither" in caught.value.hint
    assert sources(reader.open(kept)) == ["a"]


def test_an_object_that_is_missing_is_named(
    writer: Machine, reader: Machine, address: str, proxy: FaultProxy
) -> None:
    store = writer.create(address)
    write(store, a="one")
    lost = next(path for path in store._base.head.files if "/data/" in path)
    store._commits.client.delete(lost)
    with pytest.raises(ObjectStorageError, match=f"the object {lost} is missing"):
        reader.open(address)


def test_keys_that_may_only_read_read_and_do_not_write(
    reader: Machine, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_keys(READER, monkeypatch)
    store = reader.open(kept)
    assert found(store, "kept") == ["kept"]
    with pytest.raises(ObjectStorageError, match=r"no permission to write to .*AccessDenied"):
        write(store, b="two")
    assert sources(store) == ["a"]


@pytest.mark.parametrize("keys", [STRANGER, (WRITER[0], "another-secret"), ("AKNOBODY", "nobody-secret")])
def test_keys_without_rights_end_with_one_error_that_names_no_secret(
    keys: tuple[str, str], reader: Machine, kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_keys(keys, monkeypatch)
    for attempt in (reader.open, reader.create, reader.bases().remove):
        with pytest.raises(ObjectStorageError, match=r"no permission|does not take the keys") as caught:
            attempt(kept)
        assert keys[1] not in f"{caught.value}{caught.value.hint}{caught.value.__cause__}"


def test_a_bucket_that_does_not_exist_and_a_server_that_is_not_there(
    reader: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    use_keys(READER, monkeypatch)
    with pytest.raises(LocalCragError):
        reader.open("s3://no-such-bucket/papers")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with pytest.raises(ObjectStorageError, match=r"cannot be reached: .*Connection refused"):
        reader.open("s3://kbs/papers")
