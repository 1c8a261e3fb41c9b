"""The messages between a process and its parent: pickles over pipes.

A frame is the length of the pickle as eight bytes, little-endian, followed by the pickle. Unpickling is
safe here because both ends are this program and nobody else has the pipe.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import IO, Any

_LENGTH_BYTES = 8


@dataclass(frozen=True, slots=True)
class Budget:
    """What a job may use: ``seconds`` of processor time, and bytes of ``memory``."""

    seconds: float
    memory: int


@dataclass(frozen=True, slots=True)
class MoreTime:
    """The message that a job, before its answer, was given more time: ``seconds`` of processor time."""

    seconds: float


def send(stream: IO[bytes], value: object) -> None:
    """Write ``value`` as one frame. Raises OSError if the other end is closed."""
    payload = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    rest = memoryview(len(payload).to_bytes(_LENGTH_BYTES, "little") + payload)
    while rest:  # a pipe without a buffer takes a part
        rest = rest[stream.write(rest) :]
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """The value of the next frame. Raises EOFError if the other end is closed."""
    size = int.from_bytes(_exactly(stream, _LENGTH_BYTES), "little")
    return pickle.loads(_exactly(stream, size))


def _exactly(stream: IO[bytes], size: int) -> bytes:
    parts = []
    while size:  # a pipe without a buffer gives what is there
        if not (part := stream.read(size)):
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)
