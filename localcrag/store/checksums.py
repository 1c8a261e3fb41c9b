"""Checksums of the files of a knowledge base, so that a damaged file is told from a whole one.

LanceDB writes each of its files once, and checks neither their contents nor whether the newest version of a
table is still there: a file that was overwritten, or a manifest that is gone, would be an empty or a wrong
result. So ``checksums.json`` records the size and the sha256 of every file after each write. A reader
compares sizes and times, which takes a millisecond, and reads a file only if its times are others than those
recorded (it was copied, or overwritten). A complete check reads all files.

A knowledge base of an earlier version has no such file until it is written to, and is read as it is.

Files that a write replaces or deletes in place are not covered: the journal, the lists of skipped sources and
of unused texts, the roots, which have a checksum of their own, the lock, and LanceDB's hints and transaction
notes, which nothing is read from.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from localcrag.errors import DamagedKnowledgeBase
from localcrag.store.json_files import write_json
from localcrag.store.kb_record import RECORD_FILE, TABLES_FOLDER, mending_hint, shown_name, stored_name
from localcrag.store.source_roots import SourceRootsFile
from localcrag.store.write_lock import try_lock

CHECKSUMS_FILE = "checksums.json"
_TRANSIENT = ("latest_version_hint.json",)
_TRANSIENT_FOLDERS = ("_transactions",)
_MANIFEST_ENDING, _NEWEST_FIRST = ".manifest", (1 << 64) - 1
"""How a version of a table is written in the name of its manifest: this number less the version."""
_GENERATION = re.compile(r"_\d+$")
_READ_BYTES = 1 << 20
_TRIES = 3
"""How often a reader compares again if the record changed meanwhile."""


@dataclass(frozen=True, slots=True)
class FileRecord:
    """The size in bytes, the times of modification and of change in nanoseconds, and the sha256 of a file."""

    size: int
    modified: int
    changed: int
    sha256: str


@dataclass(frozen=True, slots=True)
class DamagedFile:
    """A file that is not as it was written: its path below the folder, and in a few words what is wrong."""

    path: str
    reason: str

    @property
    def table(self) -> str:
        """The name of the table that it belongs to; "" for a file of the knowledge base itself."""
        head, _, rest = self.path.partition("/")
        stored = rest.partition("/")[0].removesuffix(".lance") if head == TABLES_FOLDER else ""
        return _GENERATION.sub("", stored)

    @property
    def is_index(self) -> bool:
        """Whether it is part of a search index, which can be made again from the table."""
        return "/_indices/" in self.path

    def __str__(self) -> str:
        return f"{self.path} {self.reason}"


@dataclass(frozen=True, slots=True)
class ChecksumRecord:
    """The content of ``checksums.json``.

    Attributes:
        files: the record of each covered file, by its path below the folder.
        versions: the newest version of each table.
        record: the content of ``kb.json``, from which it can be written again.
        roots: that of ``roots.json``: the folder of each key.
        cleaning: whether files that are no longer needed are being deleted.
    """

    files: Mapping[str, FileRecord]
    versions: Mapping[str, int]
    record: Mapping[str, Any]
    roots: Mapping[str, str]
    cleaning: bool = False


def recorded(folder: Path) -> ChecksumRecord | None:
    """The checksums of a knowledge base; None if there are none, or their file is damaged itself."""
    try:
        found = json.loads((folder / CHECKSUMS_FILE).read_text("utf-8"))
        content = found["content"]
        if found["sha256"] != _digest(content):
            return None
        return ChecksumRecord(
            {path: FileRecord(*values) for path, values in content["files"].items()},
            content["versions"],
            content["record"],
            content.get("roots", {}),
            bool(content["cleaning"]),
        )
    except (OSError, ValueError, TypeError, LookupError, AttributeError):
        return None


def is_damaged_record(folder: Path) -> bool:
    """Whether there is a file of checksums that cannot be used."""
    return (folder / CHECKSUMS_FILE).exists() and recorded(folder) is None


def record_files(folder: Path, *, cleaning: bool = False, cleaned: bool = False) -> None:
    """Record the files that are not recorded yet; call it under the write lock.

    Args:
        folder: the folder of a knowledge base.
        cleaning: files are about to be deleted on purpose.
        cleaned: that is done, so that what is gone is no longer recorded. Otherwise it stays recorded.

    Raises OSError.
    """
    before = recorded(folder)
    cleaned = cleaned or (before is not None and before.cleaning)  # by a process that was killed, perhaps
    known = before.files if before else {}
    present = set(_covered(folder))
    kept = {path: known[path] for path in known if path in present or not cleaned}
    new = {path: found for path in sorted(present - kept.keys()) if (found := _read(folder, path))}
    record = json.loads((folder / RECORD_FILE).read_text("utf-8"))
    roots = SourceRootsFile(folder)
    known_roots = dict(before.roots if before and roots.is_damaged else roots.readable().to_dict())
    _write(folder, ChecksumRecord({**kept, **new}, newest_versions(folder), record, known_roots, cleaning))


def record_known(folder: Path, sha256s: Mapping[str, str]) -> None:
    """Record the files of a folder that was copied, whose sha256s are known, in place of an older record.

    Raises OSError, and ValueError if ``kb.json`` is no JSON.
    """
    stats = {path: (folder / path).stat() for path in _covered(folder) if path in sha256s}
    files = {
        path: FileRecord(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, sha256s[path])
        for path, stat in stats.items()
    }
    record = json.loads((folder / RECORD_FILE).read_text("utf-8"))
    roots = SourceRootsFile(folder).readable().to_dict()
    _write(folder, ChecksumRecord(files, newest_versions(folder), record, roots))


def damaged_files(
    folder: Path, *, thorough: bool = False, tell: Callable[[int, int], None] | None = None
) -> list[DamagedFile]:
    """The files that are not as they were recorded, by path; none if nothing was recorded.

    Args:
        folder: the folder of a knowledge base.
        thorough: read every file, also those whose size and times are as they were.
        tell: is told how many bytes of how many are compared, in a thorough check.

    A reader may call it while another process writes. Raises OSError for a file that may not be read.
    """
    found: list[DamagedFile] = []
    for _ in range(_TRIES):
        record = recorded(folder)
        if record is None:
            return []
        found, touched = _compared(folder, record, thorough, tell)
        if touched and not found:
            _record_times(folder, record, touched)
        if not found or recorded(folder) == record:
            break
    return found


def require_whole(folder: Path, *, thorough: bool = False) -> None:
    """Raise DamagedKnowledgeBase if a file is not as it was recorded; see :func:`damaged_files`."""
    if found := damaged_files(folder, thorough=thorough):
        more = f", and {len(found) - 1} other files are damaged" if len(found) > 1 else ""
        name = shown_name(folder)
        raise DamagedKnowledgeBase(
            f"the knowledge base {name!r} is damaged: {found[0]}{more}", hint=mending_hint(name)
        )


def recorded_bytes(folder: Path) -> int:
    """The bytes of all recorded files."""
    record = recorded(folder)
    return sum(item.size for item in record.files.values()) if record else 0


def recorded_roots(folder: Path) -> Mapping[str, str]:
    """The folder of each key of a root, as it was recorded."""
    record = recorded(folder)
    return record.roots if record else {}


def newest_versions(folder: Path) -> dict[str, int]:
    """The newest version of each table that has one, by the names of their manifests."""
    found = {}
    for table, stored in tables_in_use(folder).items():
        names = [path.stem for path in (stored / "_versions").glob(f"*{_MANIFEST_ENDING}")]
        if versions := [version for name in names if (version := version_of_manifest(name)) is not None]:
            found[table] = max(versions)
    return found


def generation_of(folder: Path) -> int:
    """The generation of the tables in use, of the checksums if ``kb.json`` cannot be read."""
    try:
        return int(json.loads((folder / RECORD_FILE).read_text("utf-8")).get("generation", 0))
    except (OSError, ValueError, TypeError, AttributeError):
        known = recorded(folder)
        return int(known.record.get("generation", 0)) if known else 0


def tables_in_use(folder: Path) -> dict[str, Path]:
    """The folder of each table that belongs to the generation in use, by the table's name."""
    generation, tables = generation_of(folder), folder / TABLES_FOLDER
    found = sorted(tables.glob("*.lance"))
    names = {_GENERATION.sub("", path.stem) for path in found}
    places = {name: tables / f"{stored_name(name, generation)}.lance" for name in sorted(names)}
    return {name: place for name, place in places.items() if place in found}


