"""Signatures of bundles, by keys that ssh-keygen makes here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from localcrag.bundle.bundle_signature import require_signature, signature_of
from localcrag.errors import BundleError

needs_ssh_keygen = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")
CONTENT = b"a manifest\n"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two private keys, with their public ones beside them."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("mine", "theirs"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / name)]
        subprocess.run(command, check=True)
    return folder / "mine", folder / "theirs"


@needs_ssh_keygen
def test_a_signature_holds_for_its_content_and_its_key_alone(keys: tuple[Path, Path], tmp_path: Path) -> None:
    mine, theirs = keys
    signature = signature_of(CONTENT, mine)
    assert signature_of(CONTENT, mine) == signature
    require_signature(CONTENT, signature, mine.with_suffix(".pub"))
    both = tmp_path / "both"
    both.write_text("# ours\n" + "".join(key.with_suffix(".pub").read_text() for key in (theirs, mine)))
    require_signature(CONTENT, signature, both)
    for content, given, public in (
        (CONTENT + b"x", signature, mine),
        (CONTENT, signature, theirs),
        (CONTENT, signature[:-60], mine),
        (CONTENT, b"signed", mine),
    ):
        with pytest.raises(BundleError, match="the bundle is not signed by"):
            require_signature(content, given, public.with_suffix(".pub"))


@needs_ssh_keygen
def test_a_signature_of_something_else_does_not_count(keys: tuple[Path, Path]) -> None:
    command = ["ssh-keygen", "-Y", "sign", "-f", str(keys[0]), "-n", "git"]
    other = subprocess.run(command, input=CONTENT, capture_output=True, check=True).stdout
    with pytest.raises(BundleError, match="not signed by"):
        require_signature(CONTENT, other, keys[0].with_suffix(".pub"))


@needs_ssh_keygen
def test_keys_that_are_none_are_refused(keys: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(BundleError, match="there is no key"):
        signature_of(CONTENT, tmp_path / "none")
    (tmp_path / "text").write_text("text")
    with pytest.raises(BundleError, match="cannot be signed with"):
        signature_of(CONTENT, tmp_path / "text")
    for public, said in ((keys[0], "no public SSH key"), (tmp_path / "none", "cannot read the public key")):
        with pytest.raises(BundleError, match=said):
            require_signature(CONTENT, b"x", public)


def test_without_ssh_keygen_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "key").touch()
    with pytest.raises(BundleError, match="ssh-keygen is not installed"):
        signature_of(CONTENT, tmp_path / "key")
    with pytest.raises(BundleError, match="the bundle is not signed"):
        require_signature(CONTENT, b"", tmp_path / "key")
