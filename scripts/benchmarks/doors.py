"""The HTTP door under load: many clients that ask at once, each until it has its answer.

The models do one thing at a time, so the seconds of a client are mostly those in the queue; what the door
itself costs shows beside the loop's own time of one client alone.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from os import environ
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

import httpx2

from benchmarks.material import run, tool
from benchmarks.report import Figure, Report, Room

CLIENTS = 50
"""Clients at once."""
WAITING_SECONDS = 900.0
OK = 200
FACTS = 200
"""Facts in the documents, each asked for by one question."""
_SYLLABLES = ("zel", "mor", "tan", "vel", "kor", "lin", "bar", "sil", "dun", "fer")


@dataclass(frozen=True, slots=True)
class Reply:
    """One reply: its status, the wall seconds, the seconds of the loop in it, and whether it is its own."""

    status: int
    seconds: float
    loop_seconds: float = 0.0
    own: bool = True


def measure(room: Room) -> Report:
    clients, facts = (3, 6) if room.quick else (CLIENTS, FACTS)
    home = room.scratch / "home"
    run(home, "ingest", str(leaflets(room.scratch / "text", facts)))
    with served(home) as client:
        ask(client, 0)
        alone = [ask(client, number) for number in range(1, 1 + room.rounds)]
        answers = at_once(client, clients, ask)
        searches = at_once(client, clients, search)
        statuses = at_once(client, clients, status)
    beyond = median(reply.seconds - reply.loop_seconds for reply in alone)
    failed = sum(reply.status != OK for reply in (*answers, *searches, *statuses))
    return Report(
        (
            Figure("ask, one client", median(reply.seconds for reply in alone), "s"),
            Figure("ask, one client, beyond the loop's own time", beyond, "s", "≤ 0.2"),
            *_figures(f"ask, {clients} clients at once", answers),
            *_figures(f"search, {clients} clients at once", searches),
            *_figures(f"status, {clients} clients at once", statuses),
            Figure("errors", failed, "replies", "0"),
            Figure("answers of another client", sum(not reply.own for reply in answers), "replies", "0"),
        )
    )


def _figures(name: str, replies: list[Reply]) -> Iterator[Figure]:
    seconds = [reply.seconds for reply in replies]
    yield Figure(f"{name}, median", median(seconds), "s")
    yield Figure(f"{name}, p95", quantiles(seconds, n=20)[-1], "s")


def leaflets(folder: Path, facts: int) -> Path:
    """A folder of short documents, one about each medicine: it is the door that is measured."""
    folder.mkdir()
    for number in range(facts):
        text = f"The usual dose of {medicine(number)} is {number + 3} mg a day. It is made in Porto."
        (folder / f"{medicine(number)}.txt").write_text(text)
    return folder


def ask(client: httpx2.Client, number: int) -> Reply:
    """One question, all of them different."""
    body = {"question": f"What is the usual dose of {medicine(number)}?"}
    began = perf_counter()
    reply = client.post("/api/ask", json=body, headers={"Accept": "application/json"})
    seconds = perf_counter() - began
    if reply.status_code != OK:
        return Reply(reply.status_code, seconds)
    answer = reply.json()
    own = answer["question"] == body["question"]
    return Reply(reply.status_code, seconds, answer["usage"]["seconds"]["total"], own)


def search(client: httpx2.Client, number: int) -> Reply:
    """One search."""
    began = perf_counter()
    reply = client.post("/api/search", json={"query": f"where {medicine(number)} is made"})
    return Reply(reply.status_code, perf_counter() - began)


def status(client: httpx2.Client, _: int) -> Reply:
    """A request that needs no model."""
    began = perf_counter()
    reply = client.get("/api/status")
    return Reply(reply.status_code, perf_counter() - began)


def at_once(
    client: httpx2.Client, clients: int, request: Callable[[httpx2.Client, int], Reply]
) -> list[Reply]:
    """The replies to requests that are all sent at the same time, each about another medicine."""
    with ThreadPoolExecutor(clients) as pool:
        return list(pool.map(lambda number: request(client, 1 + number), range(clients)))


@contextmanager
def served(home: Path) -> Iterator[httpx2.Client]:
    """A client of a door that is opened for the block."""
    with tempfile.TemporaryDirectory(prefix="lc-") as runtime:
        server = subprocess.Popen(
            tool(home, "serve", "--http", "0"),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**environ, "XDG_RUNTIME_DIR": runtime},
        )
        assert server.stdout is not None
        try:
            url, _, token = server.stdout.readline().strip().partition("/#token=")
            limits = httpx2.Limits(max_connections=CLIENTS)
            headers = {"Authorization": f"Bearer {token}"}
            with httpx2.Client(
                base_url=url, headers=headers, timeout=WAITING_SECONDS, limits=limits, trust_env=False
            ) as client:
                yield client
        finally:
            server.terminate()
            server.wait()


def medicine(number: int) -> str:
    """The name of a medicine, another one for each number below 1000."""
    return "".join(_SYLLABLES[int(digit)] for digit in f"{number:03}").capitalize()
