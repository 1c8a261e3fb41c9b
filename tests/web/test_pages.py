"""Page fetches, against a scripted server on loopback: a private address, so that each must be allowed."""

from __future__ import annotations

import gzip
import ipaddress
import socket
import ssl
import subprocess
import time
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from shutil import which
from threading import Event

import pytest

from localcrag import egress
from localcrag.errors import FetchRefused, LedgerError, OfflineError
from localcrag.types import WebPage, WebResult
from localcrag.web import http
from localcrag.web.pages import FetchLimits, HttpPageFetcher, fetch_url
from localcrag.web.ssrf import is_public, is_web_port, literal
from tests.web.scripted import Answer, ScriptedServer, running_script
from tests.web.searxng_server import Corpus, dead_port

PARAGRAPH = "The grey heron stands still in shallow water for a long time and waits for small fish to come. "
PAGE = f"""<html><head><title>Heron</title></head><body>
<nav><a href="/">Home</a> <a href="/about">About us</a></nav>
<article><h1>The grey heron</h1><p>{PARAGRAPH * 3}</p><p>{PARAGRAPH * 2}</p></article>
<footer>All rights reserved by nobody</footer></body></html>""".encode()


def fetcher(*allowed: str, recorded: list[str] | None = None, **limits: float) -> HttpPageFetcher:
    def record(kind: str, target: str) -> None:
        assert kind == "page"
        if recorded is not None:
            recorded.append(target)

    limits = {"seconds": 120.0, "extraction": 120.0, **limits}  # a busy machine may need it
    return HttpPageFetcher(record=record, allowed_private=allowed, limits=FetchLimits(**limits))  # type: ignore[arg-type]


def result(url: str) -> WebResult:
    return WebResult(url, "A title", "the snippet of the search")


def fetched(script: ScriptedServer, path: str = "/page", **limits: float) -> WebPage:
    (page,) = fetcher(script.host, recorded=None, **limits).fetch([result(f"{script.url}{path}")])
    return page


def assert_snippet(page: WebPage, reason: str) -> None:
    assert page.text == "the snippet of the search" and page.title == "A title"
    assert reason in page.degraded and len(page.degraded.splitlines()) == 1


# ---------------------------------------------------------------------------------- what is read


def test_the_text_of_a_page_without_what_surrounds_it(script: ScriptedServer) -> None:
    script.answers["/page"] = Answer(200, PAGE)
    page = fetched(script)
    assert page.degraded == "" and page.title == "A title"
    assert page.text.count("grey heron stands still") == 5
    assert "About us" not in page.text and "rights reserved" not in page.text


def test_an_encoding_that_names_half_a_character(script: ScriptedServer) -> None:
    body = rb"The heron \ud83d stands still."
    script.answers["/page"] = Answer(200, body, "text/plain; charset=unicode_escape")
    page = fetched(script)
    assert (page.text, page.degraded) == ("The heron \ufffd stands still.", "")


def test_the_request_tells_nothing_of_its_sender(script: ScriptedServer) -> None:
    script.answers["/page"] = Answer(200, PAGE, headers=(("Set-Cookie", "id=1"),))
    fetcher_ = fetcher(script.host)
    list(fetcher_.fetch([result(f"{script.url}/page"), result(f"{script.url}/page#part")]))
    for request in script.requests:
        assert request.headers == {
            "host": script.host,
            "user-agent": "Mozilla/5.0 (compatible; localcrag)",
            "accept": "application/xhtml+xml, text/html, text/plain",
            "accept-encoding": "gzip, deflate",
            "accept-language": "en",
        }
        assert (request.method, request.path) == ("GET", "/page")


