"""The local cache of a knowledge base on object storage: a folder for each commit that was read or written.

::

    HOME/cache/objects/ID/COMMIT/NAME/     the files of a commit, never changed once it is there
                         /.new-…           one that is being fetched
                         /.work-…          a copy that a writer works in

``ID`` is made of the server, the bucket and the prefix, ``NAME`` of the address. The files that commits have
in common are hard links, so that only what is new is fetched and takes room. The folders of former commits
stay for an hour, for the readers that still use them.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from localcrag.errors import ObjectStorageError, StoreError
from localcrag.object_storage.head import HEAD_KEY, ContentFile, Head
from localcrag.object_storage.object_client import MissingObject, ObjectClient
from localcrag.store import checksums
from localcrag.store.kb_copies import content_files
from localcrag.store.kb_record import record_in
from localcrag.store.storage_errors import storage_errors

TRANSFERS = 8
"""The objects that are transferred at the same time."""
RETIREMENT_SECONDS = 3600.0
"""How long objects and folders of former commits stay, for readers that still fetch or use them."""
_TRIES = 3
"""How often a reader begins again because a writer has replaced what it was about to fetch."""
_SUPERSEDED = ".superseded"
_LEFT_BEHIND_SECONDS = 86_400.0
_NOT_CONTENT = (checksums.CHECKSUMS_FILE, "latest_version_hint.json")


@dataclass(frozen=True, slots=True)
class StoredCommit:
    """The folder with the files of one commit, its head, and the tag of the head."""

    folder: Path
    head: Head
    etag: str


class CommitCache:
    """The commits of one knowledge base: fetched from its objects, copied to work in, and written to them."""

    def __init__(self, home: Path, client: ObjectClient) -> None:
        self.client = client
        self.name = str(client.address)
        place = f"{client.endpoint.base}\n{self.name}"
        self._root = home / "cache" / "objects" / hashlib.sha256(place.encode()).hexdigest()[:16]
        self._folder_name = quote(self.name, safe="")
        self._last: StoredCommit | None = None

    # ------------------------------------------------------------------------------ reading

    def current(self) -> StoredCommit | None:
        """The newest commit, with all its files; None if there is no knowledge base.

        Raises ObjectStorageError, StoreError, StorageFull, OfflineError.
        """
        for tried in range(_TRIES):
            known = self._last.etag if self._last and self._last.folder.is_dir() else ""
            found = self.client.read(HEAD_KEY, known=known)
            if found is None:
                self._last = None
                return None
            if self._last is None or found.etag != known:
                head = self.parsed(found.body)
                try:
                    self._last = StoredCommit(self._folder_of(head), head, found.etag)
                except MissingObject:  # replaced since the head was read, perhaps
                    if tried == _TRIES - 1:
                        raise
                    continue
            return self._last
        raise AssertionError("the last round returns or raises")

    def is_newest(self, etag: str) -> bool:
        """Whether the head still has this tag. Raises ObjectStorageError, OfflineError."""
        found = self.client.read(HEAD_KEY, known=etag)
        return found is not None and found.etag == etag

    def parsed(self, body: bytes) -> Head:
        """The head in an object. Raises ObjectStorageError if it cannot be understood."""
        try:
            return Head.parse(body)
        except ValueError as error:
            raise ObjectStorageError(
                f"the object {HEAD_KEY} of {self.name} at {self.client.endpoint.base} cannot be used: "
                f"{error}",
                hint="look whether the address is that of a knowledge base, and who else writes there",
            ) from error

    def _folder_of(self, head: Head) -> Path:
        """The folder with the files of a commit; what is not there is fetched."""
        place = self._root / head.commit / self._folder_name
        with storage_errors(f"write to {self._root}"):
            if place.is_dir():
                if not checksums.damaged_files(place):
                    return place
                shutil.rmtree(place.parent, ignore_errors=True)
            self._sweep(head.commit)
            with self._scratch(".new") as scratch:
                self._fill(scratch, head)
                return self._publish(scratch, head)

    def _fill(self, scratch: Path, head: Head) -> None:
        """Put the files of a commit into an empty folder: linked from former ones, or fetched."""
        held = self._held_files()
        missing = {}
        for path, file in head.files.items():
            (scratch / path).parent.mkdir(parents=True, exist_ok=True)
            if (former := held.get((path, file.sha256))) is None or not _linked(former, scratch / path):
                missing[path] = file
        size = sum(file.size for file in missing.values())
        self.client.announce(f"get {len(missing)} objects ({size:,} bytes) of")
        _in_parallel(
            lambda path, file: self.client.fetch(file.key(path), scratch / path, file.size, file.sha256),
            missing.items(),
        )
        self._record(scratch, head)

    def _record(self, folder: Path, head: Head) -> None:
        """Record the checksums of files that are known to be whole. Raises StoreError."""
        record_in(folder, self.name)
        checksums.record_known(folder, {path: file.sha256 for path, file in head.files.items()})

    def _held_files(self) -> dict[tuple[str, str], Path]:
        """The files in the folders of former commits that are as they were recorded, by path and sha256."""
        found = {}
        for folder in self._root.glob(f"[0-9a-f]*/{self._folder_name}"):
            record = checksums.recorded(folder)
            for path, known in record.files.items() if record else ():
                with suppress(FileNotFoundError):
                    stat = (folder / path).stat()
                    if (stat.st_size, stat.st_mtime_ns) == (known.size, known.modified):
                        found[path, known.sha256] = folder / path
        return found

    # ------------------------------------------------------------------------------ writing

    def new_folder(self) -> Path:
        """An empty folder to make a knowledge base in. Raises OSError."""
        folder = self._root / f".work-{uuid.uuid4().hex}" / self._folder_name
        folder.mkdir(mode=0o700, parents=True)
        return folder

    def copy(self, commit: StoredCommit) -> Path:
        """A folder with the files of a commit, to work in. Raises StoreError, StorageFull."""
        with storage_errors(f"write to {self._root}"):
            folder = self.new_folder()
            _copy_files(commit.head, commit.folder, folder)
            self._record(folder, commit.head)
        return folder

    def push(self, folder: Path, base: StoredCommit | None, *, published: bool = True) -> StoredCommit:
        """Commit what is in a folder in place of ``base``; call it with the lease.

        ``published``: give the commit a folder of its own, for all who read it on this machine.

        Raises StoreError if somebody has committed since ``base``, ObjectStorageError, OfflineError; then
        nothing has changed for readers.
        """
        with storage_errors(f"read {folder}"):
            files = _files_in(folder)
        if base is not None and files == base.head.files:
            return base
        before = base.head if base else Head("", {})
        head = Head(uuid.uuid4().hex, files, {})
        live = head.keys()
        retired = self._delete_retired(before, live) | dict.fromkeys(before.keys() - live, time.time())
        head = Head(head.commit, files, retired)
        known = before.keys()
        new = {path: file for path, file in files.items() if file.key(path) not in known}
        size = sum(file.size for file in new.values())
        self.client.announce(f"put {len(new)} objects ({size:,} bytes) to")
        _in_parallel(
            lambda path, file: self.client.put_file(file.key(path), folder / path, file.size, file.sha256),
            new.items(),
        )
        etag = self._commit(head, base.etag if base else "")
        self._last = StoredCommit(self._published(folder, head) if published else folder, head, etag)
        return self._last

    def _commit(self, head: Head, instead_of: str) -> str:
        """Replace the head, and give its new tag. Raises StoreError if another writer has done so."""
        if etag := self.client.put(HEAD_KEY, head.to_bytes(), instead_of=instead_of):
            return etag
        found = self.client.read(HEAD_KEY)
        if found is not None and self.parsed(found.body).commit == head.commit:  # its reply was lost
            return found.etag
        raise StoreError(
            f"somebody else wrote to the knowledge base {self.name!r} at the same time",
            hint="run the same command again: what was written before is kept",
        )

    def _delete_retired(self, before: Head, live: set[str]) -> dict[str, float]:
        """Delete objects that were retired long ago; returns the others that are not in use again."""
        now = time.time()
        kept = {key: when for key, when in before.retired.items() if key not in live}
        in_use = before.keys()
        for key in [key for key, when in kept.items() if not 0 <= now - when < RETIREMENT_SECONDS]:
            if key not in in_use:
                self.client.delete(key)
            del kept[key]
        return kept

    def _published(self, folder: Path, head: Head) -> Path:
        """The folder of a commit that was written here. Raises StoreError, StorageFull."""
        with storage_errors(f"write to {self._root}"), self._scratch(".new") as scratch:
            _copy_files(head, folder, scratch)
            self._record(scratch, head)
            return self._publish(scratch, head)

    def forget(self) -> None:
        """Delete the cache."""
        self._last = None
        shutil.rmtree(self._root, ignore_errors=True)

    # ------------------------------------------------------------------------------ folders

    @contextmanager
    def _scratch(self, kind: str) -> Iterator[Path]:
        """Yield an empty folder, which is deleted if it was not published."""
        outer = self._root / f"{kind}-{uuid.uuid4().hex}"
        folder = outer / self._folder_name
        try:
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder.mkdir(parents=True)
            yield folder
        finally:
            shutil.rmtree(outer, ignore_errors=True)

    def _publish(self, scratch: Path, head: Head) -> Path:
        """Give a filled folder its name, unless another process was faster; returns where it is."""
        place = self._root / head.commit / self._folder_name
        try:
            scratch.parent.rename(place.parent)
        except OSError:
            if not place.is_dir():
                raise
        return place

    def _sweep(self, commit: str) -> None:
        """Delete the folders of commits that were replaced an hour ago, and what killed processes left."""
        now = time.time()
        for place in self._root.glob("*"):
            mark = place / _SUPERSEDED
            with suppress(OSError):
                if place.name.startswith("."):
                    old = now - place.stat().st_mtime > _LEFT_BEHIND_SECONDS
                elif place.name == commit:
                    old = False
                elif old := mark.exists():
                    old = now - mark.stat().st_mtime > RETIREMENT_SECONDS
                else:
                    mark.touch()
                if old:
                    shutil.rmtree(place, ignore_errors=True)


def _files_in(folder: Path) -> dict[str, ContentFile]:
    """The files that the knowledge base in a folder consists of, by path. Raises OSError."""
    record = checksums.recorded(folder)
    known = record.files if record else {}
    found = {}
    for path in content_files(folder):
        if "/_transactions/" in path or path.rpartition("/")[2] in _NOT_CONTENT:
            continue
        size = (folder / path).stat().st_size
        held = known.get(path)
        if held is not None and held.size == size and "/" in path:
            found[path] = ContentFile(size, held.sha256)
        else:
            with (folder / path).open("rb") as file:
                found[path] = ContentFile(size, hashlib.file_digest(file, "sha256").hexdigest())
    return found


def _copy_files(head: Head, folder: Path, target: Path) -> None:
    """Link the files of a commit from one folder into another one, or copy them. Raises OSError."""
    for path in head.files:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        if not _linked(folder / path, target / path):
            shutil.copy2(folder / path, target / path)


def _linked(existing: Path, new: Path) -> bool:
    """Make a hard link, if the file is there and the file system has hard links."""
    try:
        os.link(existing, new)
    except OSError:
        return False
    return True


def _in_parallel(
    transfer: Callable[[str, ContentFile], None], files: Iterable[tuple[str, ContentFile]]
) -> None:
    """Transfer files, several at a time; after the first error no other one is begun."""
    with ThreadPoolExecutor(TRANSFERS, "objects") as pool:
        transfers = [pool.submit(transfer, path, file) for path, file in files]
        try:
            for one in transfers:
                one.result()
        finally:
            pool.shutdown(cancel_futures=True)