def is_superseded(folder: Path, path: str) -> bool:
    """Whether a file is the manifest of a version that is not the newest, which nobody reads any more."""
    return _is_superseded(path, newest_versions(folder))


def _compared(
    folder: Path, record: ChecksumRecord, thorough: bool, tell: Callable[[int, int], None] | None
) -> tuple[list[DamagedFile], list[str]]:
    """The damaged files, and those that are whole with other times than those recorded."""
    versions = newest_versions(folder)
    found = [
        DamagedFile(f"{TABLES_FOLDER}/{table}.lance", "has lost its newest version")
        for table, version in record.versions.items()
        if versions.get(table, 0) < version
    ]
    total, done = sum(item.size for item in record.files.values()), 0
    touched = []
    for path, known in sorted(record.files.items()):
        damaged = DamagedFile(path, "")
        if not thorough and _is_superseded(path, versions):
            continue
        try:
            stat = (folder / path).stat()
        except (FileNotFoundError, NotADirectoryError):
            settled = versions.get(damaged.table, 0) == record.versions.get(damaged.table, 0)
            if settled and not record.cleaning and not _is_superseded(path, versions):
                found.append(DamagedFile(path, "is missing"))
            continue
        same_times = (stat.st_mtime_ns, stat.st_ctime_ns) == (known.modified, known.changed)
        if stat.st_size != known.size:
            found.append(DamagedFile(path, f"has {stat.st_size} bytes, and had {known.size}"))
        elif (thorough or not same_times) and _sha256(folder / path) != known.sha256:
            found.append(DamagedFile(path, "has another content than was written"))
        elif not same_times:
            touched.append(path)
        done += known.size
        if tell and thorough:
            tell(done, total)
    return found, touched


