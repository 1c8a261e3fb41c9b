"""``localcrag bundle`` on the command line; what it makes is tested in ``tests/bundle``."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from localcrag.llm.model_entry import Role
from localcrag.llm.registry import Registry
from tests.bundle.made_packages import EXTRA, LIBRARY, LOCALCRAG, environment
from tests.cli.conftest import Run
from tests.tiny_llama import write_base

needs_ssh_keygen = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not installed")


@pytest.fixture
def prepared(fresh_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A home with a small model of the user's, and an environment of small packages."""
    installed = environment(tmp_path / "env", LOCALCRAG, LIBRARY, EXTRA)
    monkeypatch.setattr("localcrag.bundle.bundle_creation.InstalledPackages", lambda: installed)
    Registry(fresh_home).add("tiny", write_base(tmp_path / "tiny.gguf"), Role.LANGUAGE)
    text = '[model]\nlanguage = "tiny"\nadapter = "none"\nevaluator = "none"\n'
    (fresh_home / "config.toml").write_text(text)


@needs_ssh_keygen
@pytest.mark.usefixtures("prepared")
def test_a_bundle_is_made_signed_verified_and_loaded(fresh: Run, fresh_home: Path, tmp_path: Path) -> None:
    for name in ("mine", "theirs"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(command, check=True)
    file = tmp_path / "one.tar"
    done = fresh("bundle", "create", str(file), "--sign", str(tmp_path / "mine"))
    assert done.code == 0, done.err
    assert done.out.endswith("  one.tar\n") and "models tiny, " in done.err
    assert "localcrag-tables-v1, all-MiniLM-L6-v2; no knowledge base" in done.err
    done = fresh("bundle", "verify", str(file))
    assert done.code == 0 and done.out.startswith("one.tar is whole: localcrag 9.9 for ")
    assert "It is signed; --signed-by PUBLIC checks by whom." in done.out
    done = fresh("bundle", "verify", str(file), "--signed-by", str(tmp_path / "mine.pub"))
    assert (done.code, done.out.splitlines()[1]) == (0, f"It is signed by {tmp_path / 'mine.pub'}.")
    done = fresh("bundle", "verify", str(file), "--signed-by", str(tmp_path / "theirs.pub"))
    assert (done.code, done.out) == (1, "") and "Error: the bundle is not signed by" in done.err
    with tarfile.open(file) as archive:
        archive.extractall(tmp_path, filter="data")
    shutil.rmtree(fresh_home)
    fresh_home.mkdir()
    (fresh_home / "config.toml").write_text('# ours\n[model]\nevaluator = "localcrag-evaluator-v6"\n')
    done = fresh("bundle", "load", str(tmp_path / "localcrag-bundle"))
    assert done.code == 0 and "model tiny: added" in done.err
    settings = (fresh_home / "config.toml").read_text()
    assert settings.startswith("# ours") and 'language = "tiny"' in settings
    assert 'evaluator = "localcrag-evaluator-v6"' in settings, "what somebody set stays"


def test_a_harmed_or_foreign_file_ends_with_1_and_one_line(fresh: Run, tmp_path: Path) -> None:
    (tmp_path / "x.tar").write_bytes(b"no bundle")
    done = fresh("bundle", "verify", str(tmp_path / "x.tar"))
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines() == [
        "Error: x.tar: this is no bundle of localcrag", "Hint: `localcrag bundle create FILE` makes one",
    ]  # fmt: skip


@pytest.mark.usefixtures("prepared")
def test_a_knowledge_base_that_does_not_exist_makes_no_bundle(fresh: Run, tmp_path: Path) -> None:
    done = fresh("bundle", "create", str(tmp_path / "x.tar"), "--kb", "none")
    assert done.code == 1 and "there is no knowledge base 'none'" in done.err
    assert not (tmp_path / "x.tar").exists()
