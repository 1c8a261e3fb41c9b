"""What comes in: under which names files are kept, and what an upload cannot do."""

from __future__ import annotations

import errno
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from localcrag.errors import StorageFull, StoreError
from localcrag.serve.http_api.admission import DoorLimits
from localcrag.serve.http_api.uploads import MAX_NAME_BYTES, Upload, keep, safe_name
from tests.fakes.door import ScriptedBackend
from tests.serve.http_api.conftest import scripted_client, sent_events

ROUTE = "/api/knowledge-bases/default/documents"


# ---------------------------------------------------------------------------------- names


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("leaflet.pdf", "leaflet.pdf"),
        ("../../etc/passwd", "passwd"),
        ("..\\..\\windows\\system.ini", "system.ini"),
        ("/etc/passwd", "passwd"),
        ("C:\\notes.txt", "notes.txt"),
        ("C:notes.txt", "C_notes.txt"),
        (".bashrc", "bashrc"),
        ("..", "document"),
        (".", "document"),
        ("", "document"),
        ("   ", "document"),
        ("a\x00b\r\nc.txt", "a_b__c.txt"),
        ("*.txt", "_.txt"),
        ("[a-z]?.txt", "_a-z__.txt"),
        ("--help", "_--help"),
        ("-.txt", "_-.txt"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("gpj.\u202etxt", "gpj.txt"),
        ("Ünïcode naïve.md", "Ünïcode naïve.md"),
        ("a/", "document"),
        ("~root", "~root"),
        ("$(reboot).txt", "_(reboot).txt"),
    ],
)
def test_a_name_is_made_safe(given: str, kept: str) -> None:
    assert safe_name(given) == kept


@settings(max_examples=80)
@given(st.text(max_size=300))
def test_every_name_stays_in_its_folder(given: str) -> None:
    name = safe_name(given)
    assert name and Path(name).name == name and not name.startswith((".", "-"))
    assert len(name.encode()) <= MAX_NAME_BYTES + 1 and "\x00" not in name
    assert safe_name(name) == name


def test_files_of_one_name_get_numbers_and_a_later_upload_replaces(tmp_path: Path) -> None:
    def upload(name: str, text: bytes) -> Upload:
        return Upload(name, io.BytesIO(text))

    first = keep(tmp_path, "kb", [upload("a.txt", b"1"), upload("x/A.txt", b"2"), upload("b", b"3")])
    assert [path.name for path in first] == ["a.txt", "A (2).txt", "b"]
    assert [path.read_bytes() for path in first] == [b"1", b"2", b"3"]
    (again,) = keep(tmp_path, "kb", [upload("a.txt", b"4")])
    assert again == first[0] and again.read_bytes() == b"4"
    assert {path.stat().st_mode & 0o777 for path in first} == {0o600}
    assert (tmp_path / "uploads").stat().st_mode & 0o777 == 0o700


def test_a_link_in_its_place_is_replaced_and_not_followed(tmp_path: Path) -> None:
    secret, folder = tmp_path / "secret", tmp_path / "uploads" / "kb"
    secret.write_text("kept")
    folder.mkdir(parents=True)
    (folder / "a.txt").symlink_to(secret)
    keep(tmp_path, "kb", [Upload("a.txt", io.BytesIO(b"new"))])
    assert secret.read_text() == "kept" and not (folder / "a.txt").is_symlink()


@pytest.mark.parametrize(("code", "kind"), [(errno.ENOSPC, StorageFull), (errno.EIO, StoreError)])
def test_a_disk_that_takes_no_more_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, kind: type[StoreError]
) -> None:
    def fail(*_: object) -> None:
        raise OSError(code, "no")

    monkeypatch.setattr("localcrag.serve.http_api.uploads.shutil.copyfileobj", fail)
    with pytest.raises(kind):
        keep(tmp_path, "kb", [Upload("a.txt", io.BytesIO(b"1"))])
    assert not list((tmp_path / "uploads" / "kb").iterdir())


# ---------------------------------------------------------------------------------- the route


def test_an_upload_is_kept_and_ingested(tmp_path: Path) -> None:
    backend = ScriptedBackend(home=tmp_path)
    files = [("files", ("../../x.txt", b"one")), ("files", ("y.txt", b"two"))]
    done = scripted_client(backend).post(ROUTE, files=files)
    events = sent_events(done.text)
    assert [event.name for event in events] == ["discovered", "progressed", "progressed", "ingested"]
    assert events[-1].data["added"] == 2
    folder = tmp_path / "uploads" / "default"
    assert backend.ingested == {str(folder / "x.txt"): b"one", str(folder / "y.txt"): b"two"}
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and path.parent != folder]


FORM = "multipart/form-data; boundary=b"
PART = b"--b\r\nContent-Disposition: form-data"
END = b"\r\n\r\nx\r\n--b--\r\n"


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"x", "text/plain", 415),
        (b"files=x", "application/x-www-form-urlencoded", 415),
        (b"x", "multipart/form-data", 400),
        (b"x", FORM, 400),
        (b"--b\r\n", FORM, 400),
        (b"--b--\r\n", FORM, 400),
        (PART + b'; name="files"' + END, FORM, 400),
        (PART + b'; name="other"; filename="a"' + END, FORM, 400),
        (PART + END, FORM, 400),
        (b"--b\r\n" + b"A: " + b"x" * 10**6, FORM, 400),
    ],
)
def test_what_is_no_upload_is_refused(tmp_path: Path, content: bytes, kind: str, status: int) -> None:
    backend = ScriptedBackend(home=tmp_path)
    done = scripted_client(backend).post(ROUTE, content=content, headers={"Content-Type": kind})
    assert (done.status_code, done.headers["content-type"]) == (status, "application/problem+json")
    assert not backend.ingested and not list(tmp_path.iterdir())


def test_an_upload_has_bounds(tmp_path: Path) -> None:
    backend = ScriptedBackend(home=tmp_path)
    client = scripted_client(backend, DoorLimits(upload_bytes=1000, upload_files=2))
    assert client.post(ROUTE, files={"files": ("a", b"x" * 2000)}).status_code == 413

    def pieces() -> list[bytes]:
        return [b'--b\r\nContent-Disposition: form-data; name="files"; filename="a"\r\n\r\n', b"x" * 2000]

    chunked = client.post(
        ROUTE, content=iter(pieces()), headers={"Content-Type": "multipart/form-data; boundary=b"}
    )
    assert chunked.status_code == 413
    assert client.post(ROUTE, files=[("files", ("a", b"x"))] * 3).status_code == 400
    assert not backend.ingested and not list(tmp_path.iterdir())


def test_a_door_that_is_only_for_reading_takes_nothing(tmp_path: Path) -> None:
    backend = ScriptedBackend(home=tmp_path, read_only=True)
    done = scripted_client(backend).post(ROUTE, files={"files": ("a", b"x")})
    assert (done.status_code, done.json()["code"]) == (403, "ReadOnly")


@pytest.mark.parametrize("kb", ["%2e%2e", "..%2f..", ".x", "a b"])
def test_an_upload_cannot_choose_another_folder(tmp_path: Path, kb: str) -> None:
    backend = ScriptedBackend(home=tmp_path / "home")
    route = f"/api/knowledge-bases/{kb}/documents"
    done = scripted_client(backend).post(route, files={"files": ("a", b"x")})
    assert done.status_code in (400, 404, 405) and not list(tmp_path.iterdir())
