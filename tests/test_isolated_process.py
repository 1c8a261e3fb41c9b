"""An isolated process: what its own program holds is not counted as its job's memory."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from localcrag.isolation.isolated_process import IsolatedProcess, JobLost
from localcrag.isolation.message_frames import Budget

MEBIBYTE = 1 << 20
PROGRAM = """if True:
    import sys, time
    sys.path[:] = sys.argv[1:]
    from localcrag.isolation import isolated_program
    held = []

    def take(size):
        taken = b"x" * size
        time.sleep(0.5)
        return len(taken)

    def prepare(size):
        held.append(b"x" * size)
        return take

    isolated_program.run(prepare)
"""


@pytest.fixture
def process() -> Iterator[IsolatedProcess]:
    made = IsolatedProcess(PROGRAM, 300 * MEBIBYTE)
    yield made
    made.close()


@pytest.mark.skipif(sys.platform == "win32", reason="memory is not limited there")
def test_what_the_program_holds_is_not_counted_as_its_jobs(process: IsolatedProcess) -> None:
    budget = Budget(20.0, 200 * MEBIBYTE)
    assert process.ask(100 * MEBIBYTE, budget) == 100 * MEBIBYTE
    with pytest.raises(JobLost, match=r"needs more than 0\.2 GiB of memory"):
        process.ask(400 * MEBIBYTE, budget)
    assert process.ask(100 * MEBIBYTE, budget) == 100 * MEBIBYTE
