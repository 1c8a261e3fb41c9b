"""Commands of localcrag as users start them: ``python -m localcrag`` in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from torturing.campaign import Broken
from torturing.forked import MAX_SECONDS, Ended

ROOT = Path(__file__).resolve().parents[2]
_HASHING = "from torturing.forked import preload; preload(); "
_MAIN = "import sys; from localcrag.cli.main import main; sys.exit(main())"


@dataclass
class Started:
    """A command in a process of its own, and the files of its output."""

    process: subprocess.Popen[bytes]
    out: Path
    err: Path
    began: float = field(default_factory=time.monotonic)

    def kill_after(self, seconds: float) -> bool:
        """Kill it with SIGKILL so many seconds after its start; returns False if it ended before."""
        try:
            self.process.wait(max(0.0, self.began + seconds - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            return True
        return False

    def wait(self, seconds: float = MAX_SECONDS) -> Ended:
        """Wait for the end. Raises Broken if it takes longer; it is killed then."""
        try:
            code = self.process.wait(max(0.0, self.began + seconds - time.monotonic()))
        except subprocess.TimeoutExpired as error:
            self.process.kill()
            self.process.wait()
            raise Broken(f"it did not end within {seconds:.0f} s") from error
        out, err = (path.read_text("utf-8", "replace") for path in (self.out, self.err))
        return Ended(code, out, err, time.monotonic() - self.began)


def start(
    home: Path,
    *arguments: str,
    stdin: str = "",
    environment: Mapping[str, str] | None = None,
    hashing: bool = False,
    name: str = "command",
) -> Started:
    """Start a command; with ``hashing`` the embedder of the forked commands takes the model's place."""
    folder = home.parent
    out, err, given = (folder / f"{name}.{kind}" for kind in ("out", "err", "in"))
    given.write_text(stdin, "utf-8")
    program = ["-c", _HASHING + _MAIN] if hashing else ["-m", "localcrag"]
    variables = {key: value for key, value in os.environ.items() if not key.startswith("LOCALCRAG_")}
    variables |= {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "scripts"), str(ROOT), variables.get("PYTHONPATH", "")]),
        "COLUMNS": "200",
        **(environment or {}),
    }
    with given.open("rb") as stdin_file, out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, *program, "--home", str(home), *arguments],
            stdin=stdin_file,
            stdout=stdout,
            stderr=stderr,
            env=variables,
        )
    return Started(process, out, err)


def run(home: Path, *arguments: str, stdin: str = "", environment: Mapping[str, str] | None = None) -> Ended:
    """Run a command to its end."""
    return start(home, *arguments, stdin=stdin, environment=environment).wait()
