"""Knowledge bases under another name, copied, and carried as an archive."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import shutil
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from localcrag.errors import (
    ArchiveError,
    DamagedKnowledgeBase,
    LocalCragError,
    StorageFull,
    StoreError,
    UsageError,
)
from localcrag.events import result_of
from localcrag.store import kb_copies
from localcrag.store.knowledge_bases import KnowledgeBases
from tests.fakes.store import HashEmbedder
from tests.store.conftest import EMBEDDER, item


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the knowledge base "kb"; what a test makes beside it, it removes."""
    home = tmp_path_factory.mktemp("home")
    store = KnowledgeBases(home).create("kb", EMBEDDER.name, EMBEDDER.dimension)
    store.add_roots(["/p/one"])
    store.replace([item("/p/one/a.md", "the lighthouse keeper"), item("text:note", "a written note")])
    store.optimize()
    return home


@pytest.fixture
def bases(home: Path) -> Iterator[KnowledgeBases]:
    bases = KnowledgeBases(home)
    yield bases
    for name in bases.names():
        if name != "kb":
            bases.remove(name)
    assert [path.name for path in (home / "knowledge").iterdir()] == ["kb"], "nothing is left"


@pytest.fixture(scope="module")
def archive(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("archives") / "kb.tar.gz"
    KnowledgeBases(home).write_archive("kb", file)
    return file


def _found(bases: KnowledgeBases, name: str) -> list[str]:
    hits = bases.open(name).search("lighthouse", EMBEDDER.encode(["lighthouse"])[0], k=1)
    return [hit.passage.source for hit in hits]


def _copies(bases: KnowledgeBases, folder: Path) -> list[Callable[[], None]]:
    """Both ways to make a copy of "kb"."""
    return [lambda: bases.copy("kb", "two"), lambda: bases.write_archive("kb", folder / "a")]


def test_another_name(bases: KnowledgeBases) -> None:
    reader = bases.open("kb")
    bases.rename("kb", "other")
    assert bases.names() == ["other"] and bases.open("other").info().name == "other"
    assert not reader.is_current and _found(bases, "other") == ["/p/one/a.md"]
    with pytest.raises(UsageError, match="'other' already"):
        bases.rename("other", "other")
    bases.rename("other", "kb")


def test_a_copy_is_one_of_its_own(bases: KnowledgeBases) -> None:
    bases.copy("kb", "two")
    assert _found(bases, "two") == ["/p/one/a.md"] and not list(bases.check("two"))
    bases.open("two").relocate("/p/one", "/q")
    assert (_found(bases, "two"), _found(bases, "kb")) == (["/q/a.md"], ["/p/one/a.md"])
    with pytest.raises(UsageError, match="'two' already"):
        bases.copy("kb", "two")


def test_it_is_read_while_it_is_copied(bases: KnowledgeBases, monkeypatch: pytest.MonkeyPatch) -> None:
    copied = shutil.copyfile
    seen: list[list[str]] = []

    def read_meanwhile(source: Path, target: Path) -> None:
        seen.append(_found(bases, "kb") if len(seen) < 3 else [])
        copied(source, target)

    monkeypatch.setattr(shutil, "copyfile", read_meanwhile)
    bases.copy("kb", "two")
    assert seen[:3] == [["/p/one/a.md"]] * 3


def test_while_somebody_writes_nothing_is_copied(
    home: Path, bases: KnowledgeBases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kb_copies, "REMOVAL_PATIENCE_SECONDS", 0.05)
    with FileLock(home / "knowledge" / "kb" / "write.lock"):
        for attempt in _copies(bases, tmp_path):
            with pytest.raises(StoreError, match="somebody is writing"):
                attempt()
    assert not list(tmp_path.iterdir())


def test_what_is_damaged_is_not_copied(home: Path, bases: KnowledgeBases, tmp_path: Path) -> None:
    file = next((home / "knowledge" / "kb" / "lance" / "passages.lance" / "data").iterdir())
    whole = file.read_bytes()
    file.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    try:
        for attempt in _copies(bases, tmp_path):
            with pytest.raises(DamagedKnowledgeBase, match="another content than was written"):
                attempt()
    finally:
        file.write_bytes(whole)
    assert not list(tmp_path.iterdir())


def test_an_archive_is_the_same_knowledge_base(bases: KnowledgeBases, archive: Path, tmp_path: Path) -> None:
    other = KnowledgeBases(tmp_path / "elsewhere")
    assert other.read_archive(archive) == "kb" and other.read_archive(archive, "again") == "again"
    for name in ("kb", "again"):
        assert not list(other.check(name))
        assert other.open(name).indexed() == bases.open("kb").indexed()
    other.open("kb").replace([item("/p/one/b.md", "a harbour")])
    assert archive.stat().st_mode & 0o077 == 0, "nobody else may read it"
    with pytest.raises(UsageError, match="'kb' already"):
        other.read_archive(archive)
    with pytest.raises(UsageError, match="already"):
        bases.write_archive("kb", archive)


def test_the_same_knowledge_base_gives_the_same_bytes(
    bases: KnowledgeBases, archive: Path, tmp_path: Path
) -> None:
    bases.write_archive("kb", tmp_path / "again.tar.gz")
    assert (tmp_path / "again.tar.gz").read_bytes() == archive.read_bytes()


Members = list[tuple[tarfile.TarInfo, bytes]]


def _members(archive: Path) -> Members:
    with tarfile.open(archive, "r:gz") as tar:
        return [(header, tar.extractfile(header).read()) for header in tar]  # type: ignore[union-attr]


def _packed(members: Members) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=tarfile.GNU_FORMAT) as tar:
        for header, data in members:
            tar.addfile(header, io.BytesIO(data))
    return out.getvalue()