def test_plain_text_and_encodings(script: ScriptedServer) -> None:
    latin = "Ein Graureiher für Kröten. ".encode("latin-1")
    script.answers["/latin"] = Answer(200, latin, "text/plain; charset=ISO-8859-1")
    script.answers["/unknown"] = Answer(200, b"plain words", "text/plain; charset=no-such-thing")
    script.answers["/idna"] = Answer(200, b"plain words", "text/plain; charset=idna")
    script.answers["/markup"] = Answer(200, PAGE, "text/html; charset=idna")
    body = PAGE.replace(b"small fish", "kleine Fische und Kröten".encode("latin-1"))
    declared = body.replace(b"<head>", b'<head><meta charset="iso-8859-1">')
    script.answers["/declared"] = Answer(200, declared, "text/html")
    assert fetched(script, "/latin").text == "Ein Graureiher für Kröten. "
    assert fetched(script, "/unknown").text == fetched(script, "/idna").text == "plain words"
    assert "grey heron stands still" in fetched(script, "/markup").text
    assert "Kröten" in fetched(script, "/declared").text


@pytest.mark.parametrize("coding", ["gzip", "two gzip members", "deflate", "raw deflate"])
def test_compressed_bodies(script: ScriptedServer, coding: str) -> None:
    raw = zlib.compressobj(wbits=-15)
    half = len(PAGE) // 2
    body = {
        "gzip": gzip.compress(PAGE),
        "two gzip members": gzip.compress(PAGE[:half]) + gzip.compress(PAGE[half:]),
        "deflate": zlib.compress(PAGE),
        "raw deflate": raw.compress(PAGE) + raw.flush(),
    }[coding]
    header = "deflate" if "deflate" in coding else "gzip"
    script.answers["/page"] = Answer(200, body, headers=(("Content-Encoding", header),))
    page = fetched(script)
    assert page.degraded == "" and page.text.count("grey heron stands still") == 5


def test_pages_come_in_the_order_of_the_results_and_are_fetched_together(script: ScriptedServer) -> None:
    slow, quick = Answer(200, PAGE[:40], "text/plain", drip=0.01, after=4), Answer(200, PAGE, after=4)
    script.answers |= {f"/{n}": slow if n % 2 else quick for n in range(6)}
    results = [result(f"{script.url}/{n}") for n in range(6)]
    pages = list(fetcher(script.host).fetch(results))
    assert [page.url for page in pages] == [r.url for r in results]
    assert not any(page.degraded for page in pages), "none is answered before four are asked for"


def test_redirects_are_followed_by_hand_and_recorded(script: ScriptedServer) -> None:
    script.answers |= {
        "/a": Answer.redirect("/b", 301),
        "/b": Answer.redirect(f"{script.url}/page", 307),
        "/page": Answer(200, PAGE),
    }
    recorded: list[str] = []
    (page,) = fetcher(script.host, recorded=recorded).fetch([result(f"{script.url}/a")])
    assert page.url == f"{script.url}/page" and page.degraded == ""
    assert recorded == [f"{script.url}/{path}" for path in ("a", "b", "page")]
    assert len(script.requests) == 3


# ---------------------------------------------------------------------------------- what is not

REFUSED = {
    "a missing page": (Answer(404, b"gone"), "status 404"),
    "a picture": (Answer(200, b"\x89PNG", "image/png"), "image/png"),
    "a pdf": (Answer(200, b"%PDF-1.7", "application/pdf"), "application/pdf"),
    "no type": (Answer(200, b"words", ""), "no named type"),
    "no text": (Answer(200, b"<html><body></body></html>"), "no text"),
    "nothing": (Answer(200, b""), "no text"),
    "a redirect to nowhere": (Answer(302), "redirects to nowhere"),
    "a redirect to a file": (Answer.redirect("file:///etc/passwd"), "not an http"),
    "a redirect with a password": (Answer.redirect("http://a:b@127.0.0.1/"), "password"),
    "an encoding not asked for": (Answer(200, b"x", headers=(("Content-Encoding", "br"),)), "br"),
    "a damaged encoding": (Answer(200, b"xyz", headers=(("Content-Encoding", "gzip"),)), "damaged"),
    "a cut off encoding": (
        Answer(200, gzip.compress(PAGE)[:-12], headers=(("Content-Encoding", "gzip"),)),
        "cut off",
    ),
}


