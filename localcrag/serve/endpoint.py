"""The endpoint of the warm process of a home, and the check of who connects to it.

The endpoint is a Unix socket (0600) in a folder of the user's own (0700). Both ends ask the kernel for the
user of the other process: SO_PEERCRED on Linux, LOCAL_PEERCRED on macOS and the BSDs.

On a system without Unix sockets it is a port on loopback, and a secret in a file of the user. Any
process of the machine can connect to the port, or listen on it after a server died. Neither side
therefore sends anything before the other has proved that it knows the secret, which is never sent itself
(mutual challenge and response with HMAC-SHA256, as in RFC 2195).
"""

from __future__ import annotations

import os
import socket
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from localcrag import _platform
from localcrag.errors import WarmError

UNIX = hasattr(socket, "AF_UNIX") and os.name != "nt"
"""Whether the endpoint is a Unix socket."""
MAX_PATH_BYTES = 100
"""Bytes of a socket's path that every platform accepts (macOS 104, Linux 108)."""
MAX_WAITING_CONNECTIONS = 16
"""Connections that may wait to be accepted."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The files of the warm process of one home: ``folder`` holds them, ``name`` begins their names."""

    folder: Path
    name: str

    @property
    def address(self) -> Path:
        """The Unix socket, or the file that holds the port and the secret."""
        return self.folder / (f"{self.name}.sock" if UNIX else f"{self.name}.port")

    @property
    def lock(self) -> Path:
        """The lock file, which the serving process holds."""
        return self.folder / f"{self.name}.lock"

    @property
    def log(self) -> Path:
        """The log of a server that was started in the background."""
        return self.folder / f"{self.name}.log"


def endpoint_of(home: Path) -> Endpoint:
    """The endpoint of ``home``, in the runtime folder of the platform or in a folder below the home.

    The runtime folder is used if it exists, belongs to the user, and nobody else can write to it.
    """
    runtime = _platform.runtime_folder()
    folder = runtime if not _weakness(runtime.parent, writing=0o022) else home / "run"
    return Endpoint(folder, f"{zlib.crc32(os.fsencode(home)):08x}")


def refuse_unsafe(folder: Path) -> None:
    """Raise WarmError if another user could enter the folder."""
    if weakness := _weakness(folder):
        raise WarmError(
            f"the warm process may not use {folder}: {weakness}",
            hint="remove the folder, or point XDG_RUNTIME_DIR to one that is yours alone",
        )


def listen(endpoint: Endpoint) -> socket.socket:
    """A listening socket for processes of this user; it replaces the file of a server that died.

    The caller must hold ``endpoint.lock``. Raises WarmError.
    """
    try:
        endpoint.address.unlink(missing_ok=True)
        if not UNIX:
            return listen_on_loopback(endpoint.address)
        _refuse_long(endpoint.address)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(endpoint.address))  # nobody else reaches it meanwhile: the folder is 0700
        endpoint.address.chmod(0o600)
        listener.listen(MAX_WAITING_CONNECTIONS)
    except OSError as error:
        raise _cannot_listen(endpoint, error) from error
    return listener


@contextmanager
def claimed(endpoint: Endpoint) -> Iterator[socket.socket | None]:
    """Claim the endpoint and give its listening socket; None if another process holds it.

    The claim lasts for the ``with``. Raises WarmError.
    """
    from filelock import FileLock, Timeout

    try:
        endpoint.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        refuse_unsafe(endpoint.folder)
        lock = FileLock(endpoint.lock, mode=0o600)
        lock.acquire(blocking=False)
    except Timeout:
        yield None
        return
    except OSError as error:
        raise _cannot_listen(endpoint, error) from error
    try:
        with listen(endpoint) as listener:
            yield listener
    finally:
        lock.release()


def connect(endpoint: Endpoint, timeout: float) -> socket.socket | None:
    """A connection to the server, or None if none runs.

    Raises WarmError if the listener is not a process of this user or the folder is unsafe, TimeoutError if
    it does not accept within ``timeout`` seconds, and OSError.
    """
    if not endpoint.address.exists():
        return None
    refuse_unsafe(endpoint.folder)
    if not UNIX:
        return connect_to_loopback(endpoint.address, timeout)
    _refuse_long(endpoint.address)
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(timeout)
    try:
        link.connect(str(endpoint.address))
    except (ConnectionRefusedError, FileNotFoundError):
        link.close()  # the process is gone, its file is not
        return None
    except BlockingIOError as error:  # as many wait as may
        link.close()
        raise TimeoutError("it accepts no connection") from error
    except OSError:
        link.close()
        raise
    if not same_user(link):
        link.close()
        raise WarmError(f"the process at {endpoint.address} is another user's", hint="remove the file")
    return link


