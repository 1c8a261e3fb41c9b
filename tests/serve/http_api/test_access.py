"""Attacks on the door from another page of the same browser, and from who has no token."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

import pytest

from localcrag.errors import UsageError
from localcrag.serve.http_api.access import TOKEN_FILE, Access, kept_token
from localcrag.serve.http_api.application import PAGE_FILES, PAGE_FOLDER, make_application
from tests.fakes.door import ScriptedBackend
from tests.serve.http_api.conftest import AUTHORIZED, PORT, TOKEN, live_door, scripted_client

OWN = f"127.0.0.1:{PORT}"


@pytest.mark.parametrize("host", [OWN, f"localhost:{PORT}", f"LOCALHOST:{PORT}", f"[::1]:{PORT}"])
def test_the_names_of_loopback_are_its_own(host: str) -> None:
    assert scripted_client().get("/api/status", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        f"evil.example:{PORT}",
        f"127.0.0.1.evil.example:{PORT}",
        f"localhost.evil.example:{PORT}",
        f"evil.example@127.0.0.1:{PORT}",
        f"192.168.0.2:{PORT}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"127.0.0.1:{PORT}:{PORT}",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/page.js", "/api/status", "/nowhere"])
def test_a_name_that_was_bound_to_loopback_is_refused(host: str, path: str) -> None:
    done = scripted_client().get(path, headers={"Host": host})
    assert (done.status_code, done.json()["code"]) == (421, "ForeignHost")


def test_two_hosts_are_none() -> None:
    with live_door() as door:
        head = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{door.port}\r\nHost: evil.example\r\n\r\n"
        assert b" 400 " in door.said(head.encode()).partition(b"\r\n")[0]


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1"},
        {"Origin": f"https://{OWN}"},
        {"Origin": f"http://localhost:{PORT}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_pages_of_other_origins_are_refused_even_with_the_token(headers: dict[str, str]) -> None:
    backend = ScriptedBackend()
    done = scripted_client(backend).post("/api/ask", json={"question": "dose?"}, headers=headers)
    assert (done.status_code, done.json()["code"]) == (403, "ForeignOrigin")
    assert not backend.asked


def test_the_own_page_and_a_followed_link_are_let_in() -> None:
    client = scripted_client()
    own = {"Origin": f"http://{OWN}", "Sec-Fetch-Site": "same-origin"}
    assert client.get("/api/status", headers=own).status_code == 200
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert client.get("/", headers=link).status_code == 200


def test_no_reply_allows_another_origin_anything() -> None:
    client = scripted_client()
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    replies = [
        client.options("/api/ask", headers=asked),
        client.get("/api/status"),
        client.get("/"),
        client.get("/nowhere"),
    ]
    for reply in replies:
        assert not [name for name in reply.headers if name.startswith("access-control-")]
        assert "default-src 'self'" in reply.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in reply.headers["content-security-policy"]
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["referrer-policy"] == "no-referrer"
        assert reply.headers["cache-control"] == "no-store"
    assert replies[0].status_code == 403


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"Authorization": ""},
        {"Authorization": "Bearer "},
        {"Authorization": f"Bearer {TOKEN[:-1]}"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Cookie": f"token={TOKEN}"},
        {"X-Api-Key": TOKEN},
    ],
)
@pytest.mark.parametrize("path", ["/api/status", "/api/threads", "/api/openapi.json", "/api", "/v1/models"])
def test_without_the_token_nothing_is_told(given: dict[str, str], path: str) -> None:
    done = scripted_client(headers={}).get(path, headers=given)
    assert done.status_code == 401
    assert done.headers["www-authenticate"].startswith("Bearer")
    assert TOKEN not in done.text


def test_two_tokens_are_none() -> None:
    done = scripted_client(headers={}).get(
        "/api/status", headers=[("Authorization", "Bearer x"), ("Authorization", f"Bearer {TOKEN}")]
    )
    assert done.status_code == 401


@pytest.mark.parametrize("name", ["token", "access_token", "api_key", "Token", "key"])
def test_a_token_in_the_address_is_refused(name: str) -> None:
    done = scripted_client().get(f"/api/status?{name}={TOKEN}")
    assert (done.status_code, done.json()["code"]) == (400, "TokenInAddress")
    assert scripted_client(headers={}).get(f"/api/status?{name}={TOKEN}").status_code == 400


def test_the_page_needs_no_token_and_holds_none() -> None:
    client = scripted_client(headers={})
    served = {path: client.get(path) for path in PAGE_FILES}
    kinds = {path: done.headers["content-type"] for path, done in served.items()}
    assert kinds["/"] == "text/html; charset=utf-8" and kinds["/page.css"] == "text/css; charset=utf-8"
    assert kinds["/page.js"] == kinds["/asking.js"] == "text/javascript; charset=utf-8"
    assert not any(TOKEN in done.text for done in served.values())


def test_every_file_of_the_page_is_served_and_loads_nothing_from_elsewhere() -> None:
    client = scripted_client(headers={})
    assert {file.name for file in PAGE_FOLDER.iterdir()} == {name for name, _ in PAGE_FILES.values()}
    loaded = {"page.js"}
    for path in PAGE_FILES:
        done = client.get(path)
        assert "default-src 'self'" in done.headers["content-security-policy"]
        loaded |= set(re.findall(r'^import .* from "\./(.*)";$', done.text, re.MULTILINE))
        assert not re.search(r"(?:from|import\(?) *[\"'](?!\./)", done.text), path
    assert loaded == {name for name, kind in PAGE_FILES.values() if kind == "text/javascript"}


@pytest.mark.parametrize(
    "path",
    ["/../http-token", "/page/../../pyproject.toml", "/%2e%2e/http-token", "/page.js/..%2f", "//etc/passwd"],
)
def test_nothing_but_the_page_is_served_from_the_disk(path: str) -> None:
    with live_door() as door:
        head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{door.port}\r\nConnection: close\r\n\r\n"
        assert b" 404 " in door.said(head.encode()).partition(b"\r\n")[0]


def test_a_websocket_is_not_opened() -> None:
    with live_door() as door:
        key = "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        upgrade = "Connection: upgrade, close\r\nUpgrade: websocket\r\n"
        head = f"GET /api/status HTTP/1.1\r\nHost: 127.0.0.1:{door.port}\r\n{upgrade}{key}\r\n"
        assert b"101" not in door.said(head.encode()).partition(b"\r\n")[0]


def test_a_door_for_other_machines_is_called_by_any_address_and_no_other_name() -> None:
    application = make_application(ScriptedBackend(), Access(TOKEN, PORT, addresses=True))
    from starlette.testclient import TestClient

    client = TestClient(application, base_url=f"http://192.168.0.2:{PORT}", headers=AUTHORIZED)
    assert client.get("/api/status").status_code == 200
    assert client.get("/api/status", headers={"Host": f"[fe80::1]:{PORT}"}).status_code == 200
    assert client.get("/api/status", headers={"Host": f"evil.example:{PORT}"}).status_code == 421


# ---------------------------------------------------------------------------------- the token


def test_the_token_is_made_once_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    token = kept_token(tmp_path / "home")
    assert len(token) >= 43 and kept_token(tmp_path / "home") == token
    assert stat.S_IMODE((tmp_path / "home" / TOKEN_FILE).stat().st_mode) == 0o600
    assert kept_token(tmp_path / "other") != token


@pytest.mark.skipif(os.name == "nt", reason="permissions of Unix")
def test_a_token_that_others_may_read_is_not_used(tmp_path: Path) -> None:
    kept_token(tmp_path)
    (tmp_path / TOKEN_FILE).chmod(0o644)
    with pytest.raises(UsageError, match="may be read by others"):
        kept_token(tmp_path)


@pytest.mark.parametrize("text", ["", "short", "ü" * 50])
def test_a_file_without_a_token_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / TOKEN_FILE).write_text(text)
    (tmp_path / TOKEN_FILE).chmod(0o600)
    with pytest.raises(UsageError, match="holds no token"):
        kept_token(tmp_path)
