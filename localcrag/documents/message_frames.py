"""How the processes that read documents and the one that wants them talk: pickles over pipes.

A frame is eight bytes of length and so many bytes of pickle. Both ends are this program, and the
pipe is theirs alone.
"""

from __future__ import annotations

import pickle
from typing import IO, Any

_LENGTH = 8


def send(stream: IO[bytes], value: object) -> None:
    """Raises OSError where the other end is gone."""
    payload = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    stream.write(len(payload).to_bytes(_LENGTH, "little"))
    stream.write(payload)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Raises EOFError where the other end is gone."""
    size = int.from_bytes(_exactly(stream, _LENGTH), "little")
    return pickle.loads(_exactly(stream, size))


def _exactly(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) < size:
        raise EOFError
    return data
