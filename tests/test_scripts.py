"""``scripts/setup`` on a machine where something is missing: one clear line that says what to install."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ("bash", "cat", "cksum", "dirname", "grep", "sleep", "getconf")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the scripts alone, and a bin folder with little in it."""
    for name in ("scripts/setup", "requirements.lock", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (tmp_path / "bin" / tool).symlink_to(found)
    return tmp_path


def setup(checkout: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": str(checkout / "bin"), "HOME": str(checkout)}
    return subprocess.run(
        [str(checkout / "scripts/setup")], env=environment, capture_output=True, text=True, timeout=240
    )


def test_without_python(checkout: Path) -> None:
    done = setup(checkout)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("setup: needs Python 3.11 or newer")
    assert not (checkout / ".venv").exists()


def test_without_a_compiler(checkout: Path) -> None:
    (checkout / "bin" / "python3").symlink_to(sys.executable)
    done = setup(checkout)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("setup: needs a C++ compiler")


def test_what_is_set_up_is_left_alone(checkout: Path) -> None:
    done = subprocess.run([str(ROOT / "scripts/setup")], capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
