"""A real server of llama-cpp-python on loopback, with a small model."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

STARTING_SECONDS = 120.0
CONTEXT = 640
"""Small, since this server computes on all places of the window for every reply with log-probabilities."""


@contextmanager
def running_model_server(model: Path, *options: str) -> Iterator[str]:
    """The address of a server of this model; it gives log-probabilities unless ``options`` say otherwise."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "llama_cpp.server", "--model", str(model), "--port", str(port)]
    command += ["--host", "127.0.0.1", "--n_ctx", str(CONTEXT), "--n_threads", "1", "--verbose", "false"]
    command += ["--interrupt_requests", "false", *(options or ("--logits_all", "true"))]
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    environment = {**os.environ, "NO_PROXY": "*"}
    process = subprocess.Popen(command, env=environment, **silent)  # type: ignore[call-overload]
    try:
        _wait(process, url := f"http://127.0.0.1:{port}")
        yield url
    finally:
        process.terminate()
        process.wait()


def _wait(process: subprocess.Popen[bytes], url: str) -> None:
    """Wait until the server answers."""
    end = time.monotonic() + STARTING_SECONDS
    while process.poll() is None and time.monotonic() < end:
        try:
            urlopen(f"{url}/v1/models", timeout=5).close()
        except (URLError, OSError):
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"llama_cpp.server did not start (exit code {process.poll()})")
