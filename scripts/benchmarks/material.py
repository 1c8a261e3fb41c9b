"""The text that every installation has, and whole commands in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

QUESTION = "How is a context manager closed when an error is raised?"


def texts(limit: int) -> Iterator[tuple[str, str]]:
    """(name, text) of modules of the standard library, in a fixed order, about ``limit`` characters."""
    taken = 0
    for path in sorted(Path(os.__file__).parent.glob("*.py")):
        text = path.read_text("utf-8", errors="replace")
        yield path.stem, text
        taken += len(text)
        if taken >= limit:
            return


def corpus(folder: Path, characters: int, copies: int = 1) -> Path:
    """A folder of text files; copies differ in their first line, so that none is a duplicate."""
    folder.mkdir(parents=True)
    for copy in range(copies):
        for name, text in texts(characters):
            (folder / f"{name}-{copy}.txt").write_text(f"copy {copy}\n{text}", "utf-8")
    return folder


def run(home: Path, *arguments: str) -> None:
    """One command of the tool, in a process of its own."""
    subprocess.run(tool(home, *arguments), capture_output=True, text=True, check=True)


def measured(home: Path, *arguments: str) -> tuple[str, float, float]:
    """stdout, wall seconds and peak memory in MiB of one command in a process of its own.

    A process in between waits for it alone, so that the peak is that command's and no other's.
    """
    program = (
        "import resource, subprocess, sys;"
        "done = subprocess.run(sys.argv[1:], stdout=sys.stdout, stderr=subprocess.DEVNULL);"
        "sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))"
    )
    command = [sys.executable, "-c", program, *tool(home, *arguments)]
    started = perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout, perf_counter() - started, int(done.stderr) / 1024


def tool(home: Path, *arguments: str) -> list[str]:
    """The command line of the tool, offline and with a home of its own."""
    program = str(Path(sys.executable).with_name("localcrag"))
    return [program, "--home", str(home), "--offline", *arguments]
