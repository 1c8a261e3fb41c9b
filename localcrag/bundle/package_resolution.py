"""Which Python packages localcrag needs on a platform: its requirements, theirs, and so on.

Where a package comes from is a :class:`PackageSource`; which requirements hold is decided by the markers of
https://packaging.python.org/en/latest/specifications/dependency-specifiers/ for the platform of the bundle.
"""

from __future__ import annotations

import platform
import re
import sysconfig
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from localcrag.bundle.bundle_manifest import BundleTarget
from localcrag.errors import BundleError, UsageError

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_SYSTEMS = {"linux": ("Linux", "linux"), "macosx": ("Darwin", "darwin")}
"""The beginning of a platform tag, and the system as ``platform.system()`` and ``sys.platform`` say it."""
_TAG_PATTERN = re.compile(
    r"(?:many|musl)?(linux|macosx)(?:_?\d+)*_(x86_64|aarch64|arm64|ppc64le|s390x|riscv64)"
)
_EXTRA_PATTERN = re.compile(r"""\bextra\s*==\s*['"]([^'"]+)['"]""")
_PYTHON_PATTERN = re.compile(r"3\.\d{1,2}")


@dataclass(frozen=True, slots=True)
class FoundPackage:
    """A package for the bundle.

    Attributes:
        name: its normalised name.
        version: its version.
        requires: its requirements.
        origin: the wheel, or the installed package that a wheel is made of.
    """

    name: str
    version: str
    requires: tuple[str, ...]
    origin: Path | Distribution


class PackageSource(Protocol):
    """A place that packages for a platform come from."""

    def find(self, requirement: Requirement) -> FoundPackage:
        """The package that meets a requirement. Raises BundleError."""
        ...


def present_target() -> BundleTarget:
    """The platform that this process runs on."""
    tag = re.sub(r"[^a-z0-9_]", "_", sysconfig.get_platform().lower())
    python = ".".join(platform.python_version_tuple()[:2])
    return BundleTarget(platform.system(), platform.machine(), python, tag)


def named_target(tag: str | None, python: str | None) -> BundleTarget:
    """The platform of a tag and a version of Python, each by default the present one. Raises UsageError."""
    here = present_target()
    python = python or here.python
    if not _PYTHON_PATTERN.fullmatch(python):
        raise UsageError(f"{python!r} is no version of Python", hint="give two numbers, such as 3.12")
    if tag is None:
        return BundleTarget(here.system, here.machine, python, here.tag)
    found = _TAG_PATTERN.fullmatch(tag)
    if not found:
        raise UsageError(
            f"{tag!r} is no platform that localcrag runs on",
            hint="give the tag of a wheel, such as manylinux_2_28_x86_64, manylinux_2_28_aarch64 or "
            "macosx_11_0_arm64",
        )
    return BundleTarget(_SYSTEMS[found[1]][0], found[2], python, tag)


def marker_environment(target: BundleTarget) -> Mapping[str, str]:
    """The variables of the markers of requirements on a platform."""
    from packaging.markers import default_environment

    here: dict[str, str] = {name: str(value) for name, value in default_environment().items()}
    if target == present_target():
        return here
    platforms = dict(_SYSTEMS.values())
    return here | {
        "platform_system": target.system,
        "sys_platform": platforms[target.system],
        "platform_machine": target.machine,
        "python_version": target.python,
        "python_full_version": f"{target.python}.0",
    }


def resolved_packages(
    roots: Iterable[str], source: PackageSource, target: BundleTarget
) -> dict[str, FoundPackage]:
    """The packages that meet some requirements, and everything that these need, by normalised name.

    Raises BundleError if one cannot be had.
    """
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    environment = marker_environment(target)
    found: dict[str, FoundPackage] = {}
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(root) for root in roots]
    while waiting:
        requirement = waiting.pop()
        name = str(canonicalize_name(requirement.name))
        if name not in found:
            found[name] = source.find(requirement)
        for extra in {"", *requirement.extras} - {known for where, known in seen if where == name}:
            seen.add((name, extra))
            waiting += applying(found[name].requires, extra, environment)
    return found


def applying(requires: Sequence[str], extra: str, environment: Mapping[str, str]) -> list[Requirement]:
    """The requirements that hold on a platform: those of one extra, or for "" those without any."""
    from packaging.requirements import Requirement

    parsed = [Requirement(text) for text in requires]
    here = dict(environment)
    if not extra:
        return [item for item in parsed if not item.marker or item.marker.evaluate(here | {"extra": ""})]
    return [
        item
        for item in parsed
        if item.marker and item.marker.evaluate(here | {"extra": extra})
        if not item.marker.evaluate(here | {"extra": ""})
    ]


def provided_extras(requires: Sequence[str]) -> list[str]:
    """The extras that requirements are made for, by name."""
    return sorted({name for text in requires for name in _EXTRA_PATTERN.findall(text)})


@dataclass(frozen=True, slots=True)
class InstalledPackages:
    """The packages in some folders of installed packages, by default those of this process."""

    folders: tuple[str, ...] | None = None

    def find(self, name: str) -> Distribution | None:
        """The installed package of this name, or None."""
        if self.folders is None:
            return next(iter(distributions(name=name)), None)
        return next(iter(distributions(name=name, path=list(self.folders))), None)

    def extras(self, requires: Sequence[str], names: Iterable[str]) -> tuple[str, ...]:
        """Those of the extras with these names whose packages are all installed."""
        environment = marker_environment(present_target())
        return tuple(
            name
            for name in names
            if (needed := applying(requires, name, environment))
            if all(self.find(requirement.name) for requirement in needed)
        )


def missing_package(requirement: Requirement) -> BundleError:
    """The error for a package that is not installed."""
    return BundleError(
        f"the package {requirement.name} is needed, and is not installed",
        hint=f"install it: pip install '{requirement}'",
    )
