"""Who may listen, who may connect, and what was left behind."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from localcrag.errors import WarmError
from localcrag.serve import endpoint as places
from localcrag.serve.endpoint import (
    Endpoint,
    admits,
    claimed,
    connect,
    connect_to_loopback,
    endpoint_of,
    listen_on_loopback,
    peer,
    prove,
    same_user,
)
from tests.serve.conftest import DEADLINE


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with TemporaryDirectory(prefix="lc-") as folder:
        monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
        yield Path(folder)


def test_each_home_has_its_own_socket_in_the_runtime_folder(runtime: Path, tmp_path: Path) -> None:
    one, other = endpoint_of(tmp_path / "one"), endpoint_of(tmp_path / "other")
    assert one.folder == other.folder == runtime / "localcrag"
    assert one.address != other.address


def test_without_a_runtime_folder_of_ones_own_it_is_below_the_home(runtime: Path, tmp_path: Path) -> None:
    runtime.chmod(0o777)
    assert endpoint_of(tmp_path).folder == tmp_path / "run"


def test_one_process_serves_and_its_socket_is_the_users_alone(runtime: Path, tmp_path: Path) -> None:
    endpoint = endpoint_of(tmp_path)
    assert connect(endpoint, DEADLINE) is None
    with claimed(endpoint) as listener, claimed(endpoint) as second:
        assert listener is not None and second is None
        assert endpoint.address.stat().st_mode & 0o777 == 0o600
        assert endpoint.folder.stat().st_mode & 0o777 == 0o700
        link = connect(endpoint, DEADLINE)
        assert link is not None and peer(link) == os.getuid()
        link.close()


def test_a_socket_left_behind_is_nobody_and_is_replaced(runtime: Path, tmp_path: Path) -> None:
    endpoint = endpoint_of(tmp_path)
    with claimed(endpoint):
        pass
    assert endpoint.address.exists() and connect(endpoint, DEADLINE) is None
    with claimed(endpoint):
        link = connect(endpoint, DEADLINE)
        assert link is not None
        link.close()


def test_a_process_of_another_user_is_refused_on_both_sides(
    runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = endpoint_of(tmp_path)
    with claimed(endpoint):
        monkeypatch.setattr(places, "peer", lambda link: os.getuid() + 1)
        with pytest.raises(WarmError, match="another user's"):
            connect(endpoint, DEADLINE)
        ours, theirs = socket.socketpair()
        with ours, theirs:
            assert not same_user(ours)


def test_a_folder_of_another_user_or_a_link_is_refused(
    runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint = endpoint_of(tmp_path)
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    endpoint.folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(WarmError, match="not a folder"), claimed(endpoint):
        pass
    endpoint.folder.unlink()
    endpoint.folder.mkdir(mode=0o700)
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    with pytest.raises(WarmError, match="belongs to another user"), claimed(endpoint):
        pass


def test_a_path_that_no_socket_can_have_is_refused(tmp_path: Path) -> None:
    endpoint = Endpoint(tmp_path / ("x" * 120), "name")
    with pytest.raises(WarmError, match="too long") as raised, claimed(endpoint):
        pass
    assert "XDG_RUNTIME_DIR" in raised.value.hint


# ---------------------------------------------------------------------------------- on loopback


def test_without_unix_sockets_one_process_serves_on_loopback(
    runtime: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "UNIX", False)
    endpoint = endpoint_of(tmp_path)
    assert endpoint.address.suffix == ".port"
    assert connect(endpoint, DEADLINE) is None
    with claimed(endpoint) as listener, claimed(endpoint) as second:
        assert listener is not None and second is None
        admitted = attending(listener, endpoint.address)
        link = connect(endpoint, DEADLINE)
        assert link is not None
        link.close()
        assert admitted() is True
    assert connect(endpoint, DEADLINE) is None


def test_on_loopback_both_sides_know_the_secret(tmp_path: Path) -> None:
    address = tmp_path / "it.port"
    with listen_on_loopback(address) as listener:
        assert address.stat().st_mode & 0o777 == 0o600
        assert listener.getsockname()[0] == "127.0.0.1"
        admitted = attending(listener, address)
        link = connect_to_loopback(address, DEADLINE)
        assert link is not None
        link.close()
        assert admitted() is True
    assert connect_to_loopback(address, DEADLINE) is None


def test_on_loopback_who_does_not_know_it_is_refused(tmp_path: Path) -> None:
    address = tmp_path / "it.port"
    with listen_on_loopback(address) as listener:
        admitted = attending(listener, address)
        with socket.create_connection(listener.getsockname(), DEADLINE) as link:
            prove(link, b"guessed", b"command", b"server")
        assert admitted() is False


def test_on_loopback_the_command_refuses_a_listener_that_does_not_know_it(tmp_path: Path) -> None:
    address = tmp_path / "it.port"
    with listen_on_loopback(address) as listener:
        thief = attending(listener, address, secret=b"guessed")
        with pytest.raises(WarmError, match="something else"):
            connect_to_loopback(address, DEADLINE)
        assert thief() is False


def attending(listener: socket.socket, address: Path, secret: bytes = b"") -> Callable[[], bool]:
    """Admit one connection in a thread; the function that is returned waits, and says what came of it."""
    outcome: list[bool] = []

    def attend() -> None:
        link, _ = listener.accept()
        with link:
            link.settimeout(DEADLINE)
            outcome.append(prove(link, secret, b"server", b"command") if secret else admits(link, address))

    thread = threading.Thread(target=attend)
    thread.start()

    def result() -> bool:
        thread.join(DEADLINE)
        return outcome[0]

    return result
