"""A knowledge base as one file, to be carried elsewhere: a tar archive, compressed with gzip.

Its first member is ``manifest.json``, with the version of the format and the path, size and sha256 of every
other member. So an archive is checked while it is read, in one pass, and before anything of it is used. The
same knowledge base gives the same bytes.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import shutil
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, BinaryIO, Self

from localcrag.errors import ArchiveError, LocalCragError, StorageFull, UsageError
from localcrag.store import checksums
from localcrag.store.kb_copies import content_files, damaged_error, standing_still
from localcrag.store.kb_folders import KnowledgeBaseFolders
from localcrag.store.kb_record import RECORD_FILE, record_in
from localcrag.store.storage_errors import FULL_HINT, storage_errors

FORMAT, FORMAT_VERSION = "localcrag-knowledge-base", 1
MANIFEST = "manifest.json"
MAX_MANIFEST_BYTES = 1 << 26
COMPRESSION_LEVEL = 1
"""Vectors hardly get smaller, and texts do at any level."""
_BLOCK_BYTES, _MAX_NAME_BYTES = 1 << 20, 1 << 12
_PATH = re.compile(r"[a-z-]+\.json|lance(/[^/\\:\0]+)+")
_AGAIN = "copy it again, or make it anew with `localcrag kb export --archive`"


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: its path below the knowledge base, its bytes, and their sha256."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of ``manifest.json``: the name that the knowledge base had, and its files."""

    kb: str
    members: tuple[Member, ...]


# ---------------------------------------------------------------------------------- writing


def write_archive(folders: KnowledgeBaseFolders, name: str, file: Path) -> None:
    """Write a knowledge base to an archive, which only its owner may read.

    Nothing is left of a file that could not be finished. Raises UsageError if there is such a file,
    UnknownKnowledgeBase, DamagedKnowledgeBase if a file is not as it was written, StoreError, StorageFull.
    """
    folder = folders.existing(name)
    if file.is_dir():
        raise UsageError(f"{file} is a folder", hint=f"name a file in it, such as {file / name}.tar.gz")
    if not file.parent.is_dir():
        raise UsageError(f"there is no folder {file.parent}", hint="make it first, or name another one")
    if file.exists():
        raise UsageError(f"there is a file {file} already", hint="choose another name, or delete it first")
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    try:
        with storage_errors(f"write {file}"), standing_still(folder):
            manifest = Manifest(name, tuple(_members(folder)))
            with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as raw:
                _write(raw, folder, manifest)
                raw.flush()
                os.fsync(raw.fileno())
            part.rename(file)
    finally:
        part.unlink(missing_ok=True)


def _members(folder: Path) -> Iterator[Member]:
    """The files of a knowledge base; the sha256 of those with a checksum is the recorded one."""
    record = checksums.recorded(folder)
    known = record.files if record else {}
    for path in content_files(folder):
        if path == checksums.CHECKSUMS_FILE:  # it has times of this machine, and is made anew
            continue
        data = known[path].sha256 if path in known else _sha256(folder / path)
        yield Member(path, (folder / path).stat().st_size, data)


