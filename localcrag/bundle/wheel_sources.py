"""Where the wheels of a bundle come from.

For this platform they are made of the installed packages, with the llama.cpp that was compiled here; no
network is needed. For another platform, packages of pure Python are made in the same way, and pip downloads
the others. A folder with further wheels comes first in both.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass, field
from email.parser import BytesHeaderParser
from importlib.metadata import Distribution
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import url2pathname

from localcrag.bundle.bundle_manifest import BundleTarget
from localcrag.bundle.package_resolution import FoundPackage, InstalledPackages, missing_package
from localcrag.bundle.wheel_repacking import is_pure, repacked_wheel
from localcrag.errors import BundleError

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_FIXED_TIME = "315532800"
"""The time that a build takes for now, in seconds since 1970: the first of 1980, when ZIP files begin."""
_LIBC_TAG = re.compile(r"(?P<libc>many|musl)linux_(?P<major>\d)_(?P<minor>\d{1,2})_(?P<machine>\w+)")
_NAMED_LIBC = {"manylinux2014": 17, "manylinux2010": 12, "manylinux1": 5}
"""The older names of tags, with the version of glibc 2 that each means."""
_NO_INDEX_SIGNS = ("NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ProxyError")


@dataclass(frozen=True, slots=True)
class GivenWheels:
    """The wheels in a folder of the user's, which may be None."""

    folder: Path | None

    def find(self, requirement: Requirement, target: BundleTarget, *, native: bool) -> FoundPackage | None:
        """The newest wheel in the folder that meets a requirement and runs on the platform, or None."""
        from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

        fitting = []
        for path in sorted(self.folder.glob("*.whl")) if self.folder else ():
            try:
                name, version, _, tags = parse_wheel_filename(path.name)
            except InvalidWheelFilename:
                continue
            platforms = {tag.platform for tag in tags}
            runs = native or any(part == "any" or _runs_on(part, target) for part in platforms)
            if (
                name == canonicalize_name(requirement.name)
                and runs
                and requirement.specifier.contains(version)
            ):
                fitting.append((version, path))
        return wheel_package(max(fitting)[1]) if fitting else None


@dataclass(frozen=True, slots=True)
class NativePackages:
    """The packages that are installed here, for a bundle of this platform."""

    installed: InstalledPackages
    given: GivenWheels
    target: BundleTarget

    def find(self, requirement: Requirement) -> FoundPackage:
        """The wheel that was given, or the installed package. Raises BundleError."""
        if given := self.given.find(requirement, self.target, native=True):
            return given
        package = self.installed.find(requirement.name)
        if package is None:
            raise missing_package(requirement)
        return installed_package(package)


@dataclass(slots=True)
class ForeignPackages:
    """Packages for another platform: given, made of pure Python that is installed here, or downloaded.

    Attributes:
        installed: the packages that are installed here; downloads are of their versions.
        given: further wheels.
        target: the platform.
        folder: the folder for downloads.
        offline: reach no package index.
        missing: is filled with the packages that have no wheel for the platform.
    """

    installed: InstalledPackages
    given: GivenWheels
    target: BundleTarget
    folder: Path
    offline: bool
    missing: list[str] = field(default_factory=list)

    def find(self, requirement: Requirement) -> FoundPackage:
        """The package that meets a requirement; one without a wheel is kept in ``missing``."""
        if given := self.given.find(requirement, self.target, native=False):
            return given
        here = self.installed.find(requirement.name)
        if here and is_pure(here) and _allows(here.metadata.json.get("requires_python"), self.target.python):
            return installed_package(here)
        wanted = str(requirement.name)
        if here:
            wanted += f"=={here.version.partition('+')[0]}"
        elif requirement.specifier:
            wanted += str(requirement.specifier)
        if wheel := self._downloaded(wanted):
            return wheel_package(wheel)
        self.missing.append(wanted)
        requires = tuple(here.requires or ()) if here else ()
        return FoundPackage(requirement.name, here.version if here else "", requires, Path())

    def require_complete(self) -> None:
        """Raise BundleError if a package has no wheel for the platform."""
        if self.missing:
            where = f"{self.target.tag} and Python {self.target.python}"
            searched = "the folder of wheels" if self.offline else "the package index"
            raise BundleError(
                f"{searched} has no wheel for {where} of {', '.join(sorted(self.missing))}",
                hint="make them on such a machine with `pip wheel NAME`, and give their folder with --wheels",
            )

    def _downloaded(self, wanted: str) -> Path | None:
        """The wheel that pip downloads; None if there is none. Raises BundleError."""
        if self.offline:
            return None
        before = set(self.folder.iterdir())
        options = ["--only-binary=:all:", "--no-deps", "--retries", "1", "--dest", str(self.folder)]
        platforms = [f"--platform={tag}" for tag in accepted_tags(self.target.tag)]
        python = ["--python-version", self.target.python, "--implementation", "cp"]
        done = _pip("download", *options, *platforms, *python, wanted)
        if done.returncode == 0:
            return next(iter(set(self.folder.iterdir()) - before), None)
        if any(sign in done.stderr for sign in _NO_INDEX_SIGNS):
            raise BundleError(
                f"the package index cannot be reached for {wanted}",
                hint="check the network and pip's settings",
            )
        return None


