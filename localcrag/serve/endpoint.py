"""Where the warm process of a home listens, and who may speak to it.

A Unix socket (0600) in a folder of the user's own (0700), and both ends ask the kernel whose process
the other is: SO_PEERCRED on Linux, LOCAL_PEERCRED on macOS and the BSDs.

On a system without Unix sockets it is a port on loopback, and a secret that only the user can read. Any
process of the machine can connect to the port, or listen on it after a server died. So neither side
sends anything before the other has proved that it knows the secret, which never travels itself
(challenge and response, HMAC-SHA256, as in RFC 2195 and with both sides asking).
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import socket
import stat
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from localcrag import _platform
from localcrag.errors import WarmError

UNIX = hasattr(socket, "AF_UNIX") and os.name != "nt"
MAX_PATH_BYTES = 100
"""Bytes of a socket's path that every platform takes (macOS 104, Linux 108)."""
MAX_WAITING = 16
"""Connections that may wait to be accepted."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The files of one home's warm process."""

    folder: Path
    name: str

    @property
    def address(self) -> Path:
        """The Unix socket, or the file that holds the port and the secret."""
        return self.folder / (f"{self.name}.sock" if UNIX else f"{self.name}.port")

    @property
    def lock(self) -> Path:
        """Held by the process that serves."""
        return self.folder / f"{self.name}.lock"

    @property
    def log(self) -> Path:
        """What a server that was started in the background printed."""
        return self.folder / f"{self.name}.log"


def endpoint_of(home: Path) -> Endpoint:
    """The runtime folder of the platform if it is there and nobody else's; else a folder below the home."""
    runtime = _platform.runtime_folder()
    folder = runtime if not _weakness(runtime.parent, writing=0o022) else home / "run"
    return Endpoint(folder, f"{zlib.crc32(os.fsencode(home)):08x}")


def refuse_unsafe(folder: Path) -> None:
    """Raises WarmError where another user could get into the folder."""
    if weakness := _weakness(folder):
        raise WarmError(
            f"the warm process may not use {folder}: {weakness}",
            hint="remove the folder, or point XDG_RUNTIME_DIR to one that is yours alone",
        )


def listen(place: Endpoint) -> socket.socket:
    """A socket that only this user's processes can reach, in place of one that was left behind.

    To be called by the holder of ``place.lock``. Raises WarmError.
    """
    try:
        place.address.unlink(missing_ok=True)
        if not UNIX:
            return listen_on_loopback(place.address)
        _refuse_long(place.address)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(place.address))  # nobody else reaches it meanwhile: the folder is 0700
        place.address.chmod(0o600)
        listener.listen(MAX_WAITING)
    except OSError as error:
        raise _cannot_listen(place, error) from error
    return listener


@contextmanager
def claimed(place: Endpoint) -> Iterator[socket.socket | None]:
    """The listening socket of the one process that serves here; None where another does. Raises WarmError."""
    from filelock import FileLock, Timeout

    try:
        place.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        refuse_unsafe(place.folder)
        lock = FileLock(place.lock, mode=0o600)
        lock.acquire(blocking=False)
    except Timeout:
        yield None
        return
    except OSError as error:
        raise _cannot_listen(place, error) from error
    try:
        with listen(place) as listener:
            yield listener
    finally:
        lock.release()


def connect(place: Endpoint, timeout: float) -> socket.socket | None:
    """A connection to the server, or None where none runs.

    Raises WarmError where what listens there is not this user's, TimeoutError where it does not
    accept within ``timeout`` seconds.
    """
    if not place.address.exists():
        return None
    refuse_unsafe(place.folder)
    if not UNIX:
        return connect_to_loopback(place.address, timeout)
    _refuse_long(place.address)
    link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    link.settimeout(timeout)
    try:
        link.connect(str(place.address))
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
        raise WarmError(f"the process at {place.address} is another user's", hint="remove the file")
    return link


def same_user(link: socket.socket) -> bool:
    """Whether the process at the other end of a Unix socket is ours, as the kernel says.

    True where the kernel does not tell; there the permissions of the folder decide alone.
    """
    user = peer(link)
    return user is None or user == os.getuid()


def peer(link: socket.socket) -> int | None:
    """The user id of the process at the other end; None where the kernel does not tell."""
    if hasattr(socket, "SO_PEERCRED"):
        size = struct.calcsize("3i")
        _, user, _ = struct.unpack("3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
        return int(user)
    if hasattr(socket, "LOCAL_PEERCRED"):
        _, user = struct.unpack_from("2I", link.getsockopt(0, socket.LOCAL_PEERCRED, 128))
        return int(user)
    return None


def _weakness(folder: Path, *, writing: int = 0o077) -> str:
    """Why the folder is not safe, "" where it is; ``writing`` are the permissions it must not give."""
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


def _cannot_listen(place: Endpoint, error: OSError) -> WarmError:
    return WarmError(
        f"the warm process cannot listen at {place.address}: {error.strerror or error}",
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
    """A socket on a free port, which is written down with a new secret. Raises OSError."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((LOOPBACK, 0))
    listener.listen()
    scratch = address.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({"port": listener.getsockname()[1], "secret": secrets.token_hex(SECRET_BYTES)}, file)
    scratch.replace(address)
    return listener


def connect_to_loopback(address: Path, timeout: float) -> socket.socket | None:
    """A connection to who knows the secret; None where nobody listens.

    Raises WarmError where somebody else listens, TimeoutError.
    """
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
    """Whether who connected knows the secret that is written down. Raises OSError."""
    known = json.loads(address.read_text("utf-8"))
    return prove(link, bytes.fromhex(known["secret"]), b"server", b"command")


def prove(link: socket.socket, secret: bytes, mine: bytes, theirs: bytes) -> bool:
    """Show that we know the secret, and see whether the other side does; each answers under its own name."""
    challenge = secrets.token_bytes(SECRET_BYTES)
    link.sendall(challenge)
    link.sendall(_response(secret, mine, _exactly(link)))
    return hmac.compare_digest(_exactly(link), _response(secret, theirs, challenge))


def _response(secret: bytes, name: bytes, challenge: bytes) -> bytes:
    return hmac.digest(secret, name + challenge, "sha256")


def _exactly(link: socket.socket) -> bytes:
    """The next SECRET_BYTES bytes, or fewer where the other side is gone."""
    got = b""
    while len(got) < SECRET_BYTES and (more := link.recv(SECRET_BYTES - len(got))):
        got += more
    return got