def _with_manifest(members: Members, change: Callable[[dict[str, object]], object]) -> Members:
    header, data = members[0]
    manifest = json.loads(data)
    change(manifest)
    changed = json.dumps(manifest).encode()
    header.size = len(changed)
    return [(header, changed), *members[1:]]


def _link(members: Members) -> Members:
    link = tarfile.TarInfo("lance/passages.lance/link")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
    return [members[0], (link, b""), *members[1:]]


def _escaping(members: Members, path: str) -> Members:
    entry = {"path": path, "size": 2, "sha256": hashlib.sha256(b"no").hexdigest()}
    outside = tarfile.TarInfo(path)
    outside.size = 2
    changed = _with_manifest(members, lambda manifest: manifest["members"].append(entry))  # type: ignore[attr-defined]
    return [*changed, (outside, b"no")]


def _tampered(members: Members) -> Members:
    header, data = members[-1]
    return [*members[:-1], (header, data[:-1] + bytes([data[-1] ^ 1]))]


def _long_extension(members: Members) -> Members:
    extension = tarfile.TarInfo("x")
    extension.type, extension.size = tarfile.XHDTYPE, 1 << 20
    return [members[0], (extension, bytes(1 << 20)), *members[1:]]


SPOILT: dict[str, tuple[Callable[[Members], Members], str]] = {
    "another content": (_tampered, "another content than was written"),
    "a member is missing": (lambda members: members[:-1], "1 files are missing"),
    "one more member": (lambda members: [*members, (tarfile.TarInfo("kb.json"), b"")], "not in its manifest"),
    "a link": (_link, "something else than files"),
    "a long extension": (_long_extension, "something else than files"),
    "above the folder": (lambda members: _escaping(members, "lance/../../../out.json"), "would write to"),
    "an absolute path": (lambda members: _escaping(members, "/tmp/out.json"), "would write to"),
    "another place": (lambda members: _escaping(members, "write.lock"), "would write to"),
    "no manifest": (lambda members: members[1:], "no archive of a knowledge base"),
    "another format": (
        lambda members: _with_manifest(members, lambda manifest: manifest.update(format="x")),
        "no archive of a knowledge base",
    ),
    "a later version": (
        lambda members: _with_manifest(members, lambda manifest: manifest.update(version=9)),
        "an archive of version 9",
    ),
    "a manifest without members": (
        lambda members: _with_manifest(members, lambda manifest: manifest.pop("members")),
        "cannot be understood",
    ),
    "a name that is a path": (
        lambda members: _with_manifest(members, lambda manifest: manifest.update(kb="../x")),
        "cannot be the name",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", SPOILT)
def test_a_spoilt_archive_is_refused_and_nothing_is_left(archive: Path, tmp_path: Path, kind: str) -> None:
    spoil, message = SPOILT[kind]
    (tmp_path / "spoilt").write_bytes(_packed(spoil(_members(archive))))
    bases = KnowledgeBases(tmp_path / "elsewhere")
    with pytest.raises(LocalCragError, match=message) as error:
        bases.read_archive(tmp_path / "spoilt")
    assert error.value.hint and "\n" not in str(error.value)
    _assert_nothing_is_left(tmp_path, "spoilt")


def _assert_nothing_is_left(folder: Path, file: str) -> None:
    assert {path.name for path in folder.rglob("*")} <= {file, "elsewhere", "knowledge"}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.9999])
