"""A download that does not come to its end: a typed error, and no model. No hub is asked."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from localcrag.errors import ModelError, StorageFull, UsageError
from localcrag.llm.hub import pull
from localcrag.llm.registry import Registry
from tests.shape_models import shape

Download = Callable[[Exception | None], None]
FULL = OSError(errno.ENOSPC, "No space left on device")


@pytest.fixture
def download(monkeypatch: pytest.MonkeyPatch) -> Download:
    """Lets the next download copy half a model and raise this, or copy all of it."""

    def ends_with(error: Exception | None) -> None:
        def fetched(repository: str, file: str, *, local_dir: Path) -> str:
            whole = shape("llama2").read_bytes()
            local_dir.mkdir(parents=True, exist_ok=True)
            if error is not None:
                (local_dir / file).write_bytes(whole[: len(whole) // 2])
                raise error
            (local_dir / file).write_bytes(whole)
            return str(local_dir / file)

        monkeypatch.setattr("huggingface_hub.hf_hub_download", fetched)
        monkeypatch.setattr("localcrag.llm.hub.require_hub", lambda: None)

    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):  # what pull removes comes back
        monkeypatch.setenv(variable, "1")
    return ends_with


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (FULL, StorageFull, "no space left"),
        (OSError("Consistency check failed: 5 bytes\nPlease retry"), ModelError, "Consistency check"),
        (PermissionError(errno.EACCES, "Permission denied"), ModelError, "Permission denied"),
        (ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"), ModelError, "reset by peer"),
        (httpx2.RemoteProtocolError("peer closed connection"), ModelError, "peer closed"),
        (httpx2.ReadTimeout(""), ModelError, "ReadTimeout"),
        (RuntimeError("Data processing error: CAS"), ModelError, "CAS"),
    ],
    ids=["full", "short", "not allowed", "reset", "closed", "silent", "xet"],
)
def test_a_download_cut_off_is_no_model_and_can_be_repeated(
    tmp_path: Path, download: Download, error: Exception, kind: type[Exception], said: str
) -> None:
    before = Registry(tmp_path).entries()
    download(error)
    with pytest.raises(kind, match=said) as caught:
        pull(tmp_path, "some/repository", "model.gguf", "mine", None)
    assert "\n" not in str(caught.value) and caught.value.hint  # type: ignore[attr-defined]
    assert Registry(tmp_path).entries() == before
    assert not list(tmp_path.rglob("*.gguf")) and not (tmp_path / "models").exists()

    download(None)
    assert pull(tmp_path, "some/repository", "model.gguf", "mine", None).name == "mine"
    assert Registry(tmp_path).resolve("mine").is_file()


def test_what_was_pulled_before_is_not_deleted(tmp_path: Path, download: Download) -> None:
    download(None)
    entry = pull(tmp_path, "some/repository", "model.gguf", "mine", None)
    download(ConnectionResetError(errno.ECONNRESET, "Connection reset by peer"))
    with pytest.raises(ModelError):
        pull(tmp_path, "some/repository", "model.gguf", "mine", None)
    assert entry.path.exists()


def test_a_part_that_was_downloaded_stays_for_the_next_time(
    tmp_path: Path, download: Download, monkeypatch: pytest.MonkeyPatch
) -> None:
    download(None)

    def cut_off(repository: str, file: str, *, local_dir: Path) -> str:
        part = local_dir / ".cache" / f"{file}.incomplete"
        part.parent.mkdir(parents=True)
        part.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr("huggingface_hub.hf_hub_download", cut_off)
    with pytest.raises(KeyboardInterrupt):
        pull(tmp_path, "some/repository", "model.gguf", "mine", None)
    assert list(tmp_path.rglob("*.incomplete"))


def test_without_a_network_one_line_and_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for variable in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(variable, "0")
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))  # nobody listens
        monkeypatch.setattr(
            "huggingface_hub.constants.ENDPOINT", f"http://127.0.0.1:{bound.getsockname()[1]}"
        )
        with pytest.raises(ModelError, match="the hub cannot be reached"):
            pull(tmp_path, "some/repository", "model.gguf", "mine", None)
    assert capfd.readouterr() == ("", "") and not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "file"), [("../mine", "a.gguf"), ("a/b", "a.gguf"), ("", "a"), ("a", "../a")]
)
def test_a_model_is_kept_nowhere_else(tmp_path: Path, download: Download, name: str, file: str) -> None:
    download(None)
    with pytest.raises(UsageError):
        pull(tmp_path, "some/repository", file, name, None)
    assert not list(tmp_path.iterdir())
