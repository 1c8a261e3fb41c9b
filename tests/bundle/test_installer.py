"""The installer of a bundle, run as somebody runs it in the room: by sh, with a Python that has nothing."""

from __future__ import annotations

import shutil
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


@pytest.mark.parametrize("wheel", ["localcrag", "pip"])
def test_an_installation_that_fails_half_way_leaves_nothing_and_can_be_made_again(
    unpacked: Path, tmp_path: Path, wheel: str
) -> None:
    """The wheel is spoilt after the check, as by a disk that fills up."""
    check = unpacked / "check.py"
    before, file = check.read_bytes(), next((unpacked / "wheels").glob(f"{wheel}-*"))
    whole = file.read_bytes()
    check.write_text("")
    file.write_bytes(b"")
    done = installed(unpacked, tmp_path / "env")
    assert done.returncode and f"nothing is left of {tmp_path / 'env'}" in done.stderr.splitlines()[-1]
    assert not (tmp_path / "env").exists()
    check.write_bytes(before)
    file.write_bytes(whole)
    assert installed(unpacked, tmp_path / "env").returncode == 0


def test_a_bundle_of_which_much_is_missing_is_refused_in_some_lines(
    unpacked: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(unpacked / "manual")
    assert installer_check.main(str(unpacked)) == 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == installer_check.MAX_SHOWN_PROBLEMS + 1
    assert lines[0].endswith("is missing") and lines[-1].endswith(" more")


@pytest.mark.parametrize("content", [None, b"", b"{}", b'{"target": 1}'])
def test_a_manifest_that_cannot_be_read_is_one_line(
    unpacked: Path, capsys: pytest.CaptureFixture[str], content: bytes | None
) -> None:
    manifest = unpacked / "manifest.json"
    manifest.unlink()
    if content is not None:
        manifest.write_bytes(content)
    assert installer_check.main(str(unpacked)) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert "manifest.json cannot be" in line


def test_ctrl_c_during_the_check_is_no_traceback(unpacked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(path: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(installer_check, "sha256", interrupted)
    assert installer_check.main(str(unpacked)) == 130


def test_it_says_which_python_and_which_platform_it_needs() -> None:
    target = {"python": "2.7", "system": "Plan 9", "machine": "vax", "tag": ""}
    python, platform = installer_check.platform_problems(target)
    assert "needs Python 2.7" in python and "for Plan 9 on vax" in platform
