"""The warm process without Unix sockets: a port on loopback, and a secret that only the user can read.

Any process of the machine can connect to the port, or listen on it after a server died. So neither
side sends anything before the other has proved that it knows the secret, which never travels itself
(challenge and response, HMAC-SHA256, as in RFC 2195 and with both sides asking).
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import socket
from pathlib import Path

from localcrag.errors import WarmError

HOST = "127.0.0.1"
SIZE = 32
"""Bytes of the secret, of a challenge, and of a response."""


def listen_on_loopback(address: Path) -> socket.socket:
    """A socket on a free port, which is written down with a new secret. Raises OSError."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind((HOST, 0))
    listener.listen()
    scratch = address.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump({"port": listener.getsockname()[1], "secret": secrets.token_hex(SIZE)}, file)
    scratch.replace(address)
    return listener


def connect_to_loopback(address: Path, timeout: float) -> socket.socket | None:
    """A connection to who knows the secret; None where nobody listens.

    Raises WarmError where somebody else listens, TimeoutError.
    """
    try:
        known = json.loads(address.read_text("utf-8"))
        link = socket.create_connection((HOST, int(known["port"])), timeout)
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
    challenge = secrets.token_bytes(SIZE)
    link.sendall(challenge)
    link.sendall(_response(secret, mine, _exactly(link)))
    return hmac.compare_digest(_exactly(link), _response(secret, theirs, challenge))


def _response(secret: bytes, name: bytes, challenge: bytes) -> bytes:
    return hmac.digest(secret, name + challenge, "sha256")


def _exactly(link: socket.socket) -> bytes:
    """The next SIZE bytes, or fewer where the other side is gone."""
    got = b""
    while len(got) < SIZE and (more := link.recv(SIZE - len(got))):
        got += more
    return got
