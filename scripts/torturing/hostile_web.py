"""A SearXNG and pages that answer with anything: garbage, without end, slowly, too much, the wrong type.

Each call must end in its time, with results or with an error of its own kind; what is no reply of a SearXNG
must not count as "nothing was found". Nobody may be led to a private address.
"""

from __future__ import annotations

import gzip
import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from torturing.campaign import MEBIBYTE, Broken, Budget, Campaign, Case, Outcome, run_cases
from torturing.document_strategies import documents_of
from torturing.hostile_server import HostileServer, Reply, endless, hostile_server, raw, silent, whole

CALL_SECONDS = 0.7
EXTRACTION_SECONDS = 1.0
SLACK_SECONDS = 6.0
"""Seconds beyond the limits of a call on a busy machine: starting the process that extracts takes some."""
MAX_GROWTH = 600 * MEBIBYTE
"""Bytes that the calls may add to the peak of this process."""
RIGHT = {"title": "A heron", "url": "http://example.org/a", "content": "It waits for fish.", "engine": "e"}
ODD_VALUES: tuple[Any, ...] = (
    *(None, 0, -1, 1e300, True, "", "x" * 9000, [], {}, [[]], {"a": {}}, "\ud800", "<b>" * 900),
    *("javascript:alert(1)", "http://", "http://[::1", "file:///etc/passwd", "ftp://a/b"),
)


@dataclass(frozen=True)
class HostileWeb:
    """Hostile answers of a SearXNG and of pages."""

    name: str = "web"
    share: float = 7.0
    unit: str = "replies"
    holds: str = (
        "each call ends in its time with results or an error; garbage is no empty result; no private address"
    )

    def run(self, budget: Budget, seed: int) -> Outcome:
        """Answer calls until the time is over."""
        kinds: Counter[str] = Counter()
        worst = [0.0]
        before = _peak()
        with hostile_server() as server, hostile_server() as canary:
            canary.reply = whole(b"<p>secret of the network</p>", "text/html")

            def attempt(case: Case) -> None:
                attempt_one = _page if case.number % 2 else _search
                kind, took = attempt_one(server, canary, case.random)
                kinds[kind] += 1
                worst[0] = max(worst[0], took)
                if canary.connections:
                    canary.connections = 0
                    raise Broken("somebody was led to an address that nobody allowed")
                if _peak() - before > MAX_GROWTH:
                    raise Broken(f"the process grew by {(_peak() - before) >> 20} MiB")

            outcome = run_cases(self.name, budget, seed, attempt)
        outcome.worst_seconds, outcome.peak_memory = worst[0], max(_peak(), outcome.peak_memory)
        searches = sum(count for kind, count in kinds.items() if kind.startswith("SearXNG"))
        outcome.notes.append(f"{searches} of a SearXNG, {kinds.total() - searches} pages, {len(kinds)} kinds")
        return outcome


def wire_replies(random: Random, canary: HostileServer, media_type: str, body: bytes) -> tuple[str, Reply]:
    """A reply that is wrong on the wire, whatever is asked for, and its kind."""
    ok = f"HTTP/1.1 200 OK\r\nContent-Type: {media_type}\r\n".encode()
    chunked = ok + b"Transfer-Encoding: chunked\r\n\r\n"
    target = random.choice(private_addresses(canary))
    zipped, odd_types = "Content-Encoding: gzip", ["image/png", "", "application/pdf", "x", "multipart/mixed"]
    found: Mapping[str, Reply] = {
        "garbage": raw(random.randbytes(random.randrange(1, 5000))),
        "closed at once": raw(b""),
        "silent": silent(),
        "endless head": endless(b"HTTP/1.1 200 OK\r\n", b"X-A: " + b"y" * 8000 + b"\r\n"),
        "endless lines before": endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
        "endless body": endless(chunked, b"10000\r\n" + b"z" * 65536 + b"\r\n"),
        "drip": endless(ok + b"Content-Length: 100000\r\n\r\n", b"z", 0.05),
        "bad chunks": raw(chunked + b"ffffffffffffffff\r\nabc\r\n-5\r\n"),
        "bomb": whole(gzip.compress(b"[" * (64 << 20), 9), media_type, "200 OK", zipped),
        "damaged gzip": whole(b"\x1f\x8b" + random.randbytes(300), media_type, "200 OK", zipped),
        "odd coding": whole(body, media_type, "200 OK", "Content-Encoding: br"),
        "cut off": whole(body, media_type, length=len(body) + random.randrange(1, 9999)),
        "redirect": whole(b"", media_type, random.choice(["301 x", "302 x", "307 x"]), f"Location: {target}"),
        "status": whole(body, media_type, f"{random.choice([204, 403, 404, 418, 429, 500, 503, 999])} x"),
        "many headers": whole(body, media_type, "200 OK", *(f"X-{n}: y" for n in range(3000))),
        "wrong type": whole(body, random.choice(odd_types)),
    }  # fmt: skip
    kind = random.choice(sorted(found))
    return kind, found[kind]


def private_addresses(canary: HostileServer) -> list[str]:
    """Addresses of a server that nobody allowed, in several spellings, and of others that nobody may see."""
    port = canary.port
    return [
        *(f"http://127.0.0.1:{port}/", f"http://localhost:{port}/", f"http://2130706433:{port}/"),
        *(
            f"http://0x7f000001:{port}/",
            f"http://[::ffff:127.0.0.1]:{port}/",
            f"//127.1:{port}/",
            f"http://0:{port}/",
        ),
        *(
            "file:///etc/passwd",
            "http://169.254.169.254/latest/meta-data/",
            "gopher://127.0.0.1/",
            "http://",
            "\x00",
            "/again",
        ),
    ]


