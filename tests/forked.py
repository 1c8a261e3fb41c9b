"""Python programs in processes of their own that have imported everything before they begin.

Most of the time of a short program goes into importing LanceDB. So one process imports it once and does
nothing with it, and each program is a fork of that one (:mod:`multiprocessing`'s fork server): a real
process, with standard streams, variables and a folder of its own, that can be killed like any other.
"""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import ForkServerProcess
from multiprocessing.reduction import DupFd
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[1]
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.forked_imports"])


class Forked:
    """What :class:`subprocess.Popen` is for a command ``[sys.executable, *program]``, with text in its pipes.

    ``program`` is what follows the interpreter: ``-m MODULE``, ``-c CODE`` or a file, and its arguments.
    ``input`` is all of its standard input. ``pipe`` is how many bytes it can print that nobody has read.
    """

    def __init__(
        self,
        program: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        input: str = "",
        pipe: int = 65536,
    ) -> None:
        self.args = program
        (read_out, write_out), (read_err, write_err) = os.pipe(), os.pipe()
        if hasattr(fcntl, "F_SETPIPE_SZ"):
            fcntl.fcntl(write_out, fcntl.F_SETPIPE_SZ, pipe)
        with tempfile.TemporaryFile() as given:
            given.write(input.encode())
            given.seek(0)
            read_in = os.dup(given.fileno())
        theirs = (read_in, write_out, write_err)
        self.stdout: IO[str] = os.fdopen(read_out, encoding="utf-8")
        self.stderr: IO[str] = os.fdopen(read_err, encoding="utf-8")
        environment = dict(os.environ if env is None else env)
        streams = tuple(_Descriptor(number) for number in theirs)
        self._process: ForkServerProcess = _CONTEXT.Process(
            target=_run,
            args=(tuple(program), environment, str(cwd or Path.cwd()), streams, _processors()),
        )
        self._process.start()
        for number in theirs:
            os.close(number)

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def poll(self) -> int | None:
        """The exit code, negative for a signal; None while it runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, once it has ended. Raises TimeoutExpired."""
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(list(self.args), timeout or 0.0)
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Read both outputs to their end. Raises TimeoutExpired."""
        with ThreadPoolExecutor(2) as pool:
            streams = [pool.submit(_rest, stream) for stream in (self.stdout, self.stderr)]
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            out, err = (stream.result() for stream in streams)
        return out, err

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def completed(
    program: Sequence[str],
    *,
    input: str = "",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """What :func:`subprocess.run` is for such a command, with its output as text."""
    process = Forked(program, env, cwd, input)
    out, err = process.communicate(timeout)
    return subprocess.CompletedProcess(list(program), process.wait(), out, err)


class _Descriptor:
    """A file descriptor of the parent, which the child gets a copy of."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __reduce__(self) -> tuple[Any, ...]:
        return (_detached, (DupFd(self.number),))


def _detached(copy: Any) -> int:
    number: int = copy.detach()
    return number


def _rest(stream: IO[str]) -> str:
    return "" if stream.closed else stream.read()


def _processors() -> set[int]:
    """The processors that this thread, and so a child of it, may run on; none where that cannot be said."""
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()


def _run(
    program: Sequence[str],
    environment: dict[str, str],
    folder: str,
    streams: Sequence[int],
    processors: set[int],
) -> None:
    """Be the program: its streams, its variables, its folder, and Ctrl-C as a terminal's program has it."""
    if processors:
        os.sched_setaffinity(0, processors)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, encoding="utf-8", closefd=False)  # noqa: SIM115 - the standard streams
        for number, mode in ((0, "r"), (1, "w"), (2, "w"))
    )
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.resetwarnings()
    warnings.simplefilter("ignore")
    kind, *rest = program
    sys.path[:0] = [str(ROOT)]
    if kind == "-m":
        sys.argv = rest
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = list(program)
        runpy.run_path(kind, run_name="__main__")