def _write(raw: BinaryIO, folder: Path, manifest: Manifest) -> None:
    """Write all members. Raises DamagedKnowledgeBase if one is not as the manifest says."""
    described = {"format": FORMAT, "version": FORMAT_VERSION, **asdict(manifest)}
    head = json.dumps(described, ensure_ascii=False, indent=1).encode()
    with (
        gzip.GzipFile("", "wb", COMPRESSION_LEVEL, raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|", format=tarfile.GNU_FORMAT) as tar,
    ):
        tar.addfile(_header(MANIFEST, len(head)), BytesIO(head))
        for member in manifest.members:
            with (folder / member.path).open("rb") as stream:
                hashed = _HashedStream(stream)
                tar.addfile(_header(member.path, member.size), hashed)
            if hashed.hexdigest() != member.sha256:
                raise damaged_error(folder.name, f"{member.path} has another content than was written")


def _header(path: str, size: int) -> tarfile.TarInfo:
    header = tarfile.TarInfo(path)
    header.size, header.mode = size, 0o600
    return header


# ---------------------------------------------------------------------------------- reading


def read_archive(folders: KnowledgeBaseFolders, file: Path, name: str | None = None) -> str:
    """Make a knowledge base of an archive; returns its name, by default the one that it had.

    It comes into being whole or not at all. Raises ArchiveError if the file is no archive, is cut off, or
    does not hold what its manifest says; UsageError if there is a knowledge base of that name; StoreError,
    StorageFull.
    """
    if file.is_dir():
        raise UsageError(f"{file} is a folder", hint="name an archive of `localcrag kb export --archive`")
    if not file.is_file():
        raise UsageError(
            f"there is no file {file}", hint="name an archive of `localcrag kb export --archive`"
        )
    if name is not None:
        folders.require_free(name)
    with (
        _archive_errors(file),
        file.open("rb") as raw,
        gzip.GzipFile(fileobj=raw) as packed,
        tarfile.open(fileobj=packed, mode="r|", tarinfo=_PlainHeader) as tar,
    ):
        manifest = _manifest(tar, file)
        named = name or manifest.kb
        with folders.filling(named) as scratch, _archive_errors(file):
            _require_room(manifest, scratch)
            _unpack(tar, manifest, scratch)
            if (
                len(packed.read(_BLOCK_BYTES)) == _BLOCK_BYTES
            ):  # to the end, where gzip's checksum is compared
                raise ArchiveError(f"{file} goes on behind its end", hint=_AGAIN)
            _require_readable(scratch, named)
            checksums.record_files(scratch)
    return named


def _manifest(tar: tarfile.TarFile, file: Path) -> Manifest:
    """The manifest, which is the first member. Raises ArchiveError."""
    first = tar.next()
    stream = tar.extractfile(first) if first and first.isreg() else None
    if first is None or stream is None or first.name != MANIFEST or first.size > MAX_MANIFEST_BYTES:
        raise ArchiveError(f"{file} is no archive of a knowledge base", hint=_AGAIN)
    found = json.loads(stream.read())
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ArchiveError(f"{file} is no archive of a knowledge base", hint=_AGAIN)
    if found["version"] != FORMAT_VERSION:
        raise ArchiveError(
            f"{file} is an archive of version {str(found['version'])[:20]}, and this localcrag reads "
            f"{FORMAT_VERSION}",
            hint="use the localcrag that it was made with, or a newer one",
        )
    members = tuple(Member(str(m["path"]), int(m["size"]), str(m["sha256"])) for m in found["members"])
    for member in members:
        if not _is_inside(member.path) or member.size < 0:
            raise ArchiveError(f"{file} would write to {member.path[:80]!r}", hint="do not use it")
    paths = {member.path for member in members}
    if RECORD_FILE not in paths or len(paths) < len(members):
        raise ArchiveError(f"{file} is no whole archive of a knowledge base", hint=_AGAIN)
    return Manifest(str(found["kb"]), members)


def _is_inside(path: str) -> bool:
    """Whether a path is one of a knowledge base's own files, and leads nowhere else."""
    return bool(_PATH.fullmatch(path)) and not {".", ".."} & set(path.split("/"))


def _require_room(manifest: Manifest, scratch: Path) -> None:
    """Raise StorageFull if the files of an archive do not fit on the disk."""
    if sum(member.size for member in manifest.members) > shutil.disk_usage(scratch).free:
        raise StorageFull("no space left on the device for what is in the archive", hint=FULL_HINT)


def _unpack(tar: tarfile.TarFile, manifest: Manifest, scratch: Path) -> None:
    """Write the members to a folder. Raises ArchiveError if they are not those of the manifest."""
    expected: Mapping[str, Member] = {member.path: member for member in manifest.members}
    done: set[str] = set()
    while header := tar.next():
        member = expected.get(header.name)
        if member is None or header.name in done or not header.isreg() or header.size != member.size:
            raise ArchiveError(f"{header.name[:80]!r} in the archive is not in its manifest", hint=_AGAIN)
        target, stream = scratch / member.path, tar.extractfile(header)
        assert stream is not None  # it is a regular file
        target.parent.mkdir(parents=True, exist_ok=True)
        hashed = _HashedStream(stream)
        with target.open("xb") as out:
            shutil.copyfileobj(hashed, out, _BLOCK_BYTES)
        if hashed.hexdigest() != member.sha256:
            raise ArchiveError(
                f"{member.path} in the archive has another content than was written", hint=_AGAIN
            )
        done.add(header.name)
    if missing := expected.keys() - done:
        raise ArchiveError(f"{len(missing)} files are missing from the archive", hint=_AGAIN)


def _require_readable(folder: Path, name: str) -> None:
    """Raise StoreError or ArchiveError unless a folder is a knowledge base that this localcrag reads."""
    from localcrag.store.source_roots import SourceRootsFile
    from localcrag.store.store_faults import StoreFault, store_faults
    from localcrag.store.tables import Tables

    record = record_in(folder, name)
    try:
        with store_faults():
            SourceRootsFile(folder).current()
            Tables(folder, record.generation).documents.count_rows()
    except (StoreFault, LocalCragError) as error:
        raise ArchiveError("what is in the archive is no whole knowledge base", hint=_AGAIN) from error


@contextmanager
def _archive_errors(file: Path) -> Iterator[None]:
    """Raise the errors of a file that is no whole archive as ArchiveError."""
    try:
        yield
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ArchiveError(f"{file} is no whole archive: {error}", hint=_AGAIN) from error
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise ArchiveError(f"the manifest of {file} cannot be understood", hint=_AGAIN) from error


class _PlainHeader(tarfile.TarInfo):
    """The header of a plain file.

    Links and devices are refused, and so are extensions, which tarfile would read into memory.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        """The header in a block of 512 bytes. Raises ReadError."""
        found = super().frombuf(buf, encoding, errors)
        is_name = found.type == tarfile.GNUTYPE_LONGNAME and found.size <= _MAX_NAME_BYTES
        if not (found.isreg() or is_name):
            raise tarfile.ReadError("it holds something else than files")
        return found


class _HashedStream:
    """A stream of which every byte that is read is counted in a sha256."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream, self._digest = stream, hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes."""
        data = self._stream.read(size)
        self._digest.update(data)
        return data

    def hexdigest(self) -> str:
        """The sha256 of what was read."""
        return self._digest.hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
