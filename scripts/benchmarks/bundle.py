"""A bundle: how large, how long to make, and whether it works in a room without any network.

The room is a network namespace of its own (``unshare -rn``), in which there is no interface but a loopback
that is down, with a home and an environment that are made there. If the system does not allow one, that is
said, and nothing is installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from benchmarks.material import run, tool
from benchmarks.report import Figure, Report, Room

LEAFLET = "The usual dose of Zeldrine is 35 mg once a day. It is made in Porto."
QUESTION, WANTED = "What is the usual dose of Zeldrine?", "35 mg"
_ENTER = ("unshare", "-rn")
_INTERFACES = "import socket; print(' '.join(name for _, name in socket.if_nameindex()))"


@dataclass(frozen=True, slots=True)
class Made:
    """A command that was run: its wall seconds and standard output."""

    seconds: float
    out: str


def measure(room: Room) -> Report:
    home, leaflet = room.scratch / "home", room.scratch / "leaflet.txt"
    leaflet.write_text(LEAFLET, "utf-8")
    run(home, "ingest", str(leaflet), "--kb", "papers")
    file = room.scratch / "one.tar"
    made = timed([*tool(home, "bundle", "create", str(file), "--kb", "papers")])
    verified = timed(tool(home, "bundle", "verify", str(file)))
    figures = [
        Figure("bundle, size", file.stat().st_size / 1e6, "MB"),
        Figure("bundle create", made.seconds, "s"),
        Figure("bundle verify", verified.seconds, "s"),
        *carried(room.scratch / "room", file),
    ]
    if not room.quick:
        again = room.scratch / "again.tar"
        timed(tool(home, "bundle", "create", str(again), "--kb", "papers"))
        same = subprocess.run(["cmp", "-s", file, again], check=False).returncode == 0
        figures.append(Figure("made again, the same bytes", same, "of 1", "1"))
    figures.append(Figure("one changed byte, refused", refused(home, file), "of 1", "1"))
    return Report(tuple(figures))


def carried(room: Path, file: Path) -> Iterator[Figure]:
    """The figures of a bundle that is unpacked, installed and asked without a network."""
    room.mkdir()
    if not shutil.which("unshare") or subprocess.run([*_ENTER, "true"], check=False).returncode:
        print("bench: no network namespace can be made here, so nothing is installed", file=sys.stderr)
        return
    python = os.path.realpath(sys.executable)
    interfaces = timed([*_ENTER, python, "-c", _INTERFACES]).out.split()
    yield Figure("interfaces in the room", len(interfaces), ", ".join(interfaces), "1")
    with tarfile.open(file) as archive:
        archive.extractall(room, filter="data")
    environment = {"PATH": os.environ["PATH"], "HOME": str(room), "PYTHON": python}
    installer = ["sh", str(room / "localcrag-bundle/install.sh"), str(room / "env")]
    installed = timed([*_ENTER, *installer], environment)
    yield Figure("install.sh with doctor, without a network", installed.seconds, "s")
    ask = [str(room / "env/bin/localcrag"), "ask", "--quiet", "--kb", "papers", QUESTION]
    answer = timed([*_ENTER, *ask], environment)
    yield Figure("first answer there", answer.seconds, "s")
    yield Figure("the answer is right", WANTED in answer.out, "of 1", "1")


def refused(home: Path, file: Path) -> bool:
    """Whether the bundle is refused after one byte in its middle was changed."""
    with file.open("r+b") as archive:
        archive.seek(file.stat().st_size // 2)
        byte = archive.read(1)[0]
        archive.seek(-1, os.SEEK_CUR)
        archive.write(bytes([byte ^ 1]))
    return subprocess.run(tool(home, "bundle", "verify", str(file)), check=False).returncode == 1


def timed(command: list[str], environment: dict[str, str] | None = None) -> Made:
    """Run a command, which has to succeed; what it says on stderr is shown."""
    began = perf_counter()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=True)
    return Made(perf_counter() - began, done.stdout)