@pytest.mark.parametrize(("answer", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_read_gives_the_snippet_and_the_reason(
    script: ScriptedServer, answer: Answer, reason: str
) -> None:
    script.answers["/page"] = answer
    assert_snippet(fetched(script), reason)


def test_endless_redirects(script: ScriptedServer) -> None:
    script.answers["/page"] = Answer.redirect("/page")
    assert_snippet(fetched(script), "more than 3 redirects")
    assert len(script.requests) == 4


def test_a_large_body_is_cut_off_and_so_is_a_compressed_one(script: ScriptedServer) -> None:
    script.answers["/large"] = Answer(200, b"x" * 3_000_000, "text/plain")
    bomb = gzip.compress(b"x" * 50_000_000)
    script.answers["/bomb"] = Answer(200, bomb, "text/plain", (("Content-Encoding", "gzip"),))
    assert_snippet(fetched(script, "/large"), "larger than 2,048 KiB")
    assert_snippet(fetched(script, "/bomb"), "larger than 2,048 KiB")


def test_inflating_stops_at_the_limit() -> None:
    """One chunk of a bomb must not be inflated in whole: 1 GiB would not be noticed by its result alone."""
    bomb = gzip.compress(bytes(1024) * 64 * 1024, compresslevel=1)
    calls: list[int] = []

    class Spy:
        eof, unconsumed_tail, unused_data = False, b"", b""

        def __init__(self, wbits: int) -> None:
            self._real = zlib_decompressobj(wbits)

        def decompress(self, data: bytes, limit: int) -> bytes:
            calls.append(limit)
            return self._real.decompress(data, limit)

    zlib_decompressobj = zlib.decompressobj
    with pytest.MonkeyPatch.context() as patch, pytest.raises(http.Oversized):
        patch.setattr(zlib, "decompressobj", Spy)
        http.inflated([bomb], "gzip", 1000)
    assert calls == [1001]


def test_the_time_limit_is_for_the_whole_page(script: ScriptedServer) -> None:
    script.answers["/page"] = Answer(200, b"x" * 1000, "text/plain", drip=0.05)
    started = time.monotonic()
    assert_snippet(fetched(script, seconds=0.4), "in time")
    assert time.monotonic() - started < 25, "all of it would take twice that"


def test_a_page_whose_text_takes_long_to_find(script: ScriptedServer) -> None:
    script.answers["/page"] = Answer(200, b"<a href='x'>link</a> " * 95_000)  # some seconds of work
    started = time.monotonic()
    assert_snippet(fetched(script, seconds=4.0, extraction=0.2), "took too long")
    assert time.monotonic() - started < 34


def test_redirects_share_the_time_limit(script: ScriptedServer) -> None:
    slow = Answer(302, b"", "", (("Location", "/page"),))
    script.answers["/page"] = slow
    page = fetched(script, seconds=0.0)
    assert_snippet(page, "in time")


def test_a_name_that_takes_too_long_to_resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    stop = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [stop.wait(20)][1:])
    (page,) = fetcher(seconds=0.2).fetch([result("http://slow.example/")])
    stop.set()
    assert_snippet(page, "not resolved in time")


# ---------------------------------------------------------------------------------- private addresses


@pytest.fixture
def private(script: ScriptedServer) -> ScriptedServer:
    script.answers["/page"] = Answer(200, PAGE)
    return script


def resolving(monkeypatch: pytest.MonkeyPatch, *answers: Sequence[str]) -> list[str]:
    """Name lookups answer these addresses, one list after the other, the last for ever."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def look_up(host: str, port: int, *rest: object, **more: object) -> Sequence[tuple[object, ...]]:
        if literal(host) is not None:
            return real(host, port, *rest, **more)  # type: ignore[arg-type]
        asked.append(host)
        addresses = answers[min(len(asked), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "2130706433", "127.1", "[::ffff:127.0.0.1]"])
def test_loopback_in_any_spelling_is_refused(private: ScriptedServer, host: str) -> None:
    (page,) = fetcher().fetch([result(f"http://{host}:{private.port}/page")])
    assert_snippet(page, "not a public one")
    assert private.requests == []


@pytest.mark.parametrize(
    "host", ["10.0.0.1", "192.168.1.1", "172.16.0.1", "169.254.169.254", "[fd00::1]", "[fe80::1]", "0.0.0.0"]
)
def test_private_and_metadata_addresses_are_refused_unrecorded(host: str) -> None:
    recorded: list[str] = []
    (page,) = fetcher(recorded=recorded).fetch([result(f"http://{host}/latest/meta-data")])
    assert_snippet(page, "not a public one")
    assert recorded == []


def test_a_name_with_a_private_address_is_refused(
    private: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, ["127.0.0.1"])
    (page,) = fetcher().fetch([result(f"http://public.example:{private.port}/page")])
    assert_snippet(page, "public.example has the address 127.0.0.1")
    assert private.requests == []


def test_one_private_address_among_public_ones_is_enough(
    private: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    resolving(monkeypatch, ["93.184.215.14", "127.0.0.1"])
    (page,) = fetcher().fetch([result(f"http://public.example:{private.port}/page")])
    assert_snippet(page, "127.0.0.1")


def test_the_connection_goes_to_the_address_that_was_checked(
    private: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DNS rebinding: a second look-up would lead elsewhere, so there must be none."""
    asked = resolving(monkeypatch, ["127.0.0.1"], ["192.0.2.1"])
    name = f"corpus.example:{private.port}"
    (page,) = fetcher(name).fetch([result(f"http://{name}/page")])
    assert page.degraded == "" and asked == ["corpus.example"]
    assert private.requests[0].headers["host"] == name


def test_the_next_address_is_tried(private: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    resolving(monkeypatch, ["127.0.0.3", "127.0.0.1"])
    (page,) = fetcher("corpus.example").fetch([result(f"http://corpus.example:{private.port}/page")])
    assert page.degraded == ""


def test_a_redirect_to_a_private_address_is_refused(private: ScriptedServer) -> None:
    with running_script() as other:
        private.answers["/away"] = Answer.redirect(f"{other.url}/page")
        other.answers["/page"] = Answer(200, PAGE)
        (page,) = fetcher(private.host).fetch([result(f"{private.url}/away")])
        assert_snippet(page, "not a public one")
        assert other.requests == []


def test_allowed_private_means_that_host_and_port(private: ScriptedServer, corpus: Corpus) -> None:
    theirs = [result(f"{private.url}/page"), result(corpus.url("heron"))]
    one, other = fetcher(corpus.host.upper()).fetch(theirs)
    assert one.degraded and not other.degraded and "heron" in other.text
    both = fetcher("127.0.0.1").fetch(theirs)
    assert not any(page.degraded for page in both)


@pytest.mark.parametrize("port", [22, 25, 53, 993])
def test_ports_of_other_services_are_refused(port: int) -> None:
    (page,) = fetcher().fetch([result(f"http://example.org:{port}/")])
    assert_snippet(page, f"port {port}")


@pytest.mark.parametrize("url", ["", "nonsense", "ftp://example.org/", "http://", "http://a:b@example.org/"])
def test_what_is_no_web_address(url: str) -> None:
    (page,) = fetcher().fetch([result(url)])
    assert page.degraded and page.text


def test_offline_pages_elsewhere_are_left_and_those_here_are_read(private: ScriptedServer) -> None:
    recorded: list[str] = []
    with egress.offline():
        outside, inside = fetcher(private.host, recorded=recorded).fetch(
            [result("http://example.org/"), result(f"{private.url}/page")]
        )
    assert_snippet(outside, "offline")
    assert inside.degraded == "" and recorded == [f"{private.url}/page"]


def test_what_cannot_be_written_down_is_not_fetched(private: ScriptedServer) -> None:
    def full(kind: str, target: str) -> None:
        raise LedgerError("no space")

    pages = HttpPageFetcher(record=full, allowed_private=[private.host]).fetch(
        [result(f"{private.url}/page")]
    )
    with pytest.raises(LedgerError):
        list(pages)
    assert private.requests == []


PUBLIC = ["93.184.215.14", "2606:2800:21f:cb07::1", "::ffff:93.184.215.14", "64:ff9b::5db8:d70e"]
NOT_PUBLIC = [
    *("0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "169.254.169.254", "172.31.0.1", "192.0.0.1"),
    *("192.168.0.1", "198.18.0.1", "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "fc00::1", "fd00:ec2::254", "fe80::1", "ff02::1", "2001:db8::1", "::ffff:10.0.0.1"),
    *("::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2001:0:0:0:0:0:80ff:fffe"),
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_addresses(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


def test_ports_of_the_web() -> None:
    assert [port for port in (0, 22, 80, 443, 445, 1023, 1024, 8080, 65535, 65536) if is_web_port(port)] == [
        *(80, 443, 1024, 8080, 65535)
    ]


# ---------------------------------------------------------------------------------- named by the user


def test_a_named_url_brings_bytes_and_type_from_a_private_address_too(script: ScriptedServer) -> None:
    script.answers |= {"/a": Answer.redirect("/x.pdf"), "/x.pdf": Answer(200, b"%PDF-1.7", "application/PDF")}
    recorded: list[tuple[str, str]] = []
    content = fetch_url(f"{script.url}/a", record=lambda kind, url: recorded.append((kind, url)))
    assert content == (b"%PDF-1.7", "application/pdf")
    assert recorded == [("url", f"{script.url}/a"), ("url", f"{script.url}/x.pdf")]


def test_a_named_url_brings_the_encoding_that_the_server_names(script: ScriptedServer) -> None:
    script.answers |= {
        "/a": Answer(200, b"x", 'Text/Plain; charset="KOI8-R"; x=y'),
        "/b": Answer(200, b"x", "text/plain; charset="),
    }
    types = [fetch_url(f"{script.url}/{name}", record=lambda *_: None)[1] for name in "ab"]
    assert types == ["text/plain; charset=koi8-r", "text/plain"]


def test_a_named_public_url_may_not_lead_to_a_private_one(
    script: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    script.answers |= {"/a": Answer.redirect(f"http://127.0.0.1:{script.port}/secret")}
    resolving(monkeypatch, ["127.0.0.1"])
    with pytest.MonkeyPatch.context() as patch, pytest.raises(FetchRefused, match="not a public one"):
        patch.setattr("localcrag.web.pages.is_public", lambda _: not script.requests)
        fetch_url(f"http://public.example:{script.port}/a", record=lambda *_: None)
    assert [request.path for request in script.requests] == ["/a"]


def test_a_named_url_that_fails_says_which_and_why(script: ScriptedServer) -> None:
    for url, why in ((f"{script.url}/gone", "status 404"), ("file:///etc/passwd", "not an http")):
        with pytest.raises(FetchRefused, match=why) as error:
            fetch_url(url, record=lambda *_: None)
        assert url in str(error.value)
    with pytest.raises(FetchRefused, match="Connection refused"):
        fetch_url(f"http://127.0.0.1:{dead_port()}/", record=lambda *_: None)


def test_a_named_url_is_refused_offline() -> None:
    recorded: list[str] = []
    with egress.offline(), pytest.raises(OfflineError, match=r"example\.org"):
        fetch_url("https://example.org/x.pdf", record=lambda _, url: recorded.append(url))
    assert recorded == []


# ---------------------------------------------------------------------------------- TLS


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for localhost that nobody signed; key and certificate in one file."""
    program = which("openssl")
    if program is None:
        pytest.skip("openssl is not installed: no certificate to try TLS with")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = f"{program} req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(cert)]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    both = tmp_path / "both.pem"
    both.write_text(key.read_text() + cert.read_text())
    return both


@pytest.fixture
def secure(certificate: Path) -> Iterator[ScriptedServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with running_script(context) as server:
        server.answers["/page"] = Answer(200, PAGE)
        yield server


def test_tls_is_checked_against_the_name_although_the_address_is_connected_to(
    secure: ScriptedServer, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"https://localhost:{secure.port}/page"
    with pytest.raises(FetchRefused, match="certificate"):
        fetch_url(url, record=lambda *_: None)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    http._tls.cache_clear()
    try:
        assert fetch_url(url, record=lambda *_: None)[0] == PAGE
        with pytest.raises(FetchRefused, match="certificate"):
            fetch_url(f"https://127.0.0.1:{secure.port}/page", record=lambda *_: None)
    finally:
        http._tls.cache_clear()