def same_user(link: socket.socket) -> bool:
    """Whether the process at the other end of a Unix socket belongs to this user, according to the kernel.

    It is True if the kernel does not tell; then the permissions of the folder alone protect the socket.
    """
    user = peer(link)
    return user is None or user == os.getuid()


def peer(link: socket.socket) -> int | None:
    """The user id of the process at the other end of a Unix socket; None if the kernel does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        size = struct.calcsize("3i")
        _, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return int(user)
    if hasattr(socket, "LOCAL_PEERCRED"):
        _, user = struct.unpack_from("2I", link.getsockopt(0, socket.LOCAL_PEERCRED, 128))
        return int(user)
    return None


def _weakness(folder: Path, *, writing: int = 0o077) -> str:
    """Why the folder is not safe; "" if it is.

    ``writing`` is a mask of permissions that it must not have. Without user ids, as on Windows, only its
    existence is checked; there a folder below the home of the user is closed to others.
    """
    try:
        found = folder.lstat()
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(found.st_mode):
        return "it is not a folder"
    if not hasattr(os, "getuid"):
        return ""
    if found.st_uid != os.getuid():
        return "it belongs to another user"
    return f"its permissions are {stat.S_IMODE(found.st_mode):04o}" if found.st_mode & writing else ""


def _cannot_listen(endpoint: Endpoint, error: OSError) -> WarmError:
    return WarmError(
        f"the warm process cannot listen at {endpoint.address}: {error.strerror or error}",
        hint="look at the permissions of that folder",
    )


def _refuse_long(address: Path) -> None:
    if len(os.fsencode(address)) > MAX_PATH_BYTES:
        raise WarmError(
            f"{address} is too long for a Unix socket",
            hint="set XDG_RUNTIME_DIR to a folder with a short path that is yours alone",
        )


LOOPBACK = "127.0.0.1"
SECRET_BYTES = 32
"""Bytes of the secret, of a challenge, and of a response."""


def listen_on_loopback(address: Path) -> socket.socket:
    """A socket on a free port of loopback; the file ``address`` gets the port and a new secret.

    Raises OSError.
    """
    import json
    import secrets

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((LOOPBACK, 0))
    listener.listen()
    scratch = address.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({"port": listener.getsockname()[1], "secret": secrets.token_hex(SECRET_BYTES)}, file)
    scratch.replace(address)
    return listener


def connect_to_loopback(address: Path, timeout: float) -> socket.socket | None:
    """A connection to the server that knows the secret in the file ``address``; None if nobody listens.

    Raises WarmError if the listener does not know the secret, TimeoutError, OSError.
    """
    import json

    try:
        known = json.loads(address.read_text("utf-8"))
        link = socket.create_connection((LOOPBACK, int(known["port"])), timeout)
    except (FileNotFoundError, ConnectionRefusedError, ValueError, LookupError, TypeError):
        return None
    if not prove(link, bytes.fromhex(known["secret"]), b"command", b"server"):
        link.close()
        raise WarmError("what listens at the port of the warm process is something else")
    return link


def admits(link: socket.socket, address: Path) -> bool:
    """Whether the client at the other end knows the secret in the file ``address``. Raises OSError."""
    import json

    known = json.loads(address.read_text("utf-8"))
    return prove(link, bytes.fromhex(known["secret"]), b"server", b"command")


def prove(link: socket.socket, secret: bytes, mine: bytes, theirs: bytes) -> bool:
    """Prove to the other side that this one knows the secret; returns whether the other one proved it too.

    ``mine`` and ``theirs`` are the roles of the two sides; a role is a part of each response, so that no
    side can pass a challenge back. Raises OSError.
    """
    import hmac
    import secrets

    challenge = secrets.token_bytes(SECRET_BYTES)
    link.sendall(challenge)
    link.sendall(_response(secret, mine, _exactly(link)))
    return hmac.compare_digest(_exactly(link), _response(secret, theirs, challenge))


def _response(secret: bytes, name: bytes, challenge: bytes) -> bytes:
    import hmac

    return hmac.digest(secret, name + challenge, "sha256")


def _exactly(link: socket.socket) -> bytes:
    """The next SECRET_BYTES bytes, or fewer if the other side closes the connection.

    All of them must come within the timeout of the socket. Raises OSError.
    """
    seconds = link.gettimeout()
    end = monotonic() + seconds if seconds is not None else None
    got = b""
    try:
        while len(got) < SECRET_BYTES and (more := link.recv(SECRET_BYTES - len(got))):
            got += more
            if end is not None:
                link.settimeout(max(0.0, end - monotonic()))
    finally:
        link.settimeout(seconds)
    return got