def test_an_archive_that_is_cut_off_is_refused(archive: Path, tmp_path: Path, share: float) -> None:
    whole = archive.read_bytes()
    (tmp_path / "cut").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ArchiveError):
        KnowledgeBases(tmp_path / "elsewhere").read_archive(tmp_path / "cut")
    _assert_nothing_is_left(tmp_path, "cut")


@pytest.mark.parametrize("position", [0.3, 0.6, 0.95])
def test_a_flipped_bit_is_noticed(archive: Path, tmp_path: Path, position: float) -> None:
    whole = archive.read_bytes()
    at = int(len(whole) * position)
    flipped = next(data for place in range(at, len(whole)) if _differs(data := _flipped(whole, place), whole))
    (tmp_path / "flipped").write_bytes(flipped)
    with pytest.raises(ArchiveError):
        KnowledgeBases(tmp_path / "elsewhere").read_archive(tmp_path / "flipped")
    _assert_nothing_is_left(tmp_path, "flipped")


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


def _differs(data: bytes, other: bytes) -> bool:
    """Whether what is packed is damaged or another: in a run of zeros, another distance copies the same."""
    try:
        return gzip.decompress(data) != gzip.decompress(other)
    except (OSError, EOFError, zlib.error):
        return True


@pytest.mark.parametrize(
    "data",
    [b"", b"text", gzip.compress(b"text"), gzip.compress(bytes(10240))],
    ids=["empty", "text", "packed text", "packed zeros"],  # not the bytes, in which is the time
)
def test_another_file_is_no_archive(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "file").write_bytes(data)
    with pytest.raises(ArchiveError):
        KnowledgeBases(tmp_path / "elsewhere").read_archive(tmp_path / "file")
    with pytest.raises(UsageError, match="no file"):
        KnowledgeBases(tmp_path / "elsewhere").read_archive(tmp_path / "none")


def test_what_does_not_fit_on_the_disk_is_not_begun(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = type("Usage", (), {"free": 10})
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage)
    with pytest.raises(StorageFull):
        KnowledgeBases(tmp_path / "elsewhere").read_archive(archive)
    _assert_nothing_is_left(tmp_path, "")


def test_tables_of_a_former_embedding_model_stay_behind(bases: KnowledgeBases, tmp_path: Path) -> None:
    bases.copy("kb", "two")
    other = HashEmbedder("other", 32)
    assert result_of(bases.open("two").reembed(other)) == 2
    bases.write_archive("two", tmp_path / "two.tar.gz")
    with tarfile.open(tmp_path / "two.tar.gz") as tar:
        tables = {name.split("/")[1] for name in tar.getnames() if name.startswith("lance/")}
    assert tables == {"documents.lance", "texts.lance", "passages_1.lance"}
    bases.copy("two", "three")
    hits = bases.open("three").search("lighthouse", other.encode(["lighthouse"])[0], k=1)
    assert [hit.passage.source for hit in hits] == ["/p/one/a.md"]
