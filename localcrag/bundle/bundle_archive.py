"""The archive of a bundle: a plain tar whose bytes follow from its manifest.

::

    localcrag-bundle/manifest.json        what is in it
                    /manifest.json.sig    the signature of the manifest, if it is signed
                    /…                    the files of the manifest, by path

Owners, times and modes are fixed, so the same files give the same bytes. For the same reason a
reader parses nothing but the first header: it computes from the manifest what every other byte outside of the
files must be, and compares. There is no room for a further member, a link, or a path that leads elsewhere.

The archive is not compressed: wheels are, and weights do not get smaller.
"""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from localcrag.bundle.bundle_manifest import BundleManifest, decoded_manifest
from localcrag.errors import BundleError

TOP_FOLDER = "localcrag-bundle"
"""The folder that a bundle unpacks to."""
MANIFEST_NAME, SIGNATURE_NAME = "manifest.json", "manifest.json.sig"
MAX_MANIFEST_BYTES, MAX_SIGNATURE_BYTES = 64 << 20, 64 << 10
READ_CHUNK_BYTES = 1 << 20
_BLOCK_BYTES, _RECORD_BYTES = tarfile.BLOCKSIZE, tarfile.RECORDSIZE
_PROGRAMS = ("install.sh",)
"""The members that may be executed."""
_AGAIN_HINT = "do not install it; make or fetch it again"

Tell = Callable[[int, int], None]
"""Is told how many bytes of how many are done."""


@dataclass(frozen=True, slots=True)
class VerifiedBundle:
    """A bundle whose every byte was compared: its manifest, and the signature of it, b"" if there is none."""

    manifest: BundleManifest
    signature: bytes


def write_archive(
    file: Path, manifest: BundleManifest, sources: Mapping[str, Path], signature: bytes = b""
) -> None:
    """Write the archive.

    Args:
        file: the archive; an older one is overwritten.
        manifest: its content.
        sources: the place of each file of the manifest.
        signature: the signature of the manifest, or b"".

    Raises OSError, and BundleError if a file is not of the size that the manifest says.
    """
    encoded = manifest.encoded()
    with file.open("wb") as archive:
        _write_small(archive, MANIFEST_NAME, encoded)
        if signature:
            _write_small(archive, SIGNATURE_NAME, signature)
        for item in manifest.files:
            archive.write(_header(item.path, item.bytes))
            with sources[item.path].open("rb") as source:
                written = _copied(source, archive, item.bytes)
            if written != item.bytes:
                raise BundleError(f"{sources[item.path]} was changed meanwhile", hint="try again")
            archive.write(_padding(item.bytes))
        archive.write(bytes(_ending_bytes(archive.tell())))


def verify_archive(file: Path, tell: Tell | None = None) -> VerifiedBundle:
    """Compare every byte of a bundle with its manifest.

    Raises BundleError for a file that is no bundle, is cut off, or is not as its manifest says.
    """
    try:
        size = file.stat().st_size
        with file.open("rb") as archive:
            return _verified(archive, size, tell or (lambda done, total: None))
    except FileNotFoundError as error:
        raise BundleError(f"there is no file {file}", hint="check the spelling of the path") from error
    except OSError as error:
        raise BundleError(f"cannot read {file}: {error.strerror}", hint="check what it is") from error
    except BundleError as error:
        raise BundleError(f"{file.name}: {error}", hint=error.hint) from error


def _verified(archive: BinaryIO, size: int, tell: Tell) -> VerifiedBundle:
    """The bundle in an open archive of ``size`` bytes. Raises BundleError, OSError."""
    encoded = _small_member(archive, MANIFEST_NAME, MAX_MANIFEST_BYTES)
    if encoded is None:
        raise BundleError("this is no bundle of localcrag", hint="`localcrag bundle create FILE` makes one")
    manifest = decoded_manifest(encoded)
    signature = _small_member(archive, SIGNATURE_NAME, MAX_SIGNATURE_BYTES) or b""
    total = archive.tell() + sum(
        len(_header(item.path, item.bytes)) + item.bytes + len(_padding(item.bytes))
        for item in manifest.files
    )
    total += _ending_bytes(total)
    if size < total:
        raise BundleError(f"it is cut off: {size:,} bytes of {total:,}", hint="copy it again")
    if size > total:
        raise BundleError(f"{size - total:,} bytes follow behind its end", hint=_AGAIN_HINT)
    for item in manifest.files:
        header = _header(item.path, item.bytes)
        whole = archive.read(len(header)) == header
        if not whole or _digest(archive, item.bytes) != item.sha256:
            raise BundleError(f"{item.path} is not as the manifest says", hint=_AGAIN_HINT)
        if archive.read(len(_padding(item.bytes))) != _padding(item.bytes):
            raise BundleError(f"something is hidden behind {item.path}", hint=_AGAIN_HINT)
        tell(archive.tell(), total)
    if any(archive.read()):
        raise BundleError("something is hidden behind its last file", hint=_AGAIN_HINT)
    return VerifiedBundle(manifest, signature)


def _small_member(archive: BinaryIO, name: str, most: int) -> bytes | None:
    """The content of the next member if it is exactly one of this name; None, and nothing read, if not."""
    start = archive.tell()
    block = archive.read(_BLOCK_BYTES)
    try:
        found = tarfile.TarInfo.frombuf(block, "ascii", "strict")
    except (tarfile.HeaderError, UnicodeError):
        found = tarfile.TarInfo()
    if 0 <= found.size <= most and block == _header(name, found.size):
        content = archive.read(found.size)
        if len(content) == found.size and archive.read(len(_padding(found.size))) == _padding(found.size):
            return content
    archive.seek(start)
    return None


def _write_small(archive: BinaryIO, name: str, content: bytes) -> None:
    archive.write(_header(name, len(content)) + content + _padding(len(content)))


def _header(path: str, size: int) -> bytes:
    """The header of a member, which is the same for everybody and at all times."""
    info = tarfile.TarInfo(f"{TOP_FOLDER}/{path}")
    info.size, info.mode = size, 0o755 if path in _PROGRAMS else 0o644
    return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "strict")


def _padding(size: int) -> bytes:
    """The zeros between a content of this size and the next header."""
    return bytes(-size % _BLOCK_BYTES)


def _ending_bytes(size: int) -> int:
    """The number of zeros at the end of an archive of this size: two blocks, and the rest of a record."""
    return 2 * _BLOCK_BYTES + -(size + 2 * _BLOCK_BYTES) % _RECORD_BYTES


def _copied(source: BinaryIO, target: BinaryIO, most: int) -> int:
    """Copy a file; returns its bytes, or more than ``most`` as soon as it has more."""
    done = 0
    while done <= most and (chunk := source.read(READ_CHUNK_BYTES)):
        target.write(chunk)
        done += len(chunk)
    return done


def _digest(archive: BinaryIO, size: int) -> str:
    """The hexadecimal sha256 of the next ``size`` bytes."""
    digest, left = hashlib.sha256(), size
    while left and (chunk := archive.read(min(left, READ_CHUNK_BYTES))):
        digest.update(chunk)
        left -= len(chunk)
    return digest.hexdigest()
