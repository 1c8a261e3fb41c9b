"""The installer of a bundle, run as somebody runs it in the room: by sh, with a Python that has nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from localcrag.bundle import installer_check

REAL_PYTHON = str(Path(sys.executable).resolve())


def installed(folder: Path, target: Path) -> subprocess.CompletedProcess[str]:
    """Run the installer of an unpacked bundle."""
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(target.parent), "PYTHON": REAL_PYTHON}
    command = ["sh", str(folder / "install.sh"), str(target)]
    return subprocess.run(command, capture_output=True, text=True, env=environment)


def test_it_makes_an_environment_and_asks_localcrag_to_look_around(unpacked: Path, tmp_path: Path) -> None:
    done = installed(unpacked, tmp_path / "env")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:2] == [
        f"called: --offline bundle load {unpacked}", "called: --offline doctor",
    ]  # fmt: skip
    script = subprocess.run([tmp_path / "env/bin/tiny-script"], capture_output=True, text=True, check=True)
    assert script.stdout == "run\n" and (tmp_path / "env/share/tiny/words.txt").read_text() == "a b c\n"
    packages = {path.name for path in (tmp_path / "env").glob("lib/python3*/site-packages/*.dist-info")}
    assert {"localcrag-9.9.dist-info", "tiny.lib-1.2.dist-info"} <= packages
    again = installed(unpacked, tmp_path / "env")
    assert again.returncode == 1 and "exists already" in again.stderr


@pytest.mark.parametrize("harm", ["changed", "missing", "more"])
def test_it_installs_nothing_of_a_bundle_that_is_not_as_it_was_made(
    unpacked: Path, tmp_path: Path, harm: str
) -> None:
    wheel = next((unpacked / "wheels").glob("tiny_lib*"))
    match harm:
        case "changed":
            wheel.write_bytes(wheel.read_bytes()[:-1] + b"?")
        case "missing":
            wheel.unlink()
        case "more":
            wheel.with_name("more.whl").touch()
    done = installed(unpacked, tmp_path / "env")
    named = "more.whl does not belong" if harm == "more" else f"{wheel.name} is "
    assert done.returncode == 1 and named in done.stderr and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "env").exists()


def test_it_says_which_python_and_which_platform_it_needs() -> None:
    target = {"python": "2.7", "system": "Plan 9", "machine": "vax", "tag": ""}
    python, platform = installer_check.platform_problems(target)
    assert "needs Python 2.7" in python and "for Plan 9 on vax" in platform
