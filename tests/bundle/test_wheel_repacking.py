"""Wheels that are made of installed packages."""

from __future__ import annotations

import csv
import os
import zipfile
from collections.abc import Callable
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from localcrag.bundle.package_resolution import InstalledPackages
from localcrag.bundle.wheel_repacking import is_pure, repacked_wheel, wheel_name
from localcrag.errors import BundleError
from tests.bundle.made_packages import EXTRA, LIBRARY, LOCALCRAG, checksum, environment

INFO = "tiny.lib-1.2.dist-info"


@pytest.fixture
def installed(tmp_path: Path) -> InstalledPackages:
    return environment(tmp_path / "env", LOCALCRAG, LIBRARY, EXTRA)


def package(installed: InstalledPackages, name: str) -> Distribution:
    found = installed.find(name)
    assert found
    return found


def test_a_wheel_holds_what_was_installed_and_nothing_of_the_installer(
    installed: InstalledPackages, tmp_path: Path
) -> None:
    wheel = repacked_wheel(package(installed, "tiny-lib"), tmp_path)
    assert wheel.name == "tiny_lib-1.2-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        content = {name: archive.read(name).decode() for name in archive.namelist()}
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
    assert list(content)[-4:] == [
        f"{INFO}/{name}" for name in ("METADATA", "WHEEL", "entry_points.txt", "RECORD")
    ]
    assert list(content)[:-4] == [
        "tiny.lib-1.2.data/data/share/tiny/words.txt",
        "tiny.lib-1.2.data/scripts/tiny-script",
        "tiny/deep, odd/data.bin",
        "tiny/lib.py",
    ]
    assert content["tiny.lib-1.2.data/scripts/tiny-script"] == "#!python\nprint('run')\n"
    assert modes["tiny.lib-1.2.data/scripts/tiny-script"] == 0o755 and modes["tiny/lib.py"] == 0o644
    rows = list(csv.reader(content.pop(f"{INFO}/RECORD").splitlines()))
    assert rows.pop() == [f"{INFO}/RECORD", "", ""]
    assert rows == [[name, checksum(text.encode()), str(len(text))] for name, text in content.items()]


def test_the_starter_of_a_console_script_is_left_out(installed: InstalledPackages, tmp_path: Path) -> None:
    names = zipfile.ZipFile(repacked_wheel(package(installed, "localcrag"), tmp_path)).namelist()
    assert names[:2] == ["localcrag/__init__.py", "localcrag/cli.py"] and not any(
        "bin" in name for name in names
    )


def test_the_same_files_give_the_same_bytes(installed: InstalledPackages, tmp_path: Path) -> None:
    found = package(installed, "tiny-lib")
    (tmp_path / "a").mkdir()
    first = repacked_wheel(found, tmp_path / "a").read_bytes()
    for file in (tmp_path / "env").rglob("*.*"):
        os.utime(file, (1, 1))
    assert repacked_wheel(found, tmp_path).read_bytes() == first


def test_a_package_of_one_platform_keeps_its_tags(installed: InstalledPackages) -> None:
    assert wheel_name(package(installed, "tiny-extra")) == "tiny_extra-2.0+cpu-cp311-cp311-linux_x86_64.whl"
    assert [is_pure(package(installed, name)) for name in ("tiny.lib", "tiny_extra")] == [True, False]


DAMAGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "changed": (lambda site: (site / "tiny/lib.py").write_text("VALUE = 8\n"), "is not as it was installed"),
    "missing": (lambda site: (site / "tiny/lib.py").unlink(), "is missing"),
    "no record": (lambda site: (site / INFO / "RECORD").unlink(), "it has no RECORD of its files"),
    "no checksum": (
        lambda site: (site / INFO / "RECORD").write_text(f"tiny/lib.py,,\n{INFO}/RECORD,,\n"),
        "there is no checksum of tiny/lib.py",
    ),
    "no wheel": (lambda site: (site / INFO / "WHEEL").write_text(""), "it was not installed from a wheel"),
    "elsewhere": (
        lambda site: (site / INFO / "RECORD").write_text(f"../../../../x,sha256=x,1\n{INFO}/RECORD,,\n"),
        "lies outside of its environment",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_package_that_is_not_as_it_was_installed_is_refused(
    installed: InstalledPackages, tmp_path: Path, damage: str
) -> None:
    spoil, reason = DAMAGES[damage]
    spoil(tmp_path / "env/lib/python3/site-packages")
    with pytest.raises(BundleError, match=r"tiny\.lib==1\.2 cannot be packed") as caught:
        repacked_wheel(package(installed, "tiny-lib"), tmp_path)
    assert reason in str(caught.value) and "--wheels" in caught.value.hint
