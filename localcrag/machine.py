"""What of the machine this process may use."""

from __future__ import annotations

import os


def cores() -> int:
    """The processors it may run on, at least 1: fewer than the machine has where a container says so."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
