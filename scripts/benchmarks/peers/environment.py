"""The peers' own environment: made once, from pinned versions, and left alone afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).parents[1] / "peers-requirements.txt"


def python(cache: Path, *, make: bool) -> Path | None:
    """The interpreter that has the peers, in ``cache/peers-venv``; None where it is not to be made.

    Making it compiles llama-cpp-python with the flags of ``scripts/setup``, unless pip has kept the
    wheel from there: then it is a matter of a minute. Raises CalledProcessError where pip fails.
    """
    folder = cache / "peers-venv"
    found, stamp = folder / "bin" / "python", folder / ".installed"
    wanted = REQUIREMENTS.read_text("utf-8")
    if stamp.exists() and stamp.read_text("utf-8") == wanted:
        return found
    if not make:
        return None
    print(
        "bench: making the peers' environment (.cache/peers-venv): a minute, or up to 15 where llama.cpp "
        "has to be compiled",
        file=sys.stderr,
    )
    if not found.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    cores = str(os.cpu_count() or 1)
    flags = {"CMAKE_ARGS": "-DLLAVA_BUILD=OFF", "CMAKE_BUILD_PARALLEL_LEVEL": cores}
    pip = [
        str(found),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--progress-bar",
        "off",
    ]
    subprocess.run(
        [*pip, "-r", str(REQUIREMENTS)], check=True, env={**flags, **os.environ}, stdout=sys.stderr
    )
    stamp.write_text(wanted, "utf-8")
    return found
