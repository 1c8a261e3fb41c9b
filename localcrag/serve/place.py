"""Where the warm process of a home listens, and who may speak to it.

A Unix socket (0600) in a folder of the user's own (0700), and both ends ask the kernel whose process
the other is: SO_PEERCRED on Linux, LOCAL_PEERCRED on macOS and the BSDs. Where there are no Unix
sockets it is a port on loopback, see :mod:`localcrag.serve.loopback`.
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

from localcrag import _platform
from localcrag.errors import WarmError

UNIX = hasattr(socket, "AF_UNIX") and os.name != "nt"
LONGEST = 100
"""Bytes of a socket's path that every platform takes (macOS 104, Linux 108)."""
WAITING = 16
"""Connections that may wait to be accepted."""


@dataclass(frozen=True, slots=True)
class Place:
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


def place_of(home: Path) -> Place:
    """The runtime folder of the platform if it is there and nobody else's; else a folder below the home."""
    runtime = _platform.runtime_folder()
    folder = runtime if not _weakness(runtime.parent, writing=0o022) else home / "run"
    return Place(folder, f"{zlib.crc32(os.fsencode(home)):08x}")


def refuse_unsafe(folder: Path) -> None:
    """Raises WarmError where another user could get into the folder."""
    if weakness := _weakness(folder):
        raise WarmError(
            f"the warm process may not use {folder}: {weakness}",
            hint="remove the folder, or point XDG_RUNTIME_DIR to one that is yours alone",
        )


def listen(place: Place) -> socket.socket:
    """A socket that only this user's processes can reach, in place of one that was left behind.

    To be called by the holder of ``place.lock``. Raises WarmError.
    """
    try:
        place.address.unlink(missing_ok=True)
        if not UNIX:
            from localcrag.serve.loopback import listen_on_loopback

            return listen_on_loopback(place.address)
        _refuse_long(place.address)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(str(place.address))  # nobody else reaches it meanwhile: the folder is 0700
        place.address.chmod(0o600)
        listener.listen(WAITING)
    except OSError as error:
        raise _cannot_listen(place, error) from error
    return listener


@contextmanager
def claimed(place: Place) -> Iterator[socket.socket | None]:
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


def connect(place: Place, timeout: float) -> socket.socket | None:
    """A connection to the server, or None where none runs.

    Raises WarmError where what listens there is not this user's, TimeoutError where it does not
    accept within ``timeout`` seconds.
    """
    if not place.address.exists():
        return None
    refuse_unsafe(place.folder)
    if not UNIX:
        from localcrag.serve.loopback import connect_to_loopback

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


def _cannot_listen(place: Place, error: OSError) -> WarmError:
    return WarmError(
        f"the warm process cannot listen at {place.address}: {error.strerror or error}",
        hint="look at the permissions of that folder",
    )


def _refuse_long(address: Path) -> None:
    if len(os.fsencode(address)) > LONGEST:
        raise WarmError(
            f"{address} is too long for a Unix socket",
            hint="set XDG_RUNTIME_DIR to a folder with a short path that is yours alone",
        )
