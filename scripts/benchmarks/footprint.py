"""The memory of a process and of all its descendants together, while it runs."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

LOOK = 0.05


def peak(command: Sequence[str]) -> tuple[str, float, float]:
    """stdout, seconds, and the largest sum of resident memory in MiB, looked at twenty times a second.

    Linux only (it reads /proc); what processes share is counted in each. Raises CalledProcessError.
    """
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=sys.stderr, text=True)
    most = 0
    while process.poll() is None:
        most = max(most, _resident(process.pid))
        time.sleep(LOOK)
    out, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return out, time.perf_counter() - started, most / 1024


def _resident(pid: int) -> int:
    """KiB of a process and its descendants; 0 for one that is gone."""
    own = [line for line in _lines(Path(f"/proc/{pid}/status")) if line.startswith("VmRSS:")]
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    children = [int(child) for task in tasks for line in _lines(task) for child in line.split()]
    return sum(int(line.split()[1]) for line in own) + sum(map(_resident, children))


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:  # it ended meanwhile
        return []
