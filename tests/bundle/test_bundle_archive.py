"""The archive of a bundle: the same bytes each time, and no other file passes for one."""

from __future__ import annotations

import hashlib
import io
import tarfile
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from localcrag.bundle.bundle_archive import verify_archive, write_archive
from localcrag.bundle.bundle_manifest import (
    BundledFile,
    BundledKnowledgeBase,
    BundledModel,
    BundledPackage,
    BundleManifest,
    BundleTarget,
    decoded_manifest,
)
from localcrag.errors import BundleError

CONTENTS = {"install.sh": b"echo\n", "knowledge/a/kb.json": b"", f"wheels/{'long' * 30}.whl": b"w" * 700}
LISTED = tuple(
    BundledFile(path, len(text), hashlib.sha256(text).hexdigest()) for path, text in sorted(CONTENTS.items())
)
MANIFEST = BundleManifest(
    "9.9",
    BundleTarget("Linux", "x86_64", "3.11", "linux_x86_64"),
    (BundledPackage("localcrag", "9.9", "x.whl"),),
    (BundledModel("m", "language", "", "weights"),),
    (BundledKnowledgeBase("a", "e"),),
    (("model.language", "m"),),
    LISTED,
)
DIGEST = "a2f417f39e807bdb0aa12d5ca71c76c0"
"""The beginning of the sha256 of the archive: the same on every system and with every Python."""


def written(folder: Path, manifest: BundleManifest = MANIFEST, signature: bytes = b"") -> Path:
    """An archive of the contents."""
    sources = {}
    for number, (path, content) in enumerate(CONTENTS.items()):
        sources[path] = folder / str(number)
        sources[path].write_bytes(content)
    write_archive(folder / "b.tar", manifest, sources, signature)
    return folder / "b.tar"


def test_an_archive_has_the_same_bytes_everywhere(tmp_path: Path) -> None:
    assert hashlib.sha256(written(tmp_path).read_bytes()).hexdigest().startswith(DIGEST)


@pytest.mark.parametrize("signature", [b"", b"signed"])
def test_a_whole_archive_is_what_its_manifest_says(tmp_path: Path, signature: bytes) -> None:
    told: list[tuple[int, int]] = []
    found = verify_archive(written(tmp_path, signature=signature), lambda *done: told.append(done))
    assert (found.manifest, found.signature) == (MANIFEST, signature)
    assert len(told) == len(LISTED) and all(done <= total for done, total in told)


def test_tar_unpacks_it_into_one_folder_by_which_it_can_be_installed(tmp_path: Path) -> None:
    with tarfile.open(written(tmp_path, signature=b"signed")) as archive:
        members = {member.name: member for member in archive}
        archive.extractall(tmp_path / "out", filter="data")
    assert all(name.startswith("localcrag-bundle/") for name in members)
    assert {member.mtime for member in members.values()} == {0}
    assert members["localcrag-bundle/install.sh"].mode == 0o755
    unpacked = {file.name: file.read_bytes() for file in (tmp_path / "out").rglob("*") if file.is_file()}
    assert (
        unpacked.pop("manifest.json") == MANIFEST.encoded() and unpacked.pop("manifest.json.sig") == b"signed"
    )
    assert sorted(unpacked.values()) == sorted(CONTENTS.values())


def outcome(file: Path) -> tuple[BundleManifest, bytes] | None:
    """The manifest and the signature of a bundle; None if it is refused."""
    try:
        found = verify_archive(file)
    except BundleError:
        return None
    return found.manifest, found.signature


@pytest.mark.parametrize("signature", [b"", b"signed"])
def test_a_changed_byte_is_found_wherever_it_is(tmp_path: Path, signature: bytes) -> None:
    """It is refused, or in words of the manifest and in the signature shows in what the signature covers."""
    file = written(tmp_path, signature=signature)
    whole = file.read_bytes()
    text = len(MANIFEST.encoded())
    signed = range(512, 512 + text + -text % 512 + 512 + len(signature))
    for place in range(0, len(whole), 37):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        found = outcome(file)
        assert found is None or (place in signed and found != (MANIFEST, signature)), place


def test_a_cut_off_or_prolonged_archive_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path)
    whole = file.read_bytes()
    for size in range(0, len(whole), 256):
        file.write_bytes(whole[:size])
        with pytest.raises(BundleError, match=r"cut off|no bundle"):
            verify_archive(file)
    file.write_bytes(whole + bytes(512))
    with pytest.raises(BundleError, match="512 bytes follow behind its end"):
        verify_archive(file)


def _tar(name: str, content: bytes) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        archive.addfile(info, io.BytesIO(content))
    return made.getvalue()


def _zip() -> bytes:
    made = io.BytesIO()
    zipfile.ZipFile(made, "w").writestr("localcrag-bundle/manifest.json", MANIFEST.encoded())
    return made.getvalue()


FOREIGN: dict[str, Callable[[], bytes]] = {
    "empty": lambda: b"",
    "text": lambda: b"hello\n" * 1000,
    "zip": _zip,
    "another tar": lambda: _tar("x", b"y"),
    "a manifest of somebody else": lambda: _tar("localcrag-bundle/manifest.json", b'{"files": []}'),
    "a manifest that is no JSON": lambda: _tar("localcrag-bundle/manifest.json", b"[" * 100_000),
    "a size beyond all bounds": lambda: (
        _tar("localcrag-bundle/manifest.json", b"")[:124] + b"\x80" + b"\xff" * 387
    ),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_another_file_is_refused_in_one_line(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "b.tar"
    file.write_bytes(FOREIGN[kind]())
    with pytest.raises(BundleError, match=r"^b\.tar: ") as caught:
        verify_archive(file)
    assert "\n" not in str(caught.value) and caught.value.hint


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="there is no file"):
        verify_archive(tmp_path / "none")
    with pytest.raises(BundleError, match="cannot read"):
        verify_archive(tmp_path)


PATHS = ("../x", "/x", "a/../../x", "a//x", "./x", "", "a\\..\\x", "C:x", "a\nb", "a/")


@pytest.mark.parametrize("path", PATHS)
def test_a_manifest_that_leads_out_of_its_folder_is_refused(path: str) -> None:
    with pytest.raises(BundleError, match="not one that localcrag wrote"):
        decoded_manifest(replace(MANIFEST, files=(BundledFile(path, 0, ""),)).encoded())


def test_a_manifest_has_one_form_and_one_version() -> None:
    encoded = MANIFEST.encoded()
    assert decoded_manifest(encoded) == MANIFEST
    for changed in (
        encoded.replace(b"\n", b"\r\n"),
        encoded + b" ",
        encoded.replace(b'"format":', b'"more": 1, "format":'),
        replace(MANIFEST, files=LISTED[::-1]).encoded(),
        replace(MANIFEST, files=LISTED * 2).encoded(),
        replace(MANIFEST, format="x").encoded(),
    ):
        with pytest.raises(BundleError, match="not one that localcrag wrote"):
            decoded_manifest(changed)
    with pytest.raises(BundleError, match="of version 2, and this localcrag reads 1"):
        decoded_manifest(replace(MANIFEST, version=2).encoded())


def test_a_file_that_grows_meanwhile_makes_no_archive(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"larger than it was")
    manifest = replace(MANIFEST, files=(BundledFile("install.sh", 4, ""),))
    with pytest.raises(BundleError, match="was changed meanwhile"):
        write_archive(tmp_path / "b.tar", manifest, {"install.sh": tmp_path / "x"})