# ---------------------------------------------------------------------------------- SearXNG


def _search(server: HostileServer, canary: HostileServer, random: Random) -> tuple[str, float]:
    """Search a hostile SearXNG; returns the kind of its reply, and the seconds. Raises Broken."""
    from localcrag.errors import LocalCragError
    from localcrag.web.searxng import SearxngSearch

    if random.random() < 0.5:
        kind, server.reply, is_reply = "JSON", *_json_reply(random)
    else:
        body = json.dumps({"results": [RIGHT]}).encode()
        kind, server.reply = wire_replies(random, canary, "application/json", body)
        is_reply = kind == "many headers"
    recorded: list[str] = []
    search = SearxngSearch(
        server.url, record=lambda what, target: recorded.append(target), timeout=CALL_SECONDS
    )
    began = time.monotonic()
    try:
        results = search.search("grey heron", limit=5)
        failed = ""
    except LocalCragError as error:
        results, failed = [], str(error)
    except Exception as error:  # anything but a typed error is a finding
        raise Broken(f"a search ended with {type(error).__name__}: {error} ({kind})") from error
    took = time.monotonic() - began
    if took > CALL_SECONDS + SLACK_SECONDS:
        raise Broken(f"a search took {took:.1f} s, and may take {CALL_SECONDS} s ({kind})")
    if not failed and not results and not is_reply:
        raise Broken(f"a reply that is none of a SearXNG counts as nothing found ({kind})")
    if "\n" in failed or len(failed) > 800:
        raise Broken(f"an error that is not one line ({kind}): {failed[:200]!r}")
    for result in results:
        if not result.url.startswith(("http://", "https://")) or not isinstance(result.title, str):
            raise Broken(f"a result that is none: {result.url[:80]!r}")
        f"{result.url}{result.title}{result.snippet}".encode()
    if recorded != ["grey heron"]:
        raise Broken(f"a query was recorded {len(recorded)} times")
    return f"SearXNG {kind}", took


def _json_reply(random: Random) -> tuple[Reply, bool]:
    """A reply of JSON, and whether it is one of a SearXNG at all, however odd its values are."""
    if random.random() < 0.3:
        texts = [
            *(b"", b"null", b"[]", b"3", b"{", b"[" * 90_000, b'{"results": ', b"\xff\xfe{}", b"NaN"),
            *(b'{"a":' * 5000, b'{"results": "none"}', b'{"error": "no"}', b"{}", b'{"results": {"0": 1}}'),
        ]
        return whole(random.choice(texts), "application/json"), False
    items: list[Any] = []
    for _ in range(random.choice([0, 1, 3, 40, 2000])):
        item: Any = dict(RIGHT)
        for key in random.sample(sorted(item), random.randrange(4)):
            item[key] = random.choice(ODD_VALUES)
        items.append(item if random.random() < 0.9 else random.choice(ODD_VALUES))
    reply: dict[str, Any] = {"results": items}
    for key in ("answers", "infoboxes", "unresponsive_engines", "suggestions", "number_of_results"):
        if random.random() < 0.4:
            reply[key] = random.choice(
                [*ODD_VALUES, [dict(RIGHT)], [random.choice(ODD_VALUES)], [["e", None], ["f"]]]
            )
    return whole(json.dumps(reply).encode(), "application/json; charset=utf-8"), True


# ---------------------------------------------------------------------------------- pages


def _page(server: HostileServer, canary: HostileServer, random: Random) -> tuple[str, float]:
    """Fetch a hostile page; returns the kind of its reply, and the seconds. Raises Broken."""
    from localcrag.types import WebResult
    from localcrag.web.pages import FetchLimits, HttpPageFetcher

    url = f"{server.url}/page"
    if random.random() < 0.4:
        data = documents_of("html", random.getrandbits(32))[0].data
        charset = random.choice(["utf-8", "nonsense", "utf-16", "utf-7", "", "idna", "rot13", "zlib"])
        kind, server.reply = "HTML", whole(data, f"text/html; charset={charset}")
    elif random.random() < 0.2:
        kind, url = "private address", random.choice(private_addresses(canary))
    else:
        body = b"<html><body><article><p>" + b"The grey heron waits. " * 40 + b"</p></article></body></html>"
        kind, server.reply = wire_replies(random, canary, "text/html", body)
    limits = FetchLimits(size=2 * MEBIBYTE, seconds=CALL_SECONDS, extraction=EXTRACTION_SECONDS)
    fetcher = HttpPageFetcher(record=lambda what, target: None, allowed_private=[server.host], limits=limits)
    began = time.monotonic()
    try:
        (page,) = fetcher.fetch([WebResult(url, "A title", "A snippet.")])
    except Exception as error:  # anything but a typed error is a finding
        raise Broken(f"a page ended with {type(error).__name__}: {error} ({kind})") from error
    took = time.monotonic() - began
    if took > CALL_SECONDS + EXTRACTION_SECONDS + SLACK_SECONDS:
        raise Broken(f"a page took {took:.1f} s ({kind})")
    if page.degraded and page.text != "A snippet.":
        raise Broken(f"a page that could not be read has another text than its snippet ({kind})")
    if not page.text.strip() or "\n" in page.degraded or "secret of the network" in page.text:
        raise Broken(f"a page that is none: {page.degraded[:100]!r} ({kind})")
    f"{page.title}{page.text}".encode()
    return f"page {kind}", took


def _peak() -> int:
    """The peak memory of this process, in bytes."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


CAMPAIGNS: Mapping[str, Campaign] = {"web": HostileWeb()}
