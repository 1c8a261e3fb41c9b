"""Wheels made of installed packages, so that a bundle needs neither a network nor a compiler.

An installed package has a RECORD of its files with their checksums. Packed again by it, with what the
installation added left out, the files are the wheel that they came from, under the form of
https://packaging.python.org/en/latest/specifications/binary-distribution-format/. Every file is compared with
its checksum on the way, and the bytes of a wheel depend on nothing but the files.

Left out are compiled bytecode, the installer's notes, and the starters of console scripts, all of which the
next installation makes anew.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import stat
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackagePath
from pathlib import Path

from localcrag.background import check_interruption
from localcrag.errors import BundleError

_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
_READ_CHUNK_BYTES = 1 << 20
_INSTALLER_NOTES = ("RECORD", "RECORD.jws", "RECORD.p7s", "INSTALLER", "REQUESTED", "direct_url.json")
_ALGORITHMS = ("sha256", "sha384", "sha512")


@dataclass(frozen=True, slots=True)
class _WheelEntry:
    """A file of a wheel: its path there, its place on the disk, and its checksum ``algorithm=digest``."""

    path: str
    place: Path
    checksum: str


def repacked_wheel(package: Distribution, folder: Path) -> Path:
    """Pack an installed package into a wheel in ``folder``, and return the wheel.

    Raises BundleError if it was not installed from a wheel, or a file is not as it was installed; OSError.
    """
    info = _info_folder(package)
    entries = sorted(_entries(package, info), key=lambda entry: (entry.path.startswith(info), entry.path))
    wheel = folder / wheel_name(package)
    with zipfile.ZipFile(wheel, "w") as archive:
        lines = [_pack(archive, entry, package) for entry in entries]
        record = "".join(f"{line}\n" for line in (*lines, f"{info}/RECORD,,"))
        archive.writestr(_zip_entry(f"{info}/RECORD", 0o644), record)
    return wheel


def wheel_name(package: Distribution) -> str:
    """The file name of the wheel that an installed package came from. Raises BundleError."""
    lines = (package.read_text("WHEEL") or "").splitlines()
    fields = [(key.strip(), value.strip()) for key, _, value in (line.partition(":") for line in lines)]
    tags = [value.split("-") for key, value in fields if key == "Tag"]
    if not tags or any(len(tag) != 3 for tag in tags):
        raise _not_repackable(package, "it was not installed from a wheel")
    build = [value for key, value in fields if key == "Build"]
    name = re.sub(r"[-_.]+", "_", package.name).lower()
    compressed = [".".join(sorted({tag[place] for tag in tags})) for place in range(3)]
    return "-".join([name, package.version.replace("-", "_"), *build, *compressed]) + ".whl"


def is_pure(package: Distribution) -> bool:
    """Whether an installed package runs on every platform, as its wheel says."""
    try:
        return wheel_name(package).endswith("-none-any.whl")
    except BundleError:
        return False


def _info_folder(package: Distribution) -> str:
    """The name of the ``.dist-info`` folder. Raises BundleError."""
    for path in package.files or ():
        if path.name == "RECORD" and path.parts[0].endswith(".dist-info"):
            return path.parts[0]
    raise _not_repackable(package, "it has no RECORD of its files")


def _entries(package: Distribution, info: str) -> Iterator[_WheelEntry]:
    """The files of the wheel. Raises BundleError."""
    starters = set(_starters(package))
    for path in package.files or ():
        is_note = path.parts[0] == info and path.name in _INSTALLER_NOTES and len(path.parts) == 2
        if is_note or (path.suffix == ".pyc" and "__pycache__" in path.parts):
            continue
        place = Path(os.path.normpath(str(package.locate_file(path))))
        if path.parts[0] != "..":
            inner = path.as_posix()
        elif place.parent.name in ("bin", "Scripts"):
            if place.name in starters or place.stem in starters:
                continue
            inner = f"{_data_folder(info)}/scripts/{place.name}"
        else:
            inner = f"{_data_folder(info)}/data/{_below_prefix(package, place)}"
        yield _WheelEntry(inner, place, _checksum(package, path))


def _starters(package: Distribution) -> Iterator[str]:
    """The names of the console scripts, also with the version of Python that pip appends to its own."""
    for entry in package.entry_points:
        if entry.group in ("console_scripts", "gui_scripts"):
            major, minor = sys.version_info[:2]
            yield from (entry.name, f"{entry.name}{major}", f"{entry.name}{major}.{minor}")


def _data_folder(info: str) -> str:
    return info.removesuffix(".dist-info") + ".data"


def _below_prefix(package: Distribution, place: Path) -> str:
    """The path of a file outside of ``site-packages``, below the environment. Raises BundleError."""
    for prefix in Path(str(package.locate_file(""))).resolve().parents:
        if (prefix / "pyvenv.cfg").is_file() or prefix == Path(sys.prefix):
            if place.resolve().is_relative_to(prefix):
                return place.resolve().relative_to(prefix).as_posix()
            break
    raise _not_repackable(package, f"{place} lies outside of its environment")


def _checksum(package: Distribution, path: PackagePath) -> str:
    """The checksum of a file by the RECORD. Raises BundleError."""
    if path.hash is None or path.hash.mode not in _ALGORITHMS:
        raise _not_repackable(package, f"there is no checksum of {path} in its RECORD")
    return f"{path.hash.mode}={path.hash.value}"


def _pack(archive: zipfile.ZipFile, entry: _WheelEntry, package: Distribution) -> str:
    """Put a file into the wheel, and return its line of the RECORD. Raises BundleError, OSError."""
    algorithm, _, _ = entry.checksum.partition("=")
    digest = hashlib.new(algorithm)
    checksum, size = entry.checksum, 0
    try:
        found = entry.place.stat()
        head = _portable_head(entry)
        info = _zip_entry(entry.path, 0o755 if found.st_mode & stat.S_IXUSR else 0o644)
        info.file_size = found.st_size
        with entry.place.open("rb") as source, archive.open(info, "w") as target:
            packed = hashlib.sha256()
            while chunk := source.read(_READ_CHUNK_BYTES):
                check_interruption()
                digest.update(chunk)
                if head and not size:
                    chunk = head + chunk.partition(b"\n")[2]
                packed.update(chunk)
                size += target.write(chunk)
    except FileNotFoundError as error:
        raise _not_repackable(package, f"{entry.place} is missing") from error
    if _encoded(digest.digest()) != entry.checksum.partition("=")[2].rstrip("="):
        raise _not_repackable(package, f"{entry.place} is not as it was installed")
    if head:
        checksum = f"sha256={_encoded(packed.digest())}"
    quoted = f'"{entry.path}"' if "," in entry.path else entry.path
    return f"{quoted},{checksum},{size}"


def _portable_head(entry: _WheelEntry) -> bytes:
    """The first line that an installer sets to its own Python, for a script of Python; b"" for others."""
    if ".data/scripts/" not in entry.path:
        return b""
    with entry.place.open("rb") as file:
        first = file.readline(1024)
    return b"#!python\n" if first.startswith(b"#!") and b"python" in first else b""


def _zip_entry(path: str, mode: int) -> zipfile.ZipInfo:
    """The entry of a file with a fixed time, and with the given permissions on every system."""
    info = zipfile.ZipInfo(path, _ZIP_TIME)
    info.compress_type, info.create_system = zipfile.ZIP_DEFLATED, 3
    info.external_attr = (stat.S_IFREG | mode) << 16
    return info


def _encoded(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _not_repackable(package: Distribution, reason: str) -> BundleError:
    named = f"{package.name}=={package.version}"
    return BundleError(
        f"{named} cannot be packed: {reason}",
        hint=f"pip install --force-reinstall --no-deps {named} installs it again; --wheels takes its wheel",
    )