def _is_superseded(path: str, versions: Mapping[str, int]) -> bool:
    version = version_of_manifest(Path(path).stem) if path.endswith(_MANIFEST_ENDING) else None
    return version is not None and version < versions.get(DamagedFile(path, "").table, 0)


def version_of_manifest(name: str) -> int | None:
    """The version in the name of a manifest, without its ending; None if it is none."""
    if not name.isdecimal():
        return None
    number = int(name)
    return _NEWEST_FIRST - number if number > _NEWEST_FIRST // 2 else number


def _covered(folder: Path) -> Iterator[str]:
    """The paths below the folder of the files that are written once, with "/" between their parts."""
    if (folder / RECORD_FILE).is_file():
        yield RECORD_FILE
    for place, folders, names in os.walk(folder / TABLES_FOLDER):
        folders[:] = [name for name in folders if name not in _TRANSIENT_FOLDERS]
        if place == os.fspath(folder / TABLES_FOLDER):
            used = {path.name for path in tables_in_use(folder).values()}
            folders[:] = [name for name in folders if name in used]
        for name in names:
            if name not in _TRANSIENT:
                yield (Path(place) / name).relative_to(folder).as_posix()


def _read(folder: Path, path: str) -> FileRecord | None:
    """The record of a file as it is now; None if it is gone."""
    try:
        stat = (folder / path).stat()
        return FileRecord(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, _sha256(folder / path))
    except FileNotFoundError:
        return None


def _record_times(folder: Path, record: ChecksumRecord, paths: Collection[str]) -> None:
    """Record the times of files that were found to be whole, unless somebody writes or it is not allowed."""
    with suppress(OSError), try_lock(folder) as held:
        if held and recorded(folder) == record:
            renewed = {path: found for path in paths if (found := _read(folder, path))}
            same = {path: item for path, item in renewed.items() if item.sha256 == record.files[path].sha256}
            files = {**record.files, **same}
            _write(folder, replace(record, files=files))


def _write(folder: Path, record: ChecksumRecord) -> None:
    content = {
        "files": {
            path: [item.size, item.modified, item.changed, item.sha256] for path, item in record.files.items()
        },
        "versions": dict(record.versions),
        "record": dict(record.record),
        "roots": dict(record.roots),
        "cleaning": record.cleaning,
    }
    write_json(folder / CHECKSUMS_FILE, {"sha256": _digest(content), "content": content})


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_READ_BYTES):
            digest.update(piece)
    return digest.hexdigest()
