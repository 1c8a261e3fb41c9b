"""Native code with less memory, unless the user has tuned it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

HEAPS = """
import ctypes, os, sys, tempfile, threading
from localcrag.store import native_memory
if sys.argv[1:] == ["bounded"]:
    native_memory.limit_heaps()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
ready = threading.Barrier(33)
def allocate():
    kept = [libc.malloc(1000) for _ in range(100)]
    ready.wait(); ready.wait()
threads = [threading.Thread(target=allocate) for _ in range(32)]
for thread in threads: thread.start()
ready.wait()
with tempfile.NamedTemporaryFile() as place:
    stream = ctypes.c_void_p(libc.fopen(place.name.encode(), b"w"))
    libc.malloc_info(0, stream); libc.fclose(stream)
    print(place.read().decode().count("<heap nr"))
ready.wait()
"""


def run(program: str, *arguments: str, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, env=kept | environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.skipif(sys.platform != "linux", reason="the GNU C library's heaps")
def test_many_threads_share_a_heap_a_core() -> None:
    most = max(2, len(os.sched_getaffinity(0)))
    assert int(run(HEAPS)) > most
    assert int(run(HEAPS, "bounded")) <= most


@pytest.mark.skipif(sys.platform != "linux", reason="the GNU C library's heaps")
def test_heaps_that_the_user_has_tuned_stay_as_they_are() -> None:
    most = max(2, len(os.sched_getaffinity(0)))
    assert int(run(HEAPS, "bounded", MALLOC_ARENA_MAX="8")) > most


FREED = """
import ctypes, os
from localcrag.store import native_memory
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
held = [libc.malloc(10_000) for _ in range(5_000)]
for place in held: ctypes.memset(ctypes.c_void_p(place), 1, 10_000)
for place in held[:-1]: libc.free(ctypes.c_void_p(place))  # the last one keeps the top of the heap
before = resident()
native_memory.trim()
print((before - resident()) // 1024**2)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the GNU C library's heaps")
def test_what_was_freed_goes_back_to_the_system() -> None:
    assert int(run(FREED)) >= 40


DEFERRED = """
from pydantic import BaseModel
from localcrag.store import native_memory
with native_memory.defer_validators():
    class Inside(BaseModel):
        number: int
class Outside(BaseModel):
    number: int
print(Inside.__pydantic_complete__, Outside.__pydantic_complete__, Inside(number="1").number)
"""


def test_validators_are_deferred_within_the_block_alone() -> None:
    assert run(DEFERRED) == "False True 1"


OVERRIDES = """
from localcrag.store import native_memory, tables
from lancedb.db import LanceDBConnection
from overrides import override
class Base:
    def read(self, name: str) -> str: ...
try:
    class Other(Base):
        @override
        def read(self) -> str: ...
except TypeError:
    print(type(LanceDBConnection).__name__, "checked")
"""


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="lancedb does without")
def test_signatures_are_compared_outside_of_lancedb_alone() -> None:
    assert run(OVERRIDES) == "type checked"