def installed_package(package: Distribution) -> FoundPackage:
    """An installed package, of which a wheel will be made."""
    from packaging.utils import canonicalize_name

    name = str(canonicalize_name(package.name))
    return FoundPackage(name, package.version, tuple(package.requires or ()), package)


def wheel_package(wheel: Path) -> FoundPackage:
    """The package in a wheel. Raises BundleError if it is none."""
    from packaging.utils import canonicalize_name

    try:
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            fields = BytesHeaderParser().parsebytes(archive.read(name))
    except (OSError, zipfile.BadZipFile, StopIteration) as error:
        raise BundleError(f"{wheel} is no wheel", hint="make it again with pip wheel") from error
    requires = tuple(map(str, fields.get_all("Requires-Dist", ())))
    return FoundPackage(str(canonicalize_name(str(fields["Name"]))), str(fields["Version"]), requires, wheel)


def unpacked_bytes(package: FoundPackage) -> int:
    """The bytes of a package, or of its wheel: a measure of the work to pack it."""
    if isinstance(package.origin, Path):
        return package.origin.stat().st_size
    return sum(file.size or 0 for file in package.origin.files or ())


def packed(package: FoundPackage, folder: Path) -> Path:
    """The wheel of a package, in ``folder``. Raises BundleError, OSError."""
    if isinstance(package.origin, Path):
        wheel = folder / package.origin.name
        if package.origin != wheel:
            shutil.copyfile(package.origin, wheel)
        return wheel
    source = editable_source(package.origin)
    return built_wheel(source, folder) if source else repacked_wheel(package.origin, folder)


def editable_source(package: Distribution) -> Path | None:
    """The folder of the sources of a package that is installed as editable; None for others."""
    try:
        found = json.loads(package.read_text("direct_url.json") or "{}")
        editable, url = found["dir_info"]["editable"], urlsplit(found["url"])
    except (ValueError, LookupError, TypeError):
        return None
    return Path(url2pathname(url.path)) if editable and url.scheme == "file" else None


def built_wheel(source: Path, folder: Path) -> Path:
    """The wheel that pip builds of sources, with the build tools that are installed. Raises BundleError."""
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        options = ["--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", scratch]
        done = _pip("wheel", *options, str(source))
        if done.returncode:
            said = [line for line in done.stderr.splitlines() if line.strip()] or ["pip says nothing"]
            raise BundleError(
                f"no wheel can be built of {source}: {said[-1].strip()[:200]}",
                hint="install its build tools (pip install hatchling), or give its wheel with --wheels",
            )
        [wheel] = Path(scratch).glob("*.whl")
        return wheel.rename(folder / wheel.name)


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run pip, as it is installed beside localcrag. Raises BundleError if it is not."""
    environment = os.environ | {"SOURCE_DATE_EPOCH": _FIXED_TIME, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    command = [sys.executable, "-m", "pip", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    if done.returncode and "No module named pip" in done.stderr:
        raise BundleError("pip is not installed", hint=f"install it: {sys.executable} -m ensurepip")
    return done


def accepted_tags(tag: str) -> list[str]:
    """The platform tags whose wheels run where those of a tag do, that tag first.

    A wheel for an older C library runs with a newer one (PEP 600, PEP 656), which pip does not know of a
    platform that it is not on; of older versions of macOS it does.
    """
    found = _LIBC_TAG.fullmatch(tag)
    if not found:
        return [tag]
    libc, major, newest, machine = found["libc"], found["major"], int(found["minor"]), found["machine"]
    older = [f"{libc}linux_{major}_{minor}_{machine}" for minor in range(newest, -1, -1)]
    if libc == "many":
        older += [f"{name}_{machine}" for name, minor in _NAMED_LIBC.items() if minor <= newest]
    return older


def _runs_on(platform_tag: str, target: BundleTarget) -> bool:
    """Whether a wheel of this platform tag may run on a target: the same system and processor type."""
    system = "linux" if target.system == "Linux" else "macosx"
    return system in platform_tag and platform_tag.endswith((target.machine, "universal2"))


def _allows(requires_python: object, python: str) -> bool:
    """Whether a package's demand on Python, such as ">=3.9", holds for a version."""
    from packaging.specifiers import SpecifierSet

    return not requires_python or SpecifierSet(str(requires_python)).contains(f"{python}.0")
